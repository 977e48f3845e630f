//! This module runs all checks of the server that was named.

use std::sync::Arc;

use forecourt_client::network::unconnected;
use forecourt_client::output::Failure;
use forecourt_egress::EgressError;
use futures::future::BoxFuture;

use crate::agtp;
use crate::check::Rule;
use crate::report::{Finding, ProtocolReport, Report};
use crate::run::{Pace, Selection};
use crate::suite::{Suite, SuiteOutcome};
use crate::target::{Reach, Target};
use crate::{tls, web};

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
    /// The path of the endpoint of MCP, if it is not the usual one.
    pub tools_path: Option<String>,
    /// Which checks are wanted.
    pub selection: Selection,
}

/// A check as it stands in a list.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct CheckListing {
    /// The protocol that it is of.
    pub protocol: &'static str,
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
    let mut all: Vec<CheckListing> = tls::SUITES.iter().flat_map(listed).collect();
    if !matches!(target, Some(Target::Web(_))) {
        all.extend(agtp::SUITES.iter().flat_map(listed));
    }
    if !matches!(target, Some(Target::Agtp(..))) {
        all.extend(web::SUITES.iter().flat_map(listed));
    }
    all.retain(|check| selection.has(check.id));
    all
}

fn listed<S: Send + Sync>(suite: &'static Suite<S>) -> impl Iterator<Item = CheckListing> {
    let one = |rule: Rule| {
        let Rule { id, section, level, title } = rule;
        CheckListing { protocol: suite.name, id, section, level: level.word(), title }
    };
    (suite.rules)().into_iter().map(one)
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
        let Order { target, reach, caller, handle, tools_path, selection } = order;
        let mut run = Run { pace: Pace::new(reach.patience), selection, protocols: Vec::new(), findings: Vec::new() };
        let (target, host, at, reached) = match target {
            Target::Agtp(host, port) => {
                let line = reach.line(&host, port)?;
                let at = format!("{host}:{}", line.port);
                run.judge(tls::SUITES, reach.agtp_endpoint(&line)).await;
                let server = agtp::AgtpTarget::new(line, caller);
                // Asked once before: a server that is away is one error, and not a failure of each check.
                let reached = server.reach().await;
                run.judge_if(&reached, agtp::SUITES, server).await;
                (format!("agtp://{at}"), host, at, reached)
            }
            Target::Web(url) => {
                let (egress, base) = reach.web(&url)?;
                let shown = base.as_str().trim_end_matches('/').to_owned();
                run.judge(tls::SUITES, reach.web_endpoint(&egress, &base)).await;
                let asked =
                    web::HostQuery { handle, token: caller.token, with_effects: caller.with_effects, tools_path };
                let server = web::WebTarget::new(egress, base, reach.patience, asked);
                let host = url.host_str().unwrap_or_default().to_owned();
                let reached = server.reach().await;
                run.judge_if(&reached, web::SUITES, server).await;
                (shown.clone(), host, shown, reached)
            }
        };
        let report = Report::new(target, run.protocols, run.findings);
        match reached {
            // What is wrong with its certificate is a finding.
            Err(error) if !report.has_judged() => Err(unreachable(&at, &error, &host)),
            _ => Ok(report),
        }
    })
}

/// What was found so far, and what is left to be asked.
struct Run {
    pace: Pace,
    selection: Selection,
    protocols: Vec<ProtocolReport>,
    findings: Vec<Finding>,
}

impl Run {
    /// Looks for each protocol, and judges those that are there.
    async fn judge<S: Send + Sync>(&mut self, suites: &'static [Suite<S>], server: S) {
        let server = Arc::new(server);
        for suite in suites {
            let outcome = suite.run(&mut self.pace, server.clone(), &self.selection).await;
            self.add(outcome);
        }
    }

    /// The same of a server that can be reached.
    async fn judge_if<S: Send + Sync>(
        &mut self,
        reached: &Result<(), EgressError>,
        suites: &'static [Suite<S>],
        server: S,
    ) {
        let Err(error) = reached else { return self.judge(suites, server).await };
        let reason = error.log_reason();
        let why = match reason.contains("certificate") {
            true => format!("{reason}: --cacert FILE trusts its authority, --insecure everybody"),
            false => format!("no connection: {reason}"),
        };
        for suite in suites {
            self.add(suite.untold(&why, &self.selection));
        }
    }

    fn add(&mut self, outcome: Option<SuiteOutcome>) {
        if let Some((protocol, findings)) = outcome {
            self.protocols.push(protocol);
            self.findings.extend(findings);
        }
    }
}

fn unreachable(at: &str, error: &EgressError, host: &str) -> Failure {
    let is_local = host == "localhost" || host.ends_with(".localhost");
    match error {
        EgressError::Unconnected(reason) => unconnected(at, reason, is_local),
        EgressError::Busy => Failure::unreachable(format!("{at} does not take a connection in time")),
        other => Failure::unreachable(format!("{at} can't be reached: {}", other.log_reason())),
    }
}
