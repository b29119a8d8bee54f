//! Where boxes and arrows are.

use dugong::graphlib::{EdgeKey, Graph, GraphOptions};
use dugong::{EdgeLabel, GraphLabel, LabelPos, NodeLabel, RankDir};

use crate::{Direction, MOST_NODES, NoPicture, Picture};

/// Width of a character, and height of a line, of the font that pictures use.
pub(crate) const CHAR: f64 = 7.25;
/// See [`CHAR`].
pub(crate) const LINE: f64 = 16.0;
/// Between the frame of a box and its text.
pub(crate) const PAD: f64 = 8.0;
/// A character of labels.
pub(crate) const SMALL: f64 = 6.05;
/// Around everything.
const MARGIN: f64 = 12.0;

/// Beyond this many boxes layers are found the quick way.
const MANY: usize = 150;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

pub(crate) struct Way {
    pub(crate) points: Vec<(f64, f64)>,
    /// The middle of its label.
    pub(crate) label: Option<(f64, f64)>,
}

pub(crate) struct Layout {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) nodes: Vec<Rect>,
    pub(crate) edges: Vec<Way>,
}

pub(crate) fn layout(picture: &Picture, labels: &[String]) -> Result<Layout, NoPicture> {
    if picture.nodes.len() > MOST_NODES {
        return Err(NoPicture::TooLarge(picture.nodes.len()));
    }
    let mut graph: Graph<NodeLabel, EdgeLabel, GraphLabel> = Graph::new(GraphOptions {
        multigraph: true,
        ..GraphOptions::default()
    });
    let (nodesep, ranksep) = match picture.direction {
        Direction::Down => (28.0, 34.0),
        Direction::Right => (10.0, 60.0),
    };
    graph.set_graph(GraphLabel {
        rankdir: match picture.direction {
            Direction::Down => RankDir::TB,
            Direction::Right => RankDir::LR,
        },
        nodesep,
        ranksep,
        edgesep: 14.0,
        marginx: MARGIN,
        marginy: MARGIN,
        ranker: (picture.nodes.len() > MANY).then(|| "longest-path".to_owned()),
        ..GraphLabel::default()
    });
    // Letters keep dagre from sorting them as JavaScript sorts numbers.
    let id = |n: usize| format!("n{n}");
    for (i, node) in picture.nodes.iter().enumerate() {
        let columns = node.lines.iter().map(|l| l.columns()).max().unwrap_or(0);
        let label = NodeLabel {
            width: (columns as f64).mul_add(CHAR, 2.0 * PAD).ceil(),
            height: (node.lines.len() as f64).mul_add(LINE, PAD + 2.0),
            ..NodeLabel::default()
        };
        graph.set_node(id(i), label);
    }
    let mut keys = Vec::with_capacity(picture.edges.len());
    for (i, (edge, text)) in picture.edges.iter().zip(labels).enumerate() {
        let key = EdgeKey::new(id(edge.from), id(edge.to), Some(format!("e{i}")));
        let columns = text.chars().count() as f64;
        let label = EdgeLabel {
            width: match text.is_empty() {
                true => 0.0,
                false => columns.mul_add(SMALL, 6.0),
            },
            height: if text.is_empty() { 0.0 } else { 14.0 },
            labelpos: LabelPos::C,
            weight: 1.0,
            ..EdgeLabel::default()
        };
        graph.set_edge_key(key.clone(), label);
        keys.push(key);
    }
    dugong::layout(&mut graph).map_err(|e| NoPicture::NoLayout(e.to_string()))?;
    let missing = || NoPicture::NoLayout("a box has no place".to_owned());
    let mut nodes = Vec::with_capacity(picture.nodes.len());
    for i in 0..picture.nodes.len() {
        let label = graph.node(&id(i)).ok_or_else(missing)?;
        let (x, y) = label.x.zip(label.y).ok_or_else(missing)?;
        nodes.push(Rect {
            x: x - label.width / 2.0,
            y: y - label.height / 2.0,
            width: label.width,
            height: label.height,
        });
    }
    let mut edges = Vec::with_capacity(keys.len());
    for (key, text) in keys.iter().zip(labels) {
        let label = graph.edge_by_key(key).ok_or_else(missing)?;
        edges.push(Way {
            points: label.points.iter().map(|p| (p.x, p.y)).collect(),
            label: label.x.zip(label.y).filter(|_| !text.is_empty()),
        });
    }
    let size = graph.graph();
    Ok(Layout {
        width: size.width,
        height: size.height,
        nodes,
        edges,
    })
}
