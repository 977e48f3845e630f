//! A host at work in a house, and how another house takes its place.

use std::sync::{Arc, Weak};

use arc_swap::ArcSwap;
use forecourt_contract::HostServices;
use forecourt_core::Store;
use forecourt_egress::{Egress, Purpose};
use forecourt_host::{Directory, Host, HostBuilder, HostParts, HostedAgent, OperatorWebhook};
use forecourt_identity::agents::IdentityNotice;
use forecourt_identity::api_keys::ApiKeys;
use forecourt_identity::{HostKeys, Verifier};
use forecourt_settings::{Problem, Problems};
use forecourt_surface::{Mount, PublishedDocument, Surface, endpoint};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::deployment::Deployment;
use crate::error::Error;
use crate::house::House;
use crate::identities;
use crate::live::{LiveHouse, OpenHouse};
use crate::questions;
use crate::storage::{Storage, remember_signing};
use crate::watch;

/// A host at work, with what lasts from one house to the next: the store, the keys, everything under way.
pub struct Running {
    live: Arc<LiveHouse>,
    storage: Storage,
    store: Arc<dyn Store>,
    keys: Arc<ArcSwap<HostKeys>>,
    api_keys: Arc<ApiKeys>,
    stop: CancellationToken,
    latest: Mutex<Latest>,
    /// One replacement after another.
    replacing: tokio::sync::Mutex<()>,
}

/// What is known of the houses so far.
struct Latest {
    deployment: Arc<Deployment>,
    mount: Mount,
    /// What there is to say about the files of agents' identities.
    notices: Arc<[IdentityNotice]>,
    /// Every host that may still be at work.
    hosts: Vec<Weak<Host>>,
}

/// A house that is ready to be opened, with nothing changed so far.
struct Mounted {
    open: OpenHouse,
    mount: Mount,
    notices: Arc<[IdentityNotice]>,
    deployment: Arc<Deployment>,
    ended: CancellationToken,
}

impl Running {
    /// Puts a host to work in a house, until `stop`. Nobody can reach it yet but those inside.
    ///
    /// # Errors
    /// What of the settings does not fit the host, at once; or the store can't be opened.
    pub async fn start(house: House, storage: Storage, stop: CancellationToken) -> Result<Self, Error> {
        let store = storage.store(&house.deployment)?;
        let keys = Arc::new(ArcSwap::from_pointee(storage.keys()?));
        if let Storage::Kept(_) = storage {
            remember_signing(&store, keys.load().current().kid()).await?;
        }
        let standings = storage.standings(&house.deployment)?;
        let live = Arc::new(LiveHouse::default());
        let Opening { parts, house } = Opening::of(house, &storage)?;
        let mut builder = HostBuilder::new(parts.site, parts.directory, store.clone(), parts.egress);
        builder.standings = standings;
        builder.operator = parts.operator;
        builder.limits = parts.limits;
        builder.envelopes = parts.envelopes;
        builder.couriers = parts.couriers;
        builder.schemes = parts.schemes;
        builder.contract = parts.contract;
        builder.rules = parts.rules;
        let host = builder.start(stop.clone()).await.map_err(|error| Error::new(error.to_string()))?;
        let api_keys = Arc::new(ApiKeys::new(store.clone()));
        let around =
            Around { live: &live, storage: &storage, store: &store, keys: &keys, api_keys: &api_keys, stop: &stop };
        let mounted = around.mount(house, host)?;
        let latest = Latest {
            deployment: mounted.deployment.clone(),
            mount: mounted.mount.clone(),
            notices: mounted.notices.clone(),
            hosts: Vec::new(),
        };
        let running = Self {
            latest: Mutex::new(latest),
            replacing: tokio::sync::Mutex::default(),
            live,
            storage,
            store,
            keys,
            api_keys,
            stop,
        };
        running.open(mounted);
        Ok(running)
    }

    /// Puts another house in the place of this one, whole: requests, streams and tasks under way keep the old
    /// one to their end, new ones meet the new one. The store, everything under way, counters, sessions and
    /// listeners stay.
    ///
    /// # Errors
    /// What of the new house does not fit the host: then nothing has changed.
    pub async fn replace(&self, house: House) -> Result<(), Error> {
        let _one_at_a_time = self.replacing.lock().await;
        let before = self.host();
        let (now, then) = (&house.site, before.site());
        if now.domain != then.domain || now.origin != then.origin {
            let text = format!("{} can't become {} while it is served", then.origin, now.origin);
            return Err(Error::new(text).hint("restart the server to serve another domain or address"));
        }
        let Opening { parts, house } = Opening::of(house, &self.storage)?;
        let host = before.replaced_by(parts).await.map_err(|error| Error::new(error.to_string()))?;
        let Self { live, storage, store, keys, api_keys, stop, .. } = self;
        let mounted = Around { live, storage, store, keys, api_keys, stop }.mount(house, host)?;
        let agents = mounted.open.host.directory().iter().count();
        self.open(mounted);
        tracing::info!(agents, houses = self.houses(), "the deployment was replaced");
        Ok(())
    }

    /// From here on everybody meets this house.
    fn open(&self, mounted: Mounted) {
        let Mounted { open, mount, notices, deployment, ended } = mounted;
        open.host.take_over();
        if let Storage::Kept(_) | Storage::Apart { .. } = self.storage {
            tokio::spawn(watch::content(open.contents.clone(), ended.clone()));
        }
        let mut latest = self.latest.lock();
        latest.hosts.retain(|host| host.strong_count() > 0);
        latest.hosts.push(Arc::downgrade(&open.host));
        (latest.mount, latest.notices, latest.deployment) = (mount, notices, deployment);
        self.live.open(open);
    }

    /// The host as it stands now. Hold it for a request and no longer.
    pub fn host(&self) -> Arc<Host> {
        self.latest.lock().mount.host.clone()
    }

    /// How many houses are not gone yet: one, and each that was replaced and still has requests under way.
    pub fn houses(&self) -> usize {
        self.latest.lock().hosts.iter().filter(|host| host.strong_count() > 0).count()
    }

    /// What there is to say about the files of agents' identities.
    pub fn identity_notices(&self) -> Arc<[IdentityNotice]> {
        self.latest.lock().notices.clone()
    }

    /// What every protocol publishes that is the same for every caller.
    ///
    /// # Errors
    /// Everything that is wrong with any of them.
    pub fn documents(&self) -> Result<Vec<PublishedDocument>, Problems> {
        let (deployment, mount) = self.deployment_and_mount();
        deployment.wires.documents(&mount)
    }

    /// Serves one client over standard input and output, by the first protocol that is spoken there.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn stdio(&self) -> Result<Option<BoxFuture<'static, ()>>, Problems> {
        let (deployment, mount) = self.deployment_and_mount();
        deployment.wires.stdio(&mount)
    }

    pub(crate) fn live(&self) -> &Arc<LiveHouse> {
        &self.live
    }

    pub(crate) fn keys(&self) -> &Arc<ArcSwap<HostKeys>> {
        &self.keys
    }

    fn deployment_and_mount(&self) -> (Arc<Deployment>, Mount) {
        let latest = self.latest.lock();
        (latest.deployment.clone(), latest.mount.clone())
    }
}

/// A house taken apart: what the host is made of, and the rest.
struct Opening {
    parts: HostParts,
    house: House,
}

impl Opening {
    fn of(mut house: House, storage: &Storage) -> Result<Self, Error> {
        let agents: Vec<HostedAgent> = std::mem::take(&mut house.agents);
        let deployment = &house.deployment;
        let default = deployment.top.default_agent.as_ref().ok_or_else(|| Error::new("there is no agent"))?;
        let directory = Directory::new(agents, default).map_err(|error| Error::new(error.to_string()))?;
        // A host apart has a queue of its own, so its questions would be told under ids that `/queue` does not
        // know.
        let is_apart = matches!(storage, Storage::Apart { .. });
        let operator = operator(deployment, &house.egress)?.filter(|_| !is_apart);
        let parts = HostParts {
            site: house.site.clone(),
            directory,
            egress: house.egress.clone(),
            limits: deployment.limits.clone(),
            contract: house.endpoints.contract.clone(),
            operator,
            envelopes: deployment.wires.envelopes(),
            couriers: deployment.wires.couriers(&house.egress, &house.site),
            rules: house.rules.clone(),
            schemes: house.payments.schemes(),
        };
        house.payments.begin_check();
        Ok(Self { parts, house })
    }
}

/// What is around every house.
struct Around<'a> {
    live: &'a Arc<LiveHouse>,
    storage: &'a Storage,
    store: &'a Arc<dyn Store>,
    keys: &'a Arc<ArcSwap<HostKeys>>,
    api_keys: &'a Arc<ApiKeys>,
    stop: &'a CancellationToken,
}

impl Around<'_> {
    /// Sets up every protocol of a house on its host.
    fn mount(&self, house: House, host: Arc<Host>) -> Result<Mounted, Error> {
        let House { deployment, egress, identities, endpoints, contents, questions, .. } = house;
        endpoints.host.bind(self.live);
        let services = Arc::new(HostServices::new(endpoints.host.clone()));
        services.publish(host.clone());
        if let Some(log) = &questions {
            // Pages that show thumbs ask whether there is one.
            services.publish(log.clone());
        }
        let (agents, notices) = identities::load(&deployment, identities, &host, &self.keys.load(), self.storage);
        let agents = Arc::new(agents);
        let verifier = verifier(&deployment, &egress, self.store)?;
        let verifier = verifier.with_api_keys(self.api_keys.clone());
        let verifier = verifier.with_agents(agents.clone(), host.site().domain.clone());
        let mount = Mount {
            host: host.clone(),
            verifier: Arc::new(verifier),
            agents,
            keys: self.keys.clone(),
            egress,
            folder: deployment.dir.clone(),
            data: deployment.data.clone(),
            tools: Arc::new([]),
            pages: deployment.pages.clone(),
            services: services.clone(),
        };
        let tools = deployment.wires.tools(&mount).chain(endpoint::tools(&mount.host)).collect();
        let mount = Mount { tools, ..mount };
        let (mut surfaces, classes) = deployment.wires.surfaces(&mount, deployment.root.file())?;
        surfaces.extend(questions.map(|log| Surface::Http(questions::feedback_routes(log, mount.host.clone()))));
        let ended = self.stop.child_token();
        let open = OpenHouse::new(host, services, contents, (surfaces, classes), ended.clone());
        Ok(Mounted { open, mount, notices: notices.into(), deployment: Arc::new(deployment), ended })
    }
}

/// Proof in, sender out: the configured keys, and those that protocols can find.
fn verifier(deployment: &Deployment, egress: &Arc<Egress>, store: &Arc<dyn Store>) -> Result<Verifier, Problems> {
    let verifier = Verifier::new(&deployment.identity, &deployment.dir, egress.clone()).map_err(|wrong| {
        let mut problems = Problems::new();
        wrong.iter().for_each(|w| problems.push(Problem::of_file(deployment.root.file(), w.to_string())));
        problems
    })?;
    if let Some(oidc) = verifier.oidc() {
        egress.foresees(Purpose::SignIn, &oidc.issuer).map_err(|error| {
            let text = format!("`issuer` in [identity.oidc] can't be reached: {error}");
            let problem = Problem::of_file(deployment.root.file(), text);
            let hint = "networks of your own are opened by `allow` in [egress], other ports than 443 by `ports`, and http \
                        on this machine by `allow_http`";
            Problems::from(problem.hint(hint))
        })?;
    }
    let verifier = verifier.with_store(store.clone());
    Ok(match deployment.wires.key_directory(egress) {
        Some(directory) => verifier.with_directory(directory),
        None => verifier,
    })
}

/// Where the operator is told that a question waits. Fails when it can never be reached.
fn operator(deployment: &Deployment, egress: &Egress) -> Result<Option<OperatorWebhook>, Problems> {
    let Some(webhook) = &deployment.operator else { return Ok(None) };
    egress.foresees(Purpose::Webhook, &webhook.url).map_err(|error| {
        // The address itself may hold a secret.
        let text = format!("`webhook` in [admin] can't be reached: {error}");
        let problem = Problem::of_file(deployment.root.file(), text);
        Problems::from(problem.hint("it must be https; networks of your own are opened by `allow` in [egress]"))
    })?;
    Ok(Some(webhook.clone()))
}
