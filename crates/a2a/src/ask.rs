//! `forecourt ask --via a2a`: one message to an A2A agent, and its task until it has done.

mod display;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forecourt_agents::declined::UpstreamError;
use forecourt_client::ask::{ANSWER_TIME_MAX, Addressee, AskArguments, AskCall, AskClient, AskOptions, attachment};
use forecourt_client::network::{is_here, unconnected};
use forecourt_client::output::{Failure, Outcome};
use forecourt_client::printable::line;
use forecourt_core::{Domain, Entropy, SystemClock, ids};
use forecourt_egress::{Egress, Purpose};
use forecourt_host::SystemEntropy;
use futures::StreamExt;
use futures::future::BoxFuture;
use http::HeaderMap;
use http::header::{ACCEPT_LANGUAGE, AUTHORIZATION};
use url::Url;

use self::display::TaskDisplay;
use crate::NAME;
use crate::client::{
    ClientTimeouts, DiscoveredAgent, Discovery, DiscoveryError, Peer, PeerConfig, PeerError, Rules, Start, follow,
};
use crate::model::{Configuration, Content, Message, Metadata, Part, Role, Send};

/// A2A, as `ask` knows it.
pub(crate) const CLIENT: AskClient = AskClient {
    name: NAME,
    options: AskOptions { task: true, answers: false, payment: false, resumption: false, domain: true },
    tool: None,
    run: boxed,
};

/// A function of its own, since a closure in a constant is compiled in the crate that uses the constant.
fn boxed(call: AskCall) -> BoxFuture<'static, Outcome> {
    Box::pin(run(call))
}

/// How long a stream may be silent before it is taken up again.
const SILENCE: Duration = Duration::from_secs(2 * 60);
/// How long a card is kept; one question is over before.
const CARD: Duration = Duration::from_secs(60);

/// The agent that is asked: the peer, the host that its refusals must lead to, and what messages call it.
struct RemoteAgent {
    peer: Peer,
    /// The host that the links of refusals must lead to. PolicyPart 3.2.
    canonical_host: String,
    label: String,
}

/// Asks, and shows what comes until the task has done, waits for an answer, or the user leaves.
async fn run(call: AskCall) -> Outcome {
    let ask = &call.arguments;
    let start = start(ask)?;
    let agent = connect(&call).await?;
    let mut display = TaskDisplay::new(ask, &agent.canonical_host, &agent.label);
    if let Some(task) = &ask.task {
        display.note_task(task);
    }
    let mut items = follow(agent.peer.clone(), start, 0);
    let mut leaving = std::pin::pin!(tokio::signal::ctrl_c());
    loop {
        let next = tokio::select! {
            next = items.next() => next,
            // Nothing is cancelled: the task goes on there, and `--task` hears the rest.
            _ = &mut leaving => return Err(display.left()),
        };
        match next {
            Some(Ok(item)) => {
                if let Some(end) = display.show(item)? {
                    return end;
                }
            }
            Some(Err(error)) => return Err(failure(&error, &agent, &display)),
            None => return Err(display.broken("it ended early")),
        }
    }
}

/// The message, or the task to hear of.
fn start(ask: &AskArguments) -> Result<Start, Failure> {
    match &ask.task {
        Some(task) if ask.text.is_empty() && ask.attach.is_empty() => Ok(Start::Task(task.clone())),
        _ => Ok(Start::Send(Box::new(send(ask, &SystemEntropy)?))),
    }
}

fn send(ask: &AskArguments, entropy: &dyn Entropy) -> Result<Send, Failure> {
    let mut parts = Vec::new();
    if !ask.text.is_empty() {
        parts.push(Part::text(ask.text.join(" ")));
    }
    for path in &ask.attach {
        parts.push(file_part(path)?);
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

fn file_part(path: &Path) -> Result<Part, Failure> {
    let bytes = attachment::read(path)?;
    Ok(Part {
        filename: path.file_name().map(|name| name.to_string_lossy().into_owned()),
        media_type: Some(attachment::media_type(path).to_owned()),
        ..Part::of(Content::Raw(bytes.into()))
    })
}

async fn connect(call: &AskCall) -> Result<RemoteAgent, Failure> {
    let ask = &call.arguments;
    match call.addresses.resolve(ask).await? {
        Addressee::Url { url, egress } => {
            let card = discover(&egress, Purpose::Upstream, &url).await?;
            // The user typed this URL, so that its address may be private. Below, a card or a directory names it.
            remote_agent(ask, &egress, Purpose::Upstream, &card, None, url.to_string())
        }
        Addressee::Agent { agent, egress } => {
            agent.check_speaks(NAME, "A2A")?;
            let url = Url::parse(agent.endpoint(NAME).unwrap_or_default());
            let url = url.map_err(|error| Failure::yours(error.to_string()))?;
            let card = discover(&egress, Purpose::Document, &url).await?;
            remote_agent(ask, &egress, Purpose::RemoteAgent, &card, Some(agent.canonical_host), agent.address)
        }
        Addressee::Domain { domain, port, egress } => {
            let card = discover(&egress, Purpose::Document, &root(&domain, port)?).await?;
            remote_agent(ask, &egress, Purpose::RemoteAgent, &card, None, domain.to_string())
        }
    }
}

fn root(domain: &Domain, port: u16) -> Result<Url, Failure> {
    Url::parse(&format!("https://{domain}:{port}/")).map_err(|error| Failure::yours(error.to_string()))
}

async fn discover(egress: &Egress, purpose: Purpose, url: &Url) -> Result<Arc<DiscoveredAgent>, Failure> {
    let rules = Rules { purpose, headers: HeaderMap::new(), origins: Vec::new(), signed_only: false, kept_max: CARD };
    let discovery = Discovery::new(egress.clone(), Arc::new(SystemClock), rules);
    discovery.find(url).await.map_err(|error| not_found(&error))
}

fn remote_agent(
    ask: &AskArguments,
    egress: &Egress,
    purpose: Purpose,
    card: &DiscoveredAgent,
    canonical_host: Option<String>,
    label: String,
) -> Result<RemoteAgent, Failure> {
    ask.check_token(&card.endpoint.url)?;
    let mut headers = HeaderMap::new();
    headers.extend(ask.authorization()?.map(|value| (AUTHORIZATION, value)));
    headers.extend(ask.accept_language()?.map(|value| (ACCEPT_LANGUAGE, value)));
    let patience = ClientTimeouts { first: ANSWER_TIME_MAX, idle: SILENCE, total: ANSWER_TIME_MAX };
    // Links of refusals must lead to the host of the address that was asked for, else to that of the card (PolicyPart
    // 3.2).
    let canonical_host = canonical_host.unwrap_or_else(|| card.canonical_host.clone());
    let (egress, endpoint, streams) = (egress.clone(), card.endpoint.clone(), card.streams());
    Ok(RemoteAgent {
        peer: Peer::new(PeerConfig { egress, purpose, endpoint, headers, patience, streams }),
        canonical_host,
        label,
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

fn failure(error: &PeerError, agent: &RemoteAgent, display: &TaskDisplay) -> Failure {
    let endpoint = agent.peer.endpoint();
    let name = &agent.label;
    match error {
        PeerError::Unreachable(reason) => unconnected(&endpoint.canonical_host(), reason, is_here(&endpoint.url)),
        PeerError::Refused(rule) => Failure::yours(format!("{name} {error}: {rule}")),
        PeerError::Declined { declined: UpstreamError::Credentials | UpstreamError::Forbidden, .. } => {
            Failure::yours(format!("{name}: {}", line(&error.to_string(), 400))).hint("--token TOKEN says who you are")
        }
        PeerError::Declined { .. } => Failure::yours(format!("{name}: {}", line(&error.to_string(), 400))),
        PeerError::Status(400..=499) => Failure::yours(format!("{name} {error}")),
        PeerError::Remote { message, .. } => Failure::yours(format!("{name}: {}", line(message, 400))),
        _ => display.broken(&format!("{name} {error}")),
    }
}
