//! From graph to text.

use std::fmt::{self, Display, Formatter};

use super::TextDialect;
use crate::{BlockId, ExitCase, ExitSwitch, Graph, Link, Operand, VarId};

/// A graph's text, with names for what it mentions.
pub struct GraphText<'a, D: TextDialect> {
    graph: &'a Graph<D>,
    names: D::Names,
    declarations: String,
    /// What is said of the place of an instruction, if that is wanted.
    places: Option<Box<dyn Fn(u32) -> Option<String> + 'a>>,
}

/// The text form of a graph, declarations included.
pub fn print_graph<D: TextDialect>(graph: &Graph<D>, names: D::Names) -> String {
    GraphText::new(graph, names).to_string()
}

impl<'a, D: TextDialect> GraphText<'a, D> {
    /// With these names; the dialect adds what it declares itself.
    pub fn new(graph: &'a Graph<D>, mut names: D::Names) -> Self {
        let declarations = D::declare(graph, &mut names);
        GraphText {
            graph,
            names,
            declarations,
            places: None,
        }
    }

    /// With a comment before operations that came from another place than those before
    /// them: what `place` says of their instructions.
    pub fn with_places(mut self, place: impl Fn(u32) -> Option<String> + 'a) -> Self {
        self.places = Some(Box::new(place));
        self
    }

    /// Without the declarations: shorter, but a parser needs them.
    pub fn without_declarations(mut self) -> Self {
        self.declarations.clear();
        self
    }
}

/// A line of a block.
pub struct TextLine {
    /// Its parts.
    pub pieces: Vec<Piece>,
    /// The instruction that the operation in it came from.
    pub at: Option<u32>,
}

/// A part of a line.
pub enum Piece {
    /// The name of the block.
    Head(String),
    /// A variable.
    Var(VarId, String),
    /// The type of the variable before it, with what separates them.
    Type(String),
    /// An operation.
    Op(String),
    /// A constant.
    Const(String),
    /// Punctuation.
    Text(String),
}

impl Piece {
    /// What is printed.
    pub fn text(&self) -> &str {
        match self {
            Piece::Head(t)
            | Piece::Var(_, t)
            | Piece::Type(t)
            | Piece::Op(t)
            | Piece::Const(t)
            | Piece::Text(t) => t,
        }
    }
}

/// A closure as something to print.
struct Fmt<F>(F);

impl<F: Fn(&mut Formatter<'_>) -> fmt::Result> Display for Fmt<F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0(f)
    }
}

impl<D: TextDialect> Display for GraphText<'_, D> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.declarations)?;
        let g = self.graph;
        writeln!(f, "graph {}", g.name)?;
        for b in g.reachable() {
            if b != g.returnblock && b != g.exceptblock {
                self.block(b, f)?;
            }
        }
        for b in [g.returnblock, g.exceptblock] {
            writeln!(
                f,
                "{}({})",
                self.label(b),
                self.list(&g.block(b).inputargs, |v| self.def(*v))
            )?;
        }
        Ok(())
    }
}

impl<D: TextDialect> GraphText<'_, D> {
    /// The head of a block and its operations, a line each.
    pub(crate) fn block_lines(&self, b: BlockId) -> Vec<String> {
        let lines = self.lines(b).into_iter();
        lines
            .map(|l| l.pieces.iter().map(Piece::text).collect())
            .collect()
    }

    /// The same in pieces, for pictures.
    pub fn lines(&self, b: BlockId) -> Vec<TextLine> {
        let block = self.graph.block(b);
        let mut head = vec![Piece::Head(self.label(b).to_string())];
        head.push(Piece::Text("(".to_owned()));
        for (i, v) in block.inputargs.iter().enumerate() {
            if i > 0 {
                head.push(Piece::Text(", ".to_owned()));
            }
            self.def_pieces(*v, &mut head);
        }
        head.push(Piece::Text(")".to_owned()));
        let mut lines = vec![TextLine {
            pieces: head,
            at: None,
        }];
        for op in &block.operations {
            let mut pieces = Vec::new();
            self.def_pieces(op.result, &mut pieces);
            pieces.push(Piece::Text(" = ".to_owned()));
            pieces.push(Piece::Op(op.op.to_string()));
            pieces.push(Piece::Text("(".to_owned()));
            for (i, a) in op.args.iter().enumerate() {
                if i > 0 {
                    pieces.push(Piece::Text(", ".to_owned()));
                }
                pieces.push(self.operand_piece(a));
            }
            pieces.push(Piece::Text(")".to_owned()));
            lines.push(TextLine {
                pieces,
                at: Some(op.at),
            });
        }
        if let ExitSwitch::Value(o) = &block.exitswitch {
            lines.push(TextLine {
                pieces: vec![
                    Piece::Op("switch".to_owned()),
                    Piece::Text(" ".to_owned()),
                    self.operand_piece(o),
                ],
                at: None,
            });
        }
        lines
    }

    fn def_pieces(&self, v: VarId, out: &mut Vec<Piece>) {
        let name = self.var(v).to_string();
        let whole = self.def(v).to_string();
        let ty = whole.strip_prefix(&*name).unwrap_or_default().to_owned();
        out.push(Piece::Var(v, name));
        if !ty.is_empty() {
            out.push(Piece::Type(ty));
        }
    }

    fn operand_piece(&self, o: &Operand<D>) -> Piece {
        let text = self.operand(o).to_string();
        match o {
            Operand::Var(v) => Piece::Var(*v, text),
            Operand::Const(_) => Piece::Const(text),
        }
    }

    /// A block as it stands in the text: a line for its head, one for each operation, and
    /// those of its exits.
    pub fn block_text(&self, b: BlockId) -> String {
        Fmt(|f: &mut Formatter<'_>| self.block(b, f)).to_string()
    }

    /// The case and the arguments of a link.
    pub fn link_label(&self, link: &Link<D>) -> String {
        let args = self.list(&link.args, |a| self.operand(a));
        match link.case {
            ExitCase::None => format!("({args})"),
            _ => format!("{}: ({args})", self.case(link)),
        }
    }

    fn block(&self, b: BlockId, f: &mut Formatter<'_>) -> fmt::Result {
        let block = self.graph.block(b);
        writeln!(
            f,
            "{}({}):",
            self.label(b),
            self.list(&block.inputargs, |v| self.def(*v))
        )?;
        let mut place = None;
        for op in &block.operations {
            if let Some(places) = &self.places {
                let here = places(op.at);
                if let (Some(text), true) = (&here, here != place) {
                    writeln!(f, "    ; {text}")?;
                }
                place = here;
            }
            write!(
                f,
                "    {} = {}({})",
                self.def(op.result),
                op.op,
                self.list(&op.args, |a| self.operand(a))
            )?;
            match op.at {
                0 => writeln!(f)?,
                at => writeln!(f, " @{at}")?,
            }
        }
        match &block.exitswitch {
            ExitSwitch::None => match &block.exits[..] {
                [] => return writeln!(f, "    stop"),
                [link] if link.case == ExitCase::None => {
                    return writeln!(f, "    goto {}", self.target(link));
                }
                _ => writeln!(f, "    switch")?,
            },
            ExitSwitch::Value(o) => writeln!(f, "    switch {}", self.operand(o))?,
            ExitSwitch::LastException => writeln!(f, "    canraise")?,
        }
        for link in &block.exits {
            writeln!(f, "        {}: {}", self.case(link), self.target(link))?;
        }
        Ok(())
    }

    fn label(&self, b: BlockId) -> impl Display {
        Fmt(move |f: &mut Formatter<'_>| {
            if b == self.graph.returnblock {
                f.write_str("return")
            } else if b == self.graph.exceptblock {
                f.write_str("except")
            } else {
                write!(f, "block{}", b.0)
            }
        })
    }

    fn target<'b>(&'b self, link: &'b Link<D>) -> impl Display + 'b {
        Fmt(move |f: &mut Formatter<'_>| {
            write!(
                f,
                "{}({})",
                self.label(link.target),
                self.list(&link.args, |a| self.operand(a))
            )
        })
    }

    fn case<'b>(&'b self, link: &'b Link<D>) -> impl Display + 'b {
        Fmt(move |f: &mut Formatter<'_>| match &link.case {
            ExitCase::None => f.write_str("ok"),
            ExitCase::Bool(true) => f.write_str("True"),
            ExitCase::Bool(false) => f.write_str("False"),
            ExitCase::Default => f.write_str("default"),
            ExitCase::Value(c) => D::fmt_const(c, &self.names, f),
            ExitCase::Exception(c) => {
                D::fmt_const(c, &self.names, f)?;
                let var = |v: Option<VarId>| {
                    Fmt(move |f: &mut Formatter<'_>| match v {
                        Some(v) => self.def(v).fmt(f),
                        None => f.write_str("_"),
                    })
                };
                write!(
                    f,
                    "({}, {})",
                    var(link.last_exception),
                    var(link.last_exc_value)
                )
            }
        })
    }

    fn var(&self, v: VarId) -> impl Display {
        Fmt(move |f: &mut Formatter<'_>| {
            match self.graph.vars.get(v.index()).map_or("", |d| &*d.name) {
                "" => write!(f, "v{}", v.0),
                name => write!(f, "{name}_{}", v.0),
            }
        })
    }

    fn def(&self, v: VarId) -> impl Display {
        Fmt(move |f: &mut Formatter<'_>| {
            self.var(v).fmt(f)?;
            match self.graph.vars.get(v.index()) {
                Some(d) => D::fmt_ty(&d.ty, &self.names, f),
                None => Ok(()),
            }
        })
    }

    fn operand<'b>(&'b self, o: &'b Operand<D>) -> impl Display + 'b {
        Fmt(move |f: &mut Formatter<'_>| match o {
            Operand::Var(v) => self.var(*v).fmt(f),
            Operand::Const(c) => D::fmt_const(c, &self.names, f),
        })
    }

    fn list<'b, T, P: Display + 'b>(
        &'b self,
        items: &'b [T],
        print: impl Fn(&'b T) -> P + 'b,
    ) -> impl Display + 'b {
        Fmt(move |f: &mut Formatter<'_>| {
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    f.write_str(", ")?;
                }
                print(item).fmt(f)?;
            }
            Ok(())
        })
    }
}
