//! The table of builtin classes, at fixed places of the heap.

use super::builtin::{self, Builtin};
use super::heap::{Class, Heap, Kind, Ref};
use super::value::Value;

macro_rules! builtin_types {
    ($($const:ident = $name:literal, $module:literal, $base:expr, $layout:expr;)*) => {
        /// References to the builtin classes.
        pub(crate) mod ty {
            use super::super::heap::Ref;
            builtin_types!(@consts 0u32; $($const,)*);
        }

        /// Name, module, base and layout class of every builtin class, in heap order.
        const TYPES: &[(&str, &str, Option<Ref>, Option<Ref>)] = {
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
    BASE_EXCEPTION = "BaseException", "exceptions", Some(OBJECT), Some(BASE_EXCEPTION);
    SYSTEM_EXIT = "SystemExit", "exceptions", Some(BASE_EXCEPTION), Some(BASE_EXCEPTION);
    KEYBOARD_INTERRUPT = "KeyboardInterrupt", "exceptions", Some(BASE_EXCEPTION), Some(BASE_EXCEPTION);
    GENERATOR_EXIT = "GeneratorExit", "exceptions", Some(BASE_EXCEPTION), Some(BASE_EXCEPTION);
    EXCEPTION = "Exception", "exceptions", Some(BASE_EXCEPTION), Some(BASE_EXCEPTION);
    STOP_ITERATION = "StopIteration", "exceptions", Some(EXCEPTION), Some(BASE_EXCEPTION);
    STANDARD_ERROR = "StandardError", "exceptions", Some(EXCEPTION), Some(BASE_EXCEPTION);
    ARITHMETIC_ERROR = "ArithmeticError", "exceptions", Some(STANDARD_ERROR), Some(BASE_EXCEPTION);
    FLOATING_POINT_ERROR = "FloatingPointError", "exceptions", Some(ARITHMETIC_ERROR), Some(BASE_EXCEPTION);
    OVERFLOW_ERROR = "OverflowError", "exceptions", Some(ARITHMETIC_ERROR), Some(BASE_EXCEPTION);
    ZERO_DIVISION_ERROR = "ZeroDivisionError", "exceptions", Some(ARITHMETIC_ERROR), Some(BASE_EXCEPTION);
    ASSERTION_ERROR = "AssertionError", "exceptions", Some(STANDARD_ERROR), Some(BASE_EXCEPTION);
    ATTRIBUTE_ERROR = "AttributeError", "exceptions", Some(STANDARD_ERROR), Some(BASE_EXCEPTION);
    BUFFER_ERROR = "BufferError", "exceptions", Some(STANDARD_ERROR), Some(BASE_EXCEPTION);
    EOF_ERROR = "EOFError", "exceptions", Some(STANDARD_ERROR), Some(BASE_EXCEPTION);
    IMPORT_ERROR = "ImportError", "exceptions", Some(STANDARD_ERROR), Some(BASE_EXCEPTION);
    LOOKUP_ERROR = "LookupError", "exceptions", Some(STANDARD_ERROR), Some(BASE_EXCEPTION);
    INDEX_ERROR = "IndexError", "exceptions", Some(LOOKUP_ERROR), Some(BASE_EXCEPTION);
    KEY_ERROR = "KeyError", "exceptions", Some(LOOKUP_ERROR), Some(BASE_EXCEPTION);
    MEMORY_ERROR = "MemoryError", "exceptions", Some(STANDARD_ERROR), Some(BASE_EXCEPTION);
    NAME_ERROR = "NameError", "exceptions", Some(STANDARD_ERROR), Some(BASE_EXCEPTION);
    UNBOUND_LOCAL_ERROR = "UnboundLocalError", "exceptions", Some(NAME_ERROR), Some(BASE_EXCEPTION);
    REFERENCE_ERROR = "ReferenceError", "exceptions", Some(STANDARD_ERROR), Some(BASE_EXCEPTION);
    RUNTIME_ERROR = "RuntimeError", "exceptions", Some(STANDARD_ERROR), Some(BASE_EXCEPTION);
    NOT_IMPLEMENTED_ERROR = "NotImplementedError", "exceptions", Some(RUNTIME_ERROR), Some(BASE_EXCEPTION);
    SYNTAX_ERROR = "SyntaxError", "exceptions", Some(STANDARD_ERROR), Some(BASE_EXCEPTION);
    INDENTATION_ERROR = "IndentationError", "exceptions", Some(SYNTAX_ERROR), Some(BASE_EXCEPTION);
    TAB_ERROR = "TabError", "exceptions", Some(INDENTATION_ERROR), Some(BASE_EXCEPTION);
    SYSTEM_ERROR = "SystemError", "exceptions", Some(STANDARD_ERROR), Some(BASE_EXCEPTION);
    TYPE_ERROR = "TypeError", "exceptions", Some(STANDARD_ERROR), Some(BASE_EXCEPTION);
    VALUE_ERROR = "ValueError", "exceptions", Some(STANDARD_ERROR), Some(BASE_EXCEPTION);
    UNICODE_ERROR = "UnicodeError", "exceptions", Some(VALUE_ERROR), Some(BASE_EXCEPTION);
    UNICODE_DECODE_ERROR = "UnicodeDecodeError", "exceptions", Some(UNICODE_ERROR), Some(BASE_EXCEPTION);
    UNICODE_ENCODE_ERROR = "UnicodeEncodeError", "exceptions", Some(UNICODE_ERROR), Some(BASE_EXCEPTION);
    UNICODE_TRANSLATE_ERROR = "UnicodeTranslateError", "exceptions", Some(UNICODE_ERROR), Some(BASE_EXCEPTION);
    ENVIRONMENT_ERROR = "EnvironmentError", "exceptions", Some(STANDARD_ERROR), Some(BASE_EXCEPTION);
    IO_ERROR = "IOError", "exceptions", Some(ENVIRONMENT_ERROR), Some(BASE_EXCEPTION);
    OS_ERROR = "OSError", "exceptions", Some(ENVIRONMENT_ERROR), Some(BASE_EXCEPTION);
    WARNING = "Warning", "exceptions", Some(EXCEPTION), Some(BASE_EXCEPTION);
    USER_WARNING = "UserWarning", "exceptions", Some(WARNING), Some(BASE_EXCEPTION);
    DEPRECATION_WARNING = "DeprecationWarning", "exceptions", Some(WARNING), Some(BASE_EXCEPTION);
    PENDING_DEPRECATION_WARNING = "PendingDeprecationWarning", "exceptions", Some(WARNING), Some(BASE_EXCEPTION);
    SYNTAX_WARNING = "SyntaxWarning", "exceptions", Some(WARNING), Some(BASE_EXCEPTION);
    RUNTIME_WARNING = "RuntimeWarning", "exceptions", Some(WARNING), Some(BASE_EXCEPTION);
    FUTURE_WARNING = "FutureWarning", "exceptions", Some(WARNING), Some(BASE_EXCEPTION);
    IMPORT_WARNING = "ImportWarning", "exceptions", Some(WARNING), Some(BASE_EXCEPTION);
    UNICODE_WARNING = "UnicodeWarning", "exceptions", Some(WARNING), Some(BASE_EXCEPTION);
    BYTES_WARNING = "BytesWarning", "exceptions", Some(WARNING), Some(BASE_EXCEPTION);
}

/// `NotImplemented`, at a fixed place after the classes.
pub(crate) const NOT_IMPLEMENTED: Ref = Ref(TYPES.len() as u32);
/// `Ellipsis`
pub(crate) const ELLIPSIS: Ref = Ref(TYPES.len() as u32 + 1);

/// All builtin classes.
pub(crate) fn all_types() -> impl Iterator<Item = (Ref, &'static str, &'static str)> {
    TYPES
        .iter()
        .enumerate()
        .map(|(i, (name, module, ..))| (Ref(i as u32), *name, *module))
}

/// Fills a heap with the builtin classes and their methods.
pub(crate) fn bootstrap(heap: &mut Heap) {
    for (i, (name, _, base, layout)) in TYPES.iter().enumerate() {
        let me = Ref(i as u32);
        let mut mro = vec![me];
        if let Some(b) = base {
            mro.extend(heap.the_class(*b).mro.iter().copied());
            heap.the_class_mut(*b).subclasses.push(me);
        }
        let class = Class {
            name: (*name).into(),
            bases: base.iter().copied().collect(),
            mro,
            builtin: true,
            layout: *layout,
            ..Class::default()
        };
        heap.alloc(ty::TYPE, Kind::Class(Box::new(class)));
    }
    heap.alloc(ty::NOTIMPLEMENTED_TYPE, Kind::Singleton("NotImplemented"));
    heap.alloc(ty::ELLIPSIS_TYPE, Kind::Singleton("Ellipsis"));
    for (i, (_, module, ..)) in TYPES.iter().enumerate() {
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
