//! Where endpoints come from that could be made.

use forecourt_contract::{Caller, Dispatcher, Method, RequestPath};
use serde_json::{Map, Value};

use crate::plan;
use crate::proposal::{Proposal, ProposalRefusal};
use crate::settings::SynthesisSettings;
use crate::synthesis::Synthesis;

/// What an endpoint is made from, and for whom.
#[derive(Clone, Copy)]
pub struct SynthesisContext<'a> {
    /// The endpoints and recipes.
    pub dispatcher: &'a Dispatcher,
    /// How endpoints are made.
    pub settings: &'a SynthesisSettings,
    /// Calls that a plan has at most.
    pub steps_max: usize,
    /// Who will call it.
    pub caller: &'a Caller,
}

/// What finds an endpoint that could be made. [`PlannedSynthesis`], but for tests.
pub trait SynthesisSource: Send + Sync + 'static {
    /// Reads the parameters of PROPOSE. Section 10.4.
    ///
    /// # Errors
    /// As [`Proposal::read`].
    fn read(&self, parameters: &Map<String, Value>) -> Result<Proposal, ProposalRefusal> {
        Proposal::read(parameters)
    }

    /// Whether the method and the path of a proposal are such that anything can be made, which is known at once.
    /// Section 10.6, 1 and 2.
    ///
    /// # Errors
    /// As [`Proposal::grammar`].
    fn grammar(&self, proposal: &Proposal, around: SynthesisContext<'_>) -> Result<(), ProposalRefusal> {
        proposal.grammar(around.dispatcher)
    }

    /// Holds a proposal against what there is. Section 10.6.
    ///
    /// # Errors
    /// As [`Proposal::evaluate`].
    fn for_proposal(&self, proposal: &Proposal, around: SynthesisContext<'_>) -> Result<Synthesis, ProposalRefusal>;

    /// Looks for what could serve a call of what is not there. Section 10.1.
    ///
    /// # Errors
    /// As [`plan::for_request`].
    fn for_request(
        &self,
        pair: (&Method, &RequestPath),
        input: &Map<String, Value>,
        around: SynthesisContext<'_>,
    ) -> Result<Synthesis, ProposalRefusal>;
}

/// Endpoints are planned from recipes and from what is registered. Sections 10.5 and 10.7.
pub struct PlannedSynthesis;

impl SynthesisSource for PlannedSynthesis {
    fn for_proposal(&self, proposal: &Proposal, around: SynthesisContext<'_>) -> Result<Synthesis, ProposalRefusal> {
        proposal.evaluate(around.dispatcher, around.settings, around.steps_max, around.caller)
    }

    fn for_request(
        &self,
        pair: (&Method, &RequestPath),
        input: &Map<String, Value>,
        around: SynthesisContext<'_>,
    ) -> Result<Synthesis, ProposalRefusal> {
        plan::for_request(around.dispatcher, around.settings, around.steps_max, pair, input, around.caller)
    }
}
