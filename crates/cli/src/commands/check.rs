//! `forecourt check`: everything that `serve` would refuse, without listening.

use forecourt_contract::Endpoint;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::args::Check;
use crate::endpoints::Endpoints;
use crate::host::{self, Running, State};
use crate::output::{Failure, Outcome, print_json, stderrln, stdoutln};
use crate::{identities, inspect};

/// What was found to be in order.
struct Found {
    running: Running,
    endpoints: Endpoints,
}

/// Builds everything in memory, and shows what the world would see; or, all that stands in the way.
pub(crate) async fn run(check: &Check) -> Outcome {
    match find(check).await {
        Ok(found) => show(check, found),
        Err(failure) if check.json => {
            print_json(&failure.as_json())?;
            Err(failure.said())
        }
        Err(failure) => Err(failure),
    }
}

async fn find(check: &Check) -> Result<Found, Failure> {
    let data = check.place.data_dir();
    let loaded = super::load(&check.place)?;
    let mut problems = inspect::inspect(&loaded, &data);
    let site = host::site(&loaded);
    let egress = host::egress(&loaded, &site, &[])?;
    let Some(mut endpoints) = problems.absorb(Endpoints::load(&loaded, &egress)) else { return Err(problems.into()) };
    problems.extend(std::mem::take(&mut endpoints.refused));
    let agents = problems.absorb(host::agents(&loaded, &site, &egress, &data, &endpoints));
    let Some(host::Agents { residents, content }) = agents else { return Err(problems.into()) };
    problems.extend(inspect::contents(&content));
    let stop = CancellationToken::new();
    let parts = host::HostParts { residents, endpoints: &endpoints };
    let started = host::start(&loaded, site, egress, parts, State::Looking(&data), stop.clone()).await;
    stop.cancel();
    let file = loaded.root.file();
    let Some(running) = problems.absorb(started.map_err(|failure| failure.into_problems(file))) else {
        return Err(problems.into());
    };
    problems.extend(identities::refused(&running.identity_notices));
    identities::doubtful(&running.identity_notices).for_each(|notice| stderrln!("warning: {notice}"));
    endpoints.doubtful.iter().for_each(|notice| stderrln!("warning: {notice}"));
    Ok(problems.into_result(Found { running, endpoints })?)
}

fn show(check: &Check, Found { running, endpoints }: Found) -> Outcome {
    let cards: Vec<_> = running.host.directory().iter().map(|resident| resident.card.clone()).collect();
    let all: Vec<_> = endpoints.contract.registry.iter().map(|registered| &registered.endpoint).collect();
    if check.json {
        return print_json(&json!({
            "domain": running.host.site().domain,
            "origin": running.host.site().origin,
            "agents": cards,
            "endpoints": all.iter().map(|endpoint| endpoint.projection()).collect::<Vec<_>>(),
        }));
    }
    let count = if all.is_empty() { String::new() } else { format!(", {} endpoints", all.len()) };
    stdoutln!("{} is fine: {} agents{count}", check.place.dir.display(), cards.len());
    for card in cards {
        stdoutln!("\n{}  {}", card.address, card.name);
        for endpoint in &card.endpoints {
            stdoutln!("  {:<12} {}", endpoint.protocol, endpoint.url);
        }
    }
    if !all.is_empty() {
        stdoutln!();
    }
    all.iter().for_each(|endpoint| stdoutln!("{}", line(endpoint)));
    Ok(())
}

/// An endpoint with what a caller must hold.
fn line(endpoint: &Endpoint) -> String {
    let scopes: Vec<&str> = endpoint.required_scopes.iter().map(|scope| scope.as_str()).collect();
    let line = format!("{:<10} {:<32} {}", endpoint.method.as_str(), endpoint.path.as_str(), scopes.join(", "));
    line.trim_end().to_owned()
}
