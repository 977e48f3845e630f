//! This module is the proof that a server speaks AGTP: requests to it one at a time, each on a connection of its own, and
//! what was learnt of it on the way.

use std::sync::Arc;

use forecourt_core::AgentId;
use futures::future::BoxFuture;
use tokio::sync::OnceCell;

use super::draft::Draft;
use super::exchange::Exchange;
use super::line::{Line, LineError};
use super::target::{AgtpTarget, Caller};
use crate::check::{Check, Shortfall, ShownExchange, Verdict};
use crate::document::Document;
use crate::offer::{Absence, OfferedProtocol};
use crate::shown::Secrets;

/// A server that was heard to speak AGTP.
pub struct Peer {
    server: Arc<AgtpTarget>,
    secrets: Secrets,
    /// What is claimed of the caller's authority: what was asked for, unless the server refuses that.
    scope: Option<String>,
    notes: Vec<String>,
    manifest: OnceCell<Option<Document>>,
    patterns: OnceCell<Option<Document>>,
    /// Whether the pair that the caller named is negotiated.
    pub(super) negotiates: OnceCell<bool>,
}

impl OfferedProtocol for Peer {
    type Target = AgtpTarget;
    const NAME: &'static str = "AGTP";
    const CHECKS: &'static [&'static [Check<Self>]] = super::CHECKS;

    fn find(server: Arc<AgtpTarget>) -> BoxFuture<'static, Result<Self, Absence>> {
        Box::pin(async move {
            heard(&server).await?;
            let mut peer = Self::new(server);
            peer.try_scope().await;
            Ok(peer)
        })
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

/// Whether what answers speaks AGTP, however badly.
async fn heard(server: &AgtpTarget) -> Result<(), Absence> {
    let bytes = Draft::without_target("DISCOVER").bytes();
    match server.line.exchange(&bytes, 1).await {
        Ok(answers) if answers.is_empty() => {
            Err(Absence::Silent("the server closes the connection without an answer to DISCOVER".to_owned()))
        }
        Ok(_) => Ok(()),
        Err(LineError::Unreadable { bytes, .. }) if bytes.starts_with(b"AGTP/") => Ok(()),
        Err(LineError::Unreadable { error, .. }) => Err(Absence::NotOffered(format!("to DISCOVER, {error}"))),
        Err(LineError::Silent(what)) => Err(Absence::Silent(format!("to DISCOVER, {what}"))),
    }
}

impl Peer {
    fn new(server: Arc<AgtpTarget>) -> Self {
        let secrets = Secrets::new(server.caller.token.clone());
        let scope = server.caller.scope.clone();
        let (manifest, patterns, negotiates) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { server, secrets, scope, notes: Vec::new(), manifest, patterns, negotiates }
    }

    /// Leaves the scope out that the server refuses: otherwise each check would say so once more.
    async fn try_scope(&mut self) {
        let Some(scope) = self.scope.take() else { return };
        let plain = || Draft::new("DISCOVER", "/methods");
        let with = self.ask(plain().field("Authority-Scope", &scope)).await;
        let without = self.ask(plain()).await;
        match (with, without) {
            (Ok(with), Ok(without)) if with.status() != without.status() && with.is_refusal() => {
                let status = with.status();
                self.notes.push(format!(
                    "the server refuses the scope `{scope}` of this caller ({status}): asked without it"
                ));
            }
            _ => self.scope = Some(scope),
        }
    }

    /// In whose name the server is asked.
    pub(crate) fn caller(&self) -> &Caller {
        &self.server.caller
    }

    /// What is claimed of the caller's authority.
    pub(crate) fn scope(&self) -> Option<&str> {
        self.scope.as_deref()
    }

    /// Sends a request in the name of the caller, and reads its answer.
    pub(crate) async fn ask(&self, draft: Draft) -> Result<Exchange, Shortfall> {
        let mut draft = draft;
        let caller = self.caller();
        let bearer = caller.token.as_ref().map(|token| format!("Bearer {token}"));
        let id = caller.agent_id.as_ref().map(|id| id.as_str().to_owned());
        for (name, value) in [("Agent-ID", id), ("Authority-Scope", self.scope.clone()), ("Authorization", bearer)] {
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
        let what = || "the server closed the connection without an answer".to_owned();
        answers.pop().ok_or_else(|| Shortfall::Silent { what: what(), sent: self.shown(bytes) })
    }

    /// Sends bytes, and reads up to `count` answers to them.
    pub(crate) async fn all(&self, bytes: &[u8], count: usize) -> Result<Vec<Exchange>, Shortfall> {
        let sent = self.shown(bytes);
        let answers = match self.server.line.exchange(bytes, count).await {
            Ok(answers) => answers,
            Err(LineError::Silent(what)) => return Err(Shortfall::Silent { what, sent }),
            Err(LineError::Unreadable { error, bytes }) => {
                let came = self.secrets.shown("", &bytes);
                return Err(Shortfall::Broken(error.to_string(), ShownExchange { sent, came }));
            }
        };
        let exchange = |response| {
            let (sent, secrets) = (sent.clone(), self.secrets.clone());
            Exchange { sent, response, is_named: false, secrets }
        };
        Ok(answers.into_iter().map(exchange).collect())
    }

    /// Sends bytes without TLS, and reads the answer if one comes. `None`: the server is asked without TLS anyway.
    pub(crate) async fn without_tls(&self, bytes: &[u8]) -> Option<Result<Exchange, Shortfall>> {
        self.server.line.tls.as_ref()?;
        let Line { egress, host, port, patience, .. } = &self.server.line;
        let plain = Line { egress: egress.clone(), tls: None, host: host.clone(), port: *port, patience: *patience };
        // In nobody's name: what is sent here goes over the network in the clear.
        let peer = Self::new(Arc::new(AgtpTarget::new(plain, Caller::default())));
        Some(peer.raw(bytes).await)
    }

    /// Bytes that were sent, as a report shows them.
    fn shown(&self, bytes: &[u8]) -> String {
        let head = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
        self.secrets.shown(&String::from_utf8_lossy(&bytes[..head]), bytes.get(head + 4..).unwrap_or_default())
    }

    /// The manifest, asked for once.
    pub(crate) async fn manifest(&self) -> Result<&Document, Shortfall> {
        // What is not there is remembered too: a server without it is not asked again by each check.
        let fetched = self
            .manifest
            .get_or_init(|| async { self.anonymous(Draft::without_target("DISCOVER")).await.ok()?.document() });
        let why = "the manifest could not be had; agtp-13.1-5a says why";
        fetched.await.as_ref().ok_or_else(|| Shortfall::skip(why))
    }

    /// The patterns for which contracts are made, asked for once.
    pub(crate) async fn patterns(&self) -> Result<&Document, Shortfall> {
        let fetched = self
            .patterns
            .get_or_init(|| async { self.ask(Draft::new("DISCOVER", "/patterns")).await.ok()?.document() });
        fetched.await.as_ref().ok_or_else(|| Shortfall::skip("the server does not tell its patterns"))
    }

    /// Who calls.
    pub(crate) fn agent(&self) -> Result<&str, Shortfall> {
        let id = self.caller().agent_id.as_ref().map(AgentId::as_str);
        id.ok_or_else(|| Shortfall::skip("needs an Agent-ID: give --agent-id"))
    }

    /// Whether something may be changed.
    pub(crate) fn effects(&self) -> Verdict {
        match self.caller().with_effects {
            true => Ok(()),
            false => Err(Shortfall::skip("may change something at the server: give --with-effects")),
        }
    }
}
