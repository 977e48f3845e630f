//! A deployment that is tested: the same agents, rules, endpoints and protocols, apart from the world. It keeps its
//! state in a folder that the test made, listens on free ports of this machine, orders no certificate, tells no
//! operator, no collector and no other node of anything, and sends what goes out to recordings.
//!
//! It is changed after it was read and before it is built, in this one place: what is built of it can't tell the
//! difference, and so can't behave otherwise in a test.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::scope::ScopeSet;
use forecourt_core::{Entropy, Timestamp};
use forecourt_egress::recordings::Recordings;
use forecourt_host::{Rate, SystemEntropy};
use forecourt_identity::api_keys::{ApiKeyRequest, ApiKeys};
use forecourt_identity::{BearerConfig, KeyConfig, SigningKey, jws};
use forecourt_settings::{Environment, Problems};
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::agents::Backing;
use crate::alerts::AlertPlan;
use crate::deployment::Deployment;
use crate::error::Error;
use crate::model_metrics::ModelMetrics;
use crate::settings::telemetry::SignalUrls;
use crate::settings::{BusSettings, DrainSettings, Listen, ListenOverrides, Log, ReloadSettings, StoreSettings, Tls};
use crate::storage;

/// Whose tokens are believed where the deployment names no issuer of its own.
pub const ISSUER: &str = "https://tests.localhost";
/// In the place of a secret that is not here: long enough for each of them, 32 bytes in hexadecimal, and drawn to look
/// at, so that a request with a key in its path is found among the recordings, which have no ids.
pub const STAND_IN: &str = "0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f";
/// For how long a token of a test holds.
const TOKEN_TIME: Duration = Duration::from_secs(3600);
/// Requests a second of the one address from which all tests come.
const REQUESTS: NonZeroU32 = NonZeroU32::new(100_000).unwrap();

/// What whoever tests a deployment has in hand.
pub struct Sandbox {
    key: SigningKey,
    /// Each issuer whose tokens are believed, with an audience that means this host.
    issuers: Vec<(String, String)>,
    models: Arc<ModelMetrics>,
}

impl Sandbox {
    /// Reads the deployment in `folder` for a test that keeps its state in `data`. Without recordings requests go out
    /// as they do when it is served.
    ///
    /// # Errors
    /// As [`Deployment::read`].
    pub fn read(
        folder: &Path,
        data: &Path,
        environment: &dyn Environment,
        recordings: Option<Arc<Recordings>>,
    ) -> Result<(Self, Deployment), Problems> {
        let read = |overrides: &ListenOverrides| Deployment::read_with(folder, environment, overrides);
        let mut overrides = ListenOverrides::free_ports();
        // Only a deployment that was read knows which sockets its protocols want.
        let wanted = read(&overrides)?.wires.listens();
        let wanted = wanted.into_iter().filter(|listen| listen.address.is_some());
        overrides.own.extend(wanted.map(|listen| (listen.name.to_owned(), free())));
        let mut deployment = read(&overrides)?.with_data_folder(data);
        (deployment.recordings, deployment.is_sandboxed) = (recordings, true);
        let key = SigningKey::generate(&SystemEntropy);
        let issuers = trust(&mut deployment, &key);
        seclude(&mut deployment);
        let models = deployment.meters.models.clone();
        Ok((Self { key, issuers, models }, deployment))
    }

    /// What models have cost until now, in millionths of a unit of money.
    pub fn cost_micros(&self) -> u64 {
        self.models.cost_micros()
    }

    /// A bearer token of `subject` that the deployment believes, as if `issuer` had made it; the first one of the
    /// deployment where none is named.
    ///
    /// # Errors
    /// The deployment knows no such issuer.
    pub fn token(
        &self,
        subject: &str,
        issuer: Option<&str>,
        claims: &Map<String, Value>,
        scopes: &[String],
        now: Timestamp,
    ) -> Result<String, String> {
        let known = || self.issuers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        let found = match issuer {
            Some(issuer) => self.issuers.iter().find(|(name, _)| name == issuer),
            None => self.issuers.first(),
        };
        let (issuer, audience) = found.ok_or_else(|| {
            format!("[identity] has no issuer `{}`: there is {}", issuer.unwrap_or_default(), known())
        })?;
        let now = now.as_second();
        let until = now.saturating_add(i64::try_from(TOKEN_TIME.as_secs()).unwrap_or(i64::MAX));
        let mut all = json!({"iss": issuer, "sub": subject, "aud": audience, "iat": now, "nbf": now, "exp": until});
        if !scopes.is_empty() {
            all["scope"] = scopes.join(" ").into();
        }
        // Whoever writes an `exp` or an `aud` of their own tests just that.
        all.as_object_mut().into_iter().for_each(|all| all.extend(claims.clone()));
        Ok(jws::sign(&self.key, "JWT", all.to_string().as_bytes()))
    }
}

impl Deployment {
    /// The same deployment, whose providers need no key: those that look for one in the environment find a stand-in
    /// where there is none. For tests in which nobody is asked.
    #[must_use]
    pub fn with_stand_in_keys(self) -> Self {
        Self { variable: |name| std::env::var(name).ok().or_else(|| Some(STAND_IN.to_owned())), ..self }
    }
}

/// Makes an API key of this name in the store of a deployment that is tested.
///
/// # Errors
/// A sentence: the name or a scope is none, or the store can't be written.
pub fn make_api_key<'a>(
    deployment: &'a Deployment,
    name: &'a str,
    scopes: &'a [String],
) -> BoxFuture<'a, Result<String, Error>> {
    Box::pin(async move {
        let wrong = |error: String| Error::new(format!("the API key `{name}`: {error}"));
        let scopes =
            ScopeSet::parse_all(scopes.iter().map(String::as_str)).map_err(|error| wrong(error.to_string()))?;
        let data = crate::data_folder::make(deployment.data_folder())?;
        let keys = ApiKeys::new(storage::shared_store(deployment, &data).await?);
        let wish = ApiKeyRequest { name: name.to_owned(), scopes, limit: None, expires_at: None };
        let entropy: &dyn Entropy = &SystemEntropy;
        let made = keys.create(wish, entropy, Timestamp::now()).await.map_err(|error| wrong(error.to_string()))?;
        Ok(made.secret.expose().to_owned())
    })
}

/// Has the deployment believe the tokens of the tests as those of its own issuers, so that its rules see the subjects
/// that they were written for. Gives the issuers.
fn trust(deployment: &mut Deployment, key: &SigningKey) -> Vec<(String, String)> {
    let jwk = key.public().to_jwk().as_object().cloned();
    let ours = KeyConfig { jwk, ..KeyConfig::default() };
    let all = &mut deployment.identity.bearer;
    if all.is_empty() {
        all.push(BearerConfig {
            issuer: ISSUER.to_owned(),
            audience: vec![format!("https://{}", deployment.top.domain)],
            jwks_url: None,
            keys: Vec::new(),
            subject_prefix: None,
            require_not_before: false,
        });
    }
    for issuer in all.iter_mut() {
        // Keys from a URL would have to be fetched, and a test asks nobody.
        issuer.jwks_url = None;
        issuer.keys.push(ours.clone());
    }
    let named = all.iter().filter_map(|issuer| Some((issuer.issuer.clone(), issuer.audience.first()?.clone())));
    named.collect()
}

/// Takes away all by which a deployment reaches for the world, or the world for it.
fn seclude(deployment: &mut Deployment) {
    deployment.listen = Listen { http: free(), https: free(), admin: free() };
    deployment.tls = Tls::default();
    deployment.tls.acme.enabled = Some(false);
    deployment.top.public_url = None;
    deployment.store = StoreSettings::default();
    deployment.bus = BusSettings::default();
    deployment.log = Log::default();
    deployment.monitoring = None;
    deployment.operator = None;
    deployment.alerts = AlertPlan::default();
    deployment.telemetry.urls = SignalUrls::default();
    deployment.reload = ReloadSettings { watch: false };
    deployment.drain = DrainSettings::default();
    // All tests come from one address.
    let rate = Rate { per_second: REQUESTS, burst: REQUESTS };
    (deployment.limits.per_address, deployment.limits.per_session) = (rate, rate);
    for agent in &mut deployment.agents {
        // What an engine elsewhere keeps would be changed by indexing: the items of a test are indexed here.
        if let Backing::Section(backend) = &mut agent.backing {
            drop(backend.take("engine"));
        }
    }
}

/// Any port of this machine that is free.
fn free() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

#[cfg(test)]
mod tests {
    use forecourt_egress::recordings::RecordingMode;

    use super::*;
    use crate::Server;

    const OPEN: &str = "domain = \"shop.example.com\"\npublic_url = \"https://shop.example.com\"\n\
        [listen]\nhttp = \"0.0.0.0:80\"\nhttps = \"0.0.0.0:443\"\n[tls.acme]\nenabled = true\n[agtp]\nlisten = \"0.0.0.0:4480\"\n\
        [store]\nkind = \"postgres\"\nurl = \"postgres://u:p@db/x\"\nkey = \"${KEY}\"\n[metrics]\nlisten = \"0.0.0.0:9090\"\ntoken = \"0123456789abcdef0123456789abcdef\"\n\
        [telemetry]\nendpoint = \"https://collector.example\"\n[bus]\nurl = \"nats://bus:4222\"\n\
        [[identity.bearer]]\nissuer = \"https://id.example\"\naudience = [\"shop\"]\njwks_url = \"https://id.example/keys\"\n";

    fn read(text: &str) -> (tempfile::TempDir, Sandbox, Deployment) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("agents")).unwrap();
        std::fs::write(folder.path().join("forecourt.toml"), text).unwrap();
        let agent = "handle = \"echo\"\nname = \"Echo\"\n[backend]\nkind = \"echo\"";
        std::fs::write(folder.path().join("agents/echo.toml"), agent).unwrap();
        let recordings = Recordings::open(&folder.path().join("tests/recorded"), RecordingMode::Replay).unwrap();
        let environment = |name: &str| (name == "KEY").then(|| "0".repeat(64));
        let read = Sandbox::read(folder.path(), &folder.path().join("data"), &environment, Some(Arc::new(recordings)));
        let (sandbox, deployment) = read.unwrap_or_else(|problems| panic!("{problems}"));
        (folder, sandbox, deployment)
    }

    #[tokio::test]
    async fn what_is_open_to_the_world_is_closed_and_serves() {
        let (folder, sandbox, mut deployment) = read(OPEN);
        let key = make_api_key(&deployment, "nightly", &["orders:read".to_owned()]).await.unwrap();
        assert!(!key.is_empty() && !deployment.is_shared());
        let bound = Server::bind(&mut deployment).await.unwrap();
        let server = bound.start(deployment.build().unwrap()).await.unwrap();
        let addresses = server.addresses();
        let own = addresses.own.iter().map(|(_, address)| *address);
        let all: Vec<SocketAddr> =
            [addresses.shared.http, addresses.shared.https, addresses.shared.admin].into_iter().chain(own).collect();
        assert!(all.len() > 3 && all.iter().all(|address| address.ip().is_loopback()), "{all:?}");
        assert!(all.iter().all(|address| ![80, 443, 4480, 9080, 9090].contains(&address.port())), "{all:?}");
        assert!(server.data_folder().starts_with(folder.path().canonicalize().unwrap()));
        assert!(!folder.path().join(".forecourt").exists() && server.certificate_notice().is_none());
        assert_eq!(sandbox.cost_micros(), 0);
        server.shutdown().await;
    }

    #[test]
    fn tokens_are_those_of_the_issuers_that_rules_were_written_for() {
        let (_folder, sandbox, deployment) = read(OPEN);
        let bearer = &deployment.identity.bearer[0];
        assert_eq!((bearer.jwks_url.as_deref(), bearer.keys.len()), (None, 1));
        let token = |issuer| sandbox.token("ada", issuer, &Map::new(), &[], Timestamp::now());
        assert!(token(Some("https://id.example")).is_ok() && token(None).is_ok());
        assert!(token(Some("https://else.example")).unwrap_err().contains("https://id.example"));
        let (_folder, sandbox, _) = read("domain = \"demo.localhost\"\n");
        assert!(sandbox.token("ada", Some(ISSUER), &Map::new(), &[], Timestamp::now()).is_ok());
    }
}
