//! Currencies that cards pay in: how they are divided, and the least that a provider takes.

use crate::units::Units;

/// A currency by ISO 4217.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Currency {
    /// Its code, such as `EUR`.
    pub code: &'static str,
    /// Its decimals.
    pub decimals: u8,
    /// The least that may be paid, in its smallest unit. What providers publish, as of November 2026.
    pub least: u64,
}

/// The most that may be paid at once, in the smallest unit of any currency: eight digits.
pub(crate) const MOST: u64 = 99_999_999;

/// The currencies that are known, by their codes.
pub const CURRENCIES: [Currency; 20] = [
    currency("AED", 2, 200),
    currency("AUD", 2, 50),
    currency("BRL", 2, 50),
    currency("CAD", 2, 50),
    currency("CHF", 2, 50),
    currency("CZK", 2, 1_500),
    currency("DKK", 2, 250),
    currency("EUR", 2, 50),
    currency("GBP", 2, 30),
    currency("HKD", 2, 400),
    currency("INR", 2, 50),
    currency("JPY", 0, 50),
    currency("MXN", 2, 1_000),
    currency("NOK", 2, 300),
    currency("NZD", 2, 50),
    currency("PLN", 2, 200),
    currency("RON", 2, 200),
    currency("SEK", 2, 300),
    currency("SGD", 2, 50),
    currency("USD", 2, 50),
];

const fn currency(code: &'static str, decimals: u8, least: u64) -> Currency {
    Currency { code, decimals, least }
}

impl Currency {
    /// The currency of a code, in either case.
    pub(crate) fn of(code: &str) -> Option<&'static Self> {
        CURRENCIES.iter().find(|known| known.code.eq_ignore_ascii_case(code))
    }

    /// An amount as a person reads it, such as `0.50 EUR`: with all its decimals, as money is written.
    pub(crate) fn words(&self, amount: u64) -> String {
        let text = Units(amount.into()).to_price(self.decimals);
        let missing = match text.split_once('.') {
            Some((_, part)) => usize::from(self.decimals).saturating_sub(part.len()),
            None if self.decimals == 0 => return format!("{text} {}", self.code),
            None => return format!("{text}.{} {}", "0".repeat(self.decimals.into()), self.code),
        };
        format!("{text}{} {}", "0".repeat(missing), self.code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_as_money_is() {
        let words = |code: &str, amount| Currency::of(code).unwrap().words(amount);
        assert_eq!(words("eur", 50), "0.50 EUR");
        assert_eq!(words("EUR", 5), "0.05 EUR");
        assert_eq!(words("EUR", 1_200), "12.00 EUR");
        assert_eq!(words("JPY", 50), "50 JPY");
        assert!(Currency::of("XAU").is_none());
    }
}
