//! A deployment whose records are held against heads: a store that lasts, and a folder.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forecourt_attribution::heads::{HEADS, HeadStream};
use forecourt_attribution::verify::{HeadWitness, Verification, verify};
use forecourt_attribution::{AttributionLog, LogError, LogOptions, RecordKeys};
use forecourt_core::Store;
use forecourt_host::Ledger;
use forecourt_store::Memory;
use forecourt_testkit::HandClock;
use tempfile::TempDir;

use crate::support::{agent, close, draft, options, signer, source};

/// A deployment: a store that lasts, and a folder of records.
pub(crate) struct Kept {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<HandClock>,
    pub(crate) folder: TempDir,
}

impl Kept {
    pub(crate) fn new() -> Self {
        Self { store: Arc::new(Memory::new()), clock: Arc::new(HandClock::new()), folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn heads(&self) -> HeadStream {
        HeadStream::new(Ledger::new(self.store.clone(), self.clock.clone(), HEADS), None)
    }

    pub(crate) fn open(&self) -> Result<Arc<AttributionLog>, LogError> {
        self.open_with(options())
    }

    pub(crate) fn open_with(&self, options: LogOptions) -> Result<Arc<AttributionLog>, LogError> {
        let log = AttributionLog::open(self.folder.path(), options, source(&signer()), self.clock.clone())?;
        log.keep_heads(self.heads());
        Ok(log)
    }

    /// Records so many more, told to the store or not.
    pub(crate) async fn record(&self, count: u8, is_told: bool) -> String {
        let log = self.open().unwrap();
        let mut last = String::new();
        for number in 0..count {
            let agent = agent(number % 2 + 1);
            last = log.record(draft(Some(&agent), "r")).await.unwrap().audit_id;
        }
        if is_told {
            log.close().await.unwrap();
        }
        close(log);
        last
    }

    pub(crate) async fn verified(&self) -> Verification {
        let heads = self.heads();
        let head = heads.last().await.unwrap();
        let accepted = heads.accepted().await.unwrap();
        let store = HeadWitness { name: "the store".to_owned(), head, accepted };
        let keys = RecordKeys::beside(self.folder.path()).unwrap_or_default();
        verify(self.folder.path(), &keys, &[store], &|_| (), &|_| ()).unwrap()
    }

    pub(crate) fn copy(&self) -> TempDir {
        let copy = tempfile::tempdir().unwrap();
        copy_all(self.folder.path(), copy.path());
        copy
    }

    /// Puts a copy in place of the folder.
    pub(crate) fn set_back(&self, copy: &Path) {
        self.remove(|_| true);
        copy_all(copy, self.folder.path());
    }

    pub(crate) fn remove(&self, is_gone: impl Fn(&str) -> bool) {
        for entry in fs::read_dir(self.folder.path()).unwrap().map(Result::unwrap) {
            if is_gone(entry.file_name().to_str().unwrap()) {
                fs::remove_file(entry.path()).unwrap();
            }
        }
    }

    /// Why nothing can be recorded.
    pub(crate) async fn refused(&self) -> LogError {
        let log = match self.open() {
            Ok(log) => log,
            Err(error) => return error,
        };
        let refused = log.record(draft(Some(&agent(1)), "no")).await.unwrap_err();
        assert!(log.ready().await.is_err(), "told before anything is done");
        refused
    }
}

pub(crate) fn copy_all(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

pub(crate) fn messages(told: &Verification) -> String {
    told.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Lets paused time go by, with all that is to be done until then.
pub(crate) async fn passes(time: Duration) {
    tokio::time::sleep(time).await;
}
