//! The guarded client, put together.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use forecourt_core::in_place;
use futures::future::BoxFuture;
use http::HeaderMap;
use tokio::sync::Semaphore;

use crate::config::EgressConfig;
use crate::dial::Dialer;
use crate::error::EgressError;
use crate::exchange::{DeliveryOutcome, FetchedBody, UpstreamRequest, UpstreamResponse};
use crate::guard::{Guard, Own};
use crate::inner::Inner;
use crate::limits::UPSTREAM_AT_ONCE_MAX;
use crate::metrics::EgressMetrics;
use crate::purpose::Purpose;
use crate::recordings::Recordings;
use crate::resolve::{Resolve, SystemResolver};
use crate::setup_error::SetupError;
use crate::slots::Slots;
use crate::target::CheckedUrl;
use crate::trust::Trust;

/// The guarded client. Cheap to clone; one for the whole process.
#[derive(Clone)]
pub struct Egress {
    pub(crate) inner: Arc<Inner>,
}

impl Egress {
    /// Begins a client under `config`.
    pub fn builder(config: EgressConfig) -> EgressBuilder {
        EgressBuilder {
            config,
            base: PathBuf::new(),
            own: Own::default(),
            pems: Vec::new(),
            trusts_everyone: false,
            metrics: Arc::default(),
            resolver: Arc::new(SystemResolver),
            recordings: None,
        }
    }

    /// Whether `url` may be reached for `purpose` now: resolves and checks, and opens no socket to
    /// the target. For registrations; every delivery is checked again.
    pub fn permits<'a>(&'a self, purpose: Purpose, url: &'a str) -> BoxFuture<'a, Result<(), EgressError>> {
        Box::pin(async move {
            let target = CheckedUrl::parse(url)?;
            self.inner.guard.admit(purpose, &target).await?;
            Ok(())
        })
    }

    /// Whether `url` may ever be reached for `purpose`, as far as that can be told without asking for its
    /// address. For settings; every request is checked again.
    pub fn foresees(&self, purpose: Purpose, url: &str) -> Result<(), EgressError> {
        let target = CheckedUrl::parse(url)?;
        Ok(self.inner.guard.foresee(purpose, &target)?)
    }

    /// Fetches a document whole. Fails on every status but 2xx.
    pub fn get(&self, purpose: Purpose, url: &str) -> BoxFuture<'_, Result<FetchedBody, EgressError>> {
        self.fetch(purpose, UpstreamRequest::get(url))
    }

    /// Sends `request` and reads the answer whole. Fails on every status but 2xx.
    pub fn fetch(&self, purpose: Purpose, request: UpstreamRequest) -> BoxFuture<'_, Result<FetchedBody, EgressError>> {
        Box::pin(async move {
            let bounds = request.deadlines.unwrap_or_else(|| purpose.deadlines(&self.inner.guard.config));
            self.inner.exchange(purpose, request).await?.fetched(bounds.body_bytes_max).await
        })
    }

    /// Posts `body` once and says what the receiver answered. A redirect is no success; nothing of
    /// the answer's body is kept.
    pub fn post<'a>(
        &'a self,
        purpose: Purpose,
        url: &'a str,
        headers: HeaderMap,
        body: Bytes,
    ) -> BoxFuture<'a, Result<DeliveryOutcome, EgressError>> {
        Box::pin(async move {
            let request = UpstreamRequest { headers, ..UpstreamRequest::post(url, body) };
            let answer = self.inner.exchange(purpose, request).await?;
            let delivered = DeliveryOutcome { status: answer.status };
            // The delivery is settled by the head; letting the receiver finish is politeness.
            answer.body.drained().await;
            Ok(delivered)
        })
    }

    /// Sends `request` and gives the answer as it comes, whatever its status.
    pub fn send(
        &self,
        purpose: Purpose,
        request: UpstreamRequest,
    ) -> BoxFuture<'_, Result<UpstreamResponse, EgressError>> {
        in_place(|| self.inner.exchange(purpose, request))
    }

    /// [`Egress::send`] to a backend whose URL the operator wrote down.
    pub fn send_upstream(&self, request: UpstreamRequest) -> BoxFuture<'_, Result<UpstreamResponse, EgressError>> {
        self.send(Purpose::Upstream, request)
    }

    /// The configuration in force.
    pub fn config(&self) -> &EgressConfig {
        &self.inner.guard.config
    }
}

impl std::fmt::Debug for Egress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Egress").field("config", self.config()).finish_non_exhaustive()
    }
}

/// A client in the making.
pub struct EgressBuilder {
    config: EgressConfig,
    base: PathBuf,
    own: Own,
    pems: Vec<Vec<u8>>,
    trusts_everyone: bool,
    metrics: Arc<EgressMetrics>,
    resolver: Arc<dyn Resolve>,
    recordings: Option<Arc<Recordings>>,
}

impl EgressBuilder {
    /// The deployment folder, which `ca_files` are relative to.
    #[must_use]
    pub fn base(mut self, folder: impl Into<PathBuf>) -> Self {
        self.base = folder.into();
        self
    }

    /// An origin of this host: `host`, `host:port` (443 when absent) or a whole `https://host:port`.
    /// Webhooks and attachments may not name its host, callbacks not its host and port. May be given
    /// several times.
    pub fn own_host(mut self, origin: &str) -> Result<Self, SetupError> {
        let wrong = || SetupError::OwnHost(origin.to_owned());
        let target = match origin.contains("://") {
            true => CheckedUrl::parse(origin),
            false => CheckedUrl::parse(&format!("https://{origin}/")),
        };
        let target = target.map_err(|_| wrong())?;
        self.own.origins.push((target.host(), target.port()));
        Ok(self)
    }

    /// An address of this host that callers may not make it call; port 0 stands for every port.
    #[must_use]
    pub fn own_address(mut self, address: SocketAddr) -> Self {
        self.own.addresses.push(address);
        self
    }

    /// Trusts the certificate authorities of a PEM text too, such as the development CA.
    #[must_use]
    pub fn trust_pem(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.pems.push(pem.into());
        self
    }

    /// Trusts every certificate, of whomever. For a tool whose user asked for just that; never for a
    /// host.
    #[must_use]
    pub fn trust_everyone(mut self) -> Self {
        self.trusts_everyone = true;
        self
    }

    /// Counts in `metrics`, which several clients may share.
    #[must_use]
    pub fn metrics(mut self, metrics: Arc<EgressMetrics>) -> Self {
        self.metrics = metrics;
        self
    }

    /// Asks `resolver` for addresses instead of the machine.
    #[must_use]
    pub fn resolver(mut self, resolver: Arc<dyn Resolve>) -> Self {
        self.resolver = resolver;
        self
    }

    /// Answers every request from `recordings`, or records what it is answered: for tests of a deployment.
    #[must_use]
    pub fn recordings(mut self, recordings: Arc<Recordings>) -> Self {
        self.recordings = Some(recordings);
        self
    }

    /// Reads the certificates that were added, and makes a client. Those of the system are read when TLS is needed.
    pub fn build(self) -> Result<Egress, SetupError> {
        let mut trust = Trust::default();
        for path in &self.config.ca_files {
            trust.add_file(&self.base.join(path))?;
        }
        for pem in &self.pems {
            trust.add_pem(pem, "the added PEM text")?;
        }
        if self.trusts_everyone {
            trust.add_everyone();
        }
        let judge = Arc::new(trust.into_judge()?);
        let dialer = Dialer::new(judge.clone(), self.resolver.clone());
        let slots = Slots::new(self.config.max_concurrent.get(), self.config.max_concurrent_per_host.get());
        let guard = Guard { config: self.config, own: self.own, resolver: self.resolver };
        let upstream_turns = Arc::new(Semaphore::new(UPSTREAM_AT_ONCE_MAX));
        let (metrics, recordings) = (self.metrics, self.recordings);
        Ok(Egress { inner: Arc::new(Inner { guard, dialer, slots, upstream_turns, judge, metrics, recordings }) })
    }
}
