//! The console in Chromium: with and without scripts, by keyboard, in the dark and on a phone. The pictures of its pages
//! are for people to look at.

use crate::admin::{TOKEN, api, begun, deployment};
use crate::browser::{Browser, ENTER, View};
use crate::support::{Served, within};

/// Pages with something on them, by what their pictures are called.
const PAGES: [(&str, &str); 25] = [
    ("overview", "/console"),
    ("agents", "/console/agents"),
    ("agent", "/console/agents/gate"),
    ("tasks", "/console/tasks"),
    ("queue", "/console/queue"),
    ("refusals", "/console/refusals"),
    ("limits", "/console/limits"),
    ("sessions", "/console/sessions"),
    ("questions", "/console/questions"),
    ("usage", "/console/usage"),
    ("contracts", "/console/contracts"),
    ("records", "/console/records"),
    ("deliveries", "/console/deliveries"),
    ("content", "/console/content"),
    ("servers", "/console/servers"),
    ("nodes", "/console/nodes"),
    ("certificates", "/console/certificates"),
    ("deployment", "/console/deployment"),
    ("edit", "/console/edit?file=agents%2Fgate.toml"),
    ("version", "/console/deployment/versions/1"),
    ("config", "/console/config"),
    ("reload", "/console/reload"),
    ("actions", "/console/actions"),
    ("playground", "/console/playground"),
    ("missing", "/console/nothing"),
];
/// The key that moves the focus on.
const TAB: &str = "\u{e004}";

fn url(served: &Served, path: &str) -> String {
    format!("http://localhost:{}{path}", served.admin)
}

fn log_in(browser: &Browser, served: &Served, next: &str) {
    browser.go(&url(served, next));
    browser.find("input[name=token]").r#type(&format!("{TOKEN}{ENTER}"));
    browser.find("nav a[aria-current]");
}

/// A deployment in which something has happened.
fn busy() -> Served {
    let served = deployment().serve();
    begun(&served, "slow", "What is **for dinner**?");
    let failed = begun(&served, "gate", "fail");
    for word in ["consent", "forbid", "pay", "hello"] {
        served.curl("/~gate", &["-F", &format!("user={word}")]);
    }
    api(
        &served,
        "/agents/echo/suspend",
        &["-H", "Content-Type: application/json", "-d", r#"{"reason": "wrong prices"}"#],
    );
    within("it has failed", || {
        (api(&served, &format!("/tasks/{failed}"), &[]).json()["state"] == "failed").then_some(())
    });
    served
}

#[test]
fn every_page_is_whole_in_the_light_in_the_dark_on_a_phone_and_without_scripts() {
    let served = busy();
    let task = api(&served, "/tasks?state=failed", &[]).json()["tasks"][0]["task"].as_str().unwrap().to_owned();
    for (name, view) in
        [("desk", View::Desk), ("dark", View::Dark), ("phone", View::Phone), ("noscript", View::NoScript)]
    {
        let Some(browser) = Browser::open(view) else { return };
        browser.go(&url(&served, "/console/login"));
        browser.picture(&format!("console-{name}-login"));
        log_in(&browser, &served, "/console");
        let more = [("task", format!("/console/tasks/{task}")), ("try", "/console/try/agents/gate".to_owned())];
        let pages = PAGES.iter().map(|(name, path)| (*name, (*path).to_owned())).chain(more);
        for (page, path) in pages {
            browser.go(&url(&served, &path));
            browser.find("h1");
            browser.picture(&format!("console-{name}-{page}"));
            assert_ne!(browser.find("main").text(), "");
            if !matches!(view, View::NoScript) {
                let wide = browser.value("document.documentElement.scrollWidth > document.documentElement.clientWidth");
                assert_eq!(wide, false, "{name} {path} is wider than its window");
            }
        }
        let complaints = browser.complaints();
        let unexpected: Vec<_> = complaints.iter().filter(|said| !said.contains("404")).collect();
        assert!(unexpected.is_empty(), "{name}: {unexpected:?}");
    }
}

#[test]
fn an_agent_is_suspended_and_resumed_without_any_script() {
    let served = deployment().serve();
    let Some(browser) = Browser::open(View::NoScript) else { return };
    log_in(&browser, &served, "/console/agents/echo");
    for (button, state) in [("suspend", "suspended"), ("resume", "active")] {
        let form = format!("form[action='/console/do/agents/echo/{button}']");
        browser.find("details.act summary").click();
        browser.find(&format!("{form} input[name=reason]")).r#type("a try");
        browser.find(&format!("{form} button")).click();
        // Only the page after it offers the other one.
        let other = if button == "suspend" { "resume" } else { "suspend" };
        browser.find(&format!("form[action='/console/do/agents/echo/{other}']"));
        assert!(browser.find("[role=status]").text().contains("Done"));
        assert_eq!(api(&served, "/agents/echo", &[]).json()["state"], state);
    }
    browser.go(&url(&served, "/console/try/agents/echo"));
    browser.find("textarea[name=text]").r#type("good evening");
    browser.find(".trial button").click();
    within("it answers", || browser.find("main").text().contains("complete").then_some(()));
    browser.find(".top form button").click();
    browser.find("input[name=token]");
}

#[test]
fn the_console_is_used_by_keyboard_alone_and_follows_what_happens() {
    let served = deployment().serve();
    let Some(browser) = Browser::open(View::Desk) else { return };
    log_in(&browser, &served, "/console/tasks");
    assert!(browser.url().ends_with("/console/tasks"), "{}", browser.url());
    browser.press(TAB);
    assert_eq!(browser.value("document.activeElement.textContent"), "Skip to content");
    browser.press(ENTER);
    assert_eq!(browser.value("document.activeElement.id"), "main");
    within("changes are followed", || {
        (browser.value("document.getElementById('pulse').hidden") == false).then_some(())
    });
    browser.value("document.activeElement.blur()");
    let task = begun(&served, "slow", "go");
    within("the new task is shown by itself", || browser.find("#live").text().contains(&task).then_some(()));
    browser.go(&url(&served, &format!("/console/tasks/{task}")));
    within("its events are shown", || browser.find(".log").text().contains("Begun.").then_some(()));
    // Every stop is seen, and none holds the focus.
    let mut stops = Vec::new();
    for _ in 0..40 {
        browser.press(TAB);
        let stop = "document.activeElement.tagName + ' ' + document.activeElement.textContent.trim().slice(0, 20)";
        stops.push(browser.value(stop).as_str().unwrap().to_owned());
        if stops.last().is_some_and(|stop| stop.starts_with("SUMMARY")) {
            break;
        }
        let seen = "document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== 'none'";
        assert_eq!(browser.value(seen), true, "{stops:?}");
    }
    assert!(stops.last().unwrap().starts_with("SUMMARY Cancel"), "{stops:?}");
    browser.press(ENTER);
    browser.press(TAB);
    browser.press("by keyboard");
    browser.press(ENTER);
    within("it is canceled", || {
        (api(&served, &format!("/tasks/{task}"), &[]).json()["state"] == "canceled").then_some(())
    });
    assert_eq!(api(&served, "/actions", &[]).json()["actions"][0]["reason"], "by keyboard");
    browser.go(&url(&served, "/console/try/agents/gate"));
    browser.value("document.querySelector('textarea').value = 'forbid'");
    browser.find(".trial button").click();
    within("the refusal is shown", || browser.find("#answer").text().contains("forbidden").then_some(()));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
