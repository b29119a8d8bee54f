//! The C part of a module for Python, as text.
//!
//! What does not depend on the module is `glue.c` and `module.c`. Between them stand tables of types and
//! functions, and for each function the C function that Python calls:
//!
//! ```text
//! static PyObject *call_0(self, args, nargs, kwnames)
//!     arguments in their places
//!     numbers out of them
//!     enter, look at containers
//!     call entries[0]
//!     leave, or raise what it raised
//! ```

use std::fmt::Write as _;

use super::Module;
use taipan_interp::{
    Extension, ExtensionConstant, ExtensionFunction, ExtensionType, KNOWN_EXCEPTIONS,
};

const GLUE: &str = include_str!("glue.c");
const MODULE: &str = include_str!("module.c");

/// The text of the C part.
pub(super) fn c_text(name: &str, module: &Module) -> String {
    let extension = &module.offered;
    let mut out = GLUE.to_owned();
    let mut types = Types::default();
    let functions = &extension.functions;
    line(
        &mut out,
        format_args!("\nstatic void *entries[{}];\n", functions.len().max(1)),
    );
    let mut texts = String::new();
    for (i, (f, place)) in functions.iter().zip(&module.places).enumerate() {
        function(&mut texts, &mut types, i, f, place);
    }
    out.push_str(&types.text);
    out.push_str(&texts);
    methods(&mut out, functions);
    defaults(&mut out, functions);
    constants(&mut out, &extension.constants);
    exceptions(&mut out, extension);
    let doc = extension.doc.as_deref().map_or("NULL".to_owned(), quoted);
    let with_lock = u8::from(functions.iter().any(|f| f.releases_gil));
    line(
        &mut out,
        format_args!("#define MODULE_NAME {}", quoted(name)),
    );
    line(&mut out, format_args!("#define MODULE_DOC {doc}"));
    line(&mut out, format_args!("#define WITH_LOCK {with_lock}"));
    line(&mut out, format_args!("#define INIT {}", init_symbol(name)));
    out.push_str(MODULE);
    out
}

/// The function that Python calls first.
pub(super) fn init_symbol(module: &str) -> String {
    format!("PyInit_{module}")
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
    out.push('\n');
}

/// Tables of types, each once.
#[derive(Default)]
struct Types {
    known: Vec<ExtensionType>,
    text: String,
}

impl Types {
    fn number(&mut self, ty: &ExtensionType) -> usize {
        if let Some(i) = self.known.iter().position(|t| t == ty) {
            return i;
        }
        let (kind, items): (char, Vec<&ExtensionType>) = match ty {
            ExtensionType::Int => ('i', vec![]),
            ExtensionType::NonNegative => ('m', vec![]),
            ExtensionType::Integer { signed: true } => ('s', vec![]),
            ExtensionType::Integer { signed: false } => ('u', vec![]),
            ExtensionType::Bool => ('b', vec![]),
            ExtensionType::Float => ('f', vec![]),
            ExtensionType::Str => ('t', vec![]),
            ExtensionType::Bytes => ('y', vec![]),
            ExtensionType::Unicode => ('w', vec![]),
            ExtensionType::None | ExtensionType::Any => ('n', vec![]),
            ExtensionType::Optional(t) => ('o', vec![t]),
            ExtensionType::List(t) => ('l', vec![t]),
            ExtensionType::Dict(kv) => ('d', vec![&kv.0, &kv.1]),
            ExtensionType::Tuple(items) => ('p', items.iter().collect()),
        };
        let numbers: Vec<usize> = items.iter().map(|t| self.number(t)).collect();
        let i = self.known.len();
        self.known.push(ty.clone());
        let list = match &numbers[..] {
            [] => "NULL".to_owned(),
            _ => {
                let items: Vec<String> = numbers.iter().map(|n| format!("&type_{n}")).collect();
                let items = items.join(", ");
                line(
                    &mut self.text,
                    format_args!("static const struct type *const items_{i}[] = {{{items}}};"),
                );
                format!("items_{i}")
            }
        };
        line(
            &mut self.text,
            format_args!(
                "static const struct type type_{i} = {{'{kind}', {}, {list}, {}}};",
                numbers.len(),
                quoted(&expected(ty)),
            ),
        );
        i
    }
}

/// A type, as complaints name it: what is wrong inside of a container is told with its place.
fn expected(ty: &ExtensionType) -> String {
    match ty {
        ExtensionType::Int => "int".to_owned(),
        ExtensionType::NonNegative => "int that is not negative".to_owned(),
        ExtensionType::Integer { signed: true } => "int of 64 bits".to_owned(),
        ExtensionType::Integer { signed: false } => "unsigned int of 64 bits".to_owned(),
        ExtensionType::Bool => "bool".to_owned(),
        ExtensionType::Float => "float".to_owned(),
        ExtensionType::Str | ExtensionType::Unicode => "str".to_owned(),
        ExtensionType::Bytes => "bytes".to_owned(),
        ExtensionType::None | ExtensionType::Any => "None".to_owned(),
        ExtensionType::Optional(t) => format!("{} or None", expected(t)),
        ExtensionType::List(_) => "list".to_owned(),
        ExtensionType::Dict(_) => "dict".to_owned(),
        ExtensionType::Tuple(items) => format!("tuple of {}", items.len()),
    }
}

/// A type, as people write it.
pub(super) fn shown(ty: &ExtensionType) -> String {
    match ty {
        ExtensionType::Optional(t) => format!("Optional[{}]", shown(t)),
        ExtensionType::List(t) => format!("List[{}]", shown(t)),
        ExtensionType::Dict(kv) => format!("Dict[{}, {}]", shown(&kv.0), shown(&kv.1)),
        ExtensionType::Tuple(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("Tuple[{}]", items.join(", "))
        }
        ExtensionType::Integer { .. } | ExtensionType::NonNegative => "int".to_owned(),
        ExtensionType::Any => "object".to_owned(),
        other => expected(other),
    }
}

fn function(
    out: &mut String,
    types: &mut Types,
    i: usize,
    f: &ExtensionFunction,
    (file, row): &(String, usize),
) {
    let count = f.args.len();
    let names: Vec<String> = f.args.iter().map(|(name, _)| quoted(name)).collect();
    let numbers: Vec<usize> = f.args.iter().map(|(_, t)| types.number(t)).collect();
    let tables = |what: &str, items: Vec<String>, none: &str| {
        if items.is_empty() {
            format!("{what}[] = {{{none}}};")
        } else {
            format!("{what}[] = {{{}}};", items.join(", "))
        }
    };
    let type_names = numbers.iter().map(|n| format!("&type_{n}")).collect();
    line(
        out,
        format_args!(
            "static const char *const {}",
            tables(&format!("names_{i}"), names, "NULL")
        ),
    );
    line(
        out,
        format_args!(
            "static const struct type *const {}",
            tables(&format!("types_{i}"), type_names, "NULL")
        ),
    );
    line(
        out,
        format_args!(
            "static PyObject *defaults_{i}[{}];",
            f.defaults.len().max(1)
        ),
    );
    line(
        out,
        format_args!(
            "static const struct function function_{i} = {{{}, {count}, {}, names_{i}, types_{i}, defaults_{i}, {{{}, {}, {row}}}}};",
            quoted(&f.name),
            count - f.defaults.len(),
            quoted(file),
            quoted(&f.name),
        ),
    );
    line(
        out,
        format_args!(
            "static PyObject *call_{i}(PyObject *self, PyObject *const *args, Py_ssize_t given, PyObject *names)\n{{"
        ),
    );
    line(
        out,
        format_args!("    const struct function *f = &function_{i};"),
    );
    line(out, format_args!("    PyObject *room[{}];", count.max(1)));
    line(
        out,
        format_args!(
            "    if (__builtin_expect(given != {count} || names, 0)\n        && !(args = arrange(f, args, given, names, room)))\n        return NULL;"
        ),
    );
    let (mut checks, mut passed, mut params) = (String::new(), Vec::new(), Vec::new());
    for (k, (_, ty)) in f.args.iter().enumerate() {
        let convert = match ty {
            ExtensionType::Int | ExtensionType::NonNegative | ExtensionType::Integer { .. } => {
                Some(("int64_t", "integer"))
            }
            ExtensionType::Bool => Some(("int64_t", "boolean")),
            ExtensionType::Float => Some(("double", "real")),
            _ => None,
        };
        match convert {
            Some((c, with)) => {
                line(
                    out,
                    format_args!(
                        "    {c} v{k};\n    if (!{with}(f, {k}, args[{k}], &v{k}))\n        return NULL;"
                    ),
                );
                params.push(c);
                passed.push(format!("v{k}"));
            }
            None => {
                line(
                    &mut checks,
                    format_args!(
                        "    if (!check(f->types[{k}], args[{k}], &fault))\n        return complain(f, {k}, &fault, in);"
                    ),
                );
                params.push("PyObject *");
                passed.push(format!("args[{k}]"));
            }
        }
    }
    line(
        out,
        format_args!("    int64_t in = enter();\n    if (in < 0)\n        return NULL;"),
    );
    if !checks.is_empty() {
        line(
            out,
            format_args!("    struct fault fault;\n{}", checks.trim_end()),
        );
    }
    let (c, back) = match f.result {
        ExtensionType::Int
        | ExtensionType::NonNegative
        | ExtensionType::Integer { signed: true } => ("int64_t", "PyLong_FromLongLong(result)"),
        ExtensionType::Integer { signed: false } => {
            ("uint64_t", "PyLong_FromUnsignedLongLong(result)")
        }
        ExtensionType::Bool => ("int64_t", "new_bool(result != 0)"),
        ExtensionType::Float => ("double", "PyFloat_FromDouble(result)"),
        ExtensionType::List(_)
        | ExtensionType::Dict(_)
        | ExtensionType::Tuple(_)
        | ExtensionType::Optional(_) => ("PyObject *", "made(result)"),
        _ => ("PyObject *", "result"),
    };
    let object = if c == "PyObject *" { "result" } else { "NULL" };
    let params = if params.is_empty() {
        "void".to_owned()
    } else {
        params.join(", ")
    };
    line(
        out,
        format_args!(
            "    {c} result = (({c} (*)({params}))entries[{i}])({});",
            passed.join(", ")
        ),
    );
    line(
        out,
        format_args!(
            "    if (__builtin_expect(pending.is_set, 0))\n        return raise_pending(f, in, {object});\n    leave(in);\n    forget_kept();\n    return {back};\n}}\n"
        ),
    );
}

fn methods(out: &mut String, functions: &[ExtensionFunction]) {
    line(out, format_args!("static PyMethodDef methods[] = {{"));
    for (i, f) in functions.iter().enumerate() {
        line(
            out,
            format_args!(
                "    {{{}, (void *)call_{i}, METH_FASTCALL_KEYWORDS, {}}},",
                quoted(&f.name),
                quoted(&documentation(f)),
            ),
        );
    }
    line(out, format_args!("    {{NULL, NULL, 0, NULL}}\n}};\n"));
}

/// A function's documentation with its signature, as Python's own functions have it.
fn documentation(f: &ExtensionFunction) -> String {
    let first = f.args.len() - f.defaults.len();
    let mut args = Vec::new();
    for (i, (name, _)) in f.args.iter().enumerate() {
        match i.checked_sub(first).and_then(|d| f.defaults.get(d)) {
            Some(value) => args.push(format!("{name}={}", literal(value))),
            None => args.push(name.clone()),
        }
    }
    let types: Vec<String> = f.args.iter().map(|(_, t)| shown(t)).collect();
    let types = format!("({}) -> {}", types.join(", "), shown(&f.result));
    let doc = match &f.doc {
        Some(doc) => format!("{}\n\n{types}", doc.trim_end()),
        None => types,
    };
    format!("{}({})\n--\n\n{doc}", f.name, args.join(", "))
}

/// A constant as Python 3 writes it.
fn literal(value: &ExtensionConstant) -> String {
    match value {
        ExtensionConstant::None => "None".to_owned(),
        ExtensionConstant::Bool(true) => "True".to_owned(),
        ExtensionConstant::Bool(false) => "False".to_owned(),
        ExtensionConstant::Int(digits) => digits.clone(),
        ExtensionConstant::Float(bits) => match f64::from_bits(*bits) {
            f if f.is_finite() => taipan_interp::spelling::float_repr(f),
            _ => "None".to_owned(),
        },
        ExtensionConstant::Str(s) => taipan_interp::spelling::quote_bytes(s),
        ExtensionConstant::Unicode(u) => {
            let quoted = taipan_interp::spelling::quote_unicode(u);
            quoted.trim_start_matches('u').to_owned()
        }
        ExtensionConstant::Tuple(items) => {
            let items: Vec<String> = items.iter().map(|i| literal(i) + ",").collect();
            format!("({})", items.join(" "))
        }
    }
}

/// A C expression that makes the object of a constant: a new reference.
fn expression(value: &ExtensionConstant, bytes: bool) -> String {
    match value {
        ExtensionConstant::None => "new_none()".to_owned(),
        ExtensionConstant::Bool(b) => format!("new_bool({})", u8::from(*b)),
        ExtensionConstant::Int(digits) => format!("PyLong_FromString(\"{digits}\", NULL, 10)"),
        ExtensionConstant::Float(bits) => {
            format!("PyFloat_FromDouble(((union {{uint64_t i; double d;}}){{{bits:#x}}}).d)")
        }
        ExtensionConstant::Str(s) if bytes => {
            format!(
                "PyBytes_FromStringAndSize({}, {})",
                quoted_bytes(s),
                s.len()
            )
        }
        ExtensionConstant::Str(s) => {
            format!(
                "PyUnicode_DecodeUTF8({}, {}, \"surrogateescape\")",
                quoted_bytes(s),
                s.len()
            )
        }
        ExtensionConstant::Unicode(u) => {
            let text: Vec<u8> = u.iter().flat_map(|c| c.to_le_bytes()).collect();
            format!(
                "PyUnicode_DecodeUTF32({}, {}, \"surrogatepass\", &(int){{-1}})",
                quoted_bytes(&text),
                text.len()
            )
        }
        ExtensionConstant::Tuple(items) => {
            let mut all = vec![items.len().to_string()];
            all.extend(items.iter().map(|i| expression(i, bytes)));
            format!("new_tuple({})", all.join(", "))
        }
    }
}

fn defaults(out: &mut String, functions: &[ExtensionFunction]) {
    line(
        out,
        format_args!("static int make_defaults(void)\n{{\n    int fine = 1;"),
    );
    for (i, f) in functions.iter().enumerate() {
        let first = f.args.len() - f.defaults.len();
        for (d, value) in f.defaults.iter().enumerate() {
            let bytes = f.args[first + d].1 == ExtensionType::Bytes;
            line(
                out,
                format_args!(
                    "    fine = fine && (defaults_{i}[{d}] = {});",
                    expression(value, bytes)
                ),
            );
        }
    }
    line(out, format_args!("    return fine ? 0 : -1;\n}}\n"));
}

fn constants(out: &mut String, constants: &[(String, ExtensionConstant)]) {
    line(
        out,
        format_args!(
            "static int add(PyObject *, const char *, PyObject *);\n\nstatic int add_constants(PyObject *module)\n{{\n    int wrong = 0;"
        ),
    );
    for (name, value) in constants {
        line(
            out,
            format_args!(
                "    wrong = wrong || add(module, {}, {});",
                quoted(name),
                expression(value, false)
            ),
        );
    }
    line(out, format_args!("    return wrong ? -1 : 0;\n}}\n"));
}

fn exceptions(out: &mut String, extension: &Extension) {
    let known: Vec<String> = KNOWN_EXCEPTIONS
        .iter()
        .map(|name| match *name {
            "IOError" => "PyExc_OSError".to_owned(),
            name => format!("PyExc_{name}"),
        })
        .collect();
    line(
        out,
        format_args!("#define KNOWN_EXCEPTIONS {}", known.join(", ")),
    );
    line(
        out,
        format_args!(
            "enum {{ KNOWN_COUNT = {}, OWN_COUNT = {} }};",
            known.len(),
            extension.exceptions.len()
        ),
    );
    line(
        out,
        format_args!(
            "static struct own_class {{ const char *name, *shown_as; int base; PyObject *class; }} own_classes[] = {{"
        ),
    );
    for e in &extension.exceptions {
        let shown_as = e.name.as_deref().map_or("NULL".to_owned(), quoted);
        line(
            out,
            format_args!(
                "    {{{}, {shown_as}, {}, NULL}},",
                quoted(&e.class),
                e.base
            ),
        );
    }
    line(out, format_args!("    {{NULL, NULL, 0, NULL}}\n}};\n"));
}

fn quoted(text: &str) -> String {
    quoted_bytes(text.as_bytes())
}

/// A string literal of C.
fn quoted_bytes(text: &[u8]) -> String {
    let mut out = String::from("\"");
    for b in text {
        match b {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            // Three digits, so that what follows is no part of it; `?` begins trigraphs.
            b' '..=b'~' if *b != b'?' => out.push(char::from(*b)),
            _ => {
                let _ = write!(out, "\\{b:03o}");
            }
        }
    }
    out.push('"');
    out
}
