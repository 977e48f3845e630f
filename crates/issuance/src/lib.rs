//! What callers were asked to do first, from the asking to its one use. PolicyPart 3.3.4, PolicyResolution.
//!
//! An issuance is a stream in the ledger, named by the hash of its state: each step is an entry, written only
//! if the one before is the last, so that of two who take a step at once one does, in this process or another.

use forecourt_core::policy::{PolicyResolution, Receipt, Requirement};
use forecourt_core::{Handle, Language, Part, Sender, TaskId, ThreadId, Timestamp};

mod account;
mod answer_mark;
mod charge;
mod checkout;
mod claimant;
mod claims;
mod credit;
mod decide;
mod deduction;
mod digest;
mod finding;
mod give_back;
mod grants;
mod holder;
mod holding;
mod holdings;
mod issue;
mod limits;
mod listed;
mod meet;
mod metrics;
mod notice;
mod pay;
mod reconcile;
mod record;
mod streams;
mod used;

pub use answer_mark::AnswerMark;
pub use checkout::CheckoutOutcome;
pub use claimant::Claimant;
pub use digest::sha256_hex;
pub use finding::{Finding, RequirementUse, Unmet};
pub use holder::Holder;
pub use holding::{
    CreditLeft, Holding, HoldingFilter, HoldingStatus, Holdings, HoldingsOf, ListedHolding, ListedHoldings,
};
pub use issue::{RefusedMessage, with_fault};
pub use limits::*;
pub use meet::{SubmittedIssuance, waits_for};
pub use notice::NoticeOutcome;
pub use streams::{HostRun, IssuanceLimits, IssuanceParts, Issuances};
pub use used::UsedUp;

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
    /// Whether its payment is taken once the answer is complete, and was not yet.
    pub is_reserved: bool,
    /// Whether a checkout is open at which it may be paid.
    pub is_at_checkout: bool,
}

/// What came of a person's decision, or of a payment.
#[derive(Debug, Clone, PartialEq)]
pub enum IssuanceOutcome {
    /// It is done, and good for one use. With the receipt, where something was paid: none for what is reserved.
    Verified(Option<Box<Receipt>>),
    /// The person said no.
    Declined,
    /// It can't be done any more: used, expired, declined, or being paid for. Where it stands.
    Late(IssuanceStatus),
    /// Another person was asked, who signs in here to decide. Nothing was decided.
    NotTheirs,
    /// The payment was refused and nothing was taken; another try may work.
    Refused(forecourt_core::policy::PaymentError),
}

impl IssuanceOutcome {
    /// For a state that this host does not know: forgotten, or never given.
    pub(crate) const UNKNOWN: Self = Self::Late(IssuanceStatus::Expired);
}

impl Issuance {
    /// Whether it is this caller's: the subject's alone where it is a subject's, else of whoever is in its
    /// conversation.
    pub fn is_held_by(&self, sender: &Sender, thread: Option<&ThreadId>) -> bool {
        match &self.holder.subject {
            Some(subject) => sender.owner() == Some(subject),
            None => self.holder.thread.is_some() && self.holder.thread.as_ref() == thread,
        }
    }
}
