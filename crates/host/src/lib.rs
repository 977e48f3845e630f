//! The verb: how a message finds its agent, passes the gate, is answered and is recorded.
//!
//! [`Host::receive`] is the whole trip on one screen, the same for every protocol;
//! [`Host::invoke`] is that of a call of an endpoint, and [`Host::forward`] of one to a server behind this host. The other methods have its shape: a value in, a `Result` out, and nothing calls back.

mod activity;
mod admit;
mod attachments;
mod authority;
mod background;
mod begin;
mod builder;
mod carry_outcome;
mod catch_up;
mod conversations;
mod counters;
mod decisions;
mod deliver;
mod demand;
mod deployment_id;
mod directory;
mod follow;
mod forward;
mod heartbeat;
mod host;
mod idempotency;
mod in_flight;
mod invoke;
mod journal;
mod lease;
mod ledger;
mod lifecycle;
mod limits;
mod limits_hit;
mod machine;
mod metrics;
mod nodes;
mod on_lost;
mod operated;
mod operator_queue;
mod permit;
mod platforms;
mod random;
mod rates;
mod receive;
mod records;
mod request;
mod residents;
mod resume;
mod run;
mod running;
mod store_clock;
mod take_up;
mod task_names;
mod tasks;
pub mod topics;
mod turns;
mod upkeep;
mod usage;
mod usage_viewers;
mod work;

pub use activity::{AgentActivity, AgentFailure, FAILURES_KEPT};
pub use admit::OWN_QUESTION_NEEDED;
pub use builder::HostBuilder;
pub use carry_outcome::CarryOutcome;
pub use conversations::{
    CONVERSATION_FIRST_WRITE_AFTER, CONVERSATION_WRITE_AFTER, CONVERSATIONS_CACHED_BYTES_MAX,
    CONVERSATIONS_PENDING_BYTES_MAX,
};
pub use deliver::{Courier, Envelope};
pub use deployment_id::{DeploymentId, DeploymentIdError};
pub use directory::{Directory, HostedAgent};
pub use follow::FollowUntil;
pub use forward::{ForwardPermit, ForwardRefusal, ServerGate, ServerGuard, ServerRule, Target};
pub use host::Host;
pub use idempotency::{
    IdempotencyOwner, IdempotencyPermit, IdempotencyState, IdempotentCalls, ONCE_KEY_BYTES_MAX, ONCE_TRIES_MAX,
    ONCE_TTL,
};
pub use in_flight::{ReplyPause, WAITING_MAX};
pub use invoke::InvokeOutcome;
pub use journal::{JOURNAL_BYTES_MAX, NOTE_BYTES_MAX, NOTES_BYTES_MAX, NOTES_MAX, WORK_TRIES_MAX};
pub use lease::{LEASE, LeaseSettings, NodeStatus};
pub use ledger::{ENTRIES_PER_READ_MAX, Ledger};
pub use lifecycle::{
    Attest, CHANGES_PER_READ_MAX, LifecycleChange, LifecycleOutcome, LifecycleView, STANDING_AGE_MAX,
    StoredLifecycleChange,
};
pub use limits::{LimitSettings, ONCE_MAX, ONCE_PER_CALLER_MAX, Rate};
pub use limits_hit::{LIMITS_HIT_MAX, LimitHit};
pub use machine::SystemMachine;
pub use metrics::Metrics;
pub use on_lost::OnLost;
pub use operated::{HubState, HubStates, LimitRefusal, OpenSessions, OperatorDesk, ServerState, ServerStates};
pub use operator_queue::{
    Inquiries, OperatorAnswer, OperatorAnswerOutcome, OperatorDecision, OperatorInquiry, OperatorQuestion,
    OperatorWebhook, QUESTION_RETRIES, QUEUE_ENTRIES_MAX, QUEUE_TTL, QUEUE_WAITING_MAX, QUEUE_WAITING_PER_CALLER_MAX,
};
pub use permit::{TaskAccess, TaskPermit, TaskPermits};
pub use platforms::{
    AnswerKind, EventOutcome, KeyRotation, PLATFORMS_SEEN_MAX, PlatformMetrics, PlatformState, PlatformTraffic,
    Platforms,
};
pub use random::SystemEntropy;
pub use run::{Run, TaskMode};
pub use store_clock::StoreClock;
pub use task_names::TaskName;
pub use usage::MODEL_USAGE;
pub use usage_viewers::UsageViewers;
