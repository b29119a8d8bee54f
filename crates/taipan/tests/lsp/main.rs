//! The language server as an editor sees it: a client on the pipes of the real binary.

mod broken;
mod client;
mod features;
mod hierarchy;
mod random_keystrokes;
mod session;
