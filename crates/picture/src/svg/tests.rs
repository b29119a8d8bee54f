use super::*;
use crate::layout::CHAR;
use crate::{Direction, Edge, MOST_NODES, Node, svg};

fn node(key: &str, lines: &[&str]) -> Node {
    Node {
        key: key.to_owned(),
        class: "",
        lines: lines.iter().map(|l| Line::of(*l, "")).collect(),
    }
}

fn edge(from: usize, to: usize, label: &str) -> Edge {
    Edge {
        from,
        to,
        label: label.to_owned(),
        class: "",
    }
}

/// A diamond whose last box leads back to the first, and a box that leads to itself.
fn diamond() -> Picture {
    Picture {
        title: "a <diamond>".to_owned(),
        direction: Direction::Down,
        nodes: vec![
            node("a", &["first", "x < 1 && y"]),
            node("b", &["left"]),
            node("c", &["right, which is longer"]),
            node("d", &["last"]),
        ],
        edges: vec![
            edge(0, 1, "True"),
            edge(0, 2, "False"),
            edge(1, 3, ""),
            edge(2, 3, ""),
            edge(3, 0, "again"),
            edge(2, 2, "itself"),
        ],
    }
}

fn overlap(a: &Rect, b: &Rect) -> bool {
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

#[test]
fn boxes_lie_in_layers_and_do_not_overlap() {
    let picture = diamond();
    let labels: Vec<String> = picture.edges.iter().map(|e| e.label.clone()).collect();
    let l = layout(&picture, &labels).unwrap();
    for (i, a) in l.nodes.iter().enumerate() {
        assert!(a.x >= 0.0 && a.x + a.width <= l.width, "{a:?}");
        assert!(a.y >= 0.0 && a.y + a.height <= l.height, "{a:?}");
        for b in &l.nodes[i + 1..] {
            assert!(!overlap(a, b), "{a:?} {b:?}");
        }
    }
    assert!(l.nodes[0].y < l.nodes[1].y && l.nodes[1].y < l.nodes[3].y);
    for (way, e) in l.edges.iter().zip(&picture.edges) {
        assert!(way.points.len() >= 2, "{e:?}");
        assert_eq!(way.label.is_some(), !e.label.is_empty(), "{e:?}");
    }
}

#[test]
fn text_is_escaped_and_the_picture_the_same_each_time() {
    let picture = diamond();
    let text = svg(&picture).unwrap();
    assert!(text.contains("x &lt; 1 &amp;&amp; y"), "{text}");
    assert!(text.contains("<title>a &lt;diamond&gt;</title>"), "{text}");
    assert!(!text.contains("NaN"), "{text}");
    assert_eq!(text.matches("class=\"tp-node\"").count(), 4);
    assert_eq!(text.matches("class=\"tp-way\"").count(), 6);
    for _ in 0..3 {
        assert_eq!(svg(&picture).unwrap(), text);
    }
}

#[test]
fn long_lines_are_cut_and_shown_whole_on_hover() {
    let long = "word ".repeat(60);
    let picture = Picture {
        nodes: vec![node("a", &[&long])],
        ..Picture::default()
    };
    let text = svg(&picture).unwrap();
    assert!(text.contains(&format!("<title>{long}</title>")), "{text}");
    assert!(
        text.contains("…</tspan>") || text.contains("…</text>"),
        "{text}"
    );
    let width = text.split("width=\"").nth(1).unwrap();
    let width: f64 = width.split('"').next().unwrap().parse().unwrap();
    assert!(width < (MOST_COLUMNS as f64 + 6.0) * CHAR, "{width}");
}

#[test]
fn a_picture_that_nobody_could_read_is_refused() {
    let picture = Picture {
        nodes: (0..=MOST_NODES)
            .map(|i| node(&i.to_string(), &["x"]))
            .collect(),
        ..Picture::default()
    };
    assert_eq!(svg(&picture), Err(NoPicture::TooLarge(MOST_NODES + 1)));
}

#[test]
fn large_graphs_have_pictures() {
    // A switch in a loop, as interpreters have them.
    let n = MOST_NODES - 1;
    let mut picture = Picture {
        nodes: (0..=n)
            .map(|i| node(&i.to_string(), &["line"; 4]))
            .collect(),
        ..Picture::default()
    };
    for i in 1..=n {
        picture
            .edges
            .push(edge(if i % 5 == 1 { 0 } else { i - 1 }, i, "case"));
        if i % 5 == 0 {
            picture.edges.push(edge(i, 0, ""));
        }
    }
    let text = svg(&picture).unwrap();
    assert_eq!(text.matches("class=\"tp-node\"").count(), n + 1);
}
