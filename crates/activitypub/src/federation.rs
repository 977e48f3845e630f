//! Requests of ours to other servers, signed by an agent: actors fetched, activities delivered.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use forecourt_core::Handle;
use forecourt_egress::{Deadlines, Egress, EgressError, FetchedBody, Purpose, UpstreamRequest};
use forecourt_host::{CarryOutcome, Host};
use forecourt_identity::RequestSigner;
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use moka::sync::Cache;
use serde_json::Value;
use url::Url;

use crate::away::AwayServers;
use crate::iri::Iri;
use crate::key::ActorKey;
use crate::limits::{ACTOR_FRESH, NODEINFO_TIME_MAX, POST_TIME_MAX, RETRY_AFTER_MAX, SERVERS_MAX};
use crate::names::{self, MEDIA_TYPE};
use crate::signature;
use crate::wire;

/// The media types of actors and objects. ActivityPub 3.2, and what servers answer that know no profile.
const ACCEPTED: &str =
    "application/activity+json, application/ld+json; profile=\"https://www.w3.org/ns/activitystreams\"";

/// Refusals after which the same delivery may work.
const MAY_PASS: [StatusCode; 4] =
    [StatusCode::UNAUTHORIZED, StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_EARLY, StatusCode::TOO_MANY_REQUESTS];

/// Refusals of a signature, after which the other form may be taken.
const OTHER_FORM: [StatusCode; 3] = [StatusCode::BAD_REQUEST, StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN];

/// In which form requests are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignatureForm {
    /// draft-cavage-http-signatures-12, which nearly all servers know.
    Draft,
    /// RFC 9421.
    Message,
}

/// What speaks to other servers.
pub(crate) struct Federation {
    egress: Arc<Egress>,
    pub(crate) key: ActorKey,
    /// The form that a server took last; the draft where it is not known.
    forms: Cache<String, SignatureForm>,
    away: AwayServers,
    /// Characters of notes, by server.
    note_chars: moka::future::Cache<String, Option<usize>>,
}

/// What a server answered to a delivery.
struct InboxAnswer {
    status: StatusCode,
    /// How long it wants to be left alone, where it said so.
    wait: Option<Duration>,
}

/// Why nothing was fetched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    /// The server says that there is none, or none any more.
    #[error("there is no such document")]
    Absent,
    /// It can't be had now, or is none.
    #[error("{0}")]
    Failed(String),
}

impl Federation {
    pub(crate) fn new(egress: Arc<Egress>) -> Self {
        let note_chars =
            moka::future::Cache::builder().max_capacity(SERVERS_MAX as u64).time_to_live(ACTOR_FRESH).build();
        Self {
            egress,
            key: ActorKey::default(),
            forms: Cache::new(SERVERS_MAX as u64),
            away: AwayServers::default(),
            note_chars,
        }
    }

    /// The actor or object behind a name, asked for by `agent`.
    pub(crate) async fn fetch(&self, host: &Host, agent: &Handle, url: &Iri) -> Result<Value, FetchError> {
        let fetched = self.get(host, agent, url).await?;
        // A file that somebody put on a server is no actor of it, whatever it holds.
        let kind = fetched.mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if kind != MEDIA_TYPE && kind != "application/ld+json" {
            return Err(FetchError::Failed(format!("it is of the type {kind}")));
        }
        forecourt_core::json::parse(&fetched.bytes).map_err(FetchError::Failed)
    }

    /// A document of another server, of whatever type.
    async fn get(&self, host: &Host, agent: &Handle, url: &Iri) -> Result<FetchedBody, FetchError> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
        self.sign(host, agent, SignatureForm::Draft, &Method::GET, url, &mut headers, b"").await?;
        let request = UpstreamRequest { headers, ..UpstreamRequest::get(url.as_str()) };
        self.egress.fetch(Purpose::Federation, request).await.map_err(|error| match error {
            EgressError::Status(StatusCode::NOT_FOUND | StatusCode::GONE) => FetchError::Absent,
            error => FetchError::Failed(error.log_reason()),
        })
    }

    /// How many characters the notes of an actor's server have, where that says so: servers of the family of Misskey do,
    /// in what they tell of themselves (NodeInfo). Asked once a day, within [`NODEINFO_TIME_MAX`].
    pub(crate) async fn note_chars(&self, host: &Host, agent: &Handle, actor: &Iri) -> Option<usize> {
        let asked = async {
            let origin = actor.origin();
            let links = self.get(host, agent, &Iri::parse(&format!("{origin}/.well-known/nodeinfo"))?).await.ok()?;
            let links = forecourt_core::json::parse(&links.bytes).ok()?;
            let link = wire::entries(links.get("links")).filter_map(|link| link.get("href")?.as_str()).last()?;
            let link = Iri::parse(link).filter(|link| link.is_beside(actor))?;
            let info = self.get(host, agent, &link).await.ok()?;
            let info = forecourt_core::json::parse(&info.bytes).ok()?;
            info.get("metadata")?.get("maxNoteTextLength")?.as_u64()?.try_into().ok()
        };
        let bounded = async { tokio::time::timeout(NODEINFO_TIME_MAX, asked).await.ok().flatten() };
        self.note_chars.get_with_by_ref(actor.authority(), bounded).await
    }

    /// Delivers an activity of `agent`. ActivityPub 7. A server that refuses one form of signature is tried with the
    /// other one, and remembered.
    pub(crate) async fn post(&self, host: &Host, agent: &Handle, inbox: &Iri, activity: &Value) -> CarryOutcome {
        let Ok(body) = serde_json::to_vec(activity).map(Bytes::from) else { return CarryOutcome::Never };
        let server = inbox.authority().to_owned();
        if self.away.has(&server, host.clock().now()) {
            tracing::debug!(server, "a server that could not be reached is left alone");
            return CarryOutcome::Later;
        }
        let form = self.forms.get(&server).unwrap_or(SignatureForm::Draft);
        let mut answer = self.post_as(host, agent, inbox, &body, form).await;
        if answer.as_ref().is_ok_and(|answer| OTHER_FORM.contains(&answer.status)) {
            let other = form.other();
            let second = self.post_as(host, agent, inbox, &body, other).await;
            if second.as_ref().is_ok_and(|second| second.status.is_success()) {
                self.forms.insert(server, other);
                answer = second;
            }
        }
        outcome(answer, inbox)
    }

    async fn post_as(
        &self,
        host: &Host,
        agent: &Handle,
        inbox: &Iri,
        body: &Bytes,
        form: SignatureForm,
    ) -> Result<InboxAnswer, FetchError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        self.sign(host, agent, form, &Method::POST, inbox, &mut headers, body).await?;
        let bounds = Purpose::Federation.deadlines(self.egress.config());
        let bounds = Deadlines { total: bounds.total.min(POST_TIME_MAX), ..bounds };
        let request = UpstreamRequest { headers, ..UpstreamRequest::post(inbox.as_str(), body.clone()) };
        match self.egress.send(Purpose::Federation, request.within(bounds)).await {
            Ok(answer) => {
                self.away.answered(inbox.authority());
                Ok(InboxAnswer { status: answer.status, wait: wait(answer.status, &answer.headers) })
            }
            // Our own rules forbid it now and for good.
            Err(EgressError::Refused(refusal)) => {
                tracing::warn!(%refusal, server = inbox.authority(), "an inbox is not delivered to");
                Ok(InboxAnswer { status: StatusCode::GONE, wait: None })
            }
            Err(error) => {
                self.away.failed(inbox.authority(), host.clock().now());
                Err(FetchError::Failed(error.log_reason()))
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "what is signed, by whom, and how")]
    async fn sign(
        &self,
        host: &Host,
        agent: &Handle,
        form: SignatureForm,
        method: &Method,
        url: &Iri,
        headers: &mut HeaderMap,
        body: &[u8],
    ) -> Result<(), FetchError> {
        let key = self.key.get(host).await.map_err(|error| FetchError::Failed(error.to_string()))?;
        let url = Url::parse(url.as_str()).map_err(|error| FetchError::Failed(error.to_string()))?;
        let (keyid, now) = (names::key(host.site(), agent), host.clock().now());
        let signed = match form {
            SignatureForm::Draft => signature::sign(&key, &keyid, method, &url, headers, body, now),
            SignatureForm::Message => {
                let signer = RequestSigner { key: (*key).clone(), keyid };
                signer.sign(method, &url, headers, body, now, host.entropy().as_ref())
            }
        };
        signed.map_err(|error| FetchError::Failed(error.to_string()))
    }
}

impl SignatureForm {
    fn other(self) -> Self {
        match self {
            Self::Draft => Self::Message,
            Self::Message => Self::Draft,
        }
    }
}

/// How long a server that has no room now wants to be left alone, where it says so in seconds.
fn wait(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let has_no_room = matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
    let seconds = headers.get(RETRY_AFTER).filter(|_| has_no_room)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).clamp(Duration::from_secs(1), RETRY_AFTER_MAX))
}

/// What an answer to a delivery means: those that tell of us or of the moment may change.
fn outcome(answer: Result<InboxAnswer, FetchError>, inbox: &Iri) -> CarryOutcome {
    match answer {
        Ok(InboxAnswer { status, .. }) if status.is_success() => CarryOutcome::Delivered,
        Ok(InboxAnswer { status, wait: Some(wait) }) => {
            tracing::info!(%status, seconds = wait.as_secs(), server = inbox.authority(), "a server wants to be left alone");
            CarryOutcome::Wait(wait)
        }
        // What is wrong with the note or the inbox stays so; these tell of the moment, or of keys that are fetched late.
        Ok(InboxAnswer { status, .. }) if status.is_client_error() && !MAY_PASS.contains(&status) => {
            tracing::warn!(%status, server = inbox.authority(), "a server refused a delivery for good");
            CarryOutcome::Never
        }
        Ok(InboxAnswer { status, .. }) => {
            tracing::info!(%status, server = inbox.authority(), "a server did not take a delivery");
            CarryOutcome::Later
        }
        Err(error) => {
            tracing::info!(%error, server = inbox.authority(), "a server could not be reached");
            CarryOutcome::Later
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_server_without_room_is_waited_for_as_long_as_it_says_within_a_bound() {
        let of = |status: StatusCode, said: &'static str| {
            wait(status, &HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(said))]))
        };
        let (full, max) = (StatusCode::TOO_MANY_REQUESTS, RETRY_AFTER_MAX.as_secs());
        for (said, seconds) in
            [("7", Some(7)), ("0", Some(1)), ("3600", Some(max)), ("3601", Some(max)), ("soon", None)]
        {
            assert_eq!(of(full, said), seconds.map(Duration::from_secs), "{said}");
        }
        assert_eq!(of(StatusCode::SERVICE_UNAVAILABLE, "7"), Some(Duration::from_secs(7)));
        assert_eq!((of(StatusCode::FORBIDDEN, "7"), wait(full, &HeaderMap::new())), (None, None));
    }
}
