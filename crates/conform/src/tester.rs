//! This module runs all checks of the server that was named.

use forecourt_client::network::unconnected;
use forecourt_client::output::Failure;
use forecourt_egress::EgressError;
use futures::future::BoxFuture;

use crate::agtp;
use crate::check::{Check, Level};
use crate::report::Report;
use crate::run::{Pace, Selection};
use crate::target::{Reach, Target};
use crate::web;

/// What somebody wants to know, and of whom.
pub struct Order {
    /// The server.
    pub target: Target,
    /// How it may be reached.
    pub reach: Reach,
    /// Who asks it.
    pub caller: agtp::Caller,
    /// The agent that is asked over HTTP, by its handle; else the first that the host lists.
    pub handle: Option<String>,
    /// Which checks are wanted.
    pub selection: Selection,
}

/// A check as it stands in a list.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct CheckListing {
    /// Its name.
    pub id: &'static str,
    /// The sections that it is from.
    pub section: &'static str,
    /// `MUST` or `SHOULD`.
    pub level: &'static str,
    /// The rule in plain words.
    pub title: &'static str,
}

/// All checks there are that are selected: of one target's wires, or of all.
pub fn list(target: Option<&Target>, selection: &Selection) -> Vec<CheckListing> {
    let mut all = Vec::new();
    if !matches!(target, Some(Target::Web(_))) {
        all.extend(listed(agtp::CHECKS));
    }
    if !matches!(target, Some(Target::Agtp(..))) {
        all.extend(listed(web::CHECKS));
    }
    all.retain(|check| selection.has(check.id));
    all
}

fn listed<P>(checks: &[&[Check<P>]]) -> Vec<CheckListing> {
    let level = |level| if level == Level::Must { "MUST" } else { "SHOULD" };
    let one = |check: &Check<P>| CheckListing {
        id: check.id,
        section: check.section,
        level: level(check.level),
        title: check.title,
    };
    checks.iter().flat_map(|checks| checks.iter()).map(one).collect()
}

/// Asks the server, one check after the other.
///
/// # Errors
/// It can't be reached, or what was ordered makes no sense. What it answers is never an error.
pub fn run(order: Order) -> BoxFuture<'static, Result<Report, Failure>> {
    Box::pin(async move {
        // A run without a check would pass.
        if list(Some(&order.target), &order.selection).is_empty() {
            return Err(Failure::usage("no check of this server is called like that").hint("--list shows them all"));
        }
        let Order { target, reach, caller, handle, selection } = order;
        let mut pace = Pace::new(reach.patience);
        match target {
            Target::Agtp(host, port) => {
                let line = reach.line(&host, port)?;
                let at = format!("{host}:{}", line.port);
                let peer = agtp::Peer::new(line, caller);
                // Asked once before: a server that is away is one error, and not a failure of each check.
                peer.reach().await.map_err(|error| unreachable(&at, &error, &host))?;
                let findings = pace.run(&peer, agtp::CHECKS, &selection).await;
                Ok(Report::new(format!("agtp://{at}"), findings))
            }
            Target::Web(url) => {
                let (egress, base) = reach.web(&url)?;
                let shown = base.as_str().trim_end_matches('/').to_owned();
                let asked = web::HostQuery { handle, token: caller.token, with_effects: caller.with_effects };
                let peer = web::Peer::new(egress, base, reach.patience, asked);
                let host = url.host_str().unwrap_or_default().to_owned();
                peer.reach().await.map_err(|error| unreachable(&shown, &error, &host))?;
                let findings = pace.run(&peer, web::CHECKS, &selection).await;
                Ok(Report::new(shown, findings))
            }
        }
    })
}

fn unreachable(at: &str, error: &EgressError, host: &str) -> Failure {
    let is_local = host == "localhost" || host.ends_with(".localhost");
    match error {
        EgressError::Unconnected(reason) => unconnected(at, reason, is_local),
        EgressError::Busy => Failure::unreachable(format!("{at} does not take a connection in time")),
        other => Failure::unreachable(format!("{at} can't be reached: {}", other.log_reason())),
    }
}
