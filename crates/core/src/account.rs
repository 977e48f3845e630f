//! Whose bytes are kept.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::network::{Network, WideNetwork};

/// Whose bytes they are: what a caller's bound is counted by. That of a caller is [`crate::CallerKey::account`].
///
/// A proven subject has its own account, whichever address it comes from. Whoever proves nothing has
/// that of its network address (an IPv6 /64 is one), since anything else that it names it could name
/// anew with every request. What the host writes on its own behalf belongs to nobody and counts towards
/// the whole store alone.
#[derive(Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Account(Option<String>);

impl Account {
    /// The account of what the host writes on its own behalf: no caller's.
    pub const HOST: Self = Self(None);

    pub(crate) fn of_subject(subject: &str) -> Self {
        Self(Some(format!("subject:{subject}")))
    }

    pub(crate) fn of_network(network: Network) -> Self {
        Self(Some(format!("network:{network}")))
    }

    /// The networks around it, from narrow to wide, when it is that of a caller who proved nothing: their bytes are
    /// bounded together as well. `None` of a proven subject and of the host.
    pub fn around(&self) -> Option<[WideNetwork; 2]> {
        let (kind, address) = self.key()?.split_once(':')?;
        let address: IpAddr = (kind == "network").then(|| address.parse().ok())??;
        Some(Network::of(address).around())
    }

    /// What the operator reads of whose it is: the subject, the network, or nothing.
    pub fn shown(&self) -> &str {
        self.key().and_then(|key| key.split_once(':')).map_or("", |(_, name)| name)
    }

    /// What it is counted under; `None` for the host's own.
    pub fn key(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

/// Tells the kind alone: a subject or an address is personal.
impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.key().map_or("host", |key| key.split(':').next().unwrap_or_default());
        f.debug_tuple("Account").field(&kind).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CallerKey;

    fn account(subject: Option<&str>, peer: Option<IpAddr>) -> Account {
        CallerKey::of(subject, None, peer.map(Network::of)).account()
    }

    fn peer(text: &str) -> Account {
        account(None, Some(text.parse().unwrap()))
    }

    #[test]
    fn design_36_a_subject_has_one_account_wherever_it_comes_from() {
        let ada = |address: &str| account(Some("ada"), Some(address.parse().unwrap()));
        assert_eq!(ada("192.0.2.1"), ada("2001:db8::1"));
        assert_ne!(ada("192.0.2.1"), peer("192.0.2.1"));
        assert_ne!(ada("192.0.2.1"), account(Some("bob"), None));
    }

    #[test]
    fn design_36_whoever_proves_nothing_has_the_account_of_its_network() {
        assert_eq!(peer("2001:db8:0:1::1"), peer("2001:db8:0:1:ffff::2"));
        assert_ne!(peer("2001:db8:0:1::1"), peer("2001:db8:0:2::1"));
        assert_ne!(peer("192.0.2.1"), peer("192.0.2.2"));
        assert_eq!(peer("::ffff:192.0.2.1"), peer("192.0.2.1"));
        assert_eq!(account(None, None), Account::HOST);
    }

    #[test]
    fn only_whoever_proves_nothing_counts_with_its_neighbours() {
        assert_eq!(account(Some("192.0.2.1"), None).around(), None);
        assert_eq!(account(Some("network:192.0.2.1"), None).around(), None);
        assert_eq!(Account::HOST.around(), None);
        let peer = peer("2001:db8:0:1::1").around().map(|around| around.map(|network| network.to_string()));
        assert_eq!(peer, Some(["2001:db8::/56".to_owned(), "2001:db8::/48".to_owned()]));
    }

    #[test]
    fn no_subject_is_spelled_like_an_address() {
        assert_ne!(account(Some("network:192.0.2.1"), None), peer("192.0.2.1"));
    }

    #[test]
    fn an_account_tells_nobody_whose_it_is() {
        assert_eq!(format!("{:?}", peer("192.0.2.1")), "Account(\"network\")");
    }
}
