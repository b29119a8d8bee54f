//! What runs again after an edit.

mod back_ends;
mod damaged_cache;
mod jit_walls;
mod walls;
