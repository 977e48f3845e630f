//! `[listen]`: where the daemon listens, and what goes before that.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use schemars::JsonSchema;
use serde::Deserialize;

/// `[listen]`: where the daemon listens. The command line's flags go before these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Listen {
    /// Plain HTTP, for development and for proxies on this machine. At an address off loopback, such as
    /// `0.0.0.0:80`, it says where HTTPS is and answers certificate authorities, and nothing else.
    #[schemars(with = "String")]
    pub http: SocketAddr,
    /// HTTPS. Off loopback its certificate is yours (`cert` and `key` in `[tls]`), or ordered from an authority
    /// (`[tls.acme]`).
    #[schemars(with = "String")]
    pub https: SocketAddr,
    /// Health, readiness and metrics, for which nobody is asked who they are, and what `[admin]` opens.
    /// Loopback only; `listen` in `[metrics]` is for what asks from elsewhere.
    #[schemars(with = "String")]
    pub admin: SocketAddr,
}

impl Default for Listen {
    fn default() -> Self {
        let loopback = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        Self { http: loopback(8080), https: loopback(8443), admin: loopback(9080) }
    }
}

/// Addresses that go before those of the files: the flags of a command line, or what an embedding program
/// wants.
#[derive(Debug, Clone, Default)]
pub struct ListenOverrides {
    /// Plain HTTP.
    pub http: Option<SocketAddr>,
    /// HTTPS.
    pub https: Option<SocketAddr>,
    /// The operator's listener.
    pub admin: Option<SocketAddr>,
    /// The sockets that protocols have for themselves, by their names.
    pub own: HashMap<String, SocketAddr>,
}

impl ListenOverrides {
    /// Ports of this machine that are free, for every listener that is always there: for tests and for
    /// programs that ask for the address afterwards.
    pub fn free_ports() -> Self {
        let free = Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0));
        Self { http: free, https: free, admin: free, own: HashMap::new() }
    }

    /// The shared sockets, where the files say `listen`.
    pub(crate) fn or(&self, listen: Listen) -> Listen {
        Listen {
            http: self.http.unwrap_or(listen.http),
            https: self.https.unwrap_or(listen.https),
            admin: self.admin.unwrap_or(listen.admin),
        }
    }

    /// The address of a protocol's own socket.
    pub(crate) fn named(&self, name: &str) -> Option<SocketAddr> {
        self.own.get(name).copied()
    }
}
