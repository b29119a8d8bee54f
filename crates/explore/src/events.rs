//! `/events`: pages that are told of every round. One thread has all of their connections.

use std::io::Write;
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use crate::http::HEAD;

/// How often a silent connection is used, so that its end is noticed.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// How long a page may take to listen.
const PATIENCE: Duration = Duration::from_millis(500);
/// Maximum number of pages; the oldest is forgotten.
const MOST: usize = 64;

/// Messages to the thread.
pub(crate) enum News {
    /// The state of the program, as JSON.
    State(String),
    /// A page that listens from now on.
    Listener(TcpStream),
}

/// Starts the thread, with the state before the first news.
pub(crate) fn start(state: String, news: Receiver<News>) -> std::io::Result<()> {
    let thread = std::thread::Builder::new().name("events".to_owned());
    thread.spawn(move || tell(&news, state)).map(drop)
}

fn tell(news: &Receiver<News>, mut state: String) {
    let mut listeners: Vec<TcpStream> = Vec::new();
    loop {
        let text = match news.recv_timeout(HEARTBEAT) {
            Ok(News::Listener(mut stream)) => {
                let _ = stream.set_write_timeout(Some(PATIENCE));
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
                let text = format!("{head}{HEAD}\r\ndata: {state}\n\n");
                if stream.write_all(text.as_bytes()).is_ok() {
                    if listeners.len() == MOST {
                        listeners.remove(0);
                    }
                    listeners.push(stream);
                }
                continue;
            }
            Ok(News::State(new)) => {
                state = new;
                format!("data: {state}\n\n")
            }
            Err(RecvTimeoutError::Timeout) => ": still here\n\n".to_owned(),
            Err(RecvTimeoutError::Disconnected) => return,
        };
        listeners.retain_mut(|l| l.write_all(text.as_bytes()).is_ok());
    }
}
