//! `forecourt serve`: bind, index, answer, drain.

mod banner;
mod listeners;
pub(super) mod logging;
mod own;
mod push;
mod queue;
pub(super) mod watch;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forecourt_server::{Ready, admin, behind_token};
use prometheus_client::registry::Registry;
use tokio_util::sync::CancellationToken;

use crate::args::Serve;
use crate::commands::index::index_new;
use crate::deployment::Loaded;
use crate::endpoints::Endpoints;
use crate::host::{self, Content, Running, State};
use crate::manual;
use crate::output::{Failure, Outcome, stderrln};
use crate::state::{self, Serving};

use self::listeners::Listeners;

/// How long running work may go on after SIGTERM.
pub(super) const DRAIN: Duration = Duration::from_secs(30);

/// Serves until it is told to stop.
pub(crate) async fn run(serve: Serve) -> Outcome {
    let mut loaded = super::load(&serve.place)?;
    loaded.place(serve.listen.or(loaded.listen), |name| serve.listen.named(name));
    logging::start(&loaded.log)?;
    let data = host::make_data_dir(&serve.place.data_dir())?;
    let endpoints = before_any_port(&loaded, &data)?;
    let _held = state::hold(&data)?;
    manual::unpack(&data)?;
    let listeners = Listeners::bind(&loaded, &data).await?;
    loaded.place(listeners.shared(), |name| listeners.own_address(name));
    let site = host::site(&loaded);
    let egress = host::egress(&loaded, &site, &listeners.public_addresses())?;
    let agents = host::agents(&loaded, &site, &egress, &data, &endpoints)?;
    index_new(&agents.content).await?;

    let stop = CancellationToken::new();
    let host::Agents { residents, siblings, content } = agents;
    let state = State::Kept(&data);
    let inhabitants = host::Inhabitants { residents, siblings: &siblings, endpoints: &endpoints };
    let running = host::start(&loaded, site.clone(), egress, inhabitants, state, stop.clone()).await?;
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
    let guarded = behind_token(push::routes(&content).merge(queue::routes(host.clone())), loaded.admin_token.clone());
    let admin = admin(registry, ready(host.clone(), content.clone())).merge(guarded);
    content.into_iter().for_each(|content| drop(tokio::spawn(watch::content(content, stop.clone()))));
    tokio::spawn(watch::keys(data, running.keys.clone(), stop.clone()));
    let served = tokio::spawn(listeners.serve(running.surfaces, admin, stop.clone()));
    told_to_stop().await?;
    stderrln!("stopping: running answers have {} s to finish; a second signal stops at once", DRAIN.as_secs());
    tokio::select! {
        () = drain(&host, &stop) => {}
        _ = told_to_stop() => return Err(Failure::yours("stopped before everything was finished")),
    }
    served.await.map_err(|error| Failure::ours(format!("a listener broke: {error}")))
}

/// Finds what is wrong with endpoints and agents before a port opens: until then, a port is only wished
/// for. Gives the endpoints that are right.
fn before_any_port(loaded: &Loaded, data: &Path) -> Result<Endpoints, Failure> {
    let site = host::site(loaded);
    let egress = host::egress(loaded, &site, &[])?;
    let endpoints = Endpoints::load(loaded, &egress)?;
    host::agents(loaded, &site, &egress, data, &endpoints)?;
    Ok(endpoints)
}

/// Work first, then connections and posts: a task that is running may still be polled.
async fn drain(host: &Arc<forecourt_host::Host>, stop: &CancellationToken) {
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

fn ready(host: Arc<forecourt_host::Host>, content: Vec<Content>) -> Ready {
    let content: Arc<[Content]> = content.into();
    Arc::new(move || {
        let (host, content) = (host.clone(), content.clone());
        Box::pin(async move {
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

async fn told_to_stop() -> Outcome {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
