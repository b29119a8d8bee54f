//! Methods of builtin kinds: `list.append`, `str.join`, ... (RPython: the `method_`
//! functions of `unaryop.py`).

use taipan_base::ErrorCode;
use taipan_graph::Const;
use taipan_language::{BuilderMethod, Codec, DictMethod, ListMethod, TextMethod};

use super::Cx;
use super::args::Arguments;
use super::remedies::{counted, of_method};
use crate::SiteId;
use crate::facts::Known;
use crate::store::SlotKey;
use crate::val::{Atom, EdgeKind, ListFlags, Step, Val};

/// Whether values of a kind have that method.
pub(super) fn has_method(atom: &Atom, name: &str) -> bool {
    match atom {
        Atom::Address => super::lowlevel::accessed_type(name).is_some(),
        _ => methods(atom).contains(&name),
    }
}

/// The methods of a builtin kind.
pub(super) fn methods(atom: &Atom) -> &'static [&'static str] {
    match atom {
        Atom::List(_) => ListMethod::NAMES,
        Atom::Dict(_) => DictMethod::NAMES,
        Atom::Str { .. } | Atom::Uni { .. } => TextMethod::NAMES,
        Atom::Iterator { .. } => &["next"],
        Atom::Builder { .. } => BuilderMethod::NAMES,
        _ => &[],
    }
}

impl Cx<'_> {
    pub(super) fn call_method(&mut self, of: &Val, name: &str, args: Arguments) -> Known<Val> {
        let mut result = Val::default();
        let vals = args.vals();
        if vals.iter().any(Val::is_bottom) {
            return Ok(result);
        }
        for a in &of.atoms {
            let known = match a {
                Atom::List(site) => {
                    ListMethod::named(name).map(|m| self.list_method(*site, m, &vals))
                }
                Atom::Dict(site) => {
                    DictMethod::named(name).map(|m| self.dict_method(*site, m, &vals))
                }
                Atom::Str { .. } | Atom::Uni { .. } => match TextMethod::named(name) {
                    Some(method) => Some(self.text_method(of, a, method, &vals)?),
                    None => None,
                },
                Atom::Iterator { variant, of } => Some(self.next_item(variant, of)),
                Atom::Builder { unicode } => {
                    BuilderMethod::named(name).map(|m| builder_method(m, *unicode))
                }
                // What `lltype.scoped_alloc` returns is the pointer itself.
                Atom::Ptr(_) if name == "__enter__" => Some(of.clone()),
                Atom::Ptr(_) if name == "__exit__" => Some(Val::none()),
                _ => None,
            };
            let r = known.unwrap_or_else(|| {
                let what = self.facts.describe_atom(a);
                self.problem(
                    ErrorCode::NoSuchAttribute,
                    format!("{what} has no method {name}"),
                )
            });
            result = self.join(&result, &r);
        }
        Ok(result)
    }

    fn wrong_count(&mut self, what: &str, name: &str, given: usize) -> Val {
        self.problem(
            ErrorCode::InvalidArguments,
            format!("{what}.{name}() does not take {given} arguments"),
        )
    }

    fn list_method(&mut self, site: SiteId, method: ListMethod, args: &[Val]) -> Val {
        use ListMethod::*;
        match (method, args) {
            (Append, [v]) | (Insert, [_, v]) | (Remove, [v]) => {
                self.resize(site);
                self.write(SlotKey::Item(site), v.clone());
                Val::none()
            }
            (Extend, [other]) => {
                self.extend(site, other);
                Val::none()
            }
            (Reverse, []) => {
                self.mutate(site);
                Val::none()
            }
            (Pop, [] | [_]) => {
                self.resize(site);
                self.read(SlotKey::Item(site))
            }
            (Index | Count, [v]) => {
                self.write(SlotKey::Item(site), v.clone());
                Val::nonneg()
            }
            (Sort, _) => self.problem_help(
                ErrorCode::NoSuchAttribute,
                "list.sort() is not RPython",
                of_method("list", "sort"),
            ),
            (Append | Insert | Remove | Extend | Reverse | Pop | Index | Count, _) => {
                self.wrong_count("list", method.name(), args.len())
            }
        }
    }

    /// `list.extend(other)`
    pub(super) fn extend(&mut self, site: SiteId, other: &Val) {
        self.resize(site);
        for a in &other.atoms {
            match a {
                Atom::List(o) => self.agree(site, *o),
                Atom::Iterator { variant, of } => {
                    let item = self.next_item(variant, of);
                    self.write(SlotKey::Item(site), item);
                }
                Atom::Instance(_) => {
                    self.problem(
                        ErrorCode::InvalidBuiltinArgument,
                        "a list can only be extended by a builtin container",
                    );
                }
                _ => {
                    let item = self.any_item(a, "");
                    self.write(SlotKey::Item(site), item);
                }
            }
        }
    }

    fn dict_method(&mut self, site: SiteId, method: DictMethod, args: &[Val]) -> Val {
        use DictMethod::*;
        let (key, value) = (SlotKey::Key(site), SlotKey::Value(site));
        let me = || -> Val { Atom::Dict(site).into() };
        let iterator = |variant| -> Val { Atom::Iterator { variant, of: me() }.into() };
        match (method, args) {
            (Get | SetDefault, [k]) => {
                self.write(key, k.clone());
                self.write(value.clone(), Val::none());
                self.read(value)
            }
            (Get | SetDefault, [k, default]) => {
                self.write(key, k.clone());
                self.write(value.clone(), default.clone());
                self.read(value)
            }
            (Pop, [k]) => {
                self.write(key, k.clone());
                self.read(value)
            }
            (Pop, [k, default]) => {
                self.write(key, k.clone());
                self.write(value.clone(), default.clone());
                self.read(value)
            }
            (Copy, []) => me(),
            (Update, [other]) => {
                for a in &other.atoms {
                    match a {
                        Atom::Dict(o) => {
                            let (a, b) = (site.min(*o), site.max(*o));
                            self.met.push((EdgeKind::Dict, a, b));
                        }
                        _ => {
                            self.problem(
                                ErrorCode::InvalidBuiltinArgument,
                                "a dict can only be updated by a dict",
                            );
                        }
                    }
                }
                if other.atoms.is_empty() {
                    Val::default()
                } else {
                    Val::none()
                }
            }
            (PrepareUpdate, [_]) | (Clear, []) => Val::none(),
            (Keys, []) => {
                let k = self.read(key);
                self.new_list(&[k], Step::List)
            }
            (Values, []) => {
                let v = self.read(value);
                self.new_list(&[v], Step::List)
            }
            (Items, []) => {
                let item = self.any_item(&Atom::Dict(site), "items");
                self.new_list(&[item], Step::List)
            }
            (PopItem, []) => self.any_item(&Atom::Dict(site), "items"),
            (IterKeys, []) => iterator("keys"),
            (IterValues, []) => iterator("values"),
            (IterItems, []) => iterator("items"),
            (IterKeysWithHash, []) => iterator("keys_with_hash"),
            (IterItemsWithHash, []) => iterator("items_with_hash"),
            (HasKey, [k]) | (ContainsWithHash, [k, _]) => {
                self.write(key, k.clone());
                if self.dict_is_empty(site) {
                    Val::const_bool(false)
                } else {
                    Val::bool_()
                }
            }
            (SetItemWithHash, [k, _, v]) => {
                self.write(key, k.clone());
                self.write(value, v.clone());
                Val::none()
            }
            (DelItemIfValueIs, [k, v]) => {
                self.write(key, k.clone());
                self.write(value, v.clone());
                Val::none()
            }
            (GetItemWithHash, [k, _]) => {
                self.write(key, k.clone());
                self.read(value)
            }
            (DelItemWithHash, [k, _]) | (MoveToEnd, [k] | [k, _]) => {
                self.write(key, k.clone());
                Val::none()
            }
            (
                Get | SetDefault | Pop | Copy | Update | PrepareUpdate | Clear | Keys | Values
                | Items | PopItem | IterKeys | IterValues | IterItems | IterKeysWithHash
                | IterItemsWithHash | HasKey | ContainsWithHash | SetItemWithHash
                | DelItemIfValueIs | GetItemWithHash | DelItemWithHash | MoveToEnd,
                _,
            ) => self.wrong_count("dict", method.name(), args.len()),
        }
    }

    fn text_method(
        &mut self,
        of: &Val,
        atom: &Atom,
        method: TextMethod,
        args: &[Val],
    ) -> Known<Val> {
        use TextMethod::*;
        let name = method.name();
        let (unicode, is_char, no_nul) = match atom {
            Atom::Uni { char_, no_nul } => (true, *char_, *no_nul),
            Atom::Str { char_, no_nul } => (false, *char_, *no_nul),
            _ => return Ok(Val::default()),
        };
        let text = |no_nul: bool| {
            if unicode {
                Val::unicode(no_nul)
            } else {
                Val::str_(no_nul)
            }
        };
        let what = if unicode { "unicode" } else { "str" };
        let arg = |i: usize| args.get(i).cloned().unwrap_or_default();
        let nul_free = |v: &Val| {
            v.atoms.iter().all(|a| {
                matches!(
                    a,
                    Atom::Str { no_nul: true, .. } | Atom::Uni { no_nul: true, .. }
                )
            })
        };
        Ok(match (method, args.len()) {
            (StartsWith | EndsWith, 1) if matches!(arg(0).single(), Some(Atom::Tuple(_))) => self
                .problem_help(
                    ErrorCode::InvalidBuiltinArgument,
                    format!("{what}.{name}() of a tuple is not RPython"),
                    Some("ask for each of them, with `or` between"),
                ),
            (StartsWith | EndsWith, 1) => match (&of.const_, &arg(0).const_) {
                (Some(Const::Str(s)), Some(Const::Str(t))) => {
                    Val::const_bool(if method == StartsWith {
                        s.starts_with(t)
                    } else {
                        s.ends_with(t)
                    })
                }
                _ => Val::bool_(),
            },
            (Find | RFind, 1..=3) => {
                self.check_slice(&arg(1), &arg(2), name);
                Val::signed()
            }
            (Count, 1..=3) => {
                self.check_slice(&arg(1), &arg(2), name);
                Val::nonneg()
            }
            (Strip | LStrip | RStrip, 0) if unicode => self.problem_help(
                ErrorCode::NoSuchAttribute,
                format!("unicode.{name}() without an argument is not RPython"),
                Some("say which character to strip"),
            ),
            (Strip | LStrip | RStrip, 0 | 1) => text(no_nul),
            (Join, 1) => {
                let mut item = Val::default();
                for a in &arg(0).atoms {
                    match a {
                        Atom::List(site) => {
                            let i = self.read(SlotKey::Item(*site));
                            item = self.join(&item, &i);
                        }
                        other => {
                            let got = self.facts.describe_atom(other);
                            return Ok(self.problem_help(
                                ErrorCode::InvalidBuiltinArgument,
                                format!("{what}.join() needs a list, not {got}"),
                                Some("make a list of the parts: `[x for x in parts]`"),
                            ));
                        }
                    }
                }
                // What is wrong with an item is told where it is made.
                if item.has_error() {
                    self.tainted = true;
                    return Ok(Val::error());
                }
                let text_like = |a: &Atom| matches!(a, Atom::Str { .. } | Atom::Uni { .. });
                if let Some(other) = item.atoms.iter().find(|a| !text_like(a)) {
                    let got = self.facts.describe_atom(other);
                    self.problem_help(
                        ErrorCode::InvalidBuiltinArgument,
                        format!("{what}.join() joins strings, and here an item is {got}"),
                        Some("make strings of the items: `[str(x) for x in items]`"),
                    )
                } else if arg(0).atoms.is_empty() {
                    Val::default()
                } else if item.atoms.is_empty() {
                    let empty = if unicode {
                        Const::Unicode(std::sync::Arc::from([]))
                    } else {
                        Const::str("")
                    };
                    self.const_val(&empty)?
                } else {
                    text(no_nul && nul_free(&item))
                }
            }
            (Split, 1 | 2) => {
                let by_nul = args.len() == 1
                    && match &arg(0).const_ {
                        Some(Const::Str(s)) => **s == [0],
                        Some(Const::Unicode(s)) => **s == [0],
                        _ => false,
                    };
                self.new_list(&[text(no_nul || by_nul)], Step::List)
            }
            (RSplit, 1 | 2) => self.new_list(&[text(no_nul)], Step::List),
            (Replace, 2) => text(no_nul && nul_free(&arg(1))),
            (SplitLines, 0 | 1) if !unicode => {
                let list = self.new_list(&[text(false)], Step::List);
                if let Some(Atom::List(site)) = list.single() {
                    // Resizable, but that alone does not count as a change.
                    let flags = ListFlags {
                        resized: true,
                        ..ListFlags::default()
                    };
                    self.write(SlotKey::Flags(*site), Atom::ListFlags(flags).into());
                }
                list
            }
            (Upper | Lower, 0) if is_char && !unicode => Val::char_(no_nul),
            (Upper | Lower, 0) if !unicode => text(false),
            (IsDigit | IsAlpha | IsAlnum, 0) => Val::bool_(),
            (IsSpace | IsLower | IsUpper, 0) if is_char => Val::bool_(),
            (IsSpace | IsLower | IsUpper, 0) => self.problem_help(
                ErrorCode::NoSuchAttribute,
                format!("{what}.{name}() is not RPython, except of a single character"),
                Some("ask each character: `s[i]`"),
            ),
            (Upper | Lower | SplitLines, 0) if unicode => self.problem_help(
                ErrorCode::NoSuchAttribute,
                format!("unicode.{name}() is not RPython"),
                of_method(what, name),
            ),
            (Encode, 1) if unicode => self.coding(&arg(0), false, no_nul),
            (Decode, 1) if !unicode => self.coding(&arg(0), true, no_nul),
            (
                StartsWith | EndsWith | Find | RFind | Count | Strip | LStrip | RStrip | Join
                | Split | RSplit | Replace | SplitLines | Upper | Lower | IsDigit | IsAlpha
                | IsAlnum | IsSpace | IsLower | IsUpper | Encode | Decode | Format,
                _,
            ) => self.problem_help(
                ErrorCode::NoSuchAttribute,
                format!(
                    "{what}.{name}() with {} is not RPython",
                    counted(args.len())
                ),
                of_method(what, name),
            ),
        })
    }

    fn coding(&mut self, encoding: &Val, decode: bool, no_nul: bool) -> Val {
        match encoding.const_str() {
            Some(name) if Codec::named(name).is_some() => {
                if decode {
                    Val::unicode(no_nul)
                } else {
                    Val::str_(no_nul)
                }
            }
            Some(other) => {
                let message = format!("encoding {other} is not supported");
                self.problem(ErrorCode::InvalidBuiltinArgument, message)
            }
            None => self.problem(ErrorCode::ConstantNeeded, "the encoding must be a constant"),
        }
    }
}

fn builder_method(method: BuilderMethod, unicode: bool) -> Val {
    use BuilderMethod::*;
    match method {
        GetLength => Val::nonneg(),
        Build if unicode => Val::unicode(false),
        Build => Val::str_(false),
        Append | AppendSlice | AppendMultipleChar | AppendCharpSize => Val::none(),
    }
}
