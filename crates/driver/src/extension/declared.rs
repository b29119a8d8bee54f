//! The types of one function, from the annotations of a call, as a comment would declare them:
//! `(int, List[str]) -> float`.

use camino::Utf8Path;
use taipan_annotator::{
    Roots, Site, SiteId, SomeKind, SomeValue, annotation_text, dict_def, int_kind_name, list_def,
    signature,
};

use super::OfferedFunction;
use crate::LoadOptions;
use crate::db::Database;
use crate::emit::{EmitForm, EmitRequest, Stage, called};
use crate::fault::Failure;
use crate::timing::Timings;

/// The declaration of a function that a module is made of. Fails if its arguments or its result are none that
/// Python passes.
pub(super) fn declaration(
    db: &Database,
    options: &LoadOptions,
    file: &Utf8Path,
    function: &OfferedFunction,
    timings: &mut Timings,
) -> Result<String, Failure> {
    let request = EmitRequest {
        stage: Stage::Annotations,
        file: file.to_owned(),
        func: Some(function.name.clone()),
        inputs: function.inputs.clone(),
        form: EmitForm::Result,
        targets: function.targets.clone(),
    };
    let (roots, spec) = called(db, options, &request, timings)?;
    let signature = signature(db, spec);
    let mut types = Declared {
        db,
        roots,
        open: Vec::new(),
    };
    let text = |found: Result<String, String>, what: String| {
        found.map_err(|annotation| {
            let name = &function.name;
            let text = format!("Python cannot call `{name}`: {what} is {annotation}");
            Failure::Usage(text)
        })
    };
    let arguments = signature.args.iter().enumerate().map(|(i, s)| {
        let found = types.argument(s);
        text(found, format!("argument {}", i + 1))
    });
    let arguments = arguments.collect::<Result<Vec<_>, _>>()?.join(", ");
    let result = match &signature.result.kind {
        // It returns nothing, or never.
        SomeKind::None | SomeKind::Impossible => "None".to_owned(),
        _ => text(types.result(&signature.result), "its result".to_owned())?,
    };
    Ok(format!("({arguments}) -> {result}"))
}

struct Declared<'a> {
    db: &'a Database,
    roots: Roots,
    /// Containers around the value at hand: a list may hold itself.
    open: Vec<SiteId>,
}

impl Declared<'_> {
    /// The type of an argument; the text of an annotation that is not passed.
    fn argument(&mut self, s: &SomeValue) -> Result<String, String> {
        match &s.kind {
            SomeKind::Integer { nonneg: true, kind } if int_kind_name(*kind).is_none() => {
                Ok("nonneg".to_owned())
            }
            // A single character has no type of Python's.
            SomeKind::Char { .. } | SomeKind::UniChar => Err(self.shown(s)),
            _ => self.value(s, Self::argument),
        }
    }

    /// The type of a result: integers that are not negative are plain ones, since Python has no such type.
    fn result(&mut self, s: &SomeValue) -> Result<String, String> {
        self.value(s, Self::result)
    }

    fn value(
        &mut self,
        s: &SomeValue,
        part: fn(&mut Self, &SomeValue) -> Result<String, String>,
    ) -> Result<String, String> {
        let optional = |can_be_none: bool, name: &str| match can_be_none {
            true => format!("Optional[{name}]"),
            false => name.to_owned(),
        };
        match &s.kind {
            SomeKind::Integer { kind, .. } => {
                Ok(int_kind_name(*kind).unwrap_or_else(|| "int".to_owned()))
            }
            // Nothing is ever in a container that stays empty.
            SomeKind::Impossible => Ok("int".to_owned()),
            SomeKind::Bool => Ok("bool".to_owned()),
            SomeKind::Float => Ok("float".to_owned()),
            SomeKind::Char { .. } => Ok("str".to_owned()),
            SomeKind::UniChar => Ok("unicode".to_owned()),
            SomeKind::Str { can_be_none, .. } => Ok(optional(*can_be_none, "str")),
            SomeKind::Unicode { can_be_none } => Ok(optional(*can_be_none, "unicode")),
            SomeKind::List { site, .. } => {
                let item = list_def(self.db, Site::new(self.db, self.roots, *site))
                    .item
                    .clone();
                self.inside(s, *site, |this| Ok(format!("List[{}]", part(this, &item)?)))
            }
            SomeKind::Dict { site, .. } => {
                let def = dict_def(self.db, Site::new(self.db, self.roots, *site));
                let (key, value) = (def.key.clone(), def.value.clone());
                self.inside(s, *site, |this| {
                    let (key, value) = (part(this, &key)?, part(this, &value)?);
                    Ok(format!("Dict[{key}, {value}]"))
                })
            }
            SomeKind::Tuple(items) => {
                let items = items.iter().map(|i| part(self, i));
                let items = items.collect::<Result<Vec<_>, _>>()?;
                Ok(format!("Tuple[{}]", items.join(", ")))
            }
            _ => Err(self.shown(s)),
        }
    }

    fn inside(
        &mut self,
        s: &SomeValue,
        site: SiteId,
        text: impl FnOnce(&mut Self) -> Result<String, String>,
    ) -> Result<String, String> {
        if self.open.contains(&site) {
            return Err(self.shown(s));
        }
        self.open.push(site);
        let text = text(self);
        self.open.pop();
        text
    }

    fn shown(&self, s: &SomeValue) -> String {
        annotation_text(self.db, self.roots, s)
    }
}
