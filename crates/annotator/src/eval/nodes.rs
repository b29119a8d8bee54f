//! Nodes that are no functions: roots, classes, attributes, prebuilt objects, pairs
//! of sites.

use std::sync::Arc;

use taipan_base::ErrorCode;
use taipan_graph::{BlockId, Const, ObjId};
use taipan_interp::{InstanceData, ObjData};
use taipan_lltype::{HelperArg, LLType, VoidConst};

use super::args::Arguments;
use super::constants::prebuilt_site;
use super::lowlevel::{ll_type_val, lltype_to_annotation};
use super::{Cx, FunctionState, Root};
use crate::facts::Known;
use crate::store::SlotKey;
use crate::val::{Atom, EdgeKind, Ints, ListFlags, Step, Val};
use crate::{ArgSource, Desc, InputType, SiteId};

impl Cx<'_> {
    /// A call from outside.
    pub(super) fn root_node(&mut self, i: u32, root: &Root) -> Known<FunctionState> {
        self.place.owner = format!("root {i}");
        self.place.made = 0;
        let mut vals = Vec::new();
        let func = match root {
            Root::Call {
                func,
                args,
                classes,
            } => {
                for a in args {
                    vals.push((ArgSource::Receiver, self.input_val(a, classes)?));
                }
                func
            }
            Root::Helper { func, args } => {
                for a in args {
                    let v = match a {
                        HelperArg::Type(t) => lltype_to_annotation(*t),
                        HelperArg::Const(c) => self.void_val(c)?,
                    };
                    vals.push((ArgSource::Receiver, v));
                }
                func
            }
        };
        self.call_desc(&Desc::Function(*func), Arguments::positional(vals))?;
        let record = std::mem::take(&mut self.record);
        Ok(FunctionState {
            ops: vec![(BlockId(0), 0, record)],
            problems: std::mem::take(&mut self.problems),
            ..FunctionState::default()
        })
    }

    fn void_val(&mut self, c: &VoidConst) -> Known<Val> {
        Ok(match c {
            VoidConst::Type(t) => ll_type_val(*t),
            VoidConst::Hl(c) => self.const_val(c)?,
            VoidConst::Field(name) => self.const_val(&Const::str(name))?,
            VoidConst::Func(f) => super::lowlevel::ll_func_val(f),
            VoidConst::None | VoidConst::Flavor { .. } | VoidConst::Targets(_) => Val::none(),
        })
    }

    /// The annotation of a value that comes from outside.
    fn input_val(&mut self, t: &InputType, classes: &[(Box<str>, ObjId)]) -> Known<Val> {
        Ok(match t {
            InputType::Integer { nonneg, kind } => {
                Atom::Int(Ints::of(*kind, *nonneg).untold()).into()
            }
            InputType::Bool => Val::bool_(),
            InputType::Float => Atom::Float.into(),
            InputType::SingleFloat => Atom::SingleFloat.into(),
            InputType::Char => Val::char_(false),
            InputType::UniChar => Val::unichar(false),
            InputType::Str {
                can_be_none,
                no_nul,
            } => nullable(Val::str_(*no_nul), *can_be_none),
            InputType::ByteArray => Atom::ByteArray.into(),
            InputType::Unicode { can_be_none } => nullable(Val::unicode(false), *can_be_none),
            InputType::List {
                item,
                resized,
                mutated,
            } => {
                let item = self.input_val(item, classes)?;
                let site = self.new_site();
                self.write(SlotKey::Item(site), item);
                self.write(
                    SlotKey::Flags(site),
                    Atom::ListFlags(ListFlags {
                        resized: *resized,
                        mutated: *mutated || *resized,
                        must_not_resize: false,
                        step: Step::List,
                    })
                    .into(),
                );
                Atom::List(site).into()
            }
            InputType::Dict { key, value } => {
                let (key, value) = (
                    self.input_val(key, classes)?,
                    self.input_val(value, classes)?,
                );
                let (site, dict) = self.new_dict();
                self.write(SlotKey::Key(site), key);
                self.write(SlotKey::Value(site), value);
                dict
            }
            InputType::Tuple(items) => {
                let mut vals = Vec::new();
                for i in items {
                    vals.push(self.input_val(i, classes)?);
                }
                Val::tuple(vals)
            }
            InputType::Instance { class, can_be_none } => {
                match classes.iter().find(|(n, _)| n == class) {
                    Some((_, c)) => nullable(self.instance(*c)?, *can_be_none),
                    None => self.problem(
                        ErrorCode::UnknownInputClass,
                        format!("there is no class {class}"),
                    ),
                }
            }
            InputType::Const(c) => self.const_val(c)?,
            InputType::None => Val::none(),
            InputType::Impossible => Val::default(),
        })
    }

    /// A class in use tells its base, and whoever asks for such classes. Its finalizer is called.
    pub(super) fn class_node(&mut self, class: ObjId) -> Known<()> {
        if self.read(SlotKey::ClassUsed(class)).is_bottom() {
            return Ok(());
        }
        let Some(info) = self.facts.class(class)? else {
            return Ok(());
        };
        if let Some(base) = info.base {
            self.signal(SlotKey::ClassUsed(base));
        }
        let me = || Val::pbc(Desc::Class(class));
        let asked = (self.facts).hierarchy(|h| self.store.families.above(class, h));
        let itself = self.store.families.contains(class).then_some(class);
        for above in asked.into_iter().chain(itself) {
            if !self.read(SlotKey::SubClassesUsed(above)).is_bottom() {
                self.write(SlotKey::SubClasses(above), me());
            }
        }
        for name in info.dict.keys() {
            if let Some((name, used)) = self.store.used.get_key_value(&**name)
                && !used.is_empty()
            {
                let name = name.clone();
                if let Some(home) = self.used_above(class, &name)? {
                    self.tell_home(class, &name, home);
                }
            }
        }
        for field in info.immutable_fields.iter().filter(|f| f.ends_with("[*]")) {
            self.write(SlotKey::ImmutableItems((&**field).into()), me());
        }
        if let Some(f) = info.finalizer() {
            let me = Val::instance(class);
            let args = Arguments::positional(vec![(ArgSource::Instance, me)]);
            self.call_desc(&Desc::Function(f), args)?;
        }
        if let Some(names) = forced_attributes(&info.name) {
            for (name, v) in names {
                let name: Arc<str> = name.into();
                self.signal(SlotKey::AttrUsed(class, name.clone()));
                self.signal(SlotKey::AttrSet(class, name.clone()));
                self.write(SlotKey::Attr(class, name), v);
            }
        }
        Ok(())
    }

    /// Somebody asks for the subclasses of a class. Those that come into use later tell that
    /// themselves.
    pub(super) fn subclasses_node(&mut self, class: ObjId) -> Known<()> {
        if self.read(SlotKey::SubClassesUsed(class)).is_bottom() {
            return Ok(());
        }
        self.facts.class(class)?;
        let mut used = Vec::new();
        for c in self.facts.hierarchy(|h| h.below(class)) {
            if self.is_class_used(c)? {
                used.push(Desc::Class(c));
            }
        }
        if !used.is_empty() {
            used.sort();
            self.write(SlotKey::SubClasses(class), Atom::Pbc(used.into()).into());
        }
        Ok(())
    }

    /// Whether a class is in use as of now. Who asks is to be told by the class if it will be.
    pub(super) fn is_class_used(&mut self, class: ObjId) -> Known<bool> {
        let key = SlotKey::ClassUsed(class);
        if !self.holds_something(&key) {
            return Ok(false);
        }
        self.read(key);
        self.facts.class(class)?;
        Ok(true)
    }

    /// Whether a slot holds something as of now; the node is not told when it will.
    pub(super) fn holds_something(&self, key: &SlotKey) -> bool {
        let slot = self.store.find_slot(key);
        slot.is_some_and(|s| !s.as_of(self.t).is_bottom())
    }

    /// Whether the node has contributed to a slot before.
    pub(super) fn has_contributed(&self, key: &SlotKey) -> bool {
        let slot = self.store.find_slot_ix(key);
        let node = &self.store.nodes[self.node];
        slot.is_some_and(|slot| !node.before(self.t, slot).is_bottom())
    }

    /// The subclasses in use of a class, itself included.
    pub(super) fn subclasses(&mut self, class: ObjId) -> Vec<ObjId> {
        self.signal(SlotKey::SubClassesUsed(class));
        self.members(SlotKey::SubClasses(class))
    }

    /// The classes that have been contributed to a slot, sorted.
    pub(super) fn members(&mut self, key: SlotKey) -> Vec<ObjId> {
        let slot = self.store.slot(key);
        if self.read_slot(slot).is_bottom() {
            return Vec::new();
        }
        self.store.slots[slot].members(self.t)
    }

    /// The content of a prebuilt object.
    pub(super) fn prebuilt_node(&mut self, obj: ObjId) -> Known<()> {
        if self.read(SlotKey::Seen(obj)).is_bottom() {
            return Ok(());
        }
        let Some(data) = self.facts.object(obj)? else {
            return Ok(());
        };
        let site = prebuilt_site(obj);
        let content = match &*data {
            ObjData::Instance(i) if self.is_r_dict(i.class)? => {
                if let (Some(eq), Some(hash)) = (i.get("key_eq"), i.get("key_hash")) {
                    let pair = Val::tuple(vec![self.const_val(eq)?, self.const_val(hash)?]);
                    self.write(SlotKey::Custom(site), pair.not_const());
                }
                ObjData::Dict(self.r_dict_items(i)?)
            }
            ObjData::Instance(i) => match i.payload.as_deref() {
                Some(p @ (ObjData::Dict(_) | ObjData::List(_))) => p.clone(),
                _ => {
                    return self.prebuilt_fields(i);
                }
            },
            ObjData::LLContainer { parts, parent, .. } => {
                self.for_all(parts, Self::prebuilt_part)?;
                if let Some((parent, _)) = parent {
                    self.signal(SlotKey::Seen(*parent));
                }
                return Ok(());
            }
            ObjData::LLFunction { ty, callable, .. } => {
                return self.call_from_pointers(*ty, callable);
            }
            other => other.clone(),
        };
        match content {
            ObjData::List(items) => {
                for v in self.for_all(&items, |cx, i| cx.const_val(i))? {
                    self.write(SlotKey::Item(site), v);
                }
                self.write(
                    SlotKey::Flags(site),
                    Atom::ListFlags(ListFlags {
                        step: Step::List,
                        ..ListFlags::default()
                    })
                    .into(),
                );
            }
            ObjData::Dict(items) => {
                let pairs = self.for_all(&items, |cx, (k, v)| {
                    let (k, v) = (cx.const_val(k), cx.const_val(v));
                    Ok((k?, v?))
                })?;
                for (k, v) in pairs {
                    self.write(SlotKey::Key(site), k);
                    self.write(SlotKey::Value(site), v);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// What a prebuilt instance adds to the attributes of its class that are in use: a
    /// value that nobody asks for is not looked at.
    fn prebuilt_fields(&mut self, instance: &InstanceData) -> Known<()> {
        let class = instance.class;
        self.signal(SlotKey::HasInstances(class));
        self.for_all(&instance.attrs, |cx, (name, v)| {
            let name: Arc<str> = name.as_ref().into();
            let used = SlotKey::FieldUsed(class, name.clone());
            // Where the attribute was used before there were instances, nobody has asked. What the
            // instance itself said of that counts for nothing: it says where to bring the field
            // as well, which may be another place by now.
            if cx.read(used.clone()).is_bottom() || cx.has_contributed(&used) {
                let Some(home) = cx.used_above(class, &name)? else {
                    return Ok(());
                };
                cx.tell_home(class, &name, home);
                cx.signal(used);
            }
            let v = cx.const_val(v)?;
            cx.write(SlotKey::Field(class, name), v);
            Ok(())
        })?;
        Ok(())
    }

    /// Keys and values of a prebuilt `r_dict`, which wraps its keys in objects.
    fn r_dict_items(&mut self, dict: &InstanceData) -> Known<Vec<(Const, Const)>> {
        let Some(Const::Obj(inner)) = dict.get("_dict") else {
            return Ok(Vec::new());
        };
        let inner = self.facts.object(*inner)?;
        let wrapped = match inner.as_deref() {
            Some(ObjData::Dict(items)) => items.clone(),
            Some(ObjData::Instance(i)) => match i.payload.as_deref() {
                Some(ObjData::Dict(items)) => items.clone(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let mut out = Vec::new();
        for (k, v) in wrapped {
            let Const::Obj(k) = k else { continue };
            if let Some(ObjData::Instance(wrapper)) = self.facts.object(k)?.as_deref()
                && let Some(key) = wrapper.get("key")
            {
                out.push((key.clone(), v));
            }
        }
        Ok(out)
    }

    /// A part of a low-level container.
    fn prebuilt_part(&mut self, part: &Const) -> Known<()> {
        if let Const::Obj(o) = part {
            match self.facts.object(*o)?.as_deref() {
                Some(ObjData::LLContainer { .. }) => self.signal(SlotKey::Seen(*o)),
                _ => {
                    self.const_val(part)?;
                }
            }
        }
        Ok(())
    }

    /// A function that low-level pointers point to is called with what its type says.
    fn call_from_pointers(&mut self, ty: LLType, callable: &Const) -> Known<()> {
        let (Some(f), Const::Obj(_)) = (ty.as_func(), callable) else {
            return Ok(());
        };
        let args = f.args.iter();
        let args = args.map(|t| (ArgSource::Receiver, lltype_to_annotation(*t)));
        let args = Arguments::positional(args.collect());
        let callee = self.const_val(callable)?;
        self.call(&callee, args)?;
        Ok(())
    }

    /// Two sites that meet have everything in common.
    pub(super) fn edge_node(&mut self, kind: EdgeKind, a: SiteId, b: SiteId) {
        if self.read(SlotKey::Edge(kind, a, b)).is_bottom() {
            return;
        }
        let slots: &[fn(SiteId) -> SlotKey] = match kind {
            EdgeKind::List => &[SlotKey::Item, SlotKey::Flags],
            EdgeKind::Items => &[SlotKey::Item],
            EdgeKind::Dict => &[SlotKey::Key, SlotKey::Value, SlotKey::Custom],
        };
        for slot in slots {
            let (x, y) = (self.read(slot(a)), self.read(slot(b)));
            self.write(slot(a), y);
            self.write(slot(b), x);
        }
        if kind == EdgeKind::Items {
            self.agree_steps(a, b);
        }
    }

    /// Agreement of items makes ranges agree on their step too, and nothing else.
    fn agree_steps(&mut self, a: SiteId, b: SiteId) {
        let (x, y) = (
            self.read(SlotKey::Flags(a)).flags().step,
            self.read(SlotKey::Flags(b)).flags().step,
        );
        for (to, own, other) in [(a, x, y), (b, y, x)] {
            if matches!(own, Step::Range(_)) && other != Step::Unknown {
                self.write(
                    SlotKey::Flags(to),
                    Atom::ListFlags(ListFlags {
                        step: other,
                        ..ListFlags::default()
                    })
                    .into(),
                );
            }
        }
    }

    /// The equality and hash functions of an `r_dict` are called with its keys.
    pub(super) fn custom_node(&mut self, site: SiteId) -> Known<()> {
        let custom = self.read(SlotKey::Custom(site));
        let [Atom::Tuple(pair)] = &custom.atoms[..] else {
            return Ok(());
        };
        let key = self.read(SlotKey::Key(site));
        if key.is_bottom() {
            return Ok(());
        }
        for (func, n) in pair.iter().zip([2, 1]) {
            let args = (0..n).map(|_| (ArgSource::Receiver, key.clone())).collect();
            self.call(&func.clone(), Arguments::positional(args))?;
        }
        Ok(())
    }
}

fn nullable(v: Val, can_be_none: bool) -> Val {
    if can_be_none { v.or_none() } else { v }
}

/// Attributes that builtin exception classes have without ever being assigned.
fn forced_attributes(class: &str) -> Option<Vec<(&'static str, Val)>> {
    (class == "exceptions.EnvironmentError").then(|| {
        vec![
            ("errno", Val::signed()),
            ("strerror", Val::str_(false).or_none()),
            ("filename", Val::str_(false).or_none()),
        ]
    })
}
