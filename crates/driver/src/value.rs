//! Python values that cross the border between the compiler and the code it made:
//! arguments and results of `taipan call`.

use std::fmt;

use serde_json::{Number, Value, json};
use taipan_annotator::InputType;
use taipan_graph::IntKind;

/// A Python value without identity.
#[derive(Clone, PartialEq, Debug)]
pub enum PyValue {
    /// `None`
    None,
    /// `True`, `False`
    Bool(bool),
    /// An integer of any kind.
    Int(i128),
    /// A float.
    Float(f64),
    /// A byte string.
    Str(Vec<u8>),
    /// A unicode string.
    Unicode(Vec<u32>),
    /// A list.
    List(Vec<PyValue>),
    /// A tuple.
    Tuple(Vec<PyValue>),
    /// A dict, in its order.
    Dict(Vec<(PyValue, PyValue)>),
    /// Any other instance: the name of its class.
    Instance(String),
}

impl PyValue {
    /// The annotation of an argument with this value; none for what cannot be passed.
    pub fn input_type(&self) -> Option<InputType> {
        Some(match self {
            PyValue::None => InputType::None,
            PyValue::Bool(_) => InputType::Bool,
            PyValue::Int(i) => InputType::Integer {
                nonneg: false,
                kind: if i64::try_from(*i).is_ok() {
                    IntKind::SIGNED
                } else {
                    IntKind::UNSIGNED
                },
            },
            PyValue::Float(_) => InputType::Float,
            PyValue::Str(s) if s.len() == 1 => InputType::Char,
            PyValue::Str(s) => InputType::Str {
                can_be_none: false,
                no_nul: !s.contains(&0),
            },
            PyValue::Unicode(s) if s.len() == 1 => InputType::UniChar,
            PyValue::Unicode(_) => InputType::Unicode { can_be_none: false },
            PyValue::List(items) => InputType::List {
                item: Box::new(common_type(items)?),
                resized: true,
                mutated: true,
            },
            PyValue::Tuple(items) => InputType::Tuple(
                items
                    .iter()
                    .map(PyValue::input_type)
                    .collect::<Option<_>>()?,
            ),
            PyValue::Dict(_) | PyValue::Instance(_) => return None,
        })
    }

    /// As JSON, the way `taipan call --json` prints it.
    pub fn to_json(&self) -> Value {
        match self {
            PyValue::None => Value::Null,
            PyValue::Bool(b) => json!(b),
            PyValue::Int(i) => Number::from_i128(*i)
                .map_or_else(|| Value::String(i.to_string()), Value::Number),
            PyValue::Float(f) if f.is_nan() => json!("nan"),
            PyValue::Float(f) if f.is_infinite() => json!(if *f > 0.0 { "inf" } else { "-inf" }),
            PyValue::Float(f) => json!(f),
            PyValue::Str(s) => Value::String(s.iter().map(|b| char::from(*b)).collect()),
            PyValue::Unicode(s) => Value::String(
                s.iter()
                    .map(|c| char::from_u32(*c).unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect(),
            ),
            PyValue::List(items) | PyValue::Tuple(items) => {
                items.iter().map(PyValue::to_json).collect()
            }
            PyValue::Dict(items) => items
                .iter()
                .map(|(k, v)| json!([k.to_json(), v.to_json()]))
                .collect(),
            PyValue::Instance(class) => json!(format!("<{class} object>")),
        }
    }
}

/// The annotation that holds for all items: strings of one character among others
/// are strings.
fn common_type(items: &[PyValue]) -> Option<InputType> {
    let mut all = items.iter().map(PyValue::input_type);
    let Some(first) = all.next() else {
        return Some(InputType::Impossible);
    };
    let mut common = first?;
    for t in all {
        let t = t?;
        common = match (common, t) {
            (a, b) if a == b => a,
            (InputType::Char | InputType::Str { .. }, InputType::Char | InputType::Str { .. }) => {
                InputType::Str {
                    can_be_none: false,
                    no_nul: false,
                }
            }
            (
                InputType::UniChar | InputType::Unicode { .. },
                InputType::UniChar | InputType::Unicode { .. },
            ) => InputType::Unicode { can_be_none: false },
            (InputType::Integer { .. } | InputType::Bool, InputType::Float)
            | (InputType::Float, InputType::Integer { .. } | InputType::Bool) => InputType::Float,
            (InputType::None, InputType::Str { no_nul, .. })
            | (InputType::Str { no_nul, .. }, InputType::None) => InputType::Str {
                can_be_none: true,
                no_nul,
            },
            _ => return None,
        };
    }
    Some(common)
}

fn join(f: &mut fmt::Formatter<'_>, items: &[PyValue]) -> fmt::Result {
    for (i, v) in items.iter().enumerate() {
        write!(f, "{}{v}", if i > 0 { ", " } else { "" })?;
    }
    Ok(())
}

/// As a Python literal.
impl fmt::Display for PyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PyValue::None => f.write_str("None"),
            PyValue::Bool(b) => f.write_str(if *b { "True" } else { "False" }),
            PyValue::Int(i) => write!(f, "{i}"),
            PyValue::Float(x) if x.is_nan() => f.write_str("nan"),
            PyValue::Float(x) if x.is_infinite() => f.write_str(if *x > 0.0 { "inf" } else { "-inf" }),
            PyValue::Float(x) => write!(f, "{x:?}"),
            PyValue::Str(s) => write!(f, "'{}'", s.escape_ascii()),
            PyValue::Unicode(s) => {
                f.write_str("u'")?;
                for c in s {
                    match char::from_u32(*c) {
                        Some(c) if c.is_ascii_graphic() || c == ' ' => write!(f, "{c}")?,
                        _ if *c > 0xffff => write!(f, "\\U{c:08x}")?,
                        _ => write!(f, "\\u{c:04x}")?,
                    }
                }
                f.write_str("'")
            }
            PyValue::List(items) => {
                f.write_str("[")?;
                join(f, items)?;
                f.write_str("]")
            }
            PyValue::Tuple(items) => {
                f.write_str("(")?;
                join(f, items)?;
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
            PyValue::Dict(items) => {
                f.write_str("{")?;
                for (i, (k, v)) in items.iter().enumerate() {
                    write!(f, "{}{k}: {v}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
            PyValue::Instance(class) => write!(f, "<{class} object>"),
        }
    }
}
