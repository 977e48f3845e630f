//! `/llms.txt`: what a language model with a fetch tool should read first, in markdown.

use std::fmt::Write as _;

use forecourt_core::AgentCard;

use super::listing::{SiteListing, one_line};

/// The whole document.
pub(crate) fn llms_txt(listing: &SiteListing<'_>) -> String {
    let site = &listing.site;
    let mut text = format!("# {}\n\n", one_line(&site.name));
    let _ = writeln!(text, "> Agents of {} that answer questions. Each can be asked in plain language.\n", site.domain);
    text.push_str("Every page here is also markdown: send `Accept: text/markdown`. A question is the query of an ");
    text.push_str("agent's own address, `?user=` and the question, percent-encoded.\n\n## Agents\n");
    listing.agents.iter().for_each(|card| agent(&mut text, card));
    if listing.is_cut {
        let _ = writeln!(text, "\nThere are more agents than are listed here: [all of them]({}/)", site.base);
    }
    text
}

fn agent(text: &mut String, card: &AgentCard) {
    let name = one_line(&card.name).replace(['[', ']'], "");
    let page = card.endpoints.iter().find(|endpoint| endpoint.url.starts_with("http"));
    match page {
        Some(page) => {
            let _ = writeln!(text, "\n- [{name}]({}): {}", page.url, one_line(&card.description));
        }
        None => {
            let _ = writeln!(text, "\n- {name}: {}", one_line(&card.description));
        }
    }
    for example in &card.examples {
        let _ = writeln!(text, "  - for example: {}", one_line(example));
    }
    for endpoint in &card.endpoints {
        let _ = writeln!(text, "  - over {}: {}", endpoint.protocol, endpoint.url);
    }
}
