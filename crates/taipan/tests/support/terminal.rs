//! A terminal for a command.

use std::fs;
use std::io::Read as _;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::process::{Command, ExitStatus, Stdio};

/// Runs a command on a new terminal with the given rows and columns. Calls `seen` whenever the screen changes.
pub(crate) fn on_terminal(
    mut command: Command,
    (rows, columns): (u16, u16),
    mut seen: impl FnMut(&vt100::Screen),
) -> (vt100::Parser, ExitStatus) {
    let (mut ours, mut theirs) = (0, 0);
    let size = libc::winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: the descriptors are made here.
    let (ours, theirs) = unsafe {
        let made = libc::openpty(
            &raw mut ours,
            &raw mut theirs,
            std::ptr::null_mut(),
            std::ptr::null(),
            &raw const size,
        );
        assert_eq!(made, 0);
        libc::fcntl(ours, libc::F_SETFD, libc::FD_CLOEXEC);
        libc::fcntl(theirs, libc::F_SETFD, libc::FD_CLOEXEC);
        (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
    };
    let stdio = || Stdio::from(theirs.try_clone().unwrap());
    command.stdin(Stdio::null()).stdout(stdio()).stderr(stdio());
    let mut child = command.spawn().unwrap();
    drop((command, theirs));
    let mut terminal = vt100::Parser::new(rows, columns, 1000);
    let mut from = fs::File::from(ours);
    let mut buffer = [0; 4096];
    // Reading a terminal without a program returns an error.
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        // A line may come and go within what was read at once.
        for piece in buffer[..n].split_inclusive(|b| *b == b'\r') {
            terminal.process(piece);
            seen(terminal.screen());
        }
    }
    let status = child.wait().unwrap();
    (terminal, status)
}
