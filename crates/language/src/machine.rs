//! Machines that programs are compiled for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A machine and its system. All of them have 64 bits, the low byte first, and Linux with the GNU C
/// library: types have the same layouts on each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Machine {
    /// x86-64.
    X86_64,
    /// ARM, 64 bits.
    Aarch64,
    /// RISC-V, 64 bits, with the extensions that distributions of Linux ask for.
    Riscv64,
}

impl Machine {
    /// All of them.
    pub const ALL: [Machine; 3] = [Machine::X86_64, Machine::Aarch64, Machine::Riscv64];

    /// The one that Taipan itself runs on.
    pub const HOST: Machine = if cfg!(target_arch = "aarch64") {
        Machine::Aarch64
    } else if cfg!(target_arch = "riscv64") {
        Machine::Riscv64
    } else {
        Machine::X86_64
    };

    /// The machine of a triple, as rustc, clang, gcc or Debian write it.
    pub fn named(triple: &str) -> Option<Machine> {
        let mut names = Machine::ALL.into_iter();
        names.find(|m| [m.triple(), m.gnu_triple(), m.rust_target()].contains(&triple))
    }

    /// Its name on the command line.
    pub fn triple(self) -> &'static str {
        match self {
            Machine::X86_64 => "x86_64-unknown-linux-gnu",
            Machine::Aarch64 => "aarch64-unknown-linux-gnu",
            Machine::Riscv64 => "riscv64-unknown-linux-gnu",
        }
    }

    /// Its name in the names of GNU's tools.
    pub fn gnu_triple(self) -> &'static str {
        match self {
            Machine::X86_64 => "x86_64-linux-gnu",
            Machine::Aarch64 => "aarch64-linux-gnu",
            Machine::Riscv64 => "riscv64-linux-gnu",
        }
    }

    /// Its name for rustc.
    pub fn rust_target(self) -> &'static str {
        match self {
            Machine::X86_64 => "x86_64-unknown-linux-gnu",
            Machine::Aarch64 => "aarch64-unknown-linux-gnu",
            Machine::Riscv64 => "riscv64gc-unknown-linux-gnu",
        }
    }

    /// What `uname` calls it, and QEMU's emulators of programs.
    pub fn name(self) -> &'static str {
        match self {
            Machine::X86_64 => "x86_64",
            Machine::Aarch64 => "aarch64",
            Machine::Riscv64 => "riscv64",
        }
    }

    /// Debian's package of the C compiler that makes code for it.
    pub fn c_compiler_package(self) -> &'static str {
        match self {
            Machine::X86_64 => "gcc-x86-64-linux-gnu",
            Machine::Aarch64 => "gcc-aarch64-linux-gnu",
            Machine::Riscv64 => "gcc-riscv64-linux-gnu",
        }
    }
}

impl Default for Machine {
    fn default() -> Machine {
        Machine::HOST
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.triple())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_that_of_one_machine() {
        for m in Machine::ALL {
            for name in [m.triple(), m.gnu_triple(), m.rust_target()] {
                assert_eq!(Machine::named(name), Some(m));
            }
        }
        assert_eq!(Machine::named("wasm32-wasi"), None);
    }
}
