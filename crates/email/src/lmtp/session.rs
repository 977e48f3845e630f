//! One connection of a mail server, from its greeting to its end. RFC 2033.

use std::time::Duration;

use bytes::BytesMut;
use forecourt_core::Handle;
use smtp_proto::Request;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::decoder::{Decoder, Frame, LineError};
use super::reply::SmtpReply;
use crate::limits::{BAD_COMMANDS_MAX, CLIENT_WAIT, MESSAGE_WAIT};

/// What a session hands mail to: it knows the agents of mailboxes, and takes messages for them.
pub trait Mailroom: Sync {
    /// The agent of a mailbox, or why there is none.
    fn agent(&self, address: &str) -> Result<Handle, SmtpReply>;

    /// Takes a message for each of the recipients, and says for each what came of it, in their order. What was
    /// taken is durable when this returns.
    fn take(&self, envelope: Envelope, message: Vec<u8>) -> impl Future<Output = Vec<SmtpReply>> + Send;
}

/// What a mail server says about a message beside the message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Envelope {
    /// Where bounces go; empty for a message that nobody may answer. RFC 5321 4.5.5.
    pub return_path: String,
    /// The agents that it is for.
    pub recipients: Vec<Handle>,
}

/// How much one connection may bring.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Bytes of a message.
    pub message_bytes_max: usize,
    /// Recipients of a message.
    pub recipients_max: usize,
}

/// Speaks with a mail server until it leaves, is too slow, says too much that means nothing, or `stop` comes
/// between two commands.
pub async fn speak<S, M>(stream: S, mailroom: &M, domain: &str, bounds: Bounds, stop: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
    M: Mailroom,
{
    let mut session = Session {
        stream,
        mailroom,
        domain,
        bounds,
        decoder: Decoder::new(bounds.message_bytes_max),
        read: BytesMut::new(),
        greeted: false,
        envelope: None,
        bad_commands: 0,
    };
    // How it ended is the client's business.
    let _ended = session.run(stop).await;
}

struct Session<'a, S, M> {
    stream: S,
    mailroom: &'a M,
    domain: &'a str,
    bounds: Bounds,
    decoder: Decoder,
    read: BytesMut,
    greeted: bool,
    /// Between MAIL and the message.
    envelope: Option<Envelope>,
    bad_commands: u32,
}

/// The connection is over, one way or the other.
struct Over;

impl From<std::io::Error> for Over {
    fn from(_: std::io::Error) -> Self {
        Self
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send, M: Mailroom> Session<'_, S, M> {
    async fn run(&mut self, stop: CancellationToken) -> Result<(), Over> {
        self.write(&format!("220 {} LMTP\r\n", self.domain)).await?;
        loop {
            let next = stop.run_until_cancelled(self.frame(CLIENT_WAIT)).await;
            let frame = match next {
                None => return self.close(&SmtpReply::new(421, "4.3.2", "the service stops")).await,
                Some(frame) => frame?,
            };
            match frame {
                Ok(Frame::Line(line)) => self.command(&line).await?,
                Ok(Frame::Message(_) | Frame::TooLarge) => return Err(Over),
                Err(LineError::TooLong) => {
                    return self.close(&SmtpReply::new(500, "5.5.2", LineError::TooLong.to_string())).await;
                }
                Err(error) => self.bad(&SmtpReply::new(500, "5.5.2", error.to_string())).await?,
            }
        }
    }

    /// The next frame, of which each piece comes within `wait`.
    async fn frame(&mut self, wait: Duration) -> Result<Result<Frame, LineError>, Over> {
        loop {
            match self.decoder.decode(&mut self.read) {
                Ok(Some(frame)) => return Ok(Ok(frame)),
                Ok(None) => {}
                Err(error) => return Ok(Err(error)),
            }
            let read = timeout(wait, self.stream.read_buf(&mut self.read)).await;
            match read {
                Ok(Ok(bytes)) if bytes > 0 => {}
                Ok(_) => return Err(Over),
                Err(_) => return self.close(&SmtpReply::new(421, "4.4.2", "it took too long")).await,
            }
        }
    }

    async fn command(&mut self, line: &[u8]) -> Result<(), Over> {
        let line = [line, b"\r\n"].concat();
        let request = match Request::parse(&mut line.iter()) {
            Ok(request) => request.into_owned(),
            Err(smtp_proto::Error::InvalidRecipientAddress | smtp_proto::Error::InvalidSenderAddress) => {
                return self.bad(&SmtpReply::new(501, "5.1.3", "malformed address")).await;
            }
            Err(smtp_proto::Error::UnsupportedParameter { .. } | smtp_proto::Error::InvalidParameter { .. }) => {
                return self.bad(&SmtpReply::new(555, "5.5.4", "unsupported parameter")).await;
            }
            Err(smtp_proto::Error::SyntaxError { syntax }) => {
                return self.bad(&SmtpReply::new(501, "5.5.2", format!("expected {syntax}"))).await;
            }
            Err(_) => return self.bad(&SmtpReply::new(500, "5.5.2", "unknown command")).await,
        };
        match request {
            Request::Lhlo { .. } => self.hello().await,
            Request::Mail { from } if self.greeted => self.mail(from.address, from.size).await,
            Request::Rcpt { to } => self.recipient(&to.address).await,
            Request::Data => self.data().await,
            Request::Rset => {
                self.envelope = None;
                self.say(&SmtpReply::taken()).await
            }
            Request::Noop { .. } => self.say(&SmtpReply::taken()).await,
            Request::Vrfy { .. } => self.say(&SmtpReply::new(252, "2.5.0", "send mail and see")).await,
            Request::Quit => self.close(&SmtpReply::new(221, "2.0.0", "bye")).await,
            Request::Mail { .. } => self.bad(&SmtpReply::new(503, "5.5.1", "LHLO comes first")).await,
            // RFC 2033 4.1: a client that says HELO or EHLO took this for SMTP, whose replies it would misread.
            Request::Ehlo { .. } | Request::Helo { .. } => {
                self.bad(&SmtpReply::new(500, "5.5.1", "this is LMTP: say LHLO")).await
            }
            _ => self.bad(&SmtpReply::new(502, "5.5.1", "unsupported command")).await,
        }
    }

    async fn hello(&mut self) -> Result<(), Over> {
        (self.greeted, self.envelope) = (true, None);
        let (domain, size) = (self.domain, self.bounds.message_bytes_max);
        let text =
            format!("250-{domain}\r\n250-PIPELINING\r\n250-ENHANCEDSTATUSCODES\r\n250-8BITMIME\r\n250 SIZE {size}\r\n");
        self.write(&text).await
    }

    async fn mail(&mut self, return_path: String, size: usize) -> Result<(), Over> {
        if self.envelope.is_some() {
            return self.bad(&SmtpReply::new(503, "5.5.1", "one message at a time")).await;
        }
        if size > self.bounds.message_bytes_max {
            return self.say(&self.too_large()).await;
        }
        self.envelope = Some(Envelope { return_path, recipients: Vec::new() });
        self.say(&SmtpReply::new(250, "2.1.0", "OK")).await
    }

    async fn recipient(&mut self, address: &str) -> Result<(), Over> {
        let Some(envelope) = &mut self.envelope else {
            return self.bad(&SmtpReply::new(503, "5.5.1", "MAIL comes first")).await;
        };
        let reply = match self.mailroom.agent(address) {
            Ok(_) if envelope.recipients.len() >= self.bounds.recipients_max => {
                let words = format!("at most {} recipients", self.bounds.recipients_max);
                SmtpReply::new(452, "4.5.3", words)
            }
            Ok(agent) => {
                envelope.recipients.push(agent);
                SmtpReply::new(250, "2.1.5", "OK")
            }
            Err(refused) => refused,
        };
        self.say(&reply).await
    }

    async fn data(&mut self) -> Result<(), Over> {
        if self.envelope.as_ref().is_none_or(|envelope| envelope.recipients.is_empty()) {
            return self.bad(&SmtpReply::new(503, "5.5.1", "no valid recipients")).await;
        }
        self.write("354 the message, and a dot\r\n").await?;
        self.decoder.expect_message();
        // A bound for the whole as well: with a byte now and then a client would hold its connection for days.
        let whole = timeout_at(Instant::now() + MESSAGE_WAIT, self.frame(CLIENT_WAIT)).await;
        let frame = whole.map_err(|_| Over)??;
        let Some(envelope) = self.envelope.take() else { return Err(Over) };
        let count = envelope.recipients.len();
        let replies = match frame {
            Ok(Frame::Message(message)) => self.mailroom.take(envelope, message).await,
            Ok(Frame::TooLarge) => vec![self.too_large(); count],
            Ok(Frame::Line(_)) | Err(_) => return Err(Over),
        };
        // RFC 2033 4.2: one reply for each recipient, in their order.
        let text: String = replies.iter().take(count).map(SmtpReply::to_line).collect();
        self.write(&text).await
    }

    fn too_large(&self) -> SmtpReply {
        SmtpReply::new(552, "5.3.4", format!("a message may have at most {} bytes", self.bounds.message_bytes_max))
    }

    /// Counts a command that means nothing.
    async fn bad(&mut self, reply: &SmtpReply) -> Result<(), Over> {
        self.bad_commands += 1;
        match self.bad_commands > BAD_COMMANDS_MAX {
            true => self.close(&SmtpReply::new(421, "4.7.0", "too many commands that mean nothing")).await,
            false => self.say(reply).await,
        }
    }

    async fn say(&mut self, reply: &SmtpReply) -> Result<(), Over> {
        self.write(&reply.to_line()).await
    }

    async fn write(&mut self, text: &str) -> Result<(), Over> {
        let written = async {
            self.stream.write_all(text.as_bytes()).await?;
            self.stream.flush().await
        };
        Ok(timeout(CLIENT_WAIT, written).await.map_err(|_| Over)??)
    }

    async fn close<T>(&mut self, reply: &SmtpReply) -> Result<T, Over> {
        self.say(reply).await?;
        let _ = timeout(CLIENT_WAIT, self.stream.shutdown()).await;
        Err(Over)
    }
}
