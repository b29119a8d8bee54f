mod basic;
mod incremental;
mod oracle;
