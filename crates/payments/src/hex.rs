//! Bytes that are written in hexadecimal: addresses of accounts and tokens, and nonces.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// So many bytes, on the wire `0x` and two digits for each, in either case. Compared by value, so that spelling
/// an address with or without the checksum of EIP-55 is the same address. Printed in lower case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hex<const N: usize>(pub [u8; N]);

/// An account or a contract.
pub type Address = Hex<20>;
/// What makes an authorization usable once. EIP-3009.
pub type Nonce = Hex<32>;

/// A text that is not `0x` and the right number of hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected 0x and {0} hexadecimal digits")]
pub struct HexError(usize);

impl<const N: usize> FromStr for Hex<N> {
    type Err = HexError;

    fn from_str(text: &str) -> Result<Self, HexError> {
        let wrong = HexError(N * 2);
        let digits = text.strip_prefix("0x").ok_or(wrong)?.as_bytes();
        if digits.len() != N * 2 {
            return Err(wrong);
        }
        let mut bytes = [0; N];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |at: usize| char::from(pair[at]).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            *byte = digit(0).zip(digit(1)).map(|(high, low)| high << 4 | low).ok_or(wrong)?;
        }
        Ok(Self(bytes))
    }
}

impl<const N: usize> fmt::Display for Hex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0x")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl<const N: usize> fmt::Debug for Hex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<const N: usize> Serialize for Hex<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, const N: usize> Deserialize<'de> for Hex<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
