//! Whom a question is for: an agent, a domain or a URL, and the way there.

use std::collections::BTreeMap;
use std::sync::Arc;

use forecourt_core::Domain;
use forecourt_egress::Egress;
use futures::future::BoxFuture;
use url::Url;

use super::arguments::AskArguments;
use crate::output::Failure;
use crate::printable::line;

/// Characters of the name of a protocol.
const PROTOCOL_CHARS_MAX: usize = 40;

/// Finds the agent, domain or URL that a user named, and the way there.
pub trait AddressBook: Send + Sync {
    /// Reads [`AskArguments::agent`], and looks the agent up on its domain.
    ///
    /// # Errors
    /// It names nobody, or nobody who can be found.
    fn resolve<'a>(&'a self, arguments: &'a AskArguments) -> BoxFuture<'a, Result<Addressee, Failure>>;
}

/// Somebody who can be asked, and the way there.
pub enum Addressee {
    /// A URL, which is asked as it is, wherever it leads.
    Url {
        /// What was typed.
        url: Url,
        /// The way there.
        egress: Arc<Egress>,
    },
    /// An agent.
    Agent {
        /// What its card says.
        agent: AddressedAgent,
        /// The way to its domain.
        egress: Arc<Egress>,
    },
    /// A domain as a whole.
    Domain {
        /// Its name.
        domain: Domain,
        /// The port of https there.
        port: u16,
        /// The way there.
        egress: Arc<Egress>,
    },
}

/// What the card of an agent says about how it is asked.
#[derive(Debug, Clone)]
pub struct AddressedAgent {
    /// Its address, `@agent@domain`.
    pub address: String,
    /// The part of the address that names it on its domain.
    pub local: String,
    /// The host that its links must lead to. PolicyPart 3.2.
    pub canonical_host: String,
    /// The protocols over which it says it can be reached.
    pub protocols: Vec<String>,
    /// The endpoints that its card names, by the names that `--via` has for protocols.
    pub endpoints: BTreeMap<&'static str, String>,
}

impl AddressedAgent {
    /// Its endpoint over a protocol, if the card names it.
    pub fn endpoint(&self, via: &str) -> Option<&str> {
        self.endpoints.get(via).map(String::as_str)
    }

    /// Fails unless the agent says that it speaks `protocol`, which people call `title`.
    ///
    /// # Errors
    /// [`Self::not_available`].
    pub fn check_speaks(&self, protocol: &str, title: &str) -> Result<(), Failure> {
        match self.protocols.iter().any(|name| name == protocol) {
            true => Ok(()),
            false => Err(self.not_available(title)),
        }
    }

    /// That it can't be asked over the protocol that people call `title`, and over which it can.
    pub fn not_available(&self, title: &str) -> Failure {
        let names = self.protocols.iter().map(|name| line(name, PROTOCOL_CHARS_MAX)).collect::<Vec<_>>().join(", ");
        Failure::yours(format!("{} is not available over {title}", self.address)).hint(match names.is_empty() {
            true => "its card names no protocol".to_owned(),
            false => format!("its card says that it speaks {names}"),
        })
    }
}
