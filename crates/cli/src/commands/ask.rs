//! `forecourt ask`: one question to an agent anywhere, and its answer as it comes.

mod answer;
mod form;
mod items;
mod pay;
mod question;
mod remote;
mod spoken;
mod stream;
mod told;
mod tool;
mod whom;

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Domain;
use forecourt_egress::{Deadlines, Egress, EgressConfig, EgressError, Purpose, UpstreamRequest, UpstreamResponse};
use forecourt_host::SystemEntropy;
use http::header::{ACCEPT, ACCEPT_LANGUAGE, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderName, HeaderValue};
use url::{Host, Position, Url};

use self::form::Form;
use self::pay::Payer;
use super::named::NamedTarget;
use super::printable::line;
use super::way::{self, Way};
use crate::args::Ask;
use crate::output::{Failure, Outcome};
use forecourt::serving::Serving;

/// What `--via` takes.
const REST: &str = "rest";
const A2A: &str = "a2a";
const NLWEB: &str = "nlweb";
const MCP: &str = "mcp";
/// A stream if there is one; whoever has none says it whole.
const STREAM: HeaderValue =
    HeaderValue::from_static("text/event-stream, application/json;q=0.5, text/markdown;q=0.3, text/plain;q=0.2");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// How long an answer may take from its first to its last byte. People have Ctrl-C.
const PATIENCE: Duration = Duration::from_secs(30 * 60);

/// Whom to ask.
struct Line {
    egress: Arc<Egress>,
    purpose: Purpose,
    endpoint: Url,
    /// The host that the links of refusals must lead to. PolicyPart 3.2.
    canonical_host: String,
    /// What the agent is called in messages.
    shown: String,
}

/// Asks, and prints the answer.
pub(crate) async fn run(ask: Ask) -> Outcome {
    let ask = spoken::complete(ask)?;
    match ask.via.as_str() {
        REST if ask.task.is_some() => {
            Err(Failure::usage(format!("`--task` goes with `--via {A2A}`, `--via {NLWEB}` and `--via {MCP}`")))
        }
        other if ask.pay && other != REST => Err(Failure::usage(format!("`--pay` goes with `--via {REST}`"))),
        REST => rest(ask).await,
        A2A => remote::run(ask).await,
        NLWEB => items::run(ask).await,
        MCP => tool::run(ask).await,
        other => {
            let known = format!("there are `{REST}`, `{A2A}`, `{NLWEB}` and `{MCP}`");
            Err(Failure::usage(format!("`--via {other}` is not there; {known}")))
        }
    }
}

/// Asks, and asks on while the agent asks back and somebody is there to answer.
async fn rest(mut ask: Ask) -> Outcome {
    // Before anything is sent: a question that can't be put is not worth a way there.
    let mut request = request(&ask)?;
    let line = connect(&ask).await?;
    check_token(&ask, &line.endpoint)?;
    let payer = if ask.pay { Some(Payer::new(&ask, &line)?) } else { None };
    loop {
        let incoming = match &payer {
            Some(payer) => payer.send(&line, request).await?,
            None => send(&line, request).await.map_err(|error| unreachable(&line, &error))?,
        };
        let answered = answer::print(incoming, &line, ask.json).await?;
        let Some(next) = question::answered(ask, answered).await? else { return Ok(()) };
        ask = next;
        request = self::request(&ask)?;
    }
}

async fn send(line: &Line, request: UpstreamRequest) -> Result<UpstreamResponse, EgressError> {
    let bounds = line.purpose.deadlines(line.egress.config());
    let bounds = Deadlines { first_byte: PATIENCE, total: PATIENCE, ..bounds };
    let outgoing = UpstreamRequest { url: line.endpoint.as_str().into(), ..request }.within(bounds);
    line.egress.send(line.purpose, outgoing).await
}

/// The question, to nobody yet.
fn request(ask: &Ask) -> Result<UpstreamRequest, Failure> {
    let mut form = Form::new(&SystemEntropy);
    if let Some(session) = &ask.session {
        form.text("session", session);
    }
    if !ask.text.is_empty() {
        form.text("user", &ask.text.join(" "));
    }
    for answer in &ask.answers {
        let (name, value) = question::split(answer)?;
        form.text(&format!("answer.{name}"), value);
    }
    for path in &ask.attach {
        form.file("user", path)?;
    }
    let (media_type, body) = form.finish()?;
    let mut request = UpstreamRequest::post(String::new(), body)
        .header(ACCEPT, if ask.json { JSON } else { STREAM })
        .header(CONTENT_TYPE, field("the form", &media_type)?);
    if let Some(language) = &ask.lang {
        request = request.header(ACCEPT_LANGUAGE, field("--lang", language)?);
    }
    if let Some(value) = bearer(ask)? {
        request = request.header(AUTHORIZATION, value);
    }
    Ok(request)
}

/// Who asks, if they say.
fn bearer(ask: &Ask) -> Result<Option<HeaderValue>, Failure> {
    let Some(token) = &ask.token else { return Ok(None) };
    let mut value = field("--token", &format!("Bearer {token}"))?;
    value.set_sensitive(true);
    Ok(Some(value))
}

/// Never shows the value, which may be a secret.
fn field(what: &str, text: &str) -> Result<HeaderValue, Failure> {
    HeaderValue::from_str(text).map_err(|_| Failure::usage(format!("{what} can't be sent as it is")))
}

async fn connect(ask: &Ask) -> Result<Line, Failure> {
    match NamedTarget::parse(&ask.agent)? {
        NamedTarget::Url(url) => direct(&url, ask),
        NamedTarget::Agent(acct, port) => {
            let mut way = Way::to(acct.domain(), port, ask.trust())?;
            let agent = way.resolve(&acct).await?;
            let Some(endpoint) = agent.rest_endpoint() else {
                let spoken = agent.protocols().map(|name| line(name, 40)).collect::<Vec<_>>().join(", ");
                return Err(Failure::yours(format!("{acct} is not available over REST")).hint(match spoken.len() {
                    0 => "its card names no protocol".to_owned(),
                    _ => format!("its card says that it speaks {spoken}"),
                }));
            };
            Ok(Line {
                egress: way.egress,
                purpose: Purpose::RemoteAgent,
                endpoint: Url::parse(endpoint).map_err(|error| Failure::yours(error.to_string()))?,
                canonical_host: agent.canonical_host.clone(),
                shown: acct.to_string(),
            })
        }
        NamedTarget::Domain(domain, _) => Err(Failure::usage(format!("{domain} is a domain and not an agent"))
            .hint(format!("`forecourt discover {}` lists its agents", ask.agent))),
    }
}

/// A URL that somebody typed is asked as it is, wherever it leads.
fn direct(url: &Url, ask: &Ask) -> Result<Line, Failure> {
    Ok(Line {
        egress: Arc::new(way_out(url, ask)?),
        purpose: Purpose::Upstream,
        endpoint: url.clone(),
        canonical_host: url[Position::BeforeHost..Position::AfterPort].to_owned(),
        shown: url.to_string(),
    })
}

/// The way out to a URL that somebody typed, which trusts the local authority for names on this
/// machine.
fn way_out(url: &Url, ask: &Ask) -> Result<Egress, Failure> {
    let served = url.host_str().and_then(|host| Domain::parse(host).ok()).filter(Domain::is_local);
    let serving = served.and_then(|domain| Serving::find(&domain, ask.data.as_deref()));
    let folder = ask.data.clone().or(serving.map(|serving| serving.data));
    way::trusting(EgressConfig::default(), folder, ask.trust())
}

/// A token over plain HTTP goes to this machine and no further.
fn check_token(ask: &Ask, endpoint: &Url) -> Outcome {
    match ask.token.is_some() && endpoint.scheme() == "http" && !is_here(endpoint) {
        true => Err(Failure::usage("a token is not sent over plain HTTP").hint("use the https URL")),
        false => Ok(()),
    }
}

/// Whether a URL leads to this machine.
pub(super) fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn unreachable(to: &Line, error: &EgressError) -> Failure {
    match error {
        EgressError::Unconnected(reason) => {
            way::unconnected(&to.endpoint[Position::BeforeHost..Position::AfterPort], reason, is_here(&to.endpoint))
        }
        EgressError::Refused(refusal) => Failure::yours(format!("{} can't be reached: {refusal}", to.shown)),
        other => Failure::unreachable(format!("{} can't be reached: {}", to.shown, other.log_reason())),
    }
}

/// The token of a conversation. Mentionable REST 6.
static SESSION: HeaderName = HeaderName::from_static("x-mentionable-session");
