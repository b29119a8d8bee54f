//! Flame graphs: how often each function was running, and for which callers.
//!
//! Callers stand above their callees; a box is as wide as the part of the samples that it is in. Boxes of the same
//! function have the same colour, boxes of one module similar colours. The picture is a page of SVG without scripts: a box
//! shows its whole name, its samples and its share as a tooltip.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::svg::escape;

/// Width of the picture, and height of a row.
const WIDTH: f64 = 1200.0;
const ROW: f64 = 18.0;
/// Boxes that are narrower are left out, with all below them.
const NARROWEST: f64 = 0.3;
/// Width of a letter.
const LETTER: f64 = 6.6;

/// A function with its callees.
#[derive(Default)]
struct Node<'a> {
    samples: u64,
    callees: BTreeMap<&'a str, Node<'a>>,
}

/// The picture of stacks, each with its number of samples: functions, the outermost one first, separated by `;`.
pub fn flame_graph<'a>(stacks: impl IntoIterator<Item = (&'a str, u64)>) -> String {
    let mut root = Node::default();
    for (stack, samples) in stacks {
        root.samples += samples;
        let mut at = &mut root;
        for function in stack.split(';') {
            at = at.callees.entry(function).or_default();
            at.samples += samples;
        }
    }
    let mut graph = Graph {
        total: root.samples,
        rows: 0,
        boxes: String::new(),
    };
    let all = format!("all, {} samples", root.samples);
    graph.add(&all, &root, 0.0, 0);
    let height = ROW * graph.rows as f64;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\">\n\
         <style>text {{ font: 11px ui-monospace, monospace; fill: #1c1c1c; pointer-events: none }} rect:hover {{ stroke: #1c1c1c }}</style>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fdfdfb\"/>\n{}</svg>\n",
        graph.boxes
    )
}

struct Graph {
    total: u64,
    rows: usize,
    boxes: String,
}

impl Graph {
    /// Adds a function at a place in a row, and its callees.
    fn add(&mut self, name: &str, node: &Node<'_>, x: f64, row: usize) {
        let share = match self.total {
            // The box of all, which has no samples.
            0 => 1.0,
            total => node.samples as f64 / total as f64,
        };
        let width = share * WIDTH;
        if width < NARROWEST {
            return;
        }
        self.rows = self.rows.max(row + 1);
        let y = ROW * row as f64;
        let letters = ((width - 6.0).max(0.0) / LETTER) as usize;
        let text: String = match name.chars().count() <= letters {
            true => name.to_owned(),
            false if letters > 3 => name.chars().take(letters - 1).chain(['…']).collect(),
            false => String::new(),
        };
        let (tooltip, colour) = (escape(name), colour(name));
        let _ = writeln!(
            self.boxes,
            "<g><title>{tooltip}: {} samples, {:.1}%</title>\
             <rect x=\"{x:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"{}\" fill=\"{colour}\"/>\
             <text x=\"{:.2}\" y=\"{}\">{}</text></g>",
            node.samples,
            100.0 * share,
            ROW - 1.0,
            x + 3.0,
            y + 13.0,
            escape(&text)
        );
        let mut x = x;
        for (name, callee) in &node.callees {
            self.add(name, callee, x, row + 1);
            x += callee.samples as f64 / self.total.max(1) as f64 * WIDTH;
        }
    }
}

/// A warm colour: its hue by the module, its lightness by the whole name.
fn colour(name: &str) -> String {
    let hash = |text: &str| {
        let bytes = text.bytes();
        bytes.fold(5381_u32, |h, b| {
            h.wrapping_mul(33).wrapping_add(u32::from(b))
        })
    };
    let module = name.split('.').next().unwrap_or(name);
    format!("hsl({}, 75%, {}%)", hash(module) % 60, 62 + hash(name) % 16)
}

#[cfg(test)]
mod tests {
    use super::flame_graph;

    #[test]
    fn boxes_are_as_wide_as_their_share() {
        let svg = flame_graph([("m.main;m.run", 3), ("m.main;m.<lambda>", 1), ("m.main", 4)]);
        let boxes: Vec<&str> = svg.lines().filter(|l| l.starts_with("<g>")).collect();
        let found: Vec<String> = boxes
            .iter()
            .map(|b| {
                let part = |from: &str, to: &str| {
                    let rest = b.split(from).nth(1).unwrap();
                    rest.split(to).next().unwrap().to_owned()
                };
                let text = [
                    part("<title>", "</title>"),
                    part(" x=\"", "\""),
                    part("width=\"", "\""),
                ];
                text.join(" | ")
            })
            .collect();
        assert_eq!(
            found,
            [
                "all, 8 samples: 8 samples, 100.0% | 0.00 | 1200.00",
                "m.main: 8 samples, 100.0% | 0.00 | 1200.00",
                "m.&lt;lambda&gt;: 1 samples, 12.5% | 0.00 | 150.00",
                "m.run: 3 samples, 37.5% | 150.00 | 450.00",
            ]
        );
        assert!(flame_graph([]).contains("all, 0 samples"));
    }
}
