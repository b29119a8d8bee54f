//! What the RTyper rejects in a whole program, kept up to date after edits.
//!
//! Asking every function whether its low-level graph is still right takes longer, in a
//! large program, than an edit may take. The annotator knows what an edit may have
//! changed, and [`taipan_annotator::reads`] which graphs and data that can reach: only
//! those are asked for. That all others are fine is remembered here, outside salsa's
//! tables. Where something is wrong the whole program is walked over as a build does it,
//! so that the same is said in the same order.

use std::any::Any;
use std::sync::{Arc, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use salsa::plumbing::FromId;
use taipan_annotator::reads::{Query, dependants, image_changes};
use taipan_annotator::{Changes, Roots, changes_since, is_called};
use taipan_base::{Db, Diagnostic};
use taipan_graph::ObjId;
use taipan_interp::{Image, image};
use taipan_lltype::{FuncSym, StaticSym};
use taipan_rtyper::{FuncKey, FuncKeyKind, StaticKey, func_key};

use crate::Database;
use crate::compile::typer_diagnostic;
use crate::reach::{Reachable, reachable, reachable_from};
use crate::stages::{GraphStage, root_syms};

/// A program in which nothing was wrong.
struct Sound {
    /// The annotator's run that this holds for.
    run: u64,
    /// And the image.
    image: Arc<Image>,
    entries: Vec<FuncSym>,
    /// All that these refer to, and perhaps some that they no longer do.
    functions: FxHashMap<FuncKey, FuncSym>,
    statics: FxHashSet<StaticSym>,
}

/// What cannot be typed in what the roots reach. Never to be called from within a query.
pub(crate) fn typing_diagnostics(db: &Database, roots: Roots) -> Vec<Diagnostic> {
    let entries = match root_syms(db, roots) {
        Ok(entries) => entries,
        Err(e) => return vec![typer_diagnostic(e)],
    };
    let image = image(db, roots.program(db)).clone();
    let sound = with_programs(db, |all| all.remove(&roots)).filter(|s| s.entries == entries);
    let changes = changes_since(db, roots, sound.as_ref().map(|s| s.run));
    let run = changes.run;
    let sound = match sound.and_then(|s| s.after(db, roots, &image, changes)) {
        Some(sound) => sound,
        None => {
            let all = reachable(db, roots, GraphStage::Rtyped, &entries);
            if !all.diagnostics.is_empty() {
                return all.diagnostics;
            }
            let mut sound = Sound {
                run,
                image,
                entries,
                functions: FxHashMap::default(),
                statics: FxHashSet::default(),
            };
            sound.add(db, roots, all);
            sound
        }
    };
    with_programs(db, |all| all.insert(roots, sound));
    Vec::new()
}

impl Sound {
    /// The program after some changes, if it is still sound.
    fn after(
        mut self,
        db: &Database,
        roots: Roots,
        image: &Arc<Image>,
        changes: Changes,
    ) -> Option<Sound> {
        self.run = changes.run;
        let mut steps = changes.steps?;
        let mut gone = FxHashSet::default();
        if !Arc::ptr_eq(&self.image, image) {
            let changes = image_changes(db, roots.program(db), &self.image, image);
            steps.extend(changes.steps);
            gone.extend(changes.objects);
            gone.retain(|o| !image.objects.contains_key(o));
            self.image = image.clone();
        }
        if steps.is_empty() {
            return Some(self);
        }
        let mut functions = Vec::new();
        for id in dependants(db, &steps, Query::RtypedGraph) {
            let key = FuncKey::from_id(id);
            let ours = match key.kind(db) {
                FuncKeyKind::User(spec) if spec.roots(db) == roots => {
                    // Nothing refers to it any more.
                    if !is_called(db, *spec) {
                        self.functions.remove(&key);
                    }
                    true
                }
                FuncKeyKind::User(_) | FuncKeyKind::Helper(_) => false,
                FuncKeyKind::Synth(r, _) => *r == roots,
            };
            if ours {
                functions.extend(self.functions.get(&key).cloned());
            }
        }
        let statics = dependants(db, &steps, Query::StaticData).into_iter();
        let statics: Vec<StaticSym> = statics
            .map(StaticKey::from_id)
            .filter(|key| key.roots(db) == roots && self.statics.contains(key.sym(db)))
            .map(|key| key.sym(db).clone())
            .collect();
        // What referred to objects that are gone has changed as well.
        let (statics, gone): (Vec<_>, Vec<_>) = statics
            .into_iter()
            .partition(|s| object_of(s).is_none_or(|o| !gone.contains(&o)));
        for s in &gone {
            self.statics.remove(s);
        }
        let known = |f: &FuncSym| match func_key(db, roots, f) {
            Some(key) => self.functions.contains_key(&key),
            None => true,
        };
        let all = reachable_from(db, roots, functions, statics, known, |s| {
            self.statics.contains(s)
        });
        if !all.diagnostics.is_empty() {
            return None;
        }
        self.add(db, roots, all);
        Some(self)
    }

    fn add(&mut self, db: &Database, roots: Roots, all: Reachable) {
        for f in all.functions {
            if let Some(key) = func_key(db, roots, &f) {
                self.functions.insert(key, f);
            }
        }
        self.statics.extend(all.statics);
    }
}

/// The image object that a piece of data is made of.
fn object_of(sym: &StaticSym) -> Option<ObjId> {
    match sym {
        StaticSym::Object(o, _) | StaticSym::Part(o, ..) | StaticSym::Vtable(o) => Some(*o),
        StaticSym::Within(root, _) => object_of(root),
        _ => None,
    }
}

fn with_programs<R>(db: &Database, work: impl FnOnce(&mut FxHashMap<Roots, Sound>) -> R) -> R {
    let slot = db.warm().slot("sound programs");
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    let all = slot.get_or_insert_with(|| {
        Box::new(FxHashMap::<Roots, Sound>::default()) as Box<dyn Any + Send>
    });
    match all.downcast_mut() {
        Some(all) => work(all),
        None => work(&mut FxHashMap::default()),
    }
}
