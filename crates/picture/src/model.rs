//! What a picture shows.

/// Which way arrows lead.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Direction {
    /// From the top to the bottom.
    #[default]
    Down,
    /// From the left to the right.
    Right,
}

/// Boxes and arrows.
#[derive(Clone, Default, Debug)]
pub struct Picture {
    /// What it is of, for those who cannot see it.
    pub title: String,
    /// Which way arrows lead.
    pub direction: Direction,
    /// The boxes.
    pub nodes: Vec<Node>,
    /// The arrows.
    pub edges: Vec<Edge>,
}

/// A box.
#[derive(Clone, Default, Debug)]
pub struct Node {
    /// A name by which scripts find it (`data-key`).
    pub key: String,
    /// What kind it is: `start`, `return`, `except`, `here`, `cold`, or empty.
    pub class: &'static str,
    /// Its text.
    pub lines: Vec<Line>,
}

/// A line of text.
#[derive(Clone, Default, Debug)]
pub struct Line {
    /// Its parts.
    pub spans: Vec<Span>,
    /// The line of the source that it is about (`data-line`).
    pub source: Option<u32>,
}

/// A part of a line.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Span {
    /// Its text.
    pub text: String,
    /// What it is: `op`, `var`, `const`, `type`, `head`, `note`, `green`, `red`, or empty.
    pub class: &'static str,
    /// What all parts about the same thing share (`data-name`).
    pub name: Option<String>,
    /// What is shown when the pointer rests on it.
    pub title: Option<String>,
}

/// An arrow.
#[derive(Clone, Default, Debug)]
pub struct Edge {
    /// Number of the box where it starts.
    pub from: usize,
    /// Number of the box where it ends.
    pub to: usize,
    /// What stands beside it.
    pub label: String,
    /// What kind it is: `true`, `false`, `raise`, or empty.
    pub class: &'static str,
}

impl Span {
    /// Text of a class.
    pub fn new(text: impl Into<String>, class: &'static str) -> Span {
        Span {
            text: text.into(),
            class,
            ..Span::default()
        }
    }
}

impl Line {
    /// A line of one part.
    pub fn of(text: impl Into<String>, class: &'static str) -> Line {
        Line {
            spans: vec![Span::new(text, class)],
            source: None,
        }
    }

    /// How many characters it has.
    pub fn columns(&self) -> usize {
        self.spans.iter().map(|s| s.text.chars().count()).sum()
    }
}
