//! `/robots.txt`: pages may be found; what costs work for every visit, or is of one caller, is left alone.
//! RFC 9309.

/// Questions stand in the query, so every path with one is an answer made for somebody. Tasks, consents and
/// payments are of those who have their address.
pub(crate) const ROBOTS: &str = "\
User-agent: *
Disallow: /*?
Disallow: /tasks/
Disallow: /consent/
Disallow: /pay/
Disallow: /sign-in
Allow: /
";
