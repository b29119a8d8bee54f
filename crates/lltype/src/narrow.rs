//! What a C function cannot be given where C has words of 32 bits. Memory of the program has those of 64 on every
//! machine: C's addresses, `long` and `size_t` do not fit there.

use crate::{FuncSym, FuncType, LLType, Program, TypeKind, layout, library_of};

/// Why a program cannot call a C function of such a machine; none if it can.
pub fn unlike_c(f: &FuncSym, program: &dyn Program) -> Option<String> {
    let FuncType { args, result } = f.ty();
    // Then the C compiler knows which arguments have fewer bits, and converts them.
    let is_declared = library_of(f).is_some_and(|l| l.has_header());
    let of =
        |ty: LLType, what: &str| value(ty, is_declared, program).map(|why| format!("{what} {why}"));
    let args = args.iter().filter(|a| !a.is_void()).enumerate();
    args.filter_map(|(i, a)| of(*a, &format!("argument {}", i + 1)))
        .next()
        .or_else(|| of(*result, "the result"))
}

/// What is wrong with a value that is passed.
fn value(ty: LLType, is_declared: bool, program: &dyn Program) -> Option<String> {
    match ty.kind() {
        TypeKind::Int(k) if k.bits == 128 => Some("has 128 bits".to_owned()),
        TypeKind::Int(k) if k.bits == 64 && !is_declared => Some(
            "has 64 bits here, and no header says how many it has in C (`includes` of the function's \
             compilation_info)"
                .to_owned(),
        ),
        TypeKind::Ptr(to) => match to.kind() {
            TypeKind::Func(ft) => {
                let all = ft.args.iter().chain([&ft.result]);
                all.filter_map(|t| value(*t, false, program))
                    .next()
                    .map(|_| format!("is a function ({to}) whose arguments or result are others in C"))
            }
            _ => memory(*to, program).map(|what| format!("points to {to}, in which C has {what}")),
        },
        _ => None,
    }
}

/// What C has otherwise in the memory of a container.
fn memory(ty: LLType, program: &dyn Program) -> Option<&'static str> {
    match ty.kind() {
        TypeKind::Ptr(_) | TypeKind::Address => Some("addresses of 32 bits"),
        TypeKind::Int(k) if k.bits == 64 => Some("integers that may have 32 bits"),
        TypeKind::Int(k) if k.bits == 128 => Some("no integers of 128 bits"),
        TypeKind::Struct(s) => {
            let l = layout(ty, program);
            let body = program.body(s);
            if let Some(what) = body.fields.iter().find_map(|f| memory(f.ty, program)) {
                return Some(what);
            }
            let mut end = 0;
            for (field, at) in body.fields.iter().zip(&l.fields) {
                let part = layout(field.ty, program);
                // Floats are aligned to four bytes.
                end = match body.union {
                    true => 0,
                    false => crate::round_up(end, part.align.clamp(1, 4)),
                };
                if end != *at {
                    return Some("fields at other places");
                }
                end += part.size;
            }
            let fits = body.union || crate::round_up(end, l.align.clamp(1, 4)) == l.size;
            (!fits).then_some("another size")
        }
        TypeKind::Array(a) if a.nolength => memory(a.of, program),
        TypeKind::Array(_) => Some("no arrays with a length"),
        TypeKind::FixedArray(of, _) => memory(*of, program),
        _ => None,
    }
}
