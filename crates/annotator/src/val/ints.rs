//! Integers: of which kinds a value may be, and which kind holds them all.

use taipan_graph::IntKind;

/// Kinds of integers, as a set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Ints {
    bits: u16,
    /// A member of a signed kind may be negative.
    pub(crate) neg: bool,
}

const BOOL_BIT: u16 = 1;

/// Beside the kind of plain ints: what `r_longlong()`, the same as `r_int()` here, has
/// made. `isinstance(x, int)` and `specialize:argtype` tell the two apart.
const R_INT_BIT: u16 = 1 << 15;

/// Beside the kind of plain ints: an argument from outside of the program, which comes as a
/// number and may have been either.
const UNTOLD_BIT: u16 = 1 << 14;

fn kind_bit(kind: IntKind) -> u16 {
    let n = kind.bits.trailing_zeros() - 2;
    1 << (2 * n + u32::from(kind.signed))
}

impl Ints {
    pub(crate) const BOOL: Ints = Ints {
        bits: BOOL_BIT,
        neg: false,
    };

    pub(crate) fn of(kind: IntKind, nonneg: bool) -> Ints {
        Ints {
            bits: kind_bit(kind),
            neg: kind.signed && !nonneg,
        }
    }

    pub(crate) fn join(self, o: Ints) -> Ints {
        Ints {
            bits: self.bits | o.bits,
            neg: self.neg | o.neg,
        }
    }

    /// The same, made by `r_longlong()` if the other one is and both are as wide as that.
    pub(crate) fn made_like(self, o: Ints) -> Ints {
        let plain = self.bits & !(R_INT_BIT | UNTOLD_BIT) == kind_bit(IntKind::SIGNED);
        Ints {
            bits: self.bits | if plain { o.bits & R_INT_BIT } else { 0 },
            neg: self.neg,
        }
    }

    /// As `r_longlong()` makes it.
    pub(crate) fn r_int() -> Ints {
        Ints {
            bits: kind_bit(IntKind::SIGNED) | R_INT_BIT,
            neg: true,
        }
    }

    /// The same as an argument from outside of the program.
    pub(crate) fn untold(self) -> Ints {
        let plain = self.bits == kind_bit(IntKind::SIGNED);
        Ints {
            bits: self.bits | if plain { UNTOLD_BIT } else { 0 },
            neg: self.neg,
        }
    }

    /// Whether `isinstance(x, r_longlong)` holds.
    pub(crate) fn may_be_r_int(self) -> bool {
        self.bits & (R_INT_BIT | UNTOLD_BIT) != 0
    }

    /// Whether `r_longlong()` has made some of these.
    pub(crate) fn is_r_int(self) -> bool {
        self.bits & R_INT_BIT != 0
    }

    /// Only bools.
    pub(crate) fn is_bool(self) -> bool {
        self.bits == BOOL_BIT
    }

    pub(crate) fn nonneg(self) -> bool {
        !self.neg
    }

    fn members(self) -> impl Iterator<Item = IntKind> {
        [8u8, 16, 32, 64, 128]
            .into_iter()
            .flat_map(|bits| [false, true].map(|signed| IntKind { signed, bits }))
            .filter(move |k| self.bits & kind_bit(*k) != 0)
    }

    /// The kind that holds them all by RPython's rules (`compute_restype`, and the
    /// mixing of signed and unsigned ones, which needs proof that the signed ones are
    /// plain ints and not negative). None if there is no such kind.
    pub(crate) fn kind(self) -> Option<IntKind> {
        if self.bits == kind_bit(IntKind::SIGNED) {
            return Some(IntKind::SIGNED);
        }
        let mut unsigned: Option<IntKind> = None;
        let mut signed: Option<IntKind> = None;
        if self.bits & BOOL_BIT != 0 {
            signed = Some(IntKind::SIGNED);
        }
        for k in self.members() {
            let of = if k.signed { &mut signed } else { &mut unsigned };
            *of = Some(match *of {
                Some(o) if o.bits >= k.bits => o,
                _ => k,
            });
        }
        match (signed, unsigned) {
            (Some(s), Some(u)) => {
                (!self.neg && s == IntKind::SIGNED && !self.is_r_int()).then_some(u)
            }
            (a, b) => a.or(b),
        }
    }

    /// [`Ints::kind`], with the widest one where it is a conflict: for results of
    /// operations whose operands are diagnosed anyway.
    pub(crate) fn kind_or_widest(self) -> IntKind {
        self.kind()
            .or_else(|| self.members().max_by_key(|k| (k.bits, !k.signed)))
            .unwrap_or(IntKind::SIGNED)
    }
}
