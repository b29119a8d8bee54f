//! What `str()` and `repr()` of constants give. The original computes them in Python
//! while it builds flow graphs, so that a constant tuple or list prints as in Python,
//! which run-time code would not do.

use taipan_graph::Const;
use taipan_interp::{Complex, ObjData, named_id, spelling};

use crate::world::World;

/// Lists that are nested deeper are left to run time; they may contain themselves.
const MAX_DEPTH: u32 = 20;

/// `str(c)`; none where only run time can tell.
pub(crate) fn str_of(world: World<'_>, c: &Const) -> Option<Vec<u8>> {
    match c {
        Const::Str(s) => Some(s.to_vec()),
        Const::Unicode(u) => u
            .iter()
            .map(|c| u8::try_from(*c).ok().filter(u8::is_ascii))
            .collect(),
        Const::Long(l) => Some(l.to_string().into_bytes()),
        Const::Float(bits) => Some(spelling::float_str(f64::from_bits(*bits)).into_bytes()),
        Const::Complex(..) => Some(Complex::of(c)?.str().into_bytes()),
        Const::Obj(_) if let Some(bytes) = world.bytearray(c) => bytes
            .iter()
            .map(|b| match b {
                Const::Int(b) => u8::try_from(*b).ok(),
                _ => None,
            })
            .collect(),
        _ => repr_of(world, c).map(String::into_bytes),
    }
}

/// `repr(c)`; none where only run time can tell.
pub(crate) fn repr_of(world: World<'_>, c: &Const) -> Option<String> {
    nested_repr(world, c, 0)
}

fn nested_repr(world: World<'_>, c: &Const, depth: u32) -> Option<String> {
    let inner = |c: &Const| nested_repr(world, c, depth + 1);
    let joined = |items: &[Const]| {
        let texts: Option<Vec<String>> = items.iter().map(inner).collect();
        Some(texts?.join(", "))
    };
    Some(match c {
        Const::None | Const::Bool(_) | Const::Int(_) | Const::Long(_) => c.to_string(),
        Const::Float(bits) => spelling::float_repr(f64::from_bits(*bits)),
        Const::Complex(..) => Complex::of(c)?.repr(),
        Const::Str(s) => spelling::quote_bytes(s),
        Const::Unicode(u) => spelling::quote_unicode(u),
        _ if depth > MAX_DEPTH => return None,
        Const::Tuple(items) if items.len() == 1 => format!("({},)", joined(items)?),
        Const::Tuple(items) => format!("({})", joined(items)?),
        Const::Obj(id) => match world.object(*id)? {
            ObjData::List(items) => format!("[{}]", joined(items)?),
            // With more items the order is that of the hashes.
            ObjData::Dict(items) => match &items[..] {
                [] => "{}".to_owned(),
                [(k, v)] => format!("{{{}: {}}}", inner(k)?, inner(v)?),
                _ => return None,
            },
            ObjData::Class(c) if c.metaclass == named_id("__builtin__.type") => match &*c.module {
                "__builtin__" => format!("<type '{}'>", c.name),
                module if c.builtin => format!("<type '{module}.{}'>", c.name),
                module => format!("<class '{module}.{}'>", c.name),
            },
            _ => return None,
        },
        Const::RInt(..) | Const::SingleFloat(_) | Const::Shape(_) => return None,
    })
}
