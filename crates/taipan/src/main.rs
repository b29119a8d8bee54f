//! The `taipan` command.

fn main() {}
