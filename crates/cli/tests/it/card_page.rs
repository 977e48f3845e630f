//! People pay by card in Chromium: on the pages of a strict double of a provider, which is written from the public
//! description of Stripe's interface, and back here.

use forecourt_testkit::{CARD_KEY, CardFault, CardProvider, sign_notice};
use jiff::Timestamp;
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::browser::{Browser, View};
use crate::pages::{assert_fits, assert_quiet};
use crate::support::{Deployment, FREE_PORTS, Ran, Served, within};

const QUESTION: &str = "How long do I cook rice?";
const SECRET: &str = "whsec_double";

/// An agent that costs something.
const SHOP: &str = r#"
handle = "shop"
name = "Shop"

[backend]
kind = "echo"

[[policy.rules]]
kind = "require_payment"
price = "0.50 EUR"
message = "An answer costs 0.50 EUR."
offers = [{ card = {} }]
"#;

/// The same of a few cents, which are bought ahead.
const CREDIT: &str = r#"
handle = "shop"
name = "Shop"

[backend]
kind = "echo"

[[policy.rules]]
kind = "require_payment"
price = "0.05 EUR"
per = "credit"
credit = { per_turn = "0.05", unit = "EUR", decimals = 2 }
message = "An answer costs 0.05 EUR."
offers = [{ card = {} }]
"#;

/// A provider, a host and, where there is one, a browser.
struct Shop {
    provider: CardProvider,
    served: Served,
    /// On which the provider answers.
    _runtime: tokio::runtime::Runtime,
}

impl Shop {
    fn serve(agent: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let provider = CardProvider::default();
        let origin = format!("http://{}", runtime.block_on(provider.start()));
        let lines = format!(
            "secret_key = \"${{STRIPE_KEY}}\"\nwebhook_secrets = [\"${{STRIPE_WEBHOOK}}\"]\napi = \"{origin}\"\n\
             checkout_origin = \"{origin}\""
        );
        let deployment = Deployment::gatehouse().open_to_loopback().with("payments.card", &lines);
        let deployment = deployment.and("agents/shop.toml", agent);
        let served = deployment.serve_with(&FREE_PORTS, &[("STRIPE_KEY", CARD_KEY), ("STRIPE_WEBHOOK", SECRET)]);
        Self { provider, served, _runtime: runtime }
    }

    /// Asks, is refused, and opens the page of the payment.
    fn ask(&self, browser: &Browser) {
        let question = QUESTION.replace(' ', "%20").replace('?', "%3F");
        browser.go(&self.served.https_url(&format!("/~shop?user={question}")));
        browser.find(".notice a.button").click();
        within("the page opens", || browser.url().contains("/pay/").then_some(()));
    }

    /// From the page of the payment to the checkout.
    fn go_to_checkout(&self, browser: &Browser) {
        browser.find("button[value=checkout]").click();
        within("the checkout opens", || browser.url().contains("/c/pay/cs_").then_some(()));
    }

    /// What cards hold, and what was taken from them.
    fn money(&self) -> (i64, i64) {
        let books = self.provider.books.lock();
        (books.held(), books.taken())
    }

    /// Hands in a notice; the status that answers it.
    fn notify(&self, signature: &str, body: &str) -> u16 {
        let field = format!("stripe-signature: {signature}");
        let arguments = ["-X", "POST", "-H", &field, "-H", "content-type: application/json", "--data-binary", body];
        self.served.curl("/pay/events/card", &arguments).status
    }
}

fn now() -> i64 {
    Timestamp::now().as_second()
}

#[track_caller]
fn has_the_answer(browser: &Browser) {
    browser.find(".notice a.button").click();
    within("the answer is there", || browser.url().contains("/~shop?state=").then_some(()));
    let page = browser.find("main").text();
    assert!(page.matches(QUESTION).count() == 2, "the question, and what echo says to it: {page}");
    assert!(page.contains("Transaction: pi_"), "its receipt: {page}");
}

#[test]
fn a_person_pays_by_card_and_has_the_answer() {
    let Some(browser) = Browser::open(View::Desk) else { return };
    let shop = Shop::serve(SHOP);
    shop.ask(&browser);
    let page = browser.find("main").text();
    for words in [QUESTION, "Pay 0.50 EUR by card", "never sees your card", "When the answer is complete"] {
        assert!(page.contains(words), "no {words:?} in {page}");
    }
    for never in ["card.checkout", "stripe", "x402"] {
        assert!(!page.contains(never), "{never:?} is no word for people: {page}");
    }
    browser.picture("pay-card");
    let paying = browser.url();
    shop.go_to_checkout(&browser);
    assert!(browser.find("h1").text().contains("50 eur"));
    // Back without having paid: the same page goes on to the same checkout.
    browser.back();
    within("it is the page again", || browser.url().contains("/pay/").then_some(()));
    browser.go(&paying);
    assert!(browser.find("#begun").text().contains("nothing was paid there so far"));
    assert!(browser.find("button[value=checkout]").text().contains("Go on to the card payment"));
    shop.go_to_checkout(&browser);
    assert_eq!(shop.provider.books.lock().sessions.len(), 1);
    // Nobody has told this host anything: it asks.
    browser.find("#paid").click();
    within("it is back", || browser.url().contains("/pay/").then_some(()));
    within("it is reserved", || browser.find("main").text().contains("Reserved").then_some(()));
    assert_eq!(shop.money(), (50, 0), "it is taken for a complete answer alone");
    has_the_answer(&browser);
    assert_eq!(shop.money(), (0, 50));
    assert_quiet(&browser, "status of 402");
    browser.go(&paying);
    assert!(browser.find("main").text().contains("Nothing can be decided here any more"));
    assert_eq!(shop.served.curl("/pay/none", &[]).status, 404);
    // The operator's account of it.
    shop.served.signal(Signal::SIGTERM);
    let deployment = shop.served.ended().2;
    let variables = [("STRIPE_KEY", CARD_KEY), ("STRIPE_WEBHOOK", SECRET)];
    let mut command = deployment.command("audit");
    let audited = Ran::of(command.arg(deployment.path()).arg("--json").envs(variables)).fine();
    for outcome in ["issued", "reserved", "resumed", "paid"] {
        assert!(audited.contains(&format!("\"{outcome}\"")), "{outcome} in {audited}");
    }
}

#[test]
fn an_answer_that_fails_lets_go_of_the_card() {
    let Some(browser) = Browser::open(View::Desk) else { return };
    let failing = SHOP.replace("kind = \"echo\"", "kind = \"command\"\ncommand = [\"false\"]");
    let shop = Shop::serve(&failing);
    shop.ask(&browser);
    let paying = browser.url();
    shop.go_to_checkout(&browser);
    browser.find("#paid").click();
    within("it is reserved", || browser.find("main").text().contains("Reserved").then_some(()));
    browser.find(".notice a.button").click();
    within("it has failed", || browser.find("main").text().contains("Nothing was charged").then_some(()));
    assert_eq!(shop.money(), (0, 0));
    // The same page can be paid anew, at another checkout.
    browser.go(&paying);
    shop.go_to_checkout(&browser);
    assert_eq!(shop.provider.books.lock().sessions.len(), 2);
}

#[test]
fn who_says_no_at_the_checkout_comes_back_and_pays_nothing() {
    let Some(browser) = Browser::open(View::Phone) else { return };
    let shop = Shop::serve(SHOP);
    shop.ask(&browser);
    assert_fits(&browser);
    shop.go_to_checkout(&browser);
    browser.find("#back").click();
    within("it is back", || browser.url().contains("/pay/").then_some(()));
    browser.find("button[value=decline]").click();
    within("it is declined", || browser.find("main").text().contains("Nothing was paid").then_some(()));
    let session = shop.provider.last_session();
    assert_eq!((&session["status"], shop.money()), (&Value::from("expired"), (0, 0)));
}

#[test]
fn a_provider_that_is_silent_is_asked_again_and_nobody_is_told_that_it_was_paid() {
    let Some(browser) = Browser::open(View::NoScript) else { return };
    let shop = Shop::serve(SHOP);
    shop.ask(&browser);
    shop.go_to_checkout(&browser);
    for _ in 0..8 {
        shop.provider.fail("checkout/sessions/", CardFault::Answer(503));
    }
    browser.find("#paid").click();
    within("it is back", || browser.url().contains("/pay/").then_some(()));
    assert!(browser.find("main").text().contains("being confirmed"), "{}", browser.find("main").text());
    shop.provider.books.lock().faults.clear();
    within("it is found", || {
        let page = browser.find("main").text();
        if page.contains("being confirmed") {
            browser.find(".notice a.button").click();
        }
        page.contains("Reserved").then_some(())
    });
    has_the_answer(&browser);
}

#[test]
fn credit_is_bought_by_card_from_the_least_that_a_card_pays() {
    let Some(browser) = Browser::open(View::Desk) else { return };
    let shop = Shop::serve(CREDIT);
    shop.ask(&browser);
    let page = browser.find("#card").text();
    assert!(page.contains("1.00 EUR: this question and 19 more") && page.contains("2.50 EUR"), "{page}");
    assert!(!page.contains("0.25 EUR"), "less than a card pays: {page}");
    browser.picture("pay-card-credit");
    shop.go_to_checkout(&browser);
    browser.find("#paid").click();
    within("it is paid", || browser.find("main").text().contains("Paid").then_some(()));
    assert_eq!(shop.money(), (0, 100), "credit is bought");
    has_the_answer(&browser);
}

#[test]
fn a_notice_is_believed_to_say_where_to_look() {
    let Some(browser) = Browser::open(View::Desk) else { return };
    let shop = Shop::serve(SHOP);
    shop.ask(&browser);
    let paying = browser.url();
    shop.go_to_checkout(&browser);
    let session = shop.provider.last_session();
    // Somebody who knows the address of the endpoint alone.
    let forged = serde_json::json!({"id": "evt_x", "type": "checkout.session.completed", "data": {"object": session}});
    let forged = forged.to_string();
    assert_eq!(shop.notify("t=1,v1=00", &forged), 400);
    assert_eq!(shop.notify(&sign_notice("whsec_other", now(), &forged), &forged), 400);
    assert_eq!(shop.notify(&sign_notice(SECRET, now() - 400, &forged), &forged), 400);
    // Signed, and yet it says something that is not so: the provider is asked.
    assert_eq!(shop.notify(&sign_notice(SECRET, now(), &forged), &forged), 200);
    assert_eq!(shop.money(), (0, 0));
    assert_eq!(shop.served.curl("/pay/events/none", &["-X", "POST", "-d", "{}"]).status, 404);
    assert_eq!(shop.served.curl("/pay/events/card", &[]).status, 405);
    // Its payer pays and goes away; notices come late, twice and in the wrong order.
    shop.provider.pay(session["id"].as_str().unwrap());
    let mut notices = shop.provider.notices();
    notices.reverse();
    for notice in notices.iter().chain(&notices) {
        assert_eq!(shop.notify(&sign_notice(SECRET, now(), &notice.body), &notice.body), 200, "{}", notice.kind);
    }
    browser.go(&paying);
    assert!(browser.find("main").text().contains("Reserved"), "{}", browser.find("main").text());
    has_the_answer(&browser);
    assert_eq!((shop.money(), shop.provider.books.lock().count("POST", "/capture")), ((0, 50), 1));
}

#[test]
fn what_no_card_pays_is_said_before_anybody_is_asked() {
    let small = SHOP.replace("0.50", "0.05");
    let deployment =
        Deployment::gatehouse().with("payments.card", "secret_key = \"sk_test_x\"").and("agents/shop.toml", &small);
    let told = deployment.run("check", [""; 0]).failed(1);
    assert!(told.contains("0.05 EUR is less than the 0.50 EUR that a card pays at least"), "{told}");
    let off = Deployment::gatehouse().and("agents/shop.toml", SHOP).run("check", [""; 0]).failed(1);
    assert!(off.contains("set `secret_key` in [payments.card]"), "{off}");
    let published = Deployment::gatehouse().with("payments.card", "secret_key = \"pk_live_hush\"");
    let told = published.run("check", [""; 0]).failed(1);
    assert!(told.contains("publishable") && !told.contains("hush"), "{told}");
}
