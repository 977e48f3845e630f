//! `forecourt serve`: bind, index, answer, drain.

mod banner;
mod listeners;
pub(super) mod logging;
mod own;
mod push;
mod queue;
mod room;
mod signals;
pub(super) mod watch;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forecourt_server::{Metrics, ReadinessCheck, admin, behind_token};
use prometheus_client::registry::Registry;
use tokio_util::sync::CancellationToken;

use crate::args::Serve;
use crate::commands::index::index_new;
use crate::data_folder;
use crate::deployment::Loaded;
use crate::endpoints::Endpoints;
use crate::host::{self, Content, Running, State};
use crate::inspect;
use crate::manual;
use crate::output::{Failure, Outcome, stderrln};
use crate::state::{self, Serving};

use self::listeners::Listeners;
use self::signals::Stop;

/// How long a request that is half sent at SIGTERM may take to be whole.
const ARRIVING: Duration = Duration::from_secs(5);
/// How long a request that is whole takes to reach the host, at most.
const HANDED_OVER: Duration = Duration::from_millis(100);
/// Listeners that are always there: HTTP, HTTPS and the operator's.
const LISTENERS: u64 = 3;
/// How long running work may go on after SIGTERM.
pub(super) const DRAIN: Duration = Duration::from_secs(30);

/// Serves until it is told to stop.
pub(crate) async fn run(serve: Serve) -> Outcome {
    let mut loaded = super::load_with(&serve.place, &serve.listen)?;
    logging::start(&loaded.log)?;
    let mut told = Stop::listen()?;
    let data = data_folder::make(&serve.place.data_dir())?;
    data_folder::keep_private();
    let _held = state::hold(&data)?;
    let endpoints = before_any_port(&loaded, &data)?;
    room::raise(loaded.http.connections_max as u64 * LISTENERS);
    manual::unpack(&data)?;
    let listeners = Listeners::bind(&loaded, &data).await?;
    loaded.bound(listeners.shared(), |name| listeners.own_address(name));
    let site = host::site(&loaded);
    let egress = host::egress(&loaded, &site, &listeners.public_addresses())?;
    let agents = host::agents(&loaded, &site, &egress, &data, &endpoints)?;
    inspect::contents(agents.content.iter().filter(|content| content.indexing.items() == 0)).into_result(())?;
    index_new(&agents.content).await?;

    let stop = CancellationToken::new();
    let host::Agents { residents, content } = agents;
    let state = State::Kept(&data);
    let parts = host::HostParts { residents, endpoints: &endpoints };
    let running = host::start(&loaded, site.clone(), egress, parts, state, stop.clone()).await?;
    let registry = registry(&running, listeners.metrics());
    let serving = Serving {
        domain: site.domain.clone(),
        https_port: loaded.listen.https.port(),
        agtp_port: listeners.own_address("agtp").map(|address| address.port()),
        data: data.clone(),
    };
    serving.write()?;
    banner::print(&running.host, &listeners, &data);

    let host = running.host.clone();
    let place = Arc::new(data_folder::Place::of(&data)?);
    let arriving = listeners.shared_metrics();
    let guarded = behind_token(
        push::routes(&content, place.clone()).merge(queue::routes(host.clone())),
        loaded.admin_token.clone(),
    );
    let admin = admin(registry, ready(host.clone(), place.clone(), content.clone())).merge(guarded);
    content.into_iter().for_each(|content| drop(tokio::spawn(watch::content(content, stop.clone()))));
    tokio::spawn(watch::keys(data, running.keys.clone(), stop.clone()));
    let served = tokio::spawn(listeners.serve(running.surfaces, running.classes, admin, stop.clone()));
    told.told().await;
    stderrln!("stopping: running answers have {} s to finish; a second signal stops at once", DRAIN.as_secs());
    tokio::select! {
        () = drain(&host, &arriving, &stop) => {}
        () = told.told() => return Err(Failure::yours("stopped before everything was finished")),
    }
    served.await.map_err(|error| Failure::ours(format!("a listener broke: {error}")))
}

/// Finds what is wrong with endpoints and agents before a port opens: until then, a port is only wished
/// for. Gives the endpoints that are right.
fn before_any_port(loaded: &Loaded, data: &Path) -> Result<Endpoints, Failure> {
    inspect::inspect(loaded, data).into_result(())?;
    let site = host::site(loaded);
    let egress = host::egress(loaded, &site, &[])?;
    let endpoints = Endpoints::load(loaded, &egress)?;
    host::agents(loaded, &site, &egress, data, &endpoints)?;
    Ok(endpoints)
}

/// What is half sent first, so that it gets its answer; then work, then connections and posts: a task that
/// is running may still be polled.
async fn drain(host: &Arc<forecourt_host::Host>, metrics: &Metrics, stop: &CancellationToken) {
    metrics.arrived(ARRIVING).await;
    tokio::time::sleep(HANDED_OVER).await;
    host.drain(DRAIN).await;
    stop.cancel();
    host.stopped().await;
}

fn registry(running: &Running, http: &forecourt_server::Metrics) -> Arc<Registry> {
    let mut registry = Registry::with_prefix("forecourt");
    running.host.metrics().register(&mut registry);
    http.register(&mut registry);
    Arc::new(registry)
}

fn ready(host: Arc<forecourt_host::Host>, place: Arc<data_folder::Place>, content: Vec<Content>) -> ReadinessCheck {
    let content: Arc<[Content]> = content.into();
    Arc::new(move || {
        let (host, place, content) = (host.clone(), place.clone(), content.clone());
        Box::pin(async move {
            place.is_there()?;
            host.ready().await.map_err(|error| error.to_string())?;
            searchable(content).await
        })
    })
}

/// Whether everything can be found that was pushed and acknowledged.
async fn searchable(content: Arc<[Content]>) -> Result<(), String> {
    let look = move || {
        content.iter().try_for_each(|Content { handle, indexing }| match indexing.has_what_was_pushed() {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("items that were pushed to @{handle} are kept and not searchable yet")),
            Err(error) => Err(format!("what was pushed to @{handle} can't be read: {error}")),
        })
    };
    tokio::task::spawn_blocking(look).await.map_err(|_| "the search index can't be looked at".to_owned())?
}
