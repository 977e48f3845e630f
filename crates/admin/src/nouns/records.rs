//! Signed records of what was answered: how many there are, and whether anything was changed.

use std::path::PathBuf;

use forecourt_attribution::heads::{HEADS, HeadStream};
use forecourt_attribution::verify::{HeadWitness, Verification, verify};
use forecourt_attribution::{RecordKeys, folder, node_name, verify_shared};
use schemars::JsonSchema;
use serde::Serialize;

use crate::access::Command;
use crate::account::{self, Came};
use crate::api_error::ApiError;
use crate::desk::Ask;
use crate::verified::VerificationReport;

/// The signed records: of this node's data folder, or of the store that several nodes share.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Records {
    /// Whether any are kept.
    pub are_kept: bool,
    /// What came of looking through all of them last, since this node began.
    pub verified: Option<VerificationReport>,
}

pub(crate) async fn one(ask: Ask) -> Result<Records, ApiError> {
    let verified = ask.desk.verified.lock().clone();
    let are_kept = !ask.house.host.is_alone() || folder(&ask.desk.data).is_dir() || witness(&ask).await?.head.is_some();
    Ok(Records { are_kept, verified })
}

pub(crate) async fn look_through(ask: Command) -> Result<VerificationReport, ApiError> {
    let (folder, up_to) = (folder(&ask.desk.data), ask.now());
    let host = &ask.house.host;
    // First, since the files may go on meanwhile, and before the folder is missed: it may be gone.
    let store = witness(&ask).await?;
    let has_files = folder.is_dir() || store.head.is_some();
    if !has_files && host.is_alone() {
        return Err(ApiError::not_found("no records are kept on this node")
            .hint("records are kept of what is answered over AGTP"));
    }
    // It takes a place of the playground: reading a long log is as much work as a trial.
    let _one_at_a_time = ask.desk.place()?;
    let shared = match host.is_alone() {
        true => None,
        false => Some(verify_shared(&host.ledger(HEADS), None, &[], up_to).await.map_err(away)?),
    };
    // Nobody was ever told how far files are that nodes left behind when they began to share a store.
    let told = match (shared, has_files) {
        (Some(shared), false) => shared,
        (Some(shared), true) => shared.and(files(folder, Some(store).filter(|store| store.head.is_some())).await?),
        (None, _) => files(folder, Some(store)).await?,
    };
    let verified = VerificationReport {
        up_to,
        is_fine: told.is_fine(),
        records: told.records,
        events: told.events,
        unsigned: told.unsigned,
        agents: told.agents as u64,
        findings: told.findings.iter().map(ToString::to_string).collect(),
        more_findings: told.more_findings,
        notes: told.notes,
    };
    *ask.desk.verified.lock() = Some(verified.clone());
    account::note(&ask.house.host, &ask.actor.name, "verify", "records".to_owned(), None, Came::Done).await;
    Ok(verified)
}

/// What the store knows of how far the files of this node were: of those that are gone, too.
async fn witness(ask: &Ask) -> Result<HeadWitness, ApiError> {
    let node = node_name(&folder(&ask.desk.data)).map_err(|error| ApiError::internal(error.to_string()))?;
    HeadStream::new(ask.house.host.ledger(HEADS), node.as_deref()).witness().await.map_err(away)
}

fn away(error: forecourt_core::Error) -> ApiError {
    ApiError::internal(format!("the store: {error}"))
}

/// What came of the files of this node.
async fn files(folder: PathBuf, store: Option<HeadWitness>) -> Result<Verification, ApiError> {
    let looked = tokio::task::spawn_blocking(move || {
        // Without any keys, records that are signed are told one by one.
        let keys = RecordKeys::beside(&folder).unwrap_or_default();
        verify(&folder, &keys, store.as_slice(), &|_| {}, &|_| {}).map_err(|error| error.to_string())
    });
    let told = looked.await.map_err(|_| ApiError::internal("the records could not be looked at"))?;
    told.map_err(|error| ApiError::internal(format!("the records can't be read: {error}")))
}
