//! On which terms requests are taken: names, proxies and bounds, and the fronts of listeners made from them.

use std::sync::Arc;

use forecourt_core::Domain;
use forecourt_host::SystemEntropy;
use forecourt_server::{
    AllowedHosts, FrontSettings, HttpLimits, Leaving, ListenerContext, Metrics, RouteClasses, StreamSettings,
    TrustedProxies,
};

use super::super::Addresses;
use super::super::operator::OPERATOR_SUFFIX;
use super::wanted::{SocketKind, WantedSocket};
use crate::deployment::Deployment;

/// What is mounted on the operator's listener, for its metrics.
const OPERATOR_ROUTES: [&str; 8] =
    ["/healthz", "/readyz", "/metrics", "/content/{handle}", "/queue", "/queue/{id}", "/questions", "/reload"];

/// What is mounted where the daemon is watched from elsewhere.
const MONITORING_ROUTES: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

/// The settings of a deployment that hold for every connection: names, proxies, limits, HSTS.
#[derive(Clone, PartialEq)]
pub(super) struct Terms {
    /// Every name that is let in, with the domain that it is of; those of the first domain before all others.
    names: Vec<(String, Domain)>,
    proxies: TrustedProxies,
    pub(super) limits: HttpLimits,
    /// Whether this is somebody's own machine and nothing stands in front of it, so that documents fetched
    /// over plain HTTP may name that origin. Design 18.
    is_direct: bool,
    /// Whether HTTPS is on loopback.
    pub(super) is_local: bool,
    /// The protocols that carry HTTP on sockets of their own.
    own_http: Vec<&'static str>,
    /// For how many seconds browsers come back over HTTPS only.
    hsts: Option<u32>,
    /// The port of HTTPS as the outside reaches it.
    pub(super) https_port: u16,
    /// Whether what watches the daemon comes from elsewhere.
    is_watched_from_elsewhere: bool,
    /// The name under which browsers find the console, where the settings say one.
    console: Option<String>,
    /// Whether `public_url` names that port.
    has_public_url: bool,
}

impl Terms {
    /// The terms of a deployment that wants these sockets.
    pub(super) fn of(deployment: &Deployment, wanted: &[WantedSocket]) -> Self {
        let is_local = deployment.listen.https.ip().is_loopback();
        let proxies = deployment.trusted_proxies();
        let public = deployment.top.public_url.as_deref().and_then(|url| url::Url::parse(url).ok());
        Self {
            names: deployment.host_names().into_iter().map(|name| (name, deployment.top.domain.clone())).collect(),
            proxies: TrustedProxies::new(proxies.to_vec()),
            limits: deployment.http.clone(),
            is_direct: is_local && deployment.top.public_url.is_none() && proxies.is_empty(),
            is_local,
            own_http: wanted.iter().filter(|one| one.kind == SocketKind::OwnHttp).map(|one| one.name).collect(),
            // Not on loopback: browsers would hold `localhost` to HTTPS for every other program on the machine.
            hsts: Some(deployment.tls.hsts_seconds).filter(|seconds| *seconds > 0 && !is_local),
            https_port: public
                .as_ref()
                .and_then(url::Url::port_or_known_default)
                .unwrap_or(deployment.listen.https.port()),
            has_public_url: public.is_some(),
            is_watched_from_elsewhere: wanted
                .iter()
                .any(|one| one.kind == SocketKind::Monitoring && !one.address.ip().to_canonical().is_loopback()),
            console: deployment.entrance.url.as_ref().map(|url| url.host().to_owned()),
        }
    }

    /// Takes the port that the system chose, where the outside has no other.
    pub(super) fn https_is_at(&mut self, addresses: &Addresses) {
        if !self.has_public_url {
            self.https_port = addresses.shared.https.port();
        }
    }

    /// The same, where requests for these names are let in, and for no others.
    pub(super) fn naming(self, names: Vec<(String, Domain)>) -> Self {
        Self { names, ..self }
    }

    /// Every name that is let in, with its domain.
    pub(super) fn names(&self) -> &[(String, Domain)] {
        &self.names
    }

    /// Whether who connects meets the same terms, but for names.
    pub(super) fn are_those_of(&self, other: &Self) -> bool {
        (&self.proxies, &self.limits) == (&other.proxies, &other.limits)
    }

    /// What a protocol is served with on a socket of its own.
    pub(super) fn stream_settings(&self, protocol: &'static str, metrics: &Arc<Metrics>) -> StreamSettings {
        StreamSettings {
            protocol,
            connections_max: self.limits.connections_max,
            connections_per_address_max: self.limits.connections_per_address_max,
            handshake_time: self.limits.handshake_time,
            drain_time: self.limits.drain_time,
            metrics: metrics.clone(),
            entropy: Arc::new(SystemEntropy),
        }
    }
}

/// The fronts of all listeners that carry HTTP.
pub(super) struct Fronts {
    /// Of those that all protocols share.
    pub(super) public: Arc<ListenerContext>,
    /// Of the operator's.
    pub(super) operator: Arc<ListenerContext>,
    /// Of the one on which the daemon is watched.
    pub(super) monitoring: Arc<ListenerContext>,
    /// Of those of one protocol.
    pub(super) own: Arc<ListenerContext>,
}

impl Fronts {
    /// Fronts on these terms. Connections that are counted by those `before` count on.
    pub(super) fn new(
        terms: &Terms,
        (metrics, leaving): (&Arc<Metrics>, &Leaving),
        classes: &RouteClasses,
        before: Option<&Self>,
    ) -> Self {
        let front = |hosts: AllowedHosts, proxies, classes, before: Option<&Arc<ListenerContext>>| {
            let settings = FrontSettings {
                hosts,
                proxies,
                limits: terms.limits.clone(),
                metrics: metrics.clone(),
                classes,
                entropy: Arc::new(SystemEntropy),
                hsts: terms.hsts,
                leaving: leaving.clone(),
            };
            before.map_or_else(|| ListenerContext::new(settings.clone()), |front| front.replaced_by(settings.clone()))
        };
        let names = || terms.names.iter().map(|(name, _)| name.as_str());
        let labels = terms.names.iter().map(|(name, domain)| (name.clone(), metrics.domain(domain.as_str())));
        let labels: Vec<_> = labels.collect();
        let hosts = AllowedHosts::new(names(), terms.is_local).labelled(labels.clone());
        let hosts = if terms.is_direct { hosts.naming_plain_origins() } else { hosts };
        let own_names = AllowedHosts::new(names(), true);
        // Browsers find these on their own machine, whatever DNS says of the domain.
        let of_operator = names().map(str::to_owned).chain(names().map(|name| format!("{name}{OPERATOR_SUFFIX}")));
        let of_operator: Vec<String> = of_operator.chain(terms.console.clone()).collect();
        let operator_names = AllowedHosts::new(of_operator, true);
        let operator_routes = OPERATOR_ROUTES.into_iter().chain(forecourt_admin::PATHS);
        let operator_classes = RouteClasses::new(operator_routes.map(|route| ("operator", route)));
        // Sockets of a protocol's own carry HTTP on loopback alone.
        let own_classes = RouteClasses::new(terms.own_http.iter().map(|protocol| (*protocol, "/{*path}")));
        // Probes and scrapers ask by addresses and by names that only their network knows. On loopback a page of a browser
        // could ask, too, under a name that leads there.
        let monitoring_names = match terms.is_watched_from_elsewhere {
            true => AllowedHosts::any(),
            false => own_names.clone(),
        };
        let monitoring_classes = RouteClasses::new(MONITORING_ROUTES.map(|route| ("operator", route)));
        let before = |pick: fn(&Self) -> &Arc<ListenerContext>| before.map(pick);
        Self {
            public: front(hosts, terms.proxies.clone(), classes.clone(), before(|fronts| &fronts.public)),
            operator: front(
                operator_names,
                // The operator's listener trusts no proxy: its callers' addresses are those of their connections.
                TrustedProxies::default(),
                operator_classes,
                before(|fronts| &fronts.operator),
            ),
            monitoring: front(
                monitoring_names,
                TrustedProxies::default(),
                monitoring_classes,
                before(|fronts| &fronts.monitoring),
            ),
            own: front(own_names.labelled(labels), terms.proxies.clone(), own_classes, before(|fronts| &fronts.own)),
        }
    }
}
