//! What is refused, by which code, and that nobody was asked about what the host can see itself.

use forecourt_core::policy::{PaymentScheme, Settlement};
use forecourt_payments::{PaymentsSettings, Price, X402, offers};
use serde_json::{Value, json};

use super::{PAYER, Shop, later, payment, settings, submitted};
use crate::facilitator::{Fault, opened};

#[tokio::test]
async fn each_version_selects_its_own_offer() {
    let shop = Shop::open().await;
    assert_eq!(shop.scheme.select(&shop.offers, &submitted(payment(1, 1))), Ok(0));
    assert_eq!(shop.scheme.select(&shop.offers, &submitted(payment(2, 1))), Ok(1));
}

#[tokio::test]
async fn x402_6_1_2_version_1_takes_at_least_and_version_2_exactly_the_amount() {
    let shop = Shop::open().await;
    let of = |version, value: &str| {
        let mut payment = payment(version, 1);
        payment["payload"]["authorization"]["value"] = json!(value);
        shop.scheme.select(&shop.offers, &submitted(payment)).map_err(|fault| fault.code)
    };
    let wrong = Err("INVALID_AMOUNT".to_owned());
    assert_eq!((of(1, "9999"), of(1, "10000"), of(1, "10001")), (wrong.clone(), Ok(0), Ok(0)));
    assert_eq!((of(2, "9999"), of(2, "10000"), of(2, "10001")), (wrong.clone(), Ok(1), wrong));
}

#[tokio::test]
async fn what_was_not_asked_for_is_refused_before_anybody_is_asked() {
    let shop = Shop::open().await;
    let changes: [(u64, &str, Value, &str); 10] = [
        (1, "/network", json!("base"), "NETWORK_MISMATCH"),
        (1, "/scheme", json!("upto"), "UNSUPPORTED_SCHEME"),
        (1, "/payload/authorization/to", json!(PAYER), "INVALID_PAY_TO"),
        (1, "/payload/authorization/value", json!("1"), "INVALID_AMOUNT"),
        (2, "/accepted/network", json!("eip155:1"), "NETWORK_MISMATCH"),
        (2, "/accepted/asset", json!(PAYER), "INVALID_PAYLOAD"),
        (2, "/accepted/payTo", json!(PAYER), "INVALID_PAY_TO"),
        (2, "/accepted/amount", json!("1"), "INVALID_AMOUNT"),
        (2, "/payload/authorization/to", json!(PAYER), "INVALID_PAY_TO"),
        (2, "/payload/authorization", json!(null), "INVALID_PAYLOAD"),
    ];
    for (version, at, to, code) in changes {
        let mut changed = payment(version, 1);
        *changed.pointer_mut(at).unwrap() = to;
        let submitted = submitted(changed);
        assert_eq!(shop.scheme.select(&shop.offers, &submitted).unwrap_err().code, code, "{version} {at}");
        let offer = &shop.offers[version as usize - 1];
        assert_eq!(shop.scheme.verify(offer, &submitted).await.unwrap_err().code, code, "{version} {at}");
        let Settlement::Refused(fault) = shop.scheme.settle(offer, &submitted).await else { panic!("{at}") };
        assert_eq!(fault.code, code);
    }
    assert_eq!((shop.verified(), shop.settled()), (0, 0));
}

#[tokio::test]
async fn expired_and_not_yet_valid_payments_are_refused_before_anybody_is_asked() {
    let shop = Shop::open().await;
    let paid = submitted(payment(1, 1));
    shop.clock.set(later(299));
    assert_eq!(shop.scheme.verify(&shop.offers[0], &paid).await, Ok(()));
    shop.clock.set(later(300));
    assert_eq!(shop.scheme.verify(&shop.offers[0], &paid).await.unwrap_err().code, "EXPIRED_PAYMENT");
    assert!(matches!(shop.scheme.settle(&shop.offers[0], &paid).await, Settlement::Refused(_)));
    let mut early = payment(1, 1);
    early["payload"]["authorization"]["validAfter"] = json!("99999999999");
    early["payload"]["authorization"]["validBefore"] = json!(u128::MAX.to_string());
    let fault = shop.scheme.verify(&shop.offers[0], &submitted(early)).await.unwrap_err();
    assert_eq!((fault.code.as_str(), fault.message.contains("not valid yet")), ("EXPIRED_PAYMENT", true));
    assert_eq!((shop.verified(), shop.settled()), (1, 0));
}

#[tokio::test]
async fn policy5_6_the_facilitator_sees_the_hosts_own_offer() {
    let shop = Shop::open().await;
    let mut paid = payment(2, 1);
    paid["accepted"]["extra"] = json!({"name": "Other", "version": "9"});
    paid["accepted"]["maxTimeoutSeconds"] = json!(9);
    assert_eq!(shop.scheme.verify(&shop.offers[1], &submitted(paid)).await, Ok(()));
    let asked = shop.scripted.books.lock().verified[0].clone();
    let stored = &shop.offers[1].payload["accepts"][0];
    assert_eq!(asked["x402Version"], 2);
    assert_eq!(&asked["paymentRequirements"], stored);
    assert_eq!(&asked["paymentPayload"]["accepted"], stored);
}

#[tokio::test]
async fn what_is_paid_ahead_is_asked_for_as_it_was_signed_and_less_than_the_price_never() {
    let shop = Shop::open().await;
    let mut paid = payment(1, 1);
    paid["payload"]["authorization"]["value"] = json!("50000");
    assert_eq!(shop.scheme.verify(&shop.offers[0], &submitted(paid.clone())).await, Ok(()));
    let mut stored = shop.offers[0].payload["accepts"][0].clone();
    stored["maxAmountRequired"] = json!("50000");
    assert_eq!(shop.scripted.books.lock().verified[0]["paymentRequirements"], stored);
    paid["payload"]["authorization"]["value"] = json!("9999");
    let fault = shop.scheme.verify(&shop.offers[0], &submitted(paid)).await.unwrap_err();
    assert_eq!(fault.code, "INVALID_AMOUNT");
    assert_eq!(shop.scripted.books.lock().verified.len(), 1, "nobody is asked about it");
}

#[tokio::test]
async fn one_authorization_is_one_payment_in_whatever_version_and_spelling() {
    let shop = Shop::open().await;
    let print = |payment: Value| shop.scheme.fingerprint(&submitted(payment)).unwrap();
    let mut upper = payment(2, 0xab);
    upper["payload"]["authorization"]["nonce"] = json!(format!("0x{}", "AB".repeat(32)));
    upper["payload"]["authorization"]["from"] = json!(PAYER.to_lowercase());
    upper["payload"]["signature"] = json!("0xother");
    upper["more"] = json!({"around": "it"});
    assert_eq!(print(payment(1, 0xab)), print(upper));
    assert_ne!(print(payment(1, 0xab)), print(payment(1, 0xac)));
}

#[tokio::test]
async fn a_payment_says_who_pays_where_and_until_when() {
    let shop = Shop::open().await;
    for (version, network) in [(1, "base-sepolia"), (2, "eip155:84532")] {
        let said = shop.scheme.authorization(&submitted(payment(version, 1))).unwrap();
        assert!(said.payer.unwrap().eq_ignore_ascii_case(PAYER));
        assert_eq!((said.network.as_deref(), said.good_until), (Some(network), Some(later(300))));
        // Later than any clock counts is no end.
        let mut endless = payment(version, 1);
        endless["payload"]["authorization"]["validBefore"] = json!(u128::MAX.to_string());
        assert_eq!(shop.scheme.authorization(&submitted(endless)).unwrap().good_until, None);
    }
}

#[tokio::test]
async fn a_facilitators_reasons_become_codes() {
    let shop = Shop::open().await;
    for (reason, code) in [
        ("insufficient_funds", "INSUFFICIENT_FUNDS"),
        ("invalid_exact_evm_insufficient_balance", "INSUFFICIENT_FUNDS"),
        ("invalid_exact_evm_payload_signature", "INVALID_SIGNATURE"),
        ("invalid_exact_evm_payload_authorization_valid_before", "EXPIRED_PAYMENT"),
        ("invalid_exact_evm_payload_authorization_valid_after", "EXPIRED_PAYMENT"),
        ("invalid_exact_evm_payload_authorization_value", "INVALID_AMOUNT"),
        ("invalid_exact_evm_payload_recipient_mismatch", "INVALID_PAY_TO"),
        ("invalid_exact_evm_nonce_already_used", "DUPLICATE_NONCE"),
        ("invalid_network", "NETWORK_MISMATCH"),
        ("invalid_payload", "INVALID_PAYLOAD"),
        ("invalid_scheme", "UNSUPPORTED_SCHEME"),
        ("invalid_x402_version", "invalid_x402_version"),
        ("unexpected_verify_error", "VERIFY_FAILED"),
        ("", "VERIFY_FAILED"),
    ] {
        // A negative answer is one whatever the status.
        for status in [200, 400, 402, 500] {
            let no = json!({"isValid": false, "invalidReason": reason});
            shop.scripted.books.lock().verify_faults.push(Fault::Answer(status, no));
            let fault = shop.scheme.verify(&shop.offers[0], &submitted(payment(1, 1))).await.unwrap_err();
            assert_eq!(fault.code, code, "{reason}");
            // People read a sentence, and no word of the facilitator's.
            assert!(
                fault.message.ends_with('.') && (reason.is_empty() || !fault.message.contains(reason)),
                "{fault:?}"
            );
            assert_eq!(fault.is_passing, reason.starts_with("unexpected_"), "{reason}");
        }
    }
}

#[tokio::test]
async fn a_facilitator_that_is_away_is_a_passing_fault() {
    let away = settings("facilitator = \"http://127.0.0.1:9\"");
    let shop = Shop::open().await;
    let scheme = X402::new(&away, opened(), shop.clock.clone()).unwrap();
    let fault = scheme.verify(&shop.offers[0], &submitted(payment(1, 1))).await.unwrap_err();
    assert_eq!((fault.code.as_str(), fault.is_passing), ("VERIFY_FAILED", true));
    // Nobody was reached, so nothing was taken.
    let Settlement::Refused(fault) = scheme.settle(&shop.offers[0], &submitted(payment(1, 1))).await else { panic!() };
    assert!(fault.is_passing);
    assert!(!fault.message.contains("127.0.0.1"), "{}", fault.message);
}

#[tokio::test]
async fn loopback_is_closed_unless_the_operator_opens_it() {
    let shop = Shop::open().await;
    let url = shop.scripted.start().await;
    let settings = settings(&format!("facilitator = \"http://{url}\""));
    let closed = forecourt_egress::Egress::builder(forecourt_egress::EgressConfig::default()).build().unwrap();
    let scheme = X402::new(&settings, closed, shop.clock.clone()).unwrap();
    assert!(scheme.verify(&shop.offers[0], &submitted(payment(1, 1))).await.unwrap_err().is_passing);
    assert_eq!(shop.verified(), 0);
}

#[tokio::test]
async fn what_the_facilitator_cannot_settle_is_told_at_the_start() {
    let shop = Shop::open().await;
    assert_eq!(shop.scheme.unsupported(&shop.offers).await.unwrap(), ["x402 version 2: exact on eip155:84532"]);
}

#[test]
fn settings_that_cannot_work_say_what_to_do() {
    let asked = |settings: &PaymentsSettings, price, network| {
        let price = Price { price, network, pay_to: None };
        offers(settings, price, "https://shop.example/~chef", "").map_err(|error| error.message)
    };
    let fine = settings("facilitator = \"https://pay.example\"");
    let sepolia = Some("base-sepolia");
    for (price, network, message) in [
        ("0.05", sepolia, "the price `0.05` names no token"),
        ("0.05 DAI", sepolia, "the network `base-sepolia` has no token `DAI` (known: USDC)"),
        ("0.0000001 USDC", sepolia, "the price `0.0000001 USDC`: the asset has 6 decimals, and the price has more"),
        ("0 USDC", sepolia, "the price `0 USDC` is nothing"),
        ("1", None, "the rule names no `network`"),
        ("1 USDC", Some("solana"), "unknown network `solana` (known: base, base-sepolia)"),
    ] {
        assert_eq!(asked(&fine, price, network).unwrap_err(), message);
    }
    assert_eq!(asked(&settings(""), "$1", sepolia).unwrap_err(), "payments need a facilitator");
    let nobody = PaymentsSettings { pay_to: None, ..fine.clone() };
    assert_eq!(asked(&nobody, "$1", sepolia).unwrap_err(), "nobody is named to be paid");
    let dollars = asked(&fine, "$0.05", Some("eip155:84532")).unwrap();
    assert_eq!(dollars, asked(&fine, "0.05 USDC", sepolia).unwrap());
    assert_eq!(dollars[0].payload["accepts"][0]["maxAmountRequired"], "50000");
    assert_eq!(dollars[1].payload["accepts"][0]["amount"], "50000");
    for (wrong, message) in [
        ("timeout_seconds = 0", "`timeout_seconds` is 0"),
        ("timeout_seconds = 86401", "`timeout_seconds` is 86401"),
        ("[networks.mine]\n", "the network `mine` is not known and has no `id`"),
        ("[networks.mine]\nid = \"solana:x\"", "`solana:x` is not the id of a network that x402 `exact` is paid on"),
        ("[networks.mine]\nid = \"eip155:8453\"", "the networks `base` and `mine` have the same id"),
    ] {
        assert_eq!(settings(wrong).check().unwrap_err().message, message);
    }
    settings("timeout_seconds = 86400").check().unwrap();
}
