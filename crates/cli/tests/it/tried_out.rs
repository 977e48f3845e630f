//! An operator takes the place of a caller in the playground: what that one meets is met, and nothing of it is used.

use serde_json::{Value, json};

use crate::admin::{TOKEN, api, post};
use crate::browser::{Browser, ENTER, View};
use crate::support::{Deployment, Served, within};

/// An agent for the staff, who agree first.
const STAFF: &str = "handle = \"staff\"\nname = \"Staff\"\n\n[backend]\nkind = \"echo\"\n\n\
    [[policy.rules]]\nkind = \"require_identity\"\nsubjects = [\"acme:*\"]\n\n\
    [[policy.rules]]\nkind = \"require_consent\"\ntext = \"What you ask is kept.\"\nversion = \"1\"\n";

fn served() -> Served {
    Deployment::gatehouse().with("admin", &format!("token = \"{TOKEN}\"")).and("agents/staff.toml", STAFF).serve()
}

fn tried(served: &Served, caller: &Value) -> Value {
    let words = json!({"text": "hello", "caller": caller});
    post(served, "/playground/agents/staff", &words).with_status(200).json()
}

#[test]
fn an_operator_meets_what_a_caller_meets_and_that_is_written_down() {
    let served = served();
    let ending = |caller: &Value| {
        let told = tried(&served, caller);
        told["refusal"]["kind"].as_str().map_or_else(|| told["ending"].to_string(), str::to_owned)
    };
    let ann = |more: &Value| {
        let mut caller = json!({"subject": "acme:ann"});
        caller.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        caller
    };
    assert_eq!(ending(&Value::Null), "unauthorized");
    assert_eq!(ending(&json!({"subject": "evil:mallory"})), "forbidden");
    assert_eq!(ending(&ann(&json!({}))), "consent_required");
    assert_eq!(ending(&ann(&json!({"as_if_met": true}))), "\"complete\"");
    assert_eq!(ending(&ann(&json!({}))), "consent_required", "nothing was agreed to");
    let consents = api(&served, "/consents", &[]).json();
    assert_eq!(consents["consents"], json!([]), "{consents}");
    let actions = api(&served, "/actions", &[]).json();
    let target = actions["actions"][1]["target"].as_str().unwrap().to_owned();
    assert_eq!(target, "agent @staff as acme:ann, as if all was agreed and paid");
    for wrong in [
        json!({"subject": "a".repeat(501)}),
        json!({"scopes": ["not one"]}),
        json!({"subject": "a", "authority": "all"}),
        json!("ann"),
    ] {
        let words = json!({"text": "hello", "caller": wrong});
        assert_eq!(post(&served, "/playground/agents/staff", &words).status, 400, "{wrong}");
    }
}

#[test]
fn a_form_takes_the_place_of_a_caller_with_scripts_and_without() {
    let served = served();
    for view in [View::Desk, View::NoScript] {
        let Some(browser) = Browser::open(view) else { return };
        browser.go(&format!("http://localhost:{}/console/try/agents/staff", served.admin));
        browser.find("input[name=token]").r#type(&format!("{TOKEN}{ENTER}"));
        browser.find("textarea[name=text]").r#type("good evening");
        browser.find("details.more-fields summary").click();
        browser.find("input[name=subject]").r#type("acme:ann");
        browser.find("select[name=met]").r#type("as if");
        browser.picture(&format!("console-{}-tried-out", if matches!(view, View::Desk) { "desk" } else { "noscript" }));
        browser.find(".trial button.main").click();
        within("it answers as it would her", || browser.find("main").text().contains("complete").then_some(()));
    }
}
