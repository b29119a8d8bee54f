//! The image: what import time leaves, how a heap becomes one and comes back from it for memo calls,
//! and the queries that show it.

pub mod constants;
pub(crate) mod data;
pub(crate) mod failed_statements;
pub(crate) mod freeze_methods;
pub(crate) mod heap_to_image;
pub(crate) mod image_changes;
pub(crate) mod image_to_heap;
pub(crate) mod import_time;
pub(crate) mod memo;
pub(crate) mod memo_changes;
pub(crate) mod mixins;
pub(crate) mod names;
pub(crate) mod queries;
pub(crate) mod records;
pub(crate) mod synthetic;
