//! The other agents of the host, and the way to ask one of them. Hub card 3.5, pattern C.
//!
//! Agents are built before there is a host, so the way is bound later, once. It leads through the
//! same verb as every message from outside: limits, rules and hops hold between siblings too.
//!
//! | file | holds |
//! |---|---|
//! | `ask.rs` | asking one of them, as a tool for models |
//! | `answer.rs` | what it said, in the words of a tool |

mod answer;
mod ask;

use std::sync::{Arc, OnceLock};

use forecourt_core::limits::HOPS_MAX;
use forecourt_core::{Address, Error, Handle, Message, Reply};
use futures::FutureExt;
use futures::future::BoxFuture;

pub use ask::AskAgent;

/// Carries a message of one agent to another agent of the same host.
pub trait Carrier: Send + Sync {
    /// Hands `message` to its recipient. Dropping the future, or the reply, stops the work.
    ///
    /// A refusal is an answer. Fails as the host does: no such agent, too many hops, too busy.
    fn carry(&self, message: Message) -> BoxFuture<'static, Result<Reply, Error>>;
}

/// One agent, as the others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sibling {
    /// Where it is reached.
    pub address: Address,
    /// A name to show.
    pub name: String,
    /// What it is for; may be empty.
    pub description: String,
}

impl Sibling {
    /// Its handle.
    pub fn handle(&self) -> &Handle {
        self.address.local()
    }
}

/// All agents of a host, and the way to them. Clones are one and the same.
#[derive(Clone, Default)]
pub struct Siblings {
    all: Arc<[Sibling]>,
    carrier: Arc<OnceLock<Arc<dyn Carrier>>>,
}

impl Siblings {
    /// These agents, in the order in which they are introduced. Nobody can be asked yet.
    pub fn new(all: impl IntoIterator<Item = Sibling>) -> Self {
        Self { all: all.into_iter().collect(), carrier: Arc::default() }
    }

    /// Opens the way. Only the first carrier counts.
    pub fn bind(&self, carrier: Arc<dyn Carrier>) {
        // A second one would be another host's, whose agents these are not.
        let _ = self.carrier.set(carrier);
    }

    /// Everybody but `own`.
    pub fn beside<'a>(&'a self, own: &'a Handle) -> impl Iterator<Item = &'a Sibling> {
        self.all.iter().filter(move |sibling| sibling.handle() != own)
    }

    /// Hands `message` to its recipient, as [`Carrier::carry`] does. Fails with
    /// [`Error::Unavailable`] before there is a host.
    pub fn carry(&self, message: Message) -> BoxFuture<'static, Result<Reply, Error>> {
        match self.carrier.get() {
            Some(carrier) => carrier.carry(message),
            None => async { Err(Error::unavailable()) }.boxed(),
        }
    }
}

/// Whether an agent that answers `message` may ask another one. The last agent of a chain must
/// answer by itself. Companions 4.6.
pub fn may_ask(message: &Message) -> bool {
    message.hop.saturating_add(1) < HOPS_MAX
}
