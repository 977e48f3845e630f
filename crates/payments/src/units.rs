//! Amounts of money, in the smallest unit of their asset. Decimal arithmetic on integers; never a float.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::{AMOUNT_DIGITS_MAX, DECIMALS_MAX};

/// An amount in the smallest unit of its asset. On the wire a decimal string without sign, point or leading
/// zeros. At most 128 bits, of the 256 that a token may count with. x402 section 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Units(pub u128);

/// Why a text is no amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnitsError {
    /// Something else than digits, or a zero too many before them.
    #[error("an amount is written in decimal digits")]
    Malformed,
    /// The amount does not fit into 128 bits.
    #[error("an amount has at most {AMOUNT_DIGITS_MAX} digits")]
    TooLarge,
    /// It is finer than the asset can be divided.
    #[error("the asset has {0} decimals, and the price has more")]
    TooFine(u8),
    /// An asset of that many decimals is not taken.
    #[error("an asset has at most {DECIMALS_MAX} decimals")]
    Decimals,
}

impl Units {
    /// What `price`, such as `0.05`, is in units of an asset with so many decimals. Zeros at the end are fine;
    /// other digits that the asset can't hold are [`UnitsError::TooFine`]: nothing is rounded.
    pub fn from_price(price: &str, decimals: u8) -> Result<Self, UnitsError> {
        if decimals > DECIMALS_MAX {
            return Err(UnitsError::Decimals);
        }
        let (whole, part) = price.split_once('.').unwrap_or((price, "0"));
        if !is_digits(whole) || !is_digits(part) {
            return Err(UnitsError::Malformed);
        }
        // `0.0500` is five cents in a token of two decimals too: only digits that carry value can be too fine.
        let part = part.trim_end_matches('0');
        let missing = usize::from(decimals).checked_sub(part.len()).ok_or(UnitsError::TooFine(decimals))?;
        let digits = format!("{whole}{part}{}", "0".repeat(missing));
        let digits = digits.trim_start_matches('0');
        if digits.is_empty() { Ok(Self(0)) } else { digits.parse() }
    }

    /// The same as a person reads it, such as `0.05`, without zeros at the end.
    pub fn to_price(self, decimals: u8) -> String {
        let decimals = usize::from(decimals);
        let digits = format!("{:0>width$}", self.0, width = decimals + 1);
        let (whole, part) = digits.split_at(digits.len() - decimals);
        match part.trim_end_matches('0') {
            "" => whole.to_owned(),
            part => format!("{whole}.{part}"),
        }
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl FromStr for Units {
    type Err = UnitsError;

    fn from_str(text: &str) -> Result<Self, UnitsError> {
        // One spelling for each amount, since offers are compared as canonical JSON (PolicyPart 4.2).
        if !is_digits(text) || (text.len() > 1 && text.starts_with('0')) {
            return Err(UnitsError::Malformed);
        }
        // Told apart from a malformed text before `parse`, whose overflow error would say neither.
        if text.len() > AMOUNT_DIGITS_MAX {
            return Err(UnitsError::TooLarge);
        }
        text.parse().map(Self).map_err(|_| UnitsError::TooLarge)
    }
}

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Units {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Units {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
