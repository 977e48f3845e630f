//! Comparing hosts. PolicyPart 3.2, the one place where it is done.

use url::{Host, Url};

/// Whether `url` is https, without userinfo, and its host and port equal `canonical_host` after
/// normalization (case, IDN, trailing dot, default port, RFC 5952). PolicyPart 3.2.
///
/// The raw text is looked at first, since URL parsers repair what must be refused.
pub fn is_bound_to(url: &str, canonical_host: &str) -> bool {
    if !is_clean(url) || !starts_with_https(url) {
        return false;
    }
    let (Ok(url), Some(canonical)) = (Url::parse(url), normalize(canonical_host)) else {
        return false;
    };
    let open = url.username().is_empty() && url.password().is_none();
    open && url.scheme() == "https" && host_of(&url).is_some_and(|host| host == canonical)
}

/// A host with an optional port in the form that is compared: lower-case A-labels, no trailing
/// dot, no `:443`. `None` when it is no host.
pub fn normalize(host: &str) -> Option<String> {
    if host.is_empty() || host.contains(['/', '?', '#', '@', '\\', '%']) || !host.chars().all(is_visible) {
        return None;
    }
    host_of(&Url::parse(&format!("https://{host}/")).ok()?)
}

fn starts_with_https(url: &str) -> bool {
    url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"))
}

/// Nothing that a lenient parser would drop or turn around: controls, spaces, backslashes, and an
/// `@` before the path, even with an empty name.
fn is_clean(url: &str) -> bool {
    let authority = url.get(8..).unwrap_or_default().split(['/', '?', '#']).next().unwrap_or_default();
    url.chars().all(is_visible) && !url.contains('\\') && !authority.contains(['@', '%'])
}

fn is_visible(c: char) -> bool {
    !c.is_control() && !c.is_whitespace()
}

fn host_of(url: &Url) -> Option<String> {
    let host = match url.host()? {
        Host::Domain(name) => {
            let name = name.strip_suffix('.').unwrap_or(name);
            if name.is_empty() || name.split('.').any(str::is_empty) {
                return None;
            }
            name.to_owned()
        }
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => format!("[{address}]"),
    };
    Some(match url.port() {
        None => host,
        Some(port) => format!("{host}:{port}"),
    })
}
