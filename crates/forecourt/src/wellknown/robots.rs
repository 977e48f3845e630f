//! `/robots.txt`: pages may be found; what costs work for every visit, or is of one caller, is left alone.
//! RFC 9309.

/// Questions stand in the query, so every path with one is an answer made for somebody. Tasks, consents and
/// payments are of those who have their address.
const ROBOTS: &str = "\
User-agent: *
Disallow: /*?
Disallow: /tasks/
Disallow: /consent/
Disallow: /pay/
Disallow: /sign-in
Allow: /
";

/// The rules, and where the pages are that may be listed.
pub(crate) fn robots(sitemap: Option<&str>) -> String {
    sitemap.map_or_else(|| ROBOTS.to_owned(), |url| format!("{ROBOTS}Sitemap: {url}\n"))
}
