//! Operations that machines do not have: 128-bit division and conversions, the cycle
//! counter. C compilers for 32-bit x86 have no such integers: what programs do with those is in
//! what the C back end puts into each file (`wide.h`).

macro_rules! operations {
    ($($(#[$m:meta])* $name:ident($($arg:ident: $ty:ty),*) -> $result:ty = $body:expr;)*) => {
        $($(#[$m])* #[cfg(not(target_arch = "x86"))] #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> $result {
            $body
        })*

        /// Names and addresses, for a linker in the same process.
        pub(crate) fn symbols(out: &mut dyn FnMut(&'static str, *const u8)) {
            $(#[cfg(not(target_arch = "x86"))] out(stringify!($name), $name as *const u8);)*
            out("rpy_read_timestamp", rpy_read_timestamp as *const u8);
        }
    };
}

operations! {
    /// Truncating division; the divisor is not zero.
    rpy_i128_div(a: i128, b: i128) -> i128 = a.checked_div(b).unwrap_or(a.wrapping_neg());
    /// Its remainder.
    rpy_i128_rem(a: i128, b: i128) -> i128 = a.checked_rem(b).unwrap_or(0);
    /// Unsigned division; the divisor is not zero.
    rpy_u128_div(a: u128, b: u128) -> u128 = a.checked_div(b).unwrap_or(0);
    /// Its remainder.
    rpy_u128_rem(a: u128, b: u128) -> u128 = a.checked_rem(b).unwrap_or(0);
    /// Truncates.
    rpy_f64_to_i128(a: f64) -> i128 = a as i128;
    /// Truncates.
    rpy_f64_to_u128(a: f64) -> u128 = a as u128;
    /// Rounds to nearest.
    rpy_i128_to_f64(a: i128) -> f64 = a as f64;
    /// Rounds to nearest.
    rpy_u128_to_f64(a: u128) -> f64 = a as f64;
}

/// Nanoseconds of CPU time.
#[unsafe(no_mangle)]
pub extern "C" fn rpy_read_timestamp() -> i64 {
    crate::os::cpu_nanoseconds()
}
