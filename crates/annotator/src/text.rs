//! Annotations as text: `SomeList[SomeInteger(nonneg)](resized)`.
//!
//! One form for what `taipan emit annotations` prints and what its `--inputs` takes.

use taipan_base::Db;
use taipan_graph::{Const, IntKind, ObjId};
use taipan_interp::{ObjData, Object};

use crate::{Desc, InputType, Roots, Site, SiteId, SomeKind, SomeValue, dict_def, list_def};

/// The text of an annotation; lists and dicts are looked up for what they hold.
pub fn annotation_text(db: &dyn Db, roots: Roots, s: &SomeValue) -> String {
    Printer {
        db,
        roots,
        open: Vec::new(),
    }
    .value(s)
}

/// RPython's name of an integer type other than plain `int`.
pub fn int_kind_name(kind: IntKind) -> Option<String> {
    Some(match (kind.signed, kind.bits) {
        (true, 64) => return None,
        (false, 64) => "r_uint".to_owned(),
        (true, 128) => "r_longlonglong".to_owned(),
        (false, 128) => "r_ulonglonglong".to_owned(),
        (true, bits) => format!("r_int{bits}"),
        (false, bits) => format!("r_uint{bits}"),
    })
}

struct Printer<'db> {
    db: &'db dyn Db,
    roots: Roots,
    /// Sites that are being printed: a list may hold itself.
    open: Vec<SiteId>,
}

impl Printer<'_> {
    fn value(&mut self, s: &SomeValue) -> String {
        let mut flags: Vec<String> = Vec::new();
        let mut flag = |on: bool, name: &str| {
            if on {
                flags.push(name.to_owned());
            }
        };
        let name = match &s.kind {
            SomeKind::Impossible => "SomeImpossibleValue".to_owned(),
            SomeKind::Integer { nonneg, kind } => {
                flag(*nonneg, "nonneg");
                if let Some(name) = int_kind_name(*kind) {
                    flag(true, &name);
                }
                "SomeInteger".to_owned()
            }
            SomeKind::Bool => "SomeBool".to_owned(),
            SomeKind::Float => "SomeFloat".to_owned(),
            SomeKind::SingleFloat => "SomeSingleFloat".to_owned(),
            SomeKind::Char { .. } => "SomeChar".to_owned(),
            SomeKind::UniChar => "SomeUnicodeCodePoint".to_owned(),
            SomeKind::Str {
                can_be_none,
                no_nul,
            } => {
                flag(*can_be_none, "can_be_None");
                flag(*no_nul, "no_nul");
                "SomeString".to_owned()
            }
            SomeKind::Unicode { can_be_none } => {
                flag(*can_be_none, "can_be_None");
                "SomeUnicodeString".to_owned()
            }
            SomeKind::ByteArray { can_be_none } => {
                flag(*can_be_none, "can_be_None");
                "SomeByteArray".to_owned()
            }
            SomeKind::List { site, .. } => {
                let def = list_def(self.db, Site::new(self.db, self.roots, *site));
                flag(def.resized, "resized");
                flag(def.mutated, "mutated");
                if let Some(step) = def.range_step {
                    flag(true, &format!("range_step={step}"));
                }
                // As in RPython any list may be None, and nothing is said of constants.
                let name = format!("SomeList[{}]", self.inside(*site, &[&def.item]));
                return with_flags(&name, &flags);
            }
            SomeKind::Dict { site, .. } => {
                let def = dict_def(self.db, Site::new(self.db, self.roots, *site));
                return format!("SomeDict[{}]", self.inside(*site, &[&def.key, &def.value]));
            }
            SomeKind::Tuple(items) => {
                let items: Vec<String> = items.iter().map(|i| self.value(i)).collect();
                return format!("SomeTuple[{}]", items.join(", "));
            }
            SomeKind::Instance { class, can_be_none } => {
                let class = class.map_or_else(|| "object".to_owned(), |c| self.object(c));
                flag(true, &class);
                flag(*can_be_none, "can_be_None");
                // A constant instance has no text of its own.
                return with_flags("SomeInstance", &flags);
            }
            SomeKind::Pbc { descs, can_be_none } => {
                let mut names: Vec<String> = descs.iter().map(|d| self.desc(d)).collect();
                names.sort();
                flag(true, &names.join("|"));
                flag(*can_be_none, "can_be_None");
                return with_flags("SomePBC", &flags);
            }
            SomeKind::None => return "SomeNone".to_owned(),
            SomeKind::Iterator { container, variant } => {
                flag(!variant.is_empty(), variant);
                format!("SomeIterator[{}]", self.value(container))
            }
            SomeKind::Exception(classes) => {
                let mut names: Vec<String> = classes.iter().map(|c| self.object(*c)).collect();
                names.sort();
                flag(true, &names.join("|"));
                "SomeException".to_owned()
            }
            SomeKind::Type => "SomeType".to_owned(),
            SomeKind::Builtin(f) => {
                flag(true, &f.name());
                return with_flags("SomeBuiltin", &flags);
            }
            SomeKind::BuiltinMethod { name, of } => {
                flag(true, name);
                format!("SomeBuiltinMethod[{}]", self.value(of))
            }
            SomeKind::WeakRef { class } => {
                if let Some(c) = class {
                    flag(true, &self.object(*c));
                }
                "SomeWeakRef".to_owned()
            }
            SomeKind::Ptr(ty) => format!("SomePtr[{ty}]"),
            SomeKind::Address => "SomeAddress".to_owned(),
            SomeKind::Conflict => "SomeConflict".to_owned(),
            SomeKind::Slice(parts) => {
                let parts: Vec<String> = parts.iter().map(|i| self.value(i)).collect();
                format!("SomeSlice[{}]", parts.join(", "))
            }
            other => {
                let text = format!("{other:?}");
                format!(
                    "Some{}",
                    text.split([' ', '(', '{']).next().unwrap_or_default()
                )
            }
        };
        if let Some(c) = &s.const_ {
            flags.push(format!("const={}", self.constant(c)));
        }
        with_flags(&name, &flags)
    }

    fn inside(&mut self, site: SiteId, items: &[&SomeValue]) -> String {
        if self.open.contains(&site) {
            return "...".to_owned();
        }
        self.open.push(site);
        let items: Vec<String> = items.iter().map(|i| self.value(i)).collect();
        self.open.pop();
        items.join(", ")
    }

    fn constant(&self, c: &Const) -> String {
        match c {
            Const::Obj(o) => self.object(*o),
            // The type says of what kind it is.
            Const::RInt(kind, v) if kind.is_nonneg(*v) => (v.get() as u128).to_string(),
            Const::RInt(_, v) => v.to_string(),
            other => other.to_string(),
        }
    }

    fn desc(&self, d: &Desc) -> String {
        desc_text(self.db, self.roots, d)
    }

    fn object(&self, id: ObjId) -> String {
        object_text(self.db, self.roots, id)
    }
}

/// The short name of a function, a class or a frozen object.
pub(crate) fn desc_text(db: &dyn Db, roots: Roots, d: &Desc) -> String {
    let object = |id| object_text(db, roots, id);
    match d {
        Desc::Function(o) | Desc::Class(o) | Desc::Frozen(o) => object(*o),
        Desc::Method {
            func, self_class, ..
        } => match self_class {
            Some(c) => format!("{}.{}", object(*c), object(*func)),
            None => object(*func),
        },
        Desc::FrozenMethod { func, frozen } => {
            format!("{}.{}", object(*frozen), object(*func))
        }
    }
}

/// The short name of an image object.
pub(crate) fn object_text(db: &dyn Db, roots: Roots, id: ObjId) -> String {
    let program = roots.program(db);
    let data = taipan_interp::object(db, Object::new(db, program, id));
    match data.as_deref() {
        Some(ObjData::Class(c)) => c.name.to_string(),
        Some(ObjData::Function(f)) => f.name.to_string(),
        Some(ObjData::Module { name } | ObjData::Builtin { name, .. }) => name.to_string(),
        Some(ObjData::Instance(i)) => format!("<{}>", object_text(db, roots, i.class)),
        _ => format!("{id:?}"),
    }
}

fn with_flags(name: &str, flags: &[String]) -> String {
    if flags.is_empty() {
        name.to_owned()
    } else {
        format!("{name}({})", flags.join(", "))
    }
}

/// Reads the annotations of arguments, separated by commas. Answers what cannot be
/// read otherwise.
pub fn parse_inputs(text: &str) -> Result<Vec<InputType>, String> {
    let mut p = Parser {
        rest: text.trim_start(),
    };
    let mut out = Vec::new();
    if p.rest.is_empty() {
        return Ok(out);
    }
    loop {
        out.push(p.input()?);
        if p.rest.is_empty() {
            return Ok(out);
        }
        p.expect(",")?;
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn eat(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(r) => {
                self.rest = r.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) {
            Ok(())
        } else {
            Err(format!("expected `{token}` at `{}`", self.rest))
        }
    }

    fn word(&mut self) -> &'a str {
        let end = self
            .rest
            .find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    /// The flags in parentheses, if there are any, and the constant; other values of
    /// `x=y` are dropped.
    fn flags(&mut self) -> Result<(Vec<&'a str>, Option<Const>), String> {
        let mut out = Vec::new();
        let mut constant = None;
        if self.eat("(") {
            while !self.eat(")") {
                let flag = self.word();
                if self.eat("=") {
                    let value = self.literal()?;
                    if flag == "const" {
                        constant = Some(value);
                    }
                } else {
                    out.push(flag);
                }
                if !self.rest.starts_with(')') {
                    self.expect(",")?;
                }
            }
        }
        Ok((out, constant))
    }

    /// A Python literal: a number, a string, True, False or None.
    fn literal(&mut self) -> Result<Const, String> {
        let wide = self.rest.starts_with("u'") || self.rest.starts_with("u\"");
        let text = if wide { &self.rest[1..] } else { self.rest };
        if text.starts_with(['\'', '"']) {
            let (value, rest) = quoted(text)?;
            self.rest = rest.trim_start();
            return Ok(if wide {
                Const::Unicode(value.into())
            } else {
                Const::Str(value.into_iter().map(|c| c as u8).collect())
            });
        }
        let end = text.find([',', ')']).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.rest = rest;
        let word = word.trim();
        let float = || word.parse().ok().map(|f: f64| Const::float(f));
        Ok(match word {
            "True" => Const::Bool(true),
            "False" => Const::Bool(false),
            "None" => Const::None,
            _ => match word.parse() {
                Ok(i) => Const::Int(i),
                Err(_) => float().ok_or_else(|| format!("`{word}` is no literal"))?,
            },
        })
    }

    fn items(&mut self) -> Result<Vec<InputType>, String> {
        let mut out = Vec::new();
        self.expect("[")?;
        while !self.eat("]") {
            out.push(self.input()?);
            if !self.rest.starts_with(']') {
                self.expect(",")?;
            }
        }
        Ok(out)
    }

    fn input(&mut self) -> Result<InputType, String> {
        let name = self.word();
        let mut items = Vec::new();
        if self.rest.starts_with('[') {
            items = self.items()?;
        }
        let (flags, constant) = self.flags()?;
        if let Some(c) = constant {
            return Ok(InputType::Const(c));
        }
        let has = |f: &str| flags.contains(&f);
        let can_be_none = has("can_be_None");
        let count = items.len();
        let mut items = items.into_iter();
        let mut item = || {
            items
                .next()
                .map(Box::new)
                .ok_or_else(|| format!("`{name}` needs a type in brackets"))
        };
        Ok(match name {
            "SomeInteger" | "int" => {
                let kind = flags
                    .iter()
                    .find_map(|f| int_kind(f))
                    .unwrap_or(IntKind::SIGNED);
                InputType::Integer {
                    nonneg: has("nonneg"),
                    kind,
                }
            }
            "SomeBool" | "bool" => InputType::Bool,
            "SomeFloat" | "float" => InputType::Float,
            "SomeSingleFloat" => InputType::SingleFloat,
            "SomeChar" => InputType::Char,
            "SomeUnicodeCodePoint" => InputType::UniChar,
            "SomeString" | "str" => InputType::Str {
                can_be_none,
                no_nul: has("no_nul"),
            },
            "SomeByteArray" | "bytearray" => InputType::ByteArray,
            "SomeUnicodeString" | "unicode" => InputType::Unicode { can_be_none },
            "SomeList" => {
                let item = item()?;
                InputType::List {
                    item,
                    resized: has("resized"),
                    mutated: has("mutated"),
                }
            }
            "SomeDict" => InputType::Dict {
                key: item()?,
                value: item()?,
            },
            "SomeTuple" => InputType::Tuple(
                (0..count)
                    .map(|_| item().map(|b| *b))
                    .collect::<Result<_, _>>()?,
            ),
            "SomeInstance" => {
                let class = flags.first().ok_or("`SomeInstance` needs a class")?;
                InputType::Instance {
                    class: (*class).into(),
                    can_be_none,
                }
            }
            "SomeNone" | "None" => InputType::None,
            "SomeImpossibleValue" => InputType::Impossible,
            other => {
                return Err(format!(
                    "`{other}` is no annotation that an argument can have"
                ));
            }
        })
    }
}

/// The characters of a quoted string at the start of a text, and what follows it.
fn quoted(text: &str) -> Result<(Vec<u32>, &str), String> {
    let mut chars = text.chars();
    let quote = chars.next();
    let mut out = Vec::new();
    let unended = || "a string does not end".to_owned();
    loop {
        let c = chars.next().ok_or_else(unended)?;
        if Some(c) == quote {
            return Ok((out, chars.as_str()));
        }
        if c != '\\' {
            out.push(c as u32);
            continue;
        }
        let escaped = chars.next().ok_or_else(unended)?;
        let digits = match escaped {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        out.push(match escaped {
            'n' => 10,
            't' => 9,
            'r' => 13,
            _ if digits > 0 => {
                let hex: String = chars.by_ref().take(digits).collect();
                u32::from_str_radix(&hex, 16).map_err(|_| format!("`{hex}` is not hexadecimal"))?
            }
            other => other as u32,
        });
    }
}

/// The integer type of a name of the `r_int` family.
fn int_kind(name: &str) -> Option<IntKind> {
    Some(match name {
        "r_uint" | "r_ulonglong" => IntKind::UNSIGNED,
        "r_longlong" => IntKind::SIGNED,
        "r_longlonglong" => IntKind {
            signed: true,
            bits: 128,
        },
        "r_ulonglonglong" => IntKind {
            signed: false,
            bits: 128,
        },
        _ => {
            let (signed, bits) = match name.strip_prefix("r_int") {
                Some(bits) => (true, bits),
                None => (false, name.strip_prefix("r_uint")?),
            };
            let bits: u8 = bits.parse().ok()?;
            if !matches!(bits, 8 | 16 | 32 | 64 | 128) {
                return None;
            }
            IntKind { signed, bits }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_read() {
        let read = parse_inputs(
            "SomeInteger(nonneg), SomeList[SomeTuple[SomeString(can_be_None), SomeInteger(r_uint)]](resized)",
        );
        let pair = InputType::Tuple(vec![
            InputType::Str {
                can_be_none: true,
                no_nul: false,
            },
            InputType::Integer {
                nonneg: false,
                kind: IntKind::UNSIGNED,
            },
        ]);
        let list = InputType::List {
            item: Box::new(pair),
            resized: true,
            mutated: false,
        };
        let int = InputType::Integer {
            nonneg: true,
            kind: IntKind::SIGNED,
        };
        assert_eq!(read, Ok(vec![int, list]));
        assert_eq!(parse_inputs(" "), Ok(vec![]));
        let constants = [
            Const::Int(-5),
            Const::float(1.5),
            Const::str("a,'\n\0"),
            Const::Unicode([0xe9].into()),
            Const::Bool(true),
        ];
        assert_eq!(
            parse_inputs(
                r#"SomeInteger(const=-5), SomeFloat(const=1.5), SomeString(no_nul, const="a,'\n\x00"),
                SomeUnicodeString(const=u'\xe9'), SomeBool(const=True)"#
            ),
            Ok(constants.map(InputType::Const).to_vec())
        );
        assert!(parse_inputs("SomeString(const='a").is_err());
        assert!(parse_inputs("SomeList").is_err());
        assert!(parse_inputs("SomeInteger(").is_err());
        assert!(parse_inputs("Nonsense").is_err());
    }
}
