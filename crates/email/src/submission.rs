//! Messages handed to the submission server of the operator. RFC 6409, RFC 5321, RFC 4954.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use forecourt_egress::{Connection, Egress, EgressError, Purpose, Tls};
use forecourt_host::CarryOutcome;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use crate::limits::SMTP_REPLY_BYTES_MAX;
use crate::section::SmtpTls;

/// Where messages are handed over, and as whom.
pub(crate) struct Submission {
    pub(crate) egress: Arc<Egress>,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) security: SmtpTls,
    /// User and password.
    pub(crate) login: Option<(String, String)>,
    /// What this host is called.
    pub(crate) domain: String,
}

/// Why a message was not taken.
#[derive(Debug, thiserror::Error)]
enum SubmissionError {
    #[error(transparent)]
    Egress(#[from] EgressError),
    #[error("the connection broke: {0}")]
    Io(#[from] std::io::Error),
    #[error("the server said {0}")]
    Refused(u16),
    #[error("{0}")]
    Unfit(&'static str),
}

/// A connection on which the server is spoken with.
struct Dialogue {
    stream: BufReader<Connection>,
    /// The words of the last reply, in upper case.
    words: Vec<String>,
}

impl Submission {
    /// Hands a message over. [`CarryOutcome::Later`] also where the connection broke after the message was
    /// sent: it may arrive twice then, with one id.
    pub(crate) async fn send(&self, from: &str, to: &str, message: &[u8]) -> CarryOutcome {
        match self.submit(from, to, message).await {
            Ok(()) => CarryOutcome::Delivered,
            // 530 and 535 are about us and not about the message, and may be mended.
            Err(SubmissionError::Refused(code)) if code >= 550 => {
                tracing::warn!(code, "the submission server refused an answer by mail");
                CarryOutcome::Never
            }
            Err(error) => {
                tracing::warn!(%error, "an answer by mail was not taken");
                CarryOutcome::Later
            }
        }
    }

    async fn submit(&self, from: &str, to: &str, message: &[u8]) -> Result<(), SubmissionError> {
        let mut dialogue = self.open().await?;
        if let Some((user, password)) = &self.login {
            dialogue.sign_in(user, password).await?;
        }
        dialogue.command(&format!("MAIL FROM:<{from}>"), 250).await?;
        dialogue.command(&format!("RCPT TO:<{to}>"), 250).await?;
        dialogue.command("DATA", 354).await?;
        dialogue.write(&stuffed(message)).await?;
        dialogue.expect(250).await?;
        // It is delivered; leaving politely may fail.
        let _ = dialogue.write(b"QUIT\r\n").await;
        Ok(())
    }

    /// A connection on which both have greeted, within TLS if it is to be.
    async fn open(&self) -> Result<Dialogue, SubmissionError> {
        let hello = format!("EHLO {}", self.domain);
        let connection = match self.security {
            SmtpTls::Implicit => {
                self.egress.connect_tls(Purpose::Upstream, &self.host, self.port, &self.tls()?).await?
            }
            SmtpTls::Starttls | SmtpTls::None => self.egress.connect(Purpose::Upstream, &self.host, self.port).await?,
        };
        let mut dialogue = Dialogue::new(connection);
        dialogue.expect(220).await?;
        dialogue.command(&hello, 250).await?;
        if self.security == SmtpTls::Starttls {
            if !dialogue.offers("STARTTLS") {
                return Err(SubmissionError::Unfit("the submission server offers no STARTTLS"));
            }
            dialogue.command("STARTTLS", 220).await?;
            // A new dialogue, and EHLO once more: what was offered in the clear counts no longer (RFC 3207 4.2).
            dialogue = Dialogue::new(dialogue.into_plain()?.start_tls(&self.tls()?).await?);
            dialogue.command(&hello, 250).await?;
        }
        Ok(dialogue)
    }

    fn tls(&self) -> Result<Tls, SubmissionError> {
        self.egress.tls_without_alpn(self.port).map_err(|_| SubmissionError::Unfit("TLS can't be set up"))
    }
}

impl Dialogue {
    fn new(connection: Connection) -> Self {
        Self { stream: BufReader::new(connection), words: Vec::new() }
    }

    /// The connection, for TLS. What was said before it in the clear is nobody's word within it (CVE-2011-0411).
    fn into_plain(self) -> Result<Connection, SubmissionError> {
        match self.stream.buffer().is_empty() {
            true => Ok(self.stream.into_inner()),
            false => Err(SubmissionError::Unfit("the submission server spoke before TLS")),
        }
    }

    /// Whether the last reply, which is that to EHLO, has a line that begins with this word.
    fn offers(&self, word: &str) -> bool {
        self.words.iter().any(|line| line.split_whitespace().next() == Some(word))
    }

    async fn sign_in(&mut self, user: &str, password: &str) -> Result<(), SubmissionError> {
        let plain = STANDARD.encode(format!("\0{user}\0{password}"));
        let methods = self.words.iter().find(|line| line.split_whitespace().next() == Some("AUTH"));
        let has = |method: &str| methods.is_some_and(|line| line.split_whitespace().any(|word| word == method));
        match (has("PLAIN"), has("LOGIN")) {
            (true, _) => self.command(&format!("AUTH PLAIN {plain}"), 235).await,
            (false, true) => {
                self.command("AUTH LOGIN", 334).await?;
                self.command(&STANDARD.encode(user), 334).await?;
                self.command(&STANDARD.encode(password), 235).await
            }
            (false, false) => Err(SubmissionError::Unfit("the submission server offers neither PLAIN nor LOGIN")),
        }
    }

    async fn command(&mut self, line: &str, expected: u16) -> Result<(), SubmissionError> {
        self.write(format!("{line}\r\n").as_bytes()).await?;
        self.expect(expected).await
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), SubmissionError> {
        self.stream.write_all(bytes).await?;
        Ok(self.stream.flush().await?)
    }

    /// Reads one reply of any number of lines. RFC 5321 4.2.1.
    async fn expect(&mut self, expected: u16) -> Result<(), SubmissionError> {
        self.words.clear();
        let mut left = SMTP_REPLY_BYTES_MAX;
        loop {
            let mut line = Vec::new();
            let most = u64::try_from(left).unwrap_or(u64::MAX);
            let read = (&mut self.stream).take(most).read_until(b'\n', &mut line).await?;
            left -= read;
            let line = String::from_utf8_lossy(&line).into_owned();
            if !line.ends_with('\n') {
                return Err(SubmissionError::Unfit("the submission server's reply is cut off or too long"));
            }
            let code = line.get(..3).and_then(|code| code.parse::<u16>().ok());
            let code = code.ok_or(SubmissionError::Unfit("the submission server's reply has no code"))?;
            self.words.push(line.get(4..).unwrap_or_default().trim().to_ascii_uppercase());
            if line.as_bytes().get(3) != Some(&b'-') {
                return if code == expected { Ok(()) } else { Err(SubmissionError::Refused(code)) };
            }
        }
    }
}

/// The message with its dots stuffed, and its end. RFC 5321 4.5.2.
fn stuffed(message: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(message.len() + 64);
    for line in message.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b".") {
            bytes.push(b'.');
        }
        bytes.extend_from_slice(line);
    }
    if !bytes.ends_with(b"\r\n") {
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b".\r\n");
    bytes
}
