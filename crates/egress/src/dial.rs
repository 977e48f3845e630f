//! The HTTP client itself. The only file that names it; everything it does by itself is off.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolving};
use reqwest::{Client, ClientBuilder};
use rustls::ClientConfig;

use crate::egress::SetupError;
use crate::error::EgressError;
use crate::limits::{CONNECT_TIME_MAX, HEAD_BYTES_MAX, HEAD_FIELDS_MAX, RESOLVE_TIME_MAX, UPSTREAM_IDLE_MAX};
use crate::resolve::Resolve;
use crate::target::CheckedUrl;
use crate::trust;

/// Makes connections.
pub(crate) struct Dialer {
    guarded: ClientConfig,
    upstream: Client,
}

impl Dialer {
    pub(crate) fn new(tls: &ClientConfig, resolver: Arc<dyn Resolve>) -> Result<Self, SetupError> {
        let upstream =
            bare(trust::upstream(tls)).dns_resolver(Open(resolver)).pool_max_idle_per_host(UPSTREAM_IDLE_MAX);
        // A backend may think for long before it answers, but not before it takes the connection.
        let upstream = upstream.connect_timeout(CONNECT_TIME_MAX);
        let upstream = upstream.build().map_err(|error| SetupError::Tls(error.to_string()))?;
        Ok(Self { guarded: trust::guarded(tls), upstream })
    }

    /// A client for one exchange: it knows no address but `addresses`, and its connection ends with
    /// it, so that nothing is shared between callers.
    pub(crate) fn pinned(
        &self,
        target: &CheckedUrl,
        addresses: &[SocketAddr],
        connect: Duration,
    ) -> Result<Client, EgressError> {
        bare(self.guarded.clone())
            .http1_only()
            .http1_max_headers(HEAD_FIELDS_MAX)
            .dns_resolver(Closed)
            .resolve_to_addrs(&target.host(), addresses)
            .connect_timeout(connect)
            .pool_max_idle_per_host(0)
            .build()
            .map_err(EgressError::from_client)
    }

    /// The shared client for backends that the operator named. Keeps connections.
    pub(crate) fn upstream(&self) -> Client {
        self.upstream.clone()
    }
}

/// No proxies, no redirects, no retries, no referer, no cookies, no decompression.
fn bare(tls: ClientConfig) -> ClientBuilder {
    Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("forecourt/", env!("CARGO_PKG_VERSION")))
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .http2_max_header_list_size(HEAD_BYTES_MAX as u32)
}

/// Answers no name: a guarded client dials only what was pinned.
struct Closed;

impl reqwest::dns::Resolve for Closed {
    fn resolve(&self, _: Name) -> Resolving {
        Box::pin(std::future::ready(Err("this name was not checked".into())))
    }
}

/// Asks our resolver, so that `*.localhost` and tests work for backends too.
struct Open(Arc<dyn Resolve>);

impl reqwest::dns::Resolve for Open {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = self.0.clone();
        Box::pin(async move {
            let found = tokio::time::timeout(RESOLVE_TIME_MAX, resolver.resolve(name.as_str())).await??;
            let addresses: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}
