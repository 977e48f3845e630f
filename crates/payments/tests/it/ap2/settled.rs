//! What a host signs, and mandates that were verified: held, taken and given back once, by a processor or by x402.

use std::sync::Arc;

use forecourt_core::policy::{GivenBack, PaymentScheme, Settlement};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_jose::jws::Jws;
use forecourt_payments::PaymentsSettings;
use forecourt_payments::ap2::{Ap2, INTENT_KEY};
use forecourt_testkit::{HandClock, ProcessorFault};
use serde_json::{Value, json};

use super::{Market, hash};
use crate::scheme::payment;

fn code(settlement: Settlement) -> String {
    match settlement {
        Settlement::Refused(fault) => fault.code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn ap2_a_cart_is_signed_by_its_host() {
    let market = Market::with_processor().await;
    let (terms, cart) = (market.terms(), market.cart('a'));
    assert_eq!((cart.scheme.as_str(), terms.scheme.as_str()), ("ap2.cart_mandate", "ap2.cart_mandate"));
    let contents = &cart.payload["contents"];
    let details = &contents["payment_request"]["details"];
    assert_eq!((&contents["id"], &details["id"]), (&json!("a".repeat(64)), &json!("a".repeat(64))));
    assert_eq!(details["total"]["amount"], json!({"currency": "EUR", "value": 0.5}));
    assert_eq!(details["display_items"][0]["sku"], "@shop");
    assert_eq!(
        (&contents["merchant_name"], &contents["cart_expiry"]),
        (&json!("Demo Shop"), &json!("2026-01-01T00:15:00Z"))
    );
    let signed = Jws::parse(cart.payload["merchant_authorization"].as_str().unwrap()).unwrap();
    let claims = signed.verify_with(&market.host_key.verify_key().unwrap()).unwrap();
    let claims: Value = serde_json::from_slice(claims).unwrap();
    assert_eq!(claims["cart_hash"], hash(contents));
    assert_eq!(
        (&claims["iss"], &claims["sub"]),
        (&json!("https://demo.example"), &json!("https://demo.example/~shop"))
    );
    assert_eq!(
        (claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), signed.kid()),
        (900, Some(market.host_key.kid()))
    );
    assert!(claims["aud"].is_string() && claims["jti"].is_string());
    assert_ne!(
        claims["jti"],
        serde_json::from_slice::<Value>(
            Jws::parse(market.cart('b').payload["merchant_authorization"].as_str().unwrap())
                .unwrap()
                .unverified_payload()
        )
        .unwrap()["jti"]
    );
    assert_eq!(
        market.ap2.present(
            &cart,
            &forecourt_core::policy::PresentedTerms { reference: "x", at: market.until(), until: market.until() }
        ),
        cart,
        "what an agent brings is passed on"
    );
}

#[tokio::test]
async fn ap2_a_verified_mandate_is_held_and_taken_once() {
    let market = Market::with_processor().await;
    let cart = market.cart('a');
    let paid = market.payment(&cart, |_| {});
    assert_eq!(market.ap2.select(&[market.cart('b'), cart.clone()], &paid).unwrap(), 1);
    assert_eq!(market.ap2.select(&[market.cart('b')], &paid).unwrap_err().code, "other_cart");
    assert!(market.ap2.holds() && market.ap2.gives_back(&cart));
    assert_eq!(market.ap2.authorization(&paid).unwrap().reference, Some("a".repeat(64)));
    for _ in 0..2 {
        assert_eq!(market.ap2.hold(&cart, &paid).await, Ok(()));
    }
    assert_eq!(market.processor.count("authorized"), 1);
    for repeated in [false, false, true] {
        let settled = match repeated {
            true => market.ap2.reconcile(&cart, &paid).await,
            false => market.ap2.settle(&cart, &paid).await,
        };
        let Settlement::Settled(receipt) = settled else { panic!("{settled:?}") };
        assert_eq!((receipt.amount.as_str(), &receipt.details["status"]), ("50", &json!("captured")));
        let told = &receipt.details["mandates"];
        assert_eq!(
            (&told["payment_mandate_id"], &told["cart_hash"]),
            (&json!("pm-1"), &json!(hash(&cart.payload["contents"])))
        );
        assert!(!json!(receipt.details).to_string().contains("payer-1"), "no names");
    }
    assert_eq!((market.processor.count("captured"), market.processor.asked("capture")), (1, 1));
    assert!(market.processor.books.lock().complaints.is_empty());
    let GivenBack::Refunded(receipt) = market.ap2.give_back(&cart, &paid).await else { panic!() };
    assert_eq!((&receipt["status"], market.processor.count("refunded")), (&json!("refunded"), 1));
    assert_eq!(
        code(market.ap2.settle(&cart, &paid).await),
        "processor_declined",
        "what was given back is not taken again"
    );
}

#[tokio::test]
async fn ap2_what_is_let_go_of_is_not_held_again() {
    let market = Market::with_processor().await;
    let cart = market.cart('a');
    let paid = market.payment(&cart, |_| {});
    assert_eq!(market.ap2.give_back(&cart, &paid).await, GivenBack::NotTaken, "nothing was held yet");
    assert_eq!(market.ap2.hold(&cart, &paid).await.unwrap_err().code, "processor_declined");
    let other = market.payment(&cart, |draft| draft.contents["payment_mandate_id"] = "pm-2".into());
    assert_eq!(market.ap2.hold(&cart, &other).await, Ok(()));
    assert_ne!(market.ap2.fingerprint(&paid), market.ap2.fingerprint(&other));
    // The same name by the same payer is the same mandate, whatever it says.
    let again = market.payment(&cart, |draft| draft.contents["payment_response"]["details"] = json!({"token": "2"}));
    assert_eq!(market.ap2.fingerprint(&paid), market.ap2.fingerprint(&again));
}

#[tokio::test]
async fn ap2_a_processor_that_fails_leaves_nothing_taken_twice() {
    let market = Market::with_processor().await;
    let lost = |operation: &str, fault: ProcessorFault| market.processor.fail(operation, fault);
    let paid = |letter: char| {
        let cart = market.cart(letter);
        let paid = market.payment(&cart, |_| {});
        (cart, paid)
    };
    market.processor.books.lock().declines = true;
    let (cart, one) = paid('a');
    assert_eq!(market.ap2.hold(&cart, &one).await.unwrap_err().code, "processor_declined");
    market.processor.books.lock().declines = false;
    // Nobody knows, and then it is found.
    for (fault, is_taken) in [(ProcessorFault::LostAfter, true), (ProcessorFault::LostBefore, false)] {
        let (cart, one) = paid(if is_taken { 'b' } else { 'c' });
        lost("capture", fault);
        let settled = market.ap2.settle(&cart, &one).await;
        assert!(matches!(settled, Settlement::Unknown(_)), "{settled:?}");
        assert!(matches!(market.ap2.reconcile(&cart, &one).await, Settlement::Settled(_)));
    }
    assert_eq!(market.processor.count("captured"), 2);
    // Turned away unread: nothing was taken, and it may be tried again.
    let (cart, one) = paid('d');
    lost("authorize", ProcessorFault::Answer(401, json!({})));
    let Settlement::Refused(fault) = market.ap2.settle(&cart, &one).await else { panic!() };
    assert_eq!((fault.code.as_str(), fault.is_passing), ("processor_unavailable", true));
    // An answer about something else is none.
    for (letter, members) in [
        ('e', json!({"reference": "b".repeat(64)})),
        ('f', json!({"amount": {"currency": "EUR", "value": 50}})),
        ('0', json!({"amount": {"currency": "USD", "value": 0.5}})),
        ('1', json!({"status": "great"})),
        ('2', json!({"status": "pending"})),
    ] {
        let (cart, one) = paid(letter);
        lost("capture", ProcessorFault::AnswerWith(members.clone()));
        let settled = market.ap2.settle(&cart, &one).await;
        assert!(matches!(settled, Settlement::Unknown(_)), "{members}: {settled:?}");
    }
    assert!(matches!(market.ap2.settle(&cart, &one).await, Settlement::Settled(_)));
    lost("release", ProcessorFault::LostAfter);
    assert!(matches!(market.ap2.give_back(&cart, &one).await, GivenBack::Unknown(_)));
    assert!(matches!(market.ap2.give_back(&cart, &one).await, GivenBack::Refunded(_)));
    assert!(market.processor.books.lock().complaints.is_empty());
}

#[tokio::test]
async fn ap2_x402_settles_exactly_the_cart() {
    let market = Market::with_x402().await;
    let cart = market.cart('a');
    for version in [1, 2] {
        let paid = market.payment(&cart, |draft| draft.contents["payment_response"]["details"] = payment(version, 1));
        assert_eq!(market.ap2.verify(&cart, &paid).await, Ok(()), "version {version}");
        assert_eq!(market.ap2.claimed_as(), "x402", "it could be handed in by itself");
    }
    assert!(!market.ap2.holds() && !market.ap2.gives_back(&cart));
    let paid = market.payment(&cart, |_| {});
    let Settlement::Settled(receipt) = market.ap2.settle(&cart, &paid).await else { panic!() };
    assert_eq!((receipt.amount.as_str(), &receipt.details["success"]), ("10000", &json!(true)));
    assert_eq!(
        (&receipt.details["mandates"]["payment_mandate_id"], receipt.confirmation.scheme.as_str()),
        (&json!("pm-1"), "ap2.cart_mandate")
    );
    assert_eq!(market.facilitator.books.lock().transfers.len(), 1);
    for (what, details, code) in [
        ("nothing", Value::Null, "x402_missing"),
        ("no payment", json!({"token": "t"}), "invalid_x402_version"),
        (
            "more, which version 1 takes by itself",
            {
                let mut more = payment(1, 2);
                more["payload"]["authorization"]["value"] = "10001".into();
                more
            },
            "mandate_amount",
        ),
        (
            "less",
            {
                let mut less = payment(1, 2);
                less["payload"]["authorization"]["value"] = "9999".into();
                less
            },
            "INVALID_AMOUNT",
        ),
    ] {
        let paid = market.payment(&cart, |draft| draft.contents["payment_response"]["details"] = details);
        assert_eq!(market.ap2.verify(&cart, &paid).await.unwrap_err().code, code, "{what}");
    }
}

#[tokio::test]
async fn ap2_what_another_one_settles_is_kept_for_it_and_asked_of_nobody_else() {
    let of = [Market::with_processor().await, Market::with_processor().await, Market::with_x402().await];
    for (made, now) in [(0, 1), (0, 2), (2, 0)] {
        let (made, now) = (&of[made], &of[now]);
        let cart = made.cart('a');
        let paid = made.payment(&cart, |_| {});
        assert_eq!(made.ap2.hold(&cart, &paid).await, Ok(()));
        assert_eq!(now.ap2.verify(&cart, &paid).await.unwrap_err().code, "cart_outdated");
        if now.ap2.holds() {
            assert_eq!(now.ap2.hold(&cart, &paid).await.unwrap_err().code, "cart_outdated");
        }
        // That it holds money goes by its cart.
        assert_eq!(now.ap2.gives_back(&cart), made.ap2.gives_back(&cart));
        for settled in [now.ap2.settle(&cart, &paid).await, now.ap2.reconcile(&cart, &paid).await] {
            let Settlement::Unknown(reason) = settled else { panic!("{settled:?}") };
            assert!(reason.contains("[payments.ap2] names something else by now"), "{reason}");
        }
        assert!(matches!(now.ap2.give_back(&cart, &paid).await, GivenBack::Unknown(_)));
        assert!(now.processor.books.lock().asked.is_empty() && now.facilitator.books.lock().transfers.is_empty());
        assert!(matches!(made.ap2.settle(&cart, &paid).await, Settlement::Settled(_)), "where it was made for");
        of.iter().for_each(|market| market.processor.books.lock().asked.clear());
        of.iter().for_each(|market| market.facilitator.books.lock().transfers.clear());
    }
    // What it says of itself is not taken for what holds here, so that no answer begins on it.
    let (processor, x402) = (&of[0], &of[2]);
    assert!(processor.ap2.authorization(&x402.payment(&x402.cart('b'), |_| {})).is_err());
    assert!(x402.ap2.authorization(&processor.payment(&processor.cart('b'), |_| {})).is_err());
}

#[tokio::test]
async fn ap2_networks_are_named_before_and_after_a_cart_is_signed() {
    let market = Market::with_x402().await;
    let named = market.ap2.networks(&[market.cart('a')]);
    assert_eq!((named.len(), market.ap2.networks(&[market.terms()])), (1, named));
}

#[tokio::test]
async fn ap2_a_payment_ends_with_what_its_payer_allowed() {
    for market in [Market::with_processor().await, Market::with_x402().await] {
        let ends = |until: Option<&str>| {
            let paid = market.payment(&market.cart('a'), |draft| {
                if let Some(until) = until {
                    let intent = json!({"natural_language_description": "Rice.", "intent_expiry": until});
                    draft.beside.insert(INTENT_KEY.to_owned(), intent);
                }
            });
            market.ap2.authorization(&paid).unwrap().good_until
        };
        let (soon, late) = ("2026-01-01T00:00:30Z", "2126-01-01T00:00:00Z");
        assert_eq!(ends(Some(soon)), Some(soon.parse().unwrap()));
        let without = ends(None);
        assert_eq!(ends(Some(late)), without.or(Some(late.parse().unwrap())));
    }
}

#[test]
fn ap2_a_processor_that_can_not_be_reached_is_told_before_anybody_pays() {
    let text = "[ap2]\nsettle = \"processor\"\nprocessor = \"http://127.0.0.1:9500/ap2\"\n\
                [[ap2.issuers]]\nissuer = \"a\"\njwks_url = \"https://a.example/jwks\"";
    let settings: PaymentsSettings = toml::from_str(text).unwrap();
    let made = |config: EgressConfig| {
        let egress = Egress::builder(config).build().unwrap();
        Ap2::new(&settings, None, &egress, Arc::new(HandClock::new())).map(drop)
    };
    let allow = || vec!["127.0.0.0/8".parse().unwrap()];
    for config in [EgressConfig::default(), EgressConfig { allow: allow(), ..EgressConfig::default() }] {
        let error = made(config).unwrap_err();
        assert!(
            error.message.contains("`processor` can't be reached") && error.hint.contains("`allow_http`"),
            "{error:?}"
        );
    }
    assert!(made(EgressConfig { allow: allow(), allow_http: true, ..EgressConfig::default() }).is_ok());
}
