//! What a module for Python offers, as import time finds it: the shipped module
//! `_taipan_extension` looks at the live objects, so decorators have run.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use taipan_base::{Db, Diagnostic, ErrorCode, File, Program, Span};
use taipan_graph::ObjId;
use taipan_syntax::Stmt;

use crate::heap_image::import_time::diagnose;
use crate::space::Interp;
use crate::space::heap::{Kind, Ref};
use crate::space::value::Value;

/// A type of arguments or results.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum ExtensionType {
    /// A Signed.
    Int,
    /// A Signed that is not negative: of arguments.
    NonNegative,
    /// An integer of 64 bits with a class of its own.
    Integer {
        /// Whether it has negative values.
        signed: bool,
    },
    /// A Bool.
    Bool,
    /// A Float.
    Float,
    /// A byte string that is a text for Python.
    Str,
    /// A byte string.
    Bytes,
    /// A unicode string.
    Unicode,
    /// None: of results only.
    None,
    /// A result that is not declared.
    Any,
    /// That or None.
    Optional(Box<ExtensionType>),
    /// A list.
    List(Box<ExtensionType>),
    /// A dict.
    Dict(Box<(ExtensionType, ExtensionType)>),
    /// A tuple.
    Tuple(Vec<ExtensionType>),
}

/// A constant of a module, or the default of an argument.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum ExtensionConstant {
    /// `None`
    None,
    /// A bool.
    Bool(bool),
    /// An integer, in decimal digits.
    Int(String),
    /// A float, by its bits.
    Float(u64),
    /// A byte string.
    Str(Vec<u8>),
    /// A unicode string, as code points.
    Unicode(Vec<u32>),
    /// A tuple.
    Tuple(Vec<ExtensionConstant>),
}

/// A function that Python can call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ExtensionFunction {
    /// Its name in the module.
    pub name: String,
    /// The function.
    pub func: ObjId,
    /// Names and types of its arguments.
    pub args: Vec<(String, ExtensionType)>,
    /// What the last of them are if they are not given.
    pub defaults: Vec<ExtensionConstant>,
    /// What it returns.
    pub result: ExtensionType,
    /// Python's lock is not held while it runs.
    pub releases_gil: bool,
    /// Its documentation.
    pub doc: Option<String>,
}

/// An exception class of the program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ExtensionException {
    /// Its own name.
    pub class: String,
    /// Its base: a number among [`KNOWN_EXCEPTIONS`] and, behind these, the program's own.
    pub base: usize,
    /// Its name in the module, if it is there.
    pub name: Option<String>,
}

/// What a module offers to Python.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Extension {
    /// In the order of the text.
    pub functions: Vec<ExtensionFunction>,
    /// Bases come before what derives from them.
    pub exceptions: Vec<ExtensionException>,
    /// Public numbers and strings.
    pub constants: Vec<(String, ExtensionConstant)>,
    /// The module's documentation.
    pub doc: Option<String>,
    /// Functions that cannot be called from Python, and why.
    pub problems: Vec<(ObjId, String)>,
}

/// Names of Python's exception classes, by the numbers that `_taipan_extension` gives them.
pub const KNOWN_EXCEPTIONS: [&str; 26] = [
    "Exception",
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BufferError",
    "EOFError",
    "FloatingPointError",
    "IOError",
    "ImportError",
    "IndexError",
    "KeyError",
    "LookupError",
    "MemoryError",
    "NameError",
    "NotImplementedError",
    "OSError",
    "OverflowError",
    "ReferenceError",
    "RuntimeError",
    "StopIteration",
    "SyntaxError",
    "SystemError",
    "TypeError",
    "UnicodeError",
    "ValueError",
    "ZeroDivisionError",
];

/// What was found, before freezing.
pub(crate) struct RawExtension {
    /// Entry point, problems, functions, exceptions, constants, documentation.
    values: Vec<Value>,
}

/// Looks at a module that has been run.
pub(crate) fn find(it: &mut Interp, module: Ref) -> Result<RawExtension, Box<Diagnostic>> {
    let file = it
        .db
        .files()
        .get_for(it.db, it.program, it.program.target(it.db));
    let pair = |name: &str, text: &str| {
        Value::tuple([Value::str(name), Value::str(text)].into_iter().collect())
    };
    let (comments, only) = match &it.program.options(it.db).declared {
        Some((name, text)) => (vec![pair(name, text)], Value::str(name)),
        None => {
            let comments = type_comments(it.db, file);
            let comments = comments.iter().map(|(name, text)| pair(name, text));
            (comments.collect(), Value::None)
        }
    };
    let comments = Value::tuple(comments);
    let found = it.load("_taipan_extension").and_then(|m| {
        let arguments = [Value::Ref(module), comments, only];
        it.call_method(&Value::Ref(m), "exports", &arguments)
    });
    match found {
        Ok(Value::Tuple(t)) => Ok(RawExtension { values: t.to_vec() }),
        Ok(_) => Ok(RawExtension { values: Vec::new() }),
        Err(e) => Err(Box::new(diagnose(it, &e))),
    }
}

impl RawExtension {
    fn get(&self, i: usize) -> &Value {
        self.values.get(i).unwrap_or(&Value::None)
    }

    /// The function that the C part calls first.
    pub(crate) fn entry_point(&self) -> Option<Ref> {
        self.get(0).as_ref()
    }

    /// What was found, under the ids of its objects.
    pub(crate) fn finish(&self, it: &Interp, ids: &FxHashMap<Ref, ObjId>) -> Extension {
        let list = |v: &Value| match v {
            Value::Ref(r) => it.heap.list_items(*r).cloned().unwrap_or_default(),
            Value::Tuple(t) => t.to_vec(),
            _ => Vec::new(),
        };
        let id = |v: &Value| v.as_ref().and_then(|r| ids.get(&r).copied());
        let problems = list(self.get(1)).into_iter().filter_map(|p| {
            let [f, why] = &list(&p)[..] else { return None };
            Some((id(f)?, text(why)?))
        });
        let functions = list(self.get(2)).into_iter().filter_map(|f| {
            let [name, func, names, types, defaults, result, releases, doc] = &list(&f)[..] else {
                return None;
            };
            let names = list(names).iter().filter_map(text).collect::<Vec<_>>();
            let types = list(types).iter().filter_map(type_of).collect::<Vec<_>>();
            Some(ExtensionFunction {
                name: text(name)?,
                func: id(func)?,
                args: names.into_iter().zip(types).collect(),
                defaults: list(defaults)
                    .iter()
                    .filter_map(|v| constant(it, v))
                    .collect(),
                result: type_of(result)?,
                releases_gil: matches!(releases, Value::Bool(true)),
                doc: text(doc),
            })
        });
        let exceptions = list(self.get(3)).into_iter().filter_map(|e| {
            let [class, Value::Int(base), name] = &list(&e)[..] else {
                return None;
            };
            Some(ExtensionException {
                class: text(class)?,
                base: usize::try_from(*base).ok()?,
                name: text(name),
            })
        });
        let constants = list(self.get(4)).into_iter().filter_map(|c| {
            let [name, value] = &list(&c)[..] else {
                return None;
            };
            Some((text(name)?, constant(it, value)?))
        });
        Extension {
            functions: functions.collect(),
            exceptions: exceptions.collect(),
            constants: constants.collect(),
            doc: text(self.get(5)),
            problems: problems.collect(),
        }
    }
}

pub(crate) fn text(v: &Value) -> Option<String> {
    match v {
        Value::Str(s) => Some(String::from_utf8_lossy(s).into_owned()),
        _ => None,
    }
}

fn type_of(v: &Value) -> Option<ExtensionType> {
    let Value::Tuple(t) = v else { return None };
    let [kind, Value::Tuple(items)] = &t[..] else {
        return None;
    };
    let mut items = items.iter().filter_map(type_of).collect::<Vec<_>>();
    let mut item = |i: usize| (i < items.len()).then(|| items.remove(i));
    Some(match &*text(kind)? {
        "int" => ExtensionType::Int,
        "nonneg" => ExtensionType::NonNegative,
        "signed" => ExtensionType::Integer { signed: true },
        "unsigned" => ExtensionType::Integer { signed: false },
        "bool" => ExtensionType::Bool,
        "float" => ExtensionType::Float,
        "str" => ExtensionType::Str,
        "bytes" => ExtensionType::Bytes,
        "unicode" => ExtensionType::Unicode,
        "none" => ExtensionType::None,
        "any" => ExtensionType::Any,
        "optional" => ExtensionType::Optional(Box::new(item(0)?)),
        "list" => ExtensionType::List(Box::new(item(0)?)),
        "dict" => {
            let key = item(0)?;
            ExtensionType::Dict(Box::new((key, item(0)?)))
        }
        "tuple" => ExtensionType::Tuple(items),
        _ => return None,
    })
}

fn constant(it: &Interp, v: &Value) -> Option<ExtensionConstant> {
    Some(match v {
        Value::None => ExtensionConstant::None,
        Value::Bool(b) => ExtensionConstant::Bool(*b),
        Value::Int(i) => ExtensionConstant::Int(i.to_string()),
        Value::Long(l) => ExtensionConstant::Int(l.to_string()),
        Value::Float(f) => ExtensionConstant::Float(f.to_bits()),
        Value::Str(s) => ExtensionConstant::Str(s.to_vec()),
        Value::Unicode(u) => ExtensionConstant::Unicode(u.to_vec()),
        Value::Tuple(t) => {
            ExtensionConstant::Tuple(t.iter().map(|v| constant(it, v)).collect::<Option<_>>()?)
        }
        // An integer of a class of its own.
        Value::Ref(r) => match it.heap.kind(*r) {
            Kind::Boxed(inner) => constant(it, inner)?,
            _ => return None,
        },
        _ => return None,
    })
}

/// The comments `# type: (...) -> ...` of a module's functions, by their names.
#[salsa::tracked(returns(clone))]
pub(crate) fn type_comments(db: &dyn Db, file: File) -> Arc<BTreeMap<String, String>> {
    let parsed = taipan_code::parse(db, file);
    let source = file.text(db);
    let mut out = BTreeMap::new();
    for stmt in parsed.ast.body.iter() {
        if let Stmt::Function(f) = &parsed.ast.stmts[*stmt] {
            let start = parsed.spans.function(*f).name.end as usize;
            let name = parsed.ast.name(parsed.ast.functions[*f].name).to_owned();
            if let Some(comment) = source.get(start..).and_then(type_comment) {
                out.insert(name, comment.to_owned());
            }
        }
    }
    Arc::new(out)
}

/// The comment with types that belongs to a function, whose text this is from its parameters on:
/// behind the colon, or in the line after it.
fn type_comment(text: &str) -> Option<&str> {
    let mut rest = text;
    let mut depth = 0;
    loop {
        let at = rest.find(['(', ')', '[', ']', '{', '}', ':', '#', '"', '\''])?;
        let c = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        match c {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b'#' => rest = &rest[rest.find('\n')?..],
            b'"' | b'\'' => rest = after_string(rest, c)?,
            // That of a dict or slice is in brackets, that of a lambda in parentheses of the function.
            _ if depth == 0 => break,
            _ => {}
        }
    }
    let mut lines = rest.lines();
    let behind = lines.next()?.trim_start();
    match behind.is_empty() {
        false => comment_text(behind),
        true => comment_text(lines.next()?.trim_start()),
    }
}

fn comment_text(line: &str) -> Option<&str> {
    let text = line.strip_prefix('#')?.trim_start();
    let text = text.strip_prefix("type:")?.trim();
    // `# type: ignore` is for others.
    text.starts_with('(').then_some(text)
}

/// What stands behind a string that has begun.
fn after_string(text: &str, quote: u8) -> Option<&str> {
    let triple = text.len() >= 2 && text.as_bytes()[..2] == [quote, quote];
    if !triple {
        let mut at = 0;
        loop {
            match text.as_bytes().get(at)? {
                b'\\' => at += 2,
                c if *c == quote => return text.get(at + 1..),
                _ => at += 1,
            }
        }
    }
    let end = if quote == b'"' { "\"\"\"" } else { "'''" };
    let from = text.get(2..)?;
    from.get(from.find(end)? + 3..)
}

/// What a module offers to Python. Asked of programs that are to be such a module.
#[salsa::tracked(returns(clone))]
pub fn offered_extension(db: &dyn Db, program: Program) -> Arc<Extension> {
    Arc::new(crate::image(db, program).extension.clone())
}

/// What is wrong with what a module offers to Python.
pub fn extension_diagnostics(db: &dyn Db, program: Program) -> Vec<Diagnostic> {
    let found = offered_extension(db, program);
    let mut all: Vec<Diagnostic> = (found.problems.iter())
        .map(|(func, why)| {
            let name = function_name(db, program, *func);
            Diagnostic::error(
                ErrorCode::NotForPython,
                name.as_ref().map(|(_, span)| *span),
                match &name {
                    Some((name, _)) => format!("Python cannot call `{name}`: {why}"),
                    None => format!("Python cannot call a function: {why}"),
                },
            )
        })
        .collect();
    if all.is_empty() && found.functions.is_empty() {
        let file = db.files().get(db, program.target(db));
        let end = file.text(db).lines().next().map_or(0, str::len);
        let range = taipan_base::TextRange::new(0, end as u32);
        let nothing = Diagnostic::error(
            ErrorCode::NothingForPython,
            Some(Span { file, range }),
            "the module has no function that Python can call",
        );
        all.push(nothing.with_help(
            "declare the types of functions that Python is to call: `# type: (int, str) -> float` \
             below `def`, or @enforceargs or @signature",
        ));
    }
    all
}

/// Name of a function, and where that is in the source.
pub fn function_name(db: &dyn Db, program: Program, func: ObjId) -> Option<(String, Span)> {
    let object = crate::object(db, crate::Object::new(db, program, func));
    let Some(crate::ObjData::Function(f)) = object.as_deref() else {
        return None;
    };
    let range = taipan_code::code_spans(db, f.code).name;
    let span = Span {
        file: f.code.file(db)?,
        range,
    };
    Some((f.code.qualname(db).to_string(), span))
}

#[cfg(test)]
mod tests {
    use super::type_comment;

    #[test]
    fn comments_of_functions() {
        let of = |text| type_comment(text);
        assert_eq!(
            of("(a):\n    # type: (int) -> int\n    return a\n"),
            Some("(int) -> int")
        );
        assert_eq!(
            of("(a):  # type: (int) -> None\n    pass\n"),
            Some("(int) -> None")
        );
        assert_eq!(
            of("(a=')', # (\n   b=\"\"\"):\"\"\"):\n  #type:(str,int)->int\n"),
            Some("(str,int)->int")
        );
        assert_eq!(
            of("(f=lambda x: x):\n    # type: (int) -> int\n"),
            Some("(int) -> int")
        );
        assert_eq!(of("(a):\n    return a  # type: (int) -> int\n"), None);
        assert_eq!(of("(a):  # type: ignore\n    return a\n"), None);
        assert_eq!(of("(a): return a\n# type: (int) -> int\n"), None);
    }
}
