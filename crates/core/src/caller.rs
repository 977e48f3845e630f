//! Who a caller is to this host. Answered here and nowhere else.

use std::borrow::Cow;
use std::fmt;

use crate::account::Account;
use crate::network::Network;

/// Who a caller is, by the surest thing that is known of it: its proven subject, else the conversation that it goes
/// on with, else its network.
///
/// What asks for no conversation (bytes that are kept, budgets, sessions) leaves it out, since conversations cost
/// nothing to begin.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum CallerKey<'a> {
    /// A proven subject: one caller from wherever it comes, in whatever conversation.
    Subject(Cow<'a, str>),
    /// Nobody that was proven, in a conversation that is kept here.
    Conversation {
        /// The conversation, by [`crate::ThreadId::key`].
        key: Cow<'a, str>,
        /// Where it comes from, so that what costs something is bounded for all conversations of a network too.
        network: Option<Network>,
    },
    /// Nobody that was proven, from a network.
    Network(Network),
    /// Nobody that was proven, over no network: a caller within this process or on this machine.
    Local,
}

impl<'a> CallerKey<'a> {
    /// The caller of which this much is known.
    pub fn of(subject: Option<&'a str>, conversation: Option<&'a str>, network: Option<Network>) -> Self {
        match (subject, conversation, network) {
            (Some(subject), ..) => Self::Subject(subject.into()),
            (None, Some(key), network) => Self::Conversation { key: key.into(), network },
            (None, None, Some(network)) => Self::Network(network),
            (None, None, None) => Self::Local,
        }
    }

    /// Its proven subject, if it has one.
    pub fn subject(&self) -> Option<&str> {
        match self {
            Self::Subject(subject) => Some(subject),
            Self::Conversation { .. } | Self::Network(_) | Self::Local => None,
        }
    }

    /// Whose bytes it is that this caller has the host keep: its subject's, else its network's.
    pub fn account(&self) -> Account {
        match self {
            Self::Subject(subject) => Account::of_subject(subject),
            Self::Conversation { network: Some(network), .. } | Self::Network(network) => Account::of_network(*network),
            Self::Conversation { network: None, .. } | Self::Local => Account::HOST,
        }
    }

    /// What a stream of the ledger that is kept for it is named by: personal, so that the name is hashed.
    pub fn stream_name(&self) -> impl fmt::Display {
        fmt::from_fn(move |f| match self {
            Self::Subject(subject) => write!(f, "owner {subject}"),
            Self::Conversation { key, .. } => write!(f, "conversation {key}"),
            Self::Network(network) => write!(f, "network {network}"),
            Self::Local => f.write_str("local"),
        })
    }

    /// What the operator reads in records: the subject, else the network, else nothing.
    pub fn shown(&self) -> String {
        match self {
            Self::Subject(subject) => subject.to_string(),
            Self::Conversation { network: Some(network), .. } | Self::Network(network) => network.to_string(),
            Self::Conversation { network: None, .. } | Self::Local => String::new(),
        }
    }

    /// The same, to be kept.
    pub fn into_owned(self) -> CallerKey<'static> {
        match self {
            Self::Subject(subject) => CallerKey::Subject(Cow::Owned(subject.into_owned())),
            Self::Conversation { key, network } => {
                CallerKey::Conversation { key: Cow::Owned(key.into_owned()), network }
            }
            Self::Network(network) => CallerKey::Network(network),
            Self::Local => CallerKey::Local,
        }
    }
}

/// Tells the kind alone: a subject or an address is personal.
impl fmt::Debug for CallerKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Subject(_) => "Subject(..)",
            Self::Conversation { .. } => "Conversation(..)",
            Self::Network(_) => "Network(..)",
            Self::Local => "Local",
        })
    }
}

/// Whether `caller`, a proven subject or nobody, may go on with what belongs to `owner`: what is somebody's is for
/// its owner alone, and what is nobody's for whoever knows its name.
pub fn is_open_to(owner: Option<&str>, caller: Option<&str>) -> bool {
    owner.is_none() || owner == caller
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_surest_thing_that_is_known_names_a_caller() {
        let network = Network::of("192.0.2.1".parse().unwrap());
        let of = |subject, conversation| CallerKey::of(subject, conversation, Some(network));
        assert_eq!(of(Some("ada"), Some("c")), CallerKey::Subject("ada".into()));
        assert_eq!(of(None, Some("c")), CallerKey::Conversation { key: "c".into(), network: Some(network) });
        assert_eq!(of(None, None), CallerKey::Network(network));
        assert_eq!(CallerKey::of(None, None, None), CallerKey::Local);
    }

    #[test]
    fn a_conversation_has_no_account_but_that_of_its_network() {
        let network = Network::of("192.0.2.1".parse().unwrap());
        let account = |caller: CallerKey<'_>| caller.account();
        assert_eq!(account(CallerKey::of(None, Some("c"), Some(network))), account(CallerKey::Network(network)));
        assert_eq!(account(CallerKey::of(None, Some("c"), None)), Account::HOST);
        assert_eq!(account(CallerKey::Subject("ada".into())).key(), Some("subject:ada"));
    }

    #[test]
    fn what_is_somebodys_is_for_its_owner_alone() {
        for (owner, caller, open) in [
            (None, None, true),
            (None, Some("ada"), true),
            (Some("ada"), Some("ada"), true),
            (Some("ada"), Some("bob"), false),
            (Some("ada"), None, false),
        ] {
            assert_eq!(is_open_to(owner, caller), open, "{owner:?} {caller:?}");
        }
    }
}
