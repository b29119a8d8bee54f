//! Files as salsa inputs over a virtual file system.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Read as _;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use salsa::Setter;

use crate::environment::ENVIRONMENT;
use crate::{ANSWERS, Db, LoadOptions, Program, Questions, declares_latin1, environment};

/// A source file, existing or not: asking for a missing file makes an input too, so
/// that its creation re-runs who asked.
#[salsa::input(debug)]
pub struct File {
    /// Absolute path, or `<taipan>/...` for what ships inside the binary.
    #[returns(ref)]
    pub path: Utf8PathBuf,
    /// Its contents, or why there are none.
    #[returns(ref)]
    pub contents: FileContents,
    /// The texts that an open buffer had before, the oldest first, as far as they matter: what cannot
    /// be compiled of the present one is taken from the last of them in which it could.
    #[returns(ref)]
    pub earlier: EarlierTexts,
}

/// The earlier texts of an open buffer, the oldest first.
pub type EarlierTexts = Arc<[Arc<str>]>;

/// Contents of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FileContents {
    /// Its text, without a byte order mark.
    Text(Arc<str>),
    /// There is no such file.
    Missing,
    /// It is a directory: the names of what is in it, sorted; Taipan's own cache and
    /// names that are not UTF-8 left out.
    Directory(Arc<[Box<str>]>),
    /// Bytes that are not valid UTF-8 (and have no latin-1 coding line).
    InvalidUtf8 {
        /// What is there.
        bytes: Arc<[u8]>,
        /// The same with replacement characters: the text up to the first one is what it says.
        text: Arc<str>,
    },
    /// Any other reason, as the system puts it.
    Unreadable(Arc<str>),
}

impl File {
    /// The text; empty where there is none.
    pub fn text(self, db: &dyn Db) -> &str {
        match self.contents(db) {
            FileContents::Text(text) | FileContents::InvalidUtf8 { text, .. } => text,
            _ => "",
        }
    }

    /// Where the text stops being valid UTF-8, if it does.
    pub fn valid_up_to(self, db: &dyn Db) -> Option<usize> {
        match self.contents(db) {
            FileContents::InvalidUtf8 { bytes, .. } => {
                std::str::from_utf8(bytes).err().map(|e| e.valid_up_to())
            }
            _ => None,
        }
    }

    /// Whether it is there and is a file.
    pub fn exists(self, db: &dyn Db) -> bool {
        !matches!(
            self.contents(db),
            FileContents::Missing | FileContents::Directory(_)
        )
    }
}

/// Access to the outside world. Real for the command line, in memory for tests.
pub trait System: Send + Sync {
    /// Reads a file.
    fn read(&self, path: &Utf8Path) -> FileContents;

    /// The earlier texts of a file that stand in for what is broken in the present one
    /// ([`File::earlier`]). Files on disk have none.
    fn earlier(&self, _path: &Utf8Path) -> EarlierTexts {
        EarlierTexts::default()
    }

    /// The folder that people work in, whose files they know by relative paths
    /// ([`crate::shown_path`]). It is the same as long as the system lives.
    fn current_folder(&self) -> Option<&Utf8Path> {
        None
    }

    /// The questions to programs of the machine, and their answers, which are files at paths of their own
    /// ([`crate::ANSWERS`]). None where there are no such programs.
    fn questions(&self) -> Option<&Questions> {
        None
    }
}

/// The name of the folder in which Taipan keeps what later processes can use: no part
/// of any program.
pub const CACHE_FOLDER: &str = ".taipan-cache";

/// Whether what is at a path may change while nobody says so: not what ships with Taipan, nor the
/// environment, nor what follows from other files.
pub fn is_on_disk(path: &Utf8Path) -> bool {
    !path.starts_with(SHIPPED) && !path.starts_with(ANSWERS) && !path.starts_with(ENVIRONMENT)
}

/// The prefix of the paths of shipped files.
pub const SHIPPED: &str = "<taipan>";

/// Files of the machine, with the modules that ship inside the binary on top.
pub struct OsSystem {
    shipped: Shipped,
    questions: Questions,
    current_folder: Option<Utf8PathBuf>,
}

impl OsSystem {
    /// `shipped` are the paths below `<taipan>/` and texts of what ships with the
    /// binary.
    pub fn new(shipped: &'static [(&'static str, &'static str)]) -> Self {
        OsSystem {
            shipped: Shipped::new(shipped),
            questions: Questions::default(),
            current_folder: camino::absolute_utf8(".").ok(),
        }
    }
}

/// What ships inside the binary.
struct Shipped {
    files: HashMap<Utf8PathBuf, &'static str>,
    folders: HashMap<Utf8PathBuf, BTreeSet<Box<str>>>,
}

impl Shipped {
    fn new(all: &'static [(&'static str, &'static str)]) -> Shipped {
        let mut shipped = Shipped {
            files: HashMap::new(),
            folders: HashMap::new(),
        };
        for (path, text) in all {
            let path = Utf8Path::new(SHIPPED).join(path);
            for inner in path.ancestors() {
                if let (Some(folder), Some(name)) = (inner.parent(), inner.file_name())
                    && folder.starts_with(SHIPPED)
                {
                    let names = shipped.folders.entry(folder.to_owned()).or_default();
                    names.insert(name.into());
                }
            }
            shipped.files.insert(path, text);
        }
        shipped
    }

    fn read(&self, path: &Utf8Path) -> FileContents {
        if let Some(text) = self.files.get(path) {
            return FileContents::Text((*text).into());
        }
        match self.folders.get(path) {
            Some(names) => FileContents::Directory(names.iter().cloned().collect()),
            None => FileContents::Missing,
        }
    }
}

/// Bytes to text: UTF-8, or latin-1 where a comment on the first two lines says so.
pub fn decode(bytes: Vec<u8>) -> FileContents {
    if declares_latin1(&bytes) {
        let text: String = bytes.iter().map(|b| *b as char).collect();
        return FileContents::Text(text.into());
    }
    match String::from_utf8(bytes) {
        Ok(t) => {
            let t = t.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(t);
            FileContents::Text(t.into())
        }
        Err(e) => FileContents::InvalidUtf8 {
            text: String::from_utf8_lossy(e.as_bytes()).into(),
            bytes: e.into_bytes().into(),
        },
    }
}

/// Bytes of the largest file that is read: a sparse file of any size takes no room on the disk.
const LARGEST_FILE: u64 = 256 << 20;

/// The contents of a regular file, or what is there instead: devices, pipes and sockets may never
/// end, or wait for somebody who writes. There is nothing in `/dev/null`.
fn read_file(path: &Utf8Path) -> std::io::Result<Result<Vec<u8>, &'static str>> {
    let other = |kind: std::fs::FileType| match () {
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    };
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(std::io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        return Ok(if path == "/dev/null" {
            Ok(Vec::new())
        } else {
            Err(other(kind))
        });
    }
    // It may be something else by now, and opening a pipe would wait.
    let mut file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Ok(Err(other(meta.file_type())));
    }
    if meta.len() > LARGEST_FILE {
        return Ok(Err("larger than 256 MiB"));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Ok(bytes))
}

/// Lists a directory.
fn list(path: &Utf8Path) -> FileContents {
    let entries = match std::fs::read_dir(path) {
        Ok(e) => e,
        Err(e) => return FileContents::Unreadable(e.to_string().into()),
    };
    let mut names: Vec<Box<str>> = entries
        .filter_map(|e| e.ok()?.file_name().into_string().ok())
        .filter(|name| name != CACHE_FOLDER)
        .map(Into::into)
        .collect();
    names.sort();
    FileContents::Directory(names.into())
}

impl System for OsSystem {
    fn read(&self, path: &Utf8Path) -> FileContents {
        if path.starts_with(SHIPPED) {
            return self.shipped.read(path);
        }
        if path.starts_with(ANSWERS) {
            return self.questions.read(path);
        }
        if path.starts_with(ENVIRONMENT) {
            return environment::read(path);
        }
        match read_file(path) {
            Ok(Ok(bytes)) => decode(bytes),
            Ok(Err(kind)) => FileContents::Unreadable(kind.into()),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => FileContents::Missing,
            Err(e) if e.kind() == std::io::ErrorKind::NotADirectory => FileContents::Missing,
            Err(e) if e.kind() == std::io::ErrorKind::IsADirectory => list(path),
            Err(e) => FileContents::Unreadable(e.to_string().into()),
        }
    }

    fn current_folder(&self) -> Option<&Utf8Path> {
        self.current_folder.as_deref()
    }

    fn questions(&self) -> Option<&Questions> {
        Some(&self.questions)
    }
}

/// A file system in memory, for tests and editors; shipped files are there too.
pub struct MemorySystem {
    shipped: Shipped,
    questions: Questions,
    files: Mutex<HashMap<Utf8PathBuf, (Arc<str>, EarlierTexts)>>,
}

impl MemorySystem {
    /// An empty one, with these shipped files.
    pub fn new(shipped: &'static [(&'static str, &'static str)]) -> Self {
        MemorySystem {
            shipped: Shipped::new(shipped),
            questions: Questions::default(),
            files: Mutex::default(),
        }
    }

    /// Puts a file there. A database that has read it must be told with [`sync`].
    pub fn write(&self, path: impl Into<Utf8PathBuf>, text: &str) {
        self.write_buffer(path, text, EarlierTexts::default());
    }

    /// The same for an open buffer, with the texts that it had before.
    pub fn write_buffer(&self, path: impl Into<Utf8PathBuf>, text: &str, earlier: EarlierTexts) {
        let mut files = self.files.lock().unwrap();
        files.insert(path.into(), (text.into(), earlier));
    }

    /// Takes a file away.
    pub fn remove(&self, path: &Utf8Path) {
        self.files.lock().unwrap().remove(path);
    }
}

impl System for MemorySystem {
    fn read(&self, path: &Utf8Path) -> FileContents {
        if path.starts_with(SHIPPED) {
            return self.shipped.read(path);
        }
        if path.starts_with(ANSWERS) {
            return self.questions.read(path);
        }
        let files = self.files.lock().unwrap();
        if let Some((text, _)) = files.get(path) {
            return FileContents::Text(text.clone());
        }
        let mut names: Vec<Box<str>> = files
            .keys()
            .filter_map(|f| f.strip_prefix(path).ok()?.components().next())
            .map(|c| c.as_str().into())
            .collect();
        if names.is_empty() {
            return FileContents::Missing;
        }
        names.sort();
        names.dedup();
        FileContents::Directory(names.into())
    }

    fn earlier(&self, path: &Utf8Path) -> EarlierTexts {
        let files = self.files.lock().unwrap();
        files.get(path).map(|f| f.1.clone()).unwrap_or_default()
    }

    fn questions(&self) -> Option<&Questions> {
        Some(&self.questions)
    }
}

/// The files asked for so far, by path.
#[derive(Clone, Default)]
pub struct Files {
    by_path: Arc<Mutex<HashMap<Utf8PathBuf, File>>>,
    prelude: Arc<OnceLock<Program>>,
    /// What programs asked for while they were compiled.
    asked: Arc<Mutex<HashMap<Program, HashSet<Utf8PathBuf>>>>,
    /// Paths where there is nothing, in this revision.
    missing: Arc<Mutex<HashSet<File>>>,
}

fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Files {
    /// The file at an absolute path; it is read when first asked for.
    pub fn get(&self, db: &dyn Db, path: &Utf8Path) -> File {
        let mut map = lock(&self.by_path);
        if let Some(f) = map.get(path) {
            return *f;
        }
        let durability = if path.starts_with(SHIPPED) {
            salsa::Durability::HIGH
        } else {
            salsa::Durability::LOW
        };
        let contents = db.system().read(path);
        let missing = contents == FileContents::Missing;
        let file = File::builder(path.to_owned(), contents, db.system().earlier(path))
            .durability(durability)
            .new(db);
        map.insert(path.to_owned(), file);
        if missing {
            lock(&self.missing).insert(file);
        }
        file
    }

    /// Whether there is nothing at a file's path. Most paths that imports are looked for at
    /// are such: whoever asks that often can read the contents themselves as its
    /// dependency, once it knows that there are none.
    pub fn is_missing(&self, db: &dyn Db, file: File) -> bool {
        lock(&self.missing).contains(&file) && *file.contents(db) == FileContents::Missing
    }

    /// The file at an absolute path, asked for by what a program executes while it is
    /// compiled.
    pub fn get_for(&self, db: &dyn Db, program: Program, path: &Utf8Path) -> File {
        let mut asked = lock(&self.asked);
        let paths = asked.entry(program).or_default();
        if !paths.contains(path) {
            paths.insert(path.to_owned());
        }
        drop(asked);
        self.get(db, path)
    }

    /// The files that a program has asked for, in any revision.
    pub fn asked_by(&self, program: Program) -> BTreeSet<Utf8PathBuf> {
        let asked = lock(&self.asked);
        asked.get(&program).into_iter().flatten().cloned().collect()
    }

    /// Whether any program has asked for what is at a path, in any revision.
    pub fn is_asked(&self, path: &Utf8Path) -> bool {
        let asked = lock(&self.asked);
        asked.values().any(|paths| paths.contains(path))
    }

    /// The program of the `ll_*` helpers: it has no entry point and its image is that
    /// of `taipan_prelude`.
    pub fn prelude(&self, db: &dyn Db) -> Program {
        *self.prelude.get_or_init(|| {
            let target = Utf8Path::new(SHIPPED).join("taipan_prelude/__init__.py");
            Program::builder(target, LoadOptions::limited(vec![], u64::MAX))
                .durability(salsa::Durability::HIGH)
                .new(db)
        })
    }

    /// All files asked for so far, sorted by path.
    pub fn known(&self) -> Vec<(Utf8PathBuf, File)> {
        let map = lock(&self.by_path);
        let mut all: Vec<_> = map.iter().map(|(p, f)| (p.clone(), *f)).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }
}

/// Reads these files anew and sets the inputs of those whose contents changed.
/// Answers which did.
pub fn sync<DB: Db>(db: &mut DB, paths: &[Utf8PathBuf]) -> Vec<Utf8PathBuf> {
    let mut changed = Vec::new();
    // What comes or goes changes the listing of its folder.
    let folders = paths.iter().filter_map(|p| p.parent());
    let answers = db.system().questions().map(|q| q.made_from(paths));
    let answers = answers.unwrap_or_default();
    let all = paths.iter().chain(&answers).map(|p| &**p).chain(folders);
    let all: BTreeSet<&Utf8Path> = all.collect();
    for path in all {
        let known = lock(&db.files().by_path).get(path).copied();
        let Some(file) = known else { continue };
        let contents = db.system().read(path);
        let earlier = db.system().earlier(path);
        if *file.earlier(db) != earlier {
            file.set_earlier(db).to(earlier);
        }
        if *file.contents(db) != contents {
            let mut missing = lock(&db.files().missing);
            if contents == FileContents::Missing {
                missing.insert(file);
            } else {
                missing.remove(&file);
            }
            drop(missing);
            file.set_contents(db).to(contents);
            // An answer follows from a file that has changed.
            if !path.starts_with(ANSWERS) {
                changed.push(path.to_owned());
            }
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_not_read() {
        let system = OsSystem::new(&[]);
        let never_ends = system.read(Utf8Path::new("/dev/zero"));
        assert!(matches!(never_ends, FileContents::Unreadable(_)));
        let nothing = system.read(Utf8Path::new("/dev/null"));
        assert_eq!(nothing, FileContents::Text("".into()));
    }

    #[test]
    fn pipes_and_sockets_are_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let (pipe, socket) = (folder.join("pipe.py"), folder.join("socket.py"));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let system = OsSystem::new(&[]);
        assert_eq!(
            system.read(&pipe),
            FileContents::Unreadable("a pipe".into())
        );
        let there = system.read(&socket);
        assert_eq!(there, FileContents::Unreadable("a socket".into()));
        assert!(matches!(system.read(folder), FileContents::Directory(_)));
    }
}
