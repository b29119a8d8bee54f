//! Types, constants and declarations to text.

use std::fmt::{self, Display, Formatter, Write};

use taipan_graph::text::fmt_const;
use taipan_graph::{Const, Dialect, Graph};

use super::LLNames;
use crate::{
    FuncKind, FuncSym, HelperArg, LLConst, LLType, STR, StaticSym, StructId, TypeKind, UNICODE,
    VoidConst,
};

/// Something to print with the names at hand.
struct With<'a, T: ?Sized>(&'a T, &'a LLNames);

impl Display for With<'_, LLType> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        ty(*self.0, self.1, f)
    }
}

impl Display for With<'_, FuncSym> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.1.func_names.get(self.0) {
            Some(name) => f.write_str(name),
            None => f.write_str(self.0.name()),
        }
    }
}

impl Display for With<'_, Const> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        fmt_const(self.0, &self.1.objects, f)
    }
}

impl Display for With<'_, VoidConst> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        void(self.0, self.1, f)
    }
}

impl Display for With<'_, HelperArg> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            HelperArg::Type(t) => ty(*t, self.1, f),
            HelperArg::Const(c) => write!(f, "={}", With(c, self.1)),
        }
    }
}

fn list<'a, T>(items: &'a [T], names: &'a LLNames, f: &mut Formatter<'_>) -> fmt::Result
where
    With<'a, T>: Display,
{
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        With(item, names).fmt(f)?;
    }
    Ok(())
}

/// Writes a type.
///
/// # Errors
/// Those of the formatter.
pub fn ty(t: LLType, names: &LLNames, f: &mut Formatter<'_>) -> fmt::Result {
    match t.kind() {
        TypeKind::Ptr(to) => write!(f, "*{}", With(to, names)),
        TypeKind::Struct(s) => {
            let name = names.struct_names.get(&t).map_or(&*s.name, String::as_str);
            write!(f, "{}Struct {name}", if s.gc { "Gc" } else { "" })
        }
        TypeKind::Array(a) => {
            f.write_str(if a.gc { "GcArray" } else { "Array" })?;
            let hints = [
                (a.nolength, "nolength"),
                (a.immutable, "immutable"),
                (a.extra_item, "extra_item"),
            ];
            let hints: Vec<&str> = (hints.iter().filter(|(has, _)| *has))
                .map(|(_, name)| *name)
                .collect();
            if !hints.is_empty() {
                write!(f, "({})", hints.join(", "))?;
            }
            if let Some(table) = a.adtmeths {
                write!(f, " adtmeths {}", With(&Const::Obj(table), names))?;
            }
            write!(f, " of {}", With(&a.of, names))
        }
        TypeKind::FixedArray(of, n) => write!(f, "FixedSizeArray {n} of {}", With(of, names)),
        TypeKind::Func(ft) => {
            f.write_str("func(")?;
            list(&ft.args, names, f)?;
            write!(f, ") -> {}", With(&ft.result, names))
        }
        TypeKind::Opaque { name, gc } => {
            write!(f, "{}Opaque {name}", if *gc { "Gc" } else { "" })
        }
        _ => t.fmt(f),
    }
}

/// Writes a constant.
///
/// # Errors
/// Those of the formatter.
pub fn constant(c: &LLConst, names: &LLNames, f: &mut Formatter<'_>) -> fmt::Result {
    match c {
        LLConst::Void(v) => void(v, names, f),
        LLConst::Null(t) => write!(f, "null {}", With(t, names)),
        LLConst::Func(s) => write!(f, "&{}", With(s, names)),
        LLConst::Static(s, t) => {
            let natural = match &**s {
                StaticSym::Str(_) => Some(STR.ptr()),
                StaticSym::Unicode(_) => Some(UNICODE.ptr()),
                _ => None,
            };
            f.write_str("&")?;
            symbol(s, names, f)?;
            if natural == Some(*t) {
                return Ok(());
            }
            write!(f, " as {}", With(t, names))
        }
        c => c.fmt(f),
    }
}

fn void(c: &VoidConst, names: &LLNames, f: &mut Formatter<'_>) -> fmt::Result {
    match c {
        VoidConst::None => f.write_str("Void"),
        VoidConst::Field(n) => write!(f, ".{n}"),
        VoidConst::Type(t) => write!(f, "<type {}>", With(t, names)),
        VoidConst::Hl(c) => write!(f, "<const {}>", With(c, names)),
        VoidConst::Func(s) => write!(f, "<func {}>", With(s, names)),
        VoidConst::Flavor { gc, zero } => {
            let (flavor, zero) = (
                if *gc { "gc" } else { "raw" },
                if *zero { ", zero" } else { "" },
            );
            write!(f, "<{flavor}{zero}>")
        }
        VoidConst::Targets(t) => {
            f.write_str("{")?;
            list(t, names, f)?;
            f.write_str("}")
        }
    }
}

/// Names all structs and functions that the graph mentions, and declares them, those
/// that others mention first.
pub fn declarations<D: Dialect<Const = LLConst>>(
    graph: &Graph<D>,
    names: &mut LLNames,
    type_of: impl Fn(&D::Ty) -> LLType,
) -> String {
    let mut d = Declarations {
        names,
        text: String::new(),
    };
    for b in graph
        .reachable()
        .into_iter()
        .chain([graph.returnblock, graph.exceptblock])
    {
        let block = graph.block(b);
        for v in block.definitions() {
            d.ty(type_of(graph.ty(v)));
        }
    }
    graph.for_each_const(&mut |c| d.constant(c));
    d.text
}

struct Declarations<'a> {
    names: &'a mut LLNames,
    text: String,
}

/// A name of prebuilt data, without the `&`.
fn symbol(s: &StaticSym, names: &LLNames, f: &mut Formatter<'_>) -> fmt::Result {
    match s {
        StaticSym::Vtable(o) => write!(f, "vtable {}", With(&Const::Obj(*o), names)),
        StaticSym::ObjectVtable => f.write_str("vtable object"),
        StaticSym::Str(s) => write!(f, "'{}'", s.escape_ascii()),
        StaticSym::Unicode(u) => write!(f, "{}", Const::Unicode(u.clone())),
        StaticSym::Object(o, t) => {
            let o = Const::Obj(*o);
            write!(f, "object {} {}", With(&o, names), With(t, names))
        }
        StaticSym::Part(o, p, t) => {
            let o = Const::Obj(*o);
            write!(f, "part '{p}' {} {}", With(&o, names), With(t, names))
        }
        StaticSym::Value(c, t) => write!(f, "value {} {}", With(c, names), With(t, names)),
        StaticSym::Named(n, t) => write!(f, "named '{n}' {}", With(t, names)),
        StaticSym::Within(root, path) => {
            f.write_str("within ")?;
            for i in path.iter() {
                write!(f, "{i}, ")?;
            }
            f.write_str("of ")?;
            symbol(root, names, f)
        }
    }
}

impl Declarations<'_> {
    fn constant(&mut self, c: &LLConst) {
        match c {
            LLConst::Void(v) => self.void(v),
            LLConst::Null(t) => self.ty(*t),
            LLConst::Func(s) => self.func(s),
            LLConst::Static(s, t) => {
                self.ty(*t);
                if let StaticSym::Object(_, t)
                | StaticSym::Part(_, _, t)
                | StaticSym::Value(_, t)
                | StaticSym::Named(_, t) = s.root()
                {
                    self.ty(*t);
                }
            }
            _ => {}
        }
    }

    fn void(&mut self, c: &VoidConst) {
        match c {
            VoidConst::Type(t) => self.ty(*t),
            VoidConst::Func(s) => self.func(s),
            VoidConst::Targets(t) => t.iter().for_each(|s| self.func(s)),
            _ => {}
        }
    }

    fn ty(&mut self, t: LLType) {
        match t.kind() {
            TypeKind::Ptr(to) => self.ty(*to),
            TypeKind::Array(a) => self.ty(a.of),
            TypeKind::FixedArray(of, _) => self.ty(*of),
            TypeKind::Func(ft) => {
                ft.args.iter().for_each(|a| self.ty(*a));
                self.ty(ft.result);
            }
            TypeKind::Struct(_) if !self.names.struct_names.contains_key(&t) => {
                self.structure(t);
            }
            _ => {}
        }
    }

    fn structure(&mut self, t: LLType) {
        let Some(s) = t.as_struct() else { return };
        if let StructId::Inline(body) = &s.id {
            body.fields.iter().for_each(|field| self.ty(field.ty));
        }
        self.names.insert_struct(t);
        let (names, out) = (&*self.names, &mut self.text);
        let gc = if s.gc { "Gc" } else { "" };
        // Writing to a string does not fail.
        let _ = write!(out, "struct {} = {gc}Struct ", names.struct_names[&t]);
        let _ = match &s.id {
            StructId::Instance(o) => write!(out, "instance {}", With(&Const::Obj(*o), names)),
            StructId::Vtable(o) => write!(out, "vtable {}", With(&Const::Obj(*o), names)),
            StructId::Forward(n) => write!(out, "forward '{n}'"),
            StructId::Inline(body) => {
                let _ = out.write_str("{ ");
                for field in &body.fields {
                    let _ = write!(out, "{}: {}, ", field.name, With(&field.ty, names));
                }
                let _ = out.write_str("}");
                if let Some(table) = body.adtmeths {
                    let _ = write!(out, " adtmeths {}", With(&Const::Obj(table), names));
                }
                for (word, names) in [
                    ("immutable", &body.immutable),
                    ("frozen_lists", &body.frozen_lists),
                    ("quasi_immutable", &body.quasi_immutable),
                    ("virtualizable", &body.virtualizable),
                    ("virtualizable_lists", &body.virtualizable_lists),
                    ("own_lists", &body.own_lists),
                ] {
                    if !names.is_empty() {
                        let _ = write!(out, " {word}({})", names.join(", "));
                    }
                }
                if body.union {
                    let _ = out.write_str(" union");
                }
                Ok(())
            }
        };
        out.push('\n');
    }

    fn func(&mut self, s: &FuncSym) {
        if self.names.func_names.contains_key(s) {
            return;
        }
        self.ty(s.ptr_type());
        if let FuncKind::Helper { args, .. } | FuncKind::Synth { args, .. } = s.kind() {
            for a in args.iter() {
                match a {
                    HelperArg::Type(t) => self.ty(*t),
                    HelperArg::Const(c) => self.void(c),
                }
            }
        }
        self.names.insert_func(s);
        let (names, out) = (&*self.names, &mut self.text);
        // Writing to a string does not fail.
        let _ = write!(out, "func {} = ", With(s, names));
        let _ = match s.kind() {
            FuncKind::User { func, spec, name } => {
                let o = Const::Obj(*func);
                write!(out, "user {} '{spec}' '{name}'", With(&o, names))
            }
            FuncKind::Helper { name, args } => {
                write!(out, "helper '{name}' ({})", Args(args, names))
            }
            FuncKind::Synth { name, args } => write!(out, "synth '{name}' ({})", Args(args, names)),
            FuncKind::External {
                name,
                can_collect,
                can_raise,
                releases_gil,
                ..
            } => {
                let collect = if *can_collect { " can_collect" } else { "" };
                let raise = if *can_raise { " can_raise" } else { "" };
                let gil = if *releases_gil { " releases_gil" } else { "" };
                write!(out, "external '{name}'{collect}{raise}{gil}")
            }
        };
        let ty = LLType::new(TypeKind::Func(s.ty().clone()));
        let _ = writeln!(out, ": {}", With(&ty, names));
    }
}

/// Arguments that a helper is specialised by.
struct Args<'a>(&'a [HelperArg], &'a LLNames);

impl Display for Args<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        list(self.0, self.1, f)
    }
}
