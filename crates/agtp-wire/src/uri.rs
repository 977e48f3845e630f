//! `agtp://` and what it names. Base 1.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use forecourt_core::AgentId;

use crate::limits::{PORT, START_LINE_BYTES_MAX};

const SCHEME: &str = "agtp://";
/// Where agents have their names.
const AGENTS: &str = "/agents/";
/// Endings that files have, and names never. Base 1.
const SUFFIXES: [&str; 3] = [".agent", ".nomo", ".agtp"];

/// An agent or a path on a server.
///
/// | form | text |
/// |---|---|
/// | 1a | `agtp://{agent-id}@{host}[:port]` |
/// | 2, 2a | `agtp://{host}[:port]`, and any path there |
/// | 3, 4 | `agtp://{host}/agents/{name}` |
///
/// Form 1, an agent without a host, needs a registry to be asked and is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgtpUri {
    agent: Option<AgentId>,
    host: String,
    port: Option<u16>,
    target: Option<String>,
}

/// Why a text is no URI, in words for whoever wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UriError {
    /// Another scheme, or none.
    #[error("it begins with agtp://")]
    Scheme,
    /// An agent's id and no host.
    #[error("an agent's id alone needs a registry to be found: write agtp://ID@HOST")]
    NeedsRegistry,
    /// Something else than an agent's id before the host.
    #[error("only an agent's id, 64 lowercase hexadecimal digits, stands before the host")]
    Agent,
    /// No host, or one of other characters.
    #[error("the host is a name or an address")]
    Host,
    /// The port is no number from 1 to 65535.
    #[error("the port is a number from 1 to 65535")]
    Port,
    /// The path or query holds what no request line takes.
    #[error("path and query are printable ASCII without blanks; write others with percent signs")]
    Target,
    /// A fragment. AGTP-API 5.6.
    #[error("there are no fragments (`#`)")]
    Fragment,
    /// A name of other characters.
    #[error("an agent's name has letters, digits, `-` and `_`")]
    Name,
    /// Longer than any request line.
    #[error("it is too long")]
    TooLong,
}

impl AgtpUri {
    /// Reads a URI of at most [`START_LINE_BYTES_MAX`] bytes. File endings of an agent's name are left
    /// out, since they are never canonical.
    pub fn parse(text: &str) -> Result<Self, UriError> {
        if text.len() > START_LINE_BYTES_MAX {
            return Err(UriError::TooLong);
        }
        let (scheme, rest) = text.split_at_checked(SCHEME.len()).ok_or(UriError::Scheme)?;
        if !scheme.eq_ignore_ascii_case(SCHEME) {
            return Err(UriError::Scheme);
        }
        if rest.contains('#') {
            return Err(UriError::Fragment);
        }
        let (authority, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (agent, place) = agent(authority)?;
        let (host, port) = split_port(place)?;
        Ok(Self { agent, host: host_of(host)?, port, target: target_of(target)? })
    }

    /// The agent whose id is written before the host: form 1a. The id is authoritative.
    pub fn agent(&self) -> Option<&AgentId> {
        self.agent.as_ref()
    }

    /// The host: a name in lower case, or an address without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, if one is written.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// The port, given or implied.
    pub fn port_or_default(&self) -> u16 {
        self.port.unwrap_or(PORT)
    }

    /// Path and query. `None`: the server itself is meant, and a request line ends with its method.
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }
}

/// The agent's id before the `@`, if there is one, and the host with its port.
fn agent(authority: &str) -> Result<(Option<AgentId>, &str), UriError> {
    // From the right, so that `me:pw@ID@HOST` is refused, and nothing in front of the host is passed over.
    match authority.rsplit_once('@') {
        Some((id, place)) => Ok((Some(AgentId::parse(canonical(id)).map_err(|_| UriError::Agent)?), place)),
        // Not a malformed host: form 1 is a right URI, which only a registry could resolve. Base 1.
        None if AgentId::parse(canonical(authority)).is_ok() => Err(UriError::NeedsRegistry),
        None => Ok((None, authority)),
    }
}

fn split_port(place: &str) -> Result<(&str, Option<u16>), UriError> {
    // The colons within `[::1]` begin no port.
    let behind_brackets = place.find(']').unwrap_or(0);
    let Some(at) = place[behind_brackets..].find(':').map(|at| behind_brackets + at) else { return Ok((place, None)) };
    let digits = &place[at + 1..];
    // `parse` would take a plus sign and zeros in front: one port has one spelling.
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    match digits.parse() {
        Ok(port) if is_plain => Ok((&place[..at], Some(port))),
        _ => Err(UriError::Port),
    }
}

/// A name of the usual labels, or an address.
fn host_of(text: &str) -> Result<String, UriError> {
    if let Some(address) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return address.parse::<Ipv6Addr>().map(|address| address.to_string()).map_err(|_| UriError::Host);
    }
    // With and without the dot at its end a name is the same host, and a connection is kept under one.
    let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    // What ends in a number is an address or nothing: resolvers read `1.2.3` as addresses.
    let ends_in_number = name.rsplit('.').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    let fits = match ends_in_number {
        true => name.parse::<Ipv4Addr>().is_ok(),
        false => name.len() <= forecourt_core::limits::DOMAIN_BYTES_MAX && name.split('.').all(is_label),
    };
    if fits { Ok(name) } else { Err(UriError::Host) }
}

fn is_label(label: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=63).contains(&label.len()) && label.bytes().all(known) && !label.starts_with('-') && !label.ends_with('-')
}

fn target_of(text: &str) -> Result<Option<String>, UriError> {
    if text.is_empty() {
        return Ok(None);
    }
    if !is_target(text) {
        return Err(UriError::Target);
    }
    let text = if text.starts_with('?') { format!("/{text}") } else { text.to_owned() };
    let path = path_of(&text);
    let Some(name) = path.strip_prefix(AGENTS).filter(|rest| !rest.contains('/')) else { return Ok(Some(text)) };
    let name = canonical(name);
    match is_name(name) {
        true => Ok(Some(format!("{AGENTS}{name}{}", &text[path.len()..]))),
        false => Err(UriError::Name),
    }
}

/// What a request line takes behind its method.
pub fn is_target(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#')
}

fn path_of(target: &str) -> &str {
    target.split_once('?').map_or(target, |(path, _)| path)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

fn canonical(name: &str) -> &str {
    SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name)
}

impl FromStr for AgtpUri {
    type Err = UriError;

    fn from_str(text: &str) -> Result<Self, UriError> {
        Self::parse(text)
    }
}

impl fmt::Display for AgtpUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SCHEME)?;
        if let Some(agent) = &self.agent {
            write!(f, "{agent}@")?;
        }
        match self.host.contains(':') {
            true => write!(f, "[{}]", self.host)?,
            false => f.write_str(&self.host)?,
        }
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        f.write_str(self.target.as_deref().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id() -> String {
        "0123456789abcdef".repeat(4)
    }

    fn read(text: &str) -> AgtpUri {
        AgtpUri::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn base_1_form_1_needs_a_registry() {
        for text in [format!("agtp://{}", id()), format!("agtp://{}.agent", id()), format!("agtp://{}/x", id())] {
            assert_eq!(AgtpUri::parse(&text), Err(UriError::NeedsRegistry), "{text}");
        }
    }

    #[test]
    fn base_1_form_1a_names_an_agent_at_a_host() {
        let uri = read(&format!("agtp://{}@Agents.Example:4481", id()));
        assert_eq!(
            (uri.agent().unwrap().as_str(), uri.host(), uri.port()),
            (id().as_str(), "agents.example", Some(4481))
        );
        assert_eq!(uri.target(), None);
    }

    #[test]
    fn base_1_forms_2_and_2a_name_a_server() {
        let uri = read("agtp://example.com");
        assert_eq!((uri.host(), uri.port(), uri.port_or_default(), uri.target()), ("example.com", None, 4480, None));
        for (text, host) in [
            ("AGTP://EXAMPLE.com./", "example.com"),
            ("agtp://localhost:1/x?a=b", "localhost"),
            ("agtp://127.0.0.1:4480", "127.0.0.1"),
            ("agtp://[::1]:4480/x", "::1"),
        ] {
            assert_eq!(read(text).host(), host, "{text}");
        }
        assert_eq!(read("agtp://h?a=b").target(), Some("/?a=b"), "a query is asked of the root");
        assert_eq!(read("agtp://h/").target(), Some("/"), "which the server itself is not");
    }

    #[test]
    fn base_1_forms_3_and_4_name_an_agent_by_its_name() {
        for text in ["agtp://example.com/agents/Chef_1", "agtp://agtp.example.com/agents/Chef_1"] {
            assert_eq!(read(text).target(), Some("/agents/Chef_1"), "{text}");
        }
        let below = read("agtp://example.com/agents/chef/status");
        assert_eq!(below.target(), Some("/agents/chef/status"), "a path below a name is a path");
        for text in ["agtp://example.com/agents/a.b", "agtp://example.com/agents/", "agtp://example.com/agents/%61"] {
            assert_eq!(AgtpUri::parse(text), Err(UriError::Name), "{text}");
        }
    }

    #[test]
    fn base_1_file_endings_are_no_part_of_a_name() {
        for suffix in SUFFIXES {
            let uri = read(&format!("agtp://example.com/agents/chef{suffix}?format=json"));
            assert_eq!(uri.target(), Some("/agents/chef?format=json"));
            assert!(read(&format!("agtp://{}{suffix}@example.com", id())).agent().is_some());
        }
    }

    #[test]
    fn what_is_no_uri_says_why() {
        let upper = id().to_uppercase();
        for (text, error) in [
            ("", UriError::Scheme),
            ("example.com", UriError::Scheme),
            ("https://example.com", UriError::Scheme),
            ("agtp://", UriError::Host),
            ("agtp:///x", UriError::Host),
            ("agtp://a_b", UriError::Host),
            ("agtp://-a", UriError::Host),
            ("agtp://a..b", UriError::Host),
            ("agtp://1.2.3", UriError::Host),
            ("agtp://[::g]", UriError::Host),
            ("agtp://é.example", UriError::Host),
            ("agtp://h:0", UriError::Port),
            ("agtp://h:", UriError::Port),
            ("agtp://h:65536", UriError::Port),
            ("agtp://h:+1", UriError::Port),
            ("agtp://::1", UriError::Port),
            ("agtp://me@h", UriError::Agent),
            (&format!("agtp://{upper}@h"), UriError::Agent),
            (&format!("agtp://me:pw@{}@h", id()), UriError::Agent),
            ("agtp://h/x#y", UriError::Fragment),
            ("agtp://h/a b", UriError::Target),
            ("agtp://h/é", UriError::Target),
            ("agtp://h/a\r\nX: y", UriError::Target),
        ] {
            assert_eq!(AgtpUri::parse(text), Err(error), "{text:?}");
        }
    }

    #[test]
    fn the_length_is_bounded() {
        let text = |bytes: usize| format!("agtp://h/{}", "a".repeat(bytes - 9));
        assert!(AgtpUri::parse(&text(START_LINE_BYTES_MAX)).is_ok());
        assert_eq!(AgtpUri::parse(&text(START_LINE_BYTES_MAX + 1)), Err(UriError::TooLong));
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_written_so_that_it_reads_the_same(
            text in "agtp://([0-9a-f]{64}@)?([a-z0-9.-]{1,12}|\\[::[0-9a-f]{1,4}\\])(:[1-9][0-9]{0,4})?(/[ -~]{0,16})?(\\?[ -~]{0,8})?"
        ) {
            if let Ok(uri) = AgtpUri::parse(&text) {
                prop_assert_eq!(AgtpUri::parse(&uri.to_string()), Ok(uri.clone()));
                prop_assert!(uri.target().is_none_or(|target| target.starts_with('/')));
            }
        }

        #[test]
        fn reading_never_panics(text in any::<String>()) {
            let _ = AgtpUri::parse(&text);
            let _ = AgtpUri::parse(&format!("agtp://{text}"));
        }
    }
}
