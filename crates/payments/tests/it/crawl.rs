//! What verified crawlers owe: agreed to, within a cap, once for each request.

use std::sync::Arc;

use forecourt_core::identity::{Audience, Proof};
use forecourt_core::policy::{
    AcceptedPayment, OfferBuilder, OfferContext, PaymentScheme, PaymentSubmission, Settlement,
};
use forecourt_core::{Bot, Clock, Handle, IdentityEvidence, Sender, SystemClock};
use forecourt_payments::crawl::{CrawlerAccounts, DebtError, DebtLedger, Dollars, submission};
use forecourt_payments::limits::{DEBT_KEPT, DEBTORS_MAX};
use forecourt_store::Memory;
use forecourt_testkit::HandClock;
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value, json};

fn debts() -> DebtLedger {
    DebtLedger::new(Arc::new(Memory::new()), Arc::new(SystemClock))
}

fn offers(price: &str, settings: Value) -> Result<Vec<AcceptedPayment>, String> {
    let agent: Handle = "pages".parse().unwrap();
    let context = OfferContext { agent: &agent, base: "https://h.example", price, credit: None };
    CrawlerAccounts::offered().offers(settings.as_object().unwrap(), &context)
}

fn offer() -> AcceptedPayment {
    offers("$0.01", json!({"owed_max": "0.03"})).unwrap().remove(0)
}

fn sender(is_verified: bool, nonce: Option<&str>) -> Sender {
    sender_of("bot.example", is_verified, nonce)
}

fn sender_of(host: &str, is_verified: bool, nonce: Option<&str>) -> Sender {
    let bot = Bot { name: host.to_owned(), product: Some("ExampleBot".to_owned()), purpose: None, is_verified };
    let now = SystemClock.now();
    let evidence = IdentityEvidence {
        id: nonce.map(str::to_owned),
        subject: format!("bot:{host}"),
        issuer: host.to_owned(),
        method: "urn:forecourt:auth:web-bot-auth".to_owned(),
        assurance: "domain".to_owned(),
        audience: Audience::One("@pages@h.example".to_owned()),
        issued_at: now,
        not_before: None,
        expires_at: None,
        on_behalf_of: Vec::new(),
        claims: Map::new(),
        source: Map::new(),
        proof: Proof { kind: "transport".to_owned(), fields: Map::new() },
    };
    Sender { bot: Some(Box::new(bot)), identities: vec![evidence], verified: is_verified, ..Sender::anonymous() }
}

fn agreeing(price: &str, nonce: &str) -> PaymentSubmission {
    agreeing_as("bot.example", price, nonce)
}

fn agreeing_as(host: &str, price: &str, nonce: &str) -> PaymentSubmission {
    let mut headers = HeaderMap::new();
    headers.insert("crawler-max-price", HeaderValue::from_str(price).unwrap());
    submission(&headers, &sender_of(host, true, Some(nonce))).unwrap().unwrap()
}

#[test]
fn only_a_verified_crawler_with_a_nonce_has_an_account() {
    let mut headers = HeaderMap::new();
    assert_eq!(submission(&headers, &sender(true, Some("n"))), Ok(None), "it agrees to nothing");
    headers.insert("crawler-max-price", HeaderValue::from_static("USD 0.05"));
    assert!(submission(&headers, &sender(true, Some("n"))).unwrap().is_some());
    assert_eq!(submission(&headers, &sender(false, Some("n"))), Ok(None), "it only says who it is");
    assert_eq!(submission(&headers, &sender(true, None)), Ok(None), "a copy of it would be charged as well");
    assert_eq!(submission(&headers, &Sender::anonymous()), Ok(None));
    let mut unknown = sender(true, Some("n"));
    unknown.bot.as_mut().unwrap().product = None;
    assert_eq!(submission(&headers, &unknown), Ok(None), "host names cost nothing");
    headers.append("crawler-max-price", HeaderValue::from_static("USD 0.06"));
    assert!(submission(&headers, &sender(true, Some("n"))).is_err());
    assert_eq!(submission(&headers, &Sender::anonymous()), Ok(None), "of others it means nothing");
}

#[test]
fn an_offer_has_a_price_in_dollars_and_a_cap_above_it() {
    assert_eq!(
        offer().payload,
        json!({"amount": "0.01", "currency": "USD", "owed_max": "0.03"}).as_object().cloned().unwrap()
    );
    assert_eq!(offers("0.01 USD", json!({})).unwrap()[0].scheme, "crawler.price");
    for (price, settings) in [
        ("0.01 USDC", json!({})),
        ("$-0.01", json!({})),
        ("$0", json!({})),
        ("$0.01", json!({"owed_max": "0.009"})),
        ("$0.01", json!({"owed_max": "much"})),
        ("$0.01", json!({"owed": "1"})),
    ] {
        assert!(offers(price, settings.clone()).is_err(), "{price} {settings}");
    }
}

#[test]
fn what_is_not_agreed_to_is_not_selected() {
    let scheme = CrawlerAccounts::new(debts());
    assert_eq!(scheme.select(&[offer()], &agreeing("USD 0.01", "a")), Ok(0));
    assert_eq!(scheme.select(&[offer()], &agreeing("USD 0.009", "a")).unwrap_err().code, "price_not_agreed");
    let told = offers("$0.01", json!({})).unwrap();
    assert_eq!(scheme.select(&told, &agreeing("USD 1", "a")).unwrap_err().code, "unsupported_scheme");
}

#[tokio::test]
async fn a_request_is_charged_once_and_the_cap_holds() {
    let debts = debts();
    let scheme = CrawlerAccounts::new(debts.clone());
    for nonce in ["a", "a", "b", "c"] {
        let payment = agreeing("USD 0.05", nonce);
        assert!(matches!(scheme.settle(&offer(), &payment).await, Settlement::Settled(_)), "{nonce}");
    }
    let owed = debts.of("bot.example").await.unwrap();
    assert_eq!((owed.owed, owed.answers), (30_000, 3), "the same request is one");
    let over = agreeing("USD 0.05", "d");
    assert_eq!(scheme.verify(&offer(), &over).await.unwrap_err().code, "owed_max_reached");
    let Settlement::Refused(fault) = scheme.settle(&offer(), &over).await else { panic!("over the cap") };
    assert_eq!(fault.code, "owed_max_reached");
    assert!(matches!(scheme.reconcile(&offer(), &agreeing("USD 0.05", "c")).await, Settlement::Settled(_)));
    assert_eq!(debts.of("bot.example").await.unwrap().owed, 30_000);
}

#[tokio::test]
async fn two_hundred_at_once_stay_within_the_cap() {
    let debts = debts();
    let scheme = CrawlerAccounts::new(debts.clone());
    let payments: Vec<_> = (0..200).map(|n| agreeing("USD 0.05", &format!("n{n}"))).collect();
    let offer = offer();
    let settled = futures::future::join_all(payments.iter().map(|payment| scheme.settle(&offer, payment))).await;
    assert_eq!(settled.iter().filter(|one| matches!(one, Settlement::Settled(_))).count(), 3);
    assert_eq!(debts.of("bot.example").await.unwrap().owed, 30_000);
}

#[tokio::test]
async fn what_is_billed_is_not_owed_any_more() {
    let debts = debts();
    let scheme = CrawlerAccounts::new(debts.clone());
    assert!(matches!(debts.bill("bot.example", None).await, Err(DebtError::Unknown(_))));
    for nonce in ["a", "b"] {
        scheme.settle(&offer(), &agreeing("USD 0.05", nonce)).await;
    }
    assert!(matches!(debts.bill("bot.example", Dollars::parse("0.03")).await, Err(DebtError::TooMuch(..))));
    let left = debts.bill("bot.example", Dollars::parse("0.005")).await.unwrap();
    assert_eq!((left.owed, left.billed), (15_000, 5_000));
    assert_eq!(debts.bill("bot.example", None).await.unwrap().owed, 0);
    let all = debts.all().await.unwrap();
    assert_eq!((all.len(), all[0].0.as_str(), all[0].1.billed), (1, "bot.example", 20_000));
    assert!(matches!(scheme.settle(&offer(), &agreeing("USD 0.05", "c")).await, Settlement::Settled(_)));
}

#[tokio::test]
async fn where_the_list_of_debtors_is_full_those_in_it_stay() {
    let clock = Arc::new(HandClock::new());
    let scheme = CrawlerAccounts::new(DebtLedger::new(Arc::new(Memory::new()), clock.clone()));
    let offer = offer();
    let settle = async |host: &str, nonce: &str| scheme.settle(&offer, &agreeing_as(host, "USD 0.05", nonce)).await;
    for n in 0..DEBTORS_MAX {
        assert!(matches!(settle(&format!("b{n}.example"), "a").await, Settlement::Settled(_)), "{n}");
    }
    let is_over =
        |settled: Settlement| matches!(settled, Settlement::Refused(fault) if fault.code == "owed_max_reached");
    assert!(is_over(settle("one-more.example", "a").await));
    // When it would be listed anew.
    clock.advance(DEBT_KEPT / 2);
    assert!(matches!(settle("b0.example", "b").await, Settlement::Settled(_)));
    assert!(is_over(settle("one-more.example", "b").await));
    clock.advance(DEBT_KEPT / 2);
    assert!(is_over(settle("b0.example", "c").await), "its entry would end before its debt");
}
