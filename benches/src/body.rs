//! The text of functions and methods.

use std::collections::BTreeSet;
use std::fmt::Write;

use fastrand::Rng;

use crate::edit::Flaw;
use crate::model::{ClassId, Function, FunctionId, ModuleId, Project, Role};
use crate::render::Imports;

/// The text of a plain function; what it needs from earlier modules goes to `imports`.
pub(crate) fn function(project: &Project, id: FunctionId, imports: &mut Imports) -> String {
    Body::new(project, id, None, imports).finish()
}

/// The text of a method, from the left margin.
pub(crate) fn method(
    project: &Project,
    class: ClassId,
    id: FunctionId,
    imports: &mut Imports,
) -> String {
    Body::new(project, id, Some(class), imports).finish()
}

/// A call as an integer expression. `root` is the name of the root class of the
/// callee's package, if it takes a node; `n` is an integer expression.
pub(crate) fn call(
    project: &Project,
    callee: FunctionId,
    name: &str,
    root: &str,
    n: &str,
) -> String {
    let text = callee % 89;
    match project.functions[callee].role {
        Role::Text => format!("len({name}(ctx, {n}, 'text{text}'))"),
        Role::Scan => format!("{name}(ctx, 'a%d,{text}' % ({n}))"),
        Role::Sum => format!("{name}(ctx, [{n}, {text}, 3])"),
        Role::Build => format!("len({name}(ctx, {n}))"),
        Role::Pair => format!("{name}(ctx, {n})[0]"),
        Role::Visit => format!("{name}(ctx, {root}(({n}) & 7, 'v{text}'))"),
        Role::Make => format!("{name}(ctx, {n}).size"),
        Role::Find => format!("found({name}(ctx, {n}))"),
        Role::Real => format!("int({name}(ctx, 0.5 * (({n}) & 255)))"),
        Role::Special if callee.is_multiple_of(2) => format!("{name}('x', {n})"),
        _ if project.functions[callee].role == Role::Special => format!("{name}(1.5, {n})"),
        _ => format!("{name}(ctx, {n})"),
    }
}

struct Body<'a> {
    project: &'a Project,
    function: &'a Function,
    class: Option<ClassId>,
    imports: &'a mut Imports,
    /// Lines `from x import y` inside the function: later modules.
    late: BTreeSet<String>,
    rng: Rng,
    text: String,
}

impl<'a> Body<'a> {
    fn new(
        project: &'a Project,
        id: FunctionId,
        class: Option<ClassId>,
        imports: &'a mut Imports,
    ) -> Self {
        let function = &project.functions[id];
        Body {
            project,
            function,
            class,
            imports,
            late: BTreeSet::new(),
            rng: Rng::with_seed(function.seed),
            text: String::new(),
        }
    }

    fn line(&mut self, depth: usize, line: impl AsRef<str>) {
        let _ = writeln!(self.text, "{:1$}{2}", "", depth * 4, line.as_ref());
    }

    fn constant(&mut self) -> u32 {
        self.rng.u32(2..60)
    }

    /// Makes a name of another module usable.
    fn refer(&mut self, module: ModuleId, name: &str) {
        if module < self.function.module {
            (self.imports.entry(module).or_default()).insert(name.to_owned());
        } else if module > self.function.module {
            let from = &self.project.modules[module].name;
            self.late.insert(format!("from {from} import {name}"));
        }
    }

    fn call(&mut self, callee: FunctionId, n: &str) -> String {
        let project = self.project;
        let f = &project.functions[callee];
        self.refer(f.module, &f.name);
        let mut root_name = "";
        if f.role == Role::Visit {
            let package = project.modules[f.module].package;
            let root = &project.classes[project.roots[package]];
            self.refer(root.module, &root.name);
            root_name = &root.name;
        }
        call(project, callee, &f.name, root_name, n)
    }

    /// Live callees.
    fn callees(&self) -> Vec<FunctionId> {
        (self.function.calls.iter().copied())
            .filter(|c| !self.project.functions[*c].deleted)
            .collect()
    }

    fn finish(mut self) -> String {
        let f = self.function;
        match f.role {
            Role::Rise => self.rise(),
            Role::Fall => self.fall(),
            Role::Landing => self.landing(),
            Role::Shore => self.shore(),
            Role::Special => self.special(),
            Role::Label => self.label(),
            Role::Real => self.real(),
            _ => self.usual(),
        }
        let parameters = match f.role {
            Role::Text => "ctx, n, text",
            Role::Scan => "ctx, text",
            Role::Sum => "ctx, items",
            Role::Visit => "ctx, node",
            Role::Real => "ctx, x",
            Role::Special => "x, n",
            Role::Step | Role::Weight => "self, ctx, n",
            Role::Label => "self, ctx",
            Role::Combine => "self, ctx, node",
            _ => "ctx, n",
        };
        let mut out = String::new();
        if f.role == Role::Special {
            out.push_str("@specialize.argtype(0)\n");
        }
        let _ = writeln!(out, "def {}({parameters}):", f.name);
        for line in &self.late {
            let _ = writeln!(out, "    {line}");
        }
        out.push_str(&self.text);
        out
    }

    /// A guard, a total from the arguments, pieces, and what is made from the total.
    fn usual(&mut self) {
        let f = self.function;
        let callees = self.callees();
        let (early, first, last) = match f.role {
            Role::Text => ("text", "n - len(text)", "'-'.join(parts)"),
            Role::Scan => ("0", "len(text)", "total - 1"),
            Role::Sum => ("0", "len(items)", "total - 1"),
            Role::Build => ("[]", "n", "result"),
            Role::Pair => ("(-1, 'none')", "n", "((total & 0xFF) - 1, 'p%d' % total)"),
            Role::Visit => ("0", "node.size", "total - node.kind"),
            Role::Find => ("None", "n", "None"),
            Role::Step | Role::Weight => ("0", "self.size + n", "(total & 0xFFF) - n"),
            Role::Combine => ("self", "self.size", "node"),
            Role::Make => ("", "n", ""),
            _ => ("0", "n", "(total & 0xFFFF) - 1"),
        };
        if !callees.is_empty() || matches!(f.role, Role::Visit | Role::Step | Role::Weight) {
            self.line(1, "if ctx.spend():");
            if f.role == Role::Make {
                let made = self.made();
                self.line(2, format!("return {made}"));
            } else {
                self.line(2, format!("return {early}"));
            }
        }
        let c = self.constant() + f.tweak;
        self.line(1, format!("total = {first} + {c}"));
        if let Some(flaw) = f.flaw {
            self.line(1, flaw_line(flaw));
        }
        self.special_start();
        for callee in callees {
            self.call_piece(callee);
        }
        for _ in 0..self.rng.u32(..3) {
            self.plain_piece();
        }
        if f.tweak % 3 == 1 {
            self.line(1, format!("if total > {}:", 100 + f.tweak));
            self.line(2, format!("total -= {}", f.tweak));
        }
        self.special_end();
        if f.role == Role::Make {
            let c = self.constant();
            let (first, second) = (self.made(), self.made());
            self.line(1, format!("if total > {c}:"));
            self.line(2, format!("return {first}"));
            self.line(1, format!("return {second}"));
        } else {
            self.line(1, format!("return {last}"));
        }
    }

    /// Constructs a node of the package, of a class of this module or an earlier one.
    fn made(&mut self) -> String {
        let project = self.project;
        let package = project.modules[self.function.module].package;
        let classes: Vec<ClassId> = (project.modules[..=self.function.module].iter())
            .rev()
            .take_while(|m| m.package == package)
            .flat_map(|m| m.classes.iter().copied())
            .collect();
        let class = &project.classes[*self.rng.choice(&classes).expect("a package has classes")];
        self.refer(class.module, &class.name);
        format!("{}(n & 31, 'm{}')", class.name, self.constant())
    }

    /// What a role does before the calls.
    fn special_start(&mut self) {
        let c = self.constant();
        match self.function.role {
            Role::Text => {
                self.line(1, "parts = [text]");
                self.line(1, format!("if len(text) > {}:", c & 7));
                self.line(2, "parts.append(text[1:3])");
                self.line(1, "parts.append('%d' % n)");
            }
            Role::Scan => {
                self.line(1, "for c in text:");
                self.line(2, "if c.isdigit():");
                self.line(3, "total += ord(c) - ord('0')");
                self.line(2, "elif c == ',':");
                self.line(3, format!("total += {c}"));
                self.line(1, "if text.startswith('a'):");
                self.line(2, "total += 1");
            }
            Role::Sum => {
                self.line(1, "for item in items:");
                self.line(2, format!("if item > {c}:"));
                self.line(3, "total += item");
                self.line(2, "else:");
                self.line(3, "total -= 1");
            }
            Role::Build => self.line(1, "result = []"),
            Role::Visit => {
                let project = self.project;
                let package = project.modules[self.function.module].package;
                let root = project.roots[package];
                self.line(1, "total += node.weight(ctx, node.size)");
                self.line(1, "for part in node.parts:");
                self.line(2, format!("total += part.step(ctx, {c})"));
                if let Some(attribute) = project.classes[root].attributes.first() {
                    self.attribute("node", *attribute);
                }
                let subs: Vec<ClassId> = (project.modules[..=self.function.module].iter())
                    .rev()
                    .take_while(|m| m.package == package)
                    .flat_map(|m| m.classes.iter().copied())
                    .filter(|c| *c != root)
                    .collect();
                if let Some(sub) = self.rng.choice(&subs) {
                    let class = &project.classes[*sub];
                    self.refer(class.module, &class.name);
                    self.line(1, format!("if isinstance(node, {}):", class.name));
                    self.line(2, "total += len(node.label(ctx))");
                }
            }
            Role::Find => {
                self.line(1, "for node in ctx.nodes:");
                self.line(2, format!("if node.size == n or node.kind == {}:", c % 9));
                self.line(3, "return node");
            }
            Role::Guard => {
                self.line(1, format!("if n < -{c}:"));
                self.line(2, format!("raise Failure({c})"));
            }
            Role::Lookup => {
                self.line(1, "key = n & 63");
                self.line(1, "if key in CACHE:");
                self.line(2, "return CACHE[key] - 1");
            }
            Role::Step | Role::Weight => {
                let class = &self.project.classes[self.class.expect("methods have a class")];
                for attribute in &class.attributes {
                    self.attribute("self", *attribute);
                }
                if self.function.role == Role::Step && c.is_multiple_of(3) {
                    self.line(1, "for part in self.parts:");
                    self.line(2, "total += part.weight(ctx, n)");
                }
            }
            _ => {}
        }
    }

    fn special_end(&mut self) {
        let c = self.constant();
        match self.function.role {
            Role::Text => self.line(1, "parts.append('%d' % (total & 255))"),
            Role::Build => {
                self.line(1, format!("for i in range(total & {}):", c & 7));
                self.line(2, "result.append(i * total)");
            }
            Role::Lookup => self.line(1, "CACHE[key] = total & 0xFFF"),
            Role::Find => {
                self.line(1, "if total < 0:");
                self.line(2, "return Node(n & 3)");
            }
            _ => {}
        }
    }

    fn attribute(&mut self, of: &str, attribute: u32) {
        let name = format!("{of}.extra_{attribute}");
        match attribute % 3 {
            0 => self.line(1, format!("total += {name}")),
            1 => self.line(1, format!("total += len({name})")),
            _ => {
                self.line(1, format!("{name}.append(total & 3)"));
                self.line(1, format!("total += len({name})"));
            }
        }
    }

    fn call_piece(&mut self, callee: FunctionId) {
        let c = self.constant();
        let n = match self.rng.u8(..4) {
            0 => "total & 31".to_owned(),
            1 => format!("total - {c}"),
            2 if self.project.functions[callee].role == Role::Calc => format!("{c}"),
            _ => "total".to_owned(),
        };
        let guard = self.function.role == Role::Guard;
        let call = self.call(callee, &n);
        match self.rng.u8(..8) {
            _ if guard => {
                self.line(1, "try:");
                self.line(2, format!("total += {call}"));
                self.line(1, "except Failure as e:");
                self.line(2, "total -= e.code");
            }
            0 => {
                self.line(1, format!("if total & {c}:"));
                self.line(2, format!("total += {call}"));
                self.line(1, "else:");
                self.line(2, format!("total -= {c}"));
            }
            1 => {
                self.line(1, "for i in range(total & 3):");
                self.line(2, format!("total += {call} - i"));
            }
            2 => {
                self.line(1, format!("value = {call}"));
                self.line(1, "if value > total:");
                self.line(2, "total = value");
            }
            3 => {
                self.line(1, format!("total = total * 3 + {call}"));
                self.line(1, "total &= 0xFFFFF");
            }
            _ => self.line(1, format!("total += {call}")),
        }
    }

    fn plain_piece(&mut self) {
        let c = self.constant();
        match self.rng.u8(..11) {
            0 => self.line(1, format!("total = (total * 5 + {c}) & 0xFFFFF")),
            1 => {
                self.line(1, format!("if total > {c}:"));
                self.line(2, "total = total >> 1");
            }
            2 => {
                self.line(1, "while total > 4096:");
                self.line(2, format!("total = total // 3 - {c}"));
            }
            3 => self.line(1, "total += SQUARES[total & 15]"),
            4 => self.line(1, format!("total += fire(ctx, total + {c})")),
            5 => {
                self.line(1, format!("pair = (total, 't{c}')"));
                self.line(1, "total = pair[0] + len(pair[1])");
            }
            6 => {
                self.line(1, format!("word = 'w%d' % (total & {c})"));
                self.line(1, "ctx.note(ctx.intern(word))");
            }
            7 => {
                self.line(1, format!("values = [i + {c} for i in range(total & 7)]"));
                self.line(1, "total += len(values)");
            }
            8 => {
                self.line(1, "try:");
                self.line(2, "total += NAMES['op%d' % (total & 7)]");
                self.line(1, "except KeyError:");
                self.line(2, format!("total -= {c}"));
            }
            9 => {
                self.line(1, "if not total & 1 and total != 6:");
                self.line(2, format!("total ^= {c}"));
            }
            _ => self.line(1, format!("total = max(total, {c})")),
        }
    }

    fn label(&mut self) {
        let f = self.function;
        let c = self.constant() + f.tweak;
        self.line(1, format!("if self.size > {c}:"));
        self.line(2, "return 'big' + self.tag");
        self.line(1, format!("return '{}%d' % self.size", f.name));
    }

    fn real(&mut self) {
        let c = self.constant() + self.function.tweak;
        self.line(1, format!("y = x * 0.5 + {c}.25"));
        self.line(1, "while y > 100.0:");
        self.line(2, "y = y / 10.0");
        self.line(1, "return y");
    }

    fn special(&mut self) {
        let c = self.constant() + self.function.tweak;
        self.line(1, "items = [x]");
        self.line(1, "for i in range(n & 3):");
        self.line(2, "items.append(x)");
        self.line(1, format!("return len(items) - {c}"));
    }

    fn rise(&mut self) {
        let f = self.function;
        match f.calls.first() {
            None if f.general => self.line(1, "return (n & 7) - 9"),
            None => self.line(1, "return n & 7"),
            Some(next) => {
                let c = self.constant() + f.tweak;
                self.line(1, format!("if n > {c}:"));
                self.line(2, "ctx.note(n)");
                let call = self.call(*next, "n");
                self.line(1, format!("return {call}"));
            }
        }
    }

    fn fall(&mut self) {
        let f = self.function;
        let c = self.constant() + f.tweak;
        self.line(1, format!("if n > {c}:"));
        self.line(2, "ctx.note(n)");
        for next in &f.calls {
            let call = self.call(*next, "n");
            self.line(1, call);
        }
    }

    fn shore(&mut self) {
        let f = self.function;
        self.line(1, "low = ctx.fuel & 7");
        let given = if f.general { "low - 9" } else { "low" };
        for fall in &f.calls {
            let call = self.call(*fall, given);
            self.line(1, call);
        }
        self.line(1, "return n");
    }

    fn landing(&mut self) {
        self.line(1, "low = ctx.fuel & 7");
        for rise in &self.function.calls {
            let call = self.call(*rise, "low");
            self.line(1, format!("ctx.note({call})"));
        }
        self.line(1, "return n");
    }
}

fn flaw_line(flaw: Flaw) -> &'static str {
    match flaw {
        Flaw::Union => "total += len([total, 'text'])",
        Flaw::Attribute => "total += ctx.no_such_attribute",
        Flaw::Arguments => "ctx.note(total, total)",
        Flaw::Name => "total += no_such_name",
        Flaw::Syntax => "total = (total +",
    }
}
