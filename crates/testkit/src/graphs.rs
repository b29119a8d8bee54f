//! Low-level graphs as text, for tests of back ends.

use std::fmt::Write as _;

/// A text of low-level graphs, with each graph's end in the place of `END`.
pub fn with_ends(text: &str) -> String {
    let end = "
    return(result: Signed)
    except(etype: *Struct object_vtable, evalue: *GcStruct object)
";
    text.replace("END", end)
}

/// A generator of numbers that are always the same.
pub struct Numbers(pub u64);

impl Numbers {
    /// The next one, below a limit.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// A graph that goes from block to block as the bits of a number tell, at most as often as its first
/// argument says.
pub fn random_graph(name: &str, numbers: &mut Numbers) -> String {
    let blocks = 2 + numbers.below(9);
    let mut out = format!("graph {name}\n    block0(n: Signed, a: Signed): goto block1(n, a)\n");
    for i in 0..blocks {
        // Most ways lead forward, as in programs.
        let mut target = || match numbers.below(3) {
            0 => 1 + 2 * numbers.below(blocks),
            _ => 1 + 2 * (i + 1 + numbers.below(3)).min(blocks - 1),
        };
        let (yes, no, this, next) = (target(), target(), 1 + 2 * i, 2 + 2 * i);
        let shift = numbers.below(8);
        let _ = write!(
            out,
            "    block{this}(n{i}: Signed, a{i}: Signed):
        m{i}: Signed = int_sub(n{i}, 1)
        t{i}: Signed = int_mul(a{i}, 31)
        b{i}: Signed = int_add(t{i}, {i})
        c{i}: Bool = int_gt(m{i}, 0)
        switch c{i}
            False: return(b{i})
            True: block{next}(m{i}, b{i})
    block{next}(x{i}: Signed, y{i}: Signed):
        s{i}: Signed = int_rshift(y{i}, {shift})
        k{i}: Signed = int_and(s{i}, 1)
        d{i}: Bool = int_is_true(k{i})
        switch d{i}
            False: block{no}(x{i}, y{i})
            True: block{yes}(x{i}, y{i})
"
        );
    }
    with_ends(&format!("{out}    END"))
}
