//! Values in the words of messages.

use taipan_graph::ObjId;
use taipan_interp::ObjData;

use crate::Desc;
use crate::facts::{Facts, Known};
use crate::val::{Atom, Val};

/// The class whose instances the flow space makes of generators.
pub(super) const GENERATOR: &str = "rpython.flowspace.generator.GeneratorIterator";

impl Facts {
    /// A value in words.
    pub(crate) fn describe(&self, v: &Val) -> String {
        let mut parts: Vec<String> = v.atoms.iter().map(|a| self.describe_atom(a)).collect();
        if v.none {
            parts.push("None".into());
        }
        if parts.is_empty() {
            return "nothing".into();
        }
        parts.join(" or ")
    }

    /// A kind of value in words.
    pub(crate) fn describe_atom(&self, a: &Atom) -> String {
        match a {
            Atom::Instance(Some(c)) => match self.class(*c) {
                Ok(Some(info)) if &*info.name == GENERATOR => "a generator".into(),
                Ok(Some(info)) => format!("an instance of {}", info.name),
                _ => "an instance".into(),
            },
            Atom::Pbc(descs) => match &descs[..] {
                [one] => self.describe_desc(one),
                [one, ..] => format!("{} and others", self.describe_desc(one)),
                [] => "nothing".into(),
            },
            Atom::Tuple(items) => format!("a tuple of {}", items.len()),
            Atom::Builtin(f) => format!("the builtin function {}()", f.name()),
            Atom::BuiltinMethod { name, .. } => format!("method {name}"),
            Atom::Ptr(t) => format!("a low-level pointer ({t})"),
            Atom::Interior { to, .. } => format!("a low-level pointer ({to})"),
            other => {
                let name = self.kind_name(other);
                let article = if name.starts_with(['a', 'e', 'i', 'o']) {
                    "an"
                } else {
                    "a"
                };
                format!("{article} {name}")
            }
        }
    }

    fn describe_desc(&self, d: &Desc) -> String {
        let (what, o) = match d {
            Desc::Function(o) => ("function", *o),
            Desc::Class(o) => ("class", *o),
            Desc::Method { func, .. } | Desc::FrozenMethod { func, .. } => ("method", *func),
            Desc::Frozen(o) => return self.describe_object(*o).unwrap_or_default(),
        };
        match self.object(o).ok().flatten().as_deref() {
            Some(ObjData::Function(f)) => format!("{what} {}", f.name),
            Some(ObjData::Class(c)) => format!("{what} {}", c.name),
            _ => what.into(),
        }
    }

    /// An image object in words.
    pub(crate) fn describe_object(&self, o: ObjId) -> Known<String> {
        Ok(match self.object(o)?.as_deref() {
            Some(ObjData::Module { name }) => format!("module {name}"),
            Some(ObjData::Instance(i)) => match self.class(i.class)? {
                Some(c) => format!("a prebuilt instance of {}", c.name),
                None => "a prebuilt instance".into(),
            },
            Some(ObjData::Class(c)) => format!("class {}", c.name),
            Some(ObjData::Other(name)) => format!("a prebuilt {name}"),
            _ => "a prebuilt object".into(),
        })
    }

    /// The name of a kind's Python type.
    pub(crate) fn kind_name(&self, a: &Atom) -> &'static str {
        match a {
            Atom::Int(i) if i.is_bool() => "bool",
            Atom::Int(_) => "int",
            Atom::Float => "float",
            Atom::SingleFloat => "r_singlefloat",
            Atom::Str { .. } => "str",
            Atom::Uni { .. } => "unicode",
            Atom::ByteArray => "bytearray",
            Atom::List(_) => "list",
            Atom::Dict(_) => "dict",
            Atom::Tuple(_) => "tuple",
            Atom::Instance(_) => "object",
            Atom::Exception(_) => "exception",
            Atom::Pbc(_) => "constant",
            Atom::Iterator { .. } => "iterator",
            Atom::Type => "type",
            Atom::Builtin(_) | Atom::BuiltinMethod { .. } => "builtin",
            Atom::Slice(_) => "slice",
            Atom::Builder { .. } => "string builder",
            Atom::WeakRef(_) => "weak reference",
            Atom::Ptr(_) | Atom::Interior { .. } | Atom::AdtMeth { .. } => "pointer",
            Atom::Address => "address",
            Atom::LLType(_) => "low-level type",
            Atom::LLFunc(_) => "low-level function",
            Atom::Property => "property",
            Atom::Error => "value of unknown kind",
            Atom::ListFlags(_) | Atom::Event => "nothing",
        }
    }
}
