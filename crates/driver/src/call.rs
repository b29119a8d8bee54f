//! Calls of single functions: what `taipan call` and tests do.

use taipan_annotator::{InputType, RootSet, Roots, Spec, annotation_diagnostics};
use taipan_base::{Db, Diagnostic, Program};
use taipan_graph::{Const, ObjId};
use taipan_interp::{Name, module_global, target_module};
use taipan_llinterp::{LLError, LLInterpreter};
use taipan_lltype::{
    Heap, HeapError, LLType, LLValue, OBJECT, OBJECT_VTABLE, STR, StructId, TypeKind, UNICODE,
};
use taipan_rtyper::{RtypedProgram, func_sym_of};

use crate::PyValue;

/// What came of a call.
#[derive(Clone, PartialEq, Debug)]
pub enum CallOutcome {
    /// It returned.
    Value(PyValue),
    /// It raised an exception of that class.
    Raised(String),
    /// It ended the process with that exit code.
    Exit(i32),
    /// It could not be compiled, or low-level code did what it must not do.
    Error(Vec<Diagnostic>),
}

fn error(code: &'static str, message: impl Into<String>) -> CallOutcome {
    CallOutcome::Error(vec![Diagnostic::error(code, None, message)])
}

/// The function of that name in the target module (`f`, or `C.method`).
fn find_function(db: &dyn Db, program: Program, name: &str) -> Option<ObjId> {
    let module = target_module(db, program).to_owned()?;
    let mut parts = name.split('.');
    let key = Name::new(db, program, module, parts.next()?);
    let Some(Const::Obj(mut obj)) = module_global(db, key).clone() else {
        return None;
    };
    for part in parts {
        let key = Name::new(db, program, obj, part);
        let Some((_, Const::Obj(o))) = taipan_interp::class_attr(db, key).clone() else {
            return None;
        };
        obj = o;
    }
    Some(obj)
}

/// Flows, annotates and types a function of the target module for arguments of these
/// values' types, and runs it on them in the LLInterpreter.
pub fn call(db: &dyn Db, program: Program, name: &str, args: &[PyValue]) -> CallOutcome {
    let image_errors = taipan_interp::image_diagnostics(db, program);
    let Some(func) = find_function(db, program, name) else {
        if !image_errors.is_empty() {
            return CallOutcome::Error(image_errors.to_vec());
        }
        return error("TP0901", format!("there is no function '{name}'"));
    };
    let types: Option<Vec<InputType>> = args.iter().map(PyValue::input_type).collect();
    let Some(types) = types else {
        return error("TP0902", "an argument of a kind that cannot be passed");
    };
    let set = RootSet::Call {
        func,
        args: types.into(),
    };
    let roots = Roots::new(db, program, set);
    let problems = annotation_diagnostics(db, roots);
    if !problems.is_empty() {
        return CallOutcome::Error(problems.to_vec());
    }
    let spec = Spec::new(db, roots, func, "");
    let sym = match func_sym_of(db, spec) {
        Ok(sym) => sym,
        Err(e) => return error(e.code, e.message),
    };
    let llprogram = RtypedProgram::new(db, roots);
    let mut interp = LLInterpreter::new(&llprogram);
    let outcome = run(&mut interp, &sym, args);
    let errors = llprogram.take_errors();
    if !errors.is_empty() {
        return CallOutcome::Error(errors);
    }
    match outcome {
        Ok(v) => CallOutcome::Value(v),
        Err(LLError::Raised(e)) => CallOutcome::Raised(e.name),
        Err(LLError::Exit(code)) => CallOutcome::Exit(code),
        Err(LLError::Fault(fault)) => error("TP0903", fault.to_string()),
    }
}

fn run(
    interp: &mut LLInterpreter<'_>,
    sym: &taipan_lltype::FuncSym,
    args: &[PyValue],
) -> Result<PyValue, LLError> {
    let fault = |e: HeapError, what: &str| {
        LLError::Fault(taipan_llinterp::Fault {
            message: e.to_string(),
            graph: sym.name().to_owned(),
            operation: what.to_owned(),
        })
    };
    let mut low = Vec::with_capacity(args.len());
    for (v, t) in args.iter().zip(&sym.ty().args) {
        low.push(write(&mut interp.heap, v, *t).map_err(|e| fault(e, "passing arguments"))?);
    }
    let result = interp.eval(sym, low)?;
    read(&mut interp.heap, result, sym.ty().result).map_err(|e| fault(e, "reading the result"))
}

/// A value in the low-level form of a type.
fn write(heap: &mut Heap<'_>, v: &PyValue, ty: LLType) -> Result<LLValue, HeapError> {
    const MISMATCH: HeapError = HeapError::Type("an argument of another type");
    Ok(match (v, ty.kind()) {
        (_, TypeKind::Void) => LLValue::Void,
        (PyValue::Bool(b), TypeKind::Bool) => LLValue::Bool(*b),
        (PyValue::Bool(b), TypeKind::Int(k)) => LLValue::Int(*k, i128::from(*b)),
        (PyValue::Int(i), TypeKind::Int(k)) => LLValue::Int(*k, k.wrap(*i)),
        (PyValue::Int(i), TypeKind::Float) => LLValue::Float(*i as f64),
        (PyValue::Bool(b), TypeKind::Float) => LLValue::Float(f64::from(u8::from(*b))),
        (PyValue::Float(f), TypeKind::Float) => LLValue::Float(*f),
        (PyValue::Str(s), TypeKind::Char) if s.len() == 1 => LLValue::Char(s[0]),
        (PyValue::Unicode(s), TypeKind::UniChar) if s.len() == 1 => LLValue::UniChar(s[0]),
        (PyValue::None, TypeKind::Ptr(_)) => LLValue::NULL,
        (PyValue::Str(s), TypeKind::Ptr(t)) if *t == *STR => LLValue::Ptr(heap.alloc_str(s)?),
        (PyValue::Unicode(s), TypeKind::Ptr(t)) if *t == *UNICODE => {
            LLValue::Ptr(heap.alloc_unicode(s)?)
        }
        (PyValue::List(items), TypeKind::Ptr(t)) => write_list(heap, items, *t)?,
        (PyValue::Tuple(items), TypeKind::Ptr(t)) => {
            let p = heap.malloc(*t, 0, true)?;
            for (i, item) in items.iter().enumerate() {
                let name = format!("item{i}");
                let (_, field) = heap.field(p, *t, &name)?;
                let v = write(heap, item, field)?;
                heap.set_field(p, *t, &name, v)?;
            }
            LLValue::Ptr(p)
        }
        _ => return Err(MISMATCH),
    })
}

fn write_list(heap: &mut Heap<'_>, items: &[PyValue], ty: LLType) -> Result<LLValue, HeapError> {
    if ty.as_array().is_none() {
        let p = heap.malloc(ty, 0, true)?;
        let (_, array) = heap.field(p, ty, "items")?;
        let array = array.pointee().ok_or(HeapError::Type("a list's items"))?;
        let v = write_list(heap, items, array)?;
        heap.set_field(p, ty, "length", LLValue::signed(items.len() as i64))?;
        heap.set_field(p, ty, "items", v)?;
        return Ok(LLValue::Ptr(p));
    }
    let p = heap.malloc(ty, items.len() as u64, true)?;
    for (i, item) in items.iter().enumerate() {
        let (_, of) = heap.item(p, ty, i as u64)?;
        let v = write(heap, item, of)?;
        heap.set_item(p, ty, i as u64, v)?;
    }
    Ok(LLValue::Ptr(p))
}

/// The value that a low-level one stands for.
fn read(heap: &mut Heap<'_>, v: LLValue, ty: LLType) -> Result<PyValue, HeapError> {
    Ok(match v {
        LLValue::Void => PyValue::None,
        LLValue::Bool(b) => PyValue::Bool(b),
        LLValue::Char(c) => PyValue::Str(vec![c]),
        LLValue::UniChar(c) => PyValue::Unicode(vec![c]),
        LLValue::Int(_, i) => PyValue::Int(i),
        LLValue::Float(f) => PyValue::Float(f),
        LLValue::SingleFloat(f) => PyValue::Float(f64::from(f)),
        LLValue::Ptr(0) => PyValue::None,
        LLValue::Ptr(p) => match ty.pointee() {
            Some(t) => read_pointer(heap, p, t)?,
            None => PyValue::Instance("address".into()),
        },
    })
}

fn read_pointer(heap: &mut Heap<'_>, p: u64, ty: LLType) -> Result<PyValue, HeapError> {
    if ty == *STR {
        return Ok(PyValue::Str(heap.str_bytes(p)?));
    }
    if ty == *UNICODE {
        return Ok(PyValue::Unicode(heap.unicode_chars(p)?));
    }
    let Some(s) = ty.as_struct() else {
        if ty.as_array().is_some() {
            let n = heap.array_length(p, ty)?;
            return read_items(heap, p, ty, n);
        }
        return Ok(PyValue::Instance(ty.to_string()));
    };
    if ty == *OBJECT || matches!(s.id, StructId::Instance(_)) {
        let vtable = heap.get_field(p, *OBJECT, "typeptr")?;
        let name = heap.get_field(vtable.as_addr().unwrap_or(0), *OBJECT_VTABLE, "name")?;
        let name = heap.str_bytes(name.as_addr().unwrap_or(0))?;
        return Ok(PyValue::Instance(
            String::from_utf8_lossy(&name).into_owned(),
        ));
    }
    if matches!(s.id, StructId::Vtable(_)) || ty == *OBJECT_VTABLE {
        let name = heap.get_field(p, *OBJECT_VTABLE, "name")?;
        let name = heap.str_bytes(name.as_addr().unwrap_or(0))?;
        return Ok(PyValue::Instance(format!(
            "type {}",
            String::from_utf8_lossy(&name)
        )));
    }
    if heap.field(p, ty, "item0").is_ok() {
        return read_tuple(heap, p, ty);
    }
    if let Ok((_, items)) = heap.field(p, ty, "items")
        && let Ok(length) = heap.get_field(p, ty, "length")
        && let Some(array) = items.pointee()
    {
        let n = length.as_i64().unwrap_or(0) as u64;
        let items = heap.get_field(p, ty, "items")?.as_addr().unwrap_or(0);
        return read_items(heap, items, array, n);
    }
    Ok(PyValue::Instance(s.name.to_string()))
}

fn read_items(heap: &mut Heap<'_>, p: u64, ty: LLType, n: u64) -> Result<PyValue, HeapError> {
    let mut items = Vec::new();
    for i in 0..n {
        let (_, of) = heap.item(p, ty, i)?;
        let v = heap.get_item(p, ty, i)?;
        items.push(read(heap, v, of)?);
    }
    Ok(PyValue::List(items))
}

fn read_tuple(heap: &mut Heap<'_>, p: u64, ty: LLType) -> Result<PyValue, HeapError> {
    let mut items = Vec::new();
    for i in 0.. {
        let name = format!("item{i}");
        let Ok((_, field)) = heap.field(p, ty, &name) else {
            break;
        };
        let v = heap.get_field(p, ty, &name)?;
        items.push(read(heap, v, field)?);
    }
    Ok(PyValue::Tuple(items))
}
