//! What a program consists of.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde::Serialize;
use taipan_annotator::{
    CallInfo, Class, Spec, Target, annotation, class_attributes, class_def, classes_of, short_text,
};
use taipan_base::{Db, File, LineIndex};
use taipan_code::{CodeKind, code, code_spans, module_codes};
use taipan_graph::{Const, ObjId};
use taipan_interp::{ModuleName, Name, ObjData, Object, module_global, module_named};

use crate::inspect::Inspected;
use crate::stages::drivers::{driver_variables, jit_drivers};

/// What a program consists of.
#[derive(Serialize, Debug)]
pub struct Overview {
    /// Path of the target file.
    pub target: String,
    /// Its files, those that ship with Taipan too, sorted.
    pub files: Vec<FileRow>,
    /// Its functions, sorted.
    pub functions: Vec<FunctionRow>,
    /// Its classes, sorted.
    pub classes: Vec<ClassRow>,
    /// Its drivers (`JitDriver`).
    pub drivers: Vec<DriverRow>,
}

/// A file.
#[derive(Serialize, Debug)]
pub struct FileRow {
    /// Its path.
    pub path: String,
    /// Whether it ships with Taipan.
    pub shipped: bool,
}

/// A function in one of its specialisations.
#[derive(Serialize, Debug)]
pub struct FunctionRow {
    /// Its name, by which it is asked for.
    pub name: String,
    /// Its file: a place in [`Overview::files`].
    pub file: Option<usize>,
    /// Its first line and its last one.
    pub lines: Option<(u32, u32)>,
    /// Its arguments with their types, and the type of the result, in the author's words.
    pub signature: String,
    /// What it may call: places in [`Overview::functions`], sorted.
    pub calls: Vec<usize>,
}

/// A class.
#[derive(Serialize, Debug)]
pub struct ClassRow {
    /// `module.Class`
    pub name: String,
    /// Its base class in the program: a place in [`Overview::classes`].
    pub base: Option<usize>,
    /// Where it is defined: a place in [`Overview::files`], and a line.
    pub place: Option<(usize, u32)>,
    /// What it declares.
    pub attributes: Vec<AttributeRow>,
}

/// An attribute of a class.
#[derive(Serialize, Debug)]
pub struct AttributeRow {
    /// Its name.
    pub name: String,
    /// Its type, in the author's words.
    pub annotation: String,
    /// It is the same for all instances of a class: a method, or a constant.
    pub readonly: bool,
}

/// A driver.
#[derive(Serialize, Debug)]
pub struct DriverRow {
    /// Its name.
    pub name: String,
    /// The function with its merge point: a place in [`Overview::functions`].
    pub function: Option<usize>,
    /// Names of the variables that are known while compiling.
    pub greens: Vec<String>,
    /// Names of the others that the driver has.
    pub reds: Vec<String>,
}

/// Lines of files.
struct Lines<'db> {
    program: &'db Inspected<'db>,
    places: BTreeMap<String, usize>,
    indexes: FxHashMap<File, LineIndex>,
}

impl Lines<'_> {
    fn line(&mut self, file: File, offset: u32) -> u32 {
        let text = file.text(self.program.db);
        let index = self.indexes.entry(file);
        let index = index.or_insert_with(|| LineIndex::new(text));
        index.line_column(text, offset).0
    }

    fn number(&self, file: File) -> Option<usize> {
        self.places
            .get(file.path(self.program.db).as_str())
            .copied()
    }
}

/// What a program consists of.
pub fn overview(program: &Inspected<'_>) -> Overview {
    let db = program.db;
    let files = taipan_interp::program_files(db, program.program());
    let mut paths: Vec<String> = files.iter().map(|f| f.path(db).to_string()).collect();
    paths.sort();
    paths.dedup();
    let mut lines = Lines {
        program,
        places: (paths.iter().cloned().enumerate())
            .map(|(i, p)| (p, i))
            .collect(),
        indexes: FxHashMap::default(),
    };
    let mut specs = program.named_specs();
    specs.sort_by(|(a, _), (b, _)| a.cmp(b));
    let numbers: FxHashMap<Spec, usize> = specs
        .iter()
        .enumerate()
        .map(|(i, (_, s))| (*s, i))
        .collect();
    let functions = (specs.iter())
        .map(|(name, spec)| function_row(program, &mut lines, &numbers, name, *spec))
        .collect();
    let classes = class_rows(program, &mut lines);
    let drivers = jit_drivers(db, program.roots).unwrap_or_default();
    let by_sym = |f: &taipan_lltype::FuncSym| {
        let mut all = specs.iter();
        all.position(|(_, s)| taipan_rtyper::func_sym_of(db, *s).is_ok_and(|sym| sym == *f))
    };
    Overview {
        target: program.program().target(db).to_string(),
        files: (paths.into_iter())
            .map(|path| FileRow {
                shipped: path.starts_with(taipan_base::SHIPPED),
                path,
            })
            .collect(),
        functions,
        classes,
        drivers: (drivers.iter())
            .map(|d| {
                let (greens, reds) = driver_variables(db, program.roots, &d.function);
                DriverRow {
                    name: d.name.clone(),
                    function: by_sym(&d.function),
                    greens,
                    reds,
                }
            })
            .collect(),
    }
}

fn function_row(
    program: &Inspected<'_>,
    lines: &mut Lines<'_>,
    numbers: &FxHashMap<Spec, usize>,
    name: &str,
    spec: Spec,
) -> FunctionRow {
    let db = program.db;
    let (place, names) = match program.function_data(spec).as_deref() {
        Some(ObjData::Function(f)) => {
            let place = f.code.file(db).map(|file| {
                let whole = code_spans(db, f.code).whole;
                let last = whole.end.saturating_sub(1).max(whole.start);
                (
                    file,
                    (lines.line(file, whole.start), lines.line(file, last)),
                )
            });
            (place, Some(code(db, f.code)))
        }
        _ => (None, None),
    };
    let annotated = annotation(db, spec);
    // A specialised function lacks the arguments that it is specialised by.
    let count = annotated.signature.args.len();
    let names = names.filter(|c| c.argcount as usize == count);
    let names = names.as_ref().map_or(&[][..], |c| &c.locals);
    let show = |s| short_text(db, program.roots, s);
    let args = annotated.signature.args.iter().enumerate();
    let args: Vec<String> = args
        .map(|(i, s)| match names.get(i) {
            Some(name) => format!("{name}: {}", show(s)),
            None => show(s),
        })
        .collect();
    let calls = called(&annotated).filter_map(|s| numbers.get(&s).copied());
    FunctionRow {
        name: name.to_owned(),
        file: place.and_then(|(file, _)| lines.number(file)),
        lines: place.map(|(_, lines)| lines),
        signature: format!(
            "({}) → {}",
            args.join(", "),
            show(&annotated.signature.result)
        ),
        calls: calls.collect::<BTreeSet<usize>>().into_iter().collect(),
    }
}

/// The functions that a function may call.
fn called(annotated: &taipan_annotator::FunctionAnnotation) -> impl Iterator<Item = Spec> {
    let targets = annotated.calls.iter().flat_map(|(_, call)| match call {
        CallInfo::Direct(call) => vec![call.target],
        CallInfo::Indirect(call) => call.targets.to_vec(),
        CallInfo::Instantiate(call) => call.classes.iter().filter_map(|(_, t)| *t).collect(),
        CallInfo::Entry(call) => call.calls.clone(),
        CallInfo::Memo(_) | CallInfo::Builtin | CallInfo::Never => Vec::new(),
    });
    targets.filter_map(|t| match t {
        Target::Spec(s) => Some(s),
        Target::Helper(_) => None,
    })
}

fn class_rows(program: &Inspected<'_>, lines: &mut Lines<'_>) -> Vec<ClassRow> {
    let db = program.db;
    let mut all: Vec<(String, ObjId)> = classes_of(db, program.roots)
        .iter()
        .map(|c| {
            (
                class_def(db, Class::new(db, program.roots, *c))
                    .name
                    .to_string(),
                *c,
            )
        })
        .collect();
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    let place = |c: ObjId| all.iter().position(|(_, other)| *other == c);
    (all.iter())
        .map(|(name, id)| {
            let class = Class::new(db, program.roots, *id);
            let attributes = class_attributes(db, class);
            ClassRow {
                name: name.clone(),
                base: class_def(db, class).base.and_then(place),
                place: class_place(program, lines, *id),
                attributes: (attributes.attrs.iter())
                    .map(|(name, a)| AttributeRow {
                        name: name.to_string(),
                        annotation: short_text(db, program.roots, &a.value),
                        readonly: a.readonly,
                    })
                    .collect(),
            }
        })
        .collect()
}

fn class_place(
    program: &Inspected<'_>,
    lines: &mut Lines<'_>,
    class: ObjId,
) -> Option<(usize, u32)> {
    let db = program.db;
    let object = taipan_interp::object(db, Object::new(db, program.program(), class));
    let Some(ObjData::Class(data)) = object.as_deref() else {
        return None;
    };
    let module = ModuleName::new(db, program.program(), &*data.module);
    let module = module_named(db, module).as_ref()?.as_ref().ok()?;
    let path = module_global(db, Name::new(db, program.program(), *module, "__file__"));
    let Some(Const::Str(path)) = path else {
        return None;
    };
    let file = db.files().get(db, std::str::from_utf8(path).ok()?.into());
    let found = module_codes(db, file).ids().iter().find(|id| {
        code(db, **id).kind == CodeKind::Class
            && id.qualname(db).rsplit('.').next() == Some(&*data.name)
    })?;
    let line = lines.line(file, code_spans(db, *found).name.start);
    Some((lines.number(file)?, line))
}
