//! What RPython does in silence otherwise than Python, in functions of test files: it
//! compares instances by identity, whatever their classes define, and `str()` of an instance
//! never is what its class makes of it. A test that relies on `__eq__` or `__str__` says what
//! Python does; as machine code it would fail for no good reason. In other functions it is a
//! warning ([`crate::differences`]).

use std::collections::BTreeSet;

use taipan_annotator::{Class, FunctionAnnotation, Site, SiteId, SomeKind, SomeValue};
use taipan_base::{Db, ErrorCode, SHIPPED};
use taipan_graph::{Const, HighLevel, HlOp, ObjId, Operand, Operation};
use taipan_interp::{FunctionData, ObjData};

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
        methods: &[method, "__cmp__"],
        own: false,
        below: true,
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
        methods: TEXTS,
        own: false,
        below: true,
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

/// Whether a method is one of the program that may be meant to be called.
fn is_own(db: &dyn Db, f: &FunctionData) -> bool {
    let file = f.code.file(db);
    let ships = file.is_none_or(|file| file.path(db).starts_with(SHIPPED));
    let tag = f.get("_not_rpython_");
    !ships && matches!(tag, None | Some(Const::Bool(false) | Const::None))
}

/// A method that Python calls for an operation on instances, and RPython does not.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct IgnoredMethod {
    /// Kind of operation.
    pub(crate) code: ErrorCode,
    /// The class and the method, as `Point.__eq__`.
    method: String,
    /// The builtin method of an exception, which prints the arguments.
    of_exception: bool,
}

impl IgnoredMethod {
    /// The message, and the remedy.
    pub(crate) fn words(&self) -> (String, &'static str) {
        let method = &self.method;
        match self.code {
            ErrorCode::IgnoredText => (
                format!(
                    "the text of an instance has the name of its class: {method} is not called"
                ),
                match self.of_exception {
                    true => {
                        "raise an exception class of your own, and show an attribute of it, as in `e.message`"
                    }
                    false => "call a method by its name, as in `x.text()`",
                },
            ),
            ErrorCode::IgnoredTruth => (
                format!("an instance is false where it is None only: {method} is not called"),
                match method.ends_with("__len__") {
                    true => "write `if len(x) > 0:`",
                    false => "call a method by its name, as in `if x.is_true():`",
                },
            ),
            ErrorCode::IgnoredHash => (
                format!("dicts find instances by identity: {method} is not called"),
                "use `r_dict(equal, hash)` of rpython.rlib.objectmodel",
            ),
            _ => (
                format!("instances are compared by identity: {method} is not called"),
                "compare attributes of both, or call a method by its name",
            ),
        }
    }
}

/// The method of a class of the program that Python calls for an operation and RPython does not. `in_failure`: the operation
/// computes the message of an assertion.
pub(crate) fn ignored_method(
    rt: &RTyper<'_>,
    annotation: &FunctionAnnotation,
    op: &Operation<HighLevel>,
    in_failure: bool,
) -> Option<IgnoredMethod> {
    let (code, methods, of) = relied_on(op.op)?;
    // Nobody reads the message of an assertion but the author.
    if code == ErrorCode::IgnoredText && in_failure {
        return None;
    }
    let kind = |a: &Operand<HighLevel>| match a {
        Operand::Var(v) => Some(annotation.var(*v).clone()),
        Operand::Const(Const::Obj(_)) => None,
        Operand::Const(c) => crate::annotate::immutablevalue(rt, c).ok(),
    };
    let args: Vec<SomeValue> = op.args.iter().map(kind).collect::<Option<_>>()?;
    let is_none = |s: &SomeValue| matches!(s.kind, SomeKind::None);
    let (code, methods, of): (_, _, &[SomeValue]) = match (op.op, &args[..]) {
        (
            _,
            [
                SomeValue {
                    kind: SomeKind::Dict { .. },
                    ..
                },
                key,
                ..,
            ],
        ) => (ErrorCode::IgnoredHash, KEYS, std::slice::from_ref(key)),
        (HlOp::GetItem | HlOp::SetItem | HlOp::DelItem, _) => return None,
        (
            HlOp::Mod,
            [
                SomeValue {
                    kind: SomeKind::Str { .. },
                    ..
                },
                value,
            ],
        ) => (code, methods, std::slice::from_ref(value)),
        (HlOp::Mod, _) => return None,
        // Instances with `__contains__` have it called.
        (
            HlOp::Contains,
            [
                SomeValue {
                    kind: SomeKind::Instance { .. },
                    ..
                },
                _,
            ],
        ) => return None,
        (_, args) if args.iter().any(is_none) => return None,
        (_, args) => (code, methods, args.get(..of).unwrap_or(args)),
    };
    let mut search = Search {
        rt,
        methods,
        own: true,
        // A text or a test of a base class is seldom meant for one of its subclasses.
        below: matches!(code, ErrorCode::IgnoredComparison | ErrorCode::IgnoredHash),
        sites: BTreeSet::new(),
        classes: BTreeSet::new(),
    };
    let (class, method) = of.iter().find_map(|s| match (code, &s.kind) {
        // The test may be for None.
        (
            ErrorCode::IgnoredTruth,
            SomeKind::Instance {
                can_be_none: true, ..
            },
        ) => None,
        // A list shows its items by `repr()`, which few rely on.
        (ErrorCode::IgnoredComparison, _) | (_, SomeKind::Instance { .. } | SomeKind::Tuple(_)) => {
            search.value(s).ok().flatten()
        }
        _ => None,
    })?;
    Some(IgnoredMethod {
        code,
        method: format!("{}.{method}", rt.class_name(class)),
        of_exception: is_python_text(rt, class, method),
    })
}

/// Whether a class is an exception whose text only Python makes: no class of the program defines the method.
fn is_python_text(rt: &RTyper<'_>, class: ObjId, method: &str) -> bool {
    let data = rt.object(class).ok();
    let Some(ObjData::Class(data)) = data.as_deref() else {
        return false;
    };
    let (mut is_exception, mut of_program) = (false, false);
    for base in &data.mro {
        if let Ok(base) = rt.object(*base)
            && let ObjData::Class(base) = &*base
        {
            is_exception |= base.builtin && &*base.name == "BaseException";
            of_program |= !base.builtin && TEXTS.iter().any(|m| base.get(m).is_some());
        }
    }
    is_exception && !of_program && TEXTS.contains(&method)
}

/// The methods that make texts.
const TEXTS: &[&str] = &["__str__", "__repr__"];

const KEYS: &[&str] = &["__eq__", "__cmp__", "__hash__"];

/// The methods that Python calls for an operation, their warning, and the number of operands they belong to.
fn relied_on(op: HlOp) -> Option<(ErrorCode, &'static [&'static str], usize)> {
    Some(match op {
        HlOp::Eq | HlOp::Contains => (ErrorCode::IgnoredComparison, &["__eq__", "__cmp__"], 2),
        HlOp::Ne => (ErrorCode::IgnoredComparison, &["__ne__", "__cmp__"], 2),
        HlOp::Str | HlOp::Mod => (ErrorCode::IgnoredText, TEXTS, 1),
        HlOp::Repr => (ErrorCode::IgnoredText, &["__repr__"], 1),
        HlOp::Bool => (ErrorCode::IgnoredTruth, &["__nonzero__", "__len__"], 1),
        HlOp::GetItem | HlOp::SetItem | HlOp::DelItem => (ErrorCode::IgnoredHash, KEYS, 2),
        _ => return None,
    })
}

/// Looks for classes that define how their instances are compared.
struct Search<'a> {
    rt: &'a RTyper<'a>,
    methods: &'a [&'static str],
    /// Only methods of the program itself count.
    own: bool,
    /// Subclasses count as well.
    below: bool,
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
                && let ObjData::Function(f) = &*self.rt.object(f)?
                && (!self.own || is_own(self.rt.db, f))
            {
                return Ok(Some((class, method)));
            }
        }
        let text = self.methods.first();
        if let Some(method) = text.filter(|method| is_python_text(self.rt, class, method)) {
            return Ok(Some((class, method)));
        }
        let (Universe::User(roots), true) = (self.rt.universe, self.below) else {
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
