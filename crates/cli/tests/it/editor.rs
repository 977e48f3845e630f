//! The files of a deployment, changed from the operator's desk while it is served.

use std::fs;
use std::thread;

use serde_json::{Value, json};

use crate::admin::{TOKEN, api, post};
use crate::browser::{Browser, ENTER, View};
use crate::support::{Deployment, Served, within};
use crate::wire::Answer;

/// An agent that says a word.
fn saying(word: &str) -> String {
    format!(
        "handle = \"new\"\nname = \"New\"\n\n[backend]\nkind = \"script\"\n\n[[backend.rule]]\nevents = [{{ text = \"{word}\" }}]\n"
    )
}

fn served() -> Served {
    Deployment::gatehouse().with("admin", &format!("token = \"{TOKEN}\"\neditor = true")).serve()
}

fn state(served: &Served) -> Value {
    within("the first version is kept", || {
        let told = api(served, "/deployment", &[]).with_status(200).json();
        (!told["versions"].as_array().unwrap().is_empty()).then(|| told["state"].clone())
    })
}

fn apply(served: &Served, files: &Value, based_on: &Value) -> Answer {
    post(served, "/deployment/apply", &json!({"change": {"files": files, "based_on": based_on}, "reason": "a try"}))
}

fn answer_of_new(served: &Served) -> Answer {
    served.curl("/~new", &["-F", "user=hello"])
}

#[test]
fn what_is_applied_is_served_at_once_and_put_back_from_a_shell() {
    let served = served();
    let file = served.deployment.path().join("agents/new.toml");
    let first = state(&served);
    let checked = post(&served, "/deployment/check", &json!({"change": {"files": {"agents/new.toml": saying("Hi.")}}}));
    assert_eq!(checked.with_status(200).json()["problems"], json!([]));
    assert!(!file.exists(), "a check writes nothing");
    let applied = apply(&served, &json!({"agents/new.toml": saying("Hi.")}), &first).with_status(200).json();
    assert_eq!(applied["is_applied"], true, "{applied}");
    assert!(answer_of_new(&served).with_status(200).text().contains("Hi."));
    let listed = served.deployment.run("admin", ["deployment"]).fine();
    assert!(listed.contains("agents/new.toml") && listed.contains("a try"), "{listed}");
    // Changed behind its back, by a file: a version of its own.
    fs::write(&file, saying("Ho.")).unwrap();
    within("the file is taken up", || answer_of_new(&served).text().contains("Ho.").then_some(()));
    let versions = within("and kept", || {
        let told = api(&served, "/deployment", &[]).json()["versions"].take();
        (told[0]["number"] == 3).then_some(told)
    });
    assert_eq!(versions[0]["by"], "files", "{versions}");
    let back = served.deployment.run("admin", ["put-back", "2", "--reason", "prices"]).fine();
    assert!(back.contains("served: agents/new.toml"), "{back}");
    assert!(answer_of_new(&served).text().contains("Hi."));
    served.deployment.run("admin", ["put-back", "1"]).fine();
    assert!(!file.exists());
    assert_eq!(answer_of_new(&served).status, 404);
    let actions = api(&served, "/actions", &[]).json();
    assert_eq!(actions["actions"][1]["reason"], "prices", "{actions}");
}

#[test]
fn what_is_wrong_changes_nothing_and_says_where() {
    let served = served();
    let first = state(&served);
    let before = fs::read_to_string(served.deployment.path().join("agents/echo.toml")).unwrap();
    for (files, file, words) in [
        (json!({"agents/echo.toml": before.replace("kind =", "knid =")}), "agents/echo.toml", "needs `kind`"),
        (json!({"agents/echo.toml": "handle = "}), "agents/echo.toml", ""),
        (json!({"forecourt.toml": null}), "forecourt.toml", ""),
        (json!({"forecourt.toml": "domain = \"other.localhost\""}), "forecourt.toml", "can't change"),
        (json!({"agents/two.toml": before}), "agents/two.toml", "is taken"),
    ] {
        let told = apply(&served, &files, &first).with_status(200).json();
        assert_eq!(told["is_applied"], false, "{files}: {told}");
        let found = told["problems"]
            .as_array()
            .unwrap()
            .iter()
            .any(|problem| problem["file"] == file && problem["message"].as_str().unwrap().contains(words));
        assert!(found, "{files}: {told}");
    }
    for name in ["../x.toml", ".forecourt/x.toml", "content/x.json", "agents/x.sh", "/tmp/x.toml"] {
        apply(&served, &json!({ name: "x = 1" }), &first).with_status(400);
    }
    assert_eq!(state(&served), first, "no file is another one");
    let versions = api(&served, "/deployment", &[]).json()["versions"].as_array().unwrap().len();
    assert_eq!(versions, 1);
    served.curl("/~echo", &["-F", "user=hello"]).with_status(200);
}

#[test]
fn of_many_changes_at_once_from_one_state_one_is_made() {
    let served = served();
    let first = state(&served);
    let came: Vec<u16> = thread::scope(|scope| {
        let change = |number: usize| {
            let (served, first) = (&served, &first);
            move || apply(served, &json!({"agents/new.toml": saying(&format!("Number {number}."))}), first).status
        };
        let all: Vec<_> = (0..12).map(|number| scope.spawn(change(number))).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let count = |status: u16| came.iter().filter(|came| **came == status).count();
    assert_eq!((count(200), count(409)), (1, 11), "{came:?}");
    assert!(answer_of_new(&served).with_status(200).text().contains("Number "));
}

#[test]
fn nothing_is_changed_from_here_until_the_operator_says_so() {
    let served = Deployment::gatehouse().with("admin", &format!("token = \"{TOKEN}\"")).serve();
    let told = api(&served, "/deployment", &[]).with_status(404).json();
    assert!(told["hint"].as_str().unwrap().contains("`editor = true`"), "{told}");
    apply(&served, &json!({"agents/new.toml": saying("Hi.")}), &Value::Null).with_status(404);
    assert!(!served.deployment.path().join("agents/new.toml").exists());
    assert!(!served.deployment.path().join(".forecourt/versions").exists(), "nothing is kept either");
}

#[test]
fn a_file_is_changed_on_a_page_without_any_script() {
    let served = served();
    state(&served);
    let Some(browser) = Browser::open(View::NoScript) else { return };
    browser.go(&format!("http://localhost:{}/console/deployment", served.admin));
    browser.find("input[name=token]").r#type(&format!("{TOKEN}{ENTER}"));
    browser.find("a[href='/console/edit?file=agents%2Fecho.toml']").click();
    browser.find("textarea[name=text]").r#type("\nnmae = \"x\"");
    browser.find("button[value=check]").click();
    within("it says what is wrong", || browser.find("main").text().contains("nmae").then_some(()));
    browser.picture("console-noscript-edit-wrong");
    browser.go(&format!("http://localhost:{}/console/edit", served.admin));
    browser.find("textarea[name=text]").r#type(&saying("Hello from a page."));
    browser.find("input[name=reason]").r#type("a first agent");
    browser.find("button[value=apply]").click();
    within("it is served", || browser.find("main").text().contains("It is served now.").then_some(()));
    browser.picture("console-noscript-edit");
    assert!(answer_of_new(&served).with_status(200).text().contains("Hello from a page."));
    browser.go(&format!("http://localhost:{}/console/deployment", served.admin));
    browser.find("details.act summary").click();
    browser.find("form[action='/console/do/deployment/versions/1/put-back'] button").click();
    within("it is put back", || (answer_of_new(&served).status == 404).then_some(()));
}
