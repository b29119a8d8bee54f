//! Sockets of the Internet (version 4) behind [`crate::externals`]. Errors come back as
//! minus the `errno`; a host that is not found as [`NO_HOST`].

use core::ffi::{c_char, c_int, c_void};
use core::mem::size_of;

use crate::os::{checked, with_c_string};
use crate::sys::{EINTR, errno};

/// Answer for a host that has no address: no `errno` is that large.
pub const NO_HOST: i64 = -10_000;

const AF_INET: c_int = 2;
const MSG_NOSIGNAL: c_int = 0x4000;

/// The C library's `addrinfo`.
#[repr(C)]
struct AddrInfo {
    flags: c_int,
    family: c_int,
    kind: c_int,
    protocol: c_int,
    len: u32,
    addr: *const SockAddr,
    name: *const c_char,
    next: *const AddrInfo,
}

/// The kernel's `sockaddr_in`; port and address have their high bytes first.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct SockAddr {
    family: u16,
    port: [u8; 2],
    addr: [u8; 4],
    zero: [u8; 8],
}

unsafe extern "C" {
    #[link_name = "socket"]
    fn c_socket(family: c_int, kind: c_int, protocol: c_int) -> c_int;
    #[link_name = "connect"]
    fn c_connect(fd: c_int, addr: *const SockAddr, len: u32) -> c_int;
    #[link_name = "bind"]
    fn c_bind(fd: c_int, addr: *const SockAddr, len: u32) -> c_int;
    #[link_name = "listen"]
    fn c_listen(fd: c_int, backlog: c_int) -> c_int;
    #[link_name = "accept"]
    fn c_accept(fd: c_int, addr: *mut SockAddr, len: *mut u32) -> c_int;
    #[link_name = "send"]
    fn c_send(fd: c_int, p: *const u8, n: usize, flags: c_int) -> isize;
    #[link_name = "shutdown"]
    fn c_shutdown(fd: c_int, how: c_int) -> c_int;
    fn setsockopt(fd: c_int, level: c_int, option: c_int, value: *const c_void, len: u32) -> c_int;
    fn getsockname(fd: c_int, addr: *mut SockAddr, len: *mut u32) -> c_int;
    fn getaddrinfo(
        host: *const c_char,
        service: *const c_char,
        hints: *const AddrInfo,
        out: *mut *const AddrInfo,
    ) -> c_int;
    fn freeaddrinfo(list: *const AddrInfo);
}

const ADDR_LEN: u32 = size_of::<SockAddr>() as u32;

/// Calls `f` with the address of a host, all of this machine's if it has no name.
fn with_address(host: &[u8], port: i64, f: impl FnOnce(&SockAddr) -> i64) -> i64 {
    let mut address = SockAddr {
        family: AF_INET as u16,
        port: (port as u16).to_be_bytes(),
        ..SockAddr::default()
    };
    if host.is_empty() {
        return f(&address);
    }
    let found = with_c_string(host, |h| {
        let hints = AddrInfo {
            flags: 0,
            family: AF_INET,
            kind: 0,
            protocol: 0,
            len: 0,
            addr: core::ptr::null(),
            name: core::ptr::null(),
            next: core::ptr::null(),
        };
        let mut list: *const AddrInfo = core::ptr::null();
        // SAFETY: the host ends in a zero byte; the list is read before it is freed, and
        // its addresses are of the family asked for.
        unsafe {
            if getaddrinfo(h, core::ptr::null(), &raw const hints, &raw mut list) != 0
                || list.is_null()
            {
                return NO_HOST;
            }
            address.addr = (*(*list).addr).addr;
            freeaddrinfo(list);
        }
        0
    });
    if found < 0 { found } else { f(&address) }
}

/// `socket`
pub fn socket(family: i64, kind: i64, protocol: i64) -> i64 {
    // SAFETY: at worst there is no such kind, which is an error.
    checked(i64::from(unsafe {
        c_socket(family as c_int, kind as c_int, protocol as c_int)
    }))
}

/// `connect` to a port of a host.
pub fn connect(fd: i64, host: &mut [u8], port: i64) -> i64 {
    // SAFETY: the address is one.
    with_address(host, port, |a| {
        checked(i64::from(unsafe { c_connect(fd as c_int, a, ADDR_LEN) }))
    })
}

/// `bind` to a port of this machine under one of its names.
pub fn bind(fd: i64, host: &mut [u8], port: i64) -> i64 {
    // SAFETY: the address is one.
    with_address(host, port, |a| {
        checked(i64::from(unsafe { c_bind(fd as c_int, a, ADDR_LEN) }))
    })
}

/// `listen`
pub fn listen(fd: i64, backlog: i64) -> i64 {
    // SAFETY: at worst the descriptor is invalid, which is an error.
    checked(i64::from(unsafe {
        c_listen(fd as c_int, backlog as c_int)
    }))
}

/// `accept`: the descriptor of the connection.
pub fn accept(fd: i64) -> i64 {
    loop {
        let mut address = SockAddr::default();
        let mut len = ADDR_LEN;
        // SAFETY: the address has that length.
        let fd = unsafe { c_accept(fd as c_int, &raw mut address, &raw mut len) };
        if fd >= 0 || errno() != i64::from(EINTR) {
            return checked(i64::from(fd));
        }
    }
}

/// `send`: how many bytes went.
pub fn send(fd: i64, s: &mut [u8]) -> i64 {
    loop {
        // SAFETY: `s` is valid for its length.
        let n = unsafe { c_send(fd as c_int, s.as_ptr(), s.len(), MSG_NOSIGNAL) };
        if n >= 0 || errno() != i64::from(EINTR) {
            return checked(n as i64);
        }
    }
}

/// `shutdown`
pub fn shutdown(fd: i64, how: i64) -> i64 {
    // SAFETY: as for `listen`.
    checked(i64::from(unsafe { c_shutdown(fd as c_int, how as c_int) }))
}

/// `setsockopt` of an option that is a C int.
pub fn set_option(fd: i64, level: i64, option: i64, value: i64) -> i64 {
    let value = value as c_int;
    // SAFETY: the value has that length.
    checked(i64::from(unsafe {
        setsockopt(
            fd as c_int,
            level as c_int,
            option as c_int,
            (&raw const value).cast(),
            size_of::<c_int>() as u32,
        )
    }))
}

/// The port that a socket is bound to.
pub fn port(fd: i64) -> i64 {
    let mut address = SockAddr::default();
    let mut len = ADDR_LEN;
    // SAFETY: the address has that length.
    match checked(i64::from(unsafe {
        getsockname(fd as c_int, &raw mut address, &raw mut len)
    })) {
        0 => i64::from(u16::from_be_bytes(address.port)),
        error => error,
    }
}
