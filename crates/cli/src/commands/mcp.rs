//! `forecourt mcp`: a deployment, or a server elsewhere, over standard input and output.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use forecourt_core::Domain;
use forecourt_egress::EgressConfig;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::ask::is_here;
use super::way;
use crate::args::{Mcp, Place};
use crate::commands::index::index_new;
use crate::commands::serve::watch;
use crate::commands::serve::{DRAIN, logging};
use crate::data_folder;
use crate::deployment::Loaded;
use crate::endpoints::Endpoints;
use crate::host::{self, State};
use crate::manual;
use crate::output::{Failure, Outcome};
use crate::registry::bridge;
use crate::state::{self, Serving};

/// How long a daemon on this machine may take to be there.
const DAEMON_TIME_MAX: Duration = Duration::from_secs(2);

/// Serves until the input ends.
pub(crate) async fn run(mcp: Mcp) -> Outcome {
    let elsewhere = mcp.what.starts_with("http://") || mcp.what.starts_with("https://");
    if elsewhere {
        return carry(&mcp.what, mcp.data, mcp.token.as_deref()).await;
    }
    let place = Place { dir: PathBuf::from(&mcp.what), data: mcp.data };
    let loaded = super::load(&place)?;
    let kept = data_folder::make(&place.data_dir())?;
    data_folder::keep_private();
    match state::hold(&kept) {
        Ok(_held) => serve(&loaded, &kept, State::Kept(&kept)).await,
        Err(_) => match Serving::find(&loaded.deployment.domain, Some(&kept)).filter(answers) {
            Some(serving) => {
                let url = format!("https://{}:{}/mcp", serving.domain, serving.https_port);
                carry(&url, Some(kept), mcp.token.as_deref()).await
            }
            None => serve_apart(&loaded, &kept).await,
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
async fn serve_apart(loaded: &Loaded, deployment: &Path) -> Outcome {
    let data = std::env::temp_dir().join(format!("forecourt-mcp-{}", std::process::id()));
    let own = data_folder::make(&data)?;
    let served = serve(loaded, &own, State::Apart { own: &own, deployment }).await;
    let removed = std::fs::remove_dir_all(&data);
    served.and_then(|()| Ok(removed?))
}

async fn serve(loaded: &Loaded, data: &Path, state: State<'_>) -> Outcome {
    logging::start(&loaded.log)?;
    manual::unpack(data)?;
    let site = host::site(loaded);
    let egress = host::egress(loaded, &site, &[])?;
    let endpoints = Endpoints::load(loaded, &egress)?;
    let host::Agents { residents, content } = host::agents(loaded, &site, &egress, data, &endpoints)?;
    index_new(&content).await?;
    let stop = CancellationToken::new();
    let parts = host::HostParts { residents, endpoints: &endpoints };
    let running = host::start(loaded, site, egress, parts, state, stop.clone()).await?;
    content.into_iter().for_each(|content| drop(tokio::spawn(watch::content(content, stop.clone()))));
    if let Some(served) = loaded.wires.stdio(&running.mount)? {
        served.await;
    }
    running.host.drain(DRAIN).await;
    stop.cancel();
    running.host.stopped().await;
    Ok(())
}

/// Carries messages to the server at `url`.
async fn carry(url: &str, data: Option<PathBuf>, token: Option<&str>) -> Outcome {
    let wrong = |error| Failure::yours(format!("{url} is no URL: {error}"));
    let parsed = Url::parse(url).map_err(wrong)?;
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
