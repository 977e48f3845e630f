//! Who serves, and whom and what it hosts. AGTP-API 8.3, 8.5 and 8.6.

use forecourt_core::Timestamp;

use super::FindingList;
use super::fields::Fields;

pub(super) fn judge(fields: &Fields<'_>, found: &mut FindingList) {
    if let Some(server) = fields.object("server", "8.3", found) {
        block(&server, found);
    }
    agents(fields, found);
    others(fields, found);
}

/// The server block.
fn block(server: &Fields<'_>, found: &mut FindingList) {
    server.text("server_id", "8.3", found);
    server.text("operator", "8.3", found);
    server.text_or_null("domain", "8.3", found);
    if server.given("contact").is_none() {
        found.advice("8.3", &server.at("contact"), "a `contact` for security would help");
    }
    server.text_or_null("contact", "8.3", found);
    server.texts("supported_features", "8.3", found);
    let issued = moment(server, "issued", found);
    let updated = moment(server, "updated", found);
    if issued.zip(updated).is_some_and(|(issued, updated)| updated < issued) {
        found.wrong("8.3", &server.at("updated"), "it can't be updated before it was issued");
    }
}

fn moment(server: &Fields<'_>, name: &str, found: &mut FindingList) -> Option<Timestamp> {
    let moment = server.text(name, "8.3", found)?.parse().ok();
    if moment.is_none() {
        found.wrong("8.3", &server.at(name), format!("`{name}` is a time such as 2026-01-15T09:00:00Z"));
    }
    moment
}

/// Which agents are disclosed, and to whom.
fn agents(fields: &Fields<'_>, found: &mut FindingList) {
    let disclosure = fields.text("agent_disclosure", "8.5", found);
    if disclosure.is_some_and(|word| !matches!(word, "public" | "authenticated" | "private")) {
        found.wrong("8.5", &fields.at("agent_disclosure"), "it is `public`, `authenticated` or `private`");
    }
    let hosted = fields.list("hosted_agents", "8.5", found).unwrap_or_default();
    if disclosure == Some("private") && !hosted.is_empty() {
        found.wrong("8.5", &fields.at("hosted_agents"), "a private server names no agents");
    }
    for (at, agent) in hosted.iter().enumerate() {
        let id = agent.get("agent_id").and_then(|id| id.as_str()).unwrap_or_default();
        if forecourt_core::AgentId::parse(id).is_err() {
            let pointer = format!("{}/{at}", fields.at("hosted_agents"));
            found.advice("8.5", &pointer, "an agent is best named by its canonical `agent_id`");
        }
    }
    fields.text_or_null("agent_disclosure_notice", "8.5", found);
}

/// What is reached beside the protocol.
fn others(fields: &Fields<'_>, found: &mut FindingList) {
    for name in ["apis", "hosted_protocols"] {
        for (at, one) in fields.optional_list(name, "8.6", found).iter().enumerate() {
            let pointer = format!("{}/{at}", fields.at(name));
            if !one.is_object() {
                found.wrong("8.6", &pointer, "an entry is an object");
            } else if name == "hosted_protocols" && !["protocol", "name"].iter().any(|key| one[*key].is_string()) {
                found.wrong("8.6", &pointer, "an entry names its `protocol`");
            }
        }
    }
}
