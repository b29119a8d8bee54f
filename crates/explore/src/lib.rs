//! `taipan explore`: a page in the browser that shows a program at every stage, and follows
//! edits.
//!
//! ```text
//! browser ──GET /api/view?f=..&stage=..──► thread of the request ──lease──► owner of the Watch
//!    ▲                                            │ work on a clone of the database
//!    └──────────── JSON, SVG ─────────────────────┘ (again, if an edit came between)
//!    ▲
//!    └── GET /events ◄── owner: a round is over ◄── worker ◄── file watcher
//! ```
//!
//! The page is plain HTML, CSS and JavaScript in `page/`, which are part of the binary. It asks
//! nobody but this server, which only this machine can reach.
//!
//! **Architecture invariants.** Knows no stage: what is shown comes from
//! [`taipan_driver::inspect`] as plain data. The page draws what it is given; graphs are laid
//! out before they are sent.

mod http;
mod live;
mod pages;
mod requests;
mod residual;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use camino::Utf8PathBuf;
use taipan_driver::{Database, LoadOptions};

use live::Live;

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
    live: Arc<Live>,
}

impl Server {
    /// Starts the first round, and listens.
    pub fn start(db: Database, options: Options) -> std::io::Result<Server> {
        let address = SocketAddr::from(([127, 0, 0, 1], options.port));
        let listener = TcpListener::bind(address)
            .map_err(|e| std::io::Error::other(format!("port {}: {e}", options.port)))?;
        Ok(Server {
            address: listener.local_addr()?,
            listener,
            live: Arc::new(Live::start(db, options)?),
        })
    }

    /// What the browser is to open.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Serves until the process ends.
    pub fn serve(&self) -> std::io::Result<()> {
        for stream in self.listener.incoming() {
            // A connection that broke before it was taken is nobody's loss.
            let Ok(stream) = stream else { continue };
            let live = self.live.clone();
            let port = self.address.port();
            std::thread::Builder::new()
                .name("request".to_owned())
                .stack_size(STACK)
                .spawn(move || http::answer(stream, &live, port))?;
        }
        Ok(())
    }
}

/// The stages recurse with the program's nesting; address space is free.
const STACK: usize = 1 << 29;
