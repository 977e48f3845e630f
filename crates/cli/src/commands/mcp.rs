//! `forecourt mcp`: a deployment over standard input and output.

use tokio_util::sync::CancellationToken;

use crate::args::Mcp;
use crate::commands::index::index_new;
use crate::commands::serve::{DRAIN, logging};
use crate::host::{self, State};
use crate::manual;
use crate::output::Outcome;
use crate::registry::{MCP, stdio::Pipe};
use crate::state;

/// Serves until the input ends.
pub(crate) async fn run(mcp: Mcp) -> Outcome {
    let loaded = super::load(&mcp.place)?;
    logging::start(&loaded.log)?;
    let data = host::make_data_dir(&mcp.place.data_dir())?;
    // Beside a daemon, or another client's program, on the same folder nothing is written to its store.
    let held = state::hold(&data);
    let kept = match &held {
        Ok(_) => State::Kept(&data),
        Err(_) => State::Signing(&data),
    };
    manual::unpack(&data)?;
    let site = host::site(&loaded, loaded.listen.https.port());
    let egress = host::egress(&loaded, &site, &[])?;
    let host::Agents { residents, siblings, content } = host::agents(&loaded, &site, &egress, &data)?;
    index_new(&content).await?;
    let stop = CancellationToken::new();
    let running = host::start(&loaded, site, egress, residents, &siblings, kept, stop.clone()).await?;
    let pipe = Pipe::new(&running.mount(&loaded, &MCP))?;
    pipe.serve(tokio::io::stdin(), tokio::io::stdout()).await;
    running.host.drain(DRAIN).await;
    stop.cancel();
    running.host.stopped().await;
    Ok(())
}
