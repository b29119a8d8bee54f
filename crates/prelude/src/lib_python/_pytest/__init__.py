"""Modules of pytest's own that others import."""
