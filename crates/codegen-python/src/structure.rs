//! Control flow: loops, branches and handlers from a graph.
//!
//! Each block is written once, where control first gets to it: in the branch that leads there alone, or
//! behind the branches that meet in it. What falls off the end of a piece of code is at the block that
//! follows it. A way that leads elsewhere returns, raises, continues or leaves the loop it is in; where
//! Python has none of these, it notes the number of its target in `to`, and code on the way there is passed
//! over. Graphs with loops of more than one entry, and nests deeper than CPython's compiler takes, become
//! one loop over numbers of blocks.

use std::collections::BTreeSet;

use taipan_graph::{BlockId, ExitCase, ExitSwitch, Link};
use taipan_lltype::{LLOperand, LowLevel};

use crate::expr::Expr;
use crate::function::{Writer, constant, returns_nothing};
use crate::names::Line;

/// CPython's compiler takes twenty nested loops and handlers, and a hundred levels of indentation.
const DEEPEST_BLOCKS: usize = 16;
const DEEPEST: usize = 80;

/// A piece of code.
#[derive(Default)]
struct Code {
    lines: Vec<Line>,
    /// Whether control gets to its end.
    falls: bool,
    /// Blocks whose number may be in `to` at the end.
    escapes: BTreeSet<BlockId>,
    /// The condition of the `if` that it begins with, which does nothing but leave the loop.
    leaves_if: Option<Expr>,
    /// How many loops and handlers are nested in it.
    depth: usize,
}

impl Code {
    fn push(&mut self, text: impl Into<String>, at: Option<u32>) {
        self.lines.push(Line {
            indent: 0,
            text: text.into(),
            at,
        });
    }

    fn nest(&mut self, inner: Code) {
        if inner.lines.is_empty() {
            self.lines.push(Line {
                indent: 1,
                text: "pass".to_owned(),
                at: None,
            });
        }
        self.lines.extend(inner.lines.into_iter().map(|mut l| {
            l.indent += 1;
            l
        }));
        self.depth = self.depth.max(inner.depth);
        self.escapes.extend(inner.escapes);
    }

    fn append(&mut self, other: Code) {
        self.lines.extend(other.lines);
        self.escapes.extend(other.escapes);
        self.depth = self.depth.max(other.depth);
        self.falls = other.falls;
    }

    fn ends_flow(&self) -> bool {
        !self.falls && self.escapes.is_empty()
    }
}

/// A loop that code is in.
struct Around {
    header: BlockId,
    inside: Vec<bool>,
    /// What comes right behind it.
    after: Option<BlockId>,
    /// Its blocks of [`Body::after_loop`].
    behind: Vec<BlockId>,
    /// Blocks whose number may be in `to` behind it.
    escapes: BTreeSet<BlockId>,
}

/// Writes the body of a function.
struct Body<'w, 'a> {
    w: &'w mut Writer<'a>,
    around: Vec<Around>,
    written: Vec<bool>,
}

impl Writer<'_> {
    /// The body of the function.
    pub(crate) fn body(&mut self) -> Vec<Line> {
        if !self.shape.irreducible {
            let start = self.graph().startblock;
            let count = self.graph().blocks.len();
            let mut body = Body {
                w: self,
                around: Vec::new(),
                written: vec![false; count],
            };
            let mut code = body.tree(start, None);
            let deepest = code.lines.iter().map(|l| l.indent).max().unwrap_or(0);
            if code.depth <= DEEPEST_BLOCKS && deepest <= DEEPEST {
                if !self.labels.is_empty() {
                    let first = Line {
                        indent: 0,
                        text: "to = 0".to_owned(),
                        at: None,
                    };
                    code.lines.insert(0, first);
                }
                return without_last(code.lines, "return");
            }
            self.set_pending(Vec::new());
        }
        self.dispatch()
    }

    /// A number by which a block is jumped to.
    fn label(&mut self, b: BlockId) -> usize {
        let next = self.labels.len() + 1;
        *self.labels.entry(b).or_insert(next)
    }

    /// What a link gives to the variables of its target; for the end of the function, how it ends.
    fn arrive(&mut self, link: &Link<LowLevel>, out: &mut Vec<Line>) {
        let graph = self.shape.graph;
        if link.target == graph.returnblock {
            let void = returns_nothing(*graph.ty(graph.returnvar()));
            let text = match void {
                true => "return".to_owned(),
                false => format!("return {}", self.operand(&link.args[0]).text),
            };
            return out.push(Line {
                indent: 0,
                text,
                at: link.at,
            });
        }
        if link.target == graph.exceptblock {
            let text = match self.raises_again(link) {
                true => "raise".to_owned(),
                false => {
                    let args: Vec<String> =
                        link.args.iter().map(|a| self.operand(a).text).collect();
                    format!("raise Raised({})", args.join(", "))
                }
            };
            return out.push(Line {
                indent: 0,
                text,
                at: link.at,
            });
        }
        let (mut to, mut from) = (Vec::new(), Vec::new());
        for (arg, v) in link.args.iter().zip(&graph.block(link.target).inputargs) {
            if !self.shape.is_variable(*v) {
                continue;
            }
            let (name, value) = (self.name(*v), self.operand(arg).text);
            if name != value {
                to.push(name);
                from.push(value);
            }
        }
        if !to.is_empty() {
            let text = format!("{} = {}", to.join(", "), from.join(", "));
            out.push(Line {
                indent: 0,
                text,
                at: link.at,
            });
        }
    }

    /// Whether a handler does nothing but raise what it has caught.
    fn raises_again(&self, link: &Link<LowLevel>) -> bool {
        let caught = [link.last_exception, link.last_exc_value];
        link.target == self.graph().exceptblock
            && caught.iter().all(Option::is_some)
            && link.args.iter().map(LLOperand::as_var).eq(caught)
    }

    /// The names under which a handler knows the exception.
    fn caught(&mut self, link: &Link<LowLevel>, out: &mut Vec<Line>) {
        if self.raises_again(link) {
            return;
        }
        for (v, what) in [
            (link.last_exception, "etype"),
            (link.last_exc_value, "evalue"),
        ] {
            if let Some(v) = v
                && self.shape.uses(v) > 0
            {
                let text = format!("{} = error.{what}", self.name(v));
                out.push(Line {
                    indent: 0,
                    text,
                    at: link.at,
                });
            }
        }
    }

    fn catches(&mut self, link: &Link<LowLevel>) -> String {
        match &link.case {
            ExitCase::Exception(class) => {
                format!("catches(error, {})", constant(class, &mut self.refs).text)
            }
            _ => "True".to_owned(),
        }
    }

    /// The condition of a case of a switch on some value; none for all others.
    fn case(&mut self, value: &Expr, case: &ExitCase<LowLevel>) -> Option<Expr> {
        match case {
            ExitCase::Bool(true) => Some(value.clone()),
            ExitCase::Bool(false) => Some(value.not()),
            ExitCase::Value(c) => {
                let c = constant(c, &mut self.refs);
                Some(Expr::compare(value, "==", &c, Some("!=")))
            }
            ExitCase::None | ExitCase::Default | ExitCase::Exception(_) => None,
        }
    }

    /// One loop over the blocks by number.
    fn dispatch(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        let push = |lines: &mut Vec<Line>, indent: usize, text: String| {
            lines.push(Line {
                indent,
                text,
                at: None,
            });
        };
        push(&mut lines, 0, "block = 0".to_owned());
        push(&mut lines, 0, "while True:".to_owned());
        let order = self.shape.order.clone();
        let mut first = true;
        for b in order {
            if self.shape.is_end(b) {
                continue;
            }
            let number = self.shape.position[b.index()];
            let word = if std::mem::take(&mut first) {
                "if"
            } else {
                "elif"
            };
            push(&mut lines, 1, format!("{word} block == {number}:"));
            let mut inner = Vec::new();
            self.statements(b, &mut inner);
            let block = self.shape.graph.block(b);
            let guarded = block
                .canraise()
                .then(|| self.raising(b, &mut inner))
                .flatten();
            let before = self.pending();
            let mut ways: Vec<(String, Vec<Line>)> = Vec::new();
            let value = match &block.exitswitch {
                ExitSwitch::Value(o) => Some(self.operand(o)),
                ExitSwitch::None | ExitSwitch::LastException => None,
            };
            let before = if value.is_some() {
                self.pending()
            } else {
                before
            };
            for link in &block.exits {
                self.set_pending(before.clone());
                let condition = match (&value, &link.case) {
                    (Some(value), case) => self.case(value, case).map(|e| e.text),
                    (None, ExitCase::Exception(_)) => Some(self.catches(link)),
                    (None, _) => None,
                };
                let mut way = Vec::new();
                if guarded.is_some() {
                    self.caught(link, &mut way);
                }
                self.arrive(link, &mut way);
                if !self.shape.is_end(link.target) {
                    let number = self.shape.position[link.target.index()];
                    way.push(Line {
                        indent: 0,
                        text: format!("block = {number}"),
                        at: None,
                    });
                }
                ways.push((condition.unwrap_or_default(), way));
            }
            self.set_pending(Vec::new());
            match guarded {
                Some(line) => {
                    push(&mut inner, 0, "try:".to_owned());
                    inner.push(Line { indent: 1, ..line });
                    push(
                        &mut inner,
                        0,
                        "except (Raised, RecursionError) as error:".to_owned(),
                    );
                    push(&mut inner, 1, "error = raised(error)".to_owned());
                    let normal = ways.remove(0);
                    ways.push((
                        String::new(),
                        vec![Line {
                            indent: 0,
                            text: "raise".to_owned(),
                            at: None,
                        }],
                    ));
                    branches(ways, 1, &mut inner);
                    push(&mut inner, 0, "else:".to_owned());
                    inner.extend(normal.1.into_iter().map(|l| Line {
                        indent: l.indent + 1,
                        ..l
                    }));
                }
                None => branches(ways, 0, &mut inner),
            }
            lines.extend(inner.into_iter().map(|l| Line {
                indent: l.indent + 2,
                ..l
            }));
        }
        lines
    }
}

/// `if`, `elif` and `else` of ways with conditions, the last of which is taken otherwise.
fn branches(ways: Vec<(String, Vec<Line>)>, indent: usize, out: &mut Vec<Line>) {
    let count = ways.len();
    let mut open = false;
    for (i, (condition, way)) in ways.into_iter().enumerate() {
        let last = i + 1 == count || condition.is_empty();
        let deeper = match (last, open) {
            (true, false) => 0,
            (true, true) => {
                out.push(Line {
                    indent,
                    text: "else:".to_owned(),
                    at: None,
                });
                1
            }
            (false, _) => {
                let word = if open { "elif" } else { "if" };
                out.push(Line {
                    indent,
                    text: format!("{word} {condition}:"),
                    at: None,
                });
                open = true;
                1
            }
        };
        if way.is_empty() && deeper > 0 {
            out.push(Line {
                indent: indent + 1,
                text: "pass".to_owned(),
                at: None,
            });
        }
        out.extend(way.into_iter().map(|l| Line {
            indent: l.indent + indent + deeper,
            ..l
        }));
        if last {
            break;
        }
    }
}

/// A suite without a statement at its end that does what happens there anyway.
fn without_last(mut lines: Vec<Line>, statement: &str) -> Vec<Line> {
    while lines
        .last()
        .is_some_and(|l| l.indent == 0 && l.text == statement)
    {
        lines.pop();
    }
    if lines.is_empty() {
        lines.push(Line {
            indent: 0,
            text: "pass".to_owned(),
            at: None,
        });
    }
    lines
}

impl Body<'_, '_> {
    fn is_inside(&self, a: &Around, b: BlockId) -> bool {
        a.inside[b.index()]
    }

    /// Blocks that a block is the closest dominator of, where ways meet; in order.
    fn meeting(&self, b: BlockId) -> Vec<BlockId> {
        let s = &self.w.shape;
        let all = s.order.iter().copied();
        all.filter(|m| {
            s.dominators.immediate(*m) == Some(b) && s.forward[m.index()] > 1 && !s.is_end(*m)
        })
        .collect()
    }

    /// A block with all that it dominates, in front of `follow`.
    fn tree(&mut self, b: BlockId, follow: Option<BlockId>) -> Code {
        self.written[b.index()] = true;
        let mut meeting = self.meeting(b);
        meeting.retain(|m| !self.is_behind_loop(*m));
        match self.w.shape.loops.iter().position(|l| l.header == b) {
            None => {
                let first = meeting.first().copied().or(follow);
                let code = self.block(b, first);
                self.behind(code, &meeting, follow)
            }
            Some(l) => self.looped(b, l, meeting, follow),
        }
    }

    /// Code with the blocks that come behind it.
    fn behind(&mut self, mut code: Code, blocks: &[BlockId], follow: Option<BlockId>) -> Code {
        for (i, b) in blocks.iter().enumerate() {
            let next = blocks.get(i + 1).copied().or(follow);
            let escaped = std::mem::take(&mut code.escapes);
            let resets = escaped.contains(b);
            let passing: BTreeSet<BlockId> = escaped.into_iter().filter(|e| e != b).collect();
            let mut inner = Code::default();
            if resets {
                inner.push("to = 0", None);
            }
            let tree = self.tree(*b, next);
            inner.append(tree);
            if passing.is_empty() {
                code.append(inner);
                continue;
            }
            let labels: Vec<String> = passing
                .iter()
                .map(|p| self.w.label(*p).to_string())
                .collect();
            let test = match &labels[..] {
                [one] => format!("if to != {one}:"),
                several => format!("if to not in ({}):", several.join(", ")),
            };
            code.push(test, None);
            code.falls = inner.falls;
            code.nest(inner);
            code.escapes.extend(passing);
        }
        code
    }

    fn looped(
        &mut self,
        header: BlockId,
        l: usize,
        meeting: Vec<BlockId>,
        follow: Option<BlockId>,
    ) -> Code {
        let mut inside = vec![false; self.w.shape.graph.blocks.len()];
        for b in &self.w.shape.loops[l].blocks {
            inside[b.index()] = true;
        }
        let mut after = self.after_loop(header, &inside);
        after.retain(|b| !self.is_behind_loop(*b));
        let within: Vec<BlockId> = meeting.into_iter().filter(|m| inside[m.index()]).collect();
        let behind = after.first().copied().or(follow);
        self.around.push(Around {
            header,
            inside,
            after: behind,
            behind: after.clone(),
            escapes: BTreeSet::new(),
        });
        let first = within.first().copied().unwrap_or(header);
        let code = self.block(header, Some(first));
        let body = self.behind(code, &within, Some(header));
        let around = self.around.pop().expect("it was put there");
        let mut code = Code {
            depth: body.depth + 1,
            ..Code::default()
        };
        let mut lines = body.lines;
        let mut condition = "True".to_owned();
        if let Some(leaves) = &body.leaves_if {
            condition = leaves.not().text;
            lines.drain(..2);
        }
        let at = lines.first().and_then(|l| l.at);
        code.push(
            format!("while {condition}:"),
            at.filter(|_| condition != "True"),
        );
        if body.escapes.contains(&header) {
            lines.insert(
                0,
                Line {
                    indent: 0,
                    text: "to = 0".to_owned(),
                    at: None,
                },
            );
        }
        // Where control falls off the end it goes on at the start.
        let lines = without_last(lines, "continue");
        code.lines.extend(lines.into_iter().map(|mut l| {
            l.indent += 1;
            l
        }));
        code.falls = true;
        self.leave(&mut code, around.escapes);
        self.behind(code, &after, follow)
    }

    /// Goes on, behind a loop, to what it was left for.
    fn leave(&mut self, code: &mut Code, escapes: BTreeSet<BlockId>) {
        for e in escapes {
            let Some(outer) = self.around.last() else {
                code.escapes.insert(e);
                continue;
            };
            let (is_header, stays) = (outer.header == e, self.is_inside(outer, e));
            let is_after = outer.after == Some(e);
            if !is_header && stays {
                code.escapes.insert(e);
                continue;
            }
            let label = self.w.label(e);
            code.push(format!("if to == {label}:"), None);
            let mut inner = Code::default();
            if is_header || is_after {
                inner.push("to = 0", None);
            } else if let Some(outer) = self.around.last_mut() {
                outer.escapes.insert(e);
            }
            inner.push(if is_header { "continue" } else { "break" }, None);
            code.nest(inner);
        }
    }

    /// The blocks that are written behind a loop: where ways out of it meet, and the one that its header
    /// leads to. Others are written where the loop is left.
    fn after_loop(&self, header: BlockId, inside: &[bool]) -> Vec<BlockId> {
        let s = &self.w.shape;
        let left: Vec<BlockId> = (s.order.iter().copied())
            .filter(|b| {
                !inside[b.index()]
                    && !s.is_end(*b)
                    && s.dominators
                        .immediate(*b)
                        .is_some_and(|d| inside[d.index()])
                    && s.dominators.dominates(header, *b)
            })
            .collect();
        let of_header = |b: BlockId| s.graph.block(header).exits.iter().any(|l| l.target == b);
        let after: Vec<BlockId> = (left.iter().copied())
            .filter(|b| s.forward[b.index()] > 1 || of_header(*b))
            .collect();
        match (after.is_empty(), left.last()) {
            (true, Some(last)) => vec![*last],
            _ => after,
        }
    }

    /// The statements of a block and how it goes on.
    fn block(&mut self, b: BlockId, follow: Option<BlockId>) -> Code {
        let mut code = Code::default();
        self.w.statements(b, &mut code.lines);
        let block = self.w.shape.graph.block(b);
        match &block.exitswitch {
            ExitSwitch::None => match block.exits.first() {
                Some(link) => {
                    let way = self.way(link, follow);
                    code.append(way);
                }
                None => code.falls = true,
            },
            ExitSwitch::LastException => self.guarded(b, &block.exits, follow, &mut code),
            ExitSwitch::Value(o) => {
                let value = self.w.operand(o);
                self.switch(&value, &block.exits, follow, &mut code);
            }
        }
        code
    }

    /// A link, and what it leads to where that is written here.
    fn way(&mut self, link: &Link<LowLevel>, follow: Option<BlockId>) -> Code {
        let mut code = Code::default();
        self.w.arrive(link, &mut code.lines);
        // What is left belongs to other ways.
        self.w.set_pending(Vec::new());
        let target = link.target;
        if self.w.shape.is_end(target) {
            return code;
        }
        if follow == Some(target) {
            code.falls = true;
            return code;
        }
        if let Some(innermost) = self.around.last() {
            if innermost.header == target {
                code.push("continue", None);
                return code;
            }
            if innermost.after == Some(target) && !self.is_inside(innermost, target) {
                code.push("break", None);
                return code;
            }
        }
        let forward = self.w.shape.forward[target.index()];
        if forward == 1 && !self.written[target.index()] && !self.is_behind_loop(target) {
            let tree = self.tree(target, follow);
            code.append(tree);
            return code;
        }
        let label = self.w.label(target);
        code.push(format!("to = {label}"), None);
        let leaves = (self.around.last()).is_some_and(|a| !self.is_inside(a, target));
        if leaves {
            code.push("break", None);
            if let Some(innermost) = self.around.last_mut() {
                innermost.escapes.insert(target);
            }
        } else {
            code.escapes.insert(target);
        }
        code
    }

    /// Whether a block is written behind a loop that code is in.
    fn is_behind_loop(&self, b: BlockId) -> bool {
        self.around.iter().any(|a| a.behind.contains(&b))
    }

    fn switch(
        &mut self,
        value: &Expr,
        exits: &[Link<LowLevel>],
        follow: Option<BlockId>,
        code: &mut Code,
    ) {
        let pending = self.w.pending();
        let mut ways: Vec<(Option<Expr>, Code)> = Vec::new();
        for (i, link) in exits.iter().enumerate() {
            self.w.set_pending(pending.clone());
            let condition = match i + 1 == exits.len() && self.is_exhaustive(exits) {
                true => None,
                false => self.w.case(value, &link.case),
            };
            ways.push((condition, self.way(link, follow)));
        }
        self.w.set_pending(Vec::new());
        if ways.last().is_some_and(|w| w.0.is_some()) {
            let mut wrong = Code::default();
            wrong.push("raise Fault('no case of a switch applies')", None);
            ways.push((None, wrong));
        }
        if let [(Some(condition), _), (None, _)] = &ways[..] {
            let condition = condition.clone();
            let otherwise = ways.pop().map(|w| w.1).unwrap_or_default();
            let then = ways.pop().map(|w| w.1).unwrap_or_default();
            return two_ways(condition, then, otherwise, code);
        }
        let falls = ways.iter().any(|w| w.1.falls);
        let at = code.lines.last().and_then(|l| l.at);
        for (i, (condition, way)) in ways.into_iter().enumerate() {
            match (condition, i) {
                (Some(c), 0) => code.push(format!("if {}:", c.text), at),
                (Some(c), _) => code.push(format!("elif {}:", c.text), None),
                (None, 0) => {
                    code.append(way);
                    break;
                }
                (None, _) if way.lines.is_empty() => continue,
                (None, _) => code.push("else:", None),
            }
            code.nest(way);
        }
        code.falls = falls;
    }

    fn is_exhaustive(&self, exits: &[Link<LowLevel>]) -> bool {
        exits
            .iter()
            .any(|l| matches!(l.case, ExitCase::Default | ExitCase::None))
            || exits.len() == 2 && exits.iter().all(|l| matches!(l.case, ExitCase::Bool(_)))
    }

    /// The last operation of a block, and its handlers.
    fn guarded(
        &mut self,
        b: BlockId,
        exits: &[Link<LowLevel>],
        follow: Option<BlockId>,
        code: &mut Code,
    ) {
        let Some(line) = self.w.raising(b, &mut code.lines) else {
            return;
        };
        let at = line.at;
        let pending = self.w.pending();
        let mut handlers: Vec<(String, Code)> = Vec::new();
        for link in &exits[1..] {
            self.w.set_pending(pending.clone());
            let condition = self.w.catches(link);
            let mut handler = Code::default();
            self.w.caught(link, &mut handler.lines);
            let way = self.way(link, follow);
            handler.append(way);
            handlers.push((condition, handler));
        }
        self.w.set_pending(pending);
        let normal = self.way(&exits[0], follow);
        self.w.set_pending(Vec::new());
        code.push("try:", None);
        let mut inner = Code::default();
        inner.lines.push(line);
        code.nest(inner);
        code.push("except (Raised, RecursionError) as error:", at);
        let mut caught = Code {
            depth: 1,
            ..Code::default()
        };
        caught.push("error = raised(error)", None);
        let mut falls = normal.falls;
        let ends = handlers.iter().all(|h| h.1.ends_flow());
        for (i, (condition, handler)) in handlers.into_iter().enumerate() {
            let word = if i == 0 { "if" } else { "elif" };
            caught.push(format!("{word} {condition}:"), None);
            falls |= handler.falls;
            caught.nest(handler);
        }
        caught.push("else:", None);
        let mut again = Code::default();
        again.push("raise", None);
        caught.nest(again);
        caught.depth += 1;
        code.nest(caught);
        if ends {
            let before = std::mem::take(&mut code.escapes);
            code.append(normal);
            code.escapes.extend(before);
        } else if !normal.lines.is_empty() {
            code.push("else:", None);
            code.nest(normal);
        } else {
            code.escapes.extend(normal.escapes);
        }
        code.falls = falls;
    }
}

/// `if` with one or both sides.
fn two_ways(condition: Expr, then: Code, otherwise: Code, code: &mut Code) {
    let falls = then.falls || otherwise.falls;
    let at = code.lines.last().and_then(|l| l.at);
    let is_break = |c: &Code| c.lines.len() == 1 && c.lines[0].text == "break";
    let (condition, first, second) = match () {
        () if is_break(&then) => (condition, then, otherwise),
        () if is_break(&otherwise) => (condition.not(), otherwise, then),
        () if then.ends_flow()
            && !otherwise.lines.is_empty()
            && then.lines.len() <= otherwise.lines.len() =>
        {
            (condition, then, otherwise)
        }
        () if otherwise.ends_flow() && !otherwise.lines.is_empty() => {
            (condition.not(), otherwise, then)
        }
        () if then.lines.is_empty() => (condition.not(), otherwise, then),
        () => (condition, then, otherwise),
    };
    if first.lines.is_empty() {
        // Both do nothing.
        code.falls = falls;
        code.escapes.extend(first.escapes);
        code.escapes.extend(second.escapes);
        return;
    }
    if code.lines.is_empty() && is_break(&first) {
        code.leaves_if = Some(condition.clone());
    }
    code.push(format!("if {}:", condition.text), at);
    let ends = first.ends_flow();
    code.nest(first);
    if ends {
        code.append(second);
    } else if is_if(&second) {
        let escapes = second.escapes;
        let mut lines = second.lines.into_iter();
        code.depth = code.depth.max(second.depth);
        if let Some(mut line) = lines.next() {
            line.text.insert_str(0, "el");
            code.lines.push(line);
        }
        code.lines.extend(lines);
        code.escapes.extend(escapes);
    } else if !second.lines.is_empty() {
        code.push("else:", None);
        code.nest(second);
    } else {
        code.escapes.extend(second.escapes);
    }
    code.falls = falls;
}

/// Whether code is one `if` with all that belongs to it.
fn is_if(code: &Code) -> bool {
    let mut top = code.lines.iter().filter(|l| l.indent == 0);
    top.next()
        .is_some_and(|l| l.text.starts_with("if ") && l.text.ends_with(':'))
        && top.all(|l| l.text.starts_with("elif ") || l.text == "else:")
}
