//! A deployment at work for its tests: a real server in this process, in a folder that is gone with it.

use std::collections::{BTreeSet, HashMap};
use std::net::Ipv4Addr;
use std::sync::Arc;

use forecourt::sandbox::{Sandbox, make_api_key};
use forecourt::{Deployment, Server};
use forecourt_acceptance::settings::SenderSettings;
use forecourt_acceptance::wire::Peer;
use forecourt_acceptance::{TestFiles, TestHost};
use forecourt_core::Timestamp;
use forecourt_egress::recordings::Recordings;
use forecourt_egress::{Egress, EgressConfig, Resolve, Resolving};
use forecourt_server::local_ca::ca_certificate;
use forecourt_settings::{Environment, ProcessEnvironment};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{StandInEnvironment, log};
use crate::args::Test;
use crate::output::Failure;

/// A server, and what the tests need of it.
pub(super) struct Bench {
    server: Server,
    sandbox: Sandbox,
    recordings: Option<Arc<Recordings>>,
    environment: StandInEnvironment,
    /// The way to it, which trusts its certificate.
    egress: Egress,
    base: String,
    default_agent: String,
    agents: BTreeSet<String>,
    /// The secrets of the API keys of the tests, by their names.
    keys: HashMap<String, String>,
    /// Removed with all that is in it.
    _data: TempDir,
}

/// Every name is this machine's: the domain of a deployment that is tested leads to the test.
struct LoopbackResolver;

impl Resolve for LoopbackResolver {
    fn resolve<'a>(&'a self, _: &'a str) -> Resolving<'a> {
        Box::pin(async { Ok(vec![Ipv4Addr::LOCALHOST.into()]) })
    }
}

impl Bench {
    /// Serves the deployment.
    pub(super) async fn start(
        test: &Test,
        files: &TestFiles,
        recordings: Option<Arc<Recordings>>,
    ) -> Result<Self, Failure> {
        let data = tempfile::tempdir().map_err(|error| Failure::ours(format!("no folder for its state: {error}")))?;
        let environment = StandInEnvironment::new();
        // Who is really asked is asked with the real keys.
        let is_replayed = recordings.is_some() && !test.record;
        let chosen: &dyn Environment = if is_replayed { &environment } else { &ProcessEnvironment };
        let (sandbox, mut deployment) =
            Sandbox::read(&test.dir, &data.path().join("state"), chosen, recordings.clone())?;
        if is_replayed {
            deployment = deployment.with_stand_in_keys();
        }
        log(&deployment)?;
        let keys = keys_of(files, &deployment).await?;
        let bound = Server::bind(&mut deployment).await?;
        let house = deployment.build()?;
        house.missing_content().into_result(())?;
        house.refused_endpoints().clone().into_result(())?;
        let server = bound.start(house).await?;
        let host = server.host();
        let egress = way_to(&server)?;
        let agents = host.directory().iter().map(|resident| resident.card.handle().as_str().to_owned()).collect();
        let default_agent = host.directory().default_agent().card.handle().as_str().to_owned();
        let base = host.site().base.clone();
        Ok(Self { server, sandbox, recordings, environment, egress, base, default_agent, agents, keys, _data: data })
    }

    /// Where it is, for a program that asks it.
    pub(super) fn places(&self) -> Value {
        let listen = self.server.addresses().shared;
        let (http, https) = (listen.http.port(), listen.https.port());
        let domain = self.server.host().site().domain.clone();
        let ca = ca_certificate(&self.server.data_folder());
        json!({"domain": domain, "http_port": http, "https_port": https, "ca": ca, "default_agent": self.default_agent,
            "agents": self.agents})
    }

    /// The handles of its agents.
    pub(super) fn agents(&self) -> &BTreeSet<String> {
        &self.agents
    }

    /// The variables that its files name and that are not set.
    pub(super) fn unset(&self) -> Vec<String> {
        self.environment.unset()
    }

    /// Stops it, and removes what it kept.
    pub(super) async fn end(self) {
        self.server.shutdown().await;
    }
}

/// The API keys that the tests name, made before the store is the server's.
async fn keys_of(files: &TestFiles, deployment: &Deployment) -> Result<HashMap<String, String>, Failure> {
    let mut keys = HashMap::new();
    for test in &files.tests {
        let SenderSettings { api_key: Some(name), scopes, .. } = &test.sender else { continue };
        if !keys.contains_key(name) {
            keys.insert(name.clone(), make_api_key(deployment, name, scopes).await?);
        }
    }
    Ok(keys)
}

fn way_to(server: &Server) -> Result<Egress, Failure> {
    let file = ca_certificate(&server.data_folder());
    let pem = std::fs::read(&file).map_err(|error| Failure::ours(format!("{}: {error}", file.display())))?;
    let builder = Egress::builder(EgressConfig::default()).trust_pem(pem).resolver(Arc::new(LoopbackResolver));
    builder.build().map_err(|error| Failure::ours(error.to_string()))
}

impl TestHost for Bench {
    fn peer(&self, agent: Option<&str>) -> Peer {
        Peer {
            egress: self.egress.clone(),
            base: self.base.clone(),
            agent: agent.unwrap_or(&self.default_agent).to_owned(),
            bearer: None,
            language: None,
        }
    }

    fn bearer<'a>(&'a self, sender: &'a SenderSettings) -> BoxFuture<'a, Result<Option<String>, String>> {
        Box::pin(async move {
            let SenderSettings { subject, issuer, claims, api_key, scopes, token } = sender;
            if let Some(token) = token {
                return Ok(Some(token.clone()));
            }
            if let Some(name) = api_key {
                return Ok(self.keys.get(name).cloned());
            }
            let Some(subject) = subject else { return Ok(None) };
            self.sandbox.token(subject, issuer.as_deref(), claims, scopes, Timestamp::now()).map(Some)
        })
    }

    fn begin(&self) {
        if let Some(recordings) = &self.recordings {
            recordings.begin();
        }
    }

    fn missing(&self) -> Vec<String> {
        self.recordings.as_ref().map(|recordings| recordings.missing()).unwrap_or_default()
    }

    fn cost_micros(&self) -> u64 {
        self.sandbox.cost_micros()
    }
}
