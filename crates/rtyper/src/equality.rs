//! What RPython does in silence otherwise than Python, in functions of test files: it
//! compares instances by identity, whatever their classes define, and `str()` of an instance
//! never is what its class makes of it. A test that relies on `__eq__` or `__str__` says what
//! Python does; as machine code it would fail for no good reason.

use std::collections::BTreeSet;

use taipan_annotator::{Class, Site, SiteId, SomeKind, SomeValue};
use taipan_base::ErrorCode;
use taipan_graph::{Const, HlOp, ObjId};
use taipan_interp::ObjData;

use crate::{RTyper, Typed, TyperError, Universe};

/// An error where Python would call a method of the program to compare the operands.
pub(crate) fn check(rt: &RTyper<'_>, op: HlOp, args: &[SomeValue]) -> Typed<()> {
    let method = match op {
        HlOp::Eq | HlOp::Contains => "__eq__",
        HlOp::Ne => "__ne__",
        _ => return Ok(()),
    };
    let [left, right] = args else { return Ok(()) };
    // Nothing has to be called to compare with None.
    if [left, right]
        .iter()
        .any(|s| matches!(s.kind, SomeKind::None))
    {
        return Ok(());
    }
    let mut search = Search {
        rt,
        methods: [method, "__cmp__"],
        sites: BTreeSet::new(),
        classes: BTreeSet::new(),
    };
    for s in [left, right] {
        if let Some((class, method)) = search.value(s)? {
            let name = rt.class_name(class);
            let message = format!(
                "RPython compares instances by identity: {name}.{method} is for Python alone"
            );
            return Err(TyperError::with_code(
                ErrorCode::MissingRTypeOperation,
                message,
            ));
        }
    }
    Ok(())
}

/// An error where Python would call a method of the program for `str()` of an instance, but
/// in the message of an AssertionError. To be asked for functions of all files.
pub(crate) fn check_str(rt: &RTyper<'_>, class: Option<ObjId>) -> Typed<()> {
    if !rt.in_test || rt.before_failure.get() {
        return Ok(());
    }
    let mut search = Search {
        rt,
        methods: ["__str__", "__repr__"],
        sites: BTreeSet::new(),
        classes: BTreeSet::new(),
    };
    match class.map_or(Ok(None), |c| search.class(c))? {
        None => Ok(()),
        Some((class, method)) => {
            let name = rt.class_name(class);
            let message =
                format!("str() of an instance calls nothing: {name}.{method} is for Python alone");
            Err(TyperError::with_code(
                ErrorCode::MissingRTypeOperation,
                message,
            ))
        }
    }
}

/// Looks for classes that define how their instances are compared.
struct Search<'a> {
    rt: &'a RTyper<'a>,
    methods: [&'static str; 2],
    sites: BTreeSet<SiteId>,
    classes: BTreeSet<ObjId>,
}

type Found = Option<(ObjId, &'static str)>;

impl Search<'_> {
    fn value(&mut self, s: &SomeValue) -> Typed<Found> {
        match &s.kind {
            SomeKind::Instance {
                class: Some(class), ..
            } => self.class(*class),
            SomeKind::Tuple(items) => {
                for item in items.iter() {
                    let found = self.value(item)?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
                Ok(None)
            }
            SomeKind::List { site, .. } if self.sites.insert(*site) => {
                let Universe::User(roots) = self.rt.universe else {
                    return Ok(None);
                };
                let key = Site::new(self.rt.db, roots, *site);
                let item = taipan_annotator::list_def(self.rt.db, key).item.clone();
                self.value(&item)
            }
            _ => Ok(None),
        }
    }

    fn class(&mut self, class: ObjId) -> Typed<Found> {
        if !self.classes.insert(class) {
            return Ok(None);
        }
        for method in self.methods {
            if let Some(Const::Obj(f)) = self.rt.read_class_attribute(class, method)
                && matches!(*self.rt.object(f)?, ObjData::Function(_))
            {
                return Ok(Some((class, method)));
            }
        }
        let Universe::User(roots) = self.rt.universe else {
            return Ok(None);
        };
        let def = taipan_annotator::class_def(self.rt.db, Class::new(self.rt.db, roots, class));
        for sub in &def.subclasses {
            let found = self.class(*sub)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}
