//! Functions written in Rust, and how they take their arguments.

use super::heap::Ref;
use super::types::ty;
use super::value::Value;
use super::{Interp, R, builtins};

/// A function written in Rust.
pub(crate) struct Builtin {
    /// Qualified name: `__builtin__.len`, `list.append`, `math.sqrt`.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) func: for<'a, 'db> fn(&'a mut Interp<'db>, Args<'_>) -> R,
    /// How it behaves as an attribute of a class.
    pub(crate) binding: Binding,
    /// Whether it reads the frame of its caller.
    pub(crate) wants_frame: bool,
}

/// How a builtin behaves as an attribute of a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binding {
    /// It is an ordinary function of a module.
    None,
    /// It becomes a method.
    Method,
    /// It gets the class.
    Class,
    /// It gets nothing (`__new__`).
    Static,
}

impl std::fmt::Debug for Builtin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Builtin {
    /// A function of a module.
    pub(crate) const fn function(
        name: &'static str,
        func: for<'a, 'db> fn(&'a mut Interp<'db>, Args<'_>) -> R,
    ) -> Builtin {
        Builtin {
            name,
            func,
            binding: Binding::None,
            wants_frame: false,
        }
    }

    /// A function of a module that reads the frame of its caller.
    pub(crate) const fn of_frame(
        name: &'static str,
        func: for<'a, 'db> fn(&'a mut Interp<'db>, Args<'_>) -> R,
    ) -> Builtin {
        Builtin {
            wants_frame: true,
            ..Builtin::function(name, func)
        }
    }

    /// A method of a class.
    pub(crate) const fn method(
        name: &'static str,
        func: for<'a, 'db> fn(&'a mut Interp<'db>, Args<'_>) -> R,
    ) -> Builtin {
        Builtin {
            binding: Binding::Method,
            ..Builtin::function(name, func)
        }
    }

    /// A class method of a class.
    pub(crate) const fn class_method(
        name: &'static str,
        func: for<'a, 'db> fn(&'a mut Interp<'db>, Args<'_>) -> R,
    ) -> Builtin {
        Builtin {
            binding: Binding::Class,
            ..Builtin::function(name, func)
        }
    }

    /// A static method of a class.
    pub(crate) const fn static_method(
        name: &'static str,
        func: for<'a, 'db> fn(&'a mut Interp<'db>, Args<'_>) -> R,
    ) -> Builtin {
        Builtin {
            binding: Binding::Static,
            ..Builtin::function(name, func)
        }
    }

    /// The last part of its name.
    pub(crate) fn short_name(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or(self.name)
    }
}

/// A keyword argument.
pub(crate) type Keyword = (Box<str>, Value);

/// Arguments of a call.
#[derive(Clone, Copy)]
pub(crate) struct Args<'a> {
    /// Positional ones.
    pub(crate) pos: &'a [Value],
    /// Keyword ones.
    pub(crate) kw: &'a [Keyword],
}

impl<'a> Args<'a> {
    /// Positional arguments only.
    pub(crate) fn new(pos: &'a [Value]) -> Self {
        Args { pos, kw: &[] }
    }

    /// A positional argument.
    pub(crate) fn get(&self, i: usize) -> Option<&'a Value> {
        self.pos.get(i)
    }

    /// An argument by position or name.
    pub(crate) fn named(&self, i: usize, name: &str) -> Option<&'a Value> {
        self.pos.get(i).or_else(|| self.keyword(name))
    }

    /// A keyword argument.
    pub(crate) fn keyword(&self, name: &str) -> Option<&'a Value> {
        self.kw.iter().find(|(n, _)| &**n == name).map(|(_, v)| v)
    }

    /// An argument that must be there.
    pub(crate) fn need(&self, it: &mut Interp, i: usize, f: &str) -> R<&'a Value> {
        match self.pos.get(i) {
            Some(v) => Ok(v),
            None => it.type_error(format!(
                "{f}() takes at least {} argument{} ({} given)",
                i + 1,
                if i == 0 { "" } else { "s" },
                self.pos.len()
            )),
        }
    }

    /// Checks the number of positional arguments, and that there is no other.
    pub(crate) fn expect(&self, it: &mut Interp, f: &str, min: usize, max: usize) -> R<()> {
        let n = self.pos.len();
        if !self.kw.is_empty() {
            return it.type_error(format!("{f}() takes no keyword arguments"));
        }
        if n < min || n > max {
            let (how, bound) = match (min == max, n < min) {
                (true, _) => ("exactly", min),
                (_, true) => ("at least", min),
                _ => ("at most", max),
            };
            return it.type_error(format!(
                "{f}() takes {how} {bound} argument{} ({n} given)",
                if bound == 1 { "" } else { "s" },
            ));
        }
        Ok(())
    }
}

/// Methods of the builtin classes.
pub(crate) const METHODS: &[(Ref, &[Builtin])] = &[
    (ty::OBJECT, builtins::object::OBJECT),
    (ty::TYPE, builtins::object::TYPE),
    (ty::INT, builtins::number::INT),
    (ty::LONG, builtins::number::LONG),
    (ty::FLOAT, builtins::number::FLOAT),
    (ty::COMPLEX, builtins::number::COMPLEX),
    (ty::STR, builtins::str::STR),
    (ty::UNICODE, builtins::str::UNICODE),
    (ty::TUPLE, builtins::list::TUPLE),
    (ty::LIST, builtins::list::LIST),
    (ty::BYTEARRAY, builtins::list::LIST),
    (ty::DICT, builtins::dict::DICT),
    (ty::SET, builtins::set::SET),
    (ty::FROZENSET, builtins::set::FROZENSET),
    (ty::PROPERTY, builtins::object::PROPERTY),
    (ty::FUNCTION, builtins::object::DESCRIPTOR),
    (ty::STATICMETHOD, builtins::object::DESCRIPTOR),
    (ty::CLASSMETHOD, builtins::object::DESCRIPTOR),
    (ty::ITERATOR, builtins::iterators::ITERATOR),
    (ty::GENERATOR, builtins::iterators::GENERATOR),
    (ty::FILE, builtins::file::FILE),
    (ty::BASE_EXCEPTION, builtins::exception::BASE_EXCEPTION),
    (ty::REGEX, super::modules::re::REGEX),
    (ty::MATCH, super::modules::re::MATCH),
    (ty::LLTYPE, super::modules::lltype::TYPE_METHODS),
];
