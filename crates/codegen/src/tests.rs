//! Data and images of a small hand-made program.
