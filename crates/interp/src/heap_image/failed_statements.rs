//! Statements of modules that import time passes over, since it ended in them before, and what is
//! missing since they did not run.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_base::{Db, Problem};
use taipan_code::{Code, CodeConst, CodeId, ImportDesc, Instr, code_spans, parse};

use super::import_time::Image;

/// No more statements than this are left out: what fails more often is in the middle of
/// being written.
pub(crate) const MOST_LEFT_OUT: usize = 12;

/// The bodies of modules that import time ran.
#[derive(Default, Debug)]
pub(crate) struct ModuleBodies(FxHashMap<Box<str>, ModuleBody>);

#[derive(Debug)]
struct ModuleBody {
    /// The package that its relative imports begin from; empty if there is none.
    package: Box<str>,
    code: CodeId,
}

impl ModuleBodies {
    /// A module is run.
    pub(crate) fn add(&mut self, name: &str, package: &str, code: CodeId) {
        let package = package.into();
        self.0.insert(name.into(), ModuleBody { package, code });
    }
}

/// Statements by the code of their module, as ranges of its instructions.
#[derive(Clone, Default, Debug)]
pub(crate) struct LeftOut(FxHashMap<CodeId, Vec<Range<u32>>>);

impl LeftOut {
    /// Whether nothing is left out.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the statement of a module that an instruction belongs to; false if there is
    /// none, or it is left out already.
    pub(crate) fn add(&mut self, db: &dyn Db, (id, pc): (CodeId, u32)) -> bool {
        let Some(range) = statement(db, id, pc) else {
            return false;
        };
        let ranges = self.0.entry(id).or_default();
        let new = !ranges.contains(&range);
        ranges.push(range);
        new
    }

    /// The instructions of a module's body that are left out.
    fn of(&self, id: CodeId) -> impl Iterator<Item = u32> {
        let ranges = self.0.get(&id).into_iter().flatten();
        ranges.cloned().flatten()
    }

    /// The code without what is left out of it.
    pub(crate) fn apply(&self, id: CodeId, code: Arc<Code>) -> Arc<Code> {
        let Some(ranges) = self.0.get(&id) else {
            return code;
        };
        let mut code = Code::clone(&code);
        if ranges.iter().any(|r| r.end as usize == code.instrs.len()) {
            // Nothing is behind a loop without end.
            let none = code.consts.len() as u32;
            code.consts.push(CodeConst::None);
            code.instrs.extend([Instr::LoadConst(none), Instr::Return]);
        }
        for r in ranges {
            // Between statements nothing is on the stack.
            code.instrs[r.start as usize] = Instr::Jump(r.end);
        }
        Arc::new(code)
    }
}

/// How many instructions there are behind the last statement of a module: they return None.
const MODULE_END: usize = 2;

/// The instructions of the module's statement that has this one.
fn statement(db: &dyn Db, id: CodeId, pc: u32) -> Option<Range<u32>> {
    let parsed = parse(db, id.file(db)?);
    let spans = code_spans(db, id);
    let at = spans.instrs.get(pc as usize)?;
    let whole = (parsed.ast.body.iter())
        .map(|s| parsed.spans.stmt(*s))
        .find(|s| s.start <= at.start && at.end <= s.end)?;
    let inside = |i: &usize| {
        let span = spans.instrs[*i];
        whole.start <= span.start && span.end <= whole.end
    };
    let start = (0..spans.instrs.len()).find(inside)?;
    // The end of the module, which has the place of what stands before it, is no part of any
    // statement. A module whose last statement is a loop without end has none.
    let code = taipan_code::code(db, id);
    let last = match code.instrs.last() {
        Some(Instr::Jump(_)) => spans.instrs.len(),
        _ => spans.instrs.len().checked_sub(MODULE_END)?,
    };
    let end = (0..last).rfind(inside)? + 1;
    let fits = (start..end).contains(&(pc as usize));
    fits.then_some(start as u32..end as u32)
}

impl Image {
    /// Whether something is missing since statements of modules failed and did not run: one of
    /// these would have set it.
    pub(crate) fn lacks_since_failure(&self, db: &dyn Db, problem: &Problem) -> bool {
        match problem {
            Problem::Undefined { module, name } | Problem::ModuleAttribute { module, name } => {
                let mut failed = Failed {
                    db,
                    image: self,
                    seen: FxHashSet::default(),
                };
                failed.would_have_set(module, name)
            }
            // Of which object is not known: who else sets an attribute of that name?
            Problem::Attribute { name } => self.left_out.0.keys().any(|id| {
                let code = taipan_code::code(db, *id);
                let mut left_out = self.left_out.of(*id);
                left_out.any(|pc| match code.instrs.get(pc as usize) {
                    Some(Instr::StoreAttr(n)) => *code.names[*n as usize] == **name,
                    _ => false,
                })
            }),
            Problem::NoModule { .. } => false,
            Problem::FailedModule { name } => match self.modules.get(name) {
                Some(Err(d)) => {
                    let why = d.problem.as_ref();
                    why.is_some_and(|why| self.lacks_since_failure(db, why))
                }
                _ => false,
            },
        }
    }
}

/// Looks for what failed statements would have set.
struct Failed<'a> {
    db: &'a dyn Db,
    image: &'a Image,
    /// Modules that were looked at, or are.
    seen: FxHashSet<Box<str>>,
}

impl Failed<'_> {
    /// Whether a statement of a module that did not run would have set a variable of it, or one
    /// of a module all of whose variables it has or would have.
    fn would_have_set(&mut self, module: &str, name: &str) -> bool {
        let Some(body) = self.image.module_bodies.0.get(module) else {
            return false;
        };
        if !self.seen.insert(module.into()) {
            return false;
        }
        let code = taipan_code::code(self.db, body.code);
        let mut calls = false;
        for pc in self.image.left_out.of(body.code) {
            match &code.instrs[pc as usize] {
                Instr::StoreName(n) | Instr::StoreGlobal(n)
                    if *code.names[*n as usize] == *name =>
                {
                    return true;
                }
                Instr::Import(i) if self.may_be_all_of(body, &code.imports[*i as usize], name) => {
                    return true;
                }
                Instr::Call(_) => calls = true,
                _ => {}
            }
        }
        // A package has the modules of which it is the package as attributes.
        self.imports_module(&format!("{module}.{name}"))
            || calls && self.is_set_by_functions(body.code, name)
            || self.has_all_of_others(body, &code, name)
    }

    /// Whether an import that did not run takes all variables of a module, which has one of that
    /// name, or is not known.
    fn may_be_all_of(&mut self, body: &ModuleBody, desc: &ImportDesc, name: &str) -> bool {
        let mut loaded = false;
        for from in all_of(body, desc) {
            if let Some(Ok(id)) = self.image.modules.get(&*from) {
                let globals = self.image.globals.get(id);
                if globals.is_some_and(|g| g.contains_key(name)) {
                    return true;
                }
                loaded = true;
            }
            if self.would_have_set(&from, name) {
                return true;
            }
        }
        !loaded && is_star(desc)
    }

    /// Whether a module that runs to its end takes all variables of one that would have that
    /// variable.
    fn has_all_of_others(&mut self, body: &ModuleBody, code: &Code, name: &str) -> bool {
        let stars = code.imports.iter().flat_map(|desc| all_of(body, desc));
        let modules: Vec<String> = stars.collect();
        modules.iter().any(|from| self.would_have_set(from, name))
    }

    /// Whether a function of the file sets a global variable: a call that did not run may have
    /// led to that.
    fn is_set_by_functions(&self, module: CodeId, name: &str) -> bool {
        let Some(file) = module.file(self.db) else {
            return false;
        };
        let codes = taipan_code::file_codes(self.db, file);
        codes.iter().any(|(_, code)| {
            code.instrs.iter().any(|i| match i {
                Instr::StoreGlobal(n) => *code.names[*n as usize] == *name,
                _ => false,
            })
        })
    }

    /// Whether an import that did not run would have loaded a module.
    fn imports_module(&self, module: &str) -> bool {
        self.image.module_bodies.0.values().any(|body| {
            let code = taipan_code::code(self.db, body.code);
            let mut left_out = self.image.left_out.of(body.code);
            left_out.any(|pc| match &code.instrs[pc as usize] {
                Instr::Import(i) => {
                    let desc = &code.imports[*i as usize];
                    let mut imported = absolute(body, desc).into_iter().flat_map(|from| {
                        let names = desc.from.iter().flatten();
                        let inner: Vec<String> = names.map(|n| format!("{from}.{n}")).collect();
                        inner.into_iter().chain([from])
                    });
                    imported.any(|m| m == module)
                }
                _ => false,
            })
        })
    }
}

fn is_star(desc: &ImportDesc) -> bool {
    desc.from.iter().flatten().any(|n| **n == *"*")
}

/// The modules that `from m import *` may mean.
fn all_of(body: &ModuleBody, desc: &ImportDesc) -> Vec<String> {
    match is_star(desc) {
        true => absolute(body, desc),
        false => Vec::new(),
    }
}

/// The dotted names that an import may mean, the likeliest first.
fn absolute(body: &ModuleBody, desc: &ImportDesc) -> Vec<String> {
    let name = &*desc.name;
    let package = &*body.package;
    let below = |package: &str| match (package, name) {
        ("", name) => name.to_owned(),
        (package, "") => package.to_owned(),
        (package, name) => format!("{package}.{name}"),
    };
    match desc.level {
        0 => vec![name.to_owned()],
        -1 => match package {
            "" => vec![name.to_owned()],
            package => vec![below(package), name.to_owned()],
        },
        dots => {
            let mut parts: Vec<&str> = package.split('.').collect();
            parts.truncate(parts.len().saturating_sub(dots as usize - 1));
            vec![below(&parts.join("."))]
        }
    }
}
