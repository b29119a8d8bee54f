//! Graphs as pictures.

use taipan_graph::text::{GraphText, Piece, TextDialect};
use taipan_graph::{BlockId, ExitCase, Graph, VarId};
use taipan_picture::{Edge, Line, NoPicture, Node, Picture, Span};

use crate::fault::Failure;

/// What is known of the variables and operations of a graph beside what stands in it.
pub(crate) struct Known<'a> {
    /// What is shown when the pointer rests on a variable.
    pub(crate) title: &'a dyn Fn(VarId) -> Option<String>,
    /// How a variable is coloured.
    pub(crate) class: &'a dyn Fn(VarId) -> &'static str,
    /// The line of the source that an instruction came from.
    pub(crate) line: &'a dyn Fn(u32) -> Option<u32>,
}

/// Adds a graph to a picture: one box per block with its lines of the text form, one arrow
/// per link.
pub(crate) fn add_graph<D: TextDialect>(
    picture: &mut Picture,
    graph: &Graph<D>,
    names: D::Names,
    known: &Known<'_>,
) {
    if picture.title.is_empty() {
        picture.title = format!("graph of {}", graph.name);
    }
    let text = GraphText::new(graph, names);
    let mut blocks = graph.reachable();
    // What cannot be reached is not worth a box.
    let first = picture.nodes.len();
    let number = |blocks: &[BlockId], b: BlockId| {
        let at = blocks.iter().position(|x| *x == b);
        at.map_or(first, |at| first + at)
    };
    // The return block comes last, so that it is drawn below the others of its layer.
    blocks.sort_by_key(|b| *b == graph.returnblock || *b == graph.exceptblock);
    for b in &blocks {
        let mut lines: Vec<Line> = Vec::new();
        if *b == graph.startblock {
            lines.push(Line::of(format!("graph {}", graph.name), "note"));
        }
        for line in text.lines(*b) {
            lines.push(Line {
                spans: line.pieces.iter().map(|p| span(p, known)).collect(),
                source: line.at.and_then(known.line),
            });
        }
        picture.nodes.push(Node {
            key: format!("{}:{}", graph.name, b.0),
            class: match b {
                b if *b == graph.startblock => "start",
                b if *b == graph.returnblock => "return",
                b if *b == graph.exceptblock => "except",
                _ => "",
            },
            lines,
        });
        for link in &graph.block(*b).exits {
            picture.edges.push(Edge {
                from: number(&blocks, *b),
                to: number(&blocks, link.target),
                label: match text.link_label(link) {
                    label if label == "()" => String::new(),
                    label => label,
                },
                class: match link.case {
                    ExitCase::Bool(true) => "true",
                    ExitCase::Bool(false) => "false",
                    ExitCase::Exception(_) => "raise",
                    _ => "",
                },
            });
        }
    }
}

fn span(piece: &Piece, known: &Known<'_>) -> Span {
    let text = piece.text();
    match piece {
        Piece::Var(v, _) => Span {
            text: text.to_owned(),
            class: match (known.class)(*v) {
                "" => "var",
                class => class,
            },
            name: Some(text.to_owned()),
            title: (known.title)(*v),
        },
        Piece::Head(_) => Span::new(text, "head"),
        Piece::Type(_) => Span::new(text, "type"),
        Piece::Op(_) => Span::new(text, "op"),
        Piece::Const(_) => Span::new(text, "const"),
        Piece::Text(_) => Span::new(text, ""),
    }
}

/// The picture as SVG.
pub(crate) fn drawn(picture: &Picture) -> Result<String, Failure> {
    taipan_picture::svg(picture).map_err(|why| {
        Failure::Usage(match why {
            NoPicture::TooLarge(_) => format!("{why}: choose one function as FILE.py:FUNC"),
            NoPicture::NoLayout(_) => why.to_string(),
        })
    })
}
