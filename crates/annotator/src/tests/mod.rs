mod basic;
mod incremental;
mod joins;
mod oracle;
mod origins;
mod programs;
mod unknown;
mod work;
