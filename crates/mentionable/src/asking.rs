//! Asking agents of other domains for agents of this host: found by their addresses, asked over REST, in requests that
//! are signed as the agent that asks.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::Bytes;
use forecourt_agents::elsewhere::{AskElsewhere, RemoteError, RemoteQuestion};
use forecourt_agents::limits::ELSEWHERE_ANSWER_BYTES_MAX;
use forecourt_agents::relay::relayed;
use forecourt_core::Site;
use forecourt_core::limits::THREAD_TTL;
use forecourt_core::{Clock, CollectedReply, Ending, Entropy, Handle, Part, PolicyPart, ids, json};
use forecourt_egress::{Deadlines, Egress, EgressError, Purpose, UpstreamRequest, UpstreamResponse, hops};
use forecourt_identity::{HostKeys, RequestSigner};
use forecourt_surface::Mount;
use futures::future::BoxFuture;
use http::header::{ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use moka::sync::Cache;
use serde_json::Value;
use url::Url;

use crate::discovery::{Acct, ResolveError, ResolvedAgent, Resolver, card_url};
use crate::rest::X_MENTIONABLE_SESSION;

/// Conversations with agents elsewhere that are gone on with. The oldest are begun anew.
const SESSIONS_MAX: u64 = 20_000;
/// Bytes of the token of one.
const SESSION_BYTES_MAX: usize = 1_024;
/// Characters of what an agent elsewhere says of its own failure.
const REASON_CHARS_MAX: usize = 300;

/// The other ends of conversations, by who asks, in which conversation of ours, and whom.
pub(crate) struct RemoteSessions(Cache<(Handle, String, Acct), String>);

impl Default for RemoteSessions {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(SESSIONS_MAX).time_to_idle(THREAD_TTL).build())
    }
}

/// Asks agents of other domains.
pub(crate) struct Asking {
    resolver: Resolver,
    egress: Arc<Egress>,
    keys: Arc<ArcSwap<HostKeys>>,
    site: Site,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    sessions: Arc<RemoteSessions>,
}

impl Asking {
    /// The way to agents elsewhere, as a host that was set up has it.
    pub(crate) fn new(mount: &Mount) -> Self {
        let host = &mount.host;
        Self {
            resolver: Resolver::new(mount.egress.clone(), host.clock().clone()),
            egress: mount.egress.clone(),
            keys: mount.keys.clone(),
            site: host.site().clone(),
            clock: host.clock().clone(),
            entropy: host.entropy().clone(),
            sessions: mount.services.keep(RemoteSessions::default),
        }
    }

    async fn put(&self, question: RemoteQuestion<'_>) -> Result<CollectedReply, RemoteError> {
        let acct = Acct::from(question.to);
        let agent = self.resolver.resolve_at(&acct, question.port).await.map_err(|error| unknown(&error))?;
        let endpoint = agent.rest_endpoint().and_then(|endpoint| Url::parse(endpoint).ok());
        let endpoint = endpoint.ok_or(RemoteError::Unknown)?;
        let ours = question.conversation.map(|ours| (question.from.clone(), ours.to_owned(), acct));
        let session = ours.as_ref().and_then(|ours| self.sessions.0.get(ours));
        let request = self.request(&endpoint, &question, session.as_deref()).ok_or(RemoteError::Unreadable)?;
        let response = self.egress.send(Purpose::RemoteAgent, request).await.map_err(|error| remote_error(&error))?;
        if let (Some(ours), Some(session)) = (ours, session_of(&response.headers)) {
            self.sessions.0.insert(ours, session);
        }
        self.read(&agent, question.from, response).await
    }

    /// The question as a form, signed.
    fn request(&self, endpoint: &Url, question: &RemoteQuestion<'_>, session: Option<&str>) -> Option<UpstreamRequest> {
        let boundary = ids::mint(&*self.entropy);
        let body = form(&boundary, session, question.words);
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let media_type = format!("multipart/form-data; boundary={boundary}");
        headers.insert(CONTENT_TYPE, HeaderValue::from_str(&media_type).ok()?);
        if let Some(language) = question.language {
            headers.insert(ACCEPT_LANGUAGE, HeaderValue::from_str(language.as_str()).ok()?);
        }
        hops::write(&mut headers, question.hop);
        let signer = RequestSigner { key: self.keys.load().current().clone(), keyid: self.key_id(question.from) };
        let signed = signer.sign(&Method::POST, endpoint, &mut headers, &body, self.clock.now(), &*self.entropy);
        if let Err(error) = signed {
            tracing::error!(%error, "a question to another domain can't be signed");
            return None;
        }
        let bounds = bounds(question.time_max);
        Some(UpstreamRequest { headers, ..UpstreamRequest::post(endpoint.as_str(), body) }.within(bounds))
    }

    /// What others look the key of an agent up by: its address, and where that does not lead here, its card.
    fn key_id(&self, agent: &Handle) -> String {
        match self.site.canonical_host() == self.site.domain.as_str() {
            true => Acct::from(&self.site.address(agent)).to_uri(),
            false => card_url(&self.site, agent),
        }
    }

    async fn read(
        &self,
        agent: &ResolvedAgent,
        from: &Handle,
        response: UpstreamResponse,
    ) -> Result<CollectedReply, RemoteError> {
        let status = response.status;
        let bytes = response.body.collect().await.map_err(|error| remote_error(&error))?;
        if bytes.len() > ELSEWHERE_ANSWER_BYTES_MAX {
            return Err(RemoteError::TooLarge);
        }
        let answer = json::parse(&bytes).map_err(|_| unreadable(status))?;
        if let Some(refusal) = answer["policy"].as_object() {
            return self.refusal(agent, from, refusal.clone());
        }
        if status.is_success()
            && let Some(parts) = answer["parts"].as_array()
        {
            let parts = parts.iter().filter_map(|part| serde_json::from_value::<Part>(part.clone()).ok());
            // The other agent is a stranger here: refusals and kept files are for a host to name.
            let parts = parts.filter(Part::may_be_callers).collect();
            return Ok(CollectedReply::new(parts, Ending::Complete));
        }
        match (status, answer["error"].as_str()) {
            (StatusCode::NOT_FOUND | StatusCode::GONE, _) => Err(RemoteError::Unknown),
            (_, Some(error)) => {
                let reason: String = error.chars().filter(|c| !c.is_control()).take(REASON_CHARS_MAX).collect();
                let told = answer["code"].as_str().and_then(|code| Ending::from_code(code, reason.as_str()));
                Ok(CollectedReply::new(Vec::new(), told.unwrap_or_else(|| Ending::failed(reason))))
            }
            _ => Err(unreadable(status)),
        }
    }

    /// A refusal of the other side as an agent of ours gives it, if it can be believed. PolicyPart 3.2, 5.2.
    fn refusal(
        &self,
        agent: &ResolvedAgent,
        from: &Handle,
        fields: serde_json::Map<String, Value>,
    ) -> Result<CollectedReply, RemoteError> {
        let part = PolicyPart::from_json(fields).map_err(|_| RemoteError::Unreadable)?;
        if let Err(error) = part.validate(&agent.canonical_host) {
            tracing::warn!(%error, agent = %agent.acct, "an agent of another domain gave a malformed refusal");
            return Err(RemoteError::Unreadable);
        }
        let mut part = relayed(part, self.site.canonical_host(), from);
        part.message = format!("{} says: {}", agent.acct, part.message);
        Ok(CollectedReply::new(Vec::new(), Ending::Refused(Box::new(part))))
    }
}

impl AskElsewhere for Asking {
    fn ask<'a>(&'a self, question: RemoteQuestion<'a>) -> BoxFuture<'a, Result<CollectedReply, RemoteError>> {
        Box::pin(self.put(question))
    }
}

fn bounds(time_max: Duration) -> Deadlines {
    Deadlines {
        connect: forecourt_egress::limits::CONNECT_TIME_MAX.min(time_max),
        first_byte: time_max,
        total: time_max,
        body_bytes_max: ELSEWHERE_ANSWER_BYTES_MAX,
    }
}

/// A form of one turn. REST 3.2.
fn form(boundary: &str, session: Option<&str>, words: &str) -> Bytes {
    let field = |name: &str, value: &str| {
        let head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n");
        format!("{head}Content-Type: text/plain; charset=utf-8\r\n\r\n{value}\r\n")
    };
    let session = session.map(|session| field("session", session)).unwrap_or_default();
    format!("{session}{}--{boundary}--\r\n", field("user", words)).into()
}

fn session_of(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(&X_MENTIONABLE_SESSION)?.to_str().ok()?;
    (!text.is_empty() && text.len() <= SESSION_BYTES_MAX).then(|| text.to_owned())
}

fn unreadable(status: StatusCode) -> RemoteError {
    if status.is_server_error() { RemoteError::Away } else { RemoteError::Unreadable }
}

fn unknown(error: &ResolveError) -> RemoteError {
    tracing::debug!(%error, "an agent of another domain was not found");
    if error.is_transient() { RemoteError::Away } else { RemoteError::Unknown }
}

fn remote_error(error: &EgressError) -> RemoteError {
    tracing::warn!(reason = error.log_reason(), "an agent of another domain could not be asked");
    match error {
        EgressError::TooLarge { .. } => RemoteError::TooLarge,
        EgressError::Busy => RemoteError::Busy,
        EgressError::Unconnected(_) | EgressError::Refused(_) | EgressError::Failed(_) | EgressError::Status(_) => {
            RemoteError::Away
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_a_form_of_one_turn() {
        let form = String::from_utf8(form("b", Some("token"), "Any eggs?").to_vec()).unwrap();
        assert!(form.starts_with("--b\r\nContent-Disposition: form-data; name=\"session\"\r\n"), "{form}");
        assert!(form.contains("name=\"user\"") && form.ends_with("\r\n\r\nAny eggs?\r\n--b--\r\n"), "{form}");
    }

    #[test]
    fn tokens_of_conversations_are_bounded() {
        let of = |bytes: usize| {
            let value = HeaderValue::from_str(&"x".repeat(bytes)).unwrap();
            session_of(&HeaderMap::from_iter([(X_MENTIONABLE_SESSION.clone(), value)])).is_some()
        };
        assert!(of(SESSION_BYTES_MAX) && !of(SESSION_BYTES_MAX + 1) && !of(0));
    }
}
