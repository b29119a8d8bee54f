//! Methods of objects that are called before they are frozen: `_freeze_`, `_cleanup_`, `_taipan_integer_`.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_engine::Unwind;

use crate::heap_image::heap_to_image::{Asked, reachable};
use crate::heap_image::import_time::diagnose;
use crate::space::collect::Collections;
use crate::space::dict::classes_changed;
use crate::space::heap::{Heap, Kind, Ref};
use crate::space::units::Units;
use crate::space::value::Value;
use crate::space::written::Written;
use crate::space::{Fatal, Interp};

/// Calls `_freeze_()` of all instances that have it among those that can be reached and
/// are not known; `_cleanup_()` of those that have that only, by which they forget what
/// is of no use to the program; `_taipan_integer_()` of symbols, which are the integer that
/// it gives from now on. Notes what they said; whom it has asked before it does not ask again. False if that cannot be
/// completed, since the run is recorded or replays units and asks for a collection.
///
/// All objects that are left are asked, also those that the program never uses, which RPython
/// does not ask. So an exception counts if it also comes when no other object of the same
/// round was asked.
pub(crate) fn ask_freeze(
    it: &mut Interp,
    roots: &[Value],
    is_known: &dyn Fn(Ref) -> bool,
    answers: &mut Asked,
) -> bool {
    loop {
        // Cached by class: most objects belong to few classes.
        let mut methods: FxHashMap<Ref, Option<&str>> = FxHashMap::default();
        let all: Vec<(Ref, &str)> = reachable(&it.heap, &FxHashMap::default(), roots, is_known)
            .into_iter()
            .filter(|r| !answers.asked.contains(r))
            .filter_map(|r| {
                let o = it.heap.get(r);
                let method = methods.entry(o.class).or_insert_with(|| {
                    let has = |name: &&str| it.heap.lookup(o.class, name).is_some();
                    ["_freeze_", "_cleanup_", "_taipan_integer_"]
                        .into_iter()
                        .find(has)
                });
                let name = (*method)?;
                (!matches!(o.kind, Kind::Class(_))).then_some((r, name))
            })
            .collect();
        let before = Before::of(it);
        let (mut cleaned, mut said) = (false, Asked::default());
        for (r, name) in all {
            said.asked.insert(r);
            let me = Value::Ref(r);
            let answer = it.call_method(&me, name, &[]);
            cleaned |= name == "_cleanup_";
            match (name, answer) {
                (_, Err(Unwind::Stop(Fatal::Collection))) => break,
                ("_freeze_", Ok(v)) if it.truth(&v).is_ok_and(|frozen| frozen) => {
                    said.frozen.insert(r);
                }
                // Whether that matters is seen where the program uses the object.
                ("_freeze_" | "_cleanup_", Err(e)) if before.refuses(it, r, name) => {
                    let why = format!("{name}() of it raises {}", diagnose(it, &e).message);
                    said.refused.insert(r, why.into());
                }
                ("_taipan_integer_", Ok(n @ Value::Int(_))) => {
                    it.heap.get_mut(r).kind = Kind::Boxed(n);
                }
                _ => {}
            }
        }
        // Only the round is run again, and not all of import time: no other frames are left.
        if let Some(known) = it.collection(roots) {
            if before.restore(it, known) {
                continue;
            }
            return false;
        }
        let made = it.heap.made() - before.objects;
        before.keep(it);
        answers.asked.extend(said.asked);
        answers.frozen.extend(said.frozen);
        answers.refused.extend(said.refused);
        // What these calls have made or brought to light is asked, too.
        if !cleaned && made == 0 {
            return true;
        }
    }
}

/// The state of an interpreter in which nothing runs, to which it can be brought back.
struct Before {
    /// None if the run is recorded or replays units: it cannot be brought back.
    heap: Option<Arc<Heap>>,
    objects: usize,
    /// Iterators that are not reused until the round has ended.
    unused: Vec<Ref>,
    collections: Collections,
    written: Written,
    steps: u64,
    random: u64,
    printed: usize,
    out: usize,
    files: usize,
    softspace: bool,
}

impl Before {
    fn of(it: &mut Interp) -> Self {
        let objects = it.heap.made();
        let heap = matches!(it.units, Units::Plain).then(|| it.heap.mark());
        Before {
            heap,
            objects,
            unused: it.heap.begin_round(objects),
            collections: it.collections.clone(),
            written: it.written.clone(),
            steps: it.steps,
            random: it.random,
            printed: it.printed.len(),
            out: it.out.len(),
            files: it.files.len(),
            softspace: it.softspace,
        }
    }

    /// Keeps what was changed since.
    fn keep(self, it: &mut Interp) {
        match self.heap {
            Some(heap) => it.heap.keep(heap),
            None => it.heap.end_round(self.unused),
        }
    }

    /// Whether a method of an object raises an exception, called before any other.
    fn refuses(&self, it: &mut Interp, object: Ref, name: &str) -> bool {
        let (db, program, modules, builtins) = (it.db, it.program, it.modules, it.builtins);
        let written = it.written.clone();
        let raises = |heap| {
            let steps = program.options(db).step_limit;
            let mut alone = Interp::with(db, program, steps, heap, modules, builtins);
            alone.written = written;
            alone.call_method(&Value::Ref(object), name, &[]).is_err()
        };
        match &self.heap {
            Some(heap) => raises(Heap::upon(heap.clone())),
            None => it.heap.before_round(raises).unwrap_or(false),
        }
    }

    /// Goes back, with more known of collections; false if that is impossible.
    fn restore(self, it: &mut Interp, known: Collections) -> bool {
        let Some(heap) = self.heap else {
            return false;
        };
        // Bodies prepared since the snapshot keep referring to their sites, so the sites stay.
        let sites = std::mem::take(&mut it.heap).sites;
        let Ok(heap) = Arc::try_unwrap(heap) else {
            unreachable!("a mark that others hold");
        };
        it.heap = heap;
        it.heap.sites = sites;
        classes_changed();
        it.collections = self.collections.knowing(known);
        it.written = self.written;
        (it.steps, it.random) = (self.steps, self.random);
        it.meter.steps_are_set();
        it.printed.truncate(self.printed);
        it.out.truncate(self.out);
        it.files.truncate(self.files);
        it.softspace = self.softspace;
        it.exc_info = None;
        true
    }
}
