//! The verb: how a message finds its agent, passes the gate, is answered and is recorded.
//!
//! [`Host::receive`] is the whole trip on one screen, the same for every protocol;
//! [`Host::invoke`] is that of a call of an endpoint. The other methods have its shape: a value in, a `Result` out, and nothing calls back.

mod activity;
mod admit;
mod attachments;
mod audit;
mod authority;
mod background;
mod begin;
mod builder;
mod clocks;
mod conversations;
mod counters;
mod deliver;
mod demand;
mod deployment_id;
mod digest;
mod directory;
mod follow;
mod heartbeat;
mod idempotency;
mod in_flight;
mod invoke;
mod issuance;
mod lease;
mod ledger;
mod lifecycle;
mod limits;
mod limits_hit;
mod metrics;
mod nodes;
mod notifier;
mod operated;
mod operator_queue;
mod permit;
mod random;
mod rates;
mod receive;
mod replace;
mod request;
mod resume;
mod run;
mod running;
mod tasks;
pub mod topics;
mod upkeep;
mod usage;
mod work;

pub use activity::{AgentActivity, AgentFailure, FAILURES_KEPT};
pub use audit::{
    AUDIT_BATCH_MAX, AUDIT_DAYS, AUDIT_QUEUE_MAX, AUDIT_STREAM, AuditOutcome, AuditReader, AuditRecord, RequestOrigin,
};
pub use builder::HostBuilder;
pub use conversations::{
    CONVERSATION_FIRST_WRITE_AFTER, CONVERSATION_WRITE_AFTER, CONVERSATIONS_CACHED_BYTES_MAX,
    CONVERSATIONS_PENDING_BYTES_MAX,
};
pub use deliver::{CarryOutcome, Courier, Envelope};
pub use deployment_id::{DeploymentId, DeploymentIdError};
pub use directory::{Directory, HostedAgent};
pub use follow::FollowUntil;
pub use idempotency::{
    Idempotency, IdempotencyOwner, IdempotencyPermit, IdempotencyState, ONCE_KEY_BYTES_MAX, ONCE_MAX,
    ONCE_PER_CALLER_MAX, ONCE_TRIES_MAX, ONCE_TTL,
};
pub use in_flight::WAITING_MAX;
pub use invoke::InvokeOutcome;
pub use issuance::{
    ASKED_BYTES_MAX, CONSENT_WAIT_SECONDS, CONVERSATION_GRANT_MAX, EXPIRED_KEPT, Holder, INDETERMINATE_KEPT, Issuance,
    IssuanceOutcome, IssuanceStatus, OPEN_ISSUANCES_PER_CALLER_MAX, PAYMENT_BYTES_MAX, PAYMENT_CLAIM_KEPT,
    PAYMENT_WAIT_SECONDS, REQUIREMENTS_MAX, SETTLE_TIME_MAX, VERIFIED_KEPT, VERIFY_TIME_MAX,
};
pub use lease::{LEASE, LeaseSettings, NodeStatus};
pub use ledger::{ENTRIES_PER_READ_MAX, Ledger};
pub use lifecycle::{
    Attest, CHANGES_PER_READ_MAX, Lifecycle, LifecycleChange, LifecycleOutcome, STANDING_AGE_MAX, StoredLifecycleChange,
};
pub use limits::{LimitSettings, Rate};
pub use limits_hit::{LIMITS_HIT_MAX, LimitHit};
pub use metrics::Metrics;
pub use notifier::{OperatorWebhook, QUESTION_RETRIES};
pub use operated::OpenSessions;
pub use operator_queue::{
    OperatorAnswer, OperatorAnswerOutcome, OperatorDecision, OperatorInquiry, OperatorQuestion, OperatorQueue,
    QUEUE_ENTRIES_MAX, QUEUE_TTL, QUEUE_WAITING_MAX, QUEUE_WAITING_PER_CALLER_MAX,
};
pub use permit::{TaskAccess, TaskPermit, TaskPermits};
pub use random::SystemEntropy;
pub use receive::Host;
pub use replace::HostParts;
pub use run::{Run, TaskMode};
pub use usage::{MODEL_USAGE, UsageViewers};
