//! Why a proposed endpoint is not made. Section 10.6.

use forecourt_contract::Scope;
use forecourt_contract::refusal::Refusal;
use serde_json::Value;

/// Why a proposed endpoint is not made.
#[derive(Clone, Debug, PartialEq)]
pub enum ProposalRefusal {
    /// The method or the path is none: [`Refusal::Method`] or [`Refusal::Path`]. Section 10.6, 1 and 2. Also what
    /// a call of it would be refused by whatever its input is: [`Refusal::Identity`] when it takes a bearer token.
    Grammar(Box<Refusal>),
    /// The proposal can't be read. Sections 10.4 and 10.6, 3 and 4.
    Malformed {
        /// The word for it, such as `ambiguous-body` or `malformed-semantic-block`.
        issue: &'static str,
        /// The field, as a JSON pointer into the parameters.
        field: String,
        /// What to change.
        message: String,
    },
    /// The caller does not hold what the endpoint, or a call that it is made of, needs. Section 10.6, 5.
    Scope {
        /// What it lacks.
        missing: Vec<Scope>,
    },
    /// It can't or may not be made. Section 10.6, 6 and 7.
    Rejected {
        /// Why, in a word.
        reason: RejectionReason,
        /// The same in a sentence.
        explanation: String,
        /// What comes near it and can be called: endpoints as others may see them, the nearest first.
        counter_proposal: Option<Value>,
    },
}

/// Why a proposal is rejected: the words of 463.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectionReason {
    /// The proposal is about nothing that this server offers.
    OutOfScope,
    /// The operator's policy does not permit it.
    PolicyRefused,
    /// Nothing here can be put together to it.
    CompositionImpossible,
    /// Two plans fit equally well, and none is chosen by chance.
    Ambiguous,
    /// The operator has turned it off.
    SynthesisDisabled,
}

impl RejectionReason {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::OutOfScope => "out-of-scope",
            Self::PolicyRefused => "policy-refused",
            Self::CompositionImpossible => "composition-impossible",
            Self::Ambiguous => "ambiguous",
            Self::SynthesisDisabled => "synthesis-disabled",
        }
    }
}

impl ProposalRefusal {
    /// What every proposal gets while the operator has turned synthesis off, before it is looked at. Section 10.6.
    pub fn disabled() -> ProposalRefusal {
        ProposalRefusal::Rejected {
            reason: RejectionReason::SynthesisDisabled,
            explanation: "this server makes no endpoints while it serves: DISCOVER /methods lists those that there are"
                .to_owned(),
            counter_proposal: None,
        }
    }
}
