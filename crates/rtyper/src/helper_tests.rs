//! Every prelude helper that stands for a function returns and raises what the language's table says.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_annotator::{
    CallInfo, FunctionAnnotation, HelperKey, SomeKind, Target, annotate_helper,
};
use taipan_base::Db;
use taipan_graph::{BlockId, Const, ExitCase, ExitSwitch, ObjId, Operand};
use taipan_interp::{ObjData, Object, object};
use taipan_language::{Exc, HelperFunction};
use taipan_lltype::HelperArg;
use taipan_testkit::TestDb;

use crate::containers::helper_repr;
use crate::exceptions::builtin_exception;
use crate::queries::helper_sym_of;

/// What helpers raise, as far as it was asked; what they are about to find out, as nothing.
struct Raising<'a> {
    db: &'a TestDb,
    known: FxHashMap<HelperKey, BTreeSet<Exc>>,
}

impl Raising<'_> {
    /// The exceptions that leave a helper, but for lack of memory, which any allocation may tell
    /// of.
    fn of(&mut self, key: HelperKey) -> BTreeSet<Exc> {
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        self.known.insert(key, BTreeSet::new());
        let annotation = annotate_helper(self.db, key);
        let mut all = BTreeSet::new();
        for b in annotation.graph.reachable() {
            if annotation.reached[b.index()] {
                self.of_block(&annotation, b, &mut all);
            }
        }
        self.known.insert(key, all.clone());
        all
    }

    fn of_block(&mut self, annotation: &FunctionAnnotation, b: BlockId, all: &mut BTreeSet<Exc>) {
        let graph = &annotation.graph;
        let block = graph.block(b);
        let mut raised = BTreeSet::new();
        for i in 0..block.operations.len() {
            let raises = match annotation.calls.get(b, i as u32) {
                Some(CallInfo::Direct(call)) => match call.target {
                    Target::Helper(key) => self.of(key),
                    Target::Spec(_) => panic!("a helper calls a program"),
                },
                _ => continue,
            };
            let last = i + 1 == block.operations.len();
            match last && block.exitswitch == ExitSwitch::LastException {
                true => raised = raises,
                false => all.extend(raises),
            }
        }
        for (i, exit) in block.exits.iter().enumerate() {
            let leaves = exit.target == graph.exceptblock;
            match &exit.case {
                ExitCase::Exception(Const::Obj(class)) => {
                    let class = builtin_exception(*class).expect("a builtin exception class");
                    let caught = raised.iter().filter(|e| is_subclass(**e, class));
                    let caught: BTreeSet<Exc> = caught.copied().collect();
                    raised.retain(|e| !caught.contains(e));
                    if leaves {
                        all.extend(caught);
                    }
                }
                _ if leaves && annotation.is_followed(b, i) => {
                    let class = self.class_of(annotation, &exit.args[1]);
                    all.insert(builtin_exception(class).expect("a builtin exception class"));
                }
                _ => {}
            }
        }
        all.extend(raised);
    }

    /// The class of an exception that is raised.
    fn class_of(
        &self,
        annotation: &FunctionAnnotation,
        value: &Operand<taipan_graph::HighLevel>,
    ) -> ObjId {
        match value {
            Operand::Var(v) => match &annotation.var(*v).kind {
                SomeKind::Instance { class: Some(c), .. } => *c,
                SomeKind::Exception(classes) if classes.len() == 1 => classes[0],
                other => panic!("raises {other:?}"),
            },
            Operand::Const(Const::Obj(id)) => {
                let object = object(
                    self.db,
                    Object::new(self.db, self.db.files().prelude(self.db), *id),
                );
                match object.as_deref() {
                    Some(ObjData::Instance(i)) => i.class,
                    other => panic!("raises {other:?}"),
                }
            }
            Operand::Const(other) => panic!("raises {other}"),
        }
    }
}

fn is_subclass(e: Exc, base: Exc) -> bool {
    e == base || e.rpython_base().is_some_and(|up| is_subclass(up, base))
}

#[test]
fn helpers_return_and_raise_what_is_declared() {
    let db = TestDb::with_fixture("");
    let prelude = db.files().prelude(&db);
    let mut raising = Raising {
        db: &db,
        known: FxHashMap::default(),
    };
    let mut wrong = Vec::new();
    for f in HelperFunction::all() {
        let args = f.args.iter().map(|kind| {
            let repr = helper_repr(*kind);
            HelperArg::Type(repr.lowleveltype())
        });
        let args: Arc<[HelperArg]> = args.collect();
        let key = HelperKey::new(&db, prelude, Arc::<str>::from(f.helper), args);
        let sym = helper_sym_of(&db, key).unwrap_or_else(|e| panic!("{}: {e:?}", f.helper));
        let (returns, declared) = (sym.ty().result, helper_repr(f.result).lowleveltype());
        if returns != declared {
            wrong.push(format!("{} returns {returns}, not {declared}", f.name));
        }
        let raises = raising.of(key);
        let declared: BTreeSet<Exc> = f.raises.iter().copied().collect();
        if raises != declared {
            wrong.push(format!("{} raises {raises:?}, not {declared:?}", f.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
