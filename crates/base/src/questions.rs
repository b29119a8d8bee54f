//! Questions to programs of the machine, and their answers: constants of C headers, where libraries are.
//!
//! An answer is a file of the database, at a path that its question has ([`ANSWERS`]): what a program makes of
//! it depends on its text alone, and [`crate::sync`] reads it again as it does any other. It is up to
//! date if nothing has changed that it was made from: what compiler and linker have read, the compiler
//! itself, and the variables that tell it where to look. Answers of the C compiler outlive the process in
//! a folder of the user's cache, by question.

use std::collections::HashMap;
use std::hash::Hash as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fs, iter};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use taipan_language::Machine;
use taipan_platform::{
    Blake3, CAnswered, CObject, IsWanted, ask_c_compiler, ask_tool, c_compiler, compile_shared,
    file_identity, find_library, is_system, library_folder, state_of, user_cache_folder,
};
pub use taipan_platform::{CAnswer, CQuestion, ToolQuestion, Wanted};

use crate::FileContents;

/// The folder whose files are answers.
pub const ANSWERS: &str = "<answers>";

/// A question to a program of the machine.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Question {
    /// To the C compiler.
    Compiler(CQuestion),
    /// To pkg-config and its like.
    Tool(ToolQuestion),
    /// Under which name a library is loaded.
    Library {
        /// The machine of the programs that load it.
        machine: Machine,
        /// Its name, without what all libraries have in common.
        name: String,
    },
}

/// Variables that tell C compilers and tools where to look.
const VARIABLES: &[&str] = &[
    "PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "LIBRARY_PATH",
    "LD_LIBRARY_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "SYSROOT",
    "PKG_CONFIG_PATH",
    "PKG_CONFIG_LIBDIR",
];

/// The questions that were asked in a database, with their answers.
#[derive(Default)]
pub struct Questions {
    asked: Mutex<HashMap<Utf8PathBuf, Asked>>,
    /// Compiled shared code of questions, by its sources besides files.
    shared: Mutex<HashMap<Utf8PathBuf, Arc<Shared>>>,
    /// Answers of other processes do not count, nor are any left to them.
    is_alone: AtomicBool,
}

struct Asked {
    question: Question,
    record: Record,
    /// It was answered just now.
    is_new: bool,
}

/// Code that questions share.
struct Shared {
    object: CObject,
    about: String,
    /// The state of each input.
    states: Vec<String>,
}

/// An answer with what it was made from.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    /// The compiler, and the variables that it sees.
    about: String,
    /// Files and what there was.
    inputs: Vec<(PathBuf, String)>,
    answer: Answer,
    /// The compiler came to a limit: asking again would take as long.
    exceeded: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Answer {
    Said(String),
    Refused(String),
    Forbidden(String),
}

/// Tags of the serialised results, one per variant.
const KINDS: [&str; 3] = ["said\n", "refused\n", "forbidden\n"];

impl Questions {
    /// Asks a question and returns the path of its answer; None if the answer is not wanted any more.
    pub fn ask(&self, question: Question, is_wanted: IsWanted<'_>) -> Option<Utf8PathBuf> {
        let path = path_of(&question);
        if self.lock().contains_key(&path) {
            return Some(path);
        }
        let record = self.answered(&path, &question, is_wanted)?;
        let asked = Asked {
            question,
            record,
            is_new: true,
        };
        self.lock().insert(path.clone(), asked);
        Some(path)
    }

    /// The answer at a path.
    pub(crate) fn read(&self, path: &Utf8Path) -> FileContents {
        let (question, record) = {
            let mut all = self.lock();
            let Some(asked) = all.get_mut(path) else {
                return FileContents::Missing;
            };
            if std::mem::take(&mut asked.is_new) {
                return asked.record.contents();
            }
            (asked.question.clone(), asked.record.clone())
        };
        if record.is_fresh(&question) {
            return record.contents();
        }
        let Some(record) = self.answered(path, &question, &|| true) else {
            return FileContents::Missing;
        };
        let contents = record.contents();
        if let Some(asked) = self.lock().get_mut(path) {
            asked.record = record;
        }
        contents
    }

    /// The files of the answer at a path that programs bring along: those outside of the system's folders.
    pub fn files_of(&self, path: &Utf8Path) -> Vec<Utf8PathBuf> {
        let all = self.lock();
        let inputs = all.get(path).map(|asked| &asked.record.inputs);
        let own = inputs.into_iter().flatten().filter(|(f, _)| !is_system(f));
        own.filter_map(|(f, _)| Utf8PathBuf::from_path_buf(f.clone()).ok())
            .collect()
    }

    /// The answers that were made from one of these files.
    pub(crate) fn made_from(&self, files: &[Utf8PathBuf]) -> Vec<Utf8PathBuf> {
        let is_one = |f: &Path| files.iter().any(|file| file.as_std_path() == f);
        let all = self.lock();
        let concerned = (all.iter())
            .filter(|(_, asked)| asked.record.inputs.iter().any(|(f, _)| is_one(f)))
            .map(|(path, _)| path.clone());
        let mut concerned: Vec<Utf8PathBuf> = concerned.collect();
        // The map has no order.
        concerned.sort();
        concerned
    }

    /// From now on answers of other processes count, or do not.
    pub fn keep(&self, on: bool) {
        self.is_alone.store(!on, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Utf8PathBuf, Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer that an earlier process has left, or a new one; None if it is not wanted any more.
    fn answered(
        &self,
        path: &Utf8Path,
        question: &Question,
        is_wanted: IsWanted<'_>,
    ) -> Option<Record> {
        ASKED.store(true, Ordering::Relaxed);
        let about = about(question);
        Some(match question {
            Question::Compiler(question) => {
                match self.compiled(path, question, &about, is_wanted) {
                    Ok(record) => record,
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => return None,
                    Err(e) => Record {
                        about,
                        inputs: Vec::new(),
                        answer: Answer::Refused(e.to_string()),
                        exceeded: false,
                    },
                }
            }
            Question::Tool(question) => Record {
                about,
                inputs: Vec::new(),
                answer: ask_tool(question).into(),
                exceeded: false,
            },
            Question::Library { machine, name } => Record {
                about,
                inputs: Vec::new(),
                answer: match find_library(*machine, name) {
                    Some(file) => Answer::Said(file),
                    None => Answer::Refused(String::new()),
                },
                exceeded: false,
            },
        })
    }

    fn compiled(
        &self,
        path: &Utf8Path,
        question: &CQuestion,
        about: &str,
        is_wanted: IsWanted<'_>,
    ) -> io::Result<Record> {
        let folder = answers_folder()?;
        let keeps = !self.is_alone.load(Ordering::Relaxed);
        let kept = folder.join(path.file_name().unwrap_or_default());
        if keeps
            && let Some(record) = read_record(&kept)
            && record.about == about
            && record.inputs_are_fresh()
        {
            return Ok(record);
        }
        let work = Work::new(&folder)?;
        let CAnswered {
            answer,
            inputs,
            exceeded,
        } = match self.shared(question, about, &work.0, is_wanted)? {
            Ok(shared) => {
                let shared = shared.as_ref().map(|s| &s.object);
                ask_c_compiler(question, shared, &work.0, is_wanted)?
            }
            Err(answer) => CAnswered {
                answer,
                inputs: Vec::new(),
                exceeded: false,
            },
        };
        let record = Record {
            about: about.to_owned(),
            inputs: inputs
                .into_iter()
                .map(|f| (f.clone(), state_of(&f)))
                .collect(),
            answer: answer.into(),
            exceeded,
        };
        if keeps && matches!(record.answer, Answer::Said(_)) {
            // Without the copy the next process asks again.
            let made = work.0.join("answer");
            let text = serde_json::to_string(&record).map_err(io::Error::other)?;
            let _ = fs::write(&made, text).and_then(|()| fs::rename(&made, &kept));
        }
        Ok(record)
    }
}

impl Questions {
    /// The compiled shared code of a question, from an earlier question or compiled now; None if the question has none. The
    /// inner error is the refusal of the C compiler.
    fn shared(
        &self,
        question: &CQuestion,
        about: &str,
        folder: &Path,
        is_wanted: IsWanted<'_>,
    ) -> io::Result<Result<Option<Arc<Shared>>, CAnswer>> {
        if question.shared.is_empty() {
            return Ok(Ok(None));
        }
        let key = path_of(&Question::Compiler(CQuestion {
            source: String::new(),
            wanted: Wanted::Constants,
            ..question.clone()
        }));
        let all = || self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all().get(&key).cloned();
        if let Some(known) = known
            && known.about == about
            && known.is_fresh()
        {
            return Ok(Ok(Some(known)));
        }
        Ok(match compile_shared(question, folder, is_wanted)? {
            Ok(object) => {
                let made = Arc::new(Shared {
                    about: about.to_owned(),
                    states: object.inputs.iter().map(|f| state_of(f)).collect(),
                    object,
                });
                all().insert(key, made.clone());
                Ok(Some(made))
            }
            Err(answer) => Err(answer),
        })
    }
}

impl Shared {
    fn is_fresh(&self) -> bool {
        let mut inputs = self.object.inputs.iter().zip(&self.states);
        inputs.all(|(f, state)| state_of(f) == *state)
    }
}

impl Record {
    fn contents(&self) -> FileContents {
        let [said, refused, forbidden] = KINDS;
        let text = match &self.answer {
            Answer::Said(text) => format!("{said}{text}"),
            Answer::Refused(text) => format!("{refused}{text}"),
            Answer::Forbidden(text) => format!("{forbidden}{text}"),
        };
        FileContents::Text(text.into())
    }

    /// Whether the stored result is still valid: no input file changed. False for tools, whose inputs are
    /// unknown.
    fn is_fresh(&self, question: &Question) -> bool {
        let is_compilers = matches!(question, Question::Compiler(_));
        let is_known = self.exceeded || matches!(self.answer, Answer::Said(_));
        is_compilers && is_known && self.about == about(question) && self.inputs_are_fresh()
    }

    fn inputs_are_fresh(&self) -> bool {
        self.inputs.iter().all(|(f, state)| state_of(f) == *state)
    }
}

impl From<CAnswer> for Answer {
    fn from(answer: CAnswer) -> Answer {
        match answer {
            CAnswer::Said(text) => Answer::Said(text),
            CAnswer::Refused(text) => Answer::Refused(text),
            CAnswer::Forbidden(text) => Answer::Forbidden(text),
        }
    }
}

/// An answer, from its text in the database.
pub fn answer_of(text: &str) -> CAnswer {
    let [said, refused, forbidden] = KINDS;
    if let Some(text) = text.strip_prefix(said) {
        return CAnswer::Said(text.to_owned());
    }
    match text.strip_prefix(forbidden) {
        Some(text) => CAnswer::Forbidden(text.to_owned()),
        None => CAnswer::Refused(text.strip_prefix(refused).unwrap_or(text).to_owned()),
    }
}

/// The folder of one question, gone when it is answered.
struct Work(PathBuf);

impl Work {
    fn new(folder: &Path) -> io::Result<Work> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = folder.join(format!("{}-{number}", std::process::id()));
        // A process of that number may have been killed.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder)?;
        Ok(Work(folder))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Where answers of the C compiler are kept.
fn answers_folder() -> io::Result<PathBuf> {
    let folder = user_cache_folder()?.join("answers");
    match fs::create_dir(&folder) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
        _ => Ok(folder),
    }
}

/// Removes all stored results and shared objects of the C compiler, or only counts them. Returns their number.
pub fn forget_answers(only_count: bool) -> io::Result<usize> {
    let mut files = 0;
    let all = fs::read_dir(answers_folder()?)?.chain(fs::read_dir(library_folder()?)?);
    for entry in all {
        let entry = entry?;
        if !entry.file_type()?.is_file() {
            continue;
        }
        files += 1;
        if !only_count {
            // Another process may be cleaning, too.
            match fs::remove_file(entry.path()) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
    }
    Ok(files)
}

fn read_record(file: &Path) -> Option<Record> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// The inputs of a question besides its text: the compiler and the variables that it reads.
fn about(question: &Question) -> String {
    let compiler = match question {
        Question::Compiler(question) => match c_compiler(question.machine) {
            Ok(cc) => file_identity(&cc).unwrap_or_else(|| cc.to_string_lossy().into_owned()),
            Err(why) => why,
        },
        Question::Tool(_) | Question::Library { .. } => String::new(),
    };
    let variables = VARIABLES.iter().map(|name| {
        let value = std::env::var_os(name).unwrap_or_default();
        format!("{name}={}", value.to_string_lossy())
    });
    let all: Vec<String> = iter::once(compiler).chain(variables).collect();
    all.join("\n")
}

/// File name of a stored result: the BLAKE3 hash of its question.
fn path_of(question: &Question) -> Utf8PathBuf {
    let mut h = Blake3(blake3::Hasher::new());
    question.hash(&mut h);
    // Relative folders are those of the process.
    std::env::current_dir().ok().hash(&mut h);
    Utf8Path::new(ANSWERS).join(h.0.finalize().to_hex().as_str())
}

static ASKED: AtomicBool = AtomicBool::new(false);

/// Where it stands whether this process has asked anything: part of what databases are about.
pub fn asked_table() -> taipan_heap::StaticTable {
    taipan_heap::StaticTable::of(&ASKED)
}

/// Whether this process has asked anything: then what it works out depends on more than
/// the files of programs.
pub fn asked_c_compiler() -> bool {
    ASKED.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(expression: &str, folder: &Path) -> Question {
        Question::Compiler(CQuestion {
            machine: Machine::HOST,
            source: format!("#include <cfg.h>\nconst long long taipan_i_0 = {expression};\n"),
            shared: String::new(),
            options: vec![format!("-I{}", folder.display())],
            headers: Vec::new(),
            wanted: Wanted::Constants,
            trusted: false,
        })
    }

    #[test]
    fn shared_code_follows_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let header = folder.path().join("cfg.h");
        let call = |n: u32| {
            let source = format!(
                "#include <stdio.h>\nint more(int);\nint main(void) {{ printf(\"%d\", more({n})); return 0; }}\n"
            );
            Question::Compiler(CQuestion {
                machine: Machine::HOST,
                source,
                shared: "#include <cfg.h>\nint more(int n) { return n + LIMIT; }\n".to_owned(),
                options: vec![format!("-I{}", folder.path().display())],
                headers: Vec::new(),
                wanted: Wanted::Output,
                trusted: false,
            })
        };
        let questions = Questions::default();
        questions.keep(false);
        let said = |n| {
            let path = questions.ask(call(n), &|| true).unwrap();
            text(questions.read(&path))
        };
        fs::write(&header, "#define LIMIT 5\n").unwrap();
        assert_eq!(said(1), "said\n6");
        assert_eq!(said(2), "said\n7");
        assert_eq!(questions.shared.lock().unwrap().len(), 1);
        fs::write(&header, "#define LIMIT 50\n").unwrap();
        assert_eq!(said(3), "said\n53");
        assert_eq!(said(1), "said\n51");
    }

    fn text(contents: FileContents) -> String {
        match contents {
            FileContents::Text(text) => text.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn answers_follow_what_they_were_made_from() {
        let folder = tempfile::tempdir().unwrap();
        let header = folder.path().join("cfg.h");
        let questions = Questions::default();
        let path = questions
            .ask(constant("LIMIT", folder.path()), &|| true)
            .unwrap();
        assert_eq!(answer_kind(&questions, &path), "refused");
        // It is looked for where it is to be.
        let file = Utf8PathBuf::from_path_buf(header.clone()).unwrap();
        assert_eq!(questions.files_of(&path), std::slice::from_ref(&file));
        fs::write(&header, "#define LIMIT 5\n").unwrap();
        let made = questions.made_from(std::slice::from_ref(&file));
        assert_eq!(made, std::slice::from_ref(&path));
        assert_eq!(text(questions.read(&path)), "said\n0 i 5\n");
        assert_eq!(questions.files_of(&path), [file]);
        fs::write(&header, "#define LIMIT 7\n").unwrap();
        assert_eq!(text(questions.read(&path)), "said\n0 i 7\n");
        // Another process's.
        let others = Questions::default();
        fs::write(&header, "#define LIMIT 9\n").unwrap();
        assert_eq!(
            others.ask(constant("LIMIT", folder.path()), &|| true),
            Some(path.clone())
        );
        assert_eq!(text(others.read(&path)), "said\n0 i 9\n");
        assert_eq!(
            others.read(Utf8Path::new("<answers>/other")),
            FileContents::Missing
        );
    }

    fn answer_kind(questions: &Questions, path: &Utf8Path) -> String {
        let text = text(questions.read(path));
        text.lines().next().unwrap_or_default().to_owned()
    }
}
