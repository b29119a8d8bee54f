//! The tests of a test module, as import time finds them: the shipped module
//! `_taipan_testing` looks at the live objects, so decorators have run and parameters
//! are what they are.

use rustc_hash::FxHashMap;
use taipan_base::Diagnostic;
use taipan_graph::ObjId;

use crate::import_time::diagnose;
use crate::space::heap::Ref;
use crate::space::value::Value;
use crate::space::{Fatal, Interp};
use crate::{Unwind, named_id};

/// One test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestItem {
    /// Its name in the module, as pytest words it: `TestX::test_m[1-2]`.
    pub name: Box<str>,
    /// Function without arguments that runs it; none where it cannot be run.
    pub runner: Option<ObjId>,
    /// The test function itself.
    pub func: ObjId,
    /// Names that `-k` knows it by, beyond its own: class, function, marks.
    pub keywords: Vec<Box<str>>,
    /// Why it is skipped.
    pub skip: Option<Box<str>>,
    /// Why it is expected to fail.
    pub xfail: Option<Box<str>>,
    /// Whether passing in spite of `xfail` is a failure.
    pub strict: bool,
    /// Why it cannot be run.
    pub problem: Option<Box<str>>,
}

/// The tests of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tests {
    /// In the order of their definitions.
    Found(Vec<TestItem>),
    /// The module skips itself, and why.
    Skipped(Box<str>),
    /// Import time failed, or looking for tests did.
    Failed(Box<Diagnostic>),
}

impl Default for Tests {
    fn default() -> Self {
        Tests::Found(Vec::new())
    }
}

/// A test before freezing.
pub(crate) struct RawItem {
    values: Vec<Value>,
}

/// Looks for tests in a module that has been run.
pub(crate) fn collect(it: &mut Interp, module: Ref) -> Result<Vec<RawItem>, Tests> {
    let found = it.load("_taipan_testing").and_then(|testing| {
        let list = it.call_method(&Value::Ref(testing), "collect", &[Value::Ref(module)])?;
        it.list_of(&list)
    });
    match found {
        Ok(items) => Ok(items
            .into_iter()
            .filter_map(|v| match v {
                Value::Tuple(t) => Some(RawItem { values: t.to_vec() }),
                _ => None,
            })
            .collect()),
        Err(e) => Err(failure(it, &e)),
    }
}

/// What an exception of a test module's import time means.
pub(crate) fn failure(it: &Interp, e: &Unwind<Value, Fatal>) -> Tests {
    let d = diagnose(it, e);
    if let Unwind::Raise(raised) = e
        && let Value::Ref(class) = &raised.0
        && it.heap.class_name(*class) == "Skipped"
    {
        let reason = d.message.strip_prefix("Skipped: ").unwrap_or("");
        return Tests::Skipped(reason.into());
    }
    Tests::Failed(Box::new(d))
}

impl RawItem {
    /// The objects that must be in the image.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Value> {
        self.values[1..3].iter()
    }

    /// The test under the ids of its objects.
    pub(crate) fn finish(&self, it: &Interp, ids: &FxHashMap<Ref, ObjId>) -> TestItem {
        let id = |v: &Value| v.as_ref().and_then(|r| ids.get(&r).copied());
        let text = |v: &Value| match v {
            Value::Str(s) => Some(String::from_utf8_lossy(s).into()),
            _ => None,
        };
        let get = |i: usize| self.values.get(i).unwrap_or(&Value::None);
        let keywords = match get(3) {
            Value::Ref(list) => it.heap.list_items(*list).map(Vec::as_slice),
            _ => None,
        };
        TestItem {
            name: text(get(0)).unwrap_or_default(),
            runner: id(get(1)),
            func: id(get(2)).unwrap_or_else(|| named_id("__builtin__.None")),
            keywords: keywords
                .unwrap_or_default()
                .iter()
                .filter_map(text)
                .collect(),
            skip: text(get(4)),
            xfail: text(get(5)),
            strict: matches!(get(6), Value::Bool(true)),
            problem: text(get(7)),
        }
    }
}
