//! Methods of builtin kinds: `list.append`, `str.join`, ... (RPython: the `method_`
//! functions of `unaryop.py`).

use taipan_graph::Const;

use super::Cx;
use super::args::Arguments;
use super::remedies::{counted, of_method};
use crate::SiteId;
use crate::facts::Known;
use crate::store::SlotKey;
use crate::val::{Atom, EdgeKind, ListFlags, Step, Val};

const LIST: &[&str] = &[
    "append", "extend", "reverse", "insert", "remove", "pop", "index", "sort", "count",
];
const DICT: &[&str] = &[
    "get",
    "setdefault",
    "copy",
    "update",
    "_prepare_dict_update",
    "keys",
    "values",
    "items",
    "iterkeys",
    "itervalues",
    "iteritems",
    "iterkeys_with_hash",
    "iteritems_with_hash",
    "clear",
    "popitem",
    "pop",
    "has_key",
    "contains_with_hash",
    "setitem_with_hash",
    "getitem_with_hash",
    "delitem_with_hash",
    "delitem_if_value_is",
    "move_to_end",
];
const STR: &[&str] = &[
    "startswith",
    "endswith",
    "find",
    "rfind",
    "count",
    "strip",
    "lstrip",
    "rstrip",
    "join",
    "split",
    "rsplit",
    "replace",
    "upper",
    "lower",
    "isdigit",
    "isalpha",
    "isalnum",
    "isspace",
    "islower",
    "isupper",
    "splitlines",
    "decode",
    "encode",
    "format",
];
const BUILDER: &[&str] = &[
    "append",
    "append_slice",
    "append_multiple_char",
    "append_charpsize",
    "getlength",
    "build",
];

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
        Atom::List(_) => LIST,
        Atom::Dict(_) => DICT,
        Atom::Str { .. } | Atom::Uni { .. } => STR,
        Atom::Iterator { .. } => &["next"],
        Atom::Builder { .. } => BUILDER,
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
            let r = match a {
                Atom::List(site) => self.list_method(*site, name, &vals),
                Atom::Dict(site) => self.dict_method(*site, name, &vals),
                Atom::Str { .. } | Atom::Uni { .. } => self.str_method(of, a, name, &vals)?,
                Atom::Iterator { variant, of } => self.next_item(variant, of),
                Atom::Builder { unicode } => match name {
                    "getlength" => Val::nonneg(),
                    "build" if *unicode => Val::unicode(false),
                    "build" => Val::str_(false),
                    _ => Val::none(),
                },
                // What `lltype.scoped_alloc` answers is the pointer itself.
                Atom::Ptr(_) if name == "__enter__" => of.clone(),
                Atom::Ptr(_) if name == "__exit__" => Val::none(),
                other => {
                    let what = self.facts.describe_atom(other);
                    self.problem("TP0301", format!("{what} has no method {name}"))
                }
            };
            result = self.join(&result, &r);
        }
        Ok(result)
    }

    fn wrong_count(&mut self, what: &str, name: &str, given: usize) -> Val {
        self.problem(
            "TP0304",
            format!("{what}.{name}() does not take {given} arguments"),
        )
    }

    fn list_method(&mut self, site: SiteId, name: &str, args: &[Val]) -> Val {
        match (name, args) {
            ("append", [v]) | ("insert", [_, v]) | ("remove", [v]) => {
                self.resize(site);
                self.write(SlotKey::Item(site), v.clone());
                Val::none()
            }
            ("extend", [other]) => {
                self.extend(site, other);
                Val::none()
            }
            ("reverse", []) => {
                self.mutate(site);
                Val::none()
            }
            ("pop", [] | [_]) => {
                self.resize(site);
                self.read(SlotKey::Item(site))
            }
            ("index", [v]) => {
                self.write(SlotKey::Item(site), v.clone());
                Val::nonneg()
            }
            ("count", [v]) => {
                self.write(SlotKey::Item(site), v.clone());
                Val::nonneg()
            }
            ("sort", _) => self.problem_help(
                "TP0301",
                "list.sort() is not RPython",
                of_method("list", "sort"),
            ),
            _ => self.wrong_count("list", name, args.len()),
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
                        "TP0303",
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

    fn dict_method(&mut self, site: SiteId, name: &str, args: &[Val]) -> Val {
        let (key, value) = (SlotKey::Key(site), SlotKey::Value(site));
        let me = || -> Val { Atom::Dict(site).into() };
        let iterator = |variant| -> Val { Atom::Iterator { variant, of: me() }.into() };
        match (name, args) {
            ("get" | "setdefault", [k]) => {
                self.write(key, k.clone());
                self.write(value.clone(), Val::none());
                self.read(value)
            }
            ("get" | "setdefault", [k, default]) => {
                self.write(key, k.clone());
                self.write(value.clone(), default.clone());
                self.read(value)
            }
            ("pop", [k]) => {
                self.write(key, k.clone());
                self.read(value)
            }
            ("pop", [k, default]) => {
                self.write(key, k.clone());
                self.write(value.clone(), default.clone());
                self.read(value)
            }
            ("copy", []) => me(),
            ("update", [other]) => {
                for a in &other.atoms {
                    match a {
                        Atom::Dict(o) => {
                            let (a, b) = (site.min(*o), site.max(*o));
                            self.met.push((EdgeKind::Dict, a, b));
                        }
                        _ => {
                            self.problem("TP0303", "a dict can only be updated by a dict");
                        }
                    }
                }
                if other.atoms.is_empty() {
                    Val::default()
                } else {
                    Val::none()
                }
            }
            ("_prepare_dict_update", [_]) | ("clear", []) => Val::none(),
            ("keys", []) => {
                let k = self.read(key);
                self.new_list(&[k], Step::List)
            }
            ("values", []) => {
                let v = self.read(value);
                self.new_list(&[v], Step::List)
            }
            ("items", []) => {
                let item = self.any_item(&Atom::Dict(site), "items");
                self.new_list(&[item], Step::List)
            }
            ("popitem", []) => self.any_item(&Atom::Dict(site), "items"),
            ("iterkeys", []) => iterator("keys"),
            ("itervalues", []) => iterator("values"),
            ("iteritems", []) => iterator("items"),
            ("iterkeys_with_hash", []) => iterator("keys_with_hash"),
            ("iteritems_with_hash", []) => iterator("items_with_hash"),
            ("has_key", [k]) | ("contains_with_hash", [k, _]) => {
                self.write(key, k.clone());
                if self.dict_is_empty(site) {
                    Val::const_bool(false)
                } else {
                    Val::bool_()
                }
            }
            ("setitem_with_hash", [k, _, v]) => {
                self.write(key, k.clone());
                self.write(value, v.clone());
                Val::none()
            }
            ("delitem_if_value_is", [k, v]) => {
                self.write(key, k.clone());
                self.write(value, v.clone());
                Val::none()
            }
            ("getitem_with_hash", [k, _]) => {
                self.write(key, k.clone());
                self.read(value)
            }
            ("delitem_with_hash", [k, _]) | ("move_to_end", [k] | [k, _]) => {
                self.write(key, k.clone());
                Val::none()
            }
            _ => self.wrong_count("dict", name, args.len()),
        }
    }

    fn str_method(&mut self, of: &Val, atom: &Atom, name: &str, args: &[Val]) -> Known<Val> {
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
        Ok(match (name, args.len()) {
            ("startswith" | "endswith", 1) if matches!(arg(0).single(), Some(Atom::Tuple(_))) => {
                self.problem_help(
                    "TP0303",
                    format!("{what}.{name}() of a tuple is not RPython"),
                    Some("ask for each of them, with `or` between"),
                )
            }
            ("startswith" | "endswith", 1) => match (&of.const_, &arg(0).const_) {
                (Some(Const::Str(s)), Some(Const::Str(t))) => {
                    Val::const_bool(if name == "startswith" {
                        s.starts_with(t)
                    } else {
                        s.ends_with(t)
                    })
                }
                _ => Val::bool_(),
            },
            ("find" | "rfind", 1..=3) => {
                self.check_slice(&arg(1), &arg(2), name);
                Val::signed()
            }
            ("count", 1..=3) => {
                self.check_slice(&arg(1), &arg(2), name);
                Val::nonneg()
            }
            ("strip" | "lstrip" | "rstrip", 0) if unicode => self.problem_help(
                "TP0301",
                format!("unicode.{name}() without an argument is not RPython"),
                Some("say which character to strip"),
            ),
            ("strip" | "lstrip" | "rstrip", 0 | 1) => text(no_nul),
            ("join", 1) => {
                let mut item = Val::default();
                for a in &arg(0).atoms {
                    match a {
                        Atom::List(site) => {
                            let i = self.read(SlotKey::Item(*site));
                            item = self.join(&item, &i);
                        }
                        other => {
                            let got = self.facts.describe_atom(other);
                            return Ok(self.problem(
                                "TP0303",
                                format!("{what}.join() needs a list, not {got}"),
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
                        "TP0303",
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
            ("split", 1 | 2) => {
                let by_nul = args.len() == 1
                    && match &arg(0).const_ {
                        Some(Const::Str(s)) => **s == [0],
                        Some(Const::Unicode(s)) => **s == [0],
                        _ => false,
                    };
                self.new_list(&[text(no_nul || by_nul)], Step::List)
            }
            ("rsplit", 1 | 2) => self.new_list(&[text(no_nul)], Step::List),
            ("replace", 2) => text(no_nul && nul_free(&arg(1))),
            ("splitlines", 0 | 1) if !unicode => {
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
            ("upper" | "lower", 0) if is_char && !unicode => Val::char_(no_nul),
            ("upper" | "lower", 0) if !unicode => text(false),
            ("isdigit" | "isalpha" | "isalnum", 0) => Val::bool_(),
            ("isspace" | "islower" | "isupper", 0) if is_char => Val::bool_(),
            ("encode", 1) if unicode => self.coding(&arg(0), false, no_nul),
            ("decode", 1) if !unicode => self.coding(&arg(0), true, no_nul),
            _ => self.problem_help(
                "TP0301",
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
            Some("ascii" | "latin-1" | "utf-8" | "utf8") if decode => Val::unicode(no_nul),
            Some("ascii" | "latin-1" | "utf-8" | "utf8") => Val::str_(no_nul),
            Some(other) => {
                let message = format!("encoding {other} is not supported");
                self.problem("TP0303", message)
            }
            None => self.problem("TP0303", "the encoding must be a constant"),
        }
    }
}
