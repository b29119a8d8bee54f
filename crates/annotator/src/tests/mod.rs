mod incremental;
