//! The methods of builtin kinds of values.

use crate::Exc;

macro_rules! methods {
    ($(#[$meta:meta])* $kind:ident { $($variant:ident = $name:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $kind {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl $kind {
            /// All of them.
            pub const ALL: &'static [$kind] = &[$($kind::$variant,)*];

            /// The names of all of them, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($name,)*];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $($kind::$variant => $name,)* }
            }

            /// The method of that name.
            pub fn named(name: &str) -> Option<$kind> {
                match name { $($name => Some($kind::$variant),)* _ => None }
            }
        }
    };
}

methods! {
    /// A method of lists.
    ListMethod {
        Append = "append",
        Extend = "extend",
        Reverse = "reverse",
        Insert = "insert",
        Remove = "remove",
        Pop = "pop",
        Index = "index",
        Sort = "sort",
        Count = "count",
    }
}

impl ListMethod {
    /// What it may raise by itself.
    pub const fn raises(self) -> &'static [Exc] {
        use ListMethod::*;
        match self {
            Pop => &[Exc::IndexError],
            Remove | Index => &[Exc::ValueError],
            Append | Extend | Reverse | Insert | Sort | Count => &[],
        }
    }

    /// Whether it is there to be told that it is not RPython.
    pub const fn is_refused(self) -> bool {
        matches!(self, ListMethod::Sort)
    }
}

methods! {
    /// A method of dicts. Those whose names speak of hashes are what the functions of
    /// `rpython.rlib.objectmodel` of the same names stand for.
    DictMethod {
        Get = "get",
        SetDefault = "setdefault",
        Copy = "copy",
        Update = "update",
        PrepareUpdate = "_prepare_dict_update",
        Keys = "keys",
        Values = "values",
        Items = "items",
        IterKeys = "iterkeys",
        IterValues = "itervalues",
        IterItems = "iteritems",
        IterKeysWithHash = "iterkeys_with_hash",
        IterItemsWithHash = "iteritems_with_hash",
        Clear = "clear",
        PopItem = "popitem",
        Pop = "pop",
        HasKey = "has_key",
        ContainsWithHash = "contains_with_hash",
        SetItemWithHash = "setitem_with_hash",
        GetItemWithHash = "getitem_with_hash",
        DelItemWithHash = "delitem_with_hash",
        DelItemIfValueIs = "delitem_if_value_is",
        MoveToEnd = "move_to_end",
    }
}

impl DictMethod {
    /// What it may raise where keys are hashed and compared without calling the program.
    pub const fn raises(self) -> &'static [Exc] {
        use DictMethod::*;
        match self {
            Pop | PopItem | GetItemWithHash | DelItemWithHash | MoveToEnd => &[Exc::KeyError],
            Get | SetDefault | Copy | Update | PrepareUpdate | Keys | Values | Items | IterKeys
            | IterValues | IterItems | IterKeysWithHash | IterItemsWithHash | Clear | HasKey
            | ContainsWithHash | SetItemWithHash | DelItemIfValueIs => &[],
        }
    }

    /// Whether programs write it, rather than call a function of `rpython.rlib.objectmodel`.
    pub const fn is_written(self) -> bool {
        use DictMethod::*;
        match self {
            PrepareUpdate | IterKeysWithHash | IterItemsWithHash | ContainsWithHash
            | SetItemWithHash | GetItemWithHash | DelItemWithHash | DelItemIfValueIs
            | MoveToEnd => false,
            Get | SetDefault | Copy | Update | Keys | Values | Items | IterKeys | IterValues
            | IterItems | Clear | PopItem | Pop | HasKey => true,
        }
    }
}

methods! {
    /// A method of byte strings and unicode strings.
    TextMethod {
        StartsWith = "startswith",
        EndsWith = "endswith",
        Find = "find",
        RFind = "rfind",
        Count = "count",
        Strip = "strip",
        LStrip = "lstrip",
        RStrip = "rstrip",
        Join = "join",
        Split = "split",
        RSplit = "rsplit",
        Replace = "replace",
        Upper = "upper",
        Lower = "lower",
        IsDigit = "isdigit",
        IsAlpha = "isalpha",
        IsAlnum = "isalnum",
        IsSpace = "isspace",
        IsLower = "islower",
        IsUpper = "isupper",
        SplitLines = "splitlines",
        Decode = "decode",
        Encode = "encode",
        Format = "format",
    }
}

impl TextMethod {
    /// What it may raise. None where that is anything: what it does is left to helpers that
    /// allocate lists.
    pub const fn raises(self) -> Option<&'static [Exc]> {
        use TextMethod::*;
        match self {
            Encode => Some(&[Exc::UnicodeEncodeError]),
            Decode => Some(&[Exc::UnicodeDecodeError]),
            Split | RSplit | Join => None,
            StartsWith | EndsWith | Find | RFind | Count | Strip | LStrip | RStrip | Replace
            | Upper | Lower | IsDigit | IsAlpha | IsAlnum | IsSpace | IsLower | IsUpper
            | SplitLines | Format => Some(&[]),
        }
    }

    /// Whether it is there to be told that it is not RPython.
    pub const fn is_refused(self) -> bool {
        matches!(self, TextMethod::Format)
    }
}

methods! {
    /// A method of `StringBuilder` and `UnicodeBuilder`.
    BuilderMethod {
        Append = "append",
        AppendSlice = "append_slice",
        AppendMultipleChar = "append_multiple_char",
        AppendCharpSize = "append_charpsize",
        GetLength = "getlength",
        Build = "build",
    }
}
