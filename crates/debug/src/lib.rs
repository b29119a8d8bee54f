//! The debugger of `taipan debug`: the Debug Adapter Protocol, over gdb, in terms of RPython.
//!
//! ```text
//! client ──requests──► session ──commands──► gdb ──ptrace──► program ──stdout, stderr──┐
//!    ▲                   ▲  │                 │                                         │
//!    └─responses, events─┼──┘   ◄───records───┘ (machine interface, taipan_*.py in gdb) │
//!                        └──────────────────────────── output ◄─────────────────────────┘
//! ```
//!
//! `launch` makes an executable by `taipan build -O0 -g` in a separate process, whose output the client
//! shows. gdb is then controlled by its machine interface, and whatever has to do with values,
//! conditions and exceptions by one command of that which is Python in gdb (`src/gdb`), where types and
//! memory are at hand. There, expressions are RPython's.
//!
//! **Architecture invariants.** No compiler here: the command that builds is given by the caller. One
//! thread owns the session; others only read pipes into its channel. Nothing waits for gdb without also
//! taking the requests of the client off the pipe.

mod gdb;
mod launch;
mod mi;
mod output;
mod protocol;
mod requests;
mod session;
mod stops;

use std::io::{self, BufReader, Read, Write};
use std::sync::mpsc::{Sender, channel};

pub use launch::Toolchain;

use crate::output::Stream;
use crate::protocol::Request;
use crate::session::Session;

/// An event for the session.
enum Event {
    /// A request of the client.
    Request(Request),
    /// The client has gone, or sends something that is no message.
    ClientEnded,
    /// A line of gdb's.
    Gdb(mi::Record),
    /// gdb has ended.
    GdbEnded,
    /// A process has written something.
    Printed(Stream, String),
    /// A stream of a process is at its end.
    Closed(Stream),
}

/// Serves one client until it disconnects or its requests end. Ends gdb and the program, too.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + 'static,
    toolchain: Toolchain,
) -> io::Result<()> {
    let (sender, events) = channel();
    let requests = sender.clone();
    std::thread::Builder::new()
        .name("client".to_owned())
        .spawn(move || read_requests(input, &requests))?;
    Session::new(Box::new(output), sender, events, toolchain).run();
    Ok(())
}

fn read_requests(input: impl Read, requests: &Sender<Event>) {
    let mut input = BufReader::new(input);
    while let Ok(Some(request)) = protocol::read(&mut input) {
        if requests.send(Event::Request(request)).is_err() {
            return;
        }
    }
    // The session may have ended before its client.
    let _ = requests.send(Event::ClientEnded);
}
