//! Contracts from their making to their end, in the store. Sections 10.1.1, 10.1.4, 10.5 and 10.8.

mod record;

use std::sync::Arc;

use forecourt_core::{Clock, Entropy};
use forecourt_host::Ledger;

pub use record::{
    Contract, ContractEnd, ContractEndKind, ContractHolder, ContractRecord, ContractScope, ContractState,
};

/// All contracts of a store, as this process knows them. One for a process, whatever becomes of its deployment.
pub struct Contracts {}

impl Contracts {
    /// Those in the ledger. They are read when they are asked for first.
    pub fn new(_ledger: Ledger, _clock: Arc<dyn Clock>, _entropy: Arc<dyn Entropy>) -> Contracts {
        Contracts {}
    }
}
