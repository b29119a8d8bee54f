//! Struct types that refer to themselves, tied while a program loads (RPython:
//! `ForwardReference.become`).
//!
//! A forward reference is an opaque type until it becomes another one. Then every
//! struct that mentions it gets a name made of its content, and its body goes into a
//! table of the process under that name, where [`StructType::known_body`] finds it:
//! equal names mean equal bodies, whichever program they come from.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex};

use taipan_heap::StaticTable;

use crate::{ArrayType, Field, FuncType, LLType, StructBody, StructId, StructType, TypeKind};

static BODIES: LazyLock<Mutex<HashMap<Arc<str>, Arc<StructBody>>>> = LazyLock::new(Mutex::default);

pub(crate) fn bodies_table() -> StaticTable {
    StaticTable::of(&BODIES)
}

/// The body of a struct tied by [`Tie`]; none for other names.
pub fn forward_body(name: &str) -> Option<Arc<StructBody>> {
    let table = BODIES.lock().unwrap_or_else(|e| e.into_inner());
    table.get(name).cloned()
}

impl StructType {
    /// Its fields, where no program is needed to tell them.
    pub fn known_body(&self) -> Option<Arc<StructBody>> {
        match &self.id {
            StructId::Inline(b) => Some(b.clone()),
            StructId::Forward(name) => forward_body(name),
            StructId::Instance(_) | StructId::Vtable(_) => None,
        }
    }
}

/// What a forward reference stands for from now on, and all types that mention it.
pub struct Tie {
    from: LLType,
    to: LLType,
    salt: u64,
    done: RefCell<HashMap<LLType, LLType>>,
}

impl Tie {
    /// The forward reference `from` becomes `to`. None if that mentions the reference
    /// outside of all structs: such a type would have no end.
    pub fn new(from: LLType, to: LLType) -> Option<Tie> {
        let mut tie = Tie {
            from,
            to: from,
            salt: 0,
            done: RefCell::default(),
        };
        tie.salt = tie.content(to);
        let mut open = Vec::new();
        tie.to = tie.replaced(to, &mut open);
        if tie.mentions(tie.to) {
            return None;
        }
        tie.define(open);
        Some(tie)
    }

    /// A type after the reference got its meaning.
    pub fn apply(&self, t: LLType) -> LLType {
        if !self.mentions(t) {
            return t;
        }
        let mut open = Vec::new();
        let result = self.replaced(t, &mut open);
        self.define(open);
        result
    }

    fn mentions(&self, t: LLType) -> bool {
        mentions(t, self.from, &mut Vec::new())
    }

    /// A hash of a type's content, whatever the reference was called.
    fn content(&self, t: LLType) -> u64 {
        let unnamed = LLType::new(TypeKind::Opaque {
            name: "itself".into(),
            gc: false,
        });
        let mut h = rustc_hash::FxHasher::default();
        replace(t, &mut |t| (t == self.from).then_some(unnamed)).hash(&mut h);
        h.finish()
    }

    /// A type with structs that mention the reference renamed; their bodies are left
    /// open.
    fn replaced(&self, t: LLType, open: &mut Vec<(Arc<str>, Arc<StructBody>)>) -> LLType {
        replace(t, &mut |t| {
            if t == self.from {
                return Some(self.to);
            }
            let s = t.as_struct()?;
            let body = s.known_body()?;
            if !self.mentions(t) {
                return Some(t);
            }
            if let Some(done) = self.done.borrow().get(&t) {
                return Some(*done);
            }
            let content = self.content(t) ^ self.salt.rotate_left(32);
            let name: Arc<str> = format!("{}#{content:016x}", s.name).into();
            let renamed = LLType::new(TypeKind::Struct(StructType {
                name: s.name.clone(),
                gc: s.gc,
                id: StructId::Forward(name.clone()),
            }));
            self.done.borrow_mut().insert(t, renamed);
            open.push((name, body));
            Some(renamed)
        })
    }

    fn define(&self, mut open: Vec<(Arc<str>, Arc<StructBody>)>) {
        while let Some((name, body)) = open.pop() {
            let fields = body.fields.iter().map(|f| Field {
                name: f.name.clone(),
                ty: self.replaced(f.ty, &mut open),
            });
            let body = StructBody {
                fields: fields.collect(),
                ..(*body).clone()
            };
            let mut table = BODIES.lock().unwrap_or_else(|e| e.into_inner());
            table.insert(name, Arc::new(body));
        }
    }
}

/// A type with parts replaced: `by` answers for those that it knows.
fn replace(t: LLType, by: &mut impl FnMut(LLType) -> Option<LLType>) -> LLType {
    if let Some(other) = by(t) {
        return other;
    }
    match t.kind() {
        TypeKind::Ptr(to) => replace(*to, by).ptr(),
        TypeKind::Array(a) => LLType::new(TypeKind::Array(ArrayType {
            of: replace(a.of, by),
            ..a.clone()
        })),
        TypeKind::FixedArray(of, n) => LLType::new(TypeKind::FixedArray(replace(*of, by), *n)),
        TypeKind::Func(f) => LLType::new(TypeKind::Func(FuncType {
            args: f.args.iter().map(|a| replace(*a, by)).collect(),
            result: replace(f.result, by),
        })),
        TypeKind::Struct(s) => match &s.id {
            StructId::Inline(body) => {
                let fields = body.fields.iter().map(|f| Field {
                    name: f.name.clone(),
                    ty: replace(f.ty, by),
                });
                LLType::new(TypeKind::Struct(StructType {
                    name: s.name.clone(),
                    gc: s.gc,
                    id: StructId::Inline(Arc::new(StructBody {
                        fields: fields.collect(),
                        ..(**body).clone()
                    })),
                }))
            }
            _ => t,
        },
        _ => t,
    }
}

fn mentions(t: LLType, what: LLType, seen: &mut Vec<LLType>) -> bool {
    if t == what {
        return true;
    }
    match t.kind() {
        TypeKind::Ptr(to) | TypeKind::FixedArray(to, _) => mentions(*to, what, seen),
        TypeKind::Array(a) => mentions(a.of, what, seen),
        TypeKind::Func(f) => {
            f.args.iter().any(|a| mentions(*a, what, seen)) || mentions(f.result, what, seen)
        }
        TypeKind::Struct(s) => {
            if seen.contains(&t) {
                return false;
            }
            seen.push(t);
            s.known_body()
                .is_some_and(|b| b.fields.iter().any(|f| mentions(f.ty, what, seen)))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SIGNED;

    fn field(name: &str, ty: LLType) -> Field {
        Field {
            name: name.into(),
            ty,
        }
    }

    fn node(name: &str, next: LLType) -> LLType {
        LLType::gc_struct(
            name,
            StructBody {
                fields: vec![field("value", *SIGNED), field("next", next.ptr())],
                ..StructBody::default()
            },
        )
    }

    fn reference(n: u32) -> LLType {
        LLType::new(TypeKind::Opaque {
            name: format!("forward {n}").into(),
            gc: true,
        })
    }

    #[test]
    fn a_list_node_refers_to_itself() {
        let tie = Tie::new(reference(1), node("node", reference(1))).unwrap();
        let t = tie.apply(reference(1));
        let body = t.as_struct().unwrap().known_body().unwrap();
        assert_eq!(body.fields[1].ty, t.ptr());
        // The same content is the same type, whatever the reference was called.
        let again = Tie::new(reference(2), node("node", reference(2))).unwrap();
        assert_eq!(again.apply(reference(2)), t);
        let other = Tie::new(reference(3), node("other", reference(3))).unwrap();
        assert_ne!(other.apply(reference(3)), t);
    }

    #[test]
    fn two_structs_refer_to_each_other() {
        let (a, b) = (reference(1), reference(2));
        let first = Tie::new(a, node("a", b)).unwrap();
        let open = first.apply(a);
        let second = Tie::new(b, node("b", open)).unwrap();
        let (a, b) = (second.apply(open), second.apply(b));
        let next = |t: LLType| t.as_struct().unwrap().known_body().unwrap().fields[1].ty;
        assert_eq!(next(a), b.ptr());
        assert_eq!(next(b), a.ptr());
    }

    #[test]
    fn arrays_of_themselves_have_no_end() {
        assert!(Tie::new(reference(1), LLType::gc_array(reference(1).ptr())).is_none());
    }
}
