//! The sockets of the daemon: bound before anything else is built, so that a taken port is said at
//! once, and served when the host is ready.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use forecourt_core::Timestamp;
use forecourt_host::SystemEntropy;
use forecourt_server::tls::CertificateFiles;
use forecourt_server::{
    AllowedHosts, Certificates, FrontSettings, HttpLimits, Listener, ListenerContext, Metrics, RouteClasses,
    ServeError, TrustedProxies, local_ca,
};
use tokio_util::sync::CancellationToken;

use super::Addresses;
use super::own::{Own, Shared};
use crate::deployment::Deployment;
use crate::error::Error;
use crate::live::LiveHouse;
use crate::settings::Listen;

/// How often certificate files are looked at.
const RELOAD_EVERY: Duration = Duration::from_secs(30);
/// What is mounted on the operator's listener, for its metrics.
const OPERATOR_ROUTES: [&str; 7] =
    ["/healthz", "/readyz", "/metrics", "/content/{handle}", "/queue", "/queue/{id}", "/questions"];

/// Bound, not yet serving.
pub(super) struct Listeners {
    http: Listener,
    https: Listener,
    admin: Listener,
    own: Own,
    hosts: AllowedHosts,
    proxies: TrustedProxies,
    limits: HttpLimits,
    metrics: Arc<Metrics>,
    certificates: Arc<Certificates>,
    /// Whether this is somebody's own machine and nothing stands in front of it, so that documents fetched
    /// over plain HTTP may name that origin. Design 18.
    is_direct: bool,
    /// Who makes the certificate, when that is the local authority.
    authority: Option<Authority>,
    local: bool,
}

/// The local authority, to be asked again before its certificate ends.
#[derive(Clone)]
struct Authority {
    folder: std::path::PathBuf,
    domain: String,
}

impl Listeners {
    /// Binds every address that is asked for.
    pub(super) async fn bind(deployment: &Deployment, data: &Path) -> Result<Self, Error> {
        let Listen { http, https, admin } = deployment.listen;
        let local = https.ip().is_loopback();
        deployment.tls.suits("HTTPS", https)?;
        let own = deployment.tls.files();
        let domain = deployment.top.domain.as_str().to_owned();
        let authority = own.is_none().then(|| Authority { folder: data.to_path_buf(), domain: domain.clone() });
        let files = match (own, &authority) {
            (Some(files), _) => files,
            (None, Some(authority)) => authority.ensure()?,
            (None, None) => unreachable!("one of the two is there"),
        };
        let hosts = AllowedHosts::new(names(deployment), local);
        let certificates = Certificates::load(files, hosts.clone()).map_err(yours)?;
        let config = certificates.http_config().map_err(yours)?;
        let own = Own::bind(deployment.wires.listens(), &certificates, &deployment.tls).await?;
        Ok(Self {
            http: Listener::plain(http).await.map_err(|e| taken(e, "--http"))?,
            https: Listener::tls(https, config).await.map_err(|e| taken(e, "--https"))?,
            admin: Listener::plain(admin).await.map_err(|e| taken(e, "--admin"))?,
            own,
            hosts,
            proxies: TrustedProxies::new(deployment.trusted_proxies().to_vec()),
            limits: deployment.http.clone(),
            is_direct: local && deployment.top.public_url.is_none() && deployment.trusted_proxies().is_empty(),
            metrics: Arc::default(),
            certificates,
            authority,
            local,
        })
    }

    /// Where the sockets are.
    pub(super) fn addresses(&self) -> Addresses {
        let shared = Listen { http: self.http.address(), https: self.https.address(), admin: self.admin.address() };
        Addresses { shared, own: self.own.addresses(), is_local: self.local }
    }

    pub(super) fn shared_metrics(&self) -> Arc<Metrics> {
        self.metrics.clone()
    }

    /// Serves until `stop`.
    pub(super) async fn serve(
        self,
        live: Arc<LiveHouse>,
        classes: RouteClasses,
        admin: Router,
        stop: CancellationToken,
    ) {
        let front = |hosts: AllowedHosts, proxies: TrustedProxies, classes: RouteClasses| {
            ListenerContext::new(FrontSettings {
                hosts,
                proxies,
                limits: self.limits.clone(),
                metrics: self.metrics.clone(),
                classes,
                entropy: Arc::new(SystemEntropy),
                hsts: !self.local,
            })
        };
        let hosts = match self.is_direct {
            true => self.hosts.clone().naming_plain_origins(),
            false => self.hosts.clone(),
        };
        let public = front(hosts, self.proxies.clone(), classes);
        let own_names = AllowedHosts::new(self.hosts.names().to_vec(), true);
        let operator_classes = RouteClasses::new(OPERATOR_ROUTES.map(|route| ("operator", route)));
        let operator = front(own_names.clone(), TrustedProxies::default(), operator_classes);
        // Sockets of a protocol's own carry HTTP on loopback alone.
        let local_classes = RouteClasses::new(self.own.http_names().map(|protocol| (protocol, "/{*path}")));
        let local = front(own_names, self.proxies.clone(), local_classes);
        let shared = Shared { limits: self.limits.clone(), metrics: self.metrics.clone(), front: local };
        let router = live.shared();
        let (certificates, authority) = (self.certificates, self.authority);
        let renewal = certificates.watch(RELOAD_EVERY, || {
            if let Some(Err(error)) = authority.as_ref().map(Authority::ensure) {
                tracing::error!(?error, "the local certificate could not be renewed");
            }
        });
        tokio::select! {
            _ = async { tokio::join!(
                self.http.serve(public.clone(), router.clone(), stop.clone()),
                self.https.serve(public.clone(), router.clone(), stop.clone()),
                self.admin.serve(operator, admin, stop.clone()),
                self.own.serve(&live, shared, stop.clone()),
            ) } => {}
            () = renewal => {}
        }
    }
}

impl Authority {
    fn ensure(&self) -> Result<CertificateFiles, Error> {
        local_ca::ensure(&self.folder, &self.domain, Timestamp::now()).map_err(yours)
    }
}

/// The names that requests may ask for.
fn names(deployment: &Deployment) -> Vec<String> {
    let domain = deployment.top.domain.as_str().to_owned();
    let public = deployment.top.public_url.as_deref().and_then(|url| url::Url::parse(url).ok());
    let public = public.and_then(|url| url.host_str().map(str::to_owned)).filter(|host| *host != domain);
    std::iter::once(domain).chain(public).collect()
}

fn yours(error: impl std::fmt::Display) -> Error {
    Error::new(error.to_string())
}

fn taken(error: ServeError, flag: &str) -> Error {
    let hint = match &error {
        ServeError::PlainOffLoopback(_) => format!("{flag} 127.0.0.1:PORT listens on loopback"),
        ServeError::Bind { .. } | ServeError::Tls(_) => {
            format!("{flag} ADDR listens elsewhere; port 0 takes a free one")
        }
    };
    Error::new(error.to_string()).hint(hint)
}
