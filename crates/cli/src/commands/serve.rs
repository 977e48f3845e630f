//! `forecourt serve`: a server with this program around it: flags, log, signals and the words on the terminal.

mod banner;
pub(super) mod logging;
mod memory;
mod room;
mod service_manager;
pub(super) mod signals;

use std::path::Path;
use std::time::Duration;

use forecourt::deployment::{EnvironmentNotices, FILE};
use forecourt::domains::{DomainsFolder, deployment_folders};
use forecourt::reload::{ReloadSource, ReloadTrigger};
use forecourt::server::{DRAIN, disagreements, take_snapshots};
use forecourt::telemetry::Telemetry;
use forecourt::{Deployment, Problem, Problems, Server, data_folder};

use crate::args::Serve;
use crate::commands::index::index_new;
use crate::output::{Failure, Outcome, stderrln};

use self::signals::{SignalAction, Signals};

/// Listeners that are always there: HTTP, HTTPS and the operator's.
const LISTENERS: u64 = 3;

/// Serves until it is told to stop.
pub(crate) async fn run(serve: Serve) -> Outcome {
    // Made before the folder is read: what changes in between is taken up by `follow`.
    let followed = DomainsFolder::new(&serve.place.dir);
    let folders = deployment_folders(&serve.place.dir)?;
    let is_many = folders != [serve.place.dir.clone()] && !folders.is_empty();
    // Where there is none, reading the folder itself says so.
    let (source, others) = match folders.split_first() {
        Some((first, others)) => {
            (source(&serve, first), others.iter().map(|folder| source_of(&serve, folder)).collect())
        }
        None => (source(&serve, &serve.place.dir), Vec::new()),
    };
    let (mut deployment, others) = read_all(&source, others)?;
    let (mut telemetry, layers) = Telemetry::start(&deployment)?;
    logging::start(deployment.log(), layers)?;
    // From here on a signal waits until the server is up, instead of ending a start half way.
    let mut signals = Signals::listen()?;
    // Before the first file is made: the umask holds for every file and program from here on.
    data_folder::keep_private();
    let connections_max = deployment.connections_max() as u64 * LISTENERS;
    // Before the deployment is built: a taken port is told at once, and ports that the system chose are known.
    let bound = Server::bind(&mut deployment).await?;
    let moved_keys = deployment.moved_keys();
    let EnvironmentNotices { overrides, secrets } = deployment.environment_notices();
    overrides.iter().for_each(|key| tracing::info!("from the environment: {key}"));
    secrets.iter().chain(&deployment.proxy_notice()).for_each(|notice| tracing::warn!("{notice}"));
    let house = deployment.build()?;
    room::raise(connections_max);
    moved_keys().iter().for_each(|key| tracing::warn!("{key}"));
    // It holds the text of every file.
    drop(moved_keys);
    take_snapshots(&house).await?;
    house.missing_content().into_result(())?;
    index_new(house.contents()).await?;
    let server = bound.start(house).await?;
    server.reload_from(source);
    telemetry.send_metrics_of(server.registry());
    for (deployment, source) in others {
        server.add(deployment, Some(source)).await?;
    }
    banner::print(&server.host(), &server.addresses(), &server.data_folder(), server.certificate_notice());
    tokio::spawn(memory::give_back());
    // After the banner: systemd starts what depends on the daemon once it hears this, so everything must answer.
    service_manager::ready();
    if is_many {
        banner::others(&server.domains()[1..]);
        tokio::select! {
            () = server.follow(followed, |folder| source_of(&serve, folder)) => {}
            () = until_stopped(&server, &mut signals) => {}
        }
    } else {
        until_stopped(&server, &mut signals).await;
    }
    service_manager::stopping();
    stderrln!("stopping: {}", going(server.leaves_within()));
    tokio::select! {
        () = async { server.shutdown().await; telemetry.finish().await } => Ok(()),
        () = signals.stop() => Err(Failure::yours("stopped before everything was finished")),
    }
}

/// How it goes, for a person at a terminal.
fn going(serving: Duration) -> String {
    let before = match serving.as_secs() {
        0 => String::new(),
        seconds => format!("requests are taken for {seconds} s yet, then "),
    };
    format!("{before}running answers have {} s to finish; a second signal stops at once", DRAIN.as_secs())
}

/// Reads the deployments again whenever it is told to, until it is told to stop.
async fn until_stopped(server: &Server, signals: &mut Signals) {
    while let SignalAction::Reload = signals.told().await {
        // What came of it is in the log.
        server.reload_all(ReloadTrigger::Signal).await;
    }
}

/// The first deployment, and those that are served beside it: all that is wrong with any of them is said at once.
fn read_all(
    first: &ReloadSource,
    sources: Vec<ReloadSource>,
) -> Result<(Deployment, Vec<(Deployment, ReloadSource)>), Failure> {
    let mut problems = Problems::new();
    let first = problems.absorb(first.read());
    let read = sources.into_iter().filter_map(|source| Some((problems.absorb(source.read())?, source)));
    let others: Vec<(Deployment, ReloadSource)> = read.collect();
    let all: Vec<&Deployment> = first.iter().chain(others.iter().map(|(deployment, _)| deployment)).collect();
    problems.extend(disagreements(&all));
    match first {
        Some(first) if problems.is_empty() => Ok((first, others)),
        _ => Err(problems.into()),
    }
}

/// The first deployment of a daemon, by which its log goes.
fn source(serve: &Serve, folder: &Path) -> ReloadSource {
    source_of(serve, folder).with_applied(|deployment| logging::follow(deployment.log()))
}

/// The deployment in a folder with the flags that it is served with, each time it is read.
fn source_of(serve: &Serve, folder: &Path) -> ReloadSource {
    let (place, flags) = (serve.place.within(folder), serve.listen.clone());
    let (dir, shared) = (place.dir.clone(), place.named_by.as_ref().map(|folder| folder.join(FILE)));
    let read = move |folder: &Path| -> Result<Deployment, Problems> {
        let deployment = place.at(folder).read(&flags)?;
        match logging::filter(deployment.log()) {
            Ok(_) => Ok(deployment),
            Err(wrong) => Err(Problem::of_file(&deployment.folder().join(FILE), wrong).into()),
        }
    };
    let source = ReloadSource::new(dir, read);
    match shared {
        // It says what is logged, whichever domain goes.
        Some(file) => source.with_shared_file(file).with_applied(|deployment| logging::follow(deployment.log())),
        None => source,
    }
}
