//! Which build of Taipan this is: entries of one build mean nothing to another.

use std::os::unix::fs::MetadataExt;
use std::sync::LazyLock;

use super::{Key, KeyHasher};

/// The identity of the running executable. Two executables that could make different
/// entries have different ones.
pub fn build_id() -> Key {
    static ID: LazyLock<Key> = LazyLock::new(|| {
        let mut h = KeyHasher::new("build");
        h.text(env!("CARGO_PKG_VERSION"));
        match linker_note() {
            Some(note) => h.text("note").bytes(&note),
            None => h.text("file").text(&executable_state()),
        };
        h.finish()
    });
    *ID
}

/// The hash of the executable that the linker left in it, if it did.
fn linker_note() -> Option<Vec<u8>> {
    unsafe extern "C" fn visit(
        info: *mut libc::dl_phdr_info,
        _: usize,
        out: *mut libc::c_void,
    ) -> i32 {
        // SAFETY: `info` describes an object that is loaded, and `out` is the caller's.
        unsafe {
            let info = &*info;
            let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
            for h in headers.iter().filter(|h| h.p_type == libc::PT_NOTE) {
                let start = (info.dlpi_addr + h.p_vaddr) as *const u8;
                let notes = std::slice::from_raw_parts(start, h.p_memsz as usize);
                if let Some(id) = gnu_build_id(notes) {
                    *out.cast::<Option<Vec<u8>>>() = Some(id.to_vec());
                }
            }
        }
        // The first object is the executable itself.
        1
    }
    let mut out: Option<Vec<u8>> = None;
    // SAFETY: the callback gets a pointer to `out`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut out).cast()) };
    out.filter(|id| id.len() >= 8)
}

/// The build id among ELF notes.
fn gnu_build_id(mut notes: &[u8]) -> Option<&[u8]> {
    const NT_GNU_BUILD_ID: u32 = 3;
    loop {
        let word =
            |i: usize| Some(u32::from_ne_bytes(notes.get(i..i + 4)?.try_into().ok()?) as usize);
        let (name_len, id_len, kind) = (word(0)?, word(4)?, word(8)?);
        let id_at = 12 + name_len.next_multiple_of(4);
        let id = notes.get(id_at..id_at + id_len)?;
        if kind == NT_GNU_BUILD_ID as usize && notes.get(12..16) == Some(b"GNU\0") {
            return Some(id);
        }
        notes = notes.get(id_at + id_len.next_multiple_of(4)..)?;
    }
}

/// What changes whenever the executable file is written or replaced.
fn executable_state() -> String {
    match std::fs::metadata("/proc/self/exe") {
        Ok(m) => format!(
            "{} {} {} {}.{} {}.{}",
            m.dev(),
            m.ino(),
            m.size(),
            m.mtime(),
            m.mtime_nsec(),
            m.ctime(),
            m.ctime_nsec()
        ),
        // Nothing is known about the executable: nobody shares its entries.
        Err(_) => format!("{:?} {}", std::time::SystemTime::now(), std::process::id()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_searched_for_the_build_id() {
        let mut notes = Vec::new();
        for (name, kind, id) in [
            (&b"GNU\0"[..], 1u32, &b"abcdefgh"[..]),
            (b"Xen\0", 3, b"12345"),
            (b"GNU\0", 3, b"the build id"),
        ] {
            notes.extend((name.len() as u32).to_ne_bytes());
            notes.extend((id.len() as u32).to_ne_bytes());
            notes.extend(kind.to_ne_bytes());
            notes.extend(name);
            notes.extend(id);
            notes.resize(notes.len().next_multiple_of(4), 0);
        }
        assert_eq!(gnu_build_id(&notes), Some(&b"the build id"[..]));
        for n in 0..notes.len() - 12 {
            assert_eq!(gnu_build_id(&notes[..n]), None);
        }
    }
}
