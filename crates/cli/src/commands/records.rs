//! `forecourt audit verify`, `accept` and `export`: signed records of what was answered.

use std::fs::{self, File};
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt::storage::{self, StorePresence};
use forecourt_attribution::heads::{HEADS, HeadStream};
use forecourt_attribution::verify::{HeadWitness, Verification, verify as verify_log};
use forecourt_attribution::{
    ExportFilter, ExportedRecord, FileCopy, LogError, RecordKeys, RecordSigner, RunningHash, accept as accept_log,
    export as export_log, export_shared, folder, node_name, verify_shared,
};
use forecourt_core::{AgentId, Clock, SystemClock};
use forecourt_host::{Ledger, SystemEntropy};
use forecourt_identity::HostKeys;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use super::printable::counted;
use crate::args::{AcceptRecords, ExportRecords, Place, VerifyRecords};
use crate::output::{Failure, Outcome, print_json, stderrln, stdoutln};

/// What makes a folder a deployment.
const DEPLOYMENT: &str = "forecourt.toml";
/// The store, among those who know how far records were.
const STORE: &str = "the store";
/// Bytes of a file of keys that is read.
const KEYS_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Looks at every record.
pub(crate) async fn verify(arguments: &VerifyRecords) -> Outcome {
    let folder = folder(&arguments.place.data_dir());
    let shared = match shared_ledger(&arguments.place).await? {
        Some(ledger) => Some(verify_stored(&ledger, arguments).await?),
        None => None,
    };
    // What nodes wrote into files before they kept records in their store.
    if let Some(told) = shared.as_ref().filter(|_| !folder.is_dir()) {
        return tell(arguments, told, STORE, &[STORE.to_owned()]);
    }
    // Before the files are looked at, which may go on meanwhile; and before the folder is missed, since it may be gone.
    let witnesses = witnesses(arguments, &folder, shared.is_some()).await?;
    if !folder.is_dir() && witnesses.is_empty() {
        return Err(no_records(&folder));
    }
    let keys = match &arguments.keys {
        Some(path) => read_keys(path)?,
        // Without any, records that are signed are told one by one.
        None => RecordKeys::beside(&folder).unwrap_or_default(),
    };
    let bar = bar();
    let told = verify_log(&folder, &keys, &witnesses, &|bytes| bar.set_length(bytes), &|bytes| bar.inc(bytes))
        .map_err(unreadable)?;
    bar.finish_and_clear();
    if arguments.keys.is_none() && !arguments.json {
        stderrln!(
            "note: signatures are held against {} keys that are kept beside the records; name others with --keys",
            keys.len()
        );
    }
    let mut names: Vec<String> = witnesses.into_iter().map(|witness| witness.name).collect();
    if shared.is_some() && names.iter().all(|name| name != STORE) {
        names.push(STORE.to_owned());
    }
    let told = match shared {
        Some(shared) => shared.and(told),
        None => told,
    };
    tell(arguments, &told, &folder.display().to_string(), &names)
}

/// Looks at the records that nodes share.
async fn verify_stored(ledger: &Ledger, arguments: &VerifyRecords) -> Result<Verification, Failure> {
    // Before the store is looked at, which goes on meanwhile.
    let mut elsewhere = Vec::new();
    for path in &arguments.head_copies {
        elsewhere
            .extend(FileCopy::new(path).statements(SystemClock.now()).map_err(|error| unreadable_file(path, &error))?);
    }
    let keys = arguments.keys.as_deref().map(read_keys).transpose()?;
    let told = verify_shared(ledger, keys.as_ref(), &elsewhere, SystemClock.now()).await;
    let mut told = told.map_err(|error| Failure::ours(format!("the store: {error}")))?;
    if elsewhere.is_empty() {
        told.notes.push(
            "the end of each chain is known by the store alone: `head_copy` in [agtp.audit] and --head-copy hold it \
             against a second place"
                .to_owned(),
        );
    }
    Ok(told)
}

/// The streams with records of a deployment whose nodes share them.
async fn shared_ledger(place: &Place) -> Result<Option<Ledger>, Failure> {
    if !place.dir.join(DEPLOYMENT).exists() && place.named_by.is_none() {
        return Ok(None);
    }
    let deployment = super::load(place)?;
    if !deployment.is_shared() {
        return Ok(None);
    }
    Ok(Some(Ledger::new(storage::look(&deployment).await?, Arc::new(SystemClock), HEADS)))
}

/// Prints what a verification came to, and fails where anything is wrong.
fn tell(arguments: &VerifyRecords, told: &Verification, place: &str, held_against: &[String]) -> Outcome {
    match arguments.json {
        true => print_json(&as_json(told, held_against))?,
        false => print(told, place),
    }
    match told.findings.len() as u64 + told.more_findings {
        0 => Ok(()),
        1 => Err(Failure::yours("the records are not what was written: one thing is wrong")),
        count => Err(Failure::yours(format!("the records are not what was written: {count} things are wrong"))),
    }
}

/// Has the records go on without what is gone, as the operator says.
pub(crate) async fn accept(arguments: &AcceptRecords) -> Outcome {
    let deployment = super::load(&arguments.place)?;
    let data = arguments.place.data_dir();
    let folder = folder(&data);
    if deployment.is_shared() && !folder.is_dir() {
        return Err(Failure::yours("records of several nodes are in their store, which nothing stops at")
            .hint("`forecourt audit verify` tells what is gone"));
    }
    let signer = signer(&arguments.place)?;
    if signer.public().is_none() {
        return Err(Failure::yours(format!("there is no key in {}", data.display()))
            .hint("serve the deployment first, or name its data folder with --data DIR"));
    }
    let store = storage::shared_store(&deployment, deployment.data_folder()).await?;
    let head = accept_log(&folder, &signer, &arguments.reason, SystemClock.now()).map_err(unreadable)?;
    let node = node_name(&folder).map_err(unreadable)?;
    let heads = HeadStream::new(Ledger::new(store, Arc::new(SystemClock), HEADS), node.as_deref());
    heads.accept(&head).await.map_err(|error| Failure::ours(format!("the store: {error}")))?;
    for path in &arguments.head_copies {
        FileCopy::new(path).append(std::slice::from_ref(&head)).map_err(|error| unwritable(path, &error))?;
    }
    stdoutln!("records in {} go on from where they end; `forecourt audit verify` tells why", folder.display());
    Ok(())
}

/// Writes the records that were asked for.
pub(crate) async fn export(arguments: &ExportRecords) -> Outcome {
    let shared = shared_ledger(&arguments.place).await?;
    let folder = match &shared {
        Some(_) => Some(folder(&arguments.place.data_dir())).filter(|folder| folder.is_dir()),
        None => Some(kept(&arguments.place)?),
    };
    let now = SystemClock.now();
    let since = arguments.since.as_deref().map(|text| super::audit::moment(text, now)).transpose()?;
    let agent = arguments.agent.as_deref().map(AgentId::parse).transpose();
    let agent = agent.map_err(|error| Failure::usage(error.to_string()).hint("INSPECT and the manifest name it"))?;
    let signer = signer(&arguments.place)?;
    let out: Box<dyn Write + Send> = match &arguments.out {
        Some(path) => Box::new(File::create(path).map_err(|error| unwritable(path, &error))?),
        None => Box::new(std::io::stdout()),
    };
    let named = arguments.out.clone().unwrap_or_else(|| PathBuf::from("standard output"));
    let mut lines = Lines { out: BufWriter::new(out), hash: RunningHash::new() };
    let filter = ExportFilter { agent, since };
    let mut count = 0;
    if let Some(folder) = folder {
        count += export_log(&folder, &filter, &mut |record| lines.record(record)).map_err(unreadable)?;
    }
    if let Some(ledger) = shared {
        let mut take = |record: ExportedRecord<'_>| lines.record(record);
        let written = export_shared(&ledger, &filter, &mut take).await;
        let written = written.map_err(|error| Failure::ours(format!("the store: {error}")))?;
        count += written.map_err(|error| unwritable(&named, &error))?;
    }
    // Before the line of the checkpoint, which names this hash and can't be part of it.
    let sha256 = lines.hash.clone().finish();
    let statement = json!({"records": count, "sha256": sha256, "exported_at": now}).to_string();
    let ended =
        lines.write(&json!({"checkpoint": signer.compact(statement.as_bytes())})).and_then(|()| lines.out.flush());
    ended.map_err(|error| unwritable(&named, &error))?;
    if arguments.out.is_some() {
        stderrln!("{count} records are in {}", named.display());
    }
    Ok(())
}

/// Lines, and what they hash to.
struct Lines {
    out: BufWriter<Box<dyn Write + Send>>,
    hash: RunningHash,
}

impl Lines {
    fn record(&mut self, record: ExportedRecord<'_>) -> std::io::Result<()> {
        let kind = if record.is_event { "event" } else { "record" };
        self.write(&json!({"audit_id": record.audit_id, "kind": kind, "jws": record.jws}))
    }

    fn write(&mut self, line: &Value) -> std::io::Result<()> {
        let line = format!("{line}\n");
        self.hash.update(line.as_bytes());
        self.out.write_all(line.as_bytes())
    }
}

/// Who is asked how far the log was: the store, and the files that were named.
async fn witnesses(arguments: &VerifyRecords, folder: &Path, is_shared: bool) -> Result<Vec<HeadWitness>, Failure> {
    let mut found: Vec<HeadWitness> = store_witness(&arguments.place, folder).await?.into_iter().collect();
    for path in &arguments.head_copies {
        let node = node_name(folder).map_err(unreadable)?;
        found.push(FileCopy::new(path).witness(node.as_deref()).map_err(|error| unreadable_file(path, &error))?);
    }
    // Nobody was ever told how far files are that nodes left behind when they began to share a store.
    found.retain(|witness| !is_shared || witness.head.is_some());
    if found.is_empty() {
        stderrln!("note: nobody but {} itself was asked how far its records were", folder.display());
    }
    Ok(found)
}

/// What the store of the deployment knows; `None`: a copy of the records is looked at without one, or it is in memory.
async fn store_witness(place: &Place, folder: &Path) -> Result<Option<HeadWitness>, Failure> {
    if !place.dir.join(DEPLOYMENT).exists() && place.named_by.is_none() {
        return Ok(None);
    }
    let deployment = super::load(place)?;
    match storage::presence(&deployment) {
        StorePresence::InMemory => Ok(None),
        // Nobody is left who could say that nothing was ever written.
        StorePresence::Missing if !folder.is_dir() => Err(no_records(folder)),
        StorePresence::Missing => Ok(Some(HeadWitness::knowing_nothing(STORE))),
        StorePresence::There => {
            let node = node_name(folder).map_err(unreadable)?;
            let ledger = Ledger::new(storage::look(&deployment).await?, Arc::new(SystemClock), HEADS);
            let told = HeadStream::new(ledger, node.as_deref()).witness().await;
            told.map(Some).map_err(|error| Failure::ours(format!("the store: {error}")))
        }
    }
}

/// The folder with the records of a deployment.
fn kept(place: &Place) -> Result<PathBuf, Failure> {
    let folder = folder(&place.data_dir());
    if folder.is_dir() { Ok(folder) } else { Err(no_records(&folder)) }
}

fn no_records(folder: &Path) -> Failure {
    Failure::yours(format!("no records are kept in {} yet", folder.display()))
        .hint("serve the deployment and call it over AGTP first, or name its data folder with --data DIR")
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

fn print(told: &Verification, place: &str) {
    for finding in &told.findings {
        stdoutln!("{finding}");
    }
    if told.more_findings > 0 {
        stdoutln!("and {} more", told.more_findings);
    }
    told.notes.iter().for_each(|note| stderrln!("note: {note}"));
    if told.is_unwritten {
        stdoutln!("{place}: no record was ever written, as far as files and store know");
        return;
    }
    let Verification { segments, records, events, agents, .. } = told;
    let verdict = if told.is_fine() { "all is as it was written" } else { "not all is as it was written" };
    let (records, events) = (counted(*records, "record"), counted(*events, "event"));
    let (agents, files) = (counted(*agents as u64, "agent"), counted(*segments as u64, "file"));
    stdoutln!("{place}: {records} and {events} of {agents} in {files}: {verdict}");
}

fn as_json(told: &Verification, held_against: &[String]) -> Value {
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
        "notes": told.notes, "never_written": told.is_unwritten, "held_against": held_against,
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

fn unreadable_file(path: &Path, error: &std::io::Error) -> Failure {
    Failure::yours(format!("{}: {error}", path.display()))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::yours(format!("{}: {error}", path.display()))
}
