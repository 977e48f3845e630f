use std::sync::atomic::Ordering;

use base64::{Engine, engine::general_purpose::STANDARD};
use forecourt_core::policy::{Demand, Requirement, Settlement};
use http::Method;
use serde_json::{Value, json};

use super::support::{Browser, Shop, object, offer, page_of, payment, payment_before, state_of, token_of, wanting};
use crate::support::{Answer, form, post_to, request};

fn signed(what: &str) -> String {
    json!({"x402Version": 1, "payload": what}).to_string()
}

async fn pasted(shop: &Shop, browser: &Browser, path: &str, text: &str) -> Answer {
    let token = token_of(browser.open(&shop.place, path).await.is(200).text());
    browser.submit(&shop.place, path, &[("token", &token), ("decision", "pay"), ("payment", text)]).await
}

fn settled(shop: &Shop) -> usize {
    shop.till.settled.load(Ordering::SeqCst)
}

#[tokio::test]
async fn policy5_3_a_person_pastes_a_payment_and_sees_question_and_answer() {
    for text in [signed("a"), STANDARD.encode(signed("a"))] {
        let shop = wanting(payment()).await;
        let browser = Browser::default();
        let path = browser.refused(&shop.place).await;
        let page = browser.open(&shop.place, &path).await.is(200);
        for words in ["0.05 USDC", "Please pay.", "chickpea soup"] {
            assert!(page.text().contains(words), "{words} in {}", page.text());
        }
        let back = pasted(&shop, &browser, &path, &text).await.is(303);
        let answer = browser.open(&shop.place, back.field("location").unwrap()).await.is(200);
        assert!(answer.text().contains("chickpea soup") && answer.text().contains("Done."), "{}", answer.text());
        assert_eq!((settled(&shop), shop.agent.heard().len()), (1, 1));
        browser.open(&shop.place, back.field("location").unwrap()).await.is(410);
        assert_eq!((settled(&shop), shop.agent.heard().len()), (1, 1), "paid once, answered once");
    }
}

#[tokio::test]
async fn policy5_3_a_payment_that_is_not_taken_is_told_on_the_page() {
    let shop = wanting(payment()).await;
    let browser = Browser::default();
    let path = browser.refused(&shop.place).await;
    let page = pasted(&shop, &browser, &path, &signed("poor")).await.is(402);
    assert!(page.text().contains("The wallet holds less than the price."), "{}", page.text());
    assert_eq!(settled(&shop), 0);
    for nonsense in ["", "hello", "{}", "[1]"] {
        pasted(&shop, &browser, &path, nonsense).await.is(400);
    }
    let back = pasted(&shop, &browser, &path, &signed("rich")).await.is(303);
    assert_eq!(settled(&shop), 0, "it is reserved");
    browser.open(&shop.place, back.field("location").unwrap()).await.is(200);
    assert_eq!(settled(&shop), 1);
}

#[tokio::test]
async fn policy5_3_what_is_let_go_of_is_offered_anew_with_the_refusal() {
    let shop = wanting(payment()).await;
    shop.till.holds.store(true, Ordering::SeqCst);
    let path = page_of(shop.place.ask("/~bot?user=a", "application/json").await.is(402).text());
    let offered = |answer: &Value| answer["policy"]["accepted_payments"][0]["payload"]["cart"].as_u64().unwrap();
    let looks = || request(Method::GET, &path).header("accept", "application/json");
    let before = shop.place.send(looks()).await.is(200).json();
    let paying = request(Method::POST, &path)
        .header("accept", "application/json")
        .header("x-payment", STANDARD.encode(signed("a")));
    let refused = shop.place.send(paying).await.is(402).json();
    let now = shop.place.send(looks()).await.is(200).json();
    assert_ne!(offered(&refused), offered(&before));
    assert_eq!(offered(&refused), offered(&now));
}

#[tokio::test]
async fn policy5_3_nobody_pays_twice_for_what_nobody_knows() {
    let shop = wanting(payment_before()).await;
    *shop.till.says.lock() = Some(Settlement::Unknown("no answer".to_owned()));
    let browser = Browser::default();
    let path = browser.refused(&shop.place).await;
    let shown = pasted(&shop, &browser, &path, &signed("a")).await.is(303);
    assert_eq!(shown.field("location"), Some(path.as_str()));
    let page = browser.open(&shop.place, &path).await.is(200);
    assert!(page.text().contains("being confirmed") && !page.text().contains("<form"), "{}", page.text());
    let again = request(Method::POST, &path)
        .header("accept", "application/json")
        .header("x-payment", STANDARD.encode(signed("b")));
    assert_eq!(shop.place.send(again).await.is(409).json()["status"], "indeterminate");
    assert_eq!(settled(&shop), 1);
}

#[tokio::test]
async fn s9_4_a_program_pays_at_the_address_of_the_page() {
    let shop = wanting(payment_before()).await;
    let refused = shop.place.ask("/~bot?user=a", "application/json").await.is(402);
    let session = refused.field("x-mentionable-session").unwrap().to_owned();
    let path = page_of(refused.text());
    let asked = request(Method::POST, &path).header("accept", "application/json");
    let wanted = shop.place.send(asked).await.is(402).json();
    assert_eq!((&wanted["x402Version"], &wanted["accepts"]), (&json!(1), &offer()["accepts"]));
    assert_eq!(wanted["policy"]["kind"], "payment_required");
    let poor = request(Method::POST, &path)
        .header("accept", "application/json")
        .header("x-payment", STANDARD.encode(signed("poor")));
    assert_eq!(shop.place.send(poor).await.is(402).json()["error"], "INSUFFICIENT_FUNDS");
    let paying = request(Method::POST, &path)
        .header("accept", "application/json")
        .header("x-payment", STANDARD.encode(signed("a")));
    let paid = shop.place.send(paying).await.is(200);
    assert_eq!(paid.json()["status"], "verified");
    let receipt: Value =
        serde_json::from_slice(&STANDARD.decode(paid.field("x-payment-response").unwrap()).unwrap()).unwrap();
    assert_eq!((&receipt["success"], &paid.json()["receipt"]), (&json!(true), &receipt));
    let state = state_of(&path);
    let answer = shop.place.post("/~bot", &[("state", state), ("session", &session)]).await.is(200);
    assert!(answer.text().contains("Done."));
    assert_eq!(settled(&shop), 1);
}

#[tokio::test]
async fn policy5_3_a_payment_in_json_is_taken_under_each_of_its_names() {
    for body in [
        json!({"payment": {"x402Version": 1, "payload": "a"}}),
        json!({"state": "x", "receipt": {"x402Version": 1, "payload": "a"}}),
        json!({"x402Version": 1, "payload": "a"}),
    ] {
        let shop = wanting(payment()).await;
        let path = page_of(shop.place.ask("/~bot?user=a", "application/json").await.text());
        let post = request(Method::POST, &path).header("accept", "application/json");
        let paid =
            shop.place.send_with(post.header("content-type", "application/json"), body.to_string()).await.is(200);
        assert_eq!(paid.json()["status"], "verified", "{body}");
        assert_eq!((settled(&shop), paid.json().get("receipt")), (0, None), "it is reserved");
    }
}

#[tokio::test]
async fn policy5_3_a_payment_in_the_question_itself_is_answered_with_its_receipt() {
    for (header, receipt) in [("x-payment", "x-payment-response"), ("payment-signature", "payment-response")] {
        let shop = wanting(payment()).await;
        let request = post_to("/~bot").header(header, STANDARD.encode(signed("a")));
        let answer = shop.place.send_with(request, form(&[("user", "soup")])).await.is(200);
        assert!(answer.text().contains("Done."));
        let receipt = STANDARD.decode(answer.field(receipt).unwrap()).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&receipt).unwrap()["transaction"], "0xabc");
        assert_eq!((settled(&shop), shop.agent.heard()[0].text().as_str()), (1, "soup"));
    }
}

#[tokio::test]
async fn the_receipt_of_a_stream_comes_with_its_end_or_with_its_head() {
    for (requirement, is_head) in [(payment(), false), (payment_before(), true)] {
        let shop = wanting(requirement).await;
        let request = request(Method::POST, "/~bot").header("content-type", crate::support::MULTIPART);
        let request = request.header("accept", "text/event-stream").header("x-payment", STANDARD.encode(signed("a")));
        let answer = shop.place.send_with(request, form(&[("user", "soup")])).await.is(200);
        let comment = answer.text().lines().find_map(|line| line.strip_prefix(": receipt "));
        let told = if is_head { answer.field("x-payment-response") } else { comment };
        let receipt = STANDARD.decode(told.unwrap_or_else(|| panic!("{}", answer.text()))).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&receipt).unwrap()["transaction"], "0xabc");
        assert!(is_head || answer.field("x-payment-response").is_none());
        assert_eq!(comment.is_some(), !is_head, "{}", answer.text());
    }
}

#[tokio::test]
async fn a_payment_that_is_refused_when_the_answer_is_complete_withholds_it() {
    let shop = wanting(payment()).await;
    let poor = forecourt_core::policy::PaymentError {
        code: "INSUFFICIENT_FUNDS".to_owned(),
        message: "The wallet holds less than the price.".to_owned(),
        is_passing: false,
    };
    *shop.till.says.lock() = Some(Settlement::Refused(poor));
    let asking = || post_to("/~bot").header("x-payment", STANDARD.encode(signed("a")));
    let refused = shop.place.send_with(asking(), form(&[("user", "soup")])).await.is(402);
    assert_eq!(refused.json()["error"], "INSUFFICIENT_FUNDS");
    assert!(!refused.text().contains("Done."), "{}", refused.text());
    // Nothing was taken, so the same payment may come again.
    let answer = shop.place.send_with(asking(), form(&[("user", "soup")])).await.is(200);
    assert!(answer.text().contains("Done.") && answer.field("x-payment-response").is_some());
}

#[tokio::test]
async fn policy5_3_a_payment_in_a_question_that_is_not_taken_is_offered_again() {
    let shop = wanting(payment()).await;
    let request = post_to("/~bot").header("x-payment", STANDARD.encode(signed("poor")));
    let refused = shop.place.send_with(request, form(&[("user", "soup")])).await.is(402).json();
    assert_eq!(refused["error"], "INSUFFICIENT_FUNDS");
    assert!(refused["policy"]["message"].as_str().unwrap().contains("less than the price"));
    assert_eq!((settled(&shop), shop.agent.heard().len()), (0, 0));
}

#[tokio::test]
async fn s8_2_1_a_get_with_a_payment_settles_nothing() {
    let shop = wanting(payment()).await;
    let path = page_of(shop.place.ask("/~bot?user=a", "application/json").await.text());
    for target in ["/~bot?user=a", path.as_str()] {
        let request = crate::support::get(target).header("accept", "application/json");
        let answer = shop.place.send(request.header("x-payment", STANDARD.encode(signed("a")))).await;
        assert!([200, 402].contains(&answer.status.as_u16()));
    }
    assert_eq!((settled(&shop), shop.agent.heard().len()), (0, 0));
}

#[tokio::test]
async fn policy5_3_a_receipt_goes_to_no_address_that_is_closed() {
    let shop = wanting(payment()).await;
    let browser = Browser::default();
    let path = browser.refused(&shop.place).await;
    let with = format!("{path}?receipt_callback=https%3A%2F%2F127.0.0.1%2Freceipt");
    let page = browser.open(&shop.place, &with).await.is(200);
    assert!(page.text().contains("name=\"receipt_callback\" value=\"https://127.0.0.1/receipt\""), "{}", page.text());
    let fields = [
        ("token", token_of(page.text())),
        ("decision", "pay".to_owned()),
        ("payment", signed("a")),
        ("receipt_callback", "https://127.0.0.1/receipt".to_owned()),
    ];
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let paid = browser.submit(&shop.place, &path, &fields).await.is(303);
    assert_eq!(paid.field("location"), Some(path.as_str()), "never to the callback");
    let done = browser.open(&shop.place, &path).await.is(200);
    assert!(done.text().contains("Reserved: 0.05 USDC") && !done.text().contains("127.0.0.1"), "{}", done.text());
    let plain = format!("{path}?receipt_callback=http%3A%2F%2Fadapter.example%2F");
    assert!(!browser.open(&shop.place, &plain).await.text().contains("adapter.example"));
}

/// A payment that a wallet can sign.
fn signable() -> Requirement {
    let mut requirement = payment();
    let Demand::Payment(terms) = &mut requirement.demand else { panic!() };
    let way = json!({
        "scheme": "exact", "network": "base", "maxAmountRequired": "50000", "resource": "https://demo.localhost/~bot",
        "payTo": "0x209693bc6afc0c5328ba36faf03c514ef312287c", "maxTimeoutSeconds": 300,
        "asset": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "extra": {"name": "USD Coin", "version": "2"},
    });
    terms.accepted[0].payload = object(json!({"x402Version": 1, "error": "pay", "accepts": [way]}));
    requirement
}

#[tokio::test]
async fn s8_2_no_page_of_another_site_pays_here_or_frames_the_page() {
    let shop = wanting(signable()).await;
    let browser = Browser::default();
    let path = browser.refused(&shop.place).await;
    let policy = browser.open(&shop.place, &path).await.is(200);
    let policy = policy.field("content-security-policy").unwrap();
    assert!(policy.contains("frame-ancestors 'none'") && policy.contains("script-src 'self';"), "{policy}");
    let foreign = [
        ("origin", "https://evil.example"),
        ("origin", "https://sub.demo.localhost"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
    ];
    for (name, value) in foreign {
        let post = || request(Method::POST, &path).header("accept", "application/json").header(name, value);
        let json = post().header("content-type", "application/json");
        shop.place.send_with(json, signed("a")).await.is(403);
        shop.place.send(post().header("x-payment", STANDARD.encode(signed("a")))).await.is(403);
    }
    // What browsers send without asking first is a form, and a form needs its token.
    for kind in ["text/plain", "application/x-www-form-urlencoded"] {
        let post = request(Method::POST, &path).header("content-type", kind).header("accept", "application/json");
        let answer = shop.place.send_with(post, signed("a")).await;
        assert!([403, 415].contains(&answer.status.as_u16()), "{kind}: {}", answer.status);
    }
    assert_eq!(settled(&shop), 0);
    assert!(browser.open(&shop.place, &path).await.text().contains("payment-data"), "it is still to be paid");
}

#[tokio::test]
async fn what_a_wallet_signs_is_the_offer_whatever_the_address_says() {
    let shop = wanting(signable()).await;
    let browser = Browser::default();
    let path = browser.refused(&shop.place).await;
    let data = |page: &Answer| -> Value {
        let text = page.text().split("id=\"payment-data\">").nth(1).unwrap().split("</script>").next().unwrap();
        serde_json::from_str(text).unwrap()
    };
    let plain = data(&browser.open(&shop.place, &path).await);
    let way = &plain["ways"][0];
    assert_eq!((&way["amount"], &way["chain"], &way["network"]), (&json!("50000"), &json!(8453), &json!("Base")));
    assert_eq!(way["payTo"], "0x209693bc6afc0c5328ba36faf03c514ef312287c");
    let query = "?amount=1&payTo=0x000000000000000000000000000000000000dead&network=evil&now=1&ways=1";
    let changed = data(&browser.open(&shop.place, &format!("{path}{query}")).await);
    assert_eq!((&changed["ways"], &changed["path"]), (&plain["ways"], &plain["path"]));
}

#[tokio::test]
async fn a_refusal_names_the_price_with_its_network_and_no_scheme() {
    let shop = wanting(signable()).await;
    let page = Browser::default().open(&shop.place, "/~bot?user=hi").await.is(402);
    assert!(page.text().contains("This answer costs 0.05 USDC on Base"), "{}", page.text());
    let seen = page.text().split("<main").nth(1).unwrap().to_owned();
    assert!(!seen.contains("x402") && !seen.contains("exact"), "{seen}");
}
