//! Prebuilt data as C.
//!
//! ```text
//! struct data_str_hello_HASH {
//!     Signed identity_hash;
//!     struct { RPyHeader header; Signed hash; struct { Signed length; Char items[5]; } chars; } object;
//! };
//! ```
//!
//! An object whose size depends on it has a struct of its own, others that of their type. GC objects
//! have the word of their identity hash before them, as in executables of other back ends.

use indexmap::IndexSet;
use taipan_codegen::abi::{STATIC_FLAGS, STATIC_PREFIX};
use taipan_codegen::{CodegenError, DataObject, SymbolRef};
use taipan_lltype::{
    FuncKind, FuncSym, LLConst, LLType, Program, StaticData, StaticSym, StaticValue, TypeKind,
    layout,
};

use crate::emit::number_text;
use crate::members::{Kind, Member, members};
use crate::names;
use crate::types::{Bad, Types, declared};

/// Everything that a piece of prebuilt data refers to.
#[derive(Default)]
pub(crate) struct References {
    pub(crate) functions: IndexSet<FuncSym>,
    pub(crate) externals: IndexSet<FuncSym>,
    pub(crate) statics: IndexSet<StaticSym>,
    pub(crate) type_infos: IndexSet<LLType>,
}

/// One piece of prebuilt data.
pub(crate) struct Data {
    /// Its name.
    pub(crate) name: String,
    /// The struct that it is.
    pub(crate) shape: String,
    /// The declaration, without the semicolon.
    pub(crate) declaration: String,
    /// Its value.
    pub(crate) value: String,
}

impl Data {
    /// The definition.
    pub(crate) fn definition(&self) -> String {
        format!("{} = {};\n", self.declaration, self.value)
    }
}

const _: () = assert!(STATIC_PREFIX == 8, "the size of a Signed");

/// A prebuilt object.
pub(crate) fn object(
    sym: &StaticSym,
    data: &StaticData,
    program: &dyn Program,
    types: &mut Types,
    references: &mut References,
) -> Result<Data, CodegenError> {
    let name = names::data(sym);
    let gc = data.ty.is_gc_container();
    let mut writer = Writer {
        program,
        types,
        references,
        header: gc.then(|| {
            format!(
                "{{ (char *)&{} + {STATIC_FLAGS} }}",
                names::type_info(data.ty)
            )
        }),
    };
    let (ty, value) = (writer.declaration(data.ty, Some(&data.value), "object"))
        .and_then(|ty| Ok((ty, writer.value(data.ty, &data.value)?)))
        .map_err(|m| CodegenError::new(name.clone(), m))?;
    if gc {
        references.type_infos.insert(data.ty);
    }
    let align = layout(data.ty, program).align.max(8);
    let (prefix, hash) = match gc {
        true => (
            "    Signed identity_hash;\n",
            format!("{}ll, ", sym.identity_hash()),
        ),
        false => ("", String::new()),
    };
    let qualifier = if data.readonly { "const " } else { "" };
    Ok(Data {
        shape: format!("struct data_{name} {{\n{prefix}    {ty};\n}};\n"),
        declaration: format!(
            "{qualifier}struct data_{name} __attribute__((aligned({align}))) {name}"
        ),
        value: format!("{{ {hash}{value} }}"),
        name,
    })
}

/// Type information and tables: words, and addresses between them.
pub(crate) fn words(
    name: String,
    object: &DataObject,
    program: &dyn Program,
    references: &mut References,
) -> Result<Data, CodegenError> {
    let (mut shape, mut values) = (String::new(), Vec::new());
    let mut at = 0;
    let mut relocs = object.relocs.iter().peekable();
    while at < object.bytes.len() {
        let member = values.len();
        if let Some(r) = relocs.next_if(|r| r.offset as usize == at) {
            let slots = program.machine().has_narrow_addresses();
            shape.push_str(&match slots {
                true => format!("    RPySlot address{member};\n"),
                false => format!("    const void *address{member};\n"),
            });
            let target = address(&r.target, program, references)
                .map_err(|m| CodegenError::new(name.clone(), m))?;
            let value = match r.addend {
                0 => format!("(void *){target}"),
                n => format!("(char *){target} + {n}"),
            };
            values.push(match slots {
                true => format!("{{ {value} }}"),
                false => value,
            });
            at += 8;
            continue;
        }
        let end = (relocs.peek()).map_or(object.bytes.len(), |r| r.offset as usize);
        let count = (end - at) / 4;
        shape.push_str(&format!("    UInt32 words{member}[{count}];\n"));
        let words = object.bytes[at..end]
            .chunks_exact(4)
            .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]).to_string());
        values.push(format!("{{ {} }}", words.collect::<Vec<_>>().join(", ")));
        at = end;
    }
    Ok(Data {
        shape: format!("struct data_{name} {{\n{shape}}};\n"),
        declaration: format!(
            "const struct data_{name} __attribute__((aligned({}))) {name}",
            object.align
        ),
        value: format!("{{ {} }}", values.join(", ")),
        name,
    })
}

fn address(
    target: &SymbolRef,
    program: &dyn Program,
    references: &mut References,
) -> Result<String, Bad> {
    Ok(match target {
        SymbolRef::Func(f) => {
            references.functions.insert(f.clone());
            format!("&{}", names::function(f))
        }
        SymbolRef::Static(s) => {
            references.statics.insert(s.root().clone());
            static_address(s, program)?
        }
        SymbolRef::TypeInfo(ty) => {
            references.type_infos.insert(*ty);
            format!("&{}", names::type_info(*ty))
        }
        SymbolRef::Places => "&rpy_places".to_owned(),
        other => return Err(format!("a table refers to {other:?}")),
    })
}

/// The address of prebuilt data where its struct is known.
fn static_address(s: &StaticSym, program: &dyn Program) -> Result<String, Bad> {
    let (root, offset) = (s.place(program)).ok_or("no such place in prebuilt data")?;
    let object = format!("&{}.object", names::data(root));
    Ok(match offset {
        0 => object,
        n => format!("((char *){object} + {n})"),
    })
}

struct Writer<'a> {
    program: &'a dyn Program,
    types: &'a mut Types,
    references: &'a mut References,
    /// What goes into the header of the object, until it is written.
    header: Option<String>,
}

impl Writer<'_> {
    /// The declaration of something of a type that has this value.
    fn declaration(
        &mut self,
        ty: LLType,
        value: Option<&StaticValue>,
        name: &str,
    ) -> Result<String, Bad> {
        let is_items = ty.as_array().is_some_and(|a| a.nolength && !a.gc);
        if is_items {
            let of = ty.as_array().map_or(ty, |a| a.of);
            let name = format!("{name}[{}]", count(value));
            return Ok(declared(&self.types.member(of)?, &name));
        }
        if layout(ty, self.program).var.is_none() {
            return Ok(declared(&self.types.member(ty)?, name));
        }
        let is_union = (ty.as_struct()).is_some_and(|s| self.program.body(s).union);
        let mut text = if is_union { "union {" } else { "struct {" }.to_owned();
        for m in members(ty, self.program) {
            let line = match m.kind {
                Kind::Header => "RPyHeader header".to_owned(),
                Kind::Length => "Signed length".to_owned(),
                Kind::Padding(n) => format!("char {}[{n}]", m.name),
                Kind::Items(of) => {
                    let extra = ty.as_array().is_some_and(|a| a.extra_item);
                    let items = format!("items[{}]", count(value) + usize::from(extra));
                    declared(&self.types.member(of)?, &items)
                }
                Kind::Field(i, ty) => {
                    let value = match value {
                        Some(StaticValue::Struct(values)) => values.get(i),
                        _ => None,
                    };
                    self.declaration(ty, value, &m.name)?
                }
            };
            text.push_str(&format!(" {line};"));
        }
        text.push_str(&format!(" }} {name}"));
        Ok(text)
    }

    /// An initialiser.
    fn value(&mut self, ty: LLType, value: &StaticValue) -> Result<String, Bad> {
        match (ty.kind(), value) {
            (_, StaticValue::Const(c)) => self.constant(c),
            (TypeKind::Struct(_) | TypeKind::Array(_), _) => self.members(ty, value),
            (TypeKind::FixedArray(of, _), _) => self.items(*of, value),
            (_, StaticValue::Zero) => Ok("0".to_owned()),
            _ => Err(format!("the value of a {ty} is of another shape")),
        }
    }

    fn members(&mut self, ty: LLType, value: &StaticValue) -> Result<String, Bad> {
        if let Some(a) = ty.as_array().filter(|a| a.nolength && !a.gc) {
            return self.items(a.of, value);
        }
        if let (StaticValue::Struct(values), TypeKind::Struct(s)) = (value, ty.kind()) {
            let fields = self.program.body(s).fields.len();
            if fields != values.len() {
                return Err(format!("{} values for the fields of {ty}", values.len()));
            }
        }
        let mut parts = Vec::new();
        for Member { name, kind } in members(ty, self.program) {
            let text = match kind {
                Kind::Padding(_) => continue,
                Kind::Header => match self.header.take() {
                    Some(header) => header,
                    None => continue,
                },
                Kind::Length => format!("{}ll", count(Some(value))),
                Kind::Items(of) => self.items(of, value)?,
                Kind::Field(i, ty) => match value {
                    StaticValue::Struct(values) => self.value(ty, &values[i])?,
                    // The header is all that there is.
                    _ if self.header.is_some() && i == 0 => self.value(ty, &StaticValue::Zero)?,
                    _ => continue,
                },
            };
            // What is zero need not be said.
            if text != "0" && text != "{ }" {
                parts.push(format!(".{name} = {text}"));
            }
        }
        Ok(match parts.is_empty() {
            true => "{ }".to_owned(),
            false => format!("{{ {} }}", parts.join(", ")),
        })
    }

    fn items(&mut self, of: LLType, value: &StaticValue) -> Result<String, Bad> {
        match value {
            StaticValue::Bytes(b) if !b.is_empty() => Ok(string(b)),
            StaticValue::Array(values) => {
                let mut texts = Vec::with_capacity(values.len());
                for v in values {
                    texts.push(self.value(of, v)?);
                }
                while texts.last().is_some_and(|t| t == "0" || t == "{ }") {
                    texts.pop();
                }
                Ok(match texts.is_empty() {
                    true => "{ }".to_owned(),
                    false => format!("{{ {} }}", texts.join(", ")),
                })
            }
            _ => Ok("{ }".to_owned()),
        }
    }

    fn constant(&mut self, c: &LLConst) -> Result<String, Bad> {
        let text = self.constant_text(c)?;
        Ok(match c {
            LLConst::Func(_) | LLConst::Static(..) if self.types.slots => format!("{{ {text} }}"),
            _ => text,
        })
    }

    fn constant_text(&mut self, c: &LLConst) -> Result<String, Bad> {
        Ok(match c {
            LLConst::Void(_) | LLConst::Null(_) => "0".to_owned(),
            LLConst::Func(f) => {
                let name = match f.kind() {
                    FuncKind::External { .. } => {
                        self.references.externals.insert(f.clone());
                        names::external(f)
                    }
                    _ => {
                        self.references.functions.insert(f.clone());
                        names::function(f)
                    }
                };
                format!("(void *)&{name}")
            }
            LLConst::Static(s, _) => {
                self.references.statics.insert(s.root().clone());
                format!("(void *){}", static_address(s, self.program)?)
            }
            LLConst::Float(bits) if f64::from_bits(*bits).is_nan() => nan(*bits),
            LLConst::SingleFloat(bits) if f32::from_bits(*bits).is_nan() => {
                let sign = if bits >> 31 != 0 { "-" } else { "" };
                format!("{sign}__builtin_nanf(\"{:#x}\")", bits & 0x3f_ffff)
            }
            LLConst::Float(0) | LLConst::SingleFloat(0) => "0".to_owned(),
            number => {
                let text = number_text(number).ok_or_else(|| format!("a constant {c}"))?;
                match text.trim_end_matches(['u', 'l']) {
                    "0" => "0".to_owned(),
                    _ => text,
                }
            }
        })
    }
}

/// A number that is none, as a constant.
fn nan(bits: u64) -> String {
    let sign = if bits >> 63 != 0 { "-" } else { "" };
    format!("{sign}__builtin_nan(\"{:#x}\")", bits & 0x7_ffff_ffff_ffff)
}

/// Number of items of a value of variable size.
fn count(value: Option<&StaticValue>) -> usize {
    match value {
        Some(StaticValue::Array(v)) => v.len(),
        Some(StaticValue::Bytes(b)) => b.len(),
        _ => 0,
    }
}

/// Bytes as a string of C.
fn string(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for b in bytes {
        match b {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(char::from(*b));
            }
            // Two of them could begin a trigraph.
            b'?' => out.push_str("\\?"),
            b'\n' => out.push_str("\\n"),
            b' '..=b'~' => out.push(char::from(*b)),
            _ => out.push_str(&format!("\\{b:03o}")),
        }
    }
    out.push('"');
    out
}

/// What a string is, for a comment.
pub(crate) fn said(sym: &StaticSym) -> Option<String> {
    match sym {
        StaticSym::Str(text) if text.len() <= 60 => {
            Some(format!("{:?}", String::from_utf8_lossy(text)))
        }
        _ => None,
    }
}

/// The declaration of data in a file that does not know its struct: what it is called there is the
/// object itself.
pub(crate) fn declaration(sym: &StaticSym, program: &dyn Program) -> Result<String, Bad> {
    let (root, _) = sym.place(program).ok_or("no such place in prebuilt data")?;
    let name = names::data(root);
    let prefix = match program.static_data(root).ty.is_gc_container() {
        true => STATIC_PREFIX,
        false => 0,
    };
    Ok(format!(
        "extern char data_{name}[] __asm__(\"{name}\");\n#define {name} (data_{name} + {prefix})\n"
    ))
}
