//! The caller of one request: the endpoint, the verified sender, and what else a request says outside of its JSON-RPC.

use forecourt_core::{Handle, Language, Sender};

use crate::log::Level;
use crate::person::KnownPerson;
use crate::verdict::Verdict;

/// The circumstances of one request.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// The agent whose endpoint was called; `None` for the host's.
    pub(crate) agent: Option<Handle>,
    /// Who it is, as far as the request proves it.
    pub(crate) sender: Sender,
    /// The person of this host's provider who it is, if it is one.
    pub(crate) person: Option<KnownPerson>,
    /// How many agents stand in line before this one.
    pub(crate) hop: u32,
    /// The language it would like.
    pub(crate) language: Option<Language>,
    /// Where it is told whether the call is refused.
    pub(crate) verdict: Verdict,
    /// From which level on it is told what is logged; not at all where it named none.
    pub(crate) log: Option<Level>,
}

impl Caller {
    /// The person at this machine, over a pipe.
    pub(crate) fn local() -> Self {
        Self {
            agent: None,
            sender: Sender::anonymous(),
            person: None,
            hop: 0,
            language: None,
            verdict: Verdict::default(),
            log: None,
        }
    }
}
