//! The seam for contracts that are made with single callers while the host serves. Sections 6.1 (tier C) and 10.1.
//!
//! What makes and keeps them lies elsewhere; here is what the order of checks asks of it, once a call, of callers
//! that were recognised: who says nothing of contracts may hold one, and anybody else is in service by then.

use std::sync::Arc;

use futures::future::BoxFuture;

pub use crate::agreement::{
    ContractPreview, ContractRefusal, ContractStamp, NegotiationOrigin, NoContractReason, RecipeLineage,
};
use crate::call::Call;
use crate::method::Method;
use crate::path::RequestPath;
use crate::registry::MatchedEndpoint;

/// What knows the contracts of callers, and may make one.
pub trait Negotiation: Send + Sync {
    /// The contract that a call is served under: the one it presents, else one that its caller holds for the pair,
    /// else one that is made for it where all four locks are open. `None`: none, and the call goes on as if there
    /// were no contracts.
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
}

/// A contract in force, bound to its plan.
pub struct ServingContract {
    /// What answers, with what the path says.
    pub matched: MatchedEndpoint,
    /// Which contract it is.
    pub stamp: Arc<ContractStamp>,
}
