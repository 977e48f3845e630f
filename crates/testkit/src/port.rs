//! Ports for servers that must be told one before they begin.

use std::hash::BuildHasher;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};

/// Below those that a kernel gives to outgoing connections and to whoever asks for any: a port from among them may be
/// taken again between being looked up and being listened on, and beside hundreds of tests it is.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// A port, 20,000 to 31,999, on which nobody listens, by TCP or UDP.
///
/// # Panics
/// All of them are taken.
pub fn free_port() -> u16 {
    let chance = std::hash::RandomState::new();
    let mut offers = (0..COUNT).map(|n| FIRST + (chance.hash_one(n) % u64::from(COUNT)) as u16);
    offers.find(|port| is_free(*port)).expect("a free port")
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok() && UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_taken_is_not_given() {
        let given = free_port();
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, given)).unwrap();
        assert!(!is_free(taken.local_addr().unwrap().port()));
        assert!((FIRST..FIRST + COUNT).contains(&given));
    }
}
