//! The verb: how a message finds its agent, passes the gate, is answered and is recorded.
//!
//! [`Host::receive`] is the whole trip on one screen, the same for every protocol;
//! [`Host::invoke`] is that of a call of an endpoint. The other methods have its shape: a value in, a `Result` out, and nothing calls back.

mod attachments;
mod builder;
mod deliver;
mod directory;
mod follow;
mod invoke;
mod limits;
mod metrics;
mod random;
mod receive;
mod rules;
mod running;
mod tasks;
mod threads;
mod tracked;
mod upkeep;
mod work;

pub use builder::HostBuilder;
pub use deliver::{Envelope, Post};
pub use directory::{Directory, Resident, Site};
pub use invoke::{Invoked, caller};
pub use limits::{LimitSettings, Rate};
pub use metrics::Metrics;
pub use random::SystemEntropy;
pub use receive::{Host, Run};
pub use rules::{RuleSettings, rules};
