//! `forecourt check`: everything that `serve` would refuse, without listening.

use forecourt_contract::Endpoint;
use forecourt_surface::Carries;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::args::Check;
use crate::endpoints::Endpoints;
use crate::host::{self, State};
use crate::identities;
use crate::output::{Failure, Outcome, print_json, stderrln, stdoutln};

/// Builds everything in memory, and shows what the world would see.
pub(crate) async fn run(check: &Check) -> Outcome {
    let loaded = super::load(&check.place)?;
    let site = host::site(&loaded);
    let egress = host::egress(&loaded, &site, &[])?;
    let endpoints = Endpoints::load(&loaded, &egress)?;
    let data = check.place.data_dir();
    let agents = host::agents(&loaded, &site, &egress, &data, &endpoints)?;
    loaded.tls.suits("HTTPS", loaded.listen.https)?;
    for listen in host::listens(&loaded)? {
        if let (Carries::Tls { .. }, Some(address)) = (listen.carries, listen.address) {
            loaded.tls.suits(listen.name, address)?;
        }
    }
    let missing = missing_content(&agents.content);
    let stop = CancellationToken::new();
    let host::Agents { residents, siblings, .. } = agents;
    let inhabitants = host::Inhabitants { residents, siblings: &siblings, endpoints: &endpoints };
    let started = host::start(&loaded, site, egress, inhabitants, State::Looking(&data), stop.clone()).await;
    stop.cancel();
    let running = started?;
    let mut refused = endpoints.refused;
    refused.extend(identities::refused(&running.identity_notices));
    identities::doubtful(&running.identity_notices).for_each(|notice| stderrln!("warning: {notice}"));
    endpoints.doubtful.iter().for_each(|notice| stderrln!("warning: {notice}"));
    if !refused.is_empty() {
        return Err(refused.into());
    }
    if let Some(path) = missing {
        return Err(Failure::yours(path));
    }
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

/// The first source of content that is not there.
fn missing_content(contents: &[crate::host::Content]) -> Option<String> {
    let manual = std::path::Path::new(crate::manual::NAME);
    let missing = |path: &std::path::PathBuf| !path.exists() && !path.ends_with(manual);
    contents.iter().find_map(|content| {
        let path = content.indexing.sources().into_iter().find(missing)?;
        Some(format!("@{}: there is no content at {}", content.handle, path.display()))
    })
}
