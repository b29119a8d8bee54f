//! All places that name one thing, in all programs of a workspace: a module that several
//! programs import means something in each of them, and a place that one program never
//! reaches may be understood by another.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_base::{File, SHIPPED, TextRange};
use taipan_driver::Database;
use taipan_interp::{image_diagnostics, program_files};
use taipan_syntax::Stmt;

use crate::index::{Role, Token, file_index, words};
use crate::modules::Modules;
use crate::navigation::is_parameter;
use crate::program::{FilePosition, Home, Others, Workspace};
use crate::symbol::{Resolver, Symbol};

/// One program, or one file that no program has.
pub(crate) struct View<'db> {
    pub(crate) r: Resolver<'db>,
    pub(crate) files: Vec<File>,
    /// What is looked for stands for these things in this program.
    pub(crate) wanted: FxHashSet<Symbol>,
    /// Import time did not get to its end, so that what `files` says is not all.
    broken: bool,
    /// None before it turned out that the program has one of the files in question.
    occurrences: Option<Vec<Occurrence>>,
}

/// A name at a place, with what it stands for in one program.
struct Occurrence {
    file: File,
    token: Token,
    symbols: Vec<Symbol>,
}

/// All places of one thing.
pub(crate) struct Places<'db> {
    pub(crate) db: &'db Database,
    /// The programs that have it.
    pub(crate) views: Vec<View<'db>>,
    /// By path, so that their order is always the same.
    pub(crate) found: BTreeMap<(String, TextRange), (File, Token)>,
    /// The same name where nobody knows what it stands for, or where it stands for several
    /// things of which this is one.
    pub(crate) unknown: Vec<(File, Token)>,
    /// The name, first as it is written where it was asked, then the others that it is
    /// imported under, if those count.
    names: Vec<String>,
    scope: Scope,
    /// Where it was asked.
    home: File,
    /// What a place stands for that stands for several things.
    any: FxHashSet<Symbol>,
    /// Whether places count that stand for other things as well.
    mixed: bool,
}

impl<'db> Places<'db> {
    /// Of what is named at a place, by that name; an error that says why that is not known.
    pub(crate) fn of(
        db: &'db Database,
        workspace: &Workspace,
        others: &Others,
        position: FilePosition,
    ) -> Result<Places<'db>, String> {
        let mut places = Places::start(db, workspace, others, position)?;
        if !places.any.is_empty() {
            let old = places.name();
            return Err(format!(
                "`{old}` stands for members of unrelated classes here"
            ));
        }
        places.spread();
        places.keep_what_counts();
        places.note_unknown(others);
        Ok(places)
    }

    /// Of all that is named at a place, also under the names that it is imported under.
    pub(crate) fn of_all(
        db: &'db Database,
        workspace: &Workspace,
        others: &Others,
        position: FilePosition,
    ) -> Result<Places<'db>, String> {
        let mut places = Places::start(db, workspace, others, position)?;
        places.mixed = true;
        loop {
            places.spread();
            if !places.add_aliases() {
                return Ok(places);
            }
        }
    }

    fn start(
        db: &'db Database,
        workspace: &Workspace,
        others: &Others,
        position: FilePosition,
    ) -> Result<Places<'db>, String> {
        let index = file_index(db, position.file);
        let token = *index
            .token_at(position.offset)
            .ok_or("there is no name here")?;
        let old = index.text(&token).to_owned();
        let own = Resolver::of(db, workspace, position.file);
        let symbols = own.symbols(position.file, &index, &token);
        // What is a function's own is nowhere else.
        let inside = |s: &Symbol| Scope::of(db, s) == Scope::File;
        let local = !symbols.is_empty() && symbols.iter().all(inside);
        let views = match local {
            true => views(db, workspace, &Others::default(), position.file, &old),
            false => views(db, workspace, others, position.file, &old),
        };
        let start = views.iter().find_map(|v| {
            let here = v.files.contains(&position.file);
            let symbols = here.then(|| v.r.symbols(position.file, &index, &token))?;
            (!symbols.is_empty()).then_some(symbols)
        });
        let symbols = start.unwrap_or_default();
        let Some(first) = symbols.first() else {
            return Err(format!("it is not known what `{old}` stands for here"));
        };
        let scope = Scope::of(db, first);
        let several = symbols.len() > 1;
        let any = symbols.into_iter().filter(|_| several);
        let mut places = Places {
            db,
            views,
            found: BTreeMap::new(),
            unknown: Vec::new(),
            scope,
            home: position.file,
            names: vec![old],
            any: any.collect(),
            mixed: false,
        };
        places.add(position.file, token);
        Ok(places)
    }

    fn add(&mut self, file: File, token: Token) -> bool {
        let key = (file.path(self.db).to_string(), token.range);
        self.found.insert(key, (file, token)).is_none()
    }

    /// Whether a place is among those found.
    pub(crate) fn has(&self, file: File, token: &Token) -> bool {
        let key = (file.path(self.db).to_string(), token.range);
        self.found.contains_key(&key)
    }

    /// What a place stands for in one program it stands for everywhere there; a place
    /// that is found counts in all programs that have its file; and what is no member of a
    /// class is the same in all programs.
    fn spread(&mut self) {
        let mut shared: FxHashSet<Symbol> = FxHashSet::default();
        loop {
            let places = self.found.values().map(|(f, _)| *f);
            let defined = shared.iter().filter_map(|s| match s {
                Symbol::Global(f, _) | Symbol::Module(f) => Some(*f),
                Symbol::Local(code, _) => code.file(self.db),
                _ => None,
            });
            let files: FxHashSet<File> = places.chain(defined).collect();
            let mut new = Vec::new();
            let known = shared.len();
            for i in 0..self.views.len() {
                let v = &self.views[i];
                let concerned = v.broken || v.files.iter().any(|f| files.contains(f));
                if v.occurrences.is_none() && concerned {
                    let found = occurrences(v, &self.names, self.home, self.scope);
                    self.views[i].occurrences = Some(found);
                }
                let mut wanted = std::mem::take(&mut self.views[i].wanted);
                wanted.extend(shared.iter().cloned());
                if self.views[i].files.contains(&self.home) {
                    wanted.extend(self.any.iter().cloned());
                }
                for o in self.views[i].occurrences() {
                    if let [symbol] = &o.symbols[..]
                        && self.has(o.file, &o.token)
                    {
                        wanted.insert(symbol.clone());
                    }
                }
                for o in self.views[i].occurrences() {
                    let one = o.symbols.len() == 1 || self.mixed;
                    if one && o.symbols.iter().any(|s| wanted.contains(s)) {
                        new.push((o.file, o.token));
                    }
                }
                let everywhere = |s: &&Symbol| !matches!(s, Symbol::Member(..));
                shared.extend(wanted.iter().filter(everywhere).cloned());
                self.views[i].wanted = wanted;
            }
            let mut changed = shared.len() > known;
            for (file, token) in new {
                changed |= self.add(file, token);
            }
            if !changed {
                return;
            }
        }
    }

    /// Takes up the names behind `as` where it is imported; false if there is no new one.
    fn add_aliases(&mut self) -> bool {
        let mut imports: BTreeMap<String, File> = BTreeMap::new();
        for ((path, _), (file, token)) in &self.found {
            if matches!(token.role, Role::Imported(_, false) | Role::Module(..)) {
                imports.insert(path.clone(), *file);
            }
        }
        let mut new = Vec::new();
        for v in &self.views {
            for file in imports.values().filter(|f| v.files.contains(f)) {
                let index = file_index(self.db, *file);
                for t in index.tokens.iter().filter(|t| t.role == Role::Write(None)) {
                    let name = index.text(t);
                    let unknown = !self.names.iter().chain(&new).any(|n| n == name);
                    let means = || v.r.symbols(*file, &index, t);
                    if unknown && means().iter().any(|s| v.wanted.contains(s)) {
                        new.push(name.to_owned());
                    }
                }
            }
        }
        if new.is_empty() {
            return false;
        }
        self.names.extend(new);
        self.views.iter_mut().for_each(|v| v.occurrences = None);
        true
    }

    /// Forgets the programs that have none of the files in question.
    fn keep_what_counts(&mut self) {
        self.views.retain(|v| v.occurrences.is_some());
    }

    /// Collects the places that stand for several things in one program, and those which
    /// no program understands.
    fn note_unknown(&mut self, others: &Others) {
        let mut known: FxHashSet<(File, TextRange)> = FxHashSet::default();
        let mut unknown: Vec<(File, Token)> = Vec::new();
        for v in &self.views {
            for o in v.occurrences() {
                let place = (o.file, o.token.range);
                let mixed = o.symbols.len() > 1 && o.symbols.iter().any(|s| v.wanted.contains(s));
                if mixed {
                    unknown.push((o.file, o.token));
                } else if v.means_something(o) || v.other_kind(o, others) {
                    known.insert(place);
                }
            }
        }
        for v in &self.views {
            for o in v.occurrences() {
                let place = (o.file, o.token.range);
                let shipped = o.file.path(self.db).starts_with(SHIPPED);
                if !v.means_something(o) && !known.contains(&place) && !shipped {
                    unknown.push((o.file, o.token));
                }
            }
        }
        unknown.sort_by_key(|(f, t)| (f.path(self.db), t.range));
        unknown.dedup();
        self.unknown = unknown;
    }

    /// Whether it is a variable of a function.
    pub(crate) fn only_local(&self) -> bool {
        self.scope != Scope::Anywhere
    }

    /// Whether it is an attribute or a method.
    pub(crate) fn only_members(&self) -> bool {
        let mut all = self.views.iter().flat_map(|v| &v.wanted);
        all.all(|s| matches!(s, Symbol::Member(..)))
    }

    /// The name itself.
    pub(crate) fn name(&self) -> &str {
        &self.names[0]
    }

    /// The files of all programs that have it, none twice, without those which ship with
    /// Taipan.
    pub(crate) fn files(&self) -> Vec<File> {
        let all = self.views.iter().flat_map(|v| &v.files).copied();
        let own = all.filter(|f| !f.path(self.db).starts_with(SHIPPED));
        let sorted: BTreeMap<String, File> =
            own.map(|f| (f.path(self.db).to_string(), f)).collect();
        sorted.into_values().collect()
    }
}

impl View<'_> {
    fn occurrences(&self) -> &[Occurrence] {
        self.occurrences.as_deref().unwrap_or_default()
    }

    /// Whether it is known what a name stands for.
    fn means_something(&self, o: &Occurrence) -> bool {
        match &o.symbols[..] {
            [] => false,
            // A star import that is not loaded may bind it.
            [Symbol::Builtin(_)] if self.broken => {
                let index = file_index(self.r.db, o.file);
                let mut stmts = index.parsed.ast.stmts.iter();
                !stmts.any(|(id, s)| match s {
                    Stmt::ImportFrom(i) => {
                        let from = self.r.import_target(o.file, &index, id, None, "");
                        i.names.is_none() && from.is_none()
                    }
                    _ => false,
                })
            }
            _ => true,
        }
    }

    /// Whether a name is one of something that is no class, module or parameter of the
    /// program.
    fn other_kind(&self, o: &Occurrence, others: &Others) -> bool {
        let index = file_index(self.r.db, o.file);
        match o.token.role {
            Role::Attribute(expr, _) => {
                let global = self.wanted.iter().any(|s| matches!(s, Symbol::Global(..)));
                crate::rename::of_builtin_kind(&self.r, &index, &o.token, expr)
                    || global && !self.r.may_be_module(&index, &o.token, expr)
            }
            // From a module that is none of the workspace's.
            Role::Imported(stmt, _) => {
                let shown = |f: &File| f.path(self.r.db);
                let mut paths = self.files.iter().map(shown);
                match &index.parsed.ast.stmts[stmt] {
                    Stmt::ImportFrom(i) if i.dots == 0 => {
                        let root = i.module.split('.').next().unwrap_or_default();
                        !others.names.contains(root)
                            && !paths
                                .any(|p| p.components().any(|c| module_name(c.as_str()) == root))
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }
}

fn module_name(part: &str) -> &str {
    part.strip_suffix(".py").unwrap_or(part)
}

/// Where a thing can be named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// In one file.
    File,
    /// There, and by keywords of calls anywhere.
    Keywords,
    Anywhere,
}

impl Scope {
    fn of(db: &Database, symbol: &Symbol) -> Scope {
        match symbol {
            Symbol::Local(code, name) if is_parameter(db, *code, name) => Scope::Keywords,
            Symbol::Local(..) => Scope::File,
            _ => Scope::Anywhere,
        }
    }
}

/// The programs of a workspace, then the files that belong to none of them, hold the name
/// and import modules of the workspace; those first that have a file.
fn views<'db>(
    db: &'db Database,
    workspace: &Workspace,
    others: &Others,
    file: File,
    old: &str,
) -> Vec<View<'db>> {
    let mut seen: FxHashSet<File> = FxHashSet::default();
    let mut out: Vec<View<'db>> = Vec::new();
    for p in &workspace.programs {
        let files = program_files(db, *p).to_vec();
        seen.extend(&files);
        out.push(View::new(Resolver::in_program(Home::new(db, *p)), files));
    }
    let mut more: Vec<File> = others.files.iter().copied().chain([file]).collect();
    more.sort_by_key(|f| f.path(db));
    more.dedup();
    for f in more {
        if seen.contains(&f) || !f.exists(db) || !has_word(f.text(db), old) {
            continue;
        }
        if f != file && !imports_any(db, f, &others.names) {
            continue;
        }
        let mut view = match workspace.test_module(db, f) {
            Some(p) => {
                let r = Resolver::in_program(Home::new(db, p));
                let mut view = View::new(r, program_files(db, p).to_vec());
                view.broken = !image_diagnostics(db, p).is_empty();
                view
            }
            None => View {
                broken: true,
                ..View::new(Resolver::alone(db), Vec::new())
            },
        };
        if !view.files.contains(&f) {
            view.files.push(f);
            view.broken = true;
        }
        out.push(view);
    }
    let all = out.iter().flat_map(|v| &v.files).copied();
    let modules = Rc::new(Modules::new(db, all));
    for v in &mut out {
        v.r.modules = Some(modules.clone());
    }
    out.sort_by_key(|v| !v.files.contains(&file));
    out
}

/// Whether a file imports a module of one of these names, or from one.
pub(crate) fn imports_any(db: &Database, file: File, names: &BTreeSet<String>) -> bool {
    let index = file_index(db, file);
    let root = |dotted: &str| names.contains(dotted.split('.').next().unwrap_or_default());
    index.parsed.ast.stmts.iter().any(|(_, s)| match s {
        Stmt::Import(all) => all.iter().any(|a| root(&a.module)),
        Stmt::ImportFrom(i) => i.dots > 0 || root(&i.module),
        _ => false,
    })
}

fn has_word(text: &str, word: &str) -> bool {
    let whole = TextRange::new(0, text.len() as u32);
    text.contains(word) && words(text, whole).iter().any(|(_, w)| *w == word)
}

impl<'db> View<'db> {
    fn new(r: Resolver<'db>, files: Vec<File>) -> Self {
        View {
            r,
            files,
            wanted: FxHashSet::default(),
            broken: false,
            occurrences: None,
        }
    }
}

fn occurrences(v: &View<'_>, names: &[String], home: File, scope: Scope) -> Vec<Occurrence> {
    let db = v.r.db;
    let mut out = Vec::new();
    for file in &v.files {
        let elsewhere = *file != home;
        let holds = |name: &String| file.text(db).contains(name);
        if elsewhere && scope == Scope::File || !names.iter().any(holds) {
            continue;
        }
        let index = file_index(db, *file);
        for token in &index.tokens {
            let keyword = matches!(token.role, Role::Keyword(_));
            let counts = match scope {
                Scope::File | Scope::Keywords => {
                    !matches!(token.role, Role::Attribute(..)) && (keyword || !elsewhere)
                }
                Scope::Anywhere => !keyword,
            };
            let text = index
                .scopes
                .text(index.scopes.mangle(token.scope, token.name));
            if counts && names.iter().any(|n| n == text) {
                out.push(Occurrence {
                    file: *file,
                    token: *token,
                    symbols: v.r.symbols(*file, &index, token),
                });
            }
        }
    }
    out
}

/// The star imports of a file, by the file that they import from.
pub(crate) fn star_imports(v: &View<'_>, file: File) -> Vec<File> {
    let index = file_index(v.r.db, file);
    let mut out = Vec::new();
    for (id, stmt) in index.parsed.ast.stmts.iter() {
        if let Stmt::ImportFrom(i) = stmt
            && i.names.is_none()
        {
            out.extend(v.r.import_target(file, &index, id, None, ""));
        }
    }
    out
}

/// Of each file whether some place there is a variable, and not an attribute or keyword.
pub(crate) fn variables(places: &Places<'_>) -> FxHashMap<File, bool> {
    let mut out: FxHashMap<File, bool> = FxHashMap::default();
    for (file, token) in places.found.values() {
        let variable = !matches!(token.role, Role::Attribute(..) | Role::Keyword(_));
        // What is imported under another name is none here.
        let variable = variable && !matches!(token.role, Role::Imported(_, false));
        *out.entry(*file).or_default() |= variable;
    }
    out
}
