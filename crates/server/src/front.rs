//! The first to see a message: `shutdown` and `exit` never wait for the main loop, which waits for
//! workers when it sets inputs.

use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Response};
use lsp_types::InitializeParams;
use lsp_types::notification::{Exit, Notification as _};
use lsp_types::request::{Request as _, Shutdown};

use crate::Error;
use crate::capabilities::Client;
use crate::state::Server;

/// The main loop parses configuration, and drops large values.
const STACK: usize = 64 << 20;
/// How long the main loop may take to end. The process ends in any case.
const GRACE: Duration = Duration::from_millis(200);

/// Serves a client that has been initialized until it says `exit` or is gone.
pub(crate) fn attend(
    connection: &Connection,
    client: Client,
    params: InitializeParams,
) -> Result<(), Error> {
    let (messages, receiver) = unbounded::<Message>();
    let inner = Connection {
        sender: connection.sender.clone(),
        receiver,
    };
    let (end, ended) = bounded::<Result<(), Error>>(1);
    let main_loop = std::thread::Builder::new().name("taipan main loop".to_owned());
    main_loop.stack_size(STACK).spawn(move || {
        let _ = end.send(Server::new(&inner, client, &params).run());
    })?;
    if let Some(result) = forward(connection, messages, &ended)? {
        return result;
    }
    match ended.recv_timeout(GRACE) {
        Ok(result) => result,
        Err(_) => Ok(()),
    }
}

/// Passes messages on until the client says `exit` or is gone. Returns what the main loop returned
/// if it ended before.
fn forward(
    connection: &Connection,
    messages: Sender<Message>,
    ended: &Receiver<Result<(), Error>>,
) -> Result<Option<Result<(), Error>>, Error> {
    let mut is_down = false;
    loop {
        let message = select! {
            recv(connection.receiver) -> message => match message {
                Ok(message) => message,
                Err(_) => return Ok(None),
            },
            recv(ended) -> result => {
                return Ok(Some(result.unwrap_or_else(|_| Err("the main loop panicked".into()))));
            }
        };
        match message {
            Message::Notification(n) if n.method == Exit::METHOD => return Ok(None),
            Message::Request(r) if is_down => {
                let text = "the server was told to shut down".to_owned();
                let code = ErrorCode::InvalidRequest as i32;
                let refused = Response::new_err(r.id, code, text);
                connection.sender.send(refused.into())?;
            }
            Message::Request(r) if r.method == Shutdown::METHOD => {
                is_down = true;
                connection.sender.send(Response::new_ok(r.id, ()).into())?;
            }
            // Answers to what the server has asked may still be under way.
            _ if is_down => {}
            // If the main loop is gone, `ended` says so next.
            message => drop(messages.send(message)),
        }
    }
}
