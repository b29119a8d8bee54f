mod basic;
mod incremental;
mod oracle;
mod origins;
mod programs;
mod work;
