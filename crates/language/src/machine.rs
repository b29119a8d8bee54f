//! Machines that programs are compiled for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A machine and its system. Types have the same layouts on each: those of 64 bits, the low byte first. Where
/// addresses have 32 bits, they take 64 in memory.
/// All but WebAssembly have Linux with the GNU C library.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Machine {
    /// x86-64.
    X86_64,
    /// ARM, 64 bits.
    Aarch64,
    /// RISC-V, 64 bits, with the extensions that distributions of Linux ask for.
    Riscv64,
    /// x86 of 32 bits, with SSE2.
    I386,
    /// WebAssembly with WASI as its system.
    Wasm32,
}

impl Machine {
    /// All of them.
    pub const ALL: [Machine; 5] = [
        Machine::X86_64,
        Machine::Aarch64,
        Machine::Riscv64,
        Machine::I386,
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
        found.or(match triple {
            // What newer tools call WASI as it is here.
            "wasm32-wasip1" => Some(Machine::Wasm32),
            "i386-linux" | "i386-linux-gnu" | "i386-unknown-linux-gnu" => Some(Machine::I386),
            _ => None,
        })
    }

    /// Whether it is WebAssembly.
    pub fn is_wasm(self) -> bool {
        self == Machine::Wasm32
    }

    /// Whether addresses have fewer bits than the words in which memory has them.
    pub fn has_narrow_addresses(self) -> bool {
        matches!(self, Machine::I386 | Machine::Wasm32)
    }

    /// Whether C compilers have integers of 128 bits.
    pub fn has_wide_integers(self) -> bool {
        self != Machine::I386
    }

    /// Whether programs are made by way of C alone.
    pub fn needs_c(self) -> bool {
        self.has_narrow_addresses()
    }

    /// Its name on the command line.
    pub fn triple(self) -> &'static str {
        match self {
            Machine::X86_64 => "x86_64-unknown-linux-gnu",
            Machine::Aarch64 => "aarch64-unknown-linux-gnu",
            Machine::Riscv64 => "riscv64-unknown-linux-gnu",
            Machine::I386 => "i686-unknown-linux-gnu",
            Machine::Wasm32 => "wasm32-wasi",
        }
    }

    /// Its name in the names of GNU's tools.
    pub fn gnu_triple(self) -> &'static str {
        match self {
            Machine::X86_64 => "x86_64-linux-gnu",
            Machine::Aarch64 => "aarch64-linux-gnu",
            Machine::Riscv64 => "riscv64-linux-gnu",
            Machine::I386 => "i686-linux-gnu",
            Machine::Wasm32 => "wasm32-unknown-wasi",
        }
    }

    /// Its name for rustc.
    pub fn rust_target(self) -> &'static str {
        match self {
            Machine::X86_64 => "x86_64-unknown-linux-gnu",
            Machine::Aarch64 => "aarch64-unknown-linux-gnu",
            Machine::Riscv64 => "riscv64gc-unknown-linux-gnu",
            Machine::I386 => "i686-unknown-linux-gnu",
            Machine::Wasm32 => "wasm32-unknown-unknown",
        }
    }

    /// What `uname` calls it.
    pub fn name(self) -> &'static str {
        match self {
            Machine::X86_64 => "x86_64",
            Machine::Aarch64 => "aarch64",
            Machine::Riscv64 => "riscv64",
            Machine::I386 => "i686",
            Machine::Wasm32 => "wasm32",
        }
    }

    /// Debian's package of the C compiler that makes code for it.
    pub fn c_compiler_package(self) -> &'static str {
        match self {
            Machine::X86_64 => "gcc-x86-64-linux-gnu",
            Machine::Aarch64 => "gcc-aarch64-linux-gnu",
            Machine::Riscv64 => "gcc-riscv64-linux-gnu",
            // gcc-multilib would do as well, but Debian does not install it beside the compilers for other machines.
            Machine::I386 => "gcc-i686-linux-gnu libc6-dev-i386-cross",
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
        assert_eq!(Machine::named("i386-linux"), Some(Machine::I386));
        assert_eq!(Machine::named("sparc64-linux"), None);
    }
}
