//! The files of the page.

/// Path, type and contents of each.
const FILES: &[(&str, &str, &str)] = &[
    ("/", HTML, include_str!("../page/index.html")),
    ("/style.css", CSS, include_str!("../page/style.css")),
    ("/app.js", JS, include_str!("../page/app.js")),
    ("/util.js", JS, include_str!("../page/util.js")),
    ("/function.js", JS, include_str!("../page/function.js")),
    ("/calls.js", JS, include_str!("../page/calls.js")),
    ("/classes.js", JS, include_str!("../page/classes.js")),
    ("/timeline.js", JS, include_str!("../page/timeline.js")),
    ("/jit.js", JS, include_str!("../page/jit.js")),
    ("/problems.js", JS, include_str!("../page/problems.js")),
];

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

/// Type and contents of a file.
pub(crate) fn page(path: &str) -> Option<(&'static str, &'static str)> {
    let found = FILES.iter().find(|(p, ..)| *p == path)?;
    Some((found.1, found.2))
}
