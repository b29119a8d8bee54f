//! What is shown of a program: where code comes from, and pictures of graphs.

mod pictures;
mod places;
mod user;

pub(crate) use pictures::{Known, add_graph, drawn};
pub(crate) use places::Places;
pub use user::module_of;
pub(crate) use user::{User, user_of};
