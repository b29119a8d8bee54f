//! The table of builtin classes, at fixed places of the heap.

use taipan_language::Exc;

use super::builtin::{self, Builtin};
use super::heap::{Class, Heap, Kind, Ref};
use super::value::Value;

/// Name, module, base and layout class of a builtin class.
type BuiltinType = (&'static str, &'static str, Option<Ref>, Option<Ref>);

macro_rules! builtin_types {
    ($($const:ident = $name:literal, $module:literal, $base:expr, $layout:expr;)*) => {
        /// References to the builtin classes.
        pub(crate) mod ty {
            use super::super::heap::Ref;
            pub(crate) use super::exceptions::*;

            builtin_types!(@consts 0u32; $($const,)*);
        }

        /// Every builtin class but exceptions, in heap order.
        const TYPES: &[BuiltinType] = {
            use ty::*;
            &[$(($name, $module, $base, $layout),)*]
        };
    };
    (@consts $n:expr; $const:ident, $($rest:ident,)*) => {
        #[allow(dead_code, reason = "the table is whole, whoever uses which")]
        pub(crate) const $const: Ref = Ref($n);
        builtin_types!(@consts $n + 1; $($rest,)*);
    };
    (@consts $n:expr;) => {};
}

builtin_types! {
    OBJECT = "object", "__builtin__", None, None;
    TYPE = "type", "__builtin__", Some(OBJECT), Some(TYPE);
    NONE_TYPE = "NoneType", "__builtin__", Some(OBJECT), None;
    INT = "int", "__builtin__", Some(OBJECT), Some(INT);
    BOOL = "bool", "__builtin__", Some(INT), Some(INT);
    LONG = "long", "__builtin__", Some(OBJECT), Some(LONG);
    FLOAT = "float", "__builtin__", Some(OBJECT), Some(FLOAT);
    BASESTRING = "basestring", "__builtin__", Some(OBJECT), None;
    STR = "str", "__builtin__", Some(BASESTRING), Some(STR);
    UNICODE = "unicode", "__builtin__", Some(BASESTRING), Some(UNICODE);
    TUPLE = "tuple", "__builtin__", Some(OBJECT), Some(TUPLE);
    LIST = "list", "__builtin__", Some(OBJECT), Some(LIST);
    BYTEARRAY = "bytearray", "__builtin__", Some(OBJECT), Some(LIST);
    COMPLEX = "complex", "__builtin__", Some(OBJECT), Some(COMPLEX);
    BUFFER = "buffer", "__builtin__", Some(OBJECT), None;
    MEMORYVIEW = "memoryview", "__builtin__", Some(OBJECT), None;
    DICT = "dict", "__builtin__", Some(OBJECT), Some(DICT);
    SET = "set", "__builtin__", Some(OBJECT), Some(SET);
    FROZENSET = "frozenset", "__builtin__", Some(OBJECT), Some(FROZENSET);
    FUNCTION = "function", "__builtin__", Some(OBJECT), Some(FUNCTION);
    BUILTIN = "builtin_function_or_method", "__builtin__", Some(OBJECT), None;
    METHOD = "instancemethod", "__builtin__", Some(OBJECT), Some(METHOD);
    MODULE = "module", "__builtin__", Some(OBJECT), Some(MODULE);
    CELL = "cell", "__builtin__", Some(OBJECT), None;
    PROPERTY = "property", "__builtin__", Some(OBJECT), Some(PROPERTY);
    STATICMETHOD = "staticmethod", "__builtin__", Some(OBJECT), Some(STATICMETHOD);
    CLASSMETHOD = "classmethod", "__builtin__", Some(OBJECT), Some(CLASSMETHOD);
    SUPER = "super", "__builtin__", Some(OBJECT), Some(SUPER);
    SLICE = "slice", "__builtin__", Some(OBJECT), None;
    XRANGE = "xrange", "__builtin__", Some(OBJECT), None;
    ITERATOR = "iterator", "__builtin__", Some(OBJECT), None;
    GENERATOR = "generator", "__builtin__", Some(OBJECT), None;
    FILE = "file", "__builtin__", Some(OBJECT), None;
    CODE = "code", "__builtin__", Some(OBJECT), None;
    VERSION_INFO = "version_info", "sys", Some(TUPLE), Some(TUPLE);
    STAT_RESULT = "stat_result", "posix", Some(TUPLE), Some(TUPLE);
    CLASSOBJ = "classobj", "__builtin__", Some(OBJECT), Some(TYPE);
    INSTANCE = "instance", "__builtin__", Some(OBJECT), None;
    MEMBER = "member_descriptor", "__builtin__", Some(OBJECT), None;
    WEAKREF = "weakref", "_weakref", Some(OBJECT), Some(WEAKREF);
    NOTIMPLEMENTED_TYPE = "NotImplementedType", "__builtin__", Some(OBJECT), None;
    ELLIPSIS_TYPE = "ellipsis", "__builtin__", Some(OBJECT), None;
    REGEX = "SRE_Pattern", "_sre", Some(OBJECT), None;
    MATCH = "SRE_Match", "_sre", Some(OBJECT), None;
    LLTYPE = "LowLevelType", "rpython.rtyper.lltypesystem.lltype", Some(OBJECT), None;
    LLPTR = "_ptr", "rpython.rtyper.lltypesystem.lltype", Some(OBJECT), None;
    LLCONTAINER = "_container", "rpython.rtyper.lltypesystem.lltype", Some(OBJECT), None;
    TRACEBACK = "traceback", "__builtin__", Some(OBJECT), None;
}

/// References to the exception classes.
mod exceptions {
    use taipan_language::{Exc, for_each_exception};

    use super::super::heap::Ref;
    use super::TYPES;

    macro_rules! constants {
        ($($constant:ident $name:ident $base:ident;)*) => {$(
            #[allow(dead_code, reason = "the table is whole, whoever uses which")]
            pub(crate) const $constant: Ref = of(Exc::$name);
        )*};
    }
    for_each_exception!(constants);

    /// They come after the other classes.
    pub(super) const fn of(e: Exc) -> Ref {
        Ref(TYPES.len() as u32 + e as u32)
    }
}

/// `NotImplemented`, at a fixed place after the classes.
pub(crate) const NOT_IMPLEMENTED: Ref = Ref((TYPES.len() + Exc::ALL.len()) as u32);
/// `Ellipsis`
pub(crate) const ELLIPSIS: Ref = Ref(NOT_IMPLEMENTED.0 + 1);

/// Every builtin class, in heap order.
fn types() -> impl Iterator<Item = BuiltinType> {
    let exceptions = Exc::ALL.iter().map(|e| {
        let base = e.base().map_or(ty::OBJECT, exceptions::of);
        (e.name(), "exceptions", Some(base), Some(ty::BASE_EXCEPTION))
    });
    TYPES.iter().copied().chain(exceptions)
}

/// All builtin classes.
pub(crate) fn all_types() -> impl Iterator<Item = (Ref, &'static str, &'static str)> {
    types()
        .enumerate()
        .map(|(i, (name, module, ..))| (Ref(i as u32), name, module))
}

/// Fills a heap with the builtin classes and their methods.
pub(crate) fn bootstrap(heap: &mut Heap) {
    for (i, (name, _, base, layout)) in types().enumerate() {
        let me = Ref(i as u32);
        let mut mro = vec![me];
        if let Some(b) = base {
            mro.extend(heap.the_class(b).mro.iter().copied());
            heap.the_class_mut(b).subclasses.push(me);
        }
        let class = Class {
            name: name.into(),
            bases: base.iter().copied().collect(),
            mro,
            builtin: true,
            layout,
            ..Class::default()
        };
        heap.alloc(ty::TYPE, Kind::Class(Box::new(class)));
    }
    heap.alloc(ty::NOTIMPLEMENTED_TYPE, Kind::Singleton("NotImplemented"));
    heap.alloc(ty::ELLIPSIS_TYPE, Kind::Singleton("Ellipsis"));
    for (i, (_, module, ..)) in types().enumerate() {
        heap.set_attr(Ref(i as u32), "__module__", Value::str(module));
    }
    for (class, methods) in builtin::METHODS {
        for b in *methods {
            add_method(heap, *class, b);
        }
    }
}

/// Puts a builtin function into a class.
fn add_method(heap: &mut Heap, class: Ref, b: &'static Builtin) {
    let f = Value::Ref(heap.alloc(ty::BUILTIN, Kind::Builtin(b)));
    let v = match b.binding {
        builtin::Binding::Class => Value::Ref(heap.alloc(ty::CLASSMETHOD, Kind::ClassMethod(f))),
        builtin::Binding::Static => Value::Ref(heap.alloc(ty::STATICMETHOD, Kind::StaticMethod(f))),
        _ => f,
    };
    heap.set_attr(class, b.short_name(), v);
}
