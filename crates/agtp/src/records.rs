//! Signed records of what is answered: one for every response, in a chain for each agent. Base 8.
//!
//! | file | holds |
//! |---|---|
//! | `copies.rs` | a second place for how far the log is |
//! | `facts.rs` | what a record says of the caller |
//! | `keys.rs` | the key that signs |

mod copies;
mod facts;
mod keys;

use std::path::PathBuf;
use std::time::Duration;

use forecourt_attribution::heads::{HEADS, HeadStream};
use forecourt_attribution::{AttributionLog, LogError, RecordLog, SharedLog, folder};
use forecourt_core::AgentId;
use forecourt_surface::Mount;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::settings::{AgtpSettings, AuditFailure};

pub(crate) use facts::RecordFacts;
pub(crate) use keys::RecordKey;

/// Random bytes in the name of a node.
const NODE_NAME_BYTES: usize = 8;
/// How long a host that stops tells how far the records are.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(10);

/// The log of signed records, for one state of the deployment.
pub(crate) struct Records {
    /// `None`: the operator wants none, or it could not be opened.
    log: Option<RecordLog>,
    /// Why it could not be opened.
    unusable: Option<String>,
    /// Whether a response leaves whose record can't be kept.
    pub(crate) on_failure: AuditFailure,
    /// The key that signs.
    pub(crate) key: RecordKey,
}

/// The log of this process, which lasts when the deployment is replaced.
#[derive(Default)]
struct OpenLog(Mutex<Option<(PathBuf, RecordLog)>>);

impl Records {
    /// Opens the log in the data folder, or goes on with the one that is open.
    pub(crate) fn new(mount: &Mount, settings: &AgtpSettings, server_id: &str) -> Self {
        let on_failure = settings.audit.on_failure;
        let (key, unreadable) = match RecordKey::new(&settings.signing, mount.keys.clone()) {
            Ok(key) => (key, None),
            Err(error) => (RecordKey::unsigned(mount.keys.clone()), Some(error)),
        };
        // `Serve`, since nothing may be refused for want of records that the operator does not want.
        if !settings.audit.enabled {
            return Self { log: None, unusable: None, on_failure: AuditFailure::Serve, key };
        }
        if unreadable.is_some() {
            return Self { log: None, unusable: unreadable, on_failure, key };
        }
        match Self::open(mount, settings, server_id, &key) {
            Ok(log) => Self { log: Some(log), unusable: None, on_failure, key },
            Err(error) => Self { log: None, unusable: Some(error.to_string()), on_failure, key },
        }
    }

    fn open(mount: &Mount, settings: &AgtpSettings, server_id: &str, key: &RecordKey) -> Result<RecordLog, LogError> {
        let options = settings.audit.options(server_id);
        let kept = mount.services.keep(OpenLog::default);
        let mut open = kept.0.lock();
        let folder = folder(&mount.data);
        let copy = copies::copy(&settings.audit, &mount.egress);
        // The log stays open when the deployment is replaced: only its options and its key are new.
        if let Some((of, log)) = open.as_ref().filter(|(of, _)| *of == folder) {
            tracing::debug!(folder = %of.display(), "records go on where they are");
            log.replace(options, key.source(), copy);
            return Ok(log.clone());
        }
        let clock = mount.host.clock().clone();
        let log = match mount.host.is_alone() {
            true => {
                let log = AttributionLog::open(&folder, options, key.source(), clock)?;
                log.copy_heads(copy);
                log.keep_heads(HeadStream::new(mount.host.ledger(HEADS), log.node()));
                RecordLog::Files(log)
            }
            // One chain for each agent, whichever node answers it.
            false => {
                let log = SharedLog::new(mount.host.ledger(HEADS), node_name(mount), options, key.source(), clock);
                log.copy_heads(copy);
                RecordLog::Shared(log)
            }
        };
        hold_and_close(log.clone(), mount.host.stopping().clone());
        *open = Some((folder, log.clone()));
        Ok(log)
    }

    /// Why no record can be kept, if the operator wants responses refused then.
    pub(crate) fn unusable(&self) -> Option<&str> {
        self.unusable.as_deref().filter(|_| self.on_failure == AuditFailure::Refuse)
    }

    /// The log, where there is one.
    pub(crate) fn log(&self) -> Option<&RecordLog> {
        self.log.as_ref()
    }

    /// Adds an event of an agent's life to its chain. Gives its Audit-ID; `None` where no records are kept, or this one
    /// could not be, which is told in the log: what happened has happened. Base 8.2.
    pub(crate) async fn event(&self, agent: &AgentId, event: Map<String, Value>) -> Option<String> {
        let log = self.log.as_ref()?;
        match log.event(agent, event).await {
            Ok(audit_id) => Some(audit_id),
            Err(error) => {
                tracing::error!(%error, %agent, "an event of an agent's life was not recorded");
                None
            }
        }
    }
}

/// Holds the log against its head in the store before the first request comes, so that an operator reads at once what is
/// wrong, and tells the store how far it is when the host stops.
fn hold_and_close(log: RecordLog, stopping: CancellationToken) {
    let Ok(runtime) = Handle::try_current() else { return };
    runtime.spawn(async move {
        // Told in the log by whoever finds it; whoever asks is told, too. A host that stops meanwhile waits for neither.
        let held = async {
            let _ = log.ready().await;
            std::future::pending::<()>().await;
        };
        stopping.run_until_cancelled(held).await;
        // What is left undone here, the next start does.
        match timeout(CLOSE_TIME_MAX, log.close()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "how far the records are was not told to the store"),
            Err(_) => tracing::warn!("how far the records are was not told in time to all who keep that"),
        }
    });
}

/// A name for this run among the nodes, by which its records are told from others'.
fn node_name(mount: &Mount) -> String {
    let mut name = [0; NODE_NAME_BYTES];
    mount.host.entropy().fill(&mut name);
    name.iter().map(|byte| format!("{byte:02x}")).collect()
}
