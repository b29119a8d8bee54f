mod basic;
mod incremental;
mod oracle;
mod programs;
mod work;
