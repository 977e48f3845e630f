//! The description of an endpoint that a client gets in `initialize` or `server/discover`: name, capabilities and
//! instructions.

use forecourt_core::Handle;
use rmcp::model::{Implementation, ServerCapabilities, ServerConfig};

use crate::finding::FIND;
use crate::offer::Offer;
use crate::servers::Server;
use crate::widget;

/// Who answers at an endpoint, and what it can do.
pub(crate) fn config(offer: &Offer, agent: Option<&Handle>) -> ServerConfig {
    let host = &offer.host;
    let resident = agent.and_then(|agent| host.directory().find(agent));
    let site = host.site();
    if let Some(server) = agent.and_then(|name| offer.servers.find(name)) {
        return of_server(offer, server);
    }
    let (name, title, version) = match resident {
        Some(resident) => {
            let card = &resident.card;
            (card.address.to_string(), card.name.clone(), card.version.clone())
        }
        None => (site.domain.to_string(), site.name.clone(), env!("CARGO_PKG_VERSION").to_owned()),
    };
    let implementation = Implementation::new(name, version).with_title(title);
    let instructions = instructions(offer, agent);
    ServerConfig::new(capabilities(offer)).with_server_info(implementation).with_instructions(instructions)
}

/// A server behind this host, in its own words as far as they are known.
fn of_server(offer: &Offer, server: &Server) -> ServerConfig {
    let card = server.gate().card();
    let (own, instructions) = server.about();
    let named = || Implementation::new(card.address.to_string(), card.version.clone()).with_title(&card.name);
    let config = ServerConfig::new(capabilities(offer)).with_server_info(own.unwrap_or_else(named));
    match instructions {
        Some(words) => config.with_instructions(words),
        None => config,
    }
}

fn capabilities(offer: &Offer) -> ServerCapabilities {
    let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts();
    #[expect(deprecated, reason = "older revisions have it, and newer ones still may")]
    let capabilities = capabilities.enable_resources_subscribe().enable_logging();
    let mut capabilities = capabilities.enable_tasks().build();
    if !offer.servers.is_empty() {
        capabilities.completions.get_or_insert_default();
        // What is the host's own changes with the deployment alone.
        let changes = Some(true);
        capabilities.tools.get_or_insert_default().list_changed = changes;
        capabilities.resources.get_or_insert_default().list_changed = changes;
        capabilities.prompts.get_or_insert_default().list_changed = changes;
    }
    if offer.settings.widget {
        capabilities.extensions.get_or_insert_default().extend(widget::extension());
    }
    capabilities
}

fn instructions(offer: &Offer, agent: Option<&Handle>) -> String {
    if let (None, Some(words)) = (agent, &offer.settings.instructions) {
        return words.clone();
    }
    let directory = offer.host.directory();
    let all = directory.iter().filter(|resident| agent.is_none_or(|agent| resident.card.handle() == agent));
    let lines = all
        .take(20)
        .map(|r| format!("- {}: {} {}", crate::agents::name(r.card.handle()), r.card.name, r.card.description));
    let lines = lines.collect::<Vec<_>>().join("\n");
    let listing = offer.listing(agent);
    let more = match listing.is_cut {
        true => format!("\nThere are {} tools, most of which are not listed: call {FIND} to find one.", listing.len()),
        false => String::new(),
    };
    format!(
        "Tools that answer questions for {}:\n{lines}{more}\nAnswers in the state `working` go on: call await_task.",
        offer.host.site().name
    )
}
