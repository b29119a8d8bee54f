//! `taipan explore`: a page in the browser that shows a program at every stage, and follows
//! edits.
//!
//! ```text
//! browser ──GET /api/view?f=..&stage=..──► front ──► worker ──lease──► owner of the Watch
//!    ▲                                                │ work on a clone of the database
//!    └──────────── JSON, SVG ─────────────────────────┘ (again, if an edit came between)
//!    ▲
//!    └── GET /events ◄── owner: a round is over ◄── worker ◄── file watcher
//! ```
//!
//! All threads are made at the start ([`pool`]). Who asks needs the token of the printed address
//! ([`token`]).
//!
//! The page is plain HTML, CSS and JavaScript in `page/`, which are part of the binary. It asks
//! nobody but this server, which only this machine can reach.
//!
//! **Architecture invariants.** Knows no stage: what is shown comes from
//! [`taipan_driver::inspect`] as plain data. The page draws what it is given; graphs are laid
//! out before they are sent.

mod events;
mod http;
mod live;
mod pages;
mod pool;
mod requests;
mod residual;
mod token;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use taipan_driver::{Database, LoadOptions};

use http::{Connection, Desk};
use pool::{Pool, Size};

/// What is explored.
pub struct Options {
    /// The target file.
    pub target: Utf8PathBuf,
    /// How it is loaded.
    pub load: LoadOptions,
    /// The port; any free one if it is 0.
    pub port: u16,
    /// Look at files at intervals, where the system does not tell of changes.
    pub poll: bool,
    /// What is given a table of phases and their times after every round.
    pub timings: Option<fn(&str)>,
    /// The `taipan` command, which runs the program for its residual code.
    pub command: Utf8PathBuf,
}

/// A server that runs for as long as the process.
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    listener: TcpListener,
    desk: Arc<Desk>,
    /// Reads requests, and answers those that need no program.
    front: Pool<Connection>,
}

/// Browsers open connections before they need them.
const FRONT: Size = Size {
    threads: 4,
    waiting: 128,
};

/// How long nothing is accepted after a connection could not be: there may be no file descriptor left.
const PAUSE: Duration = Duration::from_millis(20);

impl Server {
    /// Starts the first round, and listens.
    pub fn start(db: Database, options: Options) -> std::io::Result<Server> {
        let address = SocketAddr::from(([127, 0, 0, 1], options.port));
        let listener = TcpListener::bind(address)
            .map_err(|e| std::io::Error::other(format!("port {}: {e}", options.port)))?;
        let address = listener.local_addr()?;
        let desk = Arc::new(Desk::new(db, options, address.port())?);
        let for_front = desk.clone();
        Ok(Server {
            address,
            listener,
            front: Pool::start("request", &FRONT, move |c| for_front.attend(c))?,
            desk,
        })
    }

    /// The address for the browser. It grants access to every request.
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.address, self.desk.token())
    }

    /// Serves until the process ends.
    pub fn serve(&self) -> ! {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    if let Err(connection) = self.front.offer(Connection::new(stream)) {
                        connection.refuse_busy();
                    }
                }
                // A connection that broke before it was accepted is dropped.
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }
}
