//! This module maps a network address to the network that counts as one caller. Security sheet, section 12.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The network that counts as one caller: an IPv4 address, or the /64 of an IPv6 one, whose owner has all of
/// its addresses. An IPv4 address that is written as an IPv6 one is the IPv4 address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Network(IpAddr);

impl Network {
    /// The network of an address.
    pub fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
            address => address,
        })
    }
}

impl Network {
    /// The networks around it, from narrow to wide: what a home or an office line has, and what a provider gives to
    /// whoever asks for more. An IPv4 /24 and /20, an IPv6 /56 and /48.
    pub fn around(self) -> [WideNetwork; 2] {
        match self.0 {
            IpAddr::V4(address) => [24, 20].map(|prefix| {
                let base = Ipv4Addr::from_bits(address.to_bits() & (u32::MAX << (32 - prefix)));
                WideNetwork { base: base.into(), prefix }
            }),
            IpAddr::V6(address) => [56, 48].map(|prefix| {
                let base = Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << (128 - prefix)));
                WideNetwork { base: base.into(), prefix }
            }),
        }
    }
}

impl std::fmt::Display for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A network of many callers: what whoever has one of them has, or gets, all of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WideNetwork {
    base: IpAddr,
    prefix: u8,
}

impl WideNetwork {
    /// Bits of an address that all in it have alike.
    pub fn prefix(&self) -> u8 {
        self.prefix
    }
}

/// As `2001:db8::/56`.
impl std::fmt::Display for WideNetwork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.base, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn around_a_network_are_those_that_one_line_may_have() {
        let around = |text: &str| Network::of(text.parse().expect("an address")).around().map(|wide| wide.to_string());
        assert_eq!(around("192.0.2.77"), ["192.0.2.0/24", "192.0.0.0/20"]);
        assert_eq!(around("192.0.17.1"), ["192.0.17.0/24", "192.0.16.0/20"]);
        assert_eq!(around("2001:db8:1:23ff::1"), ["2001:db8:1:2300::/56", "2001:db8:1::/48"]);
        assert_eq!(around("2001:db8:1:24ff::1")[1], around("2001:db8:1:23ff::1")[1]);
    }

    #[test]
    fn an_ipv6_network_is_one_caller_and_each_ipv4_address_is_another() {
        let of = |text: &str| Network::of(text.parse().expect("an address"));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("192.0.2.1"), of("::ffff:192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
