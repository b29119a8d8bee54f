//! The functions that a library exports to C, as import time finds them: the shipped module `_taipan_library` reads the
//! table in which `rpython.rlib.entrypoint` notes them.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use taipan_base::{Db, Diagnostic, ErrorCode, Program};
use taipan_graph::ObjId;

use crate::extension::text;
use crate::heap_image::import_time::diagnose;
use crate::space::Interp;
use crate::space::heap::Ref;
use crate::space::value::Value;

/// A function that C can call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LibraryFunction {
    /// Its name in C.
    pub name: String,
    /// The function.
    pub func: ObjId,
    /// The types of its arguments, as C writes them.
    pub args: Vec<String>,
}

/// What a library offers to C.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Library {
    /// The entry point, then the other functions.
    pub functions: Vec<LibraryFunction>,
    /// Why there is no library.
    pub problem: Option<String>,
}

/// The result before freezing: the function that starts the library, problems, and exported functions.
pub(crate) struct RawLibrary([Value; 3]);

/// The functions under keys of a program with that entry point.
pub(crate) fn find(
    it: &mut Interp,
    entry_point: Ref,
    keys: &str,
) -> Result<RawLibrary, Box<Diagnostic>> {
    let module = it.load("_taipan_library");
    let arguments = [Value::Ref(entry_point), Value::str(keys)];
    let found = module.and_then(|m| it.call_method(&Value::Ref(m), "exports", &arguments));
    match found {
        Ok(Value::Tuple(t)) => {
            let part = |i: usize| t.get(i).cloned().unwrap_or(Value::None);
            Ok(RawLibrary([part(0), part(1), part(2)]))
        }
        Ok(_) => Ok(RawLibrary([Value::None, Value::None, Value::None])),
        Err(e) => Err(Box::new(diagnose(it, &e))),
    }
}

impl RawLibrary {
    /// The function that the C part calls first.
    pub(crate) fn entry_point(&self) -> Option<Ref> {
        self.0[0].as_ref()
    }

    /// What was found, under the ids of its objects.
    pub(crate) fn finish(&self, ids: &FxHashMap<Ref, ObjId>) -> Library {
        let list = |v: &Value| match v {
            Value::Tuple(t) => t.to_vec(),
            _ => Vec::new(),
        };
        let functions = list(&self.0[2]).into_iter().filter_map(|f| {
            let [name, func, args] = &list(&f)[..] else {
                return None;
            };
            Some(LibraryFunction {
                name: text(name)?,
                func: *ids.get(&func.as_ref()?)?,
                args: list(args).iter().filter_map(text).collect(),
            })
        });
        Library {
            functions: functions.collect(),
            problem: text(&self.0[1]),
        }
    }
}

/// The functions that a library exports to C. None for other programs. Commands ask for them, outside of queries: a query
/// would depend on the whole image.
pub fn offered_library(db: &dyn Db, program: Program) -> &Library {
    &crate::image(db, program).library
}

/// Problems of the functions that a library exports to C.
pub fn library_diagnostics(db: &dyn Db, program: Program) -> Vec<Diagnostic> {
    let found = offered_library(db, program);
    let problem = found.problem.iter();
    problem
        .map(|why| Diagnostic::error(ErrorCode::NoEntryPoint, None, why.clone()))
        .collect()
}
