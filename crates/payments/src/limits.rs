//! Bounds of payments, with their units.

/// Bytes of a payment in a header, as it stands there. A signed authorization has about 700.
pub const PAYMENT_HEADER_BYTES_MAX: usize = 16 * 1024;
/// Digits of an amount in the smallest unit: what 128 bits hold. More than any supply of any token.
pub const AMOUNT_DIGITS_MAX: usize = 39;
/// Decimals of an asset. ERC-20 allows 255; a unit smaller than this one is not money.
pub const DECIMALS_MAX: u8 = 30;
/// Requirements in one offer that are read.
pub const ACCEPTS_MAX: usize = 32;
