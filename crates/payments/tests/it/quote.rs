//! What a payer is shown, and what it lets pass.

use forecourt_core::policy::AcceptedPayment;
use forecourt_payments::{Price, Quote, offers};

use crate::scheme::settings;

fn quotes(price: &str, more: &str) -> Vec<Quote> {
    let settings = settings(&format!("facilitator = \"https://pay.example\"\n{more}"));
    let price = Price { price, network: Some("base-sepolia"), pay_to: None };
    Quote::all(&offers(&settings, price, "https://shop.example/~chef", "A recipe").unwrap())
}

#[test]
fn a_price_is_shown_in_the_words_of_a_token_that_is_known() {
    let found = quotes("0.05 USDC", "");
    assert_eq!(found.iter().map(Quote::price).collect::<Vec<_>>(), ["0.05 USDC", "0.05 USDC"]);
    assert_eq!(found[1].resource.as_ref().unwrap()["url"], "https://shop.example/~chef");
}

#[test]
fn a_bound_holds_at_the_price_and_not_a_unit_below() {
    let quote = &quotes("0.05 USDC", "")[0];
    for (bound, is_within) in [
        ("0.05 USDC", Some(true)),
        ("$0.05", Some(true)),
        ("50000 units", Some(true)),
        ("0.049999 USDC", Some(false)),
        ("$0.049999", Some(false)),
        ("49999 units", Some(false)),
        ("0.05 DAI", None),
        ("0.05", None),
        ("", None),
        ("units", None),
        ("$", None),
        ("-1 units", None),
    ] {
        assert_eq!(quote.is_within(bound), is_within, "{bound}");
    }
}

#[test]
fn what_a_stranger_calls_its_token_says_nothing() {
    let asset =
        "address = \"0x00000000000000000000000000000000000000aa\"\ndecimals = 2\nname = \"USDC\"\nversion = \"2\"";
    let quote = &quotes("0.05 USDC", &format!("[networks.base-sepolia.assets.USDC]\n{asset}"))[0];
    assert_eq!(quote.price(), "5 units of the token 0x00000000000000000000000000000000000000aa");
    assert_eq!((quote.is_within("$100"), quote.is_within("5 units")), (None, Some(true)));
}

#[test]
fn schemes_that_are_not_known_are_passed_over() {
    let stripe = AcceptedPayment { scheme: "stripe.intent".to_owned(), payload: Default::default() };
    assert!(Quote::all(&[stripe]).is_empty());
}
