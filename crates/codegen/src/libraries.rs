//! The C libraries of a program, as the C compiler gets them.

use rustc_hash::FxHashSet;
use taipan_lltype::{CLibrary, FuncSym, SHIPPED_HEADERS, library_of};
use taipan_platform::{Libraries, Source};

/// The libraries that these functions are from, with what connects them with the program.
pub fn c_libraries(functions: &[FuncSym]) -> Libraries {
    let mut out = Libraries::default();
    let shipped = SHIPPED_HEADERS.iter();
    (out.headers).extend(shipped.map(|(name, text)| ((*name).to_owned(), (*text).to_owned())));
    // Descriptions of a library that differ (in the declaration of a variable, say) may
    // bring the same sources.
    let mut brought = FxHashSet::default();
    for (library, functions) in by_library(functions) {
        out.headers.extend(library.headers.iter().cloned());
        out.states.push(library.state.clone());
        let own = (library.sources.iter()).filter(|s| brought.insert(*s));
        let texts = (own.map(|s| library.with_header(s))).chain([library.stubs(&functions)]);
        out.sources.extend(texts.map(Source::Text));
        let files = library.files.iter().filter(|f| brought.insert(*f));
        (out.sources).extend(files.map(|f| Source::File(f.into())));
        let option = |o: &str, values: &[String], to: &mut Vec<String>| {
            to.extend(values.iter().map(|v| format!("{o}{v}")));
        };
        option("-I", &library.include_dirs, &mut out.compile);
        option("", &library.compile_extra, &mut out.compile);
        option("-L", &library.library_dirs, &mut out.link);
        option("-Wl,-rpath,", &library.library_dirs, &mut out.link);
        option("-l", &library.libraries, &mut out.link);
        option("", &library.link_extra, &mut out.link);
    }
    out
}

/// The functions of each library.
fn by_library(functions: &[FuncSym]) -> Vec<(&CLibrary, Vec<&FuncSym>)> {
    let mut out: Vec<(&CLibrary, Vec<&FuncSym>)> = Vec::new();
    for f in functions {
        let Some(library) = library_of(f) else {
            continue;
        };
        match out.iter_mut().find(|(l, _)| *l == library) {
            Some((_, fs)) => fs.push(f),
            None => out.push((library, vec![f])),
        }
    }
    out
}
