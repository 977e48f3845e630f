//! An endpoint over HTTP, and the way there.

use std::sync::Arc;
use std::time::Duration;

use forecourt_egress::{Deadlines, Egress, EgressError, Purpose, UpstreamRequest, UpstreamResponse};
use futures::future::BoxFuture;
use http::HeaderValue;
use url::{Position, Url};

use super::AskCall;
use super::address::{AddressedAgent, Addressee};
use crate::network::{is_here, unconnected};
use crate::output::Failure;

/// A stream if there is one; whoever has none says it whole.
pub const STREAM: HeaderValue =
    HeaderValue::from_static("text/event-stream, application/json;q=0.5, text/markdown;q=0.3, text/plain;q=0.2");
/// The answer whole, as JSON.
pub const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// How long an answer may take from its first to its last byte. People have Ctrl-C.
pub const ANSWER_TIME_MAX: Duration = Duration::from_secs(30 * 60);

/// The endpoint that is asked over HTTP, and the way there.
pub struct AskTarget {
    /// The way there.
    pub egress: Arc<Egress>,
    /// On whose behalf it is connected to.
    pub purpose: Purpose,
    /// Where to.
    pub endpoint: Url,
    /// The host that the links of refusals must lead to. PolicyPart 3.2.
    pub canonical_host: String,
    /// What the agent is called in messages.
    pub label: String,
}

impl AskTarget {
    /// A URL that somebody typed, wherever it leads; `endpoint` is what is asked for it.
    pub fn typed(url: &Url, endpoint: Url, egress: Arc<Egress>) -> Self {
        // The user typed the URL, so that its address may be private; what a card names, below, is a stranger's.
        Self { egress, purpose: Purpose::Upstream, endpoint, canonical_host: host_of(url), label: url.to_string() }
    }

    /// The endpoint of an agent.
    ///
    /// # Errors
    /// `endpoint` is not a URL.
    pub fn agent(agent: AddressedAgent, endpoint: &str, egress: Arc<Egress>) -> Result<Self, Failure> {
        let AddressedAgent { address, canonical_host, .. } = agent;
        Ok(Self { egress, purpose: Purpose::RemoteAgent, endpoint: parse(endpoint)?, canonical_host, label: address })
    }

    /// Its host with its port, as messages name it.
    fn host(&self) -> String {
        host_of(&self.endpoint)
    }

    /// Sends a request, whose answer may take [`ANSWER_TIME_MAX`].
    pub fn send(&self, request: UpstreamRequest) -> BoxFuture<'_, Result<UpstreamResponse, EgressError>> {
        let bounds = self.purpose.deadlines(self.egress.config());
        let bounds = Deadlines { first_byte: ANSWER_TIME_MAX, total: ANSWER_TIME_MAX, ..bounds };
        Box::pin(self.egress.send(self.purpose, request.within(bounds)))
    }

    /// That nobody answers there, for this reason.
    pub fn unreachable(&self, error: &EgressError) -> Failure {
        match error {
            EgressError::Unconnected(reason) => self.unconnected(reason),
            EgressError::Refused(refusal) => Failure::yours(format!("{} can't be reached: {refusal}", self.label)),
            other => Failure::unreachable(format!("{} can't be reached: {}", self.label, other.log_reason())),
        }
    }

    /// That there is no connection, for this reason.
    pub fn unconnected(&self, reason: &str) -> Failure {
        unconnected(&self.host(), reason, is_here(&self.endpoint))
    }
}

/// Where a protocol is asked that no document gives the addresses of.
pub struct EndpointRules {
    /// What cards call it.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// The endpoint of an agent.
    pub of_agent: fn(&AddressedAgent) -> String,
    /// The path of a host's endpoint.
    pub of_host: &'static str,
    /// The endpoint that is meant by a URL that somebody typed.
    pub typed: fn(Url) -> Url,
}

impl EndpointRules {
    /// The endpoint of whoever is named, and the way there.
    ///
    /// # Errors
    /// Nobody is found, or an agent that does not speak the protocol.
    pub fn connect<'a>(&'a self, call: &'a AskCall) -> BoxFuture<'a, Result<AskTarget, Failure>> {
        Box::pin(async move {
            match call.addresses.resolve(&call.arguments).await? {
                Addressee::Url { url, egress } => Ok(AskTarget::typed(&url, (self.typed)(url.clone()), egress)),
                Addressee::Agent { agent, egress } => {
                    agent.check_speaks(self.name, self.title)?;
                    let endpoint = (self.of_agent)(&agent);
                    AskTarget::agent(agent, &endpoint, egress)
                }
                Addressee::Domain { domain, port, egress } => {
                    let endpoint = parse(&format!("https://{domain}:{port}{}", self.of_host))?;
                    Ok(AskTarget {
                        egress,
                        purpose: Purpose::RemoteAgent,
                        canonical_host: host_of(&endpoint),
                        endpoint,
                        label: domain.to_string(),
                    })
                }
            }
        })
    }
}

fn host_of(url: &Url) -> String {
    url[Position::BeforeHost..Position::AfterPort].to_owned()
}

fn parse(url: &str) -> Result<Url, Failure> {
    Url::parse(url).map_err(|error| Failure::yours(error.to_string()))
}
