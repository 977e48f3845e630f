//! The decision whether a target may be reached, and by which addresses.
//! Security sheet, section 6, steps 1 to 3.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use crate::address::{AddressVerdict, classify};
use crate::config::EgressConfig;
use crate::error::Refusal;
use crate::limits::{ADDRESSES_MAX, RESOLVE_TIME_MAX};
use crate::purpose::Purpose;
use crate::resolve::Resolve;
use crate::target::{CheckedUrl, TargetHost};

/// The rules, with what they need to know.
pub(crate) struct Guard {
    pub(crate) config: EgressConfig,
    pub(crate) own: Own,
    pub(crate) resolver: Arc<dyn Resolve>,
}

/// Names and addresses of this host.
#[derive(Debug, Clone, Default)]
pub(crate) struct Own {
    /// Host and port of each origin that is served.
    pub(crate) origins: Vec<(String, u16)>,
    /// Addresses; port 0 stands for every port.
    pub(crate) addresses: Vec<SocketAddr>,
}

impl Guard {
    /// The addresses to dial for `target`: all of them were checked, and no other may be dialled.
    /// Resolves at most once, and not at all what is refused anyway.
    pub(crate) async fn admit(&self, purpose: Purpose, target: &CheckedUrl) -> Result<Vec<SocketAddr>, Refusal> {
        if !purpose.is_trusted(target) {
            self.check_before_lookup(purpose, target)?;
        }
        let addresses = self.addresses(target).await?;
        if !purpose.is_trusted(target) {
            self.check_addresses(purpose, target, &addresses)?;
        }
        Ok(addresses.into_iter().map(|address| SocketAddr::new(address, target.port())).collect())
    }

    /// Whether `target` may be reached, as far as that can be told without a lookup.
    pub(crate) fn foresee(&self, purpose: Purpose, target: &CheckedUrl) -> Result<(), Refusal> {
        if purpose.is_trusted(target) {
            return Ok(());
        }
        self.check_before_lookup(purpose, target)?;
        match target.by() {
            TargetHost::Address(address) => self.check_addresses(purpose, target, &[*address]),
            TargetHost::Name(_) => Ok(()),
        }
    }

    /// What can be refused without asking for an address.
    fn check_before_lookup(&self, purpose: Purpose, target: &CheckedUrl) -> Result<(), Refusal> {
        if self.own.is_named_by(purpose, target) {
            return Err(Refusal::OwnHost);
        }
        let plain_is_open = self.config.allow_http && purpose.may_be_plain();
        if !target.is_https() && !plain_is_open {
            return Err(Refusal::Scheme);
        }
        // Without opened networks no private name can be right, so nobody is asked for it. With them, its addresses
        // decide.
        match target.is_private_name() && self.config.allow.is_empty() {
            true => Err(Refusal::PrivateName),
            false => Ok(()),
        }
    }

    /// All addresses must be allowed: one bad one refuses the name. What lies wholly in opened
    /// networks may also be plain, have a private name and listen on any port.
    fn check_addresses(&self, purpose: Purpose, target: &CheckedUrl, addresses: &[IpAddr]) -> Result<(), Refusal> {
        // Before the opened networks: `allow = ["127.0.0.0/8"]` must not let callers make the host call itself.
        if addresses.iter().any(|address| self.own.is_reached_by(purpose, target, *address)) {
            return Err(Refusal::OwnHost);
        }
        if addresses.iter().all(|address| self.is_opened(*address)) {
            return Ok(());
        }
        // A mix of opened and public addresses is fine, but has the rules of public ones.
        let fits = |address: &IpAddr| self.is_opened(*address) || classify(*address) == AddressVerdict::Public;
        if !addresses.iter().all(fits) {
            return Err(Refusal::PrivateAddress);
        }
        if target.is_private_name() {
            return Err(Refusal::PrivateName);
        }
        if !target.is_https() {
            return Err(Refusal::Scheme);
        }
        match target.is_on_usual_port() || self.config.ports.contains(&target.port()) {
            true => Ok(()),
            false => Err(Refusal::Port),
        }
    }

    fn is_opened(&self, address: IpAddr) -> bool {
        self.config.allow.iter().any(|net| net.contains(&address))
    }

    async fn addresses(&self, target: &CheckedUrl) -> Result<Vec<IpAddr>, Refusal> {
        let name = match target.by() {
            TargetHost::Address(address) => return Ok(vec![*address]),
            TargetHost::Name(name) => name,
        };
        let found = tokio::time::timeout(RESOLVE_TIME_MAX, self.resolver.resolve(name)).await;
        match found {
            Ok(Ok(addresses)) if (1..=ADDRESSES_MAX).contains(&addresses.len()) => Ok(addresses),
            Ok(_) | Err(_) => Err(Refusal::Unresolved),
        }
    }
}

impl Own {
    /// Whether the URL names this host. A webhook must not, on any port (Mentionable REST 5.5), and
    /// an attachment would let us fetch from ourselves without end. A callback shares the host of
    /// its request (REST 5.4), which may be ours, so there the port counts too.
    fn is_named_by(&self, purpose: Purpose, target: &CheckedUrl) -> bool {
        let host = target.host();
        self.origins.iter().any(|(own, port)| match purpose {
            Purpose::Attachment | Purpose::Webhook => *own == host,
            Purpose::Callback | Purpose::Federation => *own == host && *port == target.port(),
            Purpose::Document
            | Purpose::WebFinger
            | Purpose::Crawl
            | Purpose::SignIn
            | Purpose::RemoteAgent
            | Purpose::Upstream
            | Purpose::CertificateAuthority
            | Purpose::Telemetry
            | Purpose::Platform
            | Purpose::Service => false,
        })
    }

    fn is_reached_by(&self, purpose: Purpose, target: &CheckedUrl, address: IpAddr) -> bool {
        let concerns =
            matches!(purpose, Purpose::Attachment | Purpose::Webhook | Purpose::Callback | Purpose::Federation);
        let same = |own: &SocketAddr| own.ip() == address && (own.port() == 0 || own.port() == target.port());
        concerns && self.addresses.iter().any(same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::SystemResolver;

    #[test]
    fn the_usual_port_of_a_protocol_is_open_for_it_alone() {
        let guard = |ports: &[u16]| {
            let config = EgressConfig { ports: ports.to_vec(), ..EgressConfig::default() };
            Guard { config, own: Own::default(), resolver: Arc::new(SystemResolver) }
        };
        let admits = |ports, target: CheckedUrl| guard(ports).foresee(Purpose::RemoteAgent, &target);
        let https = |port| CheckedUrl::of_host("8.8.8.8", port, true).unwrap();
        for (ports, target, expected) in [
            (&[][..], https(443), Ok(())),
            (&[], https(4480), Err(Refusal::Port)),
            (&[], https(4480).usually_on(4480), Ok(())),
            (&[], https(443).usually_on(4480), Err(Refusal::Port)),
            (&[443], https(443).usually_on(4480), Ok(())),
            (&[4481], https(4481).usually_on(4480), Ok(())),
        ] {
            assert_eq!(admits(ports, target.clone()), expected, "{ports:?} {target:?}");
        }
        let closed = CheckedUrl::of_host("10.0.0.1", 4480, true).unwrap().usually_on(4480);
        assert_eq!(admits(&[], closed), Err(Refusal::PrivateAddress));
    }
}
