//! `/robots.txt`: pages may be found; what costs work for every visit, or is of one caller, is left alone; and what the
//! rules refuse to crawlers. RFC 9309.

use std::fmt::Write as _;

use crate::crawl::{CrawlTerms, LICENSE_PATH, Place, RobotsGroup, robots_pattern};

/// Questions stand in the query, so every path with one is an answer made for somebody. Tasks, consents and
/// payments are of those who have their address.
const LEFT_ALONE: &str = "\
Disallow: /*?
Disallow: /tasks/
Disallow: /consent/
Disallow: /pay/
Disallow: /sign-in
";

/// The rules, where the terms are, and where the pages are that may be listed.
pub(crate) fn robots(terms: &CrawlTerms, base: &str, sitemap: Option<&str>) -> String {
    let (everybody, groups) = terms.groups();
    let mut text = String::new();
    for RobotsGroup { products, disallowed } in groups {
        products.iter().for_each(|name| line(&mut text, "User-agent", name));
        group(&mut text, terms, disallowed);
        text.push('\n');
    }
    text.push_str("User-agent: *\n");
    group(&mut text, terms, everybody);
    if !terms.is_empty() {
        line(&mut text, "License", &format!("{base}{LICENSE_PATH}"));
    }
    if let Some(url) = sitemap {
        line(&mut text, "Sitemap", url);
    }
    text
}

fn group(text: &mut String, terms: &CrawlTerms, disallowed: &[String]) {
    if !terms.is_empty() {
        let site = terms.usage(Place::Page("/"));
        line(text, "Content-Usage", &site);
        for pattern in terms.patterns() {
            let own = terms.usage(Place::Page(pattern.as_str()));
            if own != site {
                line(text, "Content-Usage", &format!("{} {own}", robots_pattern(pattern)));
            }
        }
    }
    text.push_str(LEFT_ALONE);
    disallowed.iter().for_each(|path| line(text, "Disallow", path));
    if !disallowed.iter().any(|path| path == "/") {
        text.push_str("Allow: /\n");
    }
}

fn line(text: &mut String, key: &str, value: &str) {
    let _ = writeln!(text, "{key}: {value}");
}
