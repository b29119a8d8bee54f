//! Graphs for Graphviz.

use std::fmt::Write;

use crate::Graph;
use crate::text::{GraphText, TextDialect};

/// The graph in dot: one box per block with its lines of the text form, one arrow
/// per link.
pub fn print_dot<D: TextDialect>(graph: &Graph<D>, names: D::Names) -> String {
    let text = GraphText::new(graph, names);
    let mut out = format!("digraph \"{}\" {{\n", escape(&graph.name));
    out.push_str("    node [shape=box, fontname=monospace];\n");
    let mut blocks = graph.reachable();
    for b in [graph.returnblock, graph.exceptblock] {
        if !blocks.contains(&b) {
            blocks.push(b);
        }
    }
    for b in blocks {
        let lines: String = (text.block_lines(b).iter())
            .map(|l| escape(l) + "\\l")
            .collect();
        // Writing to a string does not fail.
        let _ = writeln!(out, "    b{} [label=\"{lines}\"];", b.0);
        for link in &graph.block(b).exits {
            let _ = writeln!(
                out,
                "    b{} -> b{} [label=\"{}\"];",
                b.0,
                link.target.0,
                escape(&text.link_label(link))
            );
        }
    }
    out.push_str("}\n");
    out
}

fn escape(s: &str) -> String {
    s.replace('\\', "\\\\").replace('"', "\\\"")
}
