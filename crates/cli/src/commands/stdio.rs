//! A deployment, or a server elsewhere, over standard input and output: the command `mcp`.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use forecourt::server::DRAIN;
use forecourt::serving::{self, Serving};
use forecourt::telemetry::TelemetryLayers;
use forecourt::{Deployment, Running, Storage, data_folder};
use forecourt_client::network::is_here;
use forecourt_core::Domain;
use forecourt_egress::EgressConfig;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::way;
use crate::args::{Place, Stdio};
use crate::commands::index::index_new;
use crate::commands::serve::logging;
use crate::output::{Failure, Outcome, stderrln};
use forecourt::registry::{BRIDGED_PATH, bridge};

/// How long a daemon on this machine may take to be there.
const DAEMON_TIME_MAX: Duration = Duration::from_secs(2);

/// Serves until the input ends.
pub(crate) async fn run(stdio: Stdio) -> Outcome {
    let elsewhere = stdio.what.starts_with("http://") || stdio.what.starts_with("https://");
    if elsewhere {
        return carry(&stdio.what, stdio.data, stdio.token.as_deref()).await;
    }
    let place = Place { dir: PathBuf::from(&stdio.what), data: stdio.data, named_by: None };
    let deployment = super::load(&place)?;
    let kept = data_folder::make(deployment.data_folder())?;
    data_folder::keep_private();
    let deployment = deployment.with_data_folder(&kept);
    match serving::hold(&kept) {
        Ok(_held) => serve(deployment, Storage::Kept(kept)).await,
        // Another process has the data folder: messages are passed on to it if it is a daemon; another `forecourt mcp`
        // has no listener, so this one serves beside it.
        Err(_) => match Serving::find(deployment.domain(), Some(&kept)).filter(answers) {
            Some(serving) => {
                let scheme = if serving.is_plain() { "http" } else { "https" };
                let url = format!("{scheme}://{}:{}{BRIDGED_PATH}", serving.domain, serving.https_port);
                carry(&url, Some(kept), stdio.token.as_deref()).await
            }
            None => serve_apart(deployment, kept).await,
        },
    }
}

/// Whether the daemon that wrote this is there. What it wrote stays when it ends.
fn answers(serving: &Serving) -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, serving.https_port));
    TcpStream::connect_timeout(&address, DAEMON_TIME_MAX).is_ok()
}

/// Serves beside another program like this one: with state of its own, which ends with it, since each would
/// take the tasks of the other for cut off. Where agents stand is the deployment's to say.
async fn serve_apart(deployment: Deployment, kept: PathBuf) -> Outcome {
    stderrln!(
        "note: another program has {}: tasks and conversations begun here end with this one\nhint: start `forecourt \
         serve`, and every `forecourt mcp` passes on to it",
        kept.display()
    );
    let data = std::env::temp_dir().join(format!("forecourt-mcp-{}", std::process::id()));
    let own = data_folder::make(&data)?;
    let storage = Storage::Apart { own: own.clone(), deployment: kept };
    let served = serve(deployment.with_data_folder(own), storage).await;
    let removed = std::fs::remove_dir_all(&data);
    served.and_then(|()| Ok(removed?))
}

async fn serve(deployment: Deployment, storage: Storage) -> Outcome {
    logging::start(deployment.log(), TelemetryLayers::default())?;
    let house = deployment.build()?;
    house.unpack_manual()?;
    index_new(house.contents()).await?;
    let stop = CancellationToken::new();
    let running = Running::start(house, storage, stop.clone()).await?;
    if let Some(served) = running.stdio()? {
        served.await;
    }
    let host = running.host();
    host.finish(DRAIN).await;
    stop.cancel();
    host.stopped().await;
    Ok(())
}

/// Carries messages to the server at `url`.
async fn carry(url: &str, data: Option<PathBuf>, token: Option<&str>) -> Outcome {
    let wrong = |error| Failure::yours(format!("{url} is no URL: {error}"));
    let parsed = Url::parse(url).map_err(wrong)?;
    // On this machine nobody is in between.
    if token.is_some() && parsed.scheme() == "http" && !is_here(&parsed) {
        return Err(Failure::yours("a token is not sent over plain HTTP").hint("use the https URL"));
    }
    let folder = data.or_else(|| authority_of(&parsed));
    let egress = way::build(EgressConfig::default(), folder)?;
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    bridge(egress, url, token, input, output).await.map_err(|error| Failure::yours(format!("{url}: {error}")))
}

/// The folder with the authority of a deployment of this machine.
fn authority_of(url: &Url) -> Option<PathBuf> {
    let domain = Domain::parse(url.host_str()?).ok().filter(Domain::is_local)?;
    Serving::find(&domain, None).map(|serving| Path::new(&serving.data).to_path_buf())
}
