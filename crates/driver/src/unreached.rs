//! Functions of a program's own modules that its target does not reach, and what is certainly
//! wrong with them.
//!
//! Such a function may be plain Python: a tool, a test, a helper behind `we_are_translated()`. So
//! nothing is said of constructs that are not RPython. What is told fails under Python, too: names
//! that nothing defines, attributes that a module does not have, calls with arguments that the
//! function does not take. Whether it can happen is left to the flow space: what a
//! constant rules out is not looked at.
//!
//! ```text
//! live_codes(roots)           bodies that are called, or ran while the program was loaded
//! unreached_in_file(file)     those of a file that are not among them
//! findings(function)          what is wrong with one, by instruction
//! ```

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_annotator::{Roots, arity_problem};
use taipan_base::{Db, Diagnostic, ErrorCode, File, Help, Program, SHIPPED, Severity};
use taipan_code::{Code, CodeId, CodeKind, Instr, code, code_spans, file_codes};
use taipan_flow::{flow_graph, span_at};
use taipan_graph::{Const, HlOp, ObjId, Operand};
use taipan_interp::{
    ClassData, Function, FunctionData, Name, ObjData, Object, class_attr, image, module_global,
    named_id, object, program_files,
};
use taipan_language::is_python_name;

use crate::checked::{Checked, UnreachedFunction};
use crate::db::Database;
use crate::keys::FileKey;
use crate::parallel::par_map;

/// The functions that no target of several reaches, each once: those that every program
/// with their file leaves out. Nothing of a file whose reached functions are not
/// certain, since a program with it has errors.
pub fn unreached_by_all<'a>(
    checked: impl Iterator<Item = &'a Checked> + Clone,
) -> Vec<&'a UnreachedFunction> {
    let key = |f: &UnreachedFunction| (f.file, f.whole);
    let sets = checked.clone().map(|c| {
        let left_out: Option<FxHashSet<_>> =
            (c.unreached.as_ref()).map(|all| all.iter().map(key).collect());
        (c.files.iter().collect::<FxHashSet<_>>(), left_out)
    });
    let sets: Vec<_> = sets.collect();
    let mut seen = FxHashSet::default();
    let all = checked.flat_map(|c| c.unreached.iter().flatten());
    all.filter(|f| {
        let by_none = sets.iter().all(|(files, left_out)| {
            let left_out = || left_out.as_ref().is_some_and(|l| l.contains(&key(f)));
            !files.contains(&f.file) || left_out()
        });
        by_none && seen.insert(key(f))
    })
    .collect()
}

/// Something that is wrong with a function that may be plain Python.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Finding {
    code: ErrorCode,
    at: u32,
    message: String,
    help: Option<Help>,
}

/// The functions of a program's own modules that its target does not reach, with what is wrong
/// with them, in the order of files. Means something for a program without errors only.
pub(crate) fn unreached(db: &Database, roots: Roots) -> Vec<UnreachedFunction> {
    let codes = unreached_functions(db, roots);
    par_map(db, &codes, |db, id| {
        let file = id.file(db)?;
        Some(UnreachedFunction {
            file,
            whole: code_spans(db, *id).whole,
            findings: warnings(db, roots.program(db), *id),
        })
    })
    .into_iter()
    .flatten()
    .collect()
}

/// The files of a program that belong to its author: below the folder that the target's imports
/// start from, but no test modules, and neither what ships with the compiler nor what the search
/// path adds.
pub(crate) fn own_files(db: &dyn Db, program: Program) -> Vec<File> {
    let files = program_files(db, program);
    let target = program.target(db);
    let known: FxHashSet<&str> = files.iter().map(|f| f.path(db).as_str()).collect();
    let mut root = target.parent();
    while let Some(package) = root.filter(|r| known.contains(r.join("__init__.py").as_str())) {
        root = package.parent();
    }
    let Some(root) = root else { return Vec::new() };
    let own = |file: &File| {
        let path = file.path(db);
        let Ok(inside) = path.strip_prefix(root) else {
            return false;
        };
        let added =
            |folder: &camino::Utf8PathBuf| path.starts_with(folder) && !target.starts_with(folder);
        let is_library = path.starts_with(SHIPPED)
            || inside.starts_with("rpython")
            || program.options(db).path.iter().any(added);
        !is_library && !inside.components().any(|part| is_test(part.as_str()))
    };
    files.iter().copied().filter(own).collect()
}

/// Whether a file or folder of this name holds tests.
fn is_test(name: &str) -> bool {
    let stem = name.strip_suffix(".py").unwrap_or(name);
    matches!(stem, "test" | "tests" | "conftest")
        || stem.starts_with("test_")
        || stem.ends_with("_test")
}

#[salsa::tracked(returns(clone))]
fn unreached_functions(db: &dyn Db, roots: Roots) -> Arc<[CodeId]> {
    let files = own_files(db, roots.program(db)).into_iter();
    let found = files.map(|file| unreached_in_file(db, FileKey::new(db, roots, file)));
    found.flat_map(|codes| codes.to_vec()).collect()
}

#[salsa::tracked(returns(clone))]
fn unreached_in_file(db: &dyn Db, key: FileKey) -> Arc<[CodeId]> {
    let (roots, file) = (key.roots(db), key.file(db));
    let live = live_codes(db, roots);
    let mut out: Vec<CodeId> = Vec::new();
    for (id, code) in file_codes(db, file).iter() {
        let named = code.kind == CodeKind::Function && !code.name.starts_with('<');
        if !named || live.contains(id) || is_abstract(code) {
            continue;
        }
        let inside = |outer: &CodeId| {
            let rest = id.qualname(db).strip_prefix(&**outer.qualname(db));
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        if !out.iter().any(inside) && !is_memo(db, roots.program(db), *id) {
            out.push(*id);
        }
    }
    out.into()
}

/// The bodies that the roots reach, and those that ran at import time.
#[salsa::tracked(returns(clone))]
fn live_codes(db: &dyn Db, roots: Roots) -> Arc<FxHashSet<CodeId>> {
    let program = roots.program(db);
    let image = image(db, program);
    let mut live = image.ran.clone();
    for id in taipan_annotator::called_functions(db, roots).iter() {
        // What the flow space makes is no part of the image.
        let data = match image.objects.get(id) {
            Some(data) => Some(data.clone()),
            None => object(db, Object::new(db, program, *id)).clone(),
        };
        if let Some(ObjData::Function(f)) = data.as_deref() {
            live.insert(f.code);
        }
    }
    Arc::new(live)
}

/// The function objects that import time left of bodies.
#[salsa::tracked(returns(clone))]
fn functions_by_code(db: &dyn Db, program: Program) -> Arc<FxHashMap<CodeId, ObjId>> {
    let mut out: FxHashMap<CodeId, ObjId> = FxHashMap::default();
    #[expect(clippy::iter_over_hash_type, reason = "the least of each is taken")]
    for (id, data) in &image(db, program).objects {
        if let ObjData::Function(f) = &**data {
            let least = out.entry(f.code).or_insert(*id);
            *least = (*least).min(*id);
        }
    }
    Arc::new(out)
}

/// Whether calls of it are computed while compiling.
fn is_memo(db: &dyn Db, program: Program, id: CodeId) -> bool {
    let Some(f) = functions_by_code(db, program).get(&id).copied() else {
        return false;
    };
    let data = object(db, Object::new(db, program, f));
    let tag = match data.as_deref() {
        Some(ObjData::Function(f)) => f.get("_annspecialcase_").and_then(Const::as_str),
        _ => None,
    };
    tag == Some("specialize:memo")
}

/// Whether all that a body does is to say that it is not there.
fn is_abstract(code: &Code) -> bool {
    let [Instr::LoadGlobal(name), rest @ ..] = &code.instrs[..] else {
        return false;
    };
    let straight = rest
        .iter()
        .take_while(|i| matches!(i, Instr::LoadConst(_) | Instr::LoadFast(_) | Instr::Call(_)));
    &*code.names[*name as usize] == "NotImplementedError"
        && matches!(rest.get(straight.count()), Some(Instr::Raise(_)))
}

/// What is wrong with a function, with places.
fn warnings(db: &dyn Db, program: Program, id: CodeId) -> Vec<Diagnostic> {
    let Some(f) = functions_by_code(db, program).get(&id).copied() else {
        return Vec::new();
    };
    let function = Function::new(db, program, f);
    let warning = |finding: &Finding| {
        let span = span_at(db, function, Some(finding.at));
        let mut d = Diagnostic::error(finding.code, span, &finding.message);
        d.severity = Severity::Warning;
        d.help = finding.help.clone();
        d.with_note(None, "no target reaches this function")
    };
    findings(db, function).iter().map(warning).collect()
}

#[salsa::tracked(returns(clone))]
fn findings(db: &dyn Db, function: Function) -> Arc<[Finding]> {
    let _timed = taipan_base::timed(db);
    let program = function.program(db);
    let data = object(db, Object::new(db, program, function.obj(db)));
    let Some(ObjData::Function(f)) = data.as_deref() else {
        return Arc::default();
    };
    let look = Look {
        db,
        program,
        f,
        code: code(db, f.code),
    };
    let mut out = look.missing_names(function);
    out.extend(look.wrong_calls(function));
    // Where an exception is caught it may be meant.
    out.retain(|finding| {
        let mut handlers = look.code.handlers.iter();
        !handlers.any(|h| (h.start..h.end).contains(&finding.at))
    });
    out.sort_by_key(|finding| finding.at);
    out.dedup();
    out.into()
}

/// One function that is looked at.
struct Look<'db> {
    db: &'db dyn Db,
    program: Program,
    f: &'db FunctionData,
    code: Arc<Code>,
}

impl Look<'_> {
    /// What the flow space missed: globals, and attributes of modules.
    fn missing_names(&self, function: Function) -> Vec<Finding> {
        let result = flow_graph(self.db, function);
        let missing = result.errors.iter().filter_map(|e| {
            let at = e.at?;
            let certain = match (e.code, self.code.instrs.get(at as usize)?) {
                (ErrorCode::UndefinedName, Instr::LoadGlobal(n) | Instr::LoadName(n)) => {
                    let name = &self.code.names[*n as usize];
                    !is_python_name(name) && self.lacks(self.f.globals, name)
                }
                (ErrorCode::ConstantRaises, Instr::LoadAttr(n)) => {
                    let name = &self.code.names[*n as usize];
                    (self.loaded_before(at)).is_some_and(|module| self.lacks(module, name))
                }
                _ => false,
            };
            certain.then(|| Finding {
                code: e.code,
                at,
                message: e.message.clone(),
                help: e.help.clone(),
            })
        });
        missing.collect()
    }

    /// The object that `a.b` in front of an instruction stands for, where `a` is a global.
    fn loaded_before(&self, at: u32) -> Option<ObjId> {
        let before = at.checked_sub(1)?;
        let global = |of: ObjId, name: u32| {
            let name = &*self.code.names[name as usize];
            match module_global(self.db, Name::new(self.db, self.program, of, name)) {
                Some(Const::Obj(id)) => Some(*id),
                _ => None,
            }
        };
        match self.code.instrs.get(before as usize)? {
            Instr::LoadGlobal(n) => global(self.f.globals, *n),
            Instr::LoadAttr(n) => global(self.loaded_before(before)?, *n),
            _ => None,
        }
    }

    fn lacks(&self, module: ObjId, name: &str) -> bool {
        lacks(self.db, Name::new(self.db, self.program, module, name))
    }

    /// Calls of functions and classes of Python with arguments that they do not take.
    fn wrong_calls(&self, function: Function) -> Vec<Finding> {
        let result = flow_graph(self.db, function);
        let Some(graph) = result.any_graph() else {
            return Vec::new();
        };
        let mut out = Vec::new();
        for b in graph.reachable() {
            for op in &graph.block(b).operations {
                let callee = op.args.first().and_then(Operand::as_const);
                let (positional, keywords) = match (op.op, callee) {
                    (HlOp::SimpleCall, Some(_)) => (op.args.len() - 1, Vec::new()),
                    (HlOp::CallArgs, Some(_)) => match op.args.get(1).and_then(Operand::as_const) {
                        Some(Const::Shape(shape)) if !shape.star => {
                            (shape.positional as usize, shape.keywords.clone())
                        }
                        _ => continue,
                    },
                    _ => continue,
                };
                let problem = callee.and_then(|c| self.arity(c, positional, &keywords));
                out.extend(problem.map(|(message, help)| Finding {
                    code: ErrorCode::InvalidArguments,
                    at: op.at,
                    message,
                    help,
                }));
            }
        }
        out
    }

    /// What is wrong with a call.
    fn arity(
        &self,
        callee: &Const,
        positional: usize,
        keywords: &[Box<str>],
    ) -> Option<(String, Option<Help>)> {
        let Const::Obj(id) = callee else { return None };
        let (of, positional) =
            match object(self.db, Object::new(self.db, self.program, *id)).as_deref()? {
                ObjData::Function(_) => (*id, positional),
                ObjData::Class(c) => (self.constructor(*id, c)?, positional + 1),
                _ => return None,
            };
        let data = object(self.db, Object::new(self.db, self.program, of));
        let Some(ObjData::Function(f)) = data.as_deref() else {
            return None;
        };
        if f.get("_flowspace_rewrite_directly_as_").is_some() {
            return None;
        }
        let params = flow_graph(self.db, Function::new(self.db, self.program, of))
            .signature
            .clone();
        arity_problem(&f.name, &params, f.defaults.len(), positional, keywords)
            .filter(|_| !is_set_late(self.db, GlobalName::new(self.db, self.program, &*f.name)))
    }

    /// The `__init__` that a call of a class runs, where nothing else has a say in it.
    fn constructor(&self, id: ObjId, class: &ClassData) -> Option<ObjId> {
        if class.builtin || class.metaclass != named_id("__builtin__.type") {
            return None;
        }
        let attr =
            |name: &str| class_attr(self.db, Name::new(self.db, self.program, id, name)).clone();
        let object = named_id("__builtin__.object");
        let makes_itself = attr("__new__").is_some_and(|(owner, _)| owner != object);
        match attr("__init__") {
            Some((_, Const::Obj(init))) if !makes_itself => Some(init),
            _ => None,
        }
    }
}

/// Whether a module of the program certainly never has a global: it has none after import
/// time, and nothing in the program would set it. Who asks depends on this name alone.
#[salsa::tracked(returns(copy))]
fn lacks(db: &dyn Db, key: Name) -> bool {
    let (program, module, name) = (key.program(db), key.obj(db), key.name(db));
    let path = module_global(db, Name::new(db, program, module, "__file__"));
    let path = path.as_ref().and_then(|p| match p {
        Const::Str(path) => std::str::from_utf8(path).ok(),
        _ => None,
    });
    // Packages get their modules as attributes.
    let Some(path) = path.filter(|p| !p.ends_with("/__init__.py")) else {
        return false;
    };
    let own = own_files(db, program);
    let Some(file) = own.into_iter().find(|f| f.path(db) == path) else {
        return false;
    };
    let stores = stored_names(db, file);
    let late = || is_set_late(db, GlobalName::new(db, program, &**name));
    !stores.anything && !stores.names.contains(&**name) && !late()
}

/// A name of globals in whichever modules of a program.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
struct GlobalName {
    #[returns(copy)]
    program: Program,
    #[returns(ref)]
    name: Box<str>,
}

/// Whether a function of the program may set a global of that name. Reads all of the
/// program's own files, so that who asks depends on one name.
#[salsa::tracked(returns(copy))]
fn is_set_late(db: &dyn Db, key: GlobalName) -> bool {
    let files = program_files(db, key.program(db));
    let mut others = (files.iter()).filter(|f| !f.path(db).starts_with(SHIPPED));
    others.any(|file| stored_names(db, *file).late.contains(&**key.name(db)))
}

/// The names that the code of a file may give a value to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Stores {
    /// Globals of the file.
    names: FxHashSet<Box<str>>,
    /// Globals of some module, when a function runs.
    late: FxHashSet<Box<str>>,
    /// Any global of the file.
    anything: bool,
}

#[salsa::tracked(returns(clone))]
fn stored_names(db: &dyn Db, file: File) -> Arc<Stores> {
    let mut stores = Stores::default();
    for (_, code) in file_codes(db, file).iter() {
        let in_function = code.kind == CodeKind::Function;
        for (i, instr) in code.instrs.iter().enumerate() {
            let name = |n: &u32| code.names[*n as usize].clone();
            match instr {
                Instr::StoreName(n) | Instr::DeleteName(n) if code.kind == CodeKind::Module => {
                    stores.names.insert(name(n));
                }
                Instr::StoreGlobal(n) | Instr::DeleteGlobal(n) => {
                    stores.names.insert(name(n));
                    if in_function {
                        stores.late.insert(name(n));
                    }
                }
                // Of the first parameter it is an attribute of an instance.
                Instr::StoreAttr(n)
                    if i == 0 || code.argcount == 0 || code.instrs[i - 1] != Instr::LoadFast(0) =>
                {
                    stores.late.insert(name(n));
                }
                Instr::LoadGlobal(n) | Instr::LoadName(n) => {
                    stores.anything |= in_function && matches!(&*name(n), "globals" | "execfile");
                }
                Instr::ImportStar | Instr::Exec => stores.anything = true,
                _ => {}
            }
        }
    }
    Arc::new(stores)
}
