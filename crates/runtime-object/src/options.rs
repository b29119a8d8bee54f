// How the runtime is compiled: a part of the build script, for the machine that Taipan runs on, and
// of the crate, for others.

/// Options of rustc.
const OPTIONS: &[&str] = &[
    "--crate-name",
    "taipan_runtime",
    "--crate-type",
    "staticlib",
    "--edition",
    "2024",
    "--cfg",
    "taipan_standalone",
    "--cap-lints",
    "allow",
    "-C",
    "opt-level=3",
    "-C",
    "panic=abort",
    "-C",
    "force-unwind-tables=yes",
    "-C",
    "lto=fat",
    "-C",
    "codegen-units=1",
    "-C",
    "relocation-model=pic",
];

/// The member of an archive that is the crate itself, after link-time optimisation: the largest.
/// The others are helpers of the compiler that the C library's own ones replace.
fn largest_object(archive: &[u8]) -> Option<&[u8]> {
    let mut objects = Vec::new();
    let mut at = 8;
    while let Some(header) = archive.get(at..at + 60) {
        let size: usize = std::str::from_utf8(&header[48..58])
            .ok()?
            .trim()
            .parse()
            .ok()?;
        let content = archive.get(at + 60..at + 60 + size)?;
        // The tables of symbols and of long names come first.
        if content.starts_with(b"\x7fELF") || content.starts_with(b"\0asm") {
            objects.push(content);
        }
        at += 60 + size + size % 2;
    }
    objects.into_iter().max_by_key(|o| o.len())
}
