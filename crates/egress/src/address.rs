//! Which addresses are public. The only classifier there is. Security sheet, section 6, step 3.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether strangers may make us connect to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressVerdict {
    /// Public unicast.
    Public,
    /// Private, special or reserved.
    Closed,
}

/// Judges one address. IPv4 is closed by a list; IPv6 is open only in `2000::/3`, less what is
/// special there, so every embedding of IPv4 (mapped, compatible, NAT64, Teredo, 6to4) is closed.
pub fn classify(address: IpAddr) -> AddressVerdict {
    let open = match address {
        IpAddr::V4(v4) => !CLOSED_V4.iter().any(|net| covers_v4(net, v4)),
        // The other way round than IPv4: a list of closed ranges would miss the next way to embed an IPv4 address.
        IpAddr::V6(v6) => covers_v6(&OPEN_V6, v6) && !CLOSED_V6.iter().any(|net| covers_v6(net, v6)),
    };
    if open { AddressVerdict::Public } else { AddressVerdict::Closed }
}

/// A network: its first address and the length of its prefix.
struct Net<T>(T, u32);

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u32) -> Net<Ipv4Addr> {
    Net(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(a: u16, b: u16, prefix: u32) -> Net<Ipv6Addr> {
    Net(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), prefix)
}

// IANA's special-purpose registry (RFC 6890), multicast and the reserved class E.
const CLOSED_V4: [Net<Ipv4Addr>; 16] = [
    v4(0, 0, 0, 0, 8),
    v4(10, 0, 0, 0, 8),
    v4(100, 64, 0, 0, 10),
    v4(127, 0, 0, 0, 8),
    v4(168, 63, 129, 16, 32), // the metadata address of one cloud
    v4(169, 254, 0, 0, 16),
    v4(172, 16, 0, 0, 12),
    v4(192, 0, 0, 0, 24),
    v4(192, 0, 2, 0, 24),
    v4(192, 88, 99, 0, 24),
    v4(192, 168, 0, 0, 16),
    v4(198, 18, 0, 0, 15),
    v4(198, 51, 100, 0, 24),
    v4(203, 0, 113, 0, 24),
    v4(224, 0, 0, 0, 4),
    v4(240, 0, 0, 0, 4),
];

const OPEN_V6: Net<Ipv6Addr> = v6(0x2000, 0, 3);

const CLOSED_V6: [Net<Ipv6Addr>; 4] = [v6(0x2001, 0, 23), v6(0x2001, 0xdb8, 32), v6(0x2002, 0, 16), v6(0x3fff, 0, 20)];

fn covers_v4(net: &Net<Ipv4Addr>, address: Ipv4Addr) -> bool {
    (net.0.to_bits() ^ address.to_bits()) >> (32 - net.1) == 0
}

fn covers_v6(net: &Net<Ipv6Addr>, address: Ipv6Addr) -> bool {
    (net.0.to_bits() ^ address.to_bits()) >> (128 - net.1) == 0
}
