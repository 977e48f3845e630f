//! Where people finish, in a real browser: from a refusal to the page of a consent or a payment, and back to the
//! question with its answer. PolicyPart 3.3.4, PolicyResolution 5.3 pattern 2.

use crate::browser::{Browser, ENTER, View};
use crate::pages::{assert_fits, assert_quiet};
use crate::support::{Deployment, Served, within};

const QUESTION: &str = "Something quick with chickpeas?";
const CONSENT: &str = r#"
[[policy.rules]]
kind = "require_consent"
message = "The kitchen keeps what you ask, to suggest dishes that you like."
text = "We keep your questions for thirty days and show them to nobody."
version = "2026-05"
lifetime = "30d"
scope = { data_kept = ["questions", "allergies"], shared_with_others = false }
"#;
const PAYMENT: &str = r#"
[[policy.rules]]
kind = "require_payment"
message = "A cook answers, and is paid for each answer."
price = "0.05 USDC"

[[policy.rules.offers]]
scheme = "x402.exact"

[policy.rules.offers.payload]
x402Version = 1
error = "payment required"

[[policy.rules.offers.payload.accepts]]
scheme = "exact"
network = "base-sepolia"
maxAmountRequired = "50000"
asset = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
payTo = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"
resource = "https://demo.localhost/~agent"
description = "An answer"
maxTimeoutSeconds = 300
extra = { name = "USDC", version = "2" }
"#;

fn behind(rule: &str) -> Served {
    let deployment = Deployment::of_backend("kind = \"echo\"\n");
    let agent = deployment.read("agents/agent.toml");
    deployment.write("agents/agent.toml", &format!("{agent}{rule}"));
    deployment.serve()
}

/// Opens a deployment and a browser. Ends the test where there is no browser.
macro_rules! looking {
    ($view:expr, $rule:expr) => {
        match Browser::open($view) {
            Some(browser) => (behind($rule), browser),
            None => return,
        }
    };
}

fn question() -> String {
    format!("/~agent?user={}", QUESTION.replace(' ', "%20"))
}

/// Asks, is refused, and follows the button to the page to decide on.
#[track_caller]
fn to_the_page(browser: &Browser, served: &Served) {
    browser.go(&served.https_url(&question()));
    browser.find(".notice a.button").click();
    within("the page opens", || {
        browser.url().contains("/consent/").then_some(()).or(browser.url().contains("/pay/").then_some(()))
    });
}

#[test]
fn a_person_agrees_and_the_question_is_answered_where_it_was_asked() {
    for view in [View::Desk, View::NoScript] {
        let (served, browser) = looking!(view, CONSENT);
        to_the_page(&browser, &served);
        let page = browser.find("main").text();
        for words in [QUESTION, "30 days", "questions, allergies", "@agent@demo.localhost", "2026-05"] {
            assert!(page.contains(words), "no {words:?} in {page}");
        }
        let decided = browser.url();
        assert_quiet(&browser, "status of 401");
        browser.find("button[value=accept]").click();
        within("the answer is there", || browser.url().contains("/~agent?state=").then_some(()));
        let answer = browser.find("main").text();
        assert_eq!(answer.matches(QUESTION).count(), 2, "the question, and what echo says to it: {answer}");
        assert_quiet(&browser, "");
        let url = browser.url();
        browser.go(&url);
        assert!(browser.find("main").text().contains("answered already"), "a reload runs nothing twice");
        browser.go(&decided);
        assert!(browser.find("main").text().contains("Nothing can be decided here any more"), "it is used up");
    }
}

#[test]
fn what_a_browser_agreed_to_holds_for_new_questions_until_it_is_taken_back() {
    for (view, name) in [(View::Phone, "phone"), (View::NoScript, "no-script")] {
        let (served, browser) = looking!(view, CONSENT);
        to_the_page(&browser, &served);
        browser.find("button[value=accept]").click();
        within("the answer is there", || browser.url().contains("/~agent?state=").then_some(()));
        let new = served.https_url("/~agent?user=And%20dessert%3F");
        browser.go(&new);
        assert!(browser.find("main").text().contains("And dessert?"));
        assert!(browser.all("button[value=accept]").is_empty() && !browser.url().contains("/consent/"));
        assert_quiet(&browser, "status of 401");
        browser.find("#account").click();
        within("the page opens", || browser.url().ends_with("/account").then_some(()));
        let page = browser.find("main").text();
        for words in ["The kitchen keeps what you ask", "questions, allergies", "Nobody is signed in", "Holds"] {
            assert!(page.contains(words), "no {words:?} in {page}");
        }
        browser.picture(&format!("account-{name}"));
        if name == "phone" {
            assert_fits(&browser);
        }
        browser.find("button[value=withdraw]").click();
        within("it is over", || browser.find("main").text().contains("Over").then_some(()));
        assert!(browser.all("button[value=withdraw]").is_empty());
        browser.go(&new);
        assert!(!browser.all(".notice a.button").is_empty(), "it is asked for again");
    }
}

#[test]
fn a_person_says_no_with_the_keyboard_alone() {
    let (served, browser) = looking!(View::Desk, CONSENT);
    to_the_page(&browser, &served);
    browser.find("button[value=decline]").r#type(ENTER);
    within("it is said", || browser.find("h1").text().contains("You said no").then_some(()));
    assert!(browser.all("form").is_empty());
    browser.find(".next a.button").click();
    within("the agent's page opens", || browser.url().ends_with("/~agent").then_some(()));
}

#[test]
fn what_was_agreed_to_in_the_chat_holds_in_the_chat() {
    let (served, browser) = looking!(View::Desk, CONSENT);
    browser.go(&served.https_url("/~agent"));
    browser.find("#user").r#type(&format!("{QUESTION}{ENTER}"));
    // It opens beside the chat; here in its place.
    let page = browser.find(".turn .notice a.button").property("href");
    browser.go(&page);
    browser.find("button[value=accept]").click();
    within("the answer is there", || browser.url().contains("/~agent?state=").then_some(()));
    assert_eq!(browser.find("main").text().matches(QUESTION).count(), 2);
}

#[test]
fn a_payment_that_can_not_be_read_is_told_and_the_page_stays() {
    let (served, browser) = looking!(View::Desk, PAYMENT);
    to_the_page(&browser, &served);
    browser.find("#program summary").click();
    let page = browser.find("main").text();
    for words in [
        QUESTION,
        "0.05 USDC on Base Sepolia",
        "Agent",
        "The answer to this one question",
        "When the answer is complete",
    ] {
        assert!(page.contains(words), "no {words:?} in {page}");
    }
    let url = browser.url();
    assert!(page.contains(&url), "a program is given the address: {page}");
    browser.find("#paste summary").click();
    browser.find("#payment").r#type("hello");
    browser.find("button[value=pay]").click();
    within("it is told", || browser.find("main").text().contains("payment must be").then_some(()));
    browser.go(&url);
    browser.find("button[value=decline]").click();
    within("it is said", || browser.find("h1").text().contains("You said no").then_some(()));
    assert!(browser.find("main").text().contains("Nothing was paid"));
}

#[test]
fn the_pages_fit_every_screen_and_light() {
    for (view, name) in [(View::Desk, "desk"), (View::Dark, "dark"), (View::Phone, "phone")] {
        for (rule, kind) in [(CONSENT, "consent"), (PAYMENT, "payment")] {
            let (served, browser) = looking!(view, rule);
            to_the_page(&browser, &served);
            browser.picture(&format!("{kind}-{name}"));
            if name == "phone" {
                assert_fits(&browser);
            }
            let unlabelled = "[...document.querySelectorAll('button, textarea, summary, a')].filter(it => \
                              !(it.textContent.trim() || it.labels?.length || it.ariaLabel)).length";
            assert_eq!(browser.value(unlabelled), 0);
        }
    }
}
