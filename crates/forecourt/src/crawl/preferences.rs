//! The terms as preferences (`Content-Usage`, IETF aipref) and as licences (RSL 1.0).

use std::fmt::Write as _;

use forecourt_core::{BotPurpose, Handle};

use super::terms::{CrawlTerms, Place, TermVerdict};

/// Where the licences are.
pub(crate) const LICENSE_PATH: &str = "/license.xml";
/// Their media type.
pub(crate) const LICENSE_TYPE: &str = "application/rsl+xml; charset=utf-8";

/// What preferences are told of, in the vocabulary of aipref.
const CATEGORIES: [(&str, BotPurpose); 2] = [("train-ai", BotPurpose::Training), ("search", BotPurpose::Search)];

/// What licences are told of, in the vocabulary of RSL.
const USAGES: [(&str, BotPurpose); 3] =
    [("ai-train", BotPurpose::Training), ("ai-input", BotPurpose::Assistant), ("search", BotPurpose::Search)];

impl CrawlTerms {
    /// The preferences at a place: `train-ai=n, search=y`. What is refused or has a price is not given.
    pub(crate) fn usage(&self, place: Place<'_>) -> String {
        let preference = |(name, purpose): (&str, BotPurpose)| {
            let is_given = self.for_purpose(purpose, place) == TermVerdict::Free;
            format!("{name}={}", if is_given { "y" } else { "n" })
        };
        CATEGORIES.map(preference).join(", ")
    }
}

/// The licences of a site, with those of the answers of these agents.
pub(crate) fn license<'a>(terms: &CrawlTerms, base: &str, agents: impl Iterator<Item = &'a Handle>) -> String {
    let mut xml =
        String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rsl xmlns=\"https://rslstandard.org/rsl\">\n");
    let pages = terms.patterns().into_iter().map(|pattern| pattern.as_str());
    for pattern in std::iter::once("/").chain(pages.filter(|pattern| *pattern != "/")) {
        let url = if pattern.starts_with('/') { format!("{base}{pattern}") } else { format!("{base}/{pattern}") };
        // A pattern is one of the paths that it means: `*` stands for any text, also for itself.
        content(&mut xml, terms, &url, Place::Page(pattern));
    }
    for handle in agents {
        content(&mut xml, terms, &format!("{base}/~{handle}?*"), Place::Answers(handle));
    }
    xml.push_str("</rsl>\n");
    xml
}

fn content(xml: &mut String, terms: &CrawlTerms, url: &str, place: Place<'_>) {
    let _ = writeln!(xml, "<content url=\"{}\">", escaped(url));
    let mut told: Vec<(TermVerdict, Vec<&str>)> = Vec::new();
    for (usage, purpose) in USAGES {
        let verdict = terms.for_purpose(purpose, place);
        match told.iter_mut().find(|(known, _)| *known == verdict) {
            Some((_, usages)) => usages.push(usage),
            None => told.push((verdict, vec![usage])),
        }
    }
    for (verdict, usages) in told {
        let usages = usages.join(" ");
        let license = match verdict {
            TermVerdict::Free => format!("<permits type=\"usage\">{usages}</permits><payment type=\"free\"/>"),
            TermVerdict::Refused => format!("<prohibits type=\"usage\">{usages}</prohibits>"),
            TermVerdict::Priced(price) => {
                let amount = price.map(|price| format!("<amount currency=\"USD\">{}</amount>", price.decimal()));
                let amount = amount.unwrap_or_default();
                format!("<permits type=\"usage\">{usages}</permits><payment type=\"crawl\">{amount}</payment>")
            }
        };
        let _ = writeln!(xml, "<license>{license}</license>");
    }
    xml.push_str("</content>\n");
}

/// Text of an attribute. XML 1.0 2.4.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use forecourt_identity::bots::KnownBots;
    use forecourt_rules::HostRuleSettings;

    use super::*;

    fn terms() -> CrawlTerms {
        let rules: Vec<HostRuleSettings> = [
            "kind = \"deny\"\nbots = [\"purpose:training\"]\npaths = [\"/manual/*\"]\n",
            "kind = \"require_payment\"\nbots = [\"purpose:assistant\"]\npaths = [\"/*\"]\nprice = \"$0.01\"\noffers = []\n",
        ]
        .map(|text| toml::from_str(text).unwrap())
        .into();
        CrawlTerms::new(rules.iter(), std::iter::empty(), KnownBots::default())
    }

    #[test]
    fn preferences_say_what_the_rules_do() {
        assert_eq!(terms().usage(Place::Page("/manual/rules")), "train-ai=n, search=y");
        assert_eq!(terms().usage(Place::Page("/")), "train-ai=y, search=y");
    }

    #[test]
    fn a_licence_permits_prohibits_and_has_a_price() {
        let chef: Handle = "chef".parse().unwrap();
        let xml = license(&terms(), "https://h.example", std::iter::once(&chef));
        let manual = xml.split("<content ").find(|part| part.contains("/manual/*")).unwrap();
        for said in [
            "<prohibits type=\"usage\">ai-train</prohibits>",
            "<permits type=\"usage\">ai-input</permits><payment type=\"crawl\"><amount currency=\"USD\">0.01</amount></payment>",
            "<permits type=\"usage\">search</permits><payment type=\"free\"/>",
        ] {
            assert!(manual.contains(said), "{said} in {manual}");
        }
        assert!(xml.contains("url=\"https://h.example/~chef?*\""), "{xml}");
    }
}
