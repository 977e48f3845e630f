//! Addresses: what is read is canonical and safe to print anywhere.

#![no_main]

use forecourt_core::Address;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(address) = Address::parse(text) {
        let printed = address.to_string();
        assert!(printed.bytes().all(|b| b.is_ascii_graphic()), "{printed}");
        assert_eq!(Address::parse(&printed), Ok(address.clone()));
        assert_eq!(Address::parse(&address.to_acct()), Ok(address));
    }
});
