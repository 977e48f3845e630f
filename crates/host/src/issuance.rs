//! What callers were asked to do first, from the asking to its one use. PolicyPart 3.3.4, PolicyResolution.
//!
//! An issuance is a stream in the ledger, named by the hash of its state: each step is an entry, written only
//! if the one before is the last, so that of two who take a step at once one does, in this process or another.

use forecourt_core::policy::{PaymentSubmission, PolicyResolution, Receipt, Requirement};
use forecourt_core::store::Account;
use forecourt_core::{Error, Handle, Language, Part, PolicyPart, StateToken, TaskId, ThreadId, Timestamp};

/// Where an issuance stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IssuanceStatus {
    /// It was asked for.
    Issued,
    /// A payment is being settled, or nobody knows whether it was.
    Indeterminate,
    /// It was done, and may be used once.
    Verified,
    /// It was used.
    Consumed,
    /// The person said no.
    Declined,
    /// Its time is over. Never written: it follows from the time.
    Expired,
}

/// Something that a caller was asked to do, as the host keeps it.
#[derive(Debug, Clone)]
pub struct Issuance {
    /// Where it stands.
    pub status: IssuanceStatus,
    /// What was asked for, frozen.
    pub requirement: Requirement,
    /// The agent that it is for.
    pub agent: Handle,
    /// Whose it is: nobody else may use it.
    pub holder: Holder,
    /// The task that waits for it.
    pub task: Option<TaskId>,
    /// What was said, so that it need not be said again; empty when it was too long to keep.
    pub asked: Vec<Part>,
    /// The language that the caller asked for.
    pub language: Option<Language>,
    /// When it was asked for.
    pub issued_at: Timestamp,
    /// When it is of no use any more.
    pub expires_at: Timestamp,
    /// What was done, once it is verified.
    pub resolution: Option<PolicyResolution>,
    /// The receipt of its payment.
    pub receipt: Option<serde_json::Map<String, serde_json::Value>>,
}

/// Whose an issuance, a consent or a credit is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The proven subject, if there is one: then it is its alone, in whatever conversation.
    pub subject: Option<String>,
    /// The conversation.
    pub thread: Option<ThreadId>,
    /// Whose stored bytes it counts towards.
    pub account: Account,
}

/// What came of a person's decision, or of a payment.
#[derive(Debug, Clone, PartialEq)]
pub enum IssuanceOutcome {
    /// It is done, and good for one use. With the receipt, where something was paid.
    Verified(Option<Box<Receipt>>),
    /// The person said no.
    Declined,
    /// It can't be done any more: used, expired, declined, or being paid for. Where it stands.
    Late(IssuanceStatus),
    /// The payment was refused and nothing was taken; another try may work.
    Refused(forecourt_core::policy::PaymentFault),
}

impl crate::Host {
    /// What a state was issued for. `None` when it is none of ours, or forgotten.
    pub async fn issuance(&self, _state: &StateToken) -> Result<Option<Issuance>, Error> {
        todo!()
    }

    /// The caller of `sender` in `thread` looks at a state that it was given: what it stands for, if it is its own.
    pub async fn accept_consent(&self, _state: &StateToken) -> Result<IssuanceOutcome, Error> {
        todo!()
    }

    /// A person says no on the page of a consent or a payment.
    pub async fn decline(&self, _state: &StateToken) -> Result<IssuanceOutcome, Error> {
        todo!()
    }

    /// Pays for a state: selects the offer, checks the payment against it, settles, each once. The offer is the
    /// stored one, never the payer's. [`IssuanceStatus::Indeterminate`] when nobody knows whether it was settled.
    pub async fn pay(&self, _state: &StateToken, _payment: &PaymentSubmission) -> Result<IssuanceOutcome, Error> {
        todo!()
    }

    /// The refusal that asks for `requirement`, with a new state in it.
    pub(crate) async fn issue(
        &self,
        _requirement: &Requirement,
        _agent: &Handle,
        _holder: &Holder,
        _asked: &forecourt_core::Message,
    ) -> Result<PolicyPart, Error> {
        todo!()
    }
}
