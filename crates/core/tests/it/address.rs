//! Handles, domains and addresses. Mentionable WebFinger 2.1, hub card 3.1.

use forecourt_core::limits::{DOMAIN_BYTES_MAX, HANDLE_CHARS_MAX};
use forecourt_core::{Address, Domain, Handle};
use proptest::prelude::*;

use crate::{cases, text};

#[test]
fn s2_1_the_three_spellings_are_one_address() {
    for text in ["@Chef@Demo.Localhost", "chef@demo.localhost", "acct:chef@demo.localhost", "ACCT:CHEF@demo.localhost"]
    {
        let address = Address::parse(text).unwrap();
        assert_eq!(address.to_string(), "@chef@demo.localhost", "{text}");
        assert_eq!(address.to_acct(), "acct:chef@demo.localhost", "{text}");
    }
}

#[test]
fn s2_1_what_is_not_an_address_is_refused() {
    let no_addresses = [
        "@verse8.io",
        "@@verse8.io",
        "@foo@bar@baz",
        "@foo@localhost",
        "@a@1.2.3.4",
        "@a@[::1]",
        "",
        "@",
        "@@",
        "acct:",
        "acct:@foo@bar.example",
        "@foo@",
        "foo@.example",
        "@foo@bar..example",
        "@foo@bar.example.",
        "@foo@b ar.example",
        "@foo@bar.example/x",
        "@foo@bar.example:80",
        "@fo o@bar.example",
        "@föö@bar.example",
        "@foo@bar.example\n",
        "acct:foo%40bar.example",
        "mailto:foo@bar.example",
        "@foo@-bar.example",
        "@foo@bar.0x7f",
    ];
    for text in no_addresses {
        assert!(Address::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn s3_1_a_handle_has_one_to_thirty_characters() {
    assert!(Handle::parse("").is_err());
    assert!(Handle::parse("@").is_err());
    assert!(Handle::parse(&"a".repeat(HANDLE_CHARS_MAX)).is_ok());
    assert!(Handle::parse(&"a".repeat(HANDLE_CHARS_MAX + 1)).is_err());
    assert_eq!(Handle::parse("@Sous_Chef-2").unwrap().as_str(), "sous_chef-2");
}

#[test]
fn a_domain_has_at_most_253_bytes() {
    let label = "a".repeat(63);
    let longest = format!("{label}.{label}.{label}.{}", "b".repeat(DOMAIN_BYTES_MAX - 3 * 64));
    assert_eq!(Domain::parse(&longest).unwrap().as_str().len(), DOMAIN_BYTES_MAX);
    assert!(Domain::parse(&format!("{longest}b")).is_err());
    assert!(Domain::parse(&format!("a{label}.example")).is_err());
}

#[test]
fn a_unicode_domain_becomes_punycode() {
    for text in ["Bücher.example", "bu\u{308}cher.example", "xn--bcher-kva.EXAMPLE"] {
        assert_eq!(Domain::parse(text).unwrap().as_str(), "xn--bcher-kva.example", "{text}");
    }
    assert_eq!(Address::parse("@a@한국.example").unwrap().to_string(), "@a@xn--3e0b707e.example");
}

#[test]
fn names_under_localhost_are_this_machine() {
    assert!(Domain::parse("demo.localhost").unwrap().is_local());
    assert!(!Domain::parse("localhost.example").unwrap().is_local());
    assert!(!Domain::parse("evil-localhost.example").unwrap().is_local());
}

#[test]
fn an_error_repeats_little_of_the_text() {
    let error = Address::parse(&"x".repeat(100_000)).unwrap_err().to_string();
    assert!(error.len() < 200 && error.contains("is not an address"), "{error}");
}

#[test]
fn uts46_domains_come_out_as_in_browsers_or_not_at_all() {
    for case in cases("url/toascii.json").iter().filter(|case| case["input"].is_string()) {
        if let Ok(domain) = Domain::parse(text(case, "input")) {
            assert_eq!(Some(domain.as_str()), case["output"].as_str(), "{case}");
        }
    }
}

#[test]
fn naughty_texts_are_no_addresses() {
    for case in cases("text/naughty-strings.json") {
        let text = case.as_str().unwrap_or_default();
        assert!(Address::parse(text).is_err(), "{text:?}");
    }
}

proptest! {
    #[test]
    fn what_is_printed_is_read_again(local in "[a-zA-Z0-9_-]{1,30}", domain in "[a-z]{1,8}(\\.[a-z]{2,8}){1,3}") {
        let address = Address::parse(&format!("@{local}@{domain}")).unwrap();
        prop_assert_eq!(Address::parse(&address.to_string()), Ok(address.clone()));
        prop_assert_eq!(Address::parse(&address.to_acct()), Ok(address.clone()));
        let json = serde_json::to_string(&address).unwrap();
        prop_assert_eq!(serde_json::from_str::<Address>(&json).unwrap(), address);
    }

    #[test]
    fn whatever_is_read_is_canonical(text in any::<String>()) {
        for text in [text.clone(), format!("@a@{text}"), format!("{text}@b.example")] {
            if let Ok(address) = Address::parse(&text) {
                prop_assert_eq!(Address::parse(&address.to_string()), Ok(address.clone()));
                prop_assert!(address.to_string().bytes().all(|b| b.is_ascii_graphic()));
            }
        }
    }
}
