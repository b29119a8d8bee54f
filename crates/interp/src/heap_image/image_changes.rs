//! How two images of a program differ, projection by projection: what an edit of import-time code
//! may have changed for whoever noted what it read ([`taipan_base::reads`]).

use std::sync::Arc;

use rustc_hash::FxHashSet;
use taipan_base::reads::Step;
use taipan_base::{Db, Program};
use taipan_graph::ObjId;

use crate::{Image, ModuleName, Name, Object, module_global, module_named, object};

/// How one image of a program differs from an earlier one.
#[derive(Default)]
pub struct ImageChanges {
    /// Objects that are others, new or gone; sorted.
    pub objects: Vec<ObjId>,
    /// Their projections, and those of names in modules, that are others.
    pub steps: Vec<Step>,
}

/// Compares two images of a program.
pub fn image_changes(db: &dyn Db, program: Program, old: &Image, new: &Image) -> ImageChanges {
    let mut changes = ImageChanges::default();
    let differ = |id: &&ObjId| match (old.objects.get(*id), new.objects.get(*id)) {
        (Some(a), Some(b)) => !Arc::ptr_eq(a, b) && a != b,
        _ => true,
    };
    let gone = old
        .objects
        .keys()
        .filter(|id| !new.objects.contains_key(id));
    let objects = new.objects.keys().chain(gone).filter(differ);
    changes.objects = objects.copied().collect();
    changes.objects.sort_unstable();
    for id in &changes.objects {
        let key = Object::new(db, program, *id);
        changes.steps.push(Step::of::<object>(key));
    }
    let modules: FxHashSet<&ObjId> = old.globals.keys().chain(new.globals.keys()).collect();
    #[expect(clippy::iter_over_hash_type, reason = "the steps are sorted")]
    for module in modules {
        let (was, is) = (old.globals.get(module), new.globals.get(module));
        let names = was.into_iter().chain(is).flat_map(|g| g.keys());
        let differs = |name: &str| was.and_then(|g| g.get(name)) != is.and_then(|g| g.get(name));
        for name in names.filter(|n| differs(n)) {
            let key = Name::new(db, program, *module, name.clone());
            changes.steps.push(Step::of::<module_global>(key));
        }
    }
    let names = old.modules.keys().chain(new.modules.keys());
    for name in names.filter(|n| old.modules.get(*n) != new.modules.get(*n)) {
        let key = ModuleName::new(db, program, name.clone());
        changes.steps.push(Step::of::<module_named>(key));
    }
    changes.steps.sort_unstable();
    changes.steps.dedup();
    changes
}
