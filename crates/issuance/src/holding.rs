//! Something that was agreed to or paid for, as it is listed.

use forecourt_core::policy::{Demand, Requirement};
use forecourt_core::{ConsentToken, Handle, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::IssuanceStatus;
use crate::holder::HolderKey;
use crate::record::IssuanceRecord;
use crate::streams::StateHash;

/// The holder whose list is asked for.
#[derive(Debug, Clone, Copy)]
pub enum HoldingsOf<'a> {
    /// A proven subject.
    Subject(&'a str),
    /// A browser without an account, by what it keeps its consents by.
    Browser(&'a ConsentToken),
}

/// A consent that was given, or a payment that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Holding {
    /// The agent that it is for.
    pub agent: Handle,
    /// What was asked for, as it was asked.
    pub requirement: Requirement,
    /// When it was given or made.
    pub at: Timestamp,
    /// Until when it holds; `None`: for good, or for one use.
    pub until: Option<Timestamp>,
    /// Where it stands.
    pub status: HoldingStatus,
    /// What names a consent, to take it back; empty for payments.
    pub name: String,
    /// The receipt of a payment, in the words of its scheme.
    pub receipt: Option<Map<String, Value>>,
    /// What people call the networks on which it could be paid.
    pub networks: Vec<String>,
}

/// Where a [`Holding`] stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldingStatus {
    /// It was given or paid, and holds.
    Holds,
    /// It held, and was used, ran out or was taken back.
    Ended,
    /// A payment of which nobody knows yet whether it arrived, or was given back.
    Pending,
    /// A payment that was taken and given back.
    GivenBack,
}

/// Prepaid credit that is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreditLeft {
    /// The agent that takes it.
    pub agent: Handle,
    /// What it is counted in.
    pub unit: String,
    /// How much is left, in whole units.
    pub amount: String,
    /// The same as a person reads it, such as `0.25 USDC`.
    pub words: String,
}

/// What a holder agreed to and paid for, the newest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Holdings {
    /// At most [`HOLDINGS_LISTED_MAX`](crate::HOLDINGS_LISTED_MAX) consents and as many payments; older ones are not listed.
    pub entries: Vec<Holding>,
    /// What is left of what was paid ahead to the agents among them.
    pub credit: Vec<CreditLeft>,
}

/// A [`Holding`] in the list of everybody's, for operators.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedHolding {
    /// Its number in the list. Names it to operators, and opens nothing.
    pub number: u64,
    /// Who it was: the proven subject; empty for somebody who proved nothing.
    pub who: String,
    /// What tells its steps in the audit from those of others, as [`forecourt_audit::AuditRecord::state`].
    pub state: String,
    /// What it is.
    pub holding: Holding,
}

/// A page of everybody's consents or payments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListedHoldings {
    /// The last one first.
    pub listed: Vec<ListedHolding>,
    /// The number before which to go on; `None` at the end.
    pub next: Option<u64>,
    /// When the last entry that was looked at was written.
    pub looked_back_to: Option<Timestamp>,
}

/// Which of everybody's consents and payments are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct HoldingFilter<'a> {
    /// Payments, or consents.
    pub payments: bool,
    /// To this agent alone.
    pub agent: Option<&'a str>,
    /// Of whom this is a part of the name.
    pub who: Option<&'a str>,
    /// Given or paid at this moment or later.
    pub since: Option<Timestamp>,
    /// Given or paid before this moment.
    pub until: Option<Timestamp>,
}

/// An entry of a holder's list.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct HoldingEntry {
    pub(crate) agent: Handle,
    pub(crate) requirement: Requirement,
    pub(crate) state: StateHash,
    /// The name of the grant, of a consent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<Timestamp>,
    /// Under whom the grant was written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) holders: Vec<HolderKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) receipt: Option<Map<String, Value>>,
    pub(crate) status: IssuanceStatus,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_refunded: bool,
    /// The proven subject that it was. A network is nobody's name, and is not kept for as long.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) who: String,
}

impl HoldingsOf<'_> {
    pub(crate) fn key(self) -> HolderKey {
        match self {
            Self::Subject(subject) => HolderKey::of_subject(subject),
            Self::Browser(token) => HolderKey::of_browser(token),
        }
    }
}

impl HoldingEntry {
    pub(crate) fn of(state: &StateHash, record: &IssuanceRecord) -> Self {
        Self {
            agent: record.agent.clone(),
            requirement: record.requirement.clone(),
            state: state.clone(),
            name: String::new(),
            until: None,
            holders: Vec::new(),
            receipt: record.receipt.clone(),
            status: record.status,
            is_refunded: record.is_refunded,
            who: record.subject.clone().unwrap_or_default(),
        }
    }

    pub(crate) fn into_holding(self, at: Timestamp, status: HoldingStatus, networks: Vec<String>) -> Holding {
        let Self { agent, requirement, until, name, receipt, .. } = self;
        Holding { agent, requirement, at, until, status, name, receipt, networks }
    }

    pub(crate) fn is_payment(&self) -> bool {
        matches!(self.requirement.demand, Demand::Payment(_))
    }

    /// Two entries of the same are one holding.
    pub(crate) fn identity(&self) -> String {
        let what = if self.is_payment() { self.state.as_str() } else { &self.name };
        format!("{} {what}", self.agent)
    }
}
