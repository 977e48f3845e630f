//! `/llms.txt`: what a language model with a fetch tool should read first, in markdown.

use std::fmt::Write as _;

use forecourt_core::{AgentCard, BotPurpose};

use super::listing::{SiteListing, one_line};
use crate::crawl::{CrawlTerms, LICENSE_PATH, Place, TermVerdict};

/// The whole document.
pub(crate) fn llms_txt(listing: &SiteListing<'_>, terms: &CrawlTerms) -> String {
    let site = &listing.site;
    let mut text = format!("# {}\n\n", one_line(&site.name));
    let _ = writeln!(text, "> Agents of {} that answer questions. Each can be asked in plain language.\n", site.domain);
    text.push_str("Every page here is also markdown: send `Accept: text/markdown`. A question is the query of an ");
    text.push_str("agent's own address, `?user=` and the question, percent-encoded.\n\n## Agents\n");
    listing.agents.iter().for_each(|card| agent(&mut text, card));
    if listing.is_cut {
        let _ = writeln!(text, "\nThere are more agents than are listed here: [all of them]({}/)", site.base);
    }
    if !terms.is_empty() {
        add_terms(&mut text, terms, &site.base);
    }
    text
}

/// On which terms pages may be read: for the whole site, and where something else holds.
fn add_terms(text: &mut String, terms: &CrawlTerms, base: &str) {
    let _ = writeln!(
        text,
        "\n## Terms\n\nFor crawlers, as a licence for programs: [{LICENSE_PATH}]({base}{LICENSE_PATH})\n"
    );
    let site = words(terms, "/");
    let _ = writeln!(text, "- all pages: {site}");
    for pattern in terms.patterns() {
        let own = words(terms, pattern.as_str());
        if own != site {
            let _ = writeln!(text, "- `{}`: {own}", one_line(pattern.as_str()));
        }
    }
}

fn words(terms: &CrawlTerms, path: &str) -> String {
    let word = |purpose: BotPurpose| {
        let said = match terms.for_purpose(purpose, Place::Page(path)) {
            TermVerdict::Free => "free".to_owned(),
            TermVerdict::Refused => "refused".to_owned(),
            TermVerdict::Priced(None) => "paid".to_owned(),
            TermVerdict::Priced(Some(price)) => format!("{price} for each page"),
        };
        format!("{} {said}", purpose.name())
    };
    BotPurpose::ALL.map(word).join(", ")
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
