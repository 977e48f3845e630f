//! `/sitemap.xml`: the pages of the site that search engines may list, as <https://www.sitemaps.org/protocol.html> says.

use std::fmt::Write;

use super::listing::SiteListing;
use crate::manual;

/// The front page, one page for each agent, and the manual where it is published.
pub(crate) fn sitemap(listing: &SiteListing<'_>, has_manual: bool) -> String {
    let agents = listing.agents.iter().map(|card| format!("/~{}", card.handle()));
    let pages = manual::pages().map(|page| format!("/manual/{}", page.name));
    let manual = std::iter::once("/manual/".to_owned()).chain(pages).filter(|_| has_manual);
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    xml.push_str("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n");
    for path in std::iter::once("/".to_owned()).chain(agents).chain(manual) {
        let _ = writeln!(xml, "<url><loc>{}</loc></url>", escaped(&listing.site.url(&path)));
    }
    xml.push_str("</urlset>\n");
    xml
}

/// Text of an element. XML 1.0 2.4.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
