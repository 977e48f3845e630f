//! The verb: how a message finds its agent, passes the gate, is answered and is recorded.
//!
//! [`Host::receive`] is the whole trip on one screen, the same for every protocol;
//! [`Host::invoke`] is that of a call of an endpoint. The other methods have its shape: a value in, a `Result` out, and nothing calls back.

mod attachments;
mod authority;
mod begin;
mod builder;
mod deliver;
mod directory;
mod follow;
mod in_flight;
mod invoke;
mod ledger;
mod limits;
mod metrics;
mod notifier;
mod once;
mod permit;
mod queue;
mod random;
mod receive;
mod replace;
mod rules;
mod run;
mod running;
mod standing;
mod tasks;
mod threads;
mod upkeep;
mod work;

pub use builder::HostBuilder;
pub use deliver::{Envelope, WebhookPost};
pub use directory::{Directory, HostedAgent, Site};
pub use follow::FollowUntil;
pub use in_flight::WAITING_MAX;
pub use invoke::InvokeOutcome;
pub use ledger::ENTRIES_PER_READ_MAX;
pub use limits::{LimitSettings, Rate};
pub use metrics::Metrics;
pub use notifier::{OperatorWebhook, QUESTION_RETRIES};
pub use once::{
    IdempotencyOwner, IdempotencyPermit, IdempotencyState, ONCE_KEY_BYTES_MAX, ONCE_MAX, ONCE_PER_CALLER_MAX,
    ONCE_TRIES_MAX, ONCE_TTL,
};
pub use permit::{TaskAccess, TaskPermit, TaskPermits};
pub use queue::{
    OperatorAnswer, OperatorAnswerOutcome, OperatorDecision, OperatorInquiry, OperatorQuestion, QUEUE_ENTRIES_MAX,
    QUEUE_TTL, QUEUE_WAITING_MAX, QUEUE_WAITING_PER_CALLER_MAX,
};
pub use random::SystemEntropy;
pub use receive::Host;
pub use replace::HostParts;
pub use rules::{RuleSettings, rules};
pub use run::{Run, TaskMode};
pub use standing::{
    Attest, CHANGES_PER_READ_MAX, LifecycleChange, LifecycleOutcome, STANDING_AGE_MAX, StoredLifecycleChange,
};
