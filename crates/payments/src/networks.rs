//! Networks that need no settings to be known by name. x402 version 1 names them; version 2 numbers them.

/// The namespace of networks with Ethereum's contracts in CAIP-2.
pub(crate) const CAIP2_PREFIX: &str = "eip155:";

/// A network that needs no settings to be known by name.
pub(crate) struct KnownNetwork {
    /// Its name in version 1, as x402's own libraries have it.
    name: &'static str,
    chain: u64,
    /// What people call it.
    pub(crate) title: &'static str,
    /// The symbol of what its fees are paid in.
    pub(crate) currency: &'static str,
}

const KNOWN: [KnownNetwork; 14] = [
    known("abstract", 2_741, "Abstract", "ETH"),
    known("abstract-testnet", 11_124, "Abstract Testnet", "ETH"),
    known("avalanche", 43_114, "Avalanche", "AVAX"),
    known("avalanche-fuji", 43_113, "Avalanche Fuji", "AVAX"),
    known("base", 8_453, "Base", "ETH"),
    known("base-sepolia", 84_532, "Base Sepolia", "ETH"),
    known("ethereum", 1, "Ethereum", "ETH"),
    known("iotex", 4_689, "IoTeX", "IOTX"),
    known("peaq", 3_338, "peaq", "PEAQ"),
    known("polygon", 137, "Polygon", "POL"),
    known("polygon-amoy", 80_002, "Polygon Amoy", "POL"),
    known("sei", 1_329, "Sei", "SEI"),
    known("sei-testnet", 1_328, "Sei Testnet", "SEI"),
    known("sepolia", 11_155_111, "Sepolia", "ETH"),
];

const fn known(name: &'static str, chain: u64, title: &'static str, currency: &'static str) -> KnownNetwork {
    KnownNetwork { name, chain, title, currency }
}

/// The number of a network that is known by its name in version 1.
pub(crate) fn chain_by_name(name: &str) -> Option<u64> {
    KNOWN.iter().find(|known| known.name == name).map(|known| known.chain)
}

/// A network by its number.
pub(crate) fn known_by_chain(chain: u64) -> Option<&'static KnownNetwork> {
    KNOWN.iter().find(|known| known.chain == chain)
}

/// The number of a network by its name in version 2.
pub(crate) fn chain_by_caip2(name: &str) -> Option<u64> {
    // `parse` alone would take `+8453`, a second spelling of one network.
    name.strip_prefix(CAIP2_PREFIX).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()
}
