//! Boxes of text and arrows between them, laid out and written as SVG.
//!
//! Owns what pictures look like: fonts, colours for light and dark surroundings, the way
//! of arrows. Layout is dugong's, a port of dagre: layers, few crossings, short arrows.
//!
//! **Architecture invariants.** Knows no compiler: who wants a picture says what stands in
//! the boxes. The same picture always becomes the same text.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod flame;
mod layout;
mod model;
mod svg;

pub use flame::flame_graph;
pub use model::{Direction, Edge, Line, Node, Picture, Span};
pub use svg::svg;

use std::fmt;

/// More boxes than this are no picture that anybody could read, and take long to lay out.
pub const MOST_NODES: usize = 700;

/// Why there is no picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoPicture {
    /// It would have so many boxes.
    TooLarge(usize),
    /// The layout failed.
    NoLayout(String),
}

impl fmt::Display for NoPicture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoPicture::TooLarge(n) => write!(
                f,
                "a picture of {n} boxes could not be read ({MOST_NODES} are the most)"
            ),
            NoPicture::NoLayout(why) => write!(f, "no layout was found: {why}"),
        }
    }
}
