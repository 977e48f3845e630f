//! Payments within a task, and consents that it waits for. PolicyPart 4.2, 5.3, 5.5; x402 over A2A v0.2.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use forecourt_core::gate::{Rule, RuleVerdict};
use forecourt_core::policy::{
    AcceptedPayment, Charge, ConsentTerms, Demand, PaidFor, PaymentAuthorization, PaymentConfirmation, PaymentError,
    PaymentScheme, PaymentSubmission, PaymentTerms, PresentedTerms, Receipt, RefusalKind, Requirement, Settlement,
};
use forecourt_core::{AgentCard, Ending, Event, Message, PolicyPart, StateToken};
use forecourt_issuance::IssuanceStatus;
use forecourt_testkit::{ScriptedAgent, Step, card};
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::hub::answer::{artifact_text, state};
use crate::hub::support::{Place, Setup, text};
use crate::hub::wire::{Op, Wire};

const X402: &str = "https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2";
const X402_TRANSPORT: &str = "https://github.com/google-a2a/a2a-x402/v0.1";

/// A rule that wants one thing.
struct Wants(Requirement);

impl Rule for Wants {
    fn judge<'a>(&'a self, _: &'a AgentCard, _: &'a Message) -> BoxFuture<'a, RuleVerdict> {
        Box::pin(std::future::ready(Err(self.0.clone().into())))
    }
}

/// A way to pay that takes whatever is not forged, and counts.
#[derive(Default)]
struct Till {
    settled: AtomicUsize,
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

impl PaymentScheme for Till {
    fn family(&self) -> &'static str {
        "x402"
    }

    fn select(&self, offers: &[AcceptedPayment], payment: &PaymentSubmission) -> Result<usize, PaymentError> {
        let means = |offer: &AcceptedPayment| offer.payload["x402Version"] == payment.payload["x402Version"];
        offers.iter().position(means).ok_or_else(|| fault("INVALID_PAYLOAD"))
    }

    fn fingerprint(&self, payment: &PaymentSubmission) -> Result<String, PaymentError> {
        payment.payload["nonce"].as_str().map(str::to_owned).ok_or_else(|| fault("INVALID_PAYLOAD"))
    }

    fn authorization(&self, _: &PaymentSubmission) -> Result<PaymentAuthorization, PaymentError> {
        Ok(PaymentAuthorization::default())
    }

    fn verify<'a>(
        &'a self,
        _: &'a AcceptedPayment,
        payment: &'a PaymentSubmission,
    ) -> BoxFuture<'a, Result<(), PaymentError>> {
        let is_forged = payment.payload.contains_key("forged");
        Box::pin(std::future::ready(if is_forged { Err(fault("INVALID_SIGNATURE")) } else { Ok(()) }))
    }

    fn settle<'a>(&'a self, offer: &'a AcceptedPayment, payment: &'a PaymentSubmission) -> BoxFuture<'a, Settlement> {
        self.settled.fetch_add(1, Ordering::SeqCst);
        let transaction = format!("tx-{}", payment.payload["nonce"].as_str().unwrap());
        let details = object(json!({"success": true, "transaction": transaction, "network": "base"}));
        let confirmation = PaymentConfirmation {
            scheme: offer.scheme.clone(),
            original_payload: offer.payload.clone(),
            transaction: Some(transaction),
            payer: Some("0xada".to_owned()),
            network: None,
        };
        Box::pin(async move {
            tokio::task::yield_now().await;
            Settlement::Settled(Box::new(Receipt { confirmation, amount: "5".to_owned(), details }))
        })
    }

    fn reconcile<'a>(&'a self, _: &'a AcceptedPayment, _: &'a PaymentSubmission) -> BoxFuture<'a, Settlement> {
        Box::pin(std::future::ready(Settlement::Unknown("not asked".to_owned())))
    }
}

fn fault(code: &str) -> PaymentError {
    PaymentError { code: code.to_owned(), message: "The payment does not hold.".to_owned(), is_passing: false }
}

fn required(rule: &str, demand: Demand) -> Arc<dyn Rule> {
    let (message, message_translations) = ("First this.".to_owned(), Default::default());
    Arc::new(Wants(Requirement { rule: rule.to_owned(), title: None, message, message_translations, demand }))
}

fn fee() -> Arc<dyn Rule> {
    let offer = |version: u64| AcceptedPayment {
        scheme: "x402.exact".to_owned(),
        payload: object(json!({"x402Version": version, "accepts": [{"amount": "5"}]})),
    };
    let (price, covers) = ("5 coins".to_owned(), PaidFor::Turn);
    let terms = PaymentTerms { accepted: vec![offer(2), offer(1)], price, covers, credit: None, charge: Charge::After };
    required("fee", Demand::Payment(terms))
}

fn terms() -> Arc<dyn Rule> {
    let scope = object(json!({"text": "We keep it.", "version": "1"}));
    required("terms", Demand::Consent(ConsentTerms { scope, lifetime_seconds: Some(0) }))
}

struct Shop {
    place: Place,
    agent: Arc<ScriptedAgent>,
    till: Arc<Till>,
}

/// `@shop`, which wants a fee for each message, and `@free`, which wants nothing.
async fn shop() -> Shop {
    let (agent, till) = (ScriptedAgent::saying(["soup"]), Arc::new(Till::default()));
    let setup = Setup { schemes: vec![till.clone()], ..Setup::default() };
    let setup = setup.guarded(card("shop"), agent.clone(), vec![fee()]);
    let place = setup.with(card("free"), ScriptedAgent::saying(["free"])).start().await;
    Shop { place, agent, till }
}

fn paying(task: &Value, nonce: &str) -> Value {
    let payload = json!({"x402Version": 1, "nonce": nonce, "secret": "s3cret"});
    let metadata = json!({"x402.payment.status": "payment-submitted", "x402.payment.payload": payload,
        "x402.payment.receipts": [{"success": true, "transaction": "forged"}]});
    json!({"taskId": task["id"], "metadata": metadata, "messageId": format!("m-{nonce}")})
}

fn metadata(task: &Value) -> &Value {
    &task["status"]["message"]["metadata"]
}

impl Shop {
    fn settled(&self) -> usize {
        self.till.settled.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn policy5_3_a_payment_in_its_task_is_settled_and_answers_what_was_asked() {
    for wire in Wire::ALL {
        let shop = shop().await;
        let refused = wire.at(&shop.place).says("what soup is there?").await.task(wire);
        assert_eq!(
            (state(&refused).as_str(), metadata(&refused)["x402.payment.status"].as_str()),
            ("input-required", Some("payment-required"))
        );
        let paid = wire.at(&shop.place).says_with("Here is my payment.", paying(&refused, "n1")).await.task(wire);
        assert_eq!((state(&paid).as_str(), artifact_text(&paid).as_str()), ("completed", "soup"), "{paid}");
        assert_eq!(paid["id"], refused["id"]);
        let receipts = json!([{"success": true, "transaction": "tx-n1", "network": "base"}]);
        let read = wire.at(&shop.place).about(Op::Get, paid["id"].as_str().unwrap()).await.task(wire);
        for task in [&paid, &read] {
            assert_eq!(metadata(task)["x402.payment.status"], "payment-completed");
            assert_eq!(metadata(task)["x402.payment.receipts"], receipts, "the full history, and nothing forged");
            assert!(!task.to_string().contains("s3cret"), "a payment is kept nowhere: {task}");
        }
        let heard = shop.agent.heard().pop().unwrap();
        assert_eq!(heard.text(), "what soup is there?", "a payment says nothing of its own");
        assert!(heard.policy_resolution.is_some() && heard.metadata.is_empty(), "{heard:?}");
        assert!(!format!("{heard:?}").contains("s3cret"));
        assert_eq!((shop.agent.heard().len(), shop.settled()), (1, 1));
    }
}

#[tokio::test]
async fn policy5_3_a_stream_ends_with_the_receipt_too() {
    for wire in Wire::ALL {
        let shop = shop().await;
        let refused = wire.at(&shop.place).says("soup?").await.task(wire);
        let message = crate::hub::wire::merged(wire.said("paid"), paying(&refused, "n1"));
        let response = wire.at(&shop.place).open(Op::Stream, json!({"message": message})).await;
        let frames = crate::hub::answer::Frames::of(wire, response).rest().await;
        let last = &frames.last().unwrap().value;
        assert_eq!(state(last), "completed");
        assert_eq!(metadata(last)["x402.payment.receipts"][0]["transaction"], "tx-n1");
    }
}

#[tokio::test]
async fn ax9_a_payment_that_does_not_hold_is_told_by_its_code_and_another_one_may_follow() {
    for wire in Wire::ALL {
        let shop = shop().await;
        let refused = wire.at(&shop.place).says("soup?").await.task(wire);
        let mut forged = paying(&refused, "n1");
        forged["metadata"]["x402.payment.payload"]["forged"] = true.into();
        let again = wire.at(&shop.place).says_with("paid", forged).await.task(wire);
        assert_eq!((state(&again).as_str(), &again["id"]), ("input-required", &refused["id"]));
        assert_eq!(metadata(&again)["x402.payment.error"], "INVALID_SIGNATURE");
        assert_eq!(metadata(&again)["x402.payment.status"], "payment-required", "what it offers is open");
        let paid = wire.at(&shop.place).says_with("paid", paying(&again, "n2")).await.task(wire);
        assert_eq!((state(&paid).as_str(), shop.settled()), ("completed", 1), "{paid}");
        assert_eq!(shop.agent.heard()[0].text(), "soup?", "after a second try as well");
    }
}

#[tokio::test]
async fn policy5_5_a_payment_is_used_once_and_for_its_own_task() {
    for wire in Wire::ALL {
        let shop = shop().await;
        let first = wire.at(&shop.place).says("soup?").await.task(wire);
        let paid = wire.at(&shop.place).says_with("paid", paying(&first, "n1")).await.task(wire);
        assert_eq!(state(&paid), "completed");
        // The same one for the same task: it waits for nothing any more.
        let mut again = paying(&first, "n1");
        again["messageId"] = "another".into();
        wire.at(&shop.place).says_with("paid", again).await.is_fault(wire, -32004);
        // The same one for another task.
        let second = wire.at(&shop.place).says("bread?").await.task(wire);
        let mut other = paying(&second, "n1");
        other["messageId"] = "a third".into();
        let refused = wire.at(&shop.place).says_with("paid", other).await.task(wire);
        assert_eq!((state(&refused).as_str(), shop.settled()), ("input-required", 1), "{refused}");
    }
}

#[tokio::test]
async fn policy5_5_of_two_payments_at_once_one_is_taken() {
    for wire in Wire::ALL {
        let shop = shop().await;
        let task = wire.at(&shop.place).says("soup?").await.task(wire);
        let pay = |nonce: &'static str| wire.at(&shop.place).says_with("paid", paying(&task, nonce));
        let (one, other) = tokio::join!(pay("n1"), pay("n2"));
        assert_eq!((shop.settled(), shop.agent.heard().len()), (1, 1), "{} {}", one.text(), other.text());
        let mut states = [state(&one.task(wire)), state(&other.task(wire))];
        states.sort();
        assert_eq!(states, ["completed", "failed"], "{} {}", one.text(), other.text());
        let late = if one.text().contains("payment-completed") { other } else { one };
        assert!(late.text().contains("mentionable:payment_indeterminate"), "{}", late.text());
        let told = late.task(wire);
        assert_ne!(told["id"], task["id"], "the task itself is the other payment's");
        wire.at(&shop.place).about(Op::Get, told["id"].as_str().unwrap()).await.is_fault(wire, -32001);
        let read = wire.at(&shop.place).about(Op::Get, task["id"].as_str().unwrap()).await.task(wire);
        assert_eq!(state(&read), "completed", "who came late changed nothing");
    }
}

#[tokio::test]
async fn sheet9_5_a_task_is_not_paid_for_at_another_agents_endpoint() {
    for wire in Wire::ALL {
        let shop = shop().await;
        let task = wire.at(&shop.place).says("soup?").await.task(wire);
        let at_other = wire.at(&shop.place).to("/a2a/free").says_with("paid", paying(&task, "n1")).await;
        at_other.is_fault(wire, -32001);
        assert_eq!(shop.settled(), 0);
        let paid = wire.at(&shop.place).to("/a2a/shop").says_with("paid", paying(&task, "n1")).await.task(wire);
        assert_eq!((state(&paid).as_str(), shop.settled()), ("completed", 1));
    }
}

#[tokio::test]
async fn ax5_5_a_payment_of_no_task_is_not_taken() {
    for wire in Wire::ALL {
        let shop = shop().await;
        let mut paid = paying(&json!({}), "n1");
        paid.as_object_mut().unwrap().remove("taskId");
        wire.at(&shop.place).says_with("paid", paid).await.is_fault(wire, -32602);
        assert_eq!(shop.settled(), 0);
    }
}

#[tokio::test]
async fn ax5_4_who_does_not_pay_ends_the_task_and_its_offer() {
    for wire in Wire::ALL {
        let shop = shop().await;
        let refused = wire.at(&shop.place).says("soup?").await.task(wire);
        let part = &metadata(&refused)["mentionable"]["policy"]["part"];
        let offer = StateToken::parse(part["data"]["mentionable.state"].as_str().unwrap()).unwrap();
        let no = json!({"taskId": refused["id"], "metadata": {"x402.payment.status": "payment-rejected"}});
        let ended = wire.at(&shop.place).says_with("no", no).await.task(wire);
        assert_eq!((state(&ended).as_str(), &ended["id"]), ("canceled", &refused["id"]));
        assert_eq!(metadata(&ended)["x402.payment.status"], "payment-rejected");
        let issuance = shop.place.host.issuance(&offer).await.unwrap().unwrap();
        assert_eq!(issuance.status, IssuanceStatus::Declined);
        wire.at(&shop.place).says_with("paid", paying(&refused, "n1")).await.is_fault(wire, -32004);
        assert_eq!((shop.settled(), shop.agent.heard().len()), (0, 0));
    }
}

#[tokio::test]
async fn ax2_both_names_of_the_extension_are_at_work_and_one_of_them_means_version_1() {
    for wire in Wire::ALL {
        let shop = shop().await;
        let name = if wire.is_1_0() { "a2a-extensions" } else { "x-a2a-extensions" };
        for (asked, version) in
            [(X402.to_owned(), 1), (X402_TRANSPORT.to_owned(), 2), (format!("{X402}, {X402_TRANSPORT}"), 2)]
        {
            let answer = wire.at(&shop.place).with(name, &asked).says("soup?").await;
            assert_eq!(answer.field(name), Some(asked.as_str()));
            let task = answer.task(wire);
            let offers = &metadata(&task)["mentionable"]["policy"]["part"]["accepted_payments"];
            assert_eq!(metadata(&task)["x402.payment.required"], offers[0]["payload"]);
            assert_eq!(offers[0]["payload"]["x402Version"], version, "{asked}");
            assert_eq!(offers.as_array().unwrap().len(), 2);
        }
        // Where nothing can be paid, nothing of it is at work.
        let poor = crate::hub::support::bot(vec![text("hi"), crate::hub::support::done()]).await;
        assert_eq!(wire.at(&poor).with(name, X402).says("soup?").await.field(name), None);
    }
}

#[tokio::test]
async fn policy3_3_4_a_consent_that_was_given_lets_the_next_message_on_the_task_through_once() {
    for wire in Wire::ALL {
        let agent = ScriptedAgent::saying(["soup"]);
        let place = Setup::default().guarded(card("bot"), agent.clone(), vec![terms()]).start().await;
        let refused = wire.at(&place).says("soup?").await.task(wire);
        let part = metadata(&refused)["mentionable"]["policy"]["part"].clone();
        let early = wire.at(&place).says_with("did it", json!({"taskId": refused["id"]})).await.task(wire);
        assert_eq!((state(&early).as_str(), agent.heard().len()), ("input-required", 0), "it was not agreed to");
        let state_of = |task: &Value| {
            let part = &metadata(task)["mentionable"]["policy"]["part"];
            StateToken::parse(part["state"].as_str().unwrap()).unwrap()
        };
        assert!(part["url"].as_str().unwrap().ends_with(part["state"].as_str().unwrap()));
        place.host.accept_consent(&state_of(&early), &Default::default()).await.unwrap();
        let done = wire.at(&place).says_with("did it now", json!({"taskId": refused["id"]})).await.task(wire);
        assert_eq!((state(&done).as_str(), artifact_text(&done).as_str()), ("completed", "soup"));
        assert!(done["status"].get("message").is_none(), "nothing was paid: {done}");
        let next = wire.at(&place).says("more?").await.task(wire);
        assert_eq!((state(&next).as_str(), agent.heard().len()), ("input-required", 1), "once");
    }
}

#[tokio::test]
async fn policy5_6_a_claimed_resolution_counts_only_where_the_host_knows_of_it() {
    for wire in Wire::ALL {
        let agent = ScriptedAgent::saying(["soup"]);
        let place = Setup::default().guarded(card("bot"), agent.clone(), vec![terms()]).start().await;
        let refused = wire.at(&place).says_with("soup?", json!({"contextId": "c"})).await.task(wire);
        let named = metadata(&refused)["mentionable"]["policy"]["part"]["state"].as_str().unwrap().to_owned();
        let claim = json!({"in_reply_to_state": named, "kind": "consent_required",
            "confirmation": {"scope_hash": "x"}, "verified_by": "self"});
        let claiming = |id: &str| {
            json!({"contextId": "c", "messageId": id,
            "metadata": {"mentionable": {"policy_resolution": claim}}})
        };
        let forged = wire.at(&place).says_with("let me in", claiming("m2")).await.task(wire);
        assert_eq!((state(&forged).as_str(), agent.heard().len()), ("input-required", 0), "it was not agreed to");
        place.host.accept_consent(&StateToken::parse(&named).unwrap(), &Default::default()).await.unwrap();
        let met = wire.at(&place).says_with("let me in", claiming("m3")).await.task(wire);
        assert_eq!((state(&met).as_str(), agent.heard().len()), ("completed", 1), "{met}");
        assert!(agent.heard()[0].metadata.is_empty(), "what it claimed is not passed on");
    }
}

#[tokio::test]
async fn ax3_cards_name_both_extensions_where_payments_are_taken_and_require_neither() {
    let extensions = async |place: &Place, path: &str, version: &str| {
        let request = crate::hub::support::request("GET", path).header("a2a-version", version);
        let card = place.send(request, "").await.is(200).json();
        card["capabilities"]["extensions"].as_array().unwrap().clone()
    };
    let (shop, poor) = (shop().await, crate::hub::support::bot(vec![crate::hub::support::done()]).await);
    for version in ["", "1.0"] {
        for path in ["/.well-known/agent-card.json", "/a2a/shop/.well-known/agent-card.json"] {
            let named = extensions(&shop.place, path, version).await;
            for uri in [X402, X402_TRANSPORT] {
                let one = named.iter().find(|extension| extension["uri"] == uri).unwrap();
                assert_ne!(one["required"], true, "{one}");
            }
            let policy = named.iter().filter(|extension| extension["uri"].as_str().unwrap().contains("/policy/"));
            assert_eq!(policy.count(), 1, "the canonical name alone: {named:?}");
        }
        let named = extensions(&poor, "/.well-known/agent-card.json", version).await;
        assert!(named.iter().all(|extension| !extension["uri"].as_str().unwrap().contains("x402")), "{named:?}");
    }
}

/// A way to pay by mandates, whose carts are named after their states.
#[derive(Default)]
struct Mandates {
    submitted: parking_lot::Mutex<Vec<Value>>,
}

impl PaymentScheme for Mandates {
    fn family(&self) -> &'static str {
        "ap2"
    }

    fn present(&self, offer: &AcceptedPayment, terms: &PresentedTerms<'_>) -> AcceptedPayment {
        let contents = json!({"contents": {"id": terms.reference}, "merchant_authorization": "a.b.c"});
        AcceptedPayment { scheme: offer.scheme.clone(), payload: object(contents) }
    }

    fn select(&self, _: &[AcceptedPayment], _: &PaymentSubmission) -> Result<usize, PaymentError> {
        Ok(0)
    }

    fn fingerprint(&self, payment: &PaymentSubmission) -> Result<String, PaymentError> {
        Ok(payment.payload["ap2.mandates.PaymentMandate"]["id"].to_string())
    }

    fn authorization(&self, payment: &PaymentSubmission) -> Result<PaymentAuthorization, PaymentError> {
        let reference = payment.payload["ap2.mandates.PaymentMandate"]["cart"].as_str().map(str::to_owned);
        Ok(PaymentAuthorization { reference, ..PaymentAuthorization::default() })
    }

    fn verify<'a>(
        &'a self,
        _: &'a AcceptedPayment,
        payment: &'a PaymentSubmission,
    ) -> BoxFuture<'a, Result<(), PaymentError>> {
        self.submitted.lock().push(Value::Object(payment.payload.clone()));
        Box::pin(std::future::ready(Ok(())))
    }

    fn settle<'a>(&'a self, offer: &'a AcceptedPayment, _: &'a PaymentSubmission) -> BoxFuture<'a, Settlement> {
        let confirmation = PaymentConfirmation {
            scheme: offer.scheme.clone(),
            original_payload: offer.payload.clone(),
            transaction: None,
            payer: None,
            network: None,
        };
        let receipt = Receipt { confirmation, amount: "5".to_owned(), details: object(json!({"status": "captured"})) };
        Box::pin(std::future::ready(Settlement::Settled(Box::new(receipt))))
    }

    fn reconcile<'a>(&'a self, offer: &'a AcceptedPayment, paid: &'a PaymentSubmission) -> BoxFuture<'a, Settlement> {
        self.settle(offer, paid)
    }
}

#[tokio::test]
async fn ap2_a_payment_mandate_in_its_task_pays_and_reaches_no_agent() {
    let offer = AcceptedPayment { scheme: "ap2.cart_mandate".to_owned(), payload: object(json!({"cart_terms": {}})) };
    let (price, covers) = ("5 coins".to_owned(), PaidFor::Turn);
    let terms = PaymentTerms { accepted: vec![offer], price, covers, credit: None, charge: Charge::After };
    for wire in [Wire::Rpc03, Wire::Rpc10] {
        let (agent, mandates) = (ScriptedAgent::saying(["soup"]), Arc::new(Mandates::default()));
        let setup = Setup { schemes: vec![mandates.clone()], ..Setup::default() };
        let rule = required("fee", Demand::Payment(terms.clone()));
        let place = setup.guarded(card("shop"), agent.clone(), vec![rule]).start().await;
        let refused = wire.at(&place).says("what soup is there?").await.task(wire);
        let cart = refused["artifacts"][0]["parts"][0]["data"]["ap2.mandates.CartMandate"]["contents"]["id"].clone();
        assert_eq!(cart.as_str().map(str::len), Some(64), "{refused}");
        let mandate = |id: &str| {
            let data =
                json!({"ap2.mandates.PaymentMandate": {"id": id, "cart": cart, "secret": "s3cret"}, "risk_data": "r"});
            let part = match wire == Wire::Rpc03 {
                true => json!({"kind": "data", "data": data}),
                false => json!({"data": data}),
            };
            json!({"taskId": refused["id"], "messageId": format!("m-{id}"), "parts": [part]})
        };
        // Where no cart is open nobody is to see it.
        let mut nowhere = mandate("pm-0");
        nowhere.as_object_mut().unwrap().remove("taskId");
        wire.at(&place).says_with("", nowhere).await.is_fault(wire, -32602);
        let paid = wire.at(&place).says_with("", mandate("pm-1")).await.task(wire);
        assert_eq!((state(&paid).as_str(), artifact_text(&paid).as_str()), ("completed", "soup"), "{paid}");
        assert!(!paid.to_string().contains("s3cret"), "a mandate is kept nowhere: {paid}");
        assert_eq!(
            *mandates.submitted.lock(),
            [json!({"ap2.mandates.PaymentMandate": {"id": "pm-1", "cart": cart, "secret": "s3cret"}})]
        );
        let heard = agent.heard();
        assert_eq!((heard.len(), heard[0].text()), (1, "what soup is there?".to_owned()));
        assert!(!format!("{heard:?}").contains("s3cret"));
    }
}

#[tokio::test]
async fn ap2_cards_name_the_role_of_a_host_that_takes_mandates_and_its_extension_is_at_work() {
    const AP2: &str = "https://github.com/google-agentic-commerce/ap2/tree/v0.1";
    let setup = Setup { schemes: vec![Arc::new(Mandates::default())], ..Setup::default() };
    let place = setup.with(card("shop"), ScriptedAgent::saying(["soup"])).start().await;
    let request = crate::hub::support::request("GET", "/.well-known/agent-card.json").header("a2a-version", "1.0");
    let answer = place.send(request, "").await.is(200).json();
    let named = answer["capabilities"]["extensions"].as_array().unwrap();
    let one = named.iter().find(|extension| extension["uri"] == AP2).unwrap();
    assert_eq!((&one["params"]["roles"], &one["required"]), (&json!(["merchant"]), &json!(false)));
    assert!(named.iter().all(|extension| extension["uri"] != X402), "it takes no x402: {named:?}");
    let asked = format!("{AP2}, {X402}");
    let answer = Wire::Rpc10.at(&place).with("a2a-extensions", &asked).says("soup?").await;
    assert_eq!(answer.field("a2a-extensions"), Some(AP2));
}

#[tokio::test]
async fn ap2_a_payment_mandate_for_the_cart_of_an_agent_is_for_that_agent_and_one_for_none_is_for_nobody() {
    for (scheme, is_for_agent) in [("ap2.cart_mandate", true), ("AP2.CartMandate", true), ("stripe.card", false)] {
        let offer = AcceptedPayment { scheme: scheme.to_owned(), payload: object(json!({"contents": {"id": "own"}})) };
        let part = PolicyPart::new(RefusalKind::PaymentRequired { accepted_payments: vec![offer] }, "Pay me.");
        let agent = ScriptedAgent::new(vec![Step::Do(Event::Ending(Ending::Refused(Box::new(part))))]);
        let setup = Setup { schemes: vec![Arc::new(Mandates::default())], ..Setup::default() };
        let place = setup.guarded(card("shop"), agent.clone(), Vec::new()).start().await;
        let wire = Wire::Rpc10;
        let refused = wire.at(&place).says("soup?").await.task(wire);
        let data = json!({"ap2.mandates.PaymentMandate": {"id": "pm", "secret": "s3cret"}});
        let fields = json!({"taskId": refused["id"], "messageId": "m-2", "parts": [{"data": data}]});
        let answered = wire.at(&place).says_with("", fields).await;
        match is_for_agent {
            true => drop(answered.task(wire)),
            false => answered.is_fault(wire, -32602),
        }
        let heard = format!("{:?}", agent.heard());
        assert_eq!((heard.contains("s3cret"), agent.heard().len()), (is_for_agent, 1 + usize::from(is_for_agent)));
    }
}
