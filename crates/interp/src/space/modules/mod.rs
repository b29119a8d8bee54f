//! Modules written in Rust.

pub(crate) mod adtmeths;
pub(crate) mod descriptors;
pub(crate) mod llmalloc;
pub(crate) mod lltype;
pub(crate) mod math;
pub(crate) mod operator;
pub(crate) mod os;
pub(crate) mod questions;
pub(crate) mod re;
pub(crate) mod standard;
pub(crate) mod structs;
pub(crate) mod sys;
pub(crate) mod system;
pub(crate) mod unicode;

use super::builtin::{Args, Builtin};
use super::builtins;
use super::heap::{Heap, Kind, Ref};
use super::types::{self, ty};
use super::value::Value;
use super::{Interp, R};

/// A module written in Rust.
struct Module {
    name: &'static str,
    functions: &'static [Builtin],
    init: fn(&mut Interp, Ref),
}

const fn module(
    name: &'static str,
    functions: &'static [Builtin],
    init: fn(&mut Interp, Ref),
) -> Module {
    Module {
        name,
        functions,
        init,
    }
}

fn nothing(_: &mut Interp, _: Ref) {}

const MODULES: &[Module] = &[
    module("__builtin__", &[], init_builtin),
    module("exceptions", &[], init_exceptions),
    module("sys", sys::SYS, sys::init),
    module("posix", os::POSIX, os::init),
    module("math", math::MATH, math::init),
    module("time", os::TIME, os::init_time),
    module("operator", operator::OPERATOR, operator::init),
    module("_struct", structs::STRUCT, nothing),
    module("_sre", re::SRE, nothing),
    module("_taipan", sys::TAIPAN, sys::init_taipan),
    module("_taipan_unicode", unicode::FUNCTIONS, nothing),
    module("_lltype", lltype::FUNCTIONS, lltype::init),
    module("_llmalloc", llmalloc::FUNCTIONS, nothing),
    module(lltype::LLOPERATION, &[], lltype::init_llop),
    module("taipan_lowlevel", &[], lltype::init_lowlevel),
];

/// Whether a module of that name is written in Rust.
pub(crate) fn is_builtin(name: &str) -> bool {
    MODULES.iter().any(|m| m.name == name)
}

/// The modules that are written in Rust, and those of the standard library.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|m| m.name).chain(standard::names())
}

/// Makes a module that is written in Rust.
pub(crate) fn make_builtin(it: &mut Interp, name: &str) -> R<Ref> {
    let Some(m) = MODULES.iter().find(|m| m.name == name) else {
        return it.raise(ty::IMPORT_ERROR, format!("No module named {name}"));
    };
    let r = it.new_module(name);
    add_functions(it, r, m.functions);
    (m.init)(it, r);
    Ok(r)
}

fn add_functions(it: &mut Interp, module: Ref, functions: &'static [Builtin]) {
    for b in functions {
        let f = it.heap.alloc(ty::BUILTIN, Kind::Builtin(b));
        it.heap.set_attr(module, b.short_name(), Value::Ref(f));
    }
}

/// Fills the dict of names that every module sees.
pub(crate) fn install_builtins(heap: &mut Heap, builtins: Ref) {
    let mut set = |name: &str, v: Value| heap.the_dict_mut(builtins).set_str(name, v);
    for (r, name, module) in types::all_types() {
        let hidden = matches!(
            r,
            ty::NONE_TYPE
                | ty::FUNCTION
                | ty::BUILTIN
                | ty::METHOD
                | ty::MODULE
                | ty::CELL
                | ty::ITERATOR
                | ty::GENERATOR
                | ty::CODE
                | ty::CLASSOBJ
                | ty::INSTANCE
                | ty::MEMBER
                | ty::NOTIMPLEMENTED_TYPE
                | ty::ELLIPSIS_TYPE
                | ty::TRACEBACK
        );
        if !hidden && !is_known_to_rlib_only(r) && matches!(module, "__builtin__" | "exceptions") {
            set(name, Value::Ref(r));
        }
    }
    set("bytes", Value::Ref(ty::STR));
    set("None", Value::None);
    set("True", Value::Bool(true));
    set("False", Value::Bool(false));
    set("NotImplemented", Value::Ref(types::NOT_IMPLEMENTED));
    set("Ellipsis", Value::Ref(types::ELLIPSIS));
    set("__debug__", Value::Bool(true));
    set("__name__", Value::str("__builtin__"));
    // Programs look at how its attributes are made; there are no complex numbers.
    for part in [&COMPLEX_REAL, &COMPLEX_IMAG] {
        let getter = Value::Ref(heap.alloc(ty::BUILTIN, Kind::Builtin(part)));
        let accessors = Box::new([getter, Value::None, Value::None, Value::None]);
        let property = heap.alloc(ty::PROPERTY, Kind::Property(accessors));
        heap.set_attr(ty::COMPLEX, part.short_name(), Value::Ref(property));
    }
    for b in builtins::functions::FUNCTIONS {
        let f = Value::Ref(heap.alloc(ty::BUILTIN, Kind::Builtin(b)));
        heap.the_dict_mut(builtins).set_str(b.short_name(), f);
    }
}

static COMPLEX_REAL: Builtin = Builtin::function("complex.real", no_complex);
static COMPLEX_IMAG: Builtin = Builtin::function("complex.imag", no_complex);

fn no_complex(it: &mut Interp, _: Args<'_>) -> R {
    it.type_error("complex numbers are not supported at import time")
}

/// Whether a class is RPython's own, not Python's.
fn is_known_to_rlib_only(class: Ref) -> bool {
    class == ty::STACK_OVERFLOW
}

fn init_builtin(it: &mut Interp, m: Ref) {
    it.heap.get_mut(m).attrs = Some(it.builtins);
}

fn init_exceptions(it: &mut Interp, m: Ref) {
    for (r, name, module) in types::all_types() {
        if module == "exceptions" && !is_known_to_rlib_only(r) {
            it.heap.set_attr(m, name, Value::Ref(r));
        }
    }
}
