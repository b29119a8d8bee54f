//! Classes in use and their attributes.

use std::collections::BTreeMap;
use std::sync::Arc;

use taipan_graph::ObjId;

use super::Projector;
use crate::Desc;
use crate::result::{Attribute, ClassAttributes, ClassDef};
use crate::solution::Solution;
use crate::store::SlotKey;
use crate::val::Atom;

impl Projector<'_> {
    pub(super) fn add_classes(&self, solution: &mut Solution, old: Option<&Solution>) {
        let store = &self.solver.store;
        let facts = &self.solver.facts;
        let mut used: Vec<(Arc<str>, ObjId)> = Vec::new();
        for slot in &store.slots {
            if let SlotKey::ClassUsed(c) = slot.key
                && !slot.current().is_bottom()
                && let Ok(Some(info)) = facts.class(c)
            {
                used.push((info.name.clone(), c));
            }
        }
        used.sort();
        let mut subclasses: BTreeMap<ObjId, Vec<ObjId>> = BTreeMap::new();
        for (_, c) in &used {
            if let Ok(Some(info)) = facts.class(*c)
                && let Some(base) = info.base
            {
                subclasses.entry(base).or_default().push(*c);
            }
        }
        let mut attrs: BTreeMap<ObjId, ClassAttributes> = BTreeMap::new();
        for slot in &store.slots {
            let SlotKey::AttrUsed(c, name) = &slot.key else {
                continue;
            };
            if slot.current().is_bottom() || self.declared_above(*c, name) {
                continue;
            }
            let value = store.value(&SlotKey::Attr(*c, name.clone()));
            let set = store.value(&SlotKey::AttrSet(*c, name.clone()));
            attrs.entry(*c).or_default().attrs.insert(
                name.clone(),
                Attribute {
                    value: self.sites.some_value(value),
                    readonly: set.is_bottom(),
                },
            );
        }
        self.add_class_attrs(&mut attrs);
        let generic = self.generic_instantiate();
        for (name, c) in &used {
            let Ok(Some(info)) = facts.class(*c) else {
                continue;
            };
            let def = ClassDef {
                name: name.clone(),
                base: info.base,
                subclasses: subclasses.remove(c).unwrap_or_default(),
                generic_instantiate: generic.contains(c),
            };
            solution.add_class(*c, def, attrs.remove(c).unwrap_or_default(), old);
        }
    }

    /// Whether a base class declares the attribute.
    fn declared_above(&self, class: ObjId, name: &Arc<str>) -> bool {
        let Ok(Some(info)) = self.solver.facts.class(class) else {
            return false;
        };
        info.chain.iter().skip(1).any(|base| {
            !self
                .solver
                .store
                .value(&SlotKey::AttrUsed(*base, name.clone()))
                .is_bottom()
        })
    }

    /// Attributes read through PBCs of several classes go to their common base.
    fn add_class_attrs(&self, attrs: &mut BTreeMap<ObjId, ClassAttributes>) {
        let mut joiner = crate::solver::FactJoiner::new(&self.solver.facts);
        for spec in &self.order {
            let (Some(state), Some(graph)) = (self.state(*spec), self.graph(*spec)) else {
                continue;
            };
            for block in &graph.blocks {
                for op in &block.operations {
                    let Some(x) = op.args.first().and_then(|a| a.as_var()) else {
                        continue;
                    };
                    // Variables of blocks that were not reached have no value.
                    let Some(Atom::Pbc(descs)) = state.vars.get(x.index()).and_then(|v| v.single())
                    else {
                        continue;
                    };
                    let classes: Vec<ObjId> = descs
                        .iter()
                        .filter_map(|d| match d {
                            Desc::Class(c) => Some(*c),
                            _ => None,
                        })
                        .collect();
                    if classes.len() < 2 {
                        continue;
                    }
                    let Some(base) = crate::val::base_of_all(&classes, &mut joiner) else {
                        continue;
                    };
                    let name = match op.op {
                        taipan_graph::HlOp::GetAttr => {
                            match op.args[1].as_const().and_then(|c| c.as_str()) {
                                Some(n) if n != "__name__" => n,
                                _ => continue,
                            }
                        }
                        taipan_graph::HlOp::SimpleCall | taipan_graph::HlOp::CallArgs => "__init__",
                        _ => continue,
                    };
                    let value = if name == "__init__" {
                        let inits: Option<Vec<Desc>> = classes
                            .iter()
                            .map(|c| match self.solver.facts.lookup(*c, name) {
                                Ok(Some((_, taipan_graph::Const::Obj(f)))) => {
                                    Some(Desc::Function(f))
                                }
                                _ => None,
                            })
                            .collect();
                        let Some(mut inits) = inits else { continue };
                        inits.sort();
                        inits.dedup();
                        crate::SomeValue {
                            kind: crate::SomeKind::Pbc {
                                descs: inits.into(),
                                can_be_none: false,
                            },
                            const_: None,
                        }
                    } else {
                        self.sites
                            .some_value(&state.vars[op.result.index()].not_const())
                    };
                    attrs
                        .entry(base)
                        .or_default()
                        .class_attrs
                        .insert(name.into(), value);
                }
            }
        }
    }

    /// Classes that are called, or that `instantiate` is called on, through a PBC of
    /// several.
    fn generic_instantiate(&self) -> Vec<ObjId> {
        let mut out = Vec::new();
        for spec in &self.order {
            let (Some(state), Some(graph)) = (self.state(*spec), self.graph(*spec)) else {
                continue;
            };
            for op in graph.blocks.iter().flat_map(|b| &b.operations) {
                use taipan_graph::{Const, HlOp, Operand};
                if !matches!(op.op, HlOp::SimpleCall | HlOp::CallArgs) {
                    continue;
                }
                let arg = match &op.args[..] {
                    [Operand::Var(callee), ..] => *callee,
                    [Operand::Const(Const::Obj(callee)), Operand::Var(arg), ..]
                        if self.is_instantiate(*callee) =>
                    {
                        *arg
                    }
                    _ => continue,
                };
                let Some(Atom::Pbc(descs)) = state.vars[arg.index()].single() else {
                    continue;
                };
                if descs.len() > 1 {
                    out.extend(descs.iter().filter_map(|d| match d {
                        Desc::Class(c) if self.is_class(*c) => Some(*c),
                        _ => None,
                    }));
                }
            }
        }
        out
    }

    fn is_instantiate(&self, o: ObjId) -> bool {
        match self.solver.facts.object(o).ok().flatten().as_deref() {
            Some(taipan_interp::ObjData::Function(f)) => {
                &*f.module == "rpython.rlib.objectmodel" && &*f.name == "instantiate"
            }
            _ => false,
        }
    }
}
