//! What the requests of all listeners share, and what those of one connection do.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use forecourt_core::Entropy;
use http::header::HeaderValue;

use crate::client::TrustedProxies;
use crate::connections::Connections;
use crate::hosts::{AllowedHosts, PlainOrigins};
use crate::leaving::Leaving;
use crate::limits::HttpLimits;
use crate::metrics::{LastSeries, Metrics};
use crate::plain::PlainRules;
use crate::route_class::RouteClasses;
use crate::wire::Traffic;

/// The settings that all HTTP listeners share.
#[derive(Clone)]
pub struct FrontSettings {
    /// The names that are served.
    pub hosts: AllowedHosts,
    /// The proxies whose `X-Forwarded-For` and `X-Request-Id` are believed.
    pub proxies: TrustedProxies,
    /// What one client may use.
    pub limits: HttpLimits,
    /// Where things are counted.
    pub metrics: Arc<Metrics>,
    /// The routes of all protocols, by which requests are classed for metrics and spans.
    pub classes: RouteClasses,
    /// What the ids of requests are made from.
    pub entropy: Arc<dyn Entropy>,
    /// For how many seconds answers over TLS tell browsers to come back over TLS only. Not in development.
    pub hsts: Option<u32>,
    /// Whether the process is about to go: then each answer of HTTP/1 ends its connection.
    pub leaving: Leaving,
}

/// What all listeners share: settings, counters and the caps on connections.
pub struct ListenerContext {
    pub(crate) settings: FrontSettings,
    pub(crate) connections: Arc<Connections>,
    /// `Strict-Transport-Security` of answers over TLS.
    pub(crate) hsts: Option<HeaderValue>,
}

impl ListenerContext {
    /// Listeners that are given the same front share its caps.
    pub fn new(settings: FrontSettings) -> Arc<ListenerContext> {
        let limits = &settings.limits;
        let connections = Connections::new(limits.connections_max, limits.connections_per_address_max);
        Self::with(settings, connections)
    }

    fn with(settings: FrontSettings, connections: Arc<Connections>) -> Arc<ListenerContext> {
        let hsts = settings.hsts.and_then(|seconds| HeaderValue::try_from(format!("max-age={seconds}")).ok());
        Arc::new(ListenerContext { settings, connections, hsts })
    }

    /// The same listeners with other settings. Connections that are open count on, unless their caps are others.
    #[must_use]
    pub fn replaced_by(&self, settings: FrontSettings) -> Arc<ListenerContext> {
        let caps = |limits: &HttpLimits| (limits.connections_max, limits.connections_per_address_max);
        // With other caps the old counts would be compared with new bounds; connections that are open then count no
        // more.
        if caps(&self.settings.limits) != caps(&settings.limits) {
            return Self::new(settings);
        }
        Self::with(settings, Arc::clone(&self.connections))
    }
}

impl fmt::Debug for ListenerContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FrontSettings { hosts, proxies, limits, hsts, .. } = &self.settings;
        f.debug_struct("Front")
            .field("hosts", hosts)
            .field("proxies", proxies)
            .field("limits", limits)
            .field("hsts", hsts)
            .finish_non_exhaustive()
    }
}

/// The name that a client asked for when it opened its connection (SNI), attached to each request on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerName(pub Arc<str>);

/// What the requests of one connection share.
pub(crate) struct Peer {
    pub(crate) front: Arc<ListenerContext>,
    pub(crate) address: IpAddr,
    pub(crate) tls: bool,
    /// The name that the client asked for in the handshake.
    pub(crate) server_name: Option<ServerName>,
    /// What documents name that are fetched here without TLS.
    pub(crate) origins: Arc<PlainOrigins>,
    /// What is answered here without TLS before anything else.
    pub(crate) plain: Arc<PlainRules>,
    pub(crate) traffic: Arc<Traffic>,
    /// Where its last answer was counted.
    pub(crate) last: LastSeries,
}

pub(crate) fn random(entropy: &dyn Entropy) -> u64 {
    let mut bytes = [0; 8];
    entropy.fill(&mut bytes);
    u64::from_be_bytes(bytes)
}
