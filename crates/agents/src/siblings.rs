//! The other agents of the host, and the way to ask one of them. Hub card 3.5, pattern C.
//!
//! The way leads through the same verb as every message from outside: limits, rules and hops hold
//! between siblings too.

use std::sync::Arc;

use forecourt_contract::HostHandle;
use forecourt_core::{Address, Handle};

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
    /// The local part of its address.
    pub fn handle(&self) -> &Handle {
        self.address.local()
    }
}

/// All agents of a host, and the way to them. Clones are one and the same.
#[derive(Clone, Default)]
pub struct Siblings {
    all: Arc<[Sibling]>,
    host: HostHandle,
}

impl Siblings {
    /// These agents of `host`, in the order in which they are introduced.
    pub fn new(all: impl IntoIterator<Item = Sibling>, host: HostHandle) -> Self {
        Self { all: all.into_iter().collect(), host }
    }

    /// The host that carries a message from one to another.
    pub fn host(&self) -> &HostHandle {
        &self.host
    }

    /// All agents of the host except `own`, in their order.
    pub fn beside<'a>(&'a self, own: &'a Handle) -> impl Iterator<Item = &'a Sibling> {
        self.all.iter().filter(move |sibling| sibling.handle() != own)
    }
}
