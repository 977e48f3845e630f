//! `forecourt conform`: whether a server keeps the rules of what it speaks, whoever made it.

use std::time::Duration;

use forecourt_conform::Caller;
use forecourt_conform::run::Selection;
use forecourt_conform::target::{Reach, Target};
use forecourt_conform::tester::{self, CheckListing, Order};
use forecourt_core::AgentId;
use serde_json::json;

use crate::args::Conform;
use crate::output::{Failure, Outcome, print_json, stdout};

/// Asks the server, and prints what was found.
pub(crate) async fn run(conform: Conform) -> Outcome {
    let target = conform.target.as_deref().map(Target::parse).transpose()?;
    let selection = Selection::of(conform.only.clone());
    let target = match target {
        Some(target) if !conform.list => target,
        target => return show(&tester::list(target.as_ref(), &selection), conform.json),
    };
    let is_json = conform.json;
    let report = tester::run(order(conform, target, selection)?).await?;
    match is_json {
        true => print_json(&report)?,
        false => stdout(format_args!("{}", report.text())),
    }
    // The exit code tells scripts and CI; skipped rules do not fail.
    match report.summary.fail {
        0 => Ok(()),
        1 => Err(Failure::yours("one rule is broken")),
        count => Err(Failure::yours(format!("{count} rules are broken"))),
    }
}

fn order(conform: Conform, target: Target, selection: Selection) -> Result<Order, Failure> {
    let agent_id = agent("--agent-id", conform.agent_id.as_deref())?;
    let other_agent_id = agent("--other-agent-id", conform.other_agent_id.as_deref())?;
    let reach = Reach {
        data: conform.data,
        cacert: conform.cacert,
        insecure: conform.insecure,
        plaintext: conform.plaintext,
        certificate: conform.cert.map(|cert| (cert.clone(), conform.key.unwrap_or(cert))),
        patience: Duration::from_secs(conform.timeout),
    };
    let caller = Caller {
        agent_id,
        other_agent_id,
        scope: conform.scope,
        token: conform.token,
        with_effects: conform.with_effects,
        deprecated_method: conform.deprecated_method,
    };
    let handle = conform.agent.map(|handle| handle.trim_start_matches('@').to_owned());
    Ok(Order { target, reach, caller, handle, selection })
}

fn agent(flag: &str, text: Option<&str>) -> Result<Option<AgentId>, Failure> {
    let id = text.map(AgentId::parse).transpose();
    id.map_err(|error| Failure::usage(format!("{flag}: {error}")))
}

fn show(checks: &[CheckListing], is_json: bool) -> Outcome {
    if is_json {
        return print_json(&json!({ "checks": checks }));
    }
    let width = checks.iter().map(|check| check.id.len()).max().unwrap_or(0);
    for CheckListing { id, section, level, title } in checks {
        stdout(format_args!("{id:width$}  {title} ({level}, {section})\n"));
    }
    Ok(())
}
