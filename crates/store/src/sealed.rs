//! This module says what of each row is sealed, and under which label: the same in SQLite and PostgreSQL.

use forecourt_core::Account;
use forecourt_core::limits::OUTCOME_FREE_BYTES;
use forecourt_core::store::cost;

pub(crate) use crate::seal::corrupt;
use crate::seal::{Hash, OVERHEAD, Seal};

pub(crate) mod artifacts;
pub(crate) mod deliveries;
pub(crate) mod events;
pub(crate) mod ledger;
pub(crate) mod routes;
pub(crate) mod tasks;
pub(crate) mod threads;
pub(crate) mod webhooks;

/// An account as it is looked up; `None` for the host's own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Holder {
    pub(crate) account: Option<Hash>,
    /// The networks around it, when it is that of a caller who proved nothing.
    pub(crate) networks: Option<StrangerNetworks>,
}

/// The networks around a caller who proved nothing, from narrow to wide.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StrangerNetworks {
    pub(crate) hashes: [Hash; 2],
    /// Bits of an address that all of each have alike.
    pub(crate) prefixes: [u8; 2],
}

impl Holder {
    /// The host's own.
    pub(crate) const HOST: Self = Self { account: None, networks: None };

    pub(crate) fn new(seal: &Seal, account: &Account) -> Self {
        let networks = account.around().map(|around| StrangerNetworks {
            hashes: around.map(|network| seal.pseudonym(&format!("network:{network}"))),
            prefixes: around.map(|network| network.prefix()),
        });
        Self { account: account.key().map(|key| seal.pseudonym(key)), networks }
    }

    /// The account that was charged before, whose networks are known to the database.
    pub(crate) fn known(account: Option<Hash>) -> Self {
        Self { account, networks: None }
    }

    /// The hashes of the networks around it, `None` twice for whoever has none.
    pub(crate) fn around(&self) -> [Option<Hash>; 2] {
        self.networks.map_or([None, None], |networks| networks.hashes.map(Some))
    }
}

/// The bytes that are charged for sealed values together.
pub(crate) fn cost_of<'a>(sealed: impl IntoIterator<Item = &'a Vec<u8>>) -> u64 {
    sealed.into_iter().map(|bytes| cost(bytes.len())).sum()
}

/// Whether an outcome is so short that it is kept whatever is stored already.
pub(crate) fn is_free(outcome: Option<&Vec<u8>>) -> bool {
    outcome.is_none_or(|outcome| outcome.len() <= OUTCOME_FREE_BYTES + OVERHEAD)
}

/// An unsigned number as the signed one of a database.
pub(crate) fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
