//! A deployment with a rule of each kind, asked over REST: status, fields and body as a caller sees them.

use serde_json::Value;

use crate::support::{Deployment, Served};
use crate::wire::Answer;

/// Agents named for the rules before them, and rules of the host before some of them.
fn deployment() -> Deployment {
    let host = r#"
domain = "demo.localhost"
public_url = "https://demo.localhost"
default_agent = "open"

[[policy]]
kind = "deny"
countries = ["xx"]
agents = ["law"]
message = "A law of your country forbids it."
url = "https://demo.localhost/why"
translations = { de = { title = "Gesperrt", message = "Ein Gesetz verbietet es." }, fr = "Une loi l'interdit." }

[[policy]]
kind = "limit"
name = "everywhere"
by = "address"
requests = 1
per = "1h"
agents = ["shared", "shared2"]

[geo]
countries_file = "countries.csv"
"#;
    let rules = [
        ("open", ""),
        ("law", ""),
        ("shared", ""),
        ("shared2", ""),
        (
            "staff",
            "kind = \"require_identity\"\nissuers = [\"https://login.example\"]\nurl = \"https://demo.localhost/login\"",
        ),
        ("away", "kind = \"deny\"\nnetworks = [\"127.0.0.0/8\", \"::1/128\"]"),
        ("near", "kind = \"allow\"\nnetworks = [\"203.0.113.0/24\"]"),
        ("german", "kind = \"allow\"\nlanguages = [\"de\"]"),
        ("once", "kind = \"limit\"\nby = \"session\"\nrequests = 1\nper = \"10m\""),
        ("shut", "kind = \"maintenance\"\nmessage = \"Closed.\"\nretry_after_seconds = 77"),
        ("later", "kind = \"maintenance\"\nfrom = \"2199-01-01T00:00:00Z\""),
        ("ending", "kind = \"maintenance\"\nfrom = \"2020-01-01T00:00:00Z\"\nuntil = \"2199-01-01T00:00:00Z\""),
        ("nightly", "kind = \"maintenance\"\nweekly = [{ from = \"00:00\", until = \"23:59:59.999999999\" }]"),
        ("busy", "kind = \"overload\"\nreplies_running = 1000"),
        ("court", "kind = \"legal\"\nmessage = \"A court.\"\nurl = \"https://demo.localhost/court\""),
    ];
    let mut deployment = Deployment::empty()
        .and("forecourt.toml", host)
        .and("countries.csv", "network,country\n127.0.0.0/8,XX\n::1/128,XX\n");
    for (handle, rule) in rules {
        let rule = if rule.is_empty() { String::new() } else { format!("[[policy.rules]]\n{rule}\n") };
        let agent = format!("handle = \"{handle}\"\nname = \"Agent\"\n\n[backend]\nkind = \"echo\"\n\n{rule}");
        deployment = deployment.and(&format!("agents/{handle}.toml"), &agent);
    }
    deployment
}

fn ask(served: &Served, agent: &str, headers: &[&str]) -> Answer {
    let mut arguments = vec!["-H", "Accept: application/json"];
    headers.iter().for_each(|header| arguments.extend(["-H", header]));
    served.curl(&format!("/~{agent}?user=hello"), &arguments)
}

#[test]
fn each_kind_of_rule_refuses_as_its_kind_does() {
    let served = deployment().serve();
    let kind = |answer: &Answer| answer.json()["policy"]["kind"].clone();
    for agent in ["open", "later", "busy"] {
        ask(&served, agent, &[]).with_status(200);
    }

    let law = ask(&served, "law", &[]).with_status(451);
    assert_eq!(law.named("link"), "<https://demo.localhost/why>; rel=\"blocked-by\"");
    assert_eq!(law.json()["policy"]["message"], "A law of your country forbids it.");

    let staff = ask(&served, "staff", &[]).with_status(401);
    assert_eq!(staff.named("www-authenticate"), "Bearer realm=\"demo.localhost\"");
    assert_eq!(staff.json()["policy"]["url"], "https://demo.localhost/login");

    for agent in ["away", "near", "german"] {
        let answer = ask(&served, agent, &[]).with_status(403);
        assert_eq!(kind(&answer), "forbidden", "{agent}");
    }
    ask(&served, "german", &["Accept-Language: de-AT"]).with_status(200);

    let shut = ask(&served, "shut", &[]).with_status(503);
    assert_eq!((shut.named("retry-after").as_str(), kind(&shut)), ("77", "service_unavailable".into()));
    for agent in ["ending", "nightly"] {
        let seconds: u64 = ask(&served, agent, &[]).with_status(503).named("retry-after").parse().unwrap();
        assert!(seconds > 0, "{agent}");
    }
    let court = ask(&served, "court", &[]).with_status(451);
    assert_eq!(court.json()["policy"]["message"], "A court.");
}

#[test]
fn rest8_4_who_asks_more_often_than_a_limit_is_told_when_to_come_back() {
    let served = deployment().serve();
    ask(&served, "once", &[]).with_status(200);
    // Without a session it begins another one, which is no fresh bucket.
    let again = ask(&served, "once", &["X-Mentionable-Session: made-up"]).with_status(429);
    let seconds: u64 = again.named("retry-after").parse().unwrap();
    assert!((1..=600).contains(&seconds), "{seconds}");
    assert_eq!(again.json()["policy"]["code"], "mentionable:rate_limited");
    // A rule of the host counts for all its agents together.
    ask(&served, "shared", &[]).with_status(200);
    ask(&served, "shared2", &[]).with_status(429);
}

#[test]
fn policy3_2_a_refusal_is_in_the_language_that_its_caller_wants_most_of_those_that_it_has() {
    let served = deployment().serve();
    let page = |languages: &str| {
        let language = format!("Accept-Language: {languages}");
        served.curl("/~law?user=hello", &["-H", "Accept: text/markdown", "-H", &language]).with_status(451)
    };
    for (languages, tag, words) in [
        ("de-AT", "de", "Ein Gesetz verbietet es."),
        ("ko, fr;q=0.5", "fr", "Une loi l'interdit."),
        ("en, fr;q=0.5", "en", "A law of your country forbids it."),
        ("ko", "en", "A law of your country forbids it."),
    ] {
        let answer = page(languages);
        assert_eq!(answer.named("content-language"), tag, "{languages}");
        assert!(answer.text().contains(words), "{languages}: {answer:?}");
    }
}

#[test]
fn check_shows_the_rules_of_each_agent_in_their_order() {
    let deployment = deployment();
    deployment.edit(
        "agents/law.toml",
        "kind = \"echo\"\n",
        "kind = \"echo\"\n[[policy.rules]]\nkind = \"maintenance\"\n",
    );
    let shown: Value = deployment.run("check", ["--json"]).json();
    assert_eq!(shown["rules"]["law"], serde_json::json!(["deny xx", "maintenance until further notice"]));
    assert_eq!(shown["rules"]["shared"], serde_json::json!(["limit `everywhere` 1 per 1h by address"]));
    assert!(shown["rules"].get("open").is_none());
    assert!(deployment.run("check", [] as [&str; 0]).fine().contains("maintenance until further notice"));
}

#[test]
fn what_is_wrong_in_a_rule_is_told_with_its_file_line_and_key() {
    let deployment = deployment();
    deployment.edit("forecourt.toml", "per = \"1h\"", "per = \"1 fortnight\"");
    deployment.edit("agents/court.toml", "url = \"https://demo.localhost/court\"", "url = \"https://evil.example/\"");
    deployment.edit("agents/staff.toml", "issuers", "isuers");
    let told = deployment.run("check", [] as [&str; 0]).failed(1);
    for part in ["agents/staff.toml:9", "did you mean `issuers`", "`per`: expected seconds", "forecourt.toml:19"] {
        assert!(told.contains(part), "no {part} in {told}");
    }
    deployment.edit("forecourt.toml", "per = \"1 fortnight\"", "per = \"1h\"");
    deployment.edit("agents/staff.toml", "isuers", "issuers");
    let told = deployment.run("check", [] as [&str; 0]).failed(1);
    assert!(told.contains("agents/court.toml:10") && told.contains("[policy.rules[0]] `url`"), "{told}");
    deployment.edit("agents/court.toml", "url = \"https://evil.example/\"", "");
    deployment.edit("forecourt.toml", "agents = [\"law\"]", "agents = [\"lawyer\"]");
    let told = deployment.run("check", [] as [&str; 0]).failed(1);
    assert!(told.contains("there is no agent `lawyer`"), "{told}");
    deployment.edit("forecourt.toml", "agents = [\"lawyer\"]", "agents = [\"law\"]");
    deployment.edit("countries.csv", "::1/128,XX", "::1/129,XX");
    let told = deployment.run("check", [] as [&str; 0]).failed(1);
    assert!(told.contains("countries.csv:3") && told.contains("is not a network"), "{told}");
}
