//! A log in a folder of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_attribution::verify::{Verification, verify};
use forecourt_attribution::{
    AttributionLog, LogOptions, RecordDraft, RecordKeys, RecordSigner, SignedRecord, SignerSource,
};
use forecourt_core::AgentId;
use forecourt_identity::SigningKey;
use forecourt_testkit::{CountedEntropy, HandClock};
use tempfile::TempDir;

/// A log in a folder of its own.
pub(crate) struct TestLog {
    pub(crate) folder: TempDir,
    pub(crate) clock: Arc<HandClock>,
    pub(crate) log: Arc<AttributionLog>,
}

pub(crate) fn signer() -> Arc<RecordSigner> {
    Arc::new(RecordSigner::ed25519(SigningKey::generate(&CountedEntropy::default()), None))
}

pub(crate) fn source(signer: &Arc<RecordSigner>) -> Arc<dyn SignerSource> {
    Arc::new(Arc::clone(signer))
}

/// Signs statements on the log, and no record.
pub(crate) struct UnsignedRecords;

impl SignerSource for UnsignedRecords {
    fn signer(&self) -> Arc<RecordSigner> {
        Arc::new(RecordSigner::unsigned())
    }

    fn statement_signer(&self) -> Arc<RecordSigner> {
        signer()
    }
}

pub(crate) fn open_in(folder: &Path, options: LogOptions, clock: Arc<HandClock>) -> Arc<AttributionLog> {
    AttributionLog::open(folder, options, source(&signer()), clock).expect("a log")
}

pub(crate) fn options() -> LogOptions {
    LogOptions { server_id: "srv.example".to_owned(), ..LogOptions::default() }
}

pub(crate) fn kept(options: LogOptions) -> TestLog {
    kept_by(options, source(&signer()))
}

pub(crate) fn kept_by(options: LogOptions, source: Arc<dyn SignerSource>) -> TestLog {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Arc::new(HandClock::new()));
    let log = AttributionLog::open(folder.path(), options, source, clock.clone()).expect("a log");
    TestLog { folder, clock, log }
}

/// Agents by a number from 1 on.
pub(crate) fn agent(number: u8) -> AgentId {
    AgentId::of_hash(&[number; 32])
}

pub(crate) fn draft<'a>(agent: Option<&'a AgentId>, response_id: &'a str) -> RecordDraft<'a> {
    RecordDraft { server_id: "srv.example", status: 200, agent, response_id, ..RecordDraft::default() }
}

impl TestLog {
    pub(crate) async fn record(&self, agent: &AgentId, response_id: &str) -> SignedRecord {
        self.log.record(draft(Some(agent), response_id)).await.expect("a record")
    }

    /// Closes the log, so that all of it is on the disk, and gives its folder.
    pub(crate) fn closed(self) -> TempDir {
        let Self { folder, log, .. } = self;
        close(log);
        folder
    }
}

/// Drops a log once its writer has let go of it, which it does soon after its last answer.
pub(crate) fn close(log: Arc<AttributionLog>) {
    while Arc::strong_count(&log) > 1 {
        std::thread::yield_now();
    }
    drop(log);
}

pub(crate) fn verified(folder: &Path) -> Verification {
    let keys = RecordKeys::beside(folder).unwrap_or_default();
    verify(folder, &keys, &[], &|_| (), &|_| ()).expect("a folder")
}

pub(crate) fn segment(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("segment-{number:010}.log"))
}

/// The payload of a record.
pub(crate) fn payload(jws: &str) -> serde_json::Value {
    use base64::Engine;
    let payload = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(jws.split('.').nth(1).unwrap()).unwrap();
    serde_json::from_slice(&payload).unwrap()
}
