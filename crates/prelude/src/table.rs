/// Every shipped file: path below `<taipan>/` and text, sorted by path.
pub static SHIPPED: &[(&str, &str)] = &[
    ("rpython/__init__.py", include_str!("rpython/__init__.py")),
    (
        "taipan_prelude/__init__.py",
        include_str!("taipan_prelude/__init__.py"),
    ),
];
