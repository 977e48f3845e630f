//! `forecourt audit verify` and `forecourt audit export`: signed records of what was answered.

use std::fs::{self, File};
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt::{Deployment, storage};
use forecourt_attribution::anchors::{ANCHORS, MARK, anchor_stream};
use forecourt_attribution::verify::{Verification, verify as verify_log};
use forecourt_attribution::{
    ExportFilter, LogError, RecordKeys, RecordSigner, RunningHash, export as export_log, folder, node_name,
};
use forecourt_core::{AgentId, Clock, SystemClock};
use forecourt_host::{Ledger, SystemEntropy};
use forecourt_identity::HostKeys;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use crate::args::{ExportRecords, Place, VerifyRecords};
use crate::output::{Failure, Outcome, print_json, stderrln, stdoutln};

/// Bytes of a file of keys that is read.
const KEYS_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Looks at every record.
pub(crate) async fn verify(arguments: &VerifyRecords) -> Outcome {
    let folder = kept(&arguments.place)?;
    let anchor = anchor(&arguments.place, &folder).await?;
    let keys = match &arguments.keys {
        Some(path) => read_keys(path)?,
        // Without any, records that are signed are told one by one.
        None => RecordKeys::beside(&folder).unwrap_or_default(),
    };
    let bar = bar();
    let told = verify_log(&folder, &keys, anchor.as_deref(), &|bytes| bar.set_length(bytes), &|bytes| bar.inc(bytes))
        .map_err(unreadable)?;
    bar.finish_and_clear();
    match arguments.json {
        true => print_json(&as_json(&told))?,
        false => print(&told, &folder, arguments.keys.is_none().then_some(keys.len())),
    }
    match told.findings.len() as u64 + told.more_findings {
        0 => Ok(()),
        1 => Err(Failure::yours("the records are not what was written: one thing is wrong")),
        count => Err(Failure::yours(format!("the records are not what was written: {count} things are wrong"))),
    }
}

/// Writes the records that were asked for.
pub(crate) fn export(arguments: &ExportRecords) -> Outcome {
    let folder = kept(&arguments.place)?;
    let now = SystemClock.now();
    let since = arguments.since.as_deref().map(|text| super::audit::moment(text, now)).transpose()?;
    let agent = arguments.agent.as_deref().map(AgentId::parse).transpose();
    let agent = agent.map_err(|error| Failure::usage(error.to_string()).hint("INSPECT and the manifest name it"))?;
    let signer = signer(&arguments.place)?;
    let mut out: Box<dyn Write> = match &arguments.out {
        Some(path) => Box::new(File::create(path).map_err(|error| unwritable(path, &error))?),
        None => Box::new(std::io::stdout().lock()),
    };
    let sink: &mut dyn Write = &mut out;
    let mut lines = Lines { out: BufWriter::new(sink), hash: RunningHash::new() };
    let count = export_log(&folder, &ExportFilter { agent, since }, &mut |record| {
        let kind = if record.is_event { "event" } else { "record" };
        lines.write(&json!({"audit_id": record.audit_id, "kind": kind, "jws": record.jws}))
    });
    let count = count.map_err(unreadable)?;
    // Before the line of the checkpoint, which names this hash and can't be part of it.
    let sha256 = lines.hash.clone().finish();
    let statement = json!({"records": count, "sha256": sha256, "exported_at": now}).to_string();
    let named = arguments.out.clone().unwrap_or_else(|| PathBuf::from("standard output"));
    let ended =
        lines.write(&json!({"checkpoint": signer.compact(statement.as_bytes())})).and_then(|()| lines.out.flush());
    ended.map_err(|error| unwritable(&named, &error))?;
    if arguments.out.is_some() {
        stderrln!("{count} records are in {}", named.display());
    }
    Ok(())
}

/// Lines, and what they hash to.
struct Lines<'a> {
    out: BufWriter<&'a mut dyn Write>,
    hash: RunningHash,
}

impl Lines<'_> {
    fn write(&mut self, line: &Value) -> std::io::Result<()> {
        let line = format!("{line}\n");
        self.hash.update(line.as_bytes());
        self.out.write_all(line.as_bytes())
    }
}

/// How far the log was when this node told the store that nodes share; `None` where there is one node.
async fn anchor(place: &Place, folder: &Path) -> Result<Option<String>, Failure> {
    let Some(node) = node_name(folder).map_err(unreadable)? else { return Ok(None) };
    // A copy of the records is looked at without their deployment.
    let Some(deployment) = super::load(place).ok().filter(Deployment::is_shared) else {
        stderrln!("note: the store of the nodes is not asked how far the records of node {node} were");
        return Ok(None);
    };
    let store = storage::shared_store(&deployment, deployment.data_folder()).await?;
    let found = Ledger::new(store, Arc::new(SystemClock), ANCHORS).last(&anchor_stream(&node)).await;
    let found = found.map_err(|error| Failure::ours(error.to_string()))?;
    let mark = found.and_then(|(_, entry)| entry.body[MARK].as_str().map(str::to_owned));
    match &mark {
        Some(_) => stderrln!("note: held against what node {node} told the store of how far its records are"),
        None => stderrln!("note: node {node} told the store nothing of its records yet"),
    }
    Ok(mark)
}

/// The folder with the records of a deployment.
fn kept(place: &Place) -> Result<PathBuf, Failure> {
    let folder = folder(&place.data_dir());
    match folder.is_dir() {
        true => Ok(folder),
        false => Err(Failure::yours(format!("no records are kept in {} yet", folder.display()))
            .hint("serve the deployment and call it over AGTP first, or name its data folder with --data DIR")),
    }
}

fn read_keys(path: &Path) -> Result<RecordKeys, Failure> {
    let wrong = |error: String| Failure::yours(format!("{}: {error}", path.display()));
    let length = path.metadata().map_err(|error| wrong(error.to_string()))?.len();
    if length > KEYS_BYTES_MAX {
        return Err(wrong(format!("it has more than {KEYS_BYTES_MAX} bytes")));
    }
    let bytes = fs::read(path).map_err(|error| wrong(error.to_string()))?;
    let document: Value = serde_json::from_slice(&bytes).map_err(|error| wrong(format!("it is not JSON: {error}")))?;
    RecordKeys::read(&document).map_err(wrong)
}

/// What signs the statement at the end: the host's own key, where there is one.
fn signer(place: &Place) -> Result<RecordSigner, Failure> {
    let data = place.data_dir();
    // `load_or_create` would make a key in a mere copy of the records.
    if !data.join(HostKeys::FILE).exists() {
        return Ok(RecordSigner::unsigned());
    }
    let keys = HostKeys::load_or_create(&data, &SystemEntropy).map_err(|error| Failure::ours(error.to_string()))?;
    Ok(RecordSigner::ed25519(keys.current().clone(), None))
}

fn print(told: &Verification, folder: &Path, beside: Option<usize>) {
    for finding in &told.findings {
        stdoutln!("{finding}");
    }
    if told.more_findings > 0 {
        stdoutln!("and {} more", told.more_findings);
    }
    told.notes.iter().for_each(|note| stderrln!("note: {note}"));
    if let Some(keys) = beside {
        stderrln!(
            "note: signatures are held against {keys} keys that are kept beside the records; name others with --keys"
        );
    }
    let Verification { segments, records, events, agents, .. } = told;
    let verdict = if told.is_fine() { "all is as it was written" } else { "not all is as it was written" };
    stdoutln!(
        "{}: {records} records and {events} events of {agents} agents in {segments} files: {verdict}",
        folder.display()
    );
}

fn as_json(told: &Verification) -> Value {
    let findings: Vec<Value> = told
        .findings
        .iter()
        .map(|finding| {
            json!({"file": finding.path, "offset": finding.offset, "audit_id": finding.audit_id, "message": finding.message})
        })
        .collect();
    json!({
        "ok": told.is_fine(), "segments": told.segments, "records": told.records, "events": told.events,
        "unsigned": told.unsigned, "agents": told.agents, "findings": findings, "more_findings": told.more_findings,
        "notes": told.notes,
    })
}

/// A bar on a terminal, nothing in a pipe.
fn bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("verifying {bar:20} {percent:>3} %  {bytes} of {total_bytes}, {eta} left");
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

fn unreadable(error: LogError) -> Failure {
    Failure::yours(format!("the records can't be read: {error}"))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::yours(format!("{}: {error}", path.display()))
}
