//! The names of attributes that a program knows at all: where mistakes are looked for, an
//! attribute that nothing could ever define is told from one whose value is yet to come.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_base::{Db, File, Program};
use taipan_code::{Code, CodeConst, CodeKind, Instr, code, code_spans, file_codes};
use taipan_graph::{Const, ObjId};
use taipan_interp::{Image, ObjData, image, program_files};

/// Names of attributes.
#[derive(PartialEq, Eq, Default, Debug)]
pub(crate) struct KnownNames {
    /// All that some class, instance or assignment has.
    all: FxHashSet<Box<str>>,
    /// What classes define and their own methods assign.
    of: FxHashMap<ObjId, BTreeSet<Box<str>>>,
}

/// The names that a program knows. Reads the whole image and all code: whoever asks depends
/// only on the names, which few edits change.
#[salsa::tracked(returns(clone))]
pub(crate) fn known_attributes(db: &dyn Db, program: Program) -> Arc<KnownNames> {
    Arc::new(KnownNames::of_program(db, program))
}

/// The names of the attributes that the code of a file assigns.
#[salsa::tracked(returns(ref))]
fn assigned_in(db: &dyn Db, file: File) -> BTreeSet<Box<str>> {
    let mut names = BTreeSet::new();
    for (id, code) in file_codes(db, file).iter() {
        names.extend(assigned(code));
        if code.poisoned {
            // Of a statement with a syntax error there are no instructions.
            let whole = code_spans(db, *id).whole;
            let text = file.text(db).get(whole.start as usize..whole.end as usize);
            names.extend(dotted(text.unwrap_or_default()));
        }
    }
    names
}

impl KnownNames {
    fn of_program(db: &dyn Db, program: Program) -> KnownNames {
        let mut known = KnownNames::default();
        let image = image(db, program);
        #[expect(clippy::iter_over_hash_type, reason = "names go into a set")]
        for data in image.objects.values() {
            if let ObjData::Instance(i) = &**data {
                known.all.extend(i.attrs.iter().map(|(n, _)| n.clone()));
            }
        }
        for file in program_files(db, program).iter() {
            known.all.extend(assigned_in(db, *file).iter().cloned());
        }
        #[expect(clippy::iter_over_hash_type, reason = "names go into sets")]
        for (id, data) in &image.objects {
            if let ObjData::Class(c) = &**data {
                let mut names = BTreeSet::new();
                for (name, value) in c.dict.iter().chain(&c.mixed_in) {
                    known.all.insert(name.clone());
                    names.insert(name.clone());
                    if !c.builtin
                        && let Some(code) = code_of(db, image, value)
                    {
                        names.extend(assigned(&code));
                    }
                }
                // Made code may assign as well.
                known.all.extend(names.iter().cloned());
                known.of.insert(*id, names);
            }
        }
        known
    }

    /// Whether anything in the program could define an attribute of that name.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.all.contains(name)
    }

    /// What a class itself has.
    pub(crate) fn of_class(&self, class: ObjId) -> impl Iterator<Item = &str> {
        self.of.get(&class).into_iter().flatten().map(|n| &**n)
    }
}

fn code_of(db: &dyn Db, image: &Image, value: &Const) -> Option<Arc<Code>> {
    let Const::Obj(id) = value else { return None };
    match &**image.objects.get(id)? {
        ObjData::Function(f) => Some(code(db, f.code)),
        _ => None,
    }
}

/// Names of the attributes that a body assigns, those in constants of `setattr` among them.
fn assigned(code: &Code) -> Vec<Box<str>> {
    let stored = code.instrs.iter().filter_map(|i| match i {
        Instr::StoreAttr(n) => Some(code.names[*n as usize].clone()),
        // Of a class that could not be made.
        Instr::StoreName(n) if code.kind == CodeKind::Class => {
            Some(code.names[*n as usize].clone())
        }
        _ => None,
    });
    let mut names: Vec<Box<str>> = stored.collect();
    if code.names.iter().any(|n| &**n == "setattr") {
        names.extend(code.consts.iter().filter_map(|c| match c {
            CodeConst::Str(s) => Some(String::from_utf8_lossy(s).into()),
            _ => None,
        }));
    }
    names
}

/// Names behind a dot.
fn dotted(text: &str) -> impl Iterator<Item = Box<str>> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let names = text.split('.').skip(1);
    names.filter_map(move |rest| {
        let name = rest.split(|c| !part(c)).next()?;
        (!name.is_empty()).then(|| name.into())
    })
}
