//! What A2A is spoken over, and which addresses may be used for it.

use forecourt_client::network::is_here;
use url::Url;

/// What A2A is spoken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binding {
    /// JSON-RPC 2.0 over HTTP.
    JsonRpc,
    /// Paths and methods of HTTP with JSON bodies.
    HttpJson,
    /// gRPC.
    Grpc,
}

impl Binding {
    /// Reads the name that cards use.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "JSONRPC" => Some(Self::JsonRpc),
            "HTTP+JSON" => Some(Self::HttpJson),
            "GRPC" => Some(Self::Grpc),
            _ => None,
        }
    }
}

/// Whether an interface may be used: https, or http to this machine, with no user and no fragment.
/// gRPC has its own way to write where it is.
pub(crate) fn is_reachable(url: &str, binding: Binding) -> bool {
    match Url::parse(url) {
        Ok(parsed) if matches!(parsed.scheme(), "http" | "https") => {
            let plain = parsed.username().is_empty() && parsed.password().is_none() && parsed.fragment().is_none();
            plain && (parsed.scheme() == "https" || is_here(&parsed))
        }
        _ => binding == Binding::Grpc && is_host_and_port(url),
    }
}

fn is_host_and_port(text: &str) -> bool {
    let Ok(url) = Url::parse(&format!("https://{text}")) else { return false };
    let port = text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    port && url.path() == "/" && url.query().is_none() && url.username().is_empty() && !text.contains(['/', '#', '@'])
}
