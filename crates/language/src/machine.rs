//! Machines that programs are compiled for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A machine and its system. Types have the same layouts on each: those of 64 bits, the low byte first.
/// All but WebAssembly have Linux with the GNU C library.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Machine {
    /// x86-64.
    X86_64,
    /// ARM, 64 bits.
    Aarch64,
    /// RISC-V, 64 bits, with the extensions that distributions of Linux ask for.
    Riscv64,
    /// WebAssembly with WASI as its system. Addresses have 32 bits; where they are kept in memory, they
    /// take 64.
    Wasm32,
}

impl Machine {
    /// All of them.
    pub const ALL: [Machine; 4] = [
        Machine::X86_64,
        Machine::Aarch64,
        Machine::Riscv64,
        Machine::Wasm32,
    ];

    /// The one that Taipan itself runs on.
    pub const HOST: Machine = if cfg!(target_arch = "aarch64") {
        Machine::Aarch64
    } else if cfg!(target_arch = "riscv64") {
        Machine::Riscv64
    } else {
        Machine::X86_64
    };

    /// The machine of a triple, as rustc, clang, gcc or Debian write it, or of its name alone.
    pub fn named(triple: &str) -> Option<Machine> {
        let mut names = Machine::ALL.into_iter();
        let found = names
            .find(|m| [m.triple(), m.gnu_triple(), m.rust_target(), m.name()].contains(&triple));
        // What newer tools call WASI as it is here.
        found.or((triple == "wasm32-wasip1").then_some(Machine::Wasm32))
    }

    /// Whether it is WebAssembly, for which programs are made by way of C.
    pub fn is_wasm(self) -> bool {
        self == Machine::Wasm32
    }

    /// Its name on the command line.
    pub fn triple(self) -> &'static str {
        match self {
            Machine::X86_64 => "x86_64-unknown-linux-gnu",
            Machine::Aarch64 => "aarch64-unknown-linux-gnu",
            Machine::Riscv64 => "riscv64-unknown-linux-gnu",
            Machine::Wasm32 => "wasm32-wasi",
        }
    }

    /// Its name in the names of GNU's tools.
    pub fn gnu_triple(self) -> &'static str {
        match self {
            Machine::X86_64 => "x86_64-linux-gnu",
            Machine::Aarch64 => "aarch64-linux-gnu",
            Machine::Riscv64 => "riscv64-linux-gnu",
            Machine::Wasm32 => "wasm32-unknown-wasi",
        }
    }

    /// Its name for rustc.
    pub fn rust_target(self) -> &'static str {
        match self {
            Machine::X86_64 => "x86_64-unknown-linux-gnu",
            Machine::Aarch64 => "aarch64-unknown-linux-gnu",
            Machine::Riscv64 => "riscv64gc-unknown-linux-gnu",
            Machine::Wasm32 => "wasm32-unknown-unknown",
        }
    }

    /// What `uname` calls it, and QEMU's emulators of programs.
    pub fn name(self) -> &'static str {
        match self {
            Machine::X86_64 => "x86_64",
            Machine::Aarch64 => "aarch64",
            Machine::Riscv64 => "riscv64",
            Machine::Wasm32 => "wasm32",
        }
    }

    /// Debian's package of the C compiler that makes code for it.
    pub fn c_compiler_package(self) -> &'static str {
        match self {
            Machine::X86_64 => "gcc-x86-64-linux-gnu",
            Machine::Aarch64 => "gcc-aarch64-linux-gnu",
            Machine::Riscv64 => "gcc-riscv64-linux-gnu",
            Machine::Wasm32 => "clang lld wasi-libc libclang-rt-dev-wasm32",
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
            for name in [m.triple(), m.gnu_triple(), m.rust_target(), m.name()] {
                assert_eq!(Machine::named(name), Some(m));
            }
        }
        assert_eq!(Machine::named("wasm32-wasip1"), Some(Machine::Wasm32));
        assert_eq!(Machine::named("sparc64-linux"), None);
    }
}
