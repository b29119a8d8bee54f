//! Features that object-oriented targets lack.

use taipan_language::Machine;
use taipan_lltype::{missing_on, shown_name};

/// A feature that a program needs and the target lacks.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Lack {
    /// Memory that the program allocates and frees itself.
    RawMemory,
    /// Addresses of objects and parts of objects, as numbers or for arithmetic.
    Addresses,
    /// Bytes of an object that are read or written as a number of another size.
    Reinterpretation,
    /// `__del__`, and queues of finalizers.
    Finalizers,
    /// Weak references.
    WeakReferences,
    /// Values that each thread has its own of.
    ThreadLocals,
    /// A just-in-time compiler.
    Jit,
    /// Integers of 128 bits outside of functions.
    WideIntegers,
    /// Identity hashes of objects that are no instances of a class.
    IdentityOfArrays,
    /// A function of the runtime or of the system, by its name.
    Function(String),
    /// An operation that is for other back ends; its name.
    Operation(String),
}

impl Lack {
    /// The missing feature, for a sentence that says where: "there is no ... ".
    pub fn what(&self) -> String {
        match self {
            Lack::RawMemory => "no raw memory: all objects are the collector's".into(),
            Lack::Addresses => {
                "no addresses: a reference to an object is no number, and there is none to a part of it"
                    .into()
            }
            Lack::Reinterpretation => {
                "no way to read or write several bytes of an object as one number".into()
            }
            Lack::Finalizers => "no `__del__`, and no queue of finalizers".into(),
            Lack::WeakReferences => "no weak references".into(),
            Lack::ThreadLocals => "no thread-local values: there is one thread".into(),
            Lack::Jit => "no just-in-time compiler".into(),
            Lack::WideIntegers => "no fields, items and cases of 128 bits".into(),
            Lack::IdentityOfArrays => {
                "no identity hash of strings, lists and tuples, only of instances".into()
            }
            Lack::Function(name) => match missing_on(Machine::Wasm32, name) {
                Some(what) => format!("no {what}: {}() cannot be called", shown_name(name)),
                None => format!("no function {}()", shown_name(name)),
            },
            Lack::Operation(name) => format!("no operation {name}"),
        }
    }

    /// The remedy. `option` is the option by which the program has this target.
    pub fn instead(&self, option: &str) -> String {
        let instead = match self {
            Lack::RawMemory => {
                "keep the data in lists, strings or instances; or leave out `@`: without it there is raw memory"
            }
            Lack::Addresses | Lack::Reinterpretation => {
                "use indices into lists and strings; or leave out `@`: without it objects have addresses"
            }
            Lack::Finalizers => {
                "release the resource where it is no longer needed (`try`/`finally`, `with`); or leave out `@`"
            }
            Lack::WeakReferences => {
                "remove entries from the table where the object is no longer needed; or leave out `@`"
            }
            Lack::ThreadLocals => "use a global variable",
            Lack::Jit => "leave out `--jit`",
            Lack::WideIntegers => "keep two words of 64 bits, or an rbigint; or leave out `@`",
            Lack::IdentityOfArrays => {
                "give the object a number of its own in a field; or leave out `@`"
            }
            Lack::Function(_) | Lack::Operation(_) => {
                "keep it out of what the program can reach on this target; or leave out `@`"
            }
        };
        instead.replace('@', option)
    }
}

/// A function that has no translation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Unsupported {
    /// Why not.
    pub lack: Lack,
    /// The instruction that needs it.
    pub at: u32,
}
