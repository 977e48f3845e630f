//! `forecourt ask --via a2a`: one message to an A2A agent, and its task until it has done.

mod shown;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forecourt_agents::declined::UpstreamError;
use forecourt_core::{Domain, Entropy, SystemClock, ids};
use forecourt_egress::{Egress, Purpose};
use forecourt_host::SystemEntropy;
use futures::StreamExt;
use http::HeaderMap;
use http::header::{ACCEPT_LANGUAGE, AUTHORIZATION};
use url::Url;

use self::shown::RemoteDisplay;
use super::form::{attached, media_type};
use super::{PATIENCE, bearer, check_token, field, way_out};
use crate::args::Ask;
use crate::commands::named::NamedTarget;
use crate::commands::printable::line;
use crate::commands::way::{self, Way};
use crate::output::{Failure, Outcome};
use forecourt::registry::a2a::{
    ClientTimeouts, DiscoveredAgent, Discovery, DiscoveryError, Peer, PeerConfig, PeerError, Rules, Start, follow,
};
use forecourt::registry::a2a_model::{Configuration, Content, Message, Metadata, Part, Role, Send};

/// How long a stream may be silent before it is taken up again.
const SILENCE: Duration = Duration::from_secs(2 * 60);
/// How long a card is kept; one question is over before.
const CARD: Duration = Duration::from_secs(60);

/// Whom to ask, and what it is called.
struct Other {
    peer: Peer,
    /// The host that the links of refusals must lead to. PolicyPart 3.2.
    canonical_host: String,
    shown: String,
}

/// Asks, and shows what comes until the task has done, waits for an answer, or the user leaves.
pub(super) async fn run(ask: Ask) -> Outcome {
    let start = start(&ask)?;
    let other = connect(&ask).await?;
    let mut shown = RemoteDisplay::new(&ask, &other.canonical_host, &other.shown);
    if let Some(task) = &ask.task {
        shown.task(task);
    }
    let mut items = follow(other.peer.clone(), start, 0);
    let mut leaving = std::pin::pin!(tokio::signal::ctrl_c());
    loop {
        let next = tokio::select! {
            next = items.next() => next,
            _ = &mut leaving => return Err(shown.left()),
        };
        match next {
            Some(Ok(arrived)) => {
                if let Some(end) = shown.item(arrived)? {
                    return end;
                }
            }
            Some(Err(fault)) => return Err(failed(&fault, &other, &shown)),
            None => return Err(shown.broken("it ended early")),
        }
    }
}

/// The message, or the task to hear of.
fn start(ask: &Ask) -> Result<Start, Failure> {
    match &ask.task {
        Some(task) if ask.text.is_empty() && ask.attach.is_empty() => Ok(Start::Task(task.clone())),
        _ => Ok(Start::Send(Box::new(send(ask, &SystemEntropy)?))),
    }
}

fn send(ask: &Ask, entropy: &dyn Entropy) -> Result<Send, Failure> {
    let mut parts = Vec::new();
    if !ask.text.is_empty() {
        parts.push(Part::text(ask.text.join(" ")));
    }
    for path in &ask.attach {
        parts.push(attachment(path)?);
    }
    let message = Message {
        id: ids::mint(entropy),
        role: Role::User,
        parts,
        context: ask.session.clone(),
        task: ask.task.clone(),
        references: Vec::new(),
        extensions: Vec::new(),
        metadata: Metadata::new(),
    };
    Ok(Send { message, configuration: Configuration::default(), metadata: Metadata::new() })
}

fn attachment(path: &Path) -> Result<Part, Failure> {
    let bytes = attached(path)?;
    Ok(Part {
        filename: path.file_name().map(|name| name.to_string_lossy().into_owned()),
        media_type: Some(media_type(path).to_owned()),
        ..Part::of(Content::Raw(bytes.into()))
    })
}

async fn connect(ask: &Ask) -> Result<Other, Failure> {
    match NamedTarget::parse(&ask.agent)? {
        NamedTarget::Url(url) => {
            let egress = way_out(&url, ask)?;
            let found = discovery(&egress, Purpose::Upstream).find(&url).await.map_err(|e| not_found(&e))?;
            other(ask, egress, Purpose::Upstream, &found, None, url.to_string())
        }
        NamedTarget::Agent(acct, port) => {
            let mut way = Way::to(acct.domain(), port, ask.trust())?;
            let agent = way.resolve(&acct).await?;
            if !agent.protocols().any(|name| name == super::A2A) {
                let spoken = agent.protocols().map(|name| line(name, 40)).collect::<Vec<_>>().join(", ");
                return Err(Failure::yours(format!("{acct} is not available over A2A"))
                    .hint(format!("its card says that it speaks {spoken}")));
            }
            let url = Url::parse(agent.a2a_endpoint()).map_err(|error| Failure::yours(error.to_string()))?;
            let found = discovery(&way.egress, Purpose::Document).find(&url).await.map_err(|e| not_found(&e))?;
            let host = Some(agent.canonical_host.clone());
            other(ask, (*way.egress).clone(), Purpose::RemoteAgent, &found, host, acct.to_string())
        }
        NamedTarget::Domain(domain, port) => {
            let way = Way::to(&domain, port, ask.trust())?;
            let found = discovery(&way.egress, Purpose::Document).find(&root(&domain, way.port)?).await;
            let found = found.map_err(|error| not_found(&error))?;
            other(ask, (*way.egress).clone(), Purpose::RemoteAgent, &found, None, domain.to_string())
        }
    }
}

fn root(domain: &Domain, port: u16) -> Result<Url, Failure> {
    Url::parse(&format!("https://{domain}:{port}/")).map_err(|error| Failure::yours(error.to_string()))
}

fn discovery(egress: &Egress, purpose: Purpose) -> Discovery {
    let rules = Rules { purpose, headers: HeaderMap::new(), origins: Vec::new(), signed_only: false, kept_max: CARD };
    Discovery::new(egress.clone(), Arc::new(SystemClock), rules)
}

fn other(
    ask: &Ask,
    egress: Egress,
    purpose: Purpose,
    found: &DiscoveredAgent,
    canonical_host: Option<String>,
    shown: String,
) -> Result<Other, Failure> {
    check_token(ask, &found.endpoint.url)?;
    let mut headers = HeaderMap::new();
    if let Some(value) = bearer(ask)? {
        headers.insert(AUTHORIZATION, value);
    }
    if let Some(language) = &ask.lang {
        headers.insert(ACCEPT_LANGUAGE, field("--lang", language)?);
    }
    let patience = ClientTimeouts { first: PATIENCE, idle: SILENCE, total: PATIENCE };
    let canonical_host = canonical_host.unwrap_or_else(|| found.canonical_host.clone());
    let (endpoint, streams) = (found.endpoint.clone(), found.streams());
    Ok(Other {
        peer: Peer::new(PeerConfig { egress, purpose, endpoint, headers, patience, streams }),
        canonical_host,
        shown,
    })
}

fn not_found(error: &DiscoveryError) -> Failure {
    let failure = Failure::yours(line(&error.to_string(), 400));
    match error {
        DiscoveryError::OtherOrigin(_) => failure.hint("if that is meant, ask that endpoint by its own URL"),
        DiscoveryError::NoCard(_) => failure.hint("does it speak A2A? `forecourt discover` says what a domain offers"),
        _ => failure,
    }
}

fn failed(fault: &PeerError, other: &Other, shown: &RemoteDisplay) -> Failure {
    let endpoint = &other.peer.endpoint().url;
    let name = &other.shown;
    match fault {
        PeerError::Unreachable(reason) => {
            way::unconnected(&other.peer.endpoint().canonical_host(), reason, super::is_here(endpoint))
        }
        PeerError::Declined { declined: UpstreamError::Credentials | UpstreamError::Forbidden, .. } => {
            Failure::yours(format!("{name}: {}", line(&fault.to_string(), 400))).hint("--token TOKEN says who you are")
        }
        PeerError::Declined { .. } => Failure::yours(format!("{name}: {}", line(&fault.to_string(), 400))),
        PeerError::Status(400..=499) => Failure::yours(format!("{name} {fault}")),
        PeerError::Remote { message, .. } => Failure::yours(format!("{name}: {}", line(message, 400))),
        _ => shown.broken(&format!("{name} {fault}")),
    }
}
