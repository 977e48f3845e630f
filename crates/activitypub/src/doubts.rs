//! What a public deployment would lack in the Fediverse, for `forecourt check`.

use forecourt_core::{AgentCard, Site};

/// How many agents are named in one sentence.
const NAMED_MAX: usize = 5;

/// What of a site and its actors others would miss, in a sentence each.
pub(crate) fn of(site: &Site, actors: &[&AgentCard]) -> Vec<String> {
    let host = site.canonical_host();
    let is_local = host.split(':').next().is_some_and(|name| name == "localhost" || name.ends_with(".localhost"));
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let mut doubts = Vec::new();
    if is_local {
        doubts
            .push(format!("[activitypub] is enabled, and {host} is this machine: no other server reaches the actors"));
    } else if !site.base.starts_with("https://") {
        doubts.push("[activitypub] needs HTTPS: other servers fetch no actors over plain http".to_owned());
    } else if has_port {
        doubts.push(format!("[activitypub] is enabled, and {host} has a port: other servers ask the usual one alone"));
    }
    // Mastodon's names of accounts: letters, digits and underscores, with dots and hyphens between them.
    let is_odd = |card: &&AgentCard| card.handle().as_str().starts_with('-') || card.handle().as_str().ends_with('-');
    let lacking =
        |what: &dyn Fn(&&AgentCard) -> bool, words: &str| named(actors, what).map(|who| format!("{words}: {who}"));
    doubts.extend(lacking(&is_odd, "servers of the Fediverse refuse handles that begin or end with a hyphen"));
    doubts
        .extend(lacking(&|card| card.icon.is_none(), "the Fediverse shows agents without an `icon` without a picture"));
    doubts.extend(lacking(
        &|card| card.description.is_empty(),
        "nobody in the Fediverse reads what agents without a `description` do",
    ));
    doubts
}

/// The agents of which this holds, the first ones by name. `None` where there is none.
fn named(actors: &[&AgentCard], what: &dyn Fn(&&AgentCard) -> bool) -> Option<String> {
    let found: Vec<_> = actors.iter().filter(|card| what(card)).collect();
    let names: Vec<String> = found.iter().take(NAMED_MAX).map(|card| format!("@{}", card.handle())).collect();
    let more = found.len().saturating_sub(names.len());
    match (names.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(names.join(", ")),
        (false, more) => Some(format!("{} and {more} more", names.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::Domain;
    use forecourt_core::agent::Icon;
    use forecourt_testkit::card;

    use super::*;

    #[test]
    fn a_public_deployment_hears_what_it_lacks_and_a_whole_one_nothing() {
        let site = |base: &str| Site {
            domain: Domain::parse("example.com").unwrap(),
            name: String::new(),
            base: base.to_owned(),
        };
        let mut whole = card("chef");
        whole.icon = Some(Icon { url: "https://example.com/chef.png".to_owned(), mime: None });
        assert_eq!(of(&site("https://example.com"), &[&whole]), Vec::<String>::new());
        for base in ["https://example.com:8443", "https://demo.localhost", "http://example.com"] {
            assert_eq!(of(&site(base), &[&whole]).len(), 1, "{base}");
        }
        let bare: Vec<AgentCard> = (0..7).map(|n| card(&format!("a{n}"))).collect();
        let told = of(&site("https://example.com"), &bare.iter().collect::<Vec<_>>());
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].ends_with("without a picture: @a0, @a1, @a2, @a3, @a4 and 2 more"), "{told:?}");
    }
}
