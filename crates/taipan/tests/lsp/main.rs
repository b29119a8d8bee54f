//! The language server as an editor sees it: a client on the pipes of the real binary.

#[path = "../untrusted/attacks.rs"]
mod attacks;
mod broken;
mod client;
mod endless;
mod features;
mod hierarchy;
mod messages;
mod random_keystrokes;
mod random_versions;
mod session;
mod untrusted;
