//! From the model to text: modules, classes and tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::body;
use crate::model::{ClassId, FunctionId, ModuleId, ModuleKind, Project, Role};

/// Names that a module imports on its top level, by module.
pub(crate) type Imports = BTreeMap<ModuleId, BTreeSet<String>>;

impl Project {
    /// Writes all files.
    pub(crate) fn render_all(&mut self) {
        self.files.clear();
        let mut folders = BTreeSet::from(["common".to_owned()]);
        for module in 0..self.modules.len() {
            let name = &self.modules[module].name;
            folders.extend(name.split_once('.').map(|(f, _)| f.to_owned()));
            let (path, text) = (self.path(module), self.render(module));
            self.files.insert(path, text);
        }
        for folder in folders {
            self.files
                .insert(format!("{folder}/__init__.py"), String::new());
        }
        self.files
            .insert("common/base.py".to_owned(), BASE.to_owned());
        let target = self.render_target();
        self.files.insert(Project::TARGET.to_owned(), target);
    }

    /// The file of a module.
    pub(crate) fn path(&self, module: ModuleId) -> String {
        format!("{}.py", self.modules[module].name.replace('.', "/"))
    }

    /// The text of a module.
    pub(crate) fn render(&self, id: ModuleId) -> String {
        let module = &self.modules[id];
        let mut imports = Imports::new();
        let mut text = String::new();
        for class in &module.classes {
            self.render_class(*class, &mut imports, &mut text);
        }
        for function in &module.functions {
            if !self.functions[*function].deleted {
                text.push_str("\n\n");
                text.push_str(&body::function(self, *function, &mut imports));
            }
        }
        if module.kind == ModuleKind::Registry {
            self.render_registry(id, &mut imports, &mut text);
        }

        let mut out = String::new();
        for i in 0..module.comments {
            let _ = writeln!(out, "# revision {i}");
        }
        let _ = writeln!(out, "\"\"\"Synthetic: {}.\"\"\"", module.name);
        if text.contains("@specialize") {
            out.push_str("from rpython.rlib.objectmodel import specialize\n");
        }
        if module.kind != ModuleKind::Ripple {
            out.push_str("from common.base import Node, Failure, HOOKS, fire, found\n");
        }
        for (from, names) in &imports {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            for some in names.chunks(4) {
                let _ = writeln!(
                    out,
                    "from {} import {}",
                    self.modules[*from].name,
                    some.join(", ")
                );
            }
        }
        if text.contains("SQUARES[") {
            out.push_str("\nSQUARES = [i * i for i in range(16)]\n");
        }
        if text.contains("CACHE[") {
            out.push_str("\nCACHE = {}\n");
        }
        if text.contains("NAMES[") {
            out.push_str("\nNAMES = {}\nfor _i, _word in enumerate('op1 op2 op4 op5'.split()):\n    NAMES[_word] = _i\n");
        }
        out.push_str(&text);
        out
    }

    fn render_class(&self, id: ClassId, imports: &mut Imports, text: &mut String) {
        let class = &self.classes[id];
        let base = match class.base {
            None => "Node",
            Some(base) => self.refer_class(base, class.module, imports),
        };
        let _ = write!(text, "\n\nclass {}({base}):\n", class.name);
        let _ = writeln!(text, "    kind = {}", id % 7);
        if class.base.is_none() {
            text.push_str(
                "\n    def __init__(self, size, tag):\n        Node.__init__(self, size)\n        self.tag = tag\n        self.parts = []\n",
            );
        } else if !class.attributes.is_empty() {
            let _ = write!(
                text,
                "\n    def __init__(self, size, tag):\n        {base}.__init__(self, size, tag)\n"
            );
        }
        for attribute in &class.attributes {
            let value = match attribute % 3 {
                0 => format!("(size & 15) - {}", attribute % 11),
                1 => "tag".to_owned(),
                _ => "[size]".to_owned(),
            };
            let _ = writeln!(text, "        self.extra_{attribute} = {value}");
        }
        if class.base.is_none() {
            text.push_str(
                "\n    def add_part(self, part):\n        self.parts.append(part)\n        return self\n",
            );
        }
        for method in &class.methods {
            if self.functions[*method].deleted {
                continue;
            }
            text.push('\n');
            for line in body::method(self, id, *method, imports).lines() {
                let _ = writeln!(text, "    {line}");
            }
        }
    }

    /// The class's name, imported where that is needed; only classes of earlier modules
    /// or of the same one.
    pub(crate) fn refer_class(&self, id: ClassId, from: ModuleId, imports: &mut Imports) -> &str {
        let class = &self.classes[id];
        if class.module != from {
            (imports.entry(class.module).or_default()).insert(class.name.clone());
        }
        &class.name
    }

    fn refer_function(&self, id: FunctionId, from: ModuleId, imports: &mut Imports) -> &str {
        let function = &self.functions[id];
        if function.module != from {
            (imports.entry(function.module).or_default()).insert(function.name.clone());
        }
        &function.name
    }

    fn render_registry(&self, id: ModuleId, imports: &mut Imports, text: &mut String) {
        let module = &self.modules[id];
        let number = module.package;
        let root = self.refer_class(self.roots[number], id, imports).to_owned();
        text.push_str("\n\nNODES = [\n");
        for (class, size) in &module.nodes {
            let name = self.refer_class(*class, id, imports);
            let _ = writeln!(text, "    {name}({size}, 'n{size}'),");
        }
        text.push_str("]\nfor _i in range(1, len(NODES)):\n    NODES[_i // 3].add_part(NODES[_i])\n\nCLASSES = [");
        let classes: BTreeSet<ClassId> = module.nodes.iter().map(|(c, _)| *c).collect();
        for class in classes {
            let _ = write!(text, "{}, ", self.refer_class(class, id, imports));
        }
        text.push_str("]\n\nOPERATIONS = [\n");
        for function in &module.table {
            if !self.functions[*function].deleted {
                let _ = writeln!(text, "    {},", self.refer_function(*function, id, imports));
            }
        }
        text.push_str("]\nOPERATIONS_BY_NAME = {}\nfor _f in OPERATIONS:\n    OPERATIONS_BY_NAME[_f.__name__] = _f\n");
        let _ = write!(
            text,
            "

def pick_{number}(ctx, n):
    return NODES[n % len(NODES)]


def make_{number}(ctx, n):
    node = CLASSES[n % len(CLASSES)](n & 15, 'made')
    assert isinstance(node, {root})
    if n & 1:
        node.add_part(pick_{number}(ctx, n + 1))
    return node


def apply_{number}(ctx, n):
    total = OPERATIONS[n % len(OPERATIONS)](ctx, n)
    for name in OPERATIONS_BY_NAME:
        if len(name) == n:
            total += OPERATIONS_BY_NAME[name](ctx, n + 1)
    return total


def drive_{number}(ctx, n):
    if ctx.spend():
        return 0
    total = apply_{number}(ctx, n) - 1
    node = pick_{number}(ctx, n)
    ctx.nodes.append(make_{number}(ctx, n))
    total += node.step(ctx, n) + node.weight(ctx, n) + len(node.label(ctx))
    total += node.combine(ctx, node).size
"
        );
        for entry in &module.entries {
            if self.functions[*entry].deleted {
                continue;
            }
            let name = self.refer_function(*entry, id, imports).to_owned();
            let call = body::call(self, *entry, &name, &root, "n");
            let _ = writeln!(text, "    if n != {}:\n        total += {call}", entry % 5);
        }
        let _ = write!(text, "    return total\n\n\nHOOKS.append(drive_{number})\n");
    }

    fn render_target(&self) -> String {
        let mut out = String::from(
            "\"\"\"Synthetic program.\"\"\"\nimport sys\nfrom common.base import Context, Failure\n",
        );
        let mut calls = String::new();
        for (id, module) in self.modules.iter().enumerate() {
            let _ = match module.kind {
                ModuleKind::Registry => {
                    let n = module.package;
                    let _ = writeln!(calls, "    drive_{n},");
                    writeln!(out, "from {} import drive_{n}", module.name)
                }
                _ => writeln!(out, "import {}", module.name),
            };
            for f in &self.modules[id].functions {
                let f = &self.functions[*f];
                if matches!(f.role, Role::Landing | Role::Shore) {
                    let _ = writeln!(out, "from {} import {}", module.name, f.name);
                    let _ = writeln!(calls, "    {},", f.name);
                }
            }
        }
        let _ = write!(
            out,
            "
DRIVERS = [
{calls}]


def entry_point(argv):
    fuel = 100
    if len(argv) > 1:
        fuel = int(argv[1])
    ctx = Context(fuel)
    for i in range(len(DRIVERS)):
        ctx.fuel = fuel
        try:
            if fuel < 0:
                raise Failure(i)
            ctx.note(DRIVERS[i](ctx, i))
        except Failure as e:
            ctx.note(e.code)
    print 'checksum %d' % ctx.total
    return 0


def target(driver, args):
    return entry_point, None


if __name__ == '__main__':
    sys.setrecursionlimit(100000)
    sys.exit(entry_point(sys.argv))
"
        );
        out
    }
}

/// What all packages stand on.
const BASE: &str = r#""""Synthetic: what all packages stand on."""


class Failure(Exception):
    def __init__(self, code):
        self.code = code


class Context(object):
    """What is handed through all calls."""

    def __init__(self, fuel):
        self.fuel = fuel
        self.total = 0
        self.nodes = []
        self.names = {}

    def spend(self):
        """Whether to return without going further."""
        if self.fuel <= 0:
            return True
        self.fuel -= 1
        return False

    def note(self, n):
        self.total = (self.total * 31 + n) & 0xFFFFFF

    def intern(self, name):
        if name not in self.names:
            self.names[name] = len(self.names)
        return self.names[name]


class Node(object):
    """The root of all classes."""
    kind = -1

    def __init__(self, size):
        self.size = size

    def step(self, ctx, n):
        return n - self.size

    def weight(self, ctx, n):
        return self.size - n

    def label(self, ctx):
        return 'node'

    def combine(self, ctx, node):
        return node


def found(node):
    if node is None:
        return -1
    return node.size


HOOKS = []


def fire(ctx, n):
    return HOOKS[n % len(HOOKS)](ctx, n)
"#;
