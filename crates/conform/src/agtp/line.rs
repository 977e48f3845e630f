//! This module is the way to a server of AGTP: a connection for each exchange.

use std::time::Duration;

use forecourt_egress::{Connection, Egress, EgressError, Purpose, Tls};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use super::message::{ReadError, Response, read};

/// Bytes that are read at once.
const READ_BYTES: usize = 16 * 1024;

/// Where the server is, and how it is reached.
pub struct Line {
    /// The guarded way out.
    pub egress: Egress,
    /// How connections are encrypted; without it, not at all, and to this machine alone.
    pub tls: Option<Tls>,
    /// A name or an address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// How long one exchange may take.
    pub patience: Duration,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum LineError {
    /// Nothing whole came, and why.
    Silent(String),
    /// What came can't be read as an answer.
    Unreadable {
        /// What is wrong with it.
        error: ReadError,
        /// What came, as far as it was read.
        bytes: Vec<u8>,
    },
}

impl Line {
    pub(crate) async fn open(&self) -> Result<Connection, EgressError> {
        let Self { egress, tls, host, port, .. } = self;
        let Some(tls) = tls else {
            let connection = egress.connect(Purpose::Upstream, host, *port).await?;
            // The address and not the name: `localhost` can be made to lead anywhere.
            let is_here = connection.peer().ip().is_loopback();
            let elsewhere = || EgressError::Failed("without TLS only this machine is spoken to".to_owned());
            return if is_here { Ok(connection) } else { Err(elsewhere()) };
        };
        egress.connect_tls(Purpose::Upstream, host, *port, tls).await
    }

    /// [`Line::answers`] within the time of one exchange.
    pub(crate) async fn exchange(&self, bytes: &[u8], count: usize) -> Result<Vec<Response>, LineError> {
        let limit = self.patience;
        let late = |_| LineError::Silent(format!("no whole answer within {} seconds", limit.as_secs_f32()));
        timeout(limit, self.answers(bytes, count)).await.map_err(late)?
    }

    /// Sends, and reads answers until there are `count` or the server closes.
    async fn answers(&self, bytes: &[u8], count: usize) -> Result<Vec<Response>, LineError> {
        let unconnected = |error: EgressError| LineError::Silent(format!("no connection: {}", error.log_reason()));
        let mut connection = self.open().await.map_err(unconnected)?;
        // A server may answer and close before it has read everything; what it said counts.
        let sent = connection.write_all(bytes).await;
        let sent = match sent {
            Ok(()) => connection.flush().await,
            Err(error) => Err(error),
        };
        let mut buffer = Vec::new();
        let mut answers = Vec::new();
        loop {
            loop {
                let (response, length) = match read(&buffer) {
                    Ok(Some(whole)) => whole,
                    Ok(None) => break,
                    Err(error) => return Err(LineError::Unreadable { error, bytes: buffer }),
                };
                buffer.drain(..length);
                answers.push(response);
                if answers.len() == count {
                    return Ok(answers);
                }
            }
            let from = buffer.len();
            buffer.resize(from + READ_BYTES, 0);
            let came = connection.read(&mut buffer[from..]).await.unwrap_or(0);
            buffer.truncate(from + came);
            if came == 0 {
                return match (buffer.is_empty(), sent) {
                    (true, Ok(())) => Ok(answers),
                    (true, Err(_)) if !answers.is_empty() => Ok(answers),
                    (true, Err(error)) => Err(LineError::Silent(format!("the request could not be sent: {error}"))),
                    (false, _) => Err(LineError::Silent("the answer broke off".to_owned())),
                };
            }
        }
    }
}
