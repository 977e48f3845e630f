//! Amounts and addresses: decimal arithmetic without a float.

use forecourt_payments::limits::{AMOUNT_DIGITS_MAX, DECIMALS_MAX};
use forecourt_payments::{Address, Nonce, Units, UnitsError};
use proptest::prelude::*;

#[test]
fn prices_become_units_exactly() {
    for (price, decimals, units) in
        [("0.05", 6, 50_000), ("1", 6, 1_000_000), ("0.1", 1, 1), ("10.500", 2, 1_050), ("0", 6, 0), ("007.5", 1, 75)]
    {
        assert_eq!(Units::from_price(price, decimals), Ok(Units(units)), "{price}");
    }
    // 0.1 + 0.2 in units is what it is, where doubles have a digit too many.
    let sum = Units::from_price("0.1", 18).unwrap().0 + Units::from_price("0.2", 18).unwrap().0;
    assert_eq!(Units(sum), Units::from_price("0.3", 18).unwrap());
}

#[test]
fn prices_that_no_unit_holds_are_refused() {
    assert_eq!(Units::from_price("0.0000001", 6), Err(UnitsError::TooFine(6)));
    for price in ["", ".", ".5", "5.", "-1", "+1", "1e3", "1,5", "1.2.3", " 1", "٣", "0x10", "inf"] {
        assert_eq!(Units::from_price(price, 6), Err(UnitsError::Malformed), "{price:?}");
    }
    assert!(Units::from_price("1", DECIMALS_MAX).is_ok());
    assert_eq!(Units::from_price("1", DECIMALS_MAX + 1), Err(UnitsError::Decimals));
    assert_eq!(Units::from_price(&"9".repeat(34), 6), Err(UnitsError::TooLarge));
}

#[test]
fn amounts_are_canonical_decimal_strings_within_128_bits() {
    let max = u128::MAX.to_string();
    assert_eq!(max.len(), AMOUNT_DIGITS_MAX);
    assert_eq!(max.parse(), Ok(Units(u128::MAX)));
    assert_eq!("340282366920938463463374607431768211456".parse::<Units>(), Err(UnitsError::TooLarge));
    assert_eq!("1".repeat(AMOUNT_DIGITS_MAX + 1).parse::<Units>(), Err(UnitsError::TooLarge));
    for text in ["", "00", "01", "-1", "+1", "1.0", "1e3", " 1", "0x1"] {
        assert_eq!(text.parse::<Units>(), Err(UnitsError::Malformed), "{text:?}");
    }
    assert!(serde_json::from_str::<Units>("5").is_err(), "a JSON number may be a float");
    assert_eq!(serde_json::to_string(&Units(5)).unwrap(), "\"5\"");
}

#[test]
fn addresses_are_compared_by_value() {
    let checksummed: Address = "0x036CbD53842c5426634e7929541eC2318f3dCF7e".parse().unwrap();
    assert_eq!(checksummed, "0x036cbd53842c5426634e7929541ec2318f3dcf7e".parse().unwrap());
    for text in [
        "036cbd53842c5426634e7929541ec2318f3dcf7e",
        "0x036cbd",
        "0X036CbD53842c5426634e7929541eC2318f3dCF7e",
        "0x036cbd53842c5426634e7929541ec2318f3dcf7g",
    ] {
        assert!(text.parse::<Address>().is_err(), "{text}");
    }
    assert!("0x036cbd53842c5426634e7929541ec2318f3dcf7é".parse::<Address>().is_err());
}

proptest! {
    #[test]
    fn units_and_prices_are_inverse(units: u128, decimals in 0..=DECIMALS_MAX) {
        let price = Units(units).to_price(decimals);
        prop_assert_eq!(Units::from_price(&price, decimals), Ok(Units(units)));
        prop_assert_eq!(units.to_string().parse(), Ok(Units(units)));
    }

    #[test]
    fn any_text_is_an_amount_or_an_error(text in "\\PC{0,60}", decimals: u8) {
        let _ = text.parse::<Units>();
        let _ = Units::from_price(&text, decimals);
        let _ = text.parse::<Address>();
    }

    #[test]
    fn nonces_are_written_as_they_were_read(bytes: [u8; 32]) {
        let text = serde_json::to_value(forecourt_payments::Hex(bytes)).unwrap();
        prop_assert_eq!(serde_json::from_value::<Nonce>(text).unwrap().0, bytes);
    }
}
