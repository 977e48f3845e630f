//! Networks that need no settings to be known by name. x402 version 1 names them; version 2 numbers them.

/// The namespace of networks with Ethereum's contracts in CAIP-2.
pub(crate) const CAIP2_PREFIX: &str = "eip155:";

/// Names of version 1 and the numbers that they stand for, as x402's own libraries have them.
const NAMES: [(&str, u64); 14] = [
    ("abstract", 2_741),
    ("abstract-testnet", 11_124),
    ("avalanche", 43_114),
    ("avalanche-fuji", 43_113),
    ("base", 8_453),
    ("base-sepolia", 84_532),
    ("ethereum", 1),
    ("iotex", 4_689),
    ("peaq", 3_338),
    ("polygon", 137),
    ("polygon-amoy", 80_002),
    ("sei", 1_329),
    ("sei-testnet", 1_328),
    ("sepolia", 11_155_111),
];

/// The number of a network that is known by its name in version 1.
pub(crate) fn chain_by_name(name: &str) -> Option<u64> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, chain)| *chain)
}

/// The number of a network by its name in version 2.
pub(crate) fn chain_by_caip2(name: &str) -> Option<u64> {
    // `parse` alone would take `+8453`, a second spelling of one network.
    name.strip_prefix(CAIP2_PREFIX).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()
}
