//! Output of processes, as text for the client.

use std::io::{self, PipeReader, PipeWriter, Read, pipe};
use std::os::fd::AsRawFd;
use std::sync::mpsc::Sender;

use crate::Event;

/// A stream of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stream {
    /// Both streams of the build.
    Build,
    /// Standard output of the program.
    Stdout,
    /// Standard error of the program.
    Stderr,
}

impl Stream {
    /// The category of output events.
    pub(crate) fn category(self) -> &'static str {
        match self {
            Stream::Stdout => "stdout",
            Stream::Build | Stream::Stderr => "stderr",
        }
    }
}

/// A pipe into the session's channel. It is at its end when this and all processes that have opened it are gone.
pub(crate) struct Pipe(PipeWriter);

impl Pipe {
    /// Makes a pipe and a thread that reads it.
    pub(crate) fn new(stream: Stream, events: &Sender<Event>) -> io::Result<Pipe> {
        let (reader, writer) = pipe()?;
        let events = events.clone();
        std::thread::Builder::new()
            .name(format!("{stream:?}"))
            .spawn(move || read(reader, stream, &events))?;
        Ok(Pipe(writer))
    }

    /// The end that processes write to.
    pub(crate) fn writer(&self) -> io::Result<PipeWriter> {
        self.0.try_clone()
    }

    /// A path by which processes of this user open it.
    pub(crate) fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }
}

fn read(mut reader: PipeReader, stream: Stream, events: &Sender<Event>) {
    let mut bytes = Vec::new();
    let mut chunk = [0; 8192];
    while let Ok(n @ 1..) = reader.read(&mut chunk) {
        bytes.extend_from_slice(&chunk[..n]);
        let rest = bytes.split_off(whole(&bytes));
        let text = String::from_utf8_lossy(&bytes).into_owned();
        bytes = rest;
        if events.send(Event::Printed(stream, text)).is_err() {
            return;
        }
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // A session that has ended has no receiver.
    let _ = events.send(Event::Printed(stream, text));
    let _ = events.send(Event::Closed(stream));
}

/// The length of the text without a character at its end whose last bytes are still to come.
fn whole(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let length = match byte {
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            _ => 1,
        };
        if length > back {
            return bytes.len() - back;
        }
        if byte & 0xc0 != 0x80 {
            break;
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn characters_are_not_cut() {
        let text = "a€".as_bytes();
        assert_eq!(whole(text), 4);
        assert_eq!(whole(&text[..3]), 1);
        assert_eq!(whole(&text[..2]), 1);
        assert_eq!(whole(b"ab"), 2);
        assert_eq!(whole(b""), 0);
        // No UTF-8 at all.
        assert_eq!(whole(b"\x80\x80\x80\x80"), 4);
    }
}
