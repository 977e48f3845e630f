//! Each mandate that is not what it must be, and why it is refused.

use forecourt_core::policy::PaymentScheme;
use forecourt_jose::encoding::to_base64url;
use forecourt_payments::ap2::{INTENT_KEY, PAYMENT_KEY};
use serde_json::{Value, json};

use super::{Draft, Market, hash, key};

/// A change of what is signed, and the code that it is refused with; `None`: it is taken.
type Case = (&'static str, fn(&mut Draft), Option<&'static str>);

async fn hold(market: &Market, cases: Vec<Case>) {
    let cart = market.cart('a');
    for (what, change, code) in cases {
        let verified = market.ap2.verify(&cart, &market.payment(&cart, change)).await;
        assert_eq!(verified.map_err(|error| error.code).err().as_deref(), code, "{what}");
    }
}

fn intent(change: impl Fn(&mut Value)) -> Value {
    let mut intent = json!({
        "user_cart_confirmation_required": false, "natural_language_description": "An answer about rice.",
        "merchants": null, "skus": ["@other", "@shop"], "requires_refundability": false,
        "intent_expiry": "2026-01-02T00:00:00Z",
    });
    change(&mut intent);
    intent
}

fn beside(draft: &mut Draft, key: &str, value: Value) {
    draft.beside.insert(key.to_owned(), value);
}

#[tokio::test]
async fn ap2_what_pays_for_something_else_is_refused() {
    let market = Market::with_processor().await;
    hold(
        &market,
        vec![
            ("as it must be", |_| {}, None),
            ("by the URL of the host", |d| d.contents["merchant_agent"] = "https://demo.example".into(), None),
            ("by the URL of the agent", |d| d.contents["merchant_agent"] = "https://demo.example/~shop".into(), None),
            ("a value as text", |d| d.contents["payment_details_total"]["amount"]["value"] = "0.500".into(), None),
            ("another cart", |d| d.contents["payment_details_id"] = "b".repeat(64).into(), Some("other_cart")),
            (
                "a response to another",
                |d| d.contents["payment_response"]["request_id"] = "x".into(),
                Some("other_cart"),
            ),
            ("less", |d| d.contents["payment_details_total"]["amount"]["value"] = json!(0.49), Some("mandate_amount")),
            ("more", |d| d.contents["payment_details_total"]["amount"]["value"] = json!(0.51), Some("mandate_amount")),
            (
                "no amount",
                |d| d.contents["payment_details_total"]["amount"]["value"] = json!(-0.5),
                Some("mandate_amount"),
            ),
            (
                "another currency",
                |d| d.contents["payment_details_total"]["amount"]["currency"] = "USD".into(),
                Some("mandate_currency"),
            ),
            (
                "a total that may change",
                |d| d.contents["payment_details_total"]["pending"] = true.into(),
                Some("amount_pending"),
            ),
            (
                "a longer time for refunds",
                |d| d.contents["payment_details_total"]["refund_period"] = 1.into(),
                Some("mandate_refund"),
            ),
            (
                "the time for refunds left out",
                |d| drop(d.contents["payment_details_total"].as_object_mut().unwrap().remove("refund_period")),
                None,
            ),
            ("another payee", |d| d.contents["merchant_agent"] = "Evil Shop".into(), Some("mandate_payee")),
            (
                "another method",
                |d| d.contents["payment_response"]["method_name"] = "https://www.x402.org/".into(),
                Some("mandate_method"),
            ),
            ("made before the cart", |d| d.contents["timestamp"] = "2025-12-31T23:54:59Z".into(), Some("mandate_time")),
            ("made a little before", |d| d.contents["timestamp"] = "2025-12-31T23:55:00Z".into(), None),
            ("made in the future", |d| d.contents["timestamp"] = "2026-01-01T00:05:01Z".into(), Some("mandate_time")),
            ("made at no time", |d| d.contents["timestamp"] = "soon".into(), Some("mandate_time")),
        ],
    )
    .await;
    assert!(market.processor.books.lock().asked.is_empty(), "nobody was asked");
}

#[tokio::test]
async fn ap2_what_its_payer_did_not_sign_is_refused() {
    let market = Market::with_processor().await;
    fn set(draft: &mut Draft, name: &str, value: Value) {
        draft.overruled.insert(name.to_owned(), value);
    }
    hold(
        &market,
        vec![
            ("for another host", |d| set(d, "aud", "https://other.example".into()), Some("mandate_audience")),
            (
                "for another host too",
                |d| set(d, "aud", json!(["https://demo.example", "https://other.example"])),
                Some("mandate_audience"),
            ),
            ("for us, as a list", |d| set(d, "aud", json!(["https://demo.example"])), None),
            ("for nobody", |d| set(d, "aud", json!([])), Some("mandate_audience")),
            ("another nonce", |d| set(d, "nonce", "b".repeat(64).into()), Some("mandate_nonce")),
            ("signed before the cart", |d| set(d, "iat", json!(1_767_225_600 - 301)), Some("mandate_time")),
            ("at no time", |d| set(d, "iat", Value::Null), Some("authorization_unreadable")),
            ("signed in the future", |d| set(d, "iat", json!(1_767_225_600 + 301)), Some("credential_early")),
            ("ended", |d| set(d, "exp", json!(1_767_225_600)), Some("credential_expired")),
            ("covers nothing", |d| set(d, "transaction_data", json!([])), Some("cart_unsigned")),
            ("covers no list", |d| set(d, "transaction_data", "x".into()), Some("cart_unsigned")),
            ("without the cart", |d| set(d, "transaction_data", json!([hash(&d.contents)])), Some("cart_unsigned")),
            ("another credential", |d| set(d, "sd_hash", "AAAA".into()), Some("credential_swapped")),
            ("no hash of it", |d| set(d, "sd_hash", Value::Null), Some("credential_swapped")),
            ("no key binding", |d| d.binding_type = "JWT", Some("authorization_unreadable")),
            ("another key", |d| d.holder = key(7), Some("holder_signature")),
            ("no key of the payer", |d| d.credential["cnf"] = Value::Null, Some("holder_missing")),
            (
                "a payer without a key",
                |d| drop(d.credential.as_object_mut().unwrap().remove("cnf")),
                Some("holder_missing"),
            ),
            (
                "a key that is none",
                |d| d.credential["cnf"] = json!({"jwk": {"kty": "oct", "k": "AAAA"}}),
                Some("holder_missing"),
            ),
        ],
    )
    .await;
    let cart = market.cart('a');
    let verify = async |overruled: Value| {
        let payment =
            market.payment(&cart, |draft| drop(draft.overruled.insert("transaction_data".to_owned(), overruled)));
        market.ap2.verify(&cart, &payment).await.map_err(|error| error.code)
    };
    let (contents, mandate) = (hash(&cart.payload["contents"]), hash(&Value::Object(cart.payload.clone())));
    let paid = hash(&market.draft(&cart).contents);
    let hex = |hash: &str| {
        let bytes = forecourt_jose::encoding::from_base64url(hash).unwrap();
        bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    assert_eq!(verify(json!([mandate, hex(&paid)])).await, Ok(()), "of the whole mandate, and in hex");
    assert_eq!(verify(json!([contents])).await, Err("payment_unsigned".to_owned()));
    assert_eq!(verify(json!([contents, paid, hash(&json!(1))])).await, Err("signed_unknown".to_owned()));
    assert_eq!(verify(json!([contents, paid, 1])).await, Err("cart_unsigned".to_owned()));
    let mut many = vec![contents.clone(); 7];
    many.push(paid.clone());
    assert_eq!(verify(many.clone().into()).await, Ok(()));
    many.push(paid);
    assert_eq!(verify(many.into()).await, Err("authorization_unreadable".to_owned()));
}

#[tokio::test]
async fn ap2_who_vouches_for_a_payer_must_be_trusted() {
    let market = Market::with_processor().await;
    hold(
        &market,
        vec![
            (
                "by itself",
                |d| {
                    let claims = d.binding.take().unwrap();
                    d.credential.as_object_mut().unwrap().remove("cnf");
                    d.credential.as_object_mut().unwrap().extend(claims.as_object().unwrap().clone());
                },
                None,
            ),
            (
                "by itself, and bound to a key",
                |d| {
                    let claims = d.binding.take().unwrap();
                    d.credential.as_object_mut().unwrap().extend(claims.as_object().unwrap().clone());
                },
                Some("holder_missing"),
            ),
            ("by nobody who is known", |d| d.credential["iss"] = "https://evil.example".into(), Some("issuer_unknown")),
            ("by nobody", |d| drop(d.credential.as_object_mut().unwrap().remove("iss")), Some("issuer_unknown")),
            ("with a key that is not theirs", |d| d.issuer = key(9), Some("key_unknown")),
            ("ended", |d| d.credential["exp"] = json!(1_767_225_600), Some("credential_expired")),
            ("not yet", |d| d.credential["nbf"] = json!(1_767_225_600 + 301), Some("credential_early")),
            ("that may be revoked", |d| d.credential["status"] = json!({"status_list": {}}), Some("credential_status")),
            ("by another hash", |d| d.credential["_sd_alg"] = "md5".into(), Some("algorithm_refused")),
            ("that discloses something", |d| d.disclosures = "WyJhIiwibmFtZSIsIkFkYSJd~".to_owned(), None),
            ("that discloses 64 things", |d| d.disclosures = "YQ~".repeat(64), None),
            ("that discloses 65", |d| d.disclosures = "YQ~".repeat(65), Some("authorization_unreadable")),
        ],
    )
    .await;
}

#[tokio::test]
async fn ap2_an_algorithm_must_be_one_that_counts() {
    for (name, code) in [("EdDSA", None), ("ES256", Some("algorithm_refused"))] {
        hold(&Market::with_algorithm(name), vec![(name, |_| {}, code)]).await;
    }
}

#[tokio::test]
async fn ap2_an_intent_is_a_limit() {
    let market = Market::with_processor().await;
    fn set(draft: &mut Draft, change: fn(&mut Value)) {
        beside(draft, INTENT_KEY, intent(change));
    }
    hold(
        &market,
        vec![
            ("none", |d| beside(d, INTENT_KEY, Value::Null), None),
            ("one that allows it", |d| set(d, |_| {}), None),
            ("of this merchant", |d| set(d, |i| i["merchants"] = json!(["demo.example"])), None),
            ("of others", |d| set(d, |i| i["merchants"] = json!(["Evil Shop"])), Some("intent_merchant")),
            ("of nobody", |d| set(d, |i| i["merchants"] = json!([])), Some("intent_merchant")),
            ("of other things", |d| set(d, |i| i["skus"] = json!(["@other"])), Some("intent_item")),
            (
                "that must be refundable",
                |d| set(d, |i| i["requires_refundability"] = true.into()),
                Some("intent_refund"),
            ),
            (
                "the same in the other spelling",
                |d| {
                    set(d, |i| {
                        i.as_object_mut().unwrap().remove("requires_refundability");
                        i["required_refundability"] = true.into();
                    })
                },
                Some("intent_refund"),
            ),
            (
                "that is over",
                |d| set(d, |i| i["intent_expiry"] = "2026-01-01T00:00:00Z".into()),
                Some("intent_expired"),
            ),
            ("that never ends", |d| set(d, |i| i["intent_expiry"] = "never".into()), Some("intent_expired")),
            ("with a budget", |d| set(d, |i| i["budget"] = json!({"max": 1})), Some("intent_limit")),
            ("that is none", |d| beside(d, INTENT_KEY, json!("x")), Some("intent_limit")),
        ],
    )
    .await;
    // An intent that was put beside what is signed, or left out of it.
    let cart = market.cart('a');
    let mut added = market.payment(&cart, |_| {});
    added.payload.insert(INTENT_KEY.to_owned(), intent(|_| {}));
    let mut dropped = market.payment(&cart, |draft| beside(draft, INTENT_KEY, intent(|_| {})));
    dropped.payload.remove(INTENT_KEY);
    for (payment, code) in [(added, "intent_unsigned"), (dropped, "signed_unknown")] {
        assert_eq!(market.ap2.verify(&cart, &payment).await.unwrap_err().code, code);
    }
}

#[tokio::test]
async fn ap2_what_was_changed_after_it_was_signed_is_refused() {
    let market = Market::with_processor().await;
    let cart = market.cart('a');
    let payment = market.payment(&cart, |_| {});
    let altered = async |pointer: &str, value: Value| {
        let mut whole = Value::Object(payment.payload.clone());
        *whole.pointer_mut(&format!("/{PAYMENT_KEY}/{pointer}")).unwrap() = value;
        let altered = forecourt_payments::ap2::submission(whole.as_object().unwrap().clone());
        market.ap2.verify(&cart, &altered).await.unwrap_err().code
    };
    assert_eq!(altered("payment_mandate_contents/payment_mandate_id", "pm-2".into()).await, "payment_unsigned");
    assert_eq!(
        altered("payment_mandate_contents/payment_response/details/token", "t2".into()).await,
        "payment_unsigned"
    );
    assert_eq!(altered("user_authorization", Value::Null).await, "authorization_missing");
    for text in ["x", "a.b.c", "a.b.c~", "~", "e30.e30.", &"a".repeat(24 * 1024 + 1)] {
        assert_eq!(altered("user_authorization", text.into()).await, "authorization_unreadable", "{text:.9}");
    }
    // The whole presentation in base64url, as the words of AP2 may be read.
    let signed = payment.payload[PAYMENT_KEY]["user_authorization"].as_str().unwrap();
    let mut coded = payment.clone();
    coded.payload[PAYMENT_KEY]["user_authorization"] = to_base64url(signed.as_bytes()).into();
    assert_eq!(market.ap2.verify(&cart, &coded).await, Ok(()));
    // A credential that was shown without its key.
    let shown = signed.rsplit_once('~').unwrap().0;
    assert_eq!(altered("user_authorization", format!("{shown}~").into()).await, "holder_missing");
    // A signature by the right key over other bytes.
    let (head, tail) = signed.split_once('.').unwrap();
    let (_, end) = tail.split_once('.').unwrap();
    let forged = format!("{head}.{}.{end}", to_base64url(br#"{"iss":"https://wallet.example"}"#));
    assert_eq!(altered("user_authorization", forged.into()).await, "issuer_signature");
}

#[tokio::test]
async fn ap2_a_copy_of_the_cart_says_what_the_cart_says() {
    let market = Market::with_processor().await;
    let cart = market.cart('a');
    let whole = Value::Object(cart.payload.clone());
    let with = async |copy: Value| {
        let payment = market.payment(&cart, |draft| beside(draft, "ap2.mandates.CartMandate", copy));
        market.ap2.verify(&cart, &payment).await.map_err(|error| error.code)
    };
    assert_eq!(with(whole.clone()).await, Ok(()));
    assert_eq!(with(json!({"contents": whole["contents"]})).await, Ok(()));
    let mut cheaper = whole.clone();
    cheaper["contents"]["payment_request"]["details"]["total"]["amount"]["value"] = json!(0.01);
    let mut resigned = whole;
    resigned["merchant_authorization"] = "a.b.c".into();
    for copy in [cheaper, resigned, json!({}), json!(1)] {
        assert_eq!(with(copy).await, Err("cart_altered".to_owned()));
    }
    market.clock.advance(std::time::Duration::from_secs(900));
    assert_eq!(with(json!(null)).await, Err("cart_expired".to_owned()));
}
