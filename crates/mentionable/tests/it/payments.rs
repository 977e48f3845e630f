//! x402 over plain HTTP: sheet 9.4, PolicyResolution 5.3, pattern 1.

use base64::{Engine, engine::general_purpose::STANDARD};
use forecourt_core::policy::RefusalKind;
use forecourt_core::{Ending, Event, PolicyPart};
use serde_json::{Map, Value, json};

use crate::support::{Place, bot, echo, form, get, post_to};

fn refusal() -> PolicyPart {
    let offers = [
        json!({"scheme": "x402.exact", "payload": {"x402Version": 1, "error": "pay", "accepts": [{"payTo": "0x1"}]}}),
        json!({"scheme": "x402.exact", "payload": {"x402Version": 2, "resource": {"url": "u"}, "accepts": []}}),
    ];
    let accepted_payments = offers.map(|offer| serde_json::from_value(offer).unwrap()).to_vec();
    PolicyPart::new(RefusalKind::PaymentRequired { accepted_payments }, "Two coins.")
}

async fn refusing() -> Place {
    bot(vec![Event::Ending(Ending::Refused(Box::new(refusal())))]).await
}

#[tokio::test]
async fn s9_4_a_402_holds_the_offer_where_each_version_looks_for_it() {
    let place = refusing().await;
    let answer = place.ask("/~bot?user=a", "application/json").await.is(402);
    let body = answer.json();
    let offers = &body["policy"]["accepted_payments"];
    for member in ["x402Version", "error", "accepts"] {
        assert_eq!(body[member], offers[0]["payload"][member], "{member}");
    }
    assert_eq!(body["v"], "v0.1");
    for accept in ["application/json", "text/html", "text/markdown"] {
        let answer = place.ask("/~bot?user=a", accept).await.is(402);
        let packed = STANDARD.decode(answer.field("payment-required").unwrap()).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&packed).unwrap(), offers[1]["payload"], "{accept}");
    }
}

#[tokio::test]
async fn s9_4_a_program_that_pays_is_refused_in_json_unless_it_names_another_form() {
    let place = refusing().await;
    let payment = STANDARD.encode(r#"{"x402Version":1,"payload":{}}"#);
    let forms = [
        (None, "application/json"),
        (Some("*/*"), "application/json"),
        (Some("text/html"), "text/html; charset=utf-8"),
    ];
    for ((accept, form), pays) in forms.into_iter().flat_map(|form| [(form, true), (form, false)]) {
        let mut request =
            crate::support::request(http::Method::POST, "/~bot").header("content-type", crate::support::MULTIPART);
        if pays {
            request = request.header("x-payment", &payment);
        }
        if let Some(accept) = accept {
            request = request.header("accept", accept);
        }
        let answer = place.send_with(request, crate::support::form(&[("user", "a")])).await.is(402);
        assert_eq!(answer.field("content-type"), Some(form), "{accept:?}");
    }
}

#[tokio::test]
async fn s9_4_a_payment_that_can_not_be_read_is_told_so() {
    let place = echo().await;
    let long = STANDARD.encode("x".repeat(16 * 1024));
    for (name, value, words) in [
        ("x-payment", "nonsense", "JSON"),
        ("payment-signature", "e30=", "x402Version"),
        ("x-payment", "", "JSON"),
        ("x-payment", long.as_str(), "16384"),
    ] {
        let answer = place.send_with(post_to("/~echo").header(name, value), form(&[("user", "a")])).await.is(400);
        assert!(answer.json()["error"].as_str().unwrap().contains(words), "{}", answer.text());
    }
}

#[tokio::test]
async fn s8_2_1_a_get_settles_nothing() {
    let place = echo().await;
    for name in ["x-payment", "payment-signature"] {
        let request = get("/~echo?user=a").header("accept", "text/markdown").header(name, "nonsense");
        assert_eq!(place.send(request).await.is(200).text(), "a");
    }
}

#[tokio::test]
async fn policy3_3_3_the_members_beside_ours_never_replace_them() {
    let mut part = refusal();
    let RefusalKind::PaymentRequired { accepted_payments } = &mut part.kind else { panic!("it is a payment") };
    let own = ["v", "agent", "policy"].map(|name| (name.to_owned(), json!("theirs")));
    accepted_payments[0].payload.extend(Map::from_iter(own));
    let place = bot(vec![Event::Ending(Ending::Refused(Box::new(part)))]).await;
    let body = place.ask("/~bot?user=a", "application/json").await.is(402).json();
    assert_eq!((&body["v"], &body["agent"]), (&json!("v0.1"), &json!("@bot@demo.localhost")));
    assert_eq!(body["policy"]["kind"], "payment_required");
}
