//! `repr`, `str` and `print`.

use taipan_code::{CodeId, Origin};

use super::heap::{Kind, Ref};
use super::sizes::MOST_PRINTED;
use super::types::ty;
use super::units::Input;
use super::value::Value;
use super::{Interp, R};

impl Interp<'_> {
    /// `repr(v)`
    pub(crate) fn repr(&mut self, v: &Value) -> R<Vec<u8>> {
        Ok(match v {
            Value::None => b"None".to_vec(),
            Value::Bool(b) => if *b { "True" } else { "False" }.into(),
            Value::Int(i) => i.to_string().into_bytes(),
            Value::Long(l) => (self.digits(l, 10)? + "L").into_bytes(),
            Value::Float(f) => float_repr(*f).into_bytes(),
            Value::Complex(c) => c.repr().into_bytes(),
            Value::Str(s) => quote_bytes(s).into_bytes(),
            Value::Unicode(s) => quote_unicode(s).into_bytes(),
            Value::Tuple(t) => {
                let mut out = self.nested(|it| it.join(t, "(", ")"))?;
                if t.len() == 1 {
                    out.insert(out.len() - 1, b',');
                }
                out
            }
            Value::Bound(_) | Value::Method(_) => {
                let Some(m) = v.as_method() else {
                    unreachable!("a method")
                };
                let name = self.callable_name(&m.func);
                let class = self.heap.class_name(m.class).to_owned();
                match &m.slf {
                    Some(s) if !self.is_builtin_function(&m.func) => {
                        let s = self.repr(&s.clone())?;
                        let s = String::from_utf8_lossy(&s).into_owned();
                        format!("<bound method {class}.{name} of {s}>").into_bytes()
                    }
                    Some(_) => format!("<built-in method {name}>").into_bytes(),
                    None => format!("<unbound method {class}.{name}>").into_bytes(),
                }
            }
            Value::Ref(r) => return self.repr_object(v, *r),
        })
    }

    fn join(&mut self, items: &[Value], open: &str, close: &str) -> R<Vec<u8>> {
        let mut out = open.as_bytes().to_vec();
        for (i, x) in items.iter().enumerate() {
            self.check_text(out.len())?;
            if i > 0 {
                out.extend_from_slice(b", ");
            }
            out.extend(self.repr(x)?);
        }
        out.extend_from_slice(close.as_bytes());
        Ok(out)
    }

    fn guarded(
        &mut self,
        r: Ref,
        again: &str,
        f: impl FnOnce(&mut Self) -> R<Vec<u8>>,
    ) -> R<Vec<u8>> {
        if self.repr_guard.contains(&r) {
            return Ok(again.as_bytes().to_vec());
        }
        self.repr_guard.push(r);
        let out = self.nested(f);
        self.repr_guard.pop();
        out
    }

    fn repr_object(&mut self, v: &Value, r: Ref) -> R<Vec<u8>> {
        if let Some(s) = self.call_special(v, "__repr__", &[])? {
            return match self.unboxed(&s) {
                Value::Str(s) => Ok(s.to_vec()),
                Value::Unicode(u) => Ok(super::number::text_of(&u).into_bytes()),
                _ => {
                    let t = self.heap.type_name(&s).to_owned();
                    self.type_error(format!("__repr__ returned non-string (type {t})"))
                }
            };
        }
        let class = self.heap.get(r).class;
        match self.heap.kind(r) {
            Kind::Dict(d) | Kind::Set(d) | Kind::FrozenSet(d) if self.timeless && d.len() > 1 => {
                self.untold()
            }
            Kind::List(_) if class == ty::BYTEARRAY => {
                let bytes = self.byte_items(r);
                Ok(format!("bytearray(b{})", quote_bytes(&bytes)).into_bytes())
            }
            Kind::List(l) => {
                let l = l.clone();
                self.guarded(r, "[...]", |it| it.join(&l, "[", "]"))
            }
            Kind::Dict(_) => {
                let items = self.dict_items(r)?;
                self.guarded(r, "{...}", |it| {
                    let mut out = b"{".to_vec();
                    for (i, (k, v)) in items.iter().enumerate() {
                        it.check_text(out.len())?;
                        if i > 0 {
                            out.extend_from_slice(b", ");
                        }
                        out.extend(it.repr(k)?);
                        out.extend_from_slice(b": ");
                        out.extend(it.repr(v)?);
                    }
                    out.push(b'}');
                    Ok(out)
                })
            }
            Kind::Set(d) | Kind::FrozenSet(d) => {
                let keys: Vec<Value> = d.keys().cloned().collect();
                let name = self.heap.class_name(class).to_owned();
                self.join(&keys, &format!("{name}(["), "])")
            }
            Kind::Boxed(inner) => {
                let inner = inner.clone();
                self.repr(&inner)
            }
            Kind::Exception(e) => {
                let args = e.args.clone();
                let name = self.heap.class_name(class).to_owned();
                let mut out = name.into_bytes();
                match &args {
                    Value::Tuple(_) => out.extend(self.repr(&args)?),
                    _ => out.extend_from_slice(b"()"),
                }
                Ok(out)
            }
            _ => Ok(self.repr_plain(r, class)?.into_bytes()),
        }
    }

    fn repr_plain(&mut self, r: Ref, class: Ref) -> R<String> {
        // Where it prints the address.
        let id = match self.heap.kind(r) {
            Kind::Class(c) if !c.old_style => 0,
            Kind::Builtin(_) | Kind::Module(_) | Kind::Singleton(_) | Kind::Slice(_) => 0,
            Kind::XRange(..) | Kind::LLType(_) | Kind::Opaque(_) | Kind::Absent(_) => 0,
            Kind::Super(..) => 0,
            _ if self.timeless => return self.untold(),
            _ => self.id(&Value::Ref(r)),
        };
        Ok(match self.heap.kind(r) {
            Kind::Class(c) => {
                let name = c.name.clone();
                let (old, builtin) = (c.old_style, c.builtin);
                let module = self.heap.attr(r, "__module__").and_then(Value::as_text);
                let full = match module {
                    Some(m) if m != "__builtin__" => format!("{m}.{name}"),
                    _ => name.to_string(),
                };
                match (old, builtin) {
                    (true, _) => format!("<class {full} at 0x{id:x}>"),
                    (_, true) => format!("<type '{full}'>"),
                    _ => format!("<class '{full}'>"),
                }
            }
            Kind::Function(f) => format!("<function {} at 0x{id:x}>", f.name),
            Kind::Builtin(b) => format!("<built-in function {}>", b.short_name()),
            Kind::Module(n) => match self.heap.attr(r, "__file__").and_then(Value::as_text) {
                Some(f) => format!("<module '{n}' from '{f}'>"),
                None => format!("<module '{n}' (built-in)>"),
            },
            Kind::Singleton(n) => (*n).to_owned(),
            Kind::Slice(s) => {
                let s = (**s).clone();
                let part = |it: &mut Self, v: &Value| {
                    it.repr(v)
                        .map(|b| String::from_utf8_lossy(&b).into_owned())
                        .unwrap_or_default()
                };
                let (a, b, c) = (part(self, &s[0]), part(self, &s[1]), part(self, &s[2]));
                format!("slice({a}, {b}, {c})")
            }
            Kind::XRange(start, n, step) => match (start, step) {
                (0, 1) => format!("xrange({n})"),
                (s, 1) => format!("xrange({s}, {})", s.wrapping_add(*n)),
                (s, step) => format!(
                    "xrange({s}, {}, {step})",
                    s.wrapping_add(n.wrapping_mul(*step))
                ),
            },
            Kind::LLType(t) => format!("<{t}>"),
            Kind::LLPtr(p) => format!("<{} at 0x{id:x}>", p.ty),
            Kind::Generator(_) => format!("<generator object at 0x{id:x}>"),
            Kind::Opaque(n) | Kind::Absent(n) => format!("<built-in function {n}>"),
            Kind::Code(c) => {
                format!("<code object {} at 0x{id:x}>", c.qualname(self.db))
            }
            Kind::Super(after, _, class) => format!(
                "<super: <class '{}'>, <{} object>>",
                self.heap.class_name(*after),
                self.heap.class_name(*class)
            ),
            _ => {
                let c = self.heap.the_class(class);
                let module = self.heap.attr(class, "__module__").and_then(Value::as_text);
                let full = match module {
                    Some(m) if m != "__builtin__" => format!("{m}.{}", c.name),
                    _ => c.name.to_string(),
                };
                let what = if c.old_style { "instance" } else { "object" };
                format!("<{full} {what} at 0x{id:x}>")
            }
        })
    }

    /// `str(v)`
    pub(crate) fn str_of(&mut self, v: &Value) -> R {
        match v {
            Value::Str(_) => return Ok(v.clone()),
            Value::Unicode(u) => {
                let u = u.clone();
                return Ok(Value::bytes(&self.encode(&u, "ascii", "strict")?));
            }
            Value::Float(f) => return Ok(Value::str(&float_str(*f))),
            Value::Complex(c) => return Ok(Value::str(&c.str())),
            Value::Long(l) => return Ok(Value::str(&self.digits(l, 10)?)),
            Value::Ref(r) => {
                if let Some(s) = self.call_special(v, "__str__", &[])? {
                    return match self.unboxed(&s) {
                        s @ Value::Str(_) => Ok(s),
                        s @ Value::Unicode(_) => self.str_of(&s),
                        _ => {
                            let t = self.heap.type_name(&s).to_owned();
                            self.type_error(format!("__str__ returned non-string (type {t})"))
                        }
                    };
                }
                match self.heap.kind(*r) {
                    Kind::List(_) if self.heap.get(*r).class == ty::BYTEARRAY => {
                        return Ok(Value::bytes(&self.byte_items(*r)));
                    }
                    Kind::Exception(e) => {
                        let args = e.args.clone();
                        return self.exception_text(*r, &args);
                    }
                    Kind::Boxed(inner) => {
                        let inner = inner.clone();
                        if self.special(v, "__repr__")?.is_none() {
                            return self.str_of(&inner);
                        }
                    }
                    Kind::Class(c) if c.old_style => {
                        let name = c.name.to_string();
                        let module = self.heap.attr(*r, "__module__").and_then(Value::as_text);
                        return Ok(Value::str(&match module {
                            Some(m) => format!("{m}.{name}"),
                            None => name,
                        }));
                    }
                    Kind::LLType(t) => return Ok(Value::str(&t.to_string())),
                    _ => {}
                }
            }
            _ => {}
        }
        Ok(Value::bytes(&self.repr(v)?))
    }

    /// The bytes of a bytearray, which is a list of them here.
    fn byte_items(&self, r: Ref) -> Vec<u8> {
        let items = self.heap.list_items(r).into_iter().flatten();
        items
            .map(|v| match v {
                Value::Int(i) => *i as u8,
                _ => 0,
            })
            .collect()
    }

    fn exception_text(&mut self, r: Ref, args: &Value) -> R {
        let Value::Tuple(t) = args else {
            return self.str_of(args);
        };
        let class = self.heap.get(r).class;
        match &t[..] {
            [] => Ok(Value::str("")),
            [a] if self.heap.is_subclass(class, ty::KEY_ERROR) => Ok(Value::bytes(&self.repr(a)?)),
            [a] => self.str_of(a),
            [a, b] if self.heap.is_subclass(class, ty::ENVIRONMENT_ERROR) => {
                let (a, b) = (self.str_of(a)?, self.str_of(b)?);
                let text = format!(
                    "[Errno {}] {}",
                    a.as_text().unwrap_or("?"),
                    b.as_text().unwrap_or("?")
                );
                Ok(Value::str(&text))
            }
            [a, b, c] if self.heap.is_subclass(class, ty::ENVIRONMENT_ERROR) => {
                let (a, b) = (self.str_of(a)?, self.str_of(b)?);
                let c = self.repr(c)?;
                let text = format!(
                    "[Errno {}] {}: {}",
                    a.as_text().unwrap_or("?"),
                    b.as_text().unwrap_or("?"),
                    String::from_utf8_lossy(&c)
                );
                Ok(Value::str(&text))
            }
            _ => Ok(Value::bytes(&self.repr(args)?)),
        }
    }

    /// The bytes that `print` writes for a value.
    fn printed(&mut self, v: &Value) -> R<Vec<u8>> {
        if let Value::Unicode(u) = v {
            return Ok(super::number::text_of(u).into_bytes());
        }
        match self.str_of(v)? {
            Value::Str(s) => Ok(s.to_vec()),
            _ => Ok(vec![]),
        }
    }

    /// Writes to a file object; None is standard output.
    pub(crate) fn write_to(&mut self, file: Option<&Value>, bytes: &[u8]) -> R<()> {
        match file {
            None | Some(Value::None) => self.write_standard(false, bytes)?,
            Some(f) => {
                if let Value::Ref(r) = f
                    && let Kind::File(file) = self.heap.kind(*r)
                {
                    match file.stream {
                        1 | 2 => self.write_standard(file.stream == 2, bytes)?,
                        _ => return self.write_to_file(*r, bytes),
                    }
                    return Ok(());
                }
                self.call_method(f, "write", &[Value::bytes(bytes)])?;
            }
        }
        Ok(())
    }

    /// Writes to standard output, or to standard error. What is printed is kept, so there is
    /// an end to it, as on a disk that is full.
    pub(crate) fn write_standard(&mut self, error: bool, bytes: &[u8]) -> R<()> {
        if self.printed.len() + bytes.len() > MOST_PRINTED {
            self.observe();
            let text = Value::str("No space left on device");
            return self.raise_args(ty::IO_ERROR, vec![Value::Int(libc::ENOSPC.into()), text]);
        }
        if !error {
            self.out.extend_from_slice(bytes);
        }
        self.printed.extend_from_slice(bytes);
        self.heap.fresh += 4 * bytes.len() as u64;
        Ok(())
    }

    /// One item of a `print` statement.
    pub(crate) fn print(&mut self, file: Option<&Value>, v: &Value) -> R<()> {
        let replaced = self.replaced_stdout(file);
        let file = replaced.as_ref().or(file);
        if self.softspace {
            self.write_to(file, b" ")?;
        }
        let bytes = self.printed(v)?;
        let space = !matches!(bytes.last(), Some(b'\n' | b'\t' | b'\r'));
        self.write_to(file, &bytes)?;
        self.softspace = space;
        Ok(())
    }

    /// End of a `print` statement.
    pub(crate) fn print_end(&mut self, file: Option<&Value>) -> R<()> {
        self.softspace = false;
        let replaced = self.replaced_stdout(file);
        self.write_to(replaced.as_ref().or(file), b"\n")
    }

    /// What the program has put in the place of `sys.stdout`, where nothing says that
    /// another file is meant.
    fn replaced_stdout(&self, file: Option<&Value>) -> Option<Value> {
        if !matches!(file, None | Some(Value::None)) {
            return None;
        }
        self.heap.attr(self.loaded("sys")?, "stdout").cloned()
    }

    /// The name of the file or text that a body comes from.
    pub(crate) fn file_name(&self, id: CodeId) -> String {
        match id.origin(self.db) {
            Origin::File(f) | Origin::Test(f) => f.path(self.db).to_string(),
            Origin::Text(t) => t.filename(self.db).to_string(),
        }
    }

    /// 1-based line of an instruction, or of the start of a body.
    pub(crate) fn line_of(&self, id: CodeId, pc: Option<u32>) -> usize {
        self.note_input(Input::Line(id, pc));
        match pc {
            None => taipan_code::first_line(self.db, id),
            Some(pc) => super::units::line_of(self.db, id, pc),
        }
    }
}

/// A byte string literal.
pub fn quote_bytes(s: &[u8]) -> String {
    let quote = if s.contains(&b'\'') && !s.contains(&b'"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::with_capacity(s.len() + 2);
    out.push(quote);
    for &c in s {
        match c {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b'\\' => out.push_str("\\\\"),
            c if c == quote as u8 => {
                out.push('\\');
                out.push(quote);
            }
            0x20..=0x7e => out.push(c as char),
            c => out.push_str(&format!("\\x{c:02x}")),
        }
    }
    out.push(quote);
    out
}

/// A unicode literal.
pub fn quote_unicode(s: &[u32]) -> String {
    let has = |c: char| s.contains(&u32::from(c));
    let quote = if has('\'') && !has('"') { '"' } else { '\'' };
    let mut out = String::from("u");
    out.push(quote);
    for &c in s {
        match c {
            0x0a => out.push_str("\\n"),
            0x0d => out.push_str("\\r"),
            0x09 => out.push_str("\\t"),
            0x5c => out.push_str("\\\\"),
            c if c == u32::from(quote) => {
                out.push('\\');
                out.push(quote);
            }
            0x20..=0x7e => out.push(c as u8 as char),
            0..=0xff => out.push_str(&format!("\\x{c:02x}")),
            0x100..=0xffff => out.push_str(&format!("\\u{c:04x}")),
            c => out.push_str(&format!("\\U{c:08x}")),
        }
    }
    out.push(quote);
    out
}

/// `repr` of a float: the shortest text that reads back the same.
pub fn float_repr(f: f64) -> String {
    if f.is_nan() {
        return "nan".to_owned();
    }
    if f.is_infinite() {
        return if f > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let shortest = format!("{f:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let s = format!("{f}");
        if s.contains('.') {
            even_of_two(f, s)
        } else {
            s + ".0"
        }
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{mantissa}e{sign}{:02}", exponent.abs())
    }
}

/// Of two shortest texts that are equally far from a float Python takes the one that ends
/// in an even digit; `text` is the greater one then. That happens to floats only that have
/// 15 digits or more, some of them behind the point.
fn even_of_two(f: f64, text: String) -> String {
    // No float that is 1 or greater has more digits behind the point.
    const ALL: usize = 60;
    let (start, last) = text.split_at(text.len() - 1);
    let even = match last {
        "1" => '0',
        "3" => '2',
        "5" => '4',
        "7" => '6',
        "9" => '8',
        _ => return text,
    };
    if text.len() < 16 || f.abs() < 1.0 {
        return text;
    }
    let exact = format!("{f:.ALL$}");
    let half = exact.trim_end_matches('0').strip_prefix(start);
    if half.is_some_and(|half| half.len() == 2 && half.starts_with(even) && half.ends_with('5')) {
        format!("{start}{even}")
    } else {
        text
    }
}

/// `str` of a float: twelve digits.
pub fn float_str(f: f64) -> String {
    if !f.is_finite() {
        return float_repr(f);
    }
    super::format::general(f, 12, false, true)
}
