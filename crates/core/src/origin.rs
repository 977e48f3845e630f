//! This module compares hosts, in the one place where that is done. PolicyPart 3.2. It resolves and fetches nothing.

use url::{Host, Url};

use crate::limits::{DOMAIN_BYTES_MAX, LABEL_BYTES_MAX, URL_BYTES_MAX};

/// Whether `url` is https, without userinfo, and its host and port equal `canonical_host` after
/// normalization (case, IDN, trailing dot, default port, RFC 5952). PolicyPart 3.2.
///
/// The raw text is looked at first, since URL parsers repair what must be refused. URLs beyond
/// [`URL_BYTES_MAX`] are refused too.
pub fn is_bound_to(url: &str, canonical_host: &str) -> bool {
    if url.len() > URL_BYTES_MAX || !is_clean(url) {
        return false;
    }
    let (Ok(url), Some(canonical)) = (Url::parse(url), normalize(canonical_host)) else {
        return false;
    };
    host_of(&url).is_some_and(|host| host == canonical)
}

/// A host with an optional port in the form that is compared: lower-case A-labels or an RFC 5952
/// literal in brackets, no trailing dot, no `:443`. `None` when it is no host.
pub fn normalize(host: &str) -> Option<String> {
    // The host is put into a URL to be normalized: each of these would end it there, or decode to something else.
    let plain = !host.contains(['/', '?', '#', '@', '\\', '%']) && host.chars().all(is_visible);
    if host.is_empty() || host.len() > URL_BYTES_MAX || !plain {
        return None;
    }
    host_of(&Url::parse(&format!("https://{host}/")).ok()?)
}

/// Nothing that a lenient parser would drop, decode or turn around: controls, spaces, backslashes,
/// an empty authority, and an `@` or `%` in it, even with an empty name.
fn is_clean(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_at_checked("https://".len()) else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // In the authority alone: `?to=@you@example.com` behind it is no userinfo. `https://@agent.example` is refused
    // although the parser drops the empty name, and `%2f` as it would decode to a slash.
    let plain = !authority.is_empty() && !authority.contains(['@', '%']);
    plain && scheme.eq_ignore_ascii_case("https://") && !url.contains('\\') && url.chars().all(is_visible)
}

fn is_visible(c: char) -> bool {
    !c.is_control() && !c.is_whitespace()
}

fn host_of(url: &Url) -> Option<String> {
    let host = match url.host()? {
        // The parser has lowered the case and made A-labels; what is left is the root dot and the lengths of the DNS.
        Host::Domain(name) => registrable(name)?.to_owned(),
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => format!("[{address}]"),
    };
    Some(match url.port() {
        // `Url::port` is `None` for the default port of https, so that `:443` and no port are the same.
        None => host,
        Some(port) => format!("{host}:{port}"),
    })
}

/// The name without its root dot; `None` when it or a label is longer than the DNS allows. RFC 1035 2.3.4.
fn registrable(name: &str) -> Option<&str> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let labels_fit = name.split('.').all(|label| (1..=LABEL_BYTES_MAX).contains(&label.len()));
    (name.len() <= DOMAIN_BYTES_MAX && labels_fit).then_some(name)
}
