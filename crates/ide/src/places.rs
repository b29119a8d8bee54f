//! All places that name one thing, in all programs of a workspace: a module that several
//! programs import means something in each of them, and a place that one program never
//! reaches may be understood by another.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_base::{File, SHIPPED, TextRange};
use taipan_driver::Database;
use taipan_interp::program_files;
use taipan_syntax::Stmt;

use crate::index::{Role, Token, file_index, words};
use crate::navigation::is_parameter;
use crate::program::{FilePosition, Home, Workspace};
use crate::symbol::{Resolver, Symbol};

/// One program, or one file that no program has.
pub(crate) struct View<'db> {
    pub(crate) r: Resolver<'db>,
    pub(crate) files: Vec<File>,
    /// What is looked for stands for these things in this program.
    pub(crate) wanted: FxHashSet<Symbol>,
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
    old: String,
    scope: Scope,
    /// Where it was asked.
    home: File,
}

impl<'db> Places<'db> {
    /// Of what is named at a place; an error that says why that is not known. `others` are
    /// files that may belong to no program of the workspace.
    pub(crate) fn of(
        db: &'db Database,
        workspace: &Workspace,
        others: &[File],
        position: FilePosition,
    ) -> Result<Places<'db>, String> {
        let index = file_index(db, position.file);
        let token = *index
            .token_at(position.offset)
            .ok_or("there is no name here")?;
        let old = index.text(&token).to_owned();
        let views = views(db, workspace, others, position.file, &old);
        let start = views.iter().find_map(|v| {
            let here = v.files.contains(&position.file);
            let symbols = here.then(|| v.r.symbols(position.file, &index, &token))?;
            (!symbols.is_empty()).then_some(symbols)
        });
        let symbol = match start.as_deref() {
            Some([one]) => one.clone(),
            None | Some([]) => return Err(format!("it is not known what `{old}` stands for here")),
            _ => {
                return Err(format!(
                    "`{old}` stands for members of unrelated classes here"
                ));
            }
        };
        let mut places = Places {
            db,
            views,
            found: BTreeMap::new(),
            unknown: Vec::new(),
            scope: Scope::of(db, &symbol),
            home: position.file,
            old,
        };
        places.add(position.file, token);
        places.spread();
        places.keep_what_counts();
        places.note_unknown();
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

    /// What a place stands for in one program it stands for everywhere there; and a place
    /// that is found counts in all programs that have its file.
    fn spread(&mut self) {
        loop {
            let files: FxHashSet<File> = self.found.values().map(|(f, _)| *f).collect();
            let mut new = Vec::new();
            for i in 0..self.views.len() {
                let v = &self.views[i];
                if v.occurrences.is_none() && v.files.iter().any(|f| files.contains(f)) {
                    let found = occurrences(v, &self.old, self.home, self.scope);
                    self.views[i].occurrences = Some(found);
                }
                let mut wanted = std::mem::take(&mut self.views[i].wanted);
                for o in self.views[i].occurrences() {
                    if let [symbol] = &o.symbols[..]
                        && self.has(o.file, &o.token)
                    {
                        wanted.insert(symbol.clone());
                    }
                }
                for o in self.views[i].occurrences() {
                    if let [symbol] = &o.symbols[..]
                        && wanted.contains(symbol)
                    {
                        new.push((o.file, o.token));
                    }
                }
                self.views[i].wanted = wanted;
            }
            let mut changed = false;
            for (file, token) in new {
                changed |= self.add(file, token);
            }
            if !changed {
                return;
            }
        }
    }

    /// Forgets the programs that have none of the files in question.
    fn keep_what_counts(&mut self) {
        self.views.retain(|v| v.occurrences.is_some());
    }

    /// Collects the places that stand for several things in one program, and those which
    /// no program understands.
    fn note_unknown(&mut self) {
        let mut known: FxHashSet<(File, TextRange)> = FxHashSet::default();
        let mut unknown: Vec<(File, Token)> = Vec::new();
        for v in &self.views {
            for o in v.occurrences() {
                let place = (o.file, o.token.range);
                let mixed = o.symbols.len() > 1 && o.symbols.iter().any(|s| v.wanted.contains(s));
                if mixed {
                    unknown.push((o.file, o.token));
                } else if !o.symbols.is_empty() || v.other_kind(o) {
                    known.insert(place);
                }
            }
        }
        for v in &self.views {
            for o in v.occurrences() {
                let place = (o.file, o.token.range);
                let shipped = o.file.path(self.db).starts_with(SHIPPED);
                if o.symbols.is_empty() && !known.contains(&place) && !shipped {
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
        &self.old
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

    /// The first of some other files that imports one with a place, by its name, although
    /// no program says so: it cannot be loaded. The place of the name there.
    pub(crate) fn not_loaded(&self, others: &[File]) -> Option<(File, TextRange)> {
        let files: FxHashSet<File> = self.views.iter().flat_map(|v| &v.files).copied().collect();
        let stems: BTreeSet<String> = (self.found.values())
            .map(|(f, _)| Symbol::Module(*f).name(self.db))
            .collect();
        let mut others: Vec<File> = others.to_vec();
        others.sort_by_key(|f| f.path(self.db));
        others.into_iter().find_map(|f| {
            let text = f.text(self.db);
            if files.contains(&f) || !text.contains(&self.old) {
                return None;
            }
            let index = file_index(self.db, f);
            let names = |dotted: &str| dotted.split('.').any(|part| stems.contains(part));
            let imports = index.parsed.ast.stmts.iter().any(|(_, s)| match s {
                Stmt::Import(all) => all.iter().any(|a| names(&a.module)),
                Stmt::ImportFrom(i) => {
                    let mut from = i.names.iter().flatten();
                    names(&i.module) || from.any(|(n, _)| stems.contains(index.scopes.text(*n)))
                }
                _ => false,
            });
            let at = index.tokens.iter().find(|t| index.text(t) == self.old)?;
            imports.then_some((f, at.range))
        })
    }
}

impl View<'_> {
    fn occurrences(&self) -> &[Occurrence] {
        self.occurrences.as_deref().unwrap_or_default()
    }

    /// Whether a name is one of something that is no class, module or parameter of the
    /// program.
    fn other_kind(&self, o: &Occurrence) -> bool {
        let index = file_index(self.r.db, o.file);
        match o.token.role {
            Role::Attribute(expr, _) => {
                let global = self.wanted.iter().any(|s| matches!(s, Symbol::Global(..)));
                crate::rename::of_builtin_kind(&self.r, &index, &o.token, expr)
                    || global && !self.r.may_be_module(&index, &o.token, expr)
            }
            _ => false,
        }
    }
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

/// The programs of a workspace that have a file, then files that belong to none of them
/// and hold the name.
fn views<'db>(
    db: &'db Database,
    workspace: &Workspace,
    others: &[File],
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
    let mut others: Vec<File> = others.iter().copied().chain([file]).collect();
    others.sort_by_key(|f| f.path(db));
    others.dedup();
    for f in others {
        if seen.contains(&f) || !f.exists(db) || !has_word(f.text(db), old) {
            continue;
        }
        let view = match workspace.test_module(db, f) {
            Some(p) => View::new(
                Resolver::in_program(Home::new(db, p)),
                program_files(db, p).to_vec(),
            ),
            None => View::new(Resolver::alone(db), vec![f]),
        };
        out.push(view);
    }
    out.sort_by_key(|v| !v.files.contains(&file));
    out
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
            occurrences: None,
        }
    }
}

fn occurrences(v: &View<'_>, old: &str, home: File, scope: Scope) -> Vec<Occurrence> {
    let db = v.r.db;
    let mut out = Vec::new();
    for file in &v.files {
        let elsewhere = *file != home;
        if elsewhere && scope == Scope::File || !file.text(db).contains(old) {
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
            if counts && text == old {
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
