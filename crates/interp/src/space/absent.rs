//! Parts of the original toolchain that do not ship.
//!
//! Programs, and above all modules with tests, import more of the toolchain than the
//! functions that are compiled ever use. Such a name stands for something absent: it may
//! be passed around, inherited from and, where that leaves nothing behind in the
//! toolchain, called, and everything that is made of it is absent as well. Whoever needs
//! to know what it is fails.
//!
//! ```text
//! from rpython.rtyper.test.tool import BaseRtypingTest    absent
//! class TestX(BaseRtypingTest): ...                       absent
//! if BaseRtypingTest: ...                                 ImportError
//! ```

use super::heap::{Kind, Ref};
use super::types::ty;
use super::value::Value;
use super::{Interp, R};

/// Packages of `rpython` that are the toolchain rather than a library for programs.
const PACKAGES: [&str; 9] = [
    "annotator",
    "config",
    "conftest",
    "flowspace",
    "jit",
    "memory",
    "rtyper",
    "tool",
    "translator",
];

/// Modules of `rpython.rlib` that do not ship.
const LIBRARY: [&str; 17] = [
    "_jit_vref",
    "constant",
    "exports",
    "fastutf8",
    "libffi",
    "parsing.main",
    "parsing.makepackrat",
    "parsing.pypackrat",
    "revdb",
    "rope",
    "ropenssl",
    "rsre.rsre_jit",
    "rsre.rsre_utf8",
    "rwin32file",
    "rwinreg",
    "rzipfile",
    "special_value",
];

/// The key under which globals keep the name of a module of the toolchain from which they
/// import everything.
const STAR: &str = "*";

/// Modules whose functions teach the toolchain something about the program.
const REGISTERING: [&str; 4] = [
    "rpython.annotator.",
    "rpython.flowspace.",
    "rpython.rtyper.ext",
    "rpython.rtyper.r",
];

/// Attributes of classes that tell the toolchain what they are about.
const ENTRIES: [&str; 3] = ["_about_", "_type_", "_metatype_"];

/// Whether a module of that name is part of the original toolchain, or a tool of its
/// tests.
fn is_toolchain(name: &str) -> bool {
    let mut parts = name.split('.');
    match parts.next() {
        Some("hypothesis") => true,
        Some("rpython") => match parts.next() {
            Some(package) => {
                PACKAGES.contains(&package) || parts.any(|p| p == "test") || is_library(name)
            }
            None => false,
        },
        _ => false,
    }
}

fn is_library(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("rpython.rlib.") else {
        return false;
    };
    let mut modules = LIBRARY.iter().filter_map(|m| rest.strip_prefix(m));
    modules.any(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether a call of something with this name may have changed what the toolchain does.
fn registers(name: &str) -> bool {
    let is_test = name.contains(".test.");
    !is_test && REGISTERING.iter().any(|module| name.starts_with(module))
}

impl Interp<'_> {
    /// Whether something of that module may be absent where the running statement asks for
    /// it. Where a failure is looked out for, it fails.
    pub(crate) fn may_be_absent(&mut self, module: &str) -> bool {
        if !is_toolchain(module) {
            return false;
        }
        // Nothing runs while imports of function bodies are followed.
        let Some(code) = self.stack.last().map(|a| a.code) else {
            return false;
        };
        let pc = self.heap.site.pc;
        let body = self.body(code);
        let mut handlers = body.code.handlers.iter();
        !handlers.any(|h| (h.start..h.end).contains(&pc))
    }

    /// Something absent, by its qualified name.
    pub(crate) fn absent(&mut self, name: String) -> Value {
        Value::Ref(self.heap.alloc(ty::BUILTIN, Kind::Absent(name.into())))
    }

    /// The name of something absent.
    pub(crate) fn absent_name(&self, v: &Value) -> Option<&str> {
        match self.heap.kind(v.as_ref()?) {
            Kind::Absent(name) => Some(name),
            _ => None,
        }
    }

    /// `v.name` where `v` has no such attribute: absent where `v` is, or is a module of the
    /// toolchain.
    pub(crate) fn absent_attr(&mut self, v: &Value, name: &str) -> Option<Value> {
        if name.starts_with("__") {
            return None;
        }
        let of = match self.heap.kind(v.as_ref()?) {
            Kind::Absent(of) => of.to_string(),
            Kind::Module(module) => {
                let module = module.to_string();
                self.may_be_absent(&module).then_some(module)?
            }
            _ => return None,
        };
        Some(self.absent(format!("{of}.{name}")))
    }

    /// Notes that globals import everything from a module, which may lack something.
    pub(crate) fn note_star(&mut self, globals: Ref, module: &Value) {
        let name = match module.as_ref().map(|m| self.heap.kind(m)) {
            Some(Kind::Module(name)) => name.to_string(),
            _ => return,
        };
        if self.may_be_absent(&name) {
            let name = Value::str(&name);
            self.heap.set_item(globals, STAR, name);
        }
    }

    /// A name that globals may lack because the toolchain's module from which they import
    /// everything does.
    pub(crate) fn absent_global(&mut self, globals: Ref, name: &str) -> Option<Value> {
        let module = self.heap.item(globals, STAR)?.as_text()?;
        let module = module.to_owned();
        (self.may_be_absent(&module)).then(|| self.absent(format!("{module}.{name}")))
    }

    /// What an operation makes of something absent.
    pub(crate) fn absent_result(&mut self, operands: [&Value; 2]) -> Option<Value> {
        let name = operands.iter().find_map(|v| self.absent_name(v))?;
        let name = name.to_owned();
        Some(self.absent(name))
    }

    /// Calls something absent.
    pub(crate) fn call_absent(&mut self, name: &str) -> R {
        if registers(name) {
            return self.not_here(name);
        }
        Ok(self.absent(format!("{name}()")))
    }

    /// A class of this name and dict with something absent among its bases.
    pub(crate) fn class_below_absent(&mut self, name: &str, dict: Ref, base: &str) -> R {
        // It adds methods to its bases, or is an entry of the toolchain's registry.
        let attributes = self.heap.the_dict(dict);
        let is_entry = (ENTRIES.iter()).any(|about| attributes.get_str(about).is_some());
        if is_entry || name == "__extend__" {
            return self.not_here(base);
        }
        Ok(self.absent(base.to_owned()))
    }

    /// The failure of what needs to know something absent.
    pub(crate) fn not_here<T>(&mut self, name: &str) -> R<T> {
        let message = format!("{name} is a part of the original toolchain that is not here");
        self.raise(ty::IMPORT_ERROR, message)
    }
}
