//! From a seed and a size to a project: packages, and who calls whom.

use fastrand::Rng;

use crate::model::{
    Class, ClassId, Function, FunctionId, Module, ModuleId, ModuleKind, Project, Ripple, Role,
};

/// Functions of a package of full size: 27 classes' methods and constructors, and the rest in modules.
const PACKAGE: usize = 270;
/// Ripples that a project gets if it is large enough.
const DEPTHS: &[usize] = &[10, 100, 500];
/// How many relays a function of a ripple has.
const FAN: usize = 4;
/// How many functions of a ripple are called from one place.
const LANDING: usize = 16;
/// Functions per module of a ripple.
const RIPPLE_MODULE: usize = 25;

const VERBS: &[&str] = &[
    "scan", "emit", "merge", "lookup", "reduce", "check", "fold", "split", "load", "store",
    "encode", "resolve", "visit", "advance", "compare", "collect",
];
const NOUNS: &[&str] = &[
    "token", "frame", "block", "value", "slot", "record", "symbol", "range", "entry", "buffer",
    "label", "scope", "cell", "path", "digest", "queue",
];
const CLASSES: &[&str] = &[
    "Leaf", "Pair", "Group", "Branch", "Chain", "Cell", "Ring", "Span", "Store", "Proxy",
];

/// Roles of plain functions, as often as they occur in forty.
const ROLES: &[(Role, u32)] = &[
    (Role::Calc, 12),
    (Role::Text, 4),
    (Role::Scan, 2),
    (Role::Sum, 2),
    (Role::Build, 3),
    (Role::Pair, 2),
    (Role::Visit, 5),
    (Role::Make, 2),
    (Role::Find, 2),
    (Role::Guard, 3),
    (Role::Lookup, 2),
    (Role::Real, 1),
];

impl Project {
    /// A project of about `functions` functions and methods; the same for the same
    /// arguments.
    pub fn generate(seed: u64, functions: usize) -> Project {
        let mut project = Project {
            functions: Vec::new(),
            classes: Vec::new(),
            modules: Vec::new(),
            roots: Vec::new(),
            ripples: Vec::new(),
            files: Default::default(),
            history: Vec::new(),
        };
        let depths: Vec<usize> = (DEPTHS.iter().copied())
            .filter(|d| d * 2 * 5 <= functions || *d == DEPTHS[0])
            .collect();
        let rest = functions.saturating_sub(depths.iter().map(|d| 2 * d).sum());
        let packages = ((rest + PACKAGE / 2) / PACKAGE).max(1);
        let mut rng = Rng::with_seed(seed);
        for package in 0..packages {
            let from = rest * package / packages;
            let to = rest * (package + 1) / packages;
            project.package(package, (to - from).max(30), &mut rng);
        }
        for depth in depths {
            let package = project.modules.last().map_or(0, |m| m.package + 1);
            project.ripple(package, depth, &mut rng);
        }
        project.connect(&mut rng);
        project.render_all();
        project
    }

    fn module(&mut self, package: usize, name: String, kind: ModuleKind) -> ModuleId {
        self.modules.push(Module {
            package,
            name,
            kind,
            functions: Vec::new(),
            classes: Vec::new(),
            table: Vec::new(),
            nodes: Vec::new(),
            entries: Vec::new(),
            comments: 0,
        });
        self.modules.len() - 1
    }

    /// Adds a function that nobody calls yet.
    pub(crate) fn function(
        &mut self,
        module: ModuleId,
        name: String,
        role: Role,
        rng: &mut Rng,
    ) -> FunctionId {
        let id = self.functions.len();
        self.functions.push(Function {
            module,
            name,
            role,
            calls: Vec::new(),
            seed: rng.u64(..),
            tweak: 0,
            general: false,
            flaw: None,
            deleted: false,
        });
        if !role.is_method() {
            self.modules[module].functions.push(id);
        }
        id
    }

    /// Adds a function with a name that no other has.
    pub(crate) fn named_function(
        &mut self,
        module: ModuleId,
        role: Role,
        rng: &mut Rng,
    ) -> FunctionId {
        let (verb, noun) = (rng.choice(VERBS).unwrap(), rng.choice(NOUNS).unwrap());
        let name = format!("{verb}_{noun}_{}", self.functions.len());
        self.function(module, name, role, rng)
    }

    /// A package of about `size` functions.
    fn package(&mut self, package: usize, size: usize, rng: &mut Rng) {
        let folder = Project::package_name(package);
        let model = self.module(package, format!("{folder}.model"), ModuleKind::Classes);
        let root = self.class(model, None, true, rng);
        self.roots.push(root);
        // A class has two methods of its own and, half of the time, a constructor.
        let classes = (size / 22).max(3);
        let mut known = vec![root];
        let kinds: Vec<ModuleId> = (0..(classes / 6).max(1))
            .map(|i| self.module(package, format!("{folder}.kinds{i}"), ModuleKind::Classes))
            .collect();
        for i in 0..classes {
            let base = if rng.u8(..4) == 0 {
                *rng.choice(&known).unwrap()
            } else {
                root
            };
            known.push(self.class(kinds[i * kinds.len() / classes], Some(base), false, rng));
        }
        let plain = size.saturating_sub(known.len() * 3 + 6).max(12);
        let ops: Vec<ModuleId> = (0..plain.div_ceil(30))
            .map(|i| self.module(package, format!("{folder}.ops{i}"), ModuleKind::Functions))
            .collect();
        for i in 0..plain {
            let module = if i % 9 == 0 {
                *rng.choice(&kinds).unwrap()
            } else {
                ops[i * ops.len() / plain]
            };
            let role = match i {
                // A table needs some of one kind, whatever the seed.
                0..3 => Role::Calc,
                3 => Role::Special,
                _ => role(rng),
            };
            self.named_function(module, role, rng);
        }
        let registry = self.module(package, format!("{folder}.registry"), ModuleKind::Registry);
        for _ in 0..2 {
            self.named_function(registry, Role::Calc, rng);
        }
        self.modules[registry].table = (self.plain_functions(package))
            .filter(|f| self.functions[*f].role == Role::Calc)
            .filter(|_| rng.u8(..3) != 0)
            .take(24)
            .collect();
        self.modules[registry].nodes = known.iter().map(|c| (*c, rng.u32(1..40))).collect();
    }

    /// Functions, without methods, of a package.
    pub(crate) fn plain_functions(&self, package: usize) -> impl Iterator<Item = FunctionId> {
        (self.modules.iter())
            .filter(move |m| m.package == package)
            .flat_map(|m| m.functions.iter().copied())
    }

    fn class(
        &mut self,
        module: ModuleId,
        base: Option<ClassId>,
        all_methods: bool,
        rng: &mut Rng,
    ) -> ClassId {
        let id = self.classes.len();
        let name = format!("{}{id}", rng.choice(CLASSES).unwrap());
        let attributes = (0..rng.u32(..3)).map(|_| rng.u32(..1000)).collect();
        self.classes.push(Class {
            module,
            name,
            base,
            methods: Vec::new(),
            attributes,
        });
        self.modules[module].classes.push(id);
        for (role, name, often) in [
            (Role::Step, "step", 80),
            (Role::Weight, "weight", 50),
            (Role::Label, "label", 40),
            (Role::Combine, "combine", 25),
        ] {
            if all_methods || rng.u8(..100) < often {
                let method = self.function(module, name.to_owned(), role, rng);
                self.classes[id].methods.push(method);
            }
        }
        id
    }

    /// `depth` functions that return what the first one returns, and as many that take
    /// what the shore gives.
    fn ripple(&mut self, package: usize, depth: usize, rng: &mut Rng) {
        let folder = format!("ripple{depth}");
        let mut rises: Vec<FunctionId> = Vec::new();
        let mut module = 0;
        for i in 0..depth {
            if i % RIPPLE_MODULE == 0 {
                let name = format!("{folder}.rise{}", i / RIPPLE_MODULE);
                module = self.module(package, name, ModuleKind::Ripple);
            }
            let id = self.function(module, format!("rise_{depth}_{i}"), Role::Rise, rng);
            if i > 0 {
                self.functions[id].calls.push(rises[(i - 1) / FAN]);
            }
            rises.push(id);
        }
        // Those that are called come first, so that imports point backwards.
        let mut falls: Vec<FunctionId> = vec![0; depth];
        for i in (0..depth).rev() {
            let nth = depth - 1 - i;
            if nth.is_multiple_of(RIPPLE_MODULE) {
                let name = format!("{folder}.fall{}", nth / RIPPLE_MODULE);
                module = self.module(package, name, ModuleKind::Ripple);
            }
            let id = self.function(module, format!("fall_{depth}_{i}"), Role::Fall, rng);
            let relays = i * FAN + 1..(i * FAN + 1 + FAN).min(depth);
            self.functions[id].calls = relays.map(|r| falls[r]).collect();
            falls[i] = id;
        }
        let module = self.module(package, format!("{folder}.shore"), ModuleKind::Ripple);
        let leaves = (rises.iter().enumerate()).filter(|(i, _)| i * FAN + 1 >= depth);
        let leaves: Vec<FunctionId> = leaves.map(|(_, id)| *id).collect();
        for (i, leaves) in leaves.chunks(LANDING).enumerate() {
            let name = format!("landing_{depth}_{i}");
            let landing = self.function(module, name, Role::Landing, rng);
            self.functions[landing].calls = leaves.to_vec();
        }
        let shore = self.function(module, format!("shore_{depth}"), Role::Shore, rng);
        self.functions[shore].calls = vec![falls[0]];
        self.ripples.push(Ripple {
            depth,
            source: rises[0],
            shore,
        });
    }

    /// Gives every plain function a caller further back in the order, so that everything
    /// is reached, and calls to anywhere, so that everything is one component.
    fn connect(&mut self, rng: &mut Rng) {
        let packages = self.roots.len();
        let plain: Vec<Vec<FunctionId>> = (0..packages)
            .map(|p| self.plain_functions(p).collect())
            .collect();
        let all: Vec<FunctionId> = plain.iter().flatten().copied().collect();
        for (package, members) in plain.iter().enumerate() {
            let registry = (self.modules.iter())
                .rposition(|m| m.package == package)
                .expect("a package has modules");
            for (i, id) in members.iter().enumerate() {
                if self.functions[*id].role == Role::Special {
                    continue;
                }
                let ahead = &members[i + 1..];
                let near = &ahead[..ahead.len().min(25)];
                let caller = (0..4).find_map(|attempt| {
                    let among = if attempt == 0 { near } else { ahead };
                    let candidate = *rng.choice(among)?;
                    let f = &self.functions[candidate];
                    (f.role.calls_others() && f.calls.len() < 5).then_some(candidate)
                });
                match caller {
                    Some(caller) => self.functions[caller].calls.push(*id),
                    None => self.modules[registry].entries.push(*id),
                }
            }
        }
        for id in 0..self.functions.len() {
            let f = &self.functions[id];
            if !f.role.calls_others() {
                continue;
            }
            let package = self.modules[f.module].package;
            for _ in 0..rng.usize(..3) {
                let target = match rng.u8(..100) {
                    ..60 => *rng.choice(&plain[package]).unwrap(),
                    60..85 => {
                        let earlier = rng.usize(..=package);
                        *rng.choice(&plain[earlier]).unwrap()
                    }
                    _ => *rng.choice(&all).unwrap(),
                };
                let calls = &mut self.functions[id].calls;
                if target != id && !calls.contains(&target) && calls.len() < 6 {
                    calls.push(target);
                }
            }
        }
    }
}

fn role(rng: &mut Rng) -> Role {
    let total: u32 = ROLES.iter().map(|(_, n)| n).sum();
    let mut pick = rng.u32(..total);
    for (role, often) in ROLES {
        if pick < *often {
            return *role;
        }
        pick -= often;
    }
    Role::Calc
}
