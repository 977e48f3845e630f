//! This module is the server under test: requests to it one at a time, each on a connection of its own, and what
//! was learnt of it on the way.

use std::time::Duration;

use forecourt_core::{AgentId, json};
use forecourt_egress::{Connection, Egress, EgressError, Purpose, Tls};
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::draft::Draft;
use super::message::{Response, read};
use crate::check::{Shortfall, Verdict};
use crate::limits::SHOWN_CHARS_MAX;
use crate::shown::Secrets;

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

/// In whose name the server is asked.
#[derive(Default)]
pub struct Caller {
    /// Who calls. Without it, nobody in particular.
    pub agent_id: Option<AgentId>,
    /// Another agent that the server knows.
    pub other_agent_id: Option<AgentId>,
    /// What the caller claims of its authority, as the header has it.
    pub scope: Option<String>,
    /// A bearer token, which is never shown.
    pub token: Option<String>,
    /// Whether requests that change something are sent too.
    pub with_effects: bool,
    /// A method that the server's catalog is known to deprecate.
    pub deprecated_method: Option<String>,
}

/// The server under test.
pub struct Peer {
    line: Line,
    pub(crate) caller: Caller,
    secrets: Secrets,
    manifest: OnceCell<Option<Value>>,
    patterns: OnceCell<Option<Value>>,
}

/// One request and its answer.
#[derive(Debug)]
pub(crate) struct Exchange {
    sent: String,
    pub(crate) response: Response,
    is_named: bool,
    secrets: Secrets,
}

impl Peer {
    /// The server at the end of `line`, asked by `caller`.
    pub fn new(line: Line, caller: Caller) -> Self {
        let secrets = Secrets::new(caller.token.clone());
        Self { line, caller, secrets, manifest: OnceCell::new(), patterns: OnceCell::new() }
    }

    /// Whether anybody listens there.
    ///
    /// # Errors
    /// Nobody does, or there is no way.
    pub fn reach(&self) -> BoxFuture<'_, Result<(), EgressError>> {
        Box::pin(async move {
            timeout(self.line.patience, self.line.open()).await.map_err(|_| EgressError::Busy)?.map(drop)
        })
    }

    /// Sends a request in the name of the caller, and reads its answer.
    pub(crate) async fn ask(&self, draft: Draft) -> Result<Exchange, Shortfall> {
        let mut draft = draft;
        let bearer = self.caller.token.as_ref().map(|token| format!("Bearer {token}"));
        let id = self.caller.agent_id.as_ref().map(|id| id.as_str().to_owned());
        for (name, value) in
            [("Agent-ID", id), ("Authority-Scope", self.caller.scope.clone()), ("Authorization", bearer)]
        {
            // A check that sends a field of its own means that one.
            if let Some(value) = value.filter(|_| !draft.has(name)) {
                draft = draft.field(name, &value);
            }
        }
        self.anonymous(draft).await
    }

    /// Sends a request that says no more than stands in it.
    pub(crate) async fn anonymous(&self, draft: Draft) -> Result<Exchange, Shortfall> {
        let is_named = draft.has("Agent-ID");
        let exchange = self.raw(&draft.bytes()).await?;
        Ok(Exchange { is_named, ..exchange })
    }

    /// Sends bytes, and reads the first answer to them.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> Result<Exchange, Shortfall> {
        let mut answers = self.all(bytes, 1).await?;
        answers.pop().ok_or_else(|| self.silent("the server closed the connection without an answer", bytes))
    }

    /// Sends bytes, and reads up to `count` answers to them.
    pub(crate) async fn all(&self, bytes: &[u8], count: usize) -> Result<Vec<Exchange>, Shortfall> {
        let limit = self.line.patience;
        let exchange = timeout(limit, self.line.exchange(bytes, count)).await;
        let answers = match exchange {
            Err(_) => Err(format!("no whole answer within {} seconds", limit.as_secs_f32())),
            Ok(answers) => answers,
        };
        let answers = answers.map_err(|what| self.silent(&what, bytes))?;
        let shown = |response| Exchange {
            sent: self.secrets.shown(bytes, SHOWN_CHARS_MAX),
            response,
            is_named: false,
            secrets: self.secrets.clone(),
        };
        Ok(answers.into_iter().map(shown).collect())
    }

    /// Sends bytes without TLS, and reads the answer if one comes. `None`: the server is asked without TLS anyway.
    pub(crate) async fn without_tls(&self, bytes: &[u8]) -> Option<Result<Exchange, Shortfall>> {
        self.line.tls.as_ref()?;
        let Line { egress, host, port, patience, .. } = &self.line;
        let plain = Line { egress: egress.clone(), tls: None, host: host.clone(), port: *port, patience: *patience };
        // In nobody's name: what is sent here goes over the network in the clear.
        let peer = Self::new(plain, Caller::default());
        Some(peer.raw(bytes).await)
    }

    fn silent(&self, what: &str, bytes: &[u8]) -> Shortfall {
        Shortfall::Silent { what: what.to_owned(), sent: self.secrets.shown(bytes, SHOWN_CHARS_MAX) }
    }

    /// The manifest, asked for once.
    pub(crate) async fn manifest(&self) -> Result<&Value, Shortfall> {
        // What is not there is remembered too: a server without it is not asked again by each check.
        let fetched = self.manifest.get_or_init(|| async {
            let exchange = self.anonymous(Draft::without_target("DISCOVER")).await.ok()?;
            exchange.json().ok().filter(|_| exchange.response.status == 200)
        });
        let why = "the manifest could not be had; agtp-13.1-5a says why";
        fetched.await.as_ref().ok_or_else(|| Shortfall::skip(why))
    }

    /// The patterns for which contracts are made, asked for once.
    pub(crate) async fn patterns(&self) -> Result<&Value, Shortfall> {
        let fetched = self.patterns.get_or_init(|| async {
            let exchange = self.ask(Draft::new("DISCOVER", "/patterns")).await.ok()?;
            exchange.json().ok().filter(|_| exchange.response.status == 200)
        });
        fetched.await.as_ref().ok_or_else(|| Shortfall::skip("the server does not tell its patterns"))
    }

    /// Who calls.
    pub(crate) fn agent(&self) -> Result<&str, Shortfall> {
        let id = self.caller.agent_id.as_ref().map(AgentId::as_str);
        id.ok_or_else(|| Shortfall::skip("needs an Agent-ID: give --agent-id"))
    }

    /// Whether something may be changed.
    pub(crate) fn effects(&self) -> Verdict {
        match self.caller.with_effects {
            true => Ok(()),
            false => Err(Shortfall::skip("may change something at the server: give --with-effects")),
        }
    }
}

impl Exchange {
    /// The status.
    pub(crate) fn status(&self) -> u16 {
        self.response.status
    }

    /// The value of a field of the answer.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.response.field(name)
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Result<Value, Shortfall> {
        json::parse(&self.response.body).map_err(|fault| self.wrong(format!("the body is no JSON: {fault}")))
    }

    /// A member of the body: of the whole of it, or of its `error`, where refusals have theirs.
    pub(crate) fn member(&self, name: &str) -> Option<Value> {
        let body = json::parse(&self.response.body).ok()?;
        // The drafts show refusals in more than one form.
        let places = [&body, &body["error"], &body["error"]["details"]];
        places.iter().find_map(|place| place.get(name)).cloned()
    }

    /// Whether a word is the code, the reason or the type of the refusal.
    pub(crate) fn says(&self, word: &str) -> bool {
        ["code", "reason", "type", "issue"].iter().any(|name| self.member(name).is_some_and(|found| found == word))
    }

    /// That this exchange shows a rule broken.
    pub(crate) fn wrong(&self, what: impl Into<String>) -> Shortfall {
        let Response { head, body, .. } = &self.response;
        let came = [head.as_bytes(), b"\n\n", body].concat();
        let came = self.secrets.shown(&came, SHOWN_CHARS_MAX);
        Shortfall::Broken { what: what.into(), sent: Some(self.sent.clone()), came: Some(came) }
    }

    /// Fine with one of these statuses. What stands before the rule in a server's order, such as who calls or how
    /// often, leaves it untold.
    pub(crate) fn expect(&self, statuses: &[u16]) -> Verdict {
        let status = self.status();
        if statuses.contains(&status) {
            return Ok(());
        }
        let wants_a_name = matches!(status, 401 | 262) || (status == 400 && self.says("missing-agent-id"));
        match status {
            _ if wants_a_name && !self.is_named => {
                Err(Shortfall::skip(format!("the server answers {status} to nobody in particular: give --agent-id")))
            }
            401 => Err(Shortfall::skip("the server does not know this caller (401)")),
            429 | 503 => Err(Shortfall::skip(format!("the server is busy ({status})"))),
            _ => Err(self.wrong(format!("the status is {status} where {} belongs", either(statuses)))),
        }
    }
}

fn either(statuses: &[u16]) -> String {
    statuses.iter().map(u16::to_string).collect::<Vec<_>>().join(" or ")
}

impl Line {
    async fn open(&self) -> Result<Connection, EgressError> {
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

    /// Sends, and reads answers until there are `count` or the server closes.
    async fn exchange(&self, bytes: &[u8], count: usize) -> Result<Vec<Response>, String> {
        let mut connection = self.open().await.map_err(|error| format!("no connection: {}", error.log_reason()))?;
        // A server may answer and close before it has read everything; what it said counts.
        let sent = connection.write_all(bytes).await;
        let sent = match sent {
            Ok(()) => connection.flush().await,
            Err(error) => Err(error),
        };
        let mut buffer = Vec::new();
        let mut answers = Vec::new();
        loop {
            while let Some((response, length)) = read(&buffer).map_err(|error| error.to_string())? {
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
                    (true, Err(error)) => Err(format!("the request could not be sent: {error}")),
                    (false, _) => Err("the answer broke off".to_owned()),
                };
            }
        }
    }
}
