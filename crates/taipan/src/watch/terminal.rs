//! Keys and signals as events, and the terminal in the mode that keys need.
//!
//! Keys come one by one and are not echoed, but output and Ctrl-C stay as they are: the
//! watched program writes to the same terminal.

use std::io::{self, IsTerminal};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};

use crossterm::event::{Event as Input, KeyEventKind, read};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::Event;

/// The mode that the terminal was in before, as long as it is in ours.
static BEFORE: Mutex<Option<libc::termios>> = Mutex::new(None);

/// The terminal on standard input, if there is one. It is given back when the value
/// goes.
pub(super) struct Terminal {
    keys: bool,
}

impl Terminal {
    /// Whether standard input is a terminal.
    pub(super) fn is_there() -> bool {
        io::stdin().is_terminal()
    }

    pub(super) fn has_keys(&self) -> bool {
        self.keys
    }

    /// Puts the terminal into the mode for keys.
    pub(super) fn take(&self) {
        if !self.keys {
            return;
        }
        let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: reads into and writes from a value of this frame.
        unsafe {
            let mut mode = std::mem::zeroed::<libc::termios>();
            if libc::tcgetattr(0, &raw mut mode) != 0 {
                return;
            }
            before.get_or_insert(mode);
            mode.c_lflag &= !(libc::ICANON | libc::ECHO);
            libc::tcsetattr(0, libc::TCSANOW, &raw const mode);
        }
    }

    /// Puts the terminal into the mode that it was found in.
    pub(super) fn give_back(&self) {
        give_back();
    }
}

fn give_back() {
    let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(mode) = before.take() {
        // SAFETY: writes from a value of this frame.
        unsafe { libc::tcsetattr(0, libc::TCSANOW, &raw const mode) };
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        give_back();
    }
}

/// Has keys and signals sent as events.
pub(super) fn attend<T: Send + 'static>(events: &Sender<Event<T>>) -> io::Result<Terminal> {
    let terminal = Terminal {
        keys: Terminal::is_there(),
    };
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGCONT])?;
    let sender = events.clone();
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            let mut asked = false;
            for signal in signals.forever() {
                if signal == SIGCONT {
                    let _ = sender.send(Event::Continued);
                    continue;
                }
                let code = 128 + signal;
                // Somebody who asks twice does not want to wait.
                if asked || sender.send(Event::Quit(code)).is_err() {
                    give_back();
                    std::process::exit(code);
                }
                asked = true;
            }
        })?;
    if terminal.keys {
        terminal.take();
        let sender = events.clone();
        std::thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || {
                while let Ok(input) = read() {
                    let event = match input {
                        Input::Key(k) if k.kind != KeyEventKind::Release => Event::Key(k),
                        Input::Resize(..) => Event::Resized,
                        _ => continue,
                    };
                    if sender.send(event).is_err() {
                        return;
                    }
                }
            })?;
    }
    Ok(terminal)
}
