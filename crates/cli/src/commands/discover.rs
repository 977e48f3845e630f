//! `forecourt discover`: what is on a domain, and how one agent can be reached.

use forecourt_core::Domain;
use serde_json::{Value, json};

use super::named::NamedTarget;
use super::printable::line;
use super::way::Way;
use crate::args::Discover;
use crate::output::{Failure, Outcome, print_json, stderrln, stdout};
use forecourt::registry::discovery::{Acct, DirectoryListing, ResolvedAgent};

/// Where the card of a domain as a whole is. Hub card 4.
const HUB_CARD: &str = "/.well-known/agent-card.json";
/// Characters of one line of somebody else's text.
const LINE_CHARS_MAX: usize = 200;

/// Looks, and prints what is there.
pub(crate) async fn run(discover: Discover) -> Outcome {
    match NamedTarget::parse(&discover.what)? {
        NamedTarget::Agent(acct, port) => agent(&acct, port, &discover).await,
        NamedTarget::Domain(name, port) => domain(&name, port, &discover).await,
        NamedTarget::Url(url) => {
            let name = url.host_str().and_then(|host| Domain::parse(host).ok());
            let name = name.ok_or_else(|| {
                Failure::yours("only domains have a directory").hint("try demo.localhost or @chef@demo.localhost")
            })?;
            domain(&name, url.port(), &discover).await
        }
    }
}

async fn agent(acct: &Acct, port: Option<u16>, discover: &Discover) -> Outcome {
    let mut way = Way::to(acct.domain(), port, discover.trust())?;
    let found = way.resolve(acct).await?;
    match discover.json {
        true => print_json(&json!({
            "address": acct.to_string(),
            "card_url": found.card_url,
            "canonical_host": found.canonical_host,
            "rest_endpoint": found.rest_endpoint(),
            "card": found.card,
        })),
        false => {
            stdout(format_args!("{}", described(&found)));
            stderrln!("\nTry:  forecourt ask {} \"hello\"", discover.what);
            Ok(())
        }
    }
}

async fn domain(name: &Domain, port: Option<u16>, discover: &Discover) -> Outcome {
    let way = Way::to(name, port, discover.trust())?;
    // Both at once: each is a round trip to the domain.
    let (listing, hub) =
        futures::join!(way.resolver.directory(name, way.port), way.resolver.document(name, way.port, HUB_CARD));
    let hub = hub.ok();
    let listing = match listing {
        Ok(listing) => Some(listing),
        // A domain may have a hub card and no directory.
        Err(_) if hub.is_some() => None,
        Err(error) => return Err(way.explain(error).await),
    };
    if discover.json {
        let directory = listing.map(|listing| listing.document);
        return print_json(&json!({"domain": name, "directory": directory, "hub_card": hub}));
    }
    stdout(format_args!("{}", listed(name, listing.as_ref(), hub.as_ref())));
    if let Some(first) = listing.as_ref().and_then(|listing| listing.agents.first()) {
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        stderrln!("\nTry:  forecourt ask {}{port} \"hello\"", first.acct);
    }
    Ok(())
}

/// A domain for people.
fn listed(domain: &Domain, listing: Option<&DirectoryListing>, hub: Option<&Value>) -> String {
    let name = listing
        .map(|listing| line(&listing.name, LINE_CHARS_MAX))
        .filter(|name| !name.is_empty() && name != domain.as_str());
    let mut text = format!("{}\n", name.map_or_else(|| domain.to_string(), |name| format!("{name} ({domain})")));
    for agent in listing.map_or(&[][..], |listing| &listing.agents) {
        text.push_str(&format!("\n  {}  {}\n", agent.acct, line(&agent.name, LINE_CHARS_MAX)));
        push(&mut text, "    ", &agent.description);
        push(&mut text, "    over ", &agent.protocols.join(", "));
    }
    if listing.is_some_and(|listing| listing.agents.is_empty()) {
        text.push_str("\n  no agents\n");
    }
    if let Some(hub) = hub {
        let field = |key: &str| hub[key].as_str().map(|text| line(text, LINE_CHARS_MAX)).unwrap_or_default();
        text.push_str(&format!("\n  as a whole: {}  {}\n", field("name"), field("url")));
    }
    text
}

/// An agent for people.
fn described(agent: &ResolvedAgent) -> String {
    let mut text = format!("{}  {}\n", agent.acct, line(agent.name(), LINE_CHARS_MAX));
    push(&mut text, "", agent.description());
    text.push('\n');
    let rest = agent.rest_endpoint().unwrap_or("not available");
    push(&mut text, "  rest  ", rest);
    if agent.a2a_endpoint() != rest {
        push(&mut text, "  a2a   ", agent.a2a_endpoint());
    }
    push(&mut text, "  card  ", &agent.card_url);
    push(&mut text, "  over  ", &agent.protocols().collect::<Vec<_>>().join(", "));
    for (at, (name, description)) in agent.skills().enumerate() {
        let skill = if description.is_empty() { name.to_owned() } else { format!("{name}: {description}") };
        push(&mut text, if at == 0 { "  can   " } else { "        " }, &skill);
    }
    text
}

/// Adds a line, unless there is nothing to say.
fn push(text: &mut String, before: &str, words: &str) {
    let words = line(words, LINE_CHARS_MAX);
    if !words.is_empty() {
        text.push_str(&format!("{before}{words}\n"));
    }
}
