//! Where records are kept: in files of the data folder, or in the store where several nodes have one.

use std::sync::Arc;

use forecourt_core::AgentId;
use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::copies::HeadCopy;
use crate::error::LogError;
use crate::log::{AttributionLog, ChainHead, SignedRecord};
use crate::options::LogOptions;
use crate::payload::RecordDraft;
use crate::shared_log::SharedLog;
use crate::signer::SignerSource;

/// Where records are kept.
#[derive(Clone)]
pub enum RecordLog {
    /// In files that one node writes.
    Files(Arc<AttributionLog>),
    /// In the store of all nodes.
    Shared(Arc<SharedLog>),
}

impl RecordLog {
    /// Goes on with other options and another key: the deployment was replaced.
    pub fn replace(&self, options: LogOptions, signer: Arc<dyn SignerSource>, copy: Option<Arc<dyn HeadCopy>>) {
        match self {
            Self::Files(log) => {
                log.replace(options, signer);
                log.copy_heads(copy);
            }
            Self::Shared(log) => {
                log.replace(options, signer);
                log.copy_heads(copy);
            }
        }
    }

    /// Tells those who keep heads how far the log is: for the end of a server.
    ///
    /// # Errors
    /// The disk or the store does not take it.
    pub fn close(&self) -> BoxFuture<'_, Result<(), LogError>> {
        match self {
            Self::Files(log) => log.close(),
            Self::Shared(log) => Box::pin(async {
                log.copy_now().await;
                Ok(())
            }),
        }
    }

    /// Signs and writes the record of a response, last in its agent's chain. Once this returns it is kept.
    ///
    /// # Errors
    /// [`LogError::Busy`] where too many wait, and whatever the disk or the store has to say.
    pub fn record<'a>(&'a self, draft: RecordDraft<'a>) -> BoxFuture<'a, Result<SignedRecord, LogError>> {
        match self {
            Self::Files(log) => log.record(draft),
            Self::Shared(log) => Box::pin(log.record(draft)),
        }
    }

    /// Signs and writes an event of an agent's life, last in its chain. Gives its Audit-ID. Base 8.2.
    ///
    /// # Errors
    /// As [`RecordLog::record`].
    pub fn event<'a>(
        &'a self,
        agent: &'a AgentId,
        said: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, LogError>> {
        match self {
            Self::Files(log) => log.event(agent, said),
            Self::Shared(log) => Box::pin(log.event(agent, said)),
        }
    }

    /// Says at once whether records can be kept.
    ///
    /// # Errors
    /// What was wrong last.
    pub fn ready(&self) -> BoxFuture<'_, Result<(), LogError>> {
        match self {
            Self::Files(log) => log.ready(),
            Self::Shared(log) => Box::pin(log.ready()),
        }
    }

    /// The record or event that is called `audit_id`, as it was signed.
    ///
    /// # Errors
    /// What is kept can't be read.
    pub fn find<'a>(&'a self, audit_id: &'a str) -> BoxFuture<'a, Result<Option<String>, LogError>> {
        match self {
            Self::Files(log) => log.find(audit_id),
            Self::Shared(log) => Box::pin(log.find(audit_id)),
        }
    }

    /// Where the chain of an agent stands; `None`: it has none.
    ///
    /// # Errors
    /// What is kept can't be read.
    pub fn head<'a>(&'a self, agent: &'a AgentId) -> BoxFuture<'a, Result<Option<ChainHead>, LogError>> {
        match self {
            Self::Files(log) => log.head(agent),
            Self::Shared(log) => Box::pin(log.head(agent)),
        }
    }

    /// The last `limit` records of an agent's chain, the newest first; at most [`crate::limits::CHAIN_READ_MAX`].
    ///
    /// # Errors
    /// What is kept can't be read.
    pub fn chain<'a>(&'a self, agent: &'a AgentId, limit: usize) -> BoxFuture<'a, Result<Vec<String>, LogError>> {
        match self {
            Self::Files(log) => log.chain(agent, limit),
            Self::Shared(log) => Box::pin(log.chain(agent, limit)),
        }
    }

    /// The last `limit` events of an agent, the newest first, each as its JWS.
    ///
    /// # Errors
    /// What is kept can't be read.
    pub fn events<'a>(&'a self, agent: &'a AgentId, limit: usize) -> BoxFuture<'a, Result<Vec<String>, LogError>> {
        match self {
            Self::Files(log) => log.events(agent, limit),
            Self::Shared(log) => Box::pin(log.events(agent, limit)),
        }
    }
}
