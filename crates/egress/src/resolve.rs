//! Looking up names, behind a trait so that tests decide the answers.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use futures::future::BoxFuture;

/// The answer of a lookup, on its way.
pub type Resolving<'a> = BoxFuture<'a, io::Result<Vec<IpAddr>>>;

/// Finds the addresses of a name. Called once for each request; never for IP literals.
pub trait Resolve: Send + Sync + 'static {
    /// All addresses of `name`, A and AAAA, in the order to try them. An empty list means none.
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a>;
}

/// The resolver of the machine; `*.localhost` is loopback without asking anyone (RFC 6761 6.3).
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            // getaddrinfo does not resolve `*.localhost` on every system, and a resolver's answer could be any address.
            if name == "localhost" || name.ends_with(".localhost") {
                return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
            }
            Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
        })
    }
}
