//! What the outcome of a test depends on: the machine code and prebuilt data that it
//! reaches, as one hash.
//!
//! ```text
//! hash(component) = contents of its functions and data, hashes of what they refer to
//! ```
//!
//! Code and data that refer to each other in a circle (a strongly connected component)
//! have one hash, so that hashing takes a single walk, whatever number of tests there
//! are. References count by what they lead to. Where things lie in memory, lines of the
//! source, numbers of classes and identity hashes of prebuilt objects do not count.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use taipan_annotator::Roots;
use taipan_base::Db;
use taipan_codegen::{Glue, Reloc, RelocKind, SymbolRef, static_object, type_info_object};
use taipan_lltype::{FuncSym, Program, StaticSym, find_external};

use taipan_driver::parts::{GraphStage, LLFunction, StageProgram, machine_code, root_syms};

/// The hash of everything that a test reaches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct Fingerprint {
    /// The hash.
    pub(crate) hash: [u8; 16],
    /// It may ask for something else: a file, the time, the environment.
    pub(crate) asks_system: bool,
}

/// The fingerprint of a function of a program; none where it has no code. Equal
/// whenever running it is bound to do the same, unless it asks the system.
#[salsa::tracked(returns(copy))]
pub(crate) fn test_fingerprint(db: &dyn Db, f: LLFunction) -> Option<Fingerprint> {
    fingerprints(db, f.roots(db)).get(f.sym(db)).copied()
}

/// Those of all functions that a program is entered by. Read through
/// [`test_fingerprint`].
#[salsa::tracked(returns(clone), no_eq)]
fn fingerprints(db: &dyn Db, roots: Roots) -> Arc<FxHashMap<FuncSym, Fingerprint>> {
    let Ok(entries) = root_syms(db, roots) else {
        return Arc::default();
    };
    let program = StageProgram::new(db, roots, GraphStage::Gc);
    let mut walk = Walk {
        db,
        roots,
        program,
        nodes: Vec::new(),
        index: FxHashMap::default(),
    };
    let mut out = FxHashMap::default();
    let numbers: Vec<usize> = entries
        .iter()
        .map(|f| walk.node(SymbolRef::Func(f.clone())))
        .collect();
    walk.expand();
    let hashes = walk.hash();
    for (f, n) in entries.into_iter().zip(numbers) {
        if let Some(fingerprint) = hashes[n] {
            out.insert(f, fingerprint);
        }
    }
    Arc::new(out)
}

/// A function, a piece of data, or the name of something outside.
struct Node {
    symbol: SymbolRef,
    content: [u8; 16],
    refers: Vec<usize>,
    asks_system: bool,
    /// There is no code for it: nothing that reaches it has a fingerprint.
    broken: bool,
}

struct Walk<'db> {
    db: &'db dyn Db,
    roots: Roots,
    program: StageProgram<'db>,
    nodes: Vec<Node>,
    index: FxHashMap<SymbolRef, usize>,
}

impl Walk<'_> {
    fn node(&mut self, symbol: SymbolRef) -> usize {
        if let Some(n) = self.index.get(&symbol) {
            return *n;
        }
        let n = self.nodes.len();
        self.index.insert(symbol.clone(), n);
        self.nodes.push(Node {
            symbol,
            content: [0; 16],
            refers: Vec::new(),
            asks_system: false,
            broken: false,
        });
        n
    }

    /// Looks at everything that is reached.
    fn expand(&mut self) {
        let mut n = 0;
        while n < self.nodes.len() {
            let mut h = StableHasher::default();
            let relocs = self.content(n, &mut h);
            let mut refers = Vec::with_capacity(relocs.len());
            for r in relocs {
                (r.offset, r.kind, r.addend).hash(&mut h);
                // Places in the source matter to tracebacks only.
                if !matches!(r.target, SymbolRef::Location(_)) {
                    refers.push(self.node(r.target));
                }
            }
            self.nodes[n].content = h.finish128();
            self.nodes[n].refers = refers;
            n += 1;
        }
    }

    /// Hashes a node's own content; answers its references in order.
    fn content(&mut self, n: usize, h: &mut StableHasher) -> Vec<Reloc> {
        let symbol = self.nodes[n].symbol.clone();
        std::mem::discriminant(&symbol).hash(h);
        let object = match &symbol {
            SymbolRef::Func(f) => {
                f.hash(h);
                let key = LLFunction::new(self.db, self.roots, f.clone());
                match machine_code(self.db, key) {
                    Ok(code) => {
                        code.code.hash(h);
                        return code.relocs.clone();
                    }
                    Err(_) => {
                        self.nodes[n].broken = true;
                        return Vec::new();
                    }
                }
            }
            SymbolRef::Foreign(f) => {
                // Who knows what it does.
                f.hash(h);
                self.nodes[n].asks_system = true;
                return Vec::new();
            }
            SymbolRef::Static(s) => {
                if let StaticSym::Within(_, path) = s {
                    path.hash(h);
                }
                let data = self.program.static_data(s);
                match static_object(s, &data, &self.program) {
                    Ok(mut object) => {
                        // The word of the identity hash comes first, if there is one.
                        let prefix = (object.start as usize).min(8);
                        object.bytes[..prefix].fill(0);
                        if matches!(s, StaticSym::Vtable(_) | StaticSym::ObjectVtable) {
                            hide_class_numbers(&mut object.bytes);
                        }
                        object
                    }
                    Err(_) => {
                        self.nodes[n].broken = true;
                        return Vec::new();
                    }
                }
            }
            SymbolRef::TypeInfo(ty) => type_info_object(*ty, &self.program),
            SymbolRef::External(name) => {
                name.hash(h);
                self.nodes[n].asks_system = asks_system(name);
                return Vec::new();
            }
            SymbolRef::Glue(Glue::Callback(f)) => {
                return vec![Reloc {
                    offset: 0,
                    kind: RelocKind::PcRel32,
                    target: SymbolRef::Func(f.clone()),
                    addend: 0,
                }];
            }
            SymbolRef::Location(_)
            | SymbolRef::ProgramTable
            | SymbolRef::Places
            | SymbolRef::Glue(_) => {
                return Vec::new();
            }
        };
        object.bytes.hash(h);
        object.relocs
    }

    /// The fingerprint of every node, by Tarjan's algorithm: components come out after
    /// those that they refer to.
    fn hash(&self) -> Vec<Option<Fingerprint>> {
        const NEW: usize = usize::MAX;
        let count = self.nodes.len();
        // What a reference within a component counts for, whose hash is not known yet.
        let outlines: Vec<[u8; 16]> = self.nodes.iter().map(|n| self.outline(n)).collect();
        let mut out: Vec<Option<Fingerprint>> = vec![None; count];
        let mut done = vec![false; count];
        let (mut number, mut low) = (vec![NEW; count], vec![NEW; count]);
        let mut stack = Vec::new();
        let mut counter = 0;
        for start in 0..count {
            if number[start] != NEW {
                continue;
            }
            let mut calls = vec![(start, 0)];
            while let Some((n, i)) = calls.last_mut() {
                let n = *n;
                if *i == 0 {
                    number[n] = counter;
                    low[n] = counter;
                    counter += 1;
                    stack.push(n);
                }
                if let Some(&m) = self.nodes[n].refers.get(*i) {
                    *i += 1;
                    if number[m] == NEW {
                        calls.push((m, 0));
                    } else if !done[m] {
                        low[n] = low[n].min(number[m]);
                    }
                    continue;
                }
                calls.pop();
                if let Some((parent, _)) = calls.last() {
                    low[*parent] = low[*parent].min(low[n]);
                }
                if low[n] == number[n] {
                    let at = stack.iter().rposition(|m| *m == n).unwrap_or(0);
                    let component = stack.split_off(at);
                    let fingerprint = self.component(&component, &outlines, &done, &out);
                    for m in component {
                        done[m] = true;
                        out[m] = fingerprint;
                    }
                }
            }
        }
        out
    }

    /// A node's content and that of what it refers to.
    fn outline(&self, node: &Node) -> [u8; 16] {
        let mut h = StableHasher::default();
        node.content.hash(&mut h);
        for &m in &node.refers {
            self.nodes[m].content.hash(&mut h);
        }
        h.finish128()
    }

    /// The fingerprint of a component, the only part of what it reaches that is not
    /// done.
    fn component(
        &self,
        members: &[usize],
        outlines: &[[u8; 16]],
        done: &[bool],
        known: &[Option<Fingerprint>],
    ) -> Option<Fingerprint> {
        let mut asks_system = false;
        let mut parts: Vec<[u8; 16]> = Vec::with_capacity(members.len());
        for &n in members {
            let node = &self.nodes[n];
            if node.broken {
                return None;
            }
            asks_system |= node.asks_system;
            let mut h = StableHasher::default();
            node.content.hash(&mut h);
            for &m in &node.refers {
                if done[m] {
                    let f = known[m]?;
                    asks_system |= f.asks_system;
                    f.hash.hash(&mut h);
                } else {
                    outlines[m].hash(&mut h);
                }
            }
            parts.push(h.finish128());
        }
        // Whatever member the walk came to first.
        parts.sort();
        let mut h = StableHasher::default();
        parts.hash(&mut h);
        Some(Fingerprint {
            hash: h.finish128(),
            asks_system,
        })
    }
}

/// A vtable starts with the range of its class's numbers, which other classes of the
/// program move. What code finds out by them is which class derives from which.
fn hide_class_numbers(vtable: &mut [u8]) {
    let n = vtable.len().min(16);
    vtable[..n].fill(0);
}

/// Whether what a function outside answers depends on anything but its arguments.
/// What writes and answers nothing else does not count.
fn asks_system(name: &str) -> bool {
    if find_external(name).is_none() {
        // What code generation adds, or any C function.
        let is_ours = name.starts_with("rpy_")
            || matches!(
                name,
                "memcpy" | "memset" | "memmove" | "memcmp" | "nearbyint" | "fma"
            );
        return !is_ours;
    }
    let is_system = name.starts_with("rpy_os_") || name.starts_with("rpy_time_");
    is_system
        && !matches!(
            name,
            "rpy_os_write" | "rpy_os_strerror" | "rpy_os_exit" | "rpy_time_sleep"
        )
}

/// Hashes what derives `Hash`, the same way in every process of one build.
#[derive(Default)]
struct StableHasher(blake3::Hasher);

impl StableHasher {
    fn finish128(&self) -> [u8; 16] {
        let mut out = [0; 16];
        out.copy_from_slice(&self.0.finalize().as_bytes()[..16]);
        out
    }
}

impl Hasher for StableHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        u64::from_le_bytes(self.finish128()[..8].try_into().unwrap_or_default())
    }
}
