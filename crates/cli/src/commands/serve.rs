//! `forecourt serve`: a server with this program around it: flags, log, signals and the words on the terminal.

mod banner;
pub(super) mod logging;
mod room;
mod signals;

use forecourt::server::DRAIN;
use forecourt::{Server, data_folder};

use crate::args::Serve;
use crate::commands::index::index_new;
use crate::output::{Failure, Outcome, stderrln};

use self::signals::Stop;

/// Listeners that are always there: HTTP, HTTPS and the operator's.
const LISTENERS: u64 = 3;

/// Serves until it is told to stop.
pub(crate) async fn run(serve: Serve) -> Outcome {
    let mut deployment = super::load_with(&serve.place, &serve.listen)?;
    logging::start(deployment.log())?;
    let mut told = Stop::listen()?;
    data_folder::keep_private();
    let connections_max = deployment.connections_max() as u64 * LISTENERS;
    let bound = Server::bind(&mut deployment).await?;
    let moved_keys = deployment.moved_keys();
    let house = deployment.build()?;
    room::raise(connections_max);
    moved_keys().iter().for_each(|key| tracing::warn!("{key}"));
    house.missing_content().into_result(())?;
    index_new(house.contents()).await?;
    let server = bound.start(house).await?;
    banner::print(&server.host(), server.addresses(), server.data_folder());
    told.told().await;
    stderrln!("stopping: running answers have {} s to finish; a second signal stops at once", DRAIN.as_secs());
    tokio::select! {
        () = server.shutdown() => Ok(()),
        () = told.told() => Err(Failure::yours("stopped before everything was finished")),
    }
}
