//! The description of an endpoint that a client gets in `initialize` or `server/discover`: name, capabilities and
//! instructions.

use forecourt_core::Handle;
use rmcp::model::{Implementation, ServerCapabilities, ServerConfig};

use crate::finding::FIND;
use crate::offer::Offer;
use crate::widget;

/// Who answers at an endpoint, and what it can do.
pub(crate) fn config(offer: &Offer, agent: Option<&Handle>) -> ServerConfig {
    let host = &offer.host;
    let resident = agent.and_then(|agent| host.directory().find(agent));
    let site = host.site();
    let (name, title, version) = match resident {
        Some(resident) => {
            let card = &resident.card;
            (card.address.to_string(), card.name.clone(), card.version.clone())
        }
        None => (site.domain.to_string(), site.name.clone(), env!("CARGO_PKG_VERSION").to_owned()),
    };
    let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts();
    #[expect(deprecated, reason = "older revisions have it, and newer ones still may")]
    let capabilities = capabilities.enable_resources_subscribe().enable_logging();
    let mut capabilities = capabilities.enable_tasks().build();
    if offer.settings.widget {
        capabilities.extensions.get_or_insert_default().extend(widget::extension());
    }
    let implementation = Implementation::new(name, version).with_title(title);
    ServerConfig::new(capabilities).with_server_info(implementation).with_instructions(instructions(offer, agent))
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
