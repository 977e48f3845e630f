//! Making a contract, within the bounds and in the order of the stream.

use std::sync::Arc;
use std::time::Duration;

use forecourt_contract::negotiation::NegotiationOrigin;
use forecourt_core::store::Account;
use forecourt_core::{Error, Timestamp, ids};
use serde_json::Value;

use super::entry::{Definition, NewEntry};
use super::follow::away;
use super::record::{Contract, ContractHolder, ContractRecord, ContractScope, ContractState};
use super::{Contracts, STREAM, StoreAway, forgotten_at};
use crate::Synthesis;
use crate::limits::{APPEND_TRIES_MAX, CONTRACT_BYTES_MAX, KNOWN_PER_CONTRACT_MAX};
use crate::settings::SynthesisSettings;

/// A contract that is to be made.
pub(crate) struct ContractDraft<'a> {
    /// Whose it will be.
    pub holder: ContractHolder,
    /// What it is bound to besides.
    pub scope: ContractScope,
    /// How it comes about.
    pub origin: NegotiationOrigin,
    /// Whether it is for longer than a session.
    pub is_persistent: bool,
    /// What it promises and how that is kept.
    pub synthesis: &'a Synthesis,
    /// For how long.
    pub lasts: Duration,
    /// Whether it waits to be accepted.
    pub is_offer: bool,
    /// Whether one that equals it and is open already does as well.
    pub may_be_known: bool,
    /// Whose bytes it counts towards.
    pub account: Account,
}

/// Why a contract was not made.
#[derive(Debug)]
pub(crate) enum MakeError {
    /// A bound is met: as the key that sets it.
    Full(&'static str),
    /// What would be written is too large, or has no canonical form. For the caller to read.
    Unfit(String),
    /// The store is away.
    Away,
}

impl From<StoreAway> for MakeError {
    fn from(_: StoreAway) -> Self {
        Self::Away
    }
}

impl Contracts {
    /// Makes a contract and gives it back once it is durable, with whether it is new.
    pub(crate) async fn make(
        &self,
        draft: ContractDraft<'_>,
        bounds: &SynthesisSettings,
    ) -> Result<(Contract, bool), MakeError> {
        let definition = Definition::of(draft.synthesis);
        let mut record = self.record(&draft, &definition)?;
        // One at a time within a process, or its own calls would lose the comparison below to each other.
        let _turn = self.making.lock().await;
        for _ in 0..APPEND_TRIES_MAX {
            let last = self.catch_up_to_the_last().await?;
            // After catching up, in each try: the same call may have led to this contract in another process meanwhile.
            if let Some(known) = self.known(&record).filter(|_| draft.may_be_known) {
                return Ok((whole(known, definition), false));
            }
            self.has_room(&record.holder, bounds)?;
            let entry = NewEntry::Made { record: &record, definition: &definition };
            let body = serde_json::to_value(&entry).map_err(|error| away(&error))?;
            let until = Some(forgotten_at(&record));
            let account = draft.account.clone();
            let written = self.ledger.append_on(account, STREAM, body, until, Some(last)).await;
            match written {
                // Another process wrote in between: its entry may fill the last place, so the bounds are looked at
                // again.
                Ok(None) => continue,
                Ok(Some(number)) => {
                    self.catch_up().await?;
                    (record.number, record.settled_by) = (number, number);
                    let known = self.get(&record.synthesis_id).unwrap_or_else(|| Arc::new(record));
                    return Ok((whole(known, definition), true));
                }
                Err(Error::Full { bound }) => return Err(MakeError::Full(bound.key().unwrap_or("store.size_max"))),
                Err(error) => return Err(away(&error).into()),
            }
        }
        tracing::warn!("a contract was not made, since other processes kept being first");
        Err(MakeError::Away)
    }

    /// Reads the stream to its end, and gives the number of the last entry that can be read now.
    async fn catch_up_to_the_last(&self) -> Result<u64, StoreAway> {
        for _ in 0..APPEND_TRIES_MAX {
            let read = self.follower.catch_up().await?;
            match self.ledger.last(STREAM).await.map_err(|error| away(&error))? {
                Some((last, _)) if last <= read => return Ok(last),
                Some(_) => {}
                None => {
                    let begun = serde_json::to_value(NewEntry::Begun).map_err(|error| away(&error))?;
                    // Of two processes that begin the stream at once, the store takes one; both then read what it
                    // wrote.
                    let written = self.ledger.append(STREAM, begun, None, Some(0)).await;
                    written.map_err(|error| away(&error))?;
                }
            }
        }
        Err(away(&"other processes never stop writing"))
    }

    fn record(&self, draft: &ContractDraft<'_>, definition: &Definition) -> Result<ContractRecord, MakeError> {
        let lineage = draft.synthesis.lineage.clone();
        let hashes = definition.hashes(lineage.as_ref()).map_err(MakeError::Unfit)?;
        let issued_at = self.clock.now();
        let record = ContractRecord {
            synthesis_id: ids::mint(self.entropy.as_ref()).into(),
            holder: draft.holder.clone(),
            scope: draft.scope.clone(),
            origin: draft.origin,
            is_persistent: draft.is_persistent,
            method: draft.synthesis.endpoint.method.clone(),
            path: draft.synthesis.endpoint.path.clone(),
            lineage,
            contract_hash: hashes.contract,
            plan_hash: hashes.plan,
            issued_at,
            expires_at: issued_at.checked_add(draft.lasts).unwrap_or(Timestamp::MAX),
            state: if draft.is_offer { ContractState::Offered } else { ContractState::Active },
            number: 0,
            settled_by: 0,
        };
        let entry = serde_json::to_value(NewEntry::Made { record: &record, definition });
        let bytes = entry.as_ref().map_or(usize::MAX, json_len);
        match bytes > CONTRACT_BYTES_MAX {
            true => Err(MakeError::Unfit(format!("a contract has at most {CONTRACT_BYTES_MAX} bytes as it is stored"))),
            false => Ok(record),
        }
    }

    /// An open contract that equals one that is to be made.
    fn known(&self, wanted: &ContractRecord) -> Option<Arc<ContractRecord>> {
        let equals = |known: &&Arc<ContractRecord>| {
            let it = |record: &ContractRecord| (record.method.clone(), record.path.clone(), record.origin);
            known.holder == wanted.holder
                && known.scope == wanted.scope
                && known.plan_hash == wanted.plan_hash
                && known.state == wanted.state
                && it(known) == it(wanted)
        };
        self.follower.index.read().find_template(&wanted.holder, &wanted.method, &wanted.path).find(equals).cloned()
    }

    fn has_room(&self, holder: &ContractHolder, bounds: &SynthesisSettings) -> Result<(), MakeError> {
        let counts = self.follower.index.read().counts(holder);
        let (own_max, max) = (bounds.contracts_per_agent_max.get() as usize, bounds.contracts_max.get() as usize);
        let remembered = |max: usize| max.saturating_mul(KNOWN_PER_CONTRACT_MAX);
        // Ended ones count as well, up to twice as many: making and releasing in a loop would fill the index otherwise.
        if counts.own >= own_max || counts.known_own >= remembered(own_max) {
            return Err(MakeError::Full("synthesis.contracts_per_agent_max"));
        }
        if counts.open >= max || counts.known >= remembered(max) {
            return Err(MakeError::Full("synthesis.contracts_max"));
        }
        Ok(())
    }
}

fn whole(record: Arc<ContractRecord>, definition: Definition) -> Contract {
    definition.contract(record)
}

fn json_len(value: &Value) -> usize {
    value.to_string().len()
}
