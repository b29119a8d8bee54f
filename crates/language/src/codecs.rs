//! The codecs that translated programs can use.

/// A codec of `str.decode` and `unicode.encode`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Codec {
    /// `ascii`
    Ascii,
    /// `latin-1`
    Latin1,
    /// `utf-8`
    Utf8,
}

impl Codec {
    /// All of them.
    pub const ALL: &'static [Codec] = &[Codec::Ascii, Codec::Latin1, Codec::Utf8];

    /// Its usual name.
    pub const fn name(self) -> &'static str {
        match self {
            Codec::Ascii => "ascii",
            Codec::Latin1 => "latin-1",
            Codec::Utf8 => "utf-8",
        }
    }

    /// How it is spelled, in lower case and with `-` for `_` and blanks, as Python 2.7 has it.
    const fn spellings(self) -> &'static [&'static str] {
        match self {
            Codec::Ascii => &[
                "ascii",
                "us-ascii",
                "us",
                "646",
                "iso646-us",
                "ansi-x3.4-1968",
            ],
            Codec::Latin1 => &[
                "latin-1",
                "latin1",
                "latin",
                "l1",
                "iso-8859-1",
                "iso8859-1",
                "8859",
                "cp819",
            ],
            Codec::Utf8 => &["utf-8", "utf8", "u8", "utf"],
        }
    }

    /// The codec that a program names.
    ///
    /// ```
    /// # use taipan_language::Codec;
    /// assert_eq!(Codec::named("ISO_8859-1"), Some(Codec::Latin1));
    /// assert_eq!(Codec::named("utf-16"), None);
    /// ```
    pub fn named(name: &str) -> Option<Codec> {
        let name = name.to_ascii_lowercase().replace(['_', ' '], "-");
        let is_it = |c: &&Codec| c.spellings().contains(&&*name);
        Codec::ALL.iter().find(is_it).copied()
    }
}
