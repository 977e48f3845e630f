//! `forecourt conform`: whether a server keeps the rules of what it speaks, whoever made it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use forecourt_conform::Caller;
use forecourt_conform::report::{Comparison, KnownFindings, Report};
use forecourt_conform::run::Selection;
use forecourt_conform::target::{Reach, Target};
use forecourt_conform::tester::{self, CheckListing, Order};
use forecourt_core::{AgentId, Timestamp};
use serde_json::{Value, json};

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
    // Read first: a run of minutes for a file that is not there would be lost.
    let known = conform.against.as_deref().map(read_known).transpose()?;
    let written = conform.write_known.clone().map(|file| Ok::<_, Failure>((before(&file)?, file))).transpose()?;
    let forms = Forms {
        json: conform.json,
        junit: conform.junit.clone(),
        sarif: conform.sarif.clone(),
        html: conform.html.clone(),
    };
    let report = tester::run(order(conform, target, selection)?).await?;
    let comparison = known.map(|known| known.compare(&report));
    forms.write(&report, comparison.as_ref())?;
    if let Some((before, file)) = written {
        write(&file, &pretty(&KnownFindings::of(&report, before.as_ref()))?)?;
    }
    ending(&report, comparison.as_ref())
}

/// The exit code tells scripts and CI; skipped rules do not fail.
fn ending(report: &Report, comparison: Option<&Comparison>) -> Outcome {
    let nothing = || Err(Failure::yours("the server offers nothing that is tested here"));
    match (comparison, report.summary.fail) {
        (Some(comparison), _) if comparison.is_ok() => Ok(()),
        (Some(comparison), _) => match comparison.news() {
            0 => nothing(),
            1 => Err(Failure::yours("one thing is new")),
            count => Err(Failure::yours(format!("{count} things are new"))),
        },
        (None, 0) if !report.offers_anything() => nothing(),
        (None, 0) => Ok(()),
        (None, 1) => Err(Failure::yours("one rule is broken")),
        (None, count) => Err(Failure::yours(format!("{count} rules are broken"))),
    }
}

/// The forms in which a report is wanted.
struct Forms {
    json: bool,
    junit: Option<PathBuf>,
    sarif: Option<PathBuf>,
    html: Option<PathBuf>,
}

impl Forms {
    fn write(&self, report: &Report, comparison: Option<&Comparison>) -> Outcome {
        match self.json {
            true => print_json(&json_report(report, comparison)?)?,
            false => {
                stdout(format_args!("{}", report.text()));
                if let Some(comparison) = comparison {
                    stdout(format_args!("\n{}", comparison.text()));
                }
            }
        }
        if let Some(file) = &self.junit {
            write(file, &report.junit())?;
        }
        if let Some(file) = &self.sarif {
            write(file, &pretty(&report.sarif(comparison))?)?;
        }
        if let Some(file) = &self.html {
            write(file, &report.html(Timestamp::now(), comparison))?;
        }
        Ok(())
    }
}

/// The report, with what is new beside it.
fn json_report(report: &Report, comparison: Option<&Comparison>) -> Result<Value, Failure> {
    let value = |value: serde_json::Result<Value>| value.map_err(|error| Failure::ours(error.to_string()));
    let mut report = value(serde_json::to_value(report))?;
    if let Some(comparison) = comparison {
        report["against"] = value(serde_json::to_value(comparison))?;
    }
    Ok(report)
}

fn pretty(value: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::ours(error.to_string()))?;
    Ok(text + "\n")
}

fn write(file: &Path, text: &str) -> Outcome {
    std::fs::write(file, text).map_err(|error| Failure::yours(format!("{} can't be written: {error}", file.display())))
}

fn read_known(file: &Path) -> Result<KnownFindings, Failure> {
    let bytes = std::fs::read(file).map_err(|error| Failure::yours(format!("{}: {error}", file.display())))?;
    KnownFindings::parse(&bytes).map_err(|why| Failure::yours(format!("{}: {why}", file.display())))
}

/// What a file says that is written anew. A file that is something else is not written over.
fn before(file: &Path) -> Result<Option<KnownFindings>, Failure> {
    match file.exists() {
        true => read_known(file).map(Some),
        false => Ok(None),
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
        pair: pair(conform.pair.as_deref())?,
        deprecated_method: conform.deprecated_method,
    };
    let handle = conform.agent.map(|handle| handle.trim_start_matches('@').to_owned());
    Ok(Order { target, reach, caller, handle, tools_path: conform.tools_path, selection })
}

fn pair(words: Option<&[String]>) -> Result<Option<(String, String)>, Failure> {
    match words {
        None => Ok(None),
        Some([method, path]) if path.starts_with('/') => Ok(Some((method.clone(), path.clone()))),
        Some(_) => Err(Failure::usage("--pair: a method and a path are wanted").hint("--pair QUERY /weather")),
    }
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
    for CheckListing { id, section, level, title, .. } in checks {
        stdout(format_args!("{id:width$}  {title} ({level}, {section})\n"));
    }
    Ok(())
}
