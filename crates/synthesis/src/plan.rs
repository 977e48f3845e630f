//! From a recipe, or from what is registered, to a synthesis. Sections 10.5 and 10.7.

use forecourt_contract::{Caller, Dispatcher, Method, RequestPath};
use serde_json::{Map, Value};

use crate::Synthesis;
use crate::proposal::ProposalRefusal;
use crate::settings::SynthesisSettings;

/// What could serve a call of what is not there, of which nothing is known but the call itself. The endpoint is
/// described from its steps.
///
/// # Errors
/// As [`crate::proposal::Proposal::evaluate`].
pub fn for_request(
    _dispatcher: &Dispatcher,
    _settings: &SynthesisSettings,
    _steps_max: usize,
    _pair: (&Method, &RequestPath),
    _input: &Map<String, Value>,
    _caller: &Caller,
) -> Result<Synthesis, ProposalRefusal> {
    Err(ProposalRefusal::Rejected {
        reason: crate::proposal::RejectionReason::CompositionImpossible,
        explanation: String::new(),
        counter_proposal: None,
    })
}
