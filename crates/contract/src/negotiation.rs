//! This module has the trait by which dispatch asks for contracts that are made with single callers while the host
//! serves. Sections 6.1 (tier C) and 10.1.
//!
//! The crate `synthesis` makes and keeps them. It is asked once for each call of a recognised caller: before the route
//! is checked for a call that says nothing of contracts, after identity and lifecycle state for any other.

use std::sync::Arc;

use futures::future::BoxFuture;

pub use crate::agreement::{
    ContractPreview, ContractRefusal, ContractStamp, NegotiationOrigin, NoContractReason, RecipeLineage,
};
use crate::call::Call;
use crate::method::Method;
use crate::path::RequestPath;
use crate::registry::MatchedEndpoint;

/// Finds the contract that a call is served under, or makes one.
pub trait Negotiation: Send + Sync {
    /// The contract that a call is served under: the one it presents, else one that its caller holds for the pair,
    /// else one that is made for it where it may be and all four locks are open. `None`: none, and the call goes on
    /// as if there were no contracts.
    ///
    /// Whatever comes of it holds from then on: a contract that is given was in force when it was asked for, in
    /// every process on the same store.
    fn contract_for<'a>(
        &'a self,
        asked: ContractRequest<'a>,
    ) -> BoxFuture<'a, Result<Option<ServingContract>, ContractRefusal>>;
}

/// A call on its way, after aliases and redirects.
#[derive(Clone, Copy)]
pub struct ContractRequest<'a> {
    /// The call.
    pub call: &'a Call,
    /// The method that is meant.
    pub method: &'a Method,
    /// The path that is meant.
    pub path: &'a RequestPath,
    /// Whether a contract may be made for it. Else one that is in force serves it, or none.
    pub may_be_new: bool,
}

/// A contract in force, bound to its plan.
pub struct ServingContract {
    /// What answers, with what the path says.
    pub matched: MatchedEndpoint,
    /// Which contract it is.
    pub stamp: Arc<ContractStamp>,
}
