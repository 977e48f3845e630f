//! The raw text of a URL into a checked value. Security sheet, section 6, steps 1 and 2.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use http::{HeaderValue, Uri};
use url::{Host, Position, Url};

use crate::error::Refusal;
use crate::limits::URL_BYTES_MAX;

/// An `http` or `https` URL whose text hides nothing: no userinfo, no control characters, no
/// percent signs in the host, a well-formed host and a plain port. Its fragment is dropped.
///
/// Says nothing about whether its address may be reached; that is the guard's to decide. Cheap to clone:
/// what is asked again and again is parsed once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedUrl {
    parsed: Arc<ParsedUrl>,
    usual_port: u16,
}

#[derive(Debug, PartialEq, Eq)]
struct ParsedUrl {
    url: Url,
    /// The same, as the HTTP client has it.
    uri: Uri,
    host: TargetHost,
    port: u16,
}

/// Where https listens unless a URL says otherwise.
const HTTPS_PORT: u16 = 443;

/// What a target is reached by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TargetHost {
    Address(IpAddr),
    /// Lower-case A-labels without a trailing dot.
    Name(String),
}

impl CheckedUrl {
    /// Reads a URL of at most [`URL_BYTES_MAX`] bytes. The text is checked before it is parsed,
    /// since URL parsers repair what must be refused.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        CheckedUrl::parse_within(text, URL_BYTES_MAX)
    }

    /// The same for a URL of at most so many bytes.
    pub(crate) fn parse_within(text: &str, bytes_max: usize) -> Result<Self, Refusal> {
        if text.len() > bytes_max {
            return Err(Refusal::Text("is too long"));
        }
        check_text(text)?;
        let mut url = Url::parse(text).map_err(|_| Refusal::Text("can't be parsed"))?;
        url.set_fragment(None);
        let host = match url.host() {
            Some(Host::Ipv4(address)) => TargetHost::Address(address.into()),
            Some(Host::Ipv6(address)) => TargetHost::Address(address.into()),
            Some(Host::Domain(name)) => TargetHost::Name(check_name(name)?.to_owned()),
            None => return Err(Refusal::Text("has no host")),
        };
        if let TargetHost::Name(name) = &host {
            // Without its trailing dot, so that TLS, the Host field and the pinned address agree.
            url.set_host(Some(name)).map_err(|_| Refusal::Text("has a malformed host"))?;
        }
        let port = url.port_or_known_default().ok_or(Refusal::Text("has no port"))?;
        let uri = Uri::try_from(url.as_str()).map_err(|_| Refusal::Text("can't be parsed"))?;
        Ok(Self { parsed: Arc::new(ParsedUrl { url, uri, host, port }), usual_port: HTTPS_PORT })
    }

    /// A host and a port on their own. The host is a name, or an address with or without brackets.
    pub(crate) fn of_host(host: &str, port: u16, is_encrypted: bool) -> Result<Self, Refusal> {
        let is_bare = !host.contains(['/', '?', '#', ':']);
        let bracketed = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let host = match bracketed.unwrap_or(host).parse::<Ipv6Addr>() {
            Ok(address) => format!("[{address}]"),
            Err(_) if is_bare => host.to_owned(),
            Err(_) => return Err(Refusal::Text("has a malformed host")),
        };
        let scheme = if is_encrypted { "https" } else { "http" };
        Self::parse(&format!("{scheme}://{host}:{port}/"))
    }

    /// The same for a protocol that usually listens on `port`, and not where https does.
    pub(crate) fn usually_on(self, port: u16) -> Self {
        Self { usual_port: port, ..self }
    }

    /// Where a redirect from here leads: absolute, or relative to this URL.
    pub(crate) fn join(&self, location: &str) -> Result<Self, Refusal> {
        // Absolute locations go through the check of raw text; the parser's join would repair them first.
        if is_absolute(location) {
            return Self::parse(location);
        }
        check_characters(location)?;
        let joined = self.parsed.url.join(location).map_err(|_| Refusal::Text("can't be parsed"))?;
        Self::parse(joined.as_str())
    }

    /// The URL as it goes out.
    pub fn url(&self) -> &Url {
        &self.parsed.url
    }

    /// The URL as the HTTP client has it.
    pub(crate) fn uri(&self) -> &Uri {
        &self.parsed.uri
    }

    /// Its path and query alone, as a request says them to the server itself. RFC 9112 3.2.1.
    pub(crate) fn origin_form(&self) -> Uri {
        self.parsed.uri.path_and_query().cloned().map_or_else(|| Uri::from_static("/"), Uri::from)
    }

    /// The value of `Host`: with the port, unless that is the usual one of its scheme.
    pub(crate) fn host_field(&self) -> HeaderValue {
        let text = &self.parsed.url[Position::BeforeHost..Position::AfterPort];
        // A host and a port that were checked are visible ASCII.
        HeaderValue::from_str(text).unwrap_or_else(|_| HeaderValue::from_static(""))
    }

    /// The address that it names itself, if it is no name.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        match &self.parsed.host {
            TargetHost::Address(address) => Some(*address),
            TargetHost::Name(_) => None,
        }
    }

    /// Whether the connection is encrypted.
    pub fn is_https(&self) -> bool {
        self.parsed.url.scheme() == "https"
    }

    /// The host as it is compared and counted: a name without a trailing dot, or an address without
    /// brackets.
    pub fn host(&self) -> String {
        match &self.parsed.host {
            TargetHost::Address(address) => address.to_string(),
            TargetHost::Name(name) => name.clone(),
        }
    }

    /// The port, given or implied.
    pub fn port(&self) -> u16 {
        self.parsed.port
    }

    /// Whether it has the port that its protocol has everywhere, so that nobody needs to open it.
    pub(crate) fn is_on_usual_port(&self) -> bool {
        self.parsed.port == self.usual_port
    }

    pub(crate) fn by(&self) -> &TargetHost {
        &self.parsed.host
    }

    /// Whether the name is a single label, or one that only private networks resolve.
    pub(crate) fn is_private_name(&self) -> bool {
        match &self.parsed.host {
            TargetHost::Address(_) => false,
            TargetHost::Name(name) => {
                // A single label is completed by the resolver's search list, so it means a machine of our own network.
                !name.contains('.') || PRIVATE_SUFFIXES.iter().any(|suffix| ends_in(name, suffix))
            }
        }
    }
}

/// Names that mean another machine to us than to the caller, metadata services among them.
const PRIVATE_SUFFIXES: [&str; 14] = [
    "arpa",
    "corp",
    "default.svc",
    "home",
    "home.arpa",
    "internal",
    "intranet",
    "invalid",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "onion",
    "svc",
];

fn ends_in(name: &str, suffix: &str) -> bool {
    name.strip_suffix(suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

fn is_absolute(location: &str) -> bool {
    let scheme = location.split(['/', '?', '#']).next().unwrap_or_default();
    scheme.contains(':')
}

fn check_text(text: &str) -> Result<(), Refusal> {
    check_characters(text)?;
    let rest = strip_scheme(text).ok_or(Refusal::Text("does not begin with https://"))?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() {
        return Err(Refusal::Text("has no host"));
    }
    // `https://good.example@evil.example` reads as the first name and goes to the second; an escape hides either.
    if authority.contains(['@', '%']) {
        return Err(Refusal::Text("has a name, a password or an escape before its host"));
    }
    check_port(authority)
}

fn check_characters(text: &str) -> Result<(), Refusal> {
    // The parser would drop tabs and line ends and read `\` as `/`, so that what was looked at is not what is fetched.
    match text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
        true => Err(Refusal::Text("holds a space, a backslash or a control character")),
        false => Ok(()),
    }
}

fn strip_scheme(text: &str) -> Option<&str> {
    ["https://", "http://"].into_iter().find_map(|scheme| {
        let (head, rest) = text.split_at_checked(scheme.len())?;
        head.eq_ignore_ascii_case(scheme).then_some(rest)
    })
}

/// A port, if there is one, has one to five digits and no leading zero.
fn check_port(authority: &str) -> Result<(), Refusal> {
    let after_host = match authority.rsplit_once(']') {
        Some((_, rest)) => rest,
        None => authority.find(':').map_or("", |at| &authority[at..]),
    };
    let plain = match after_host.strip_prefix(':') {
        None => after_host.is_empty(),
        Some(port) => {
            (1..=5).contains(&port.len()) && !port.starts_with('0') && port.bytes().all(|b| b.is_ascii_digit())
        }
    };
    if plain { Ok(()) } else { Err(Refusal::Text("has a malformed port")) }
}

/// A name in A-labels of letters, digits, underscores and inner hyphens; gives it without its trailing dot.
fn check_name(name: &str) -> Result<&str, Refusal> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let fits = name.len() <= forecourt_core::limits::DOMAIN_BYTES_MAX;
    if fits && name.split('.').all(is_label) { Ok(name) } else { Err(Refusal::Text("has a malformed host")) }
}

fn is_label(label: &str) -> bool {
    // Underscores are no part of host names (RFC 952), but real names of services have them.
    let known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_');
    (1..=63).contains(&label.len()) && label.bytes().all(known) && !label.starts_with('-') && !label.ends_with('-')
}
