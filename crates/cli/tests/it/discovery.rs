//! From an address to an answer: by hand, as a stranger's program does it, and with our own commands.

use serde_json::Value;

use crate::support::{DOMAIN, Deployment, Served, within};
use crate::wire::{Answer, curl};

/// The relation of agent cards in WebFinger.
const CARD: &str = "https://mentionable.dev/ns/rel/agent-card";
/// The extension that says where REST is.
const REST: &str = "https://mentionable.dev/ns/transport-rest/v0.1";

/// GETs a URL that was published, over TLS.
#[track_caller]
fn followed(served: &Served, url: &Value) -> Answer {
    let url = url.as_str().expect("a URL");
    assert!(url.starts_with(&served.https_url("/")), "{url} is not on this host");
    curl(url, &["--cacert", &served.ca()]).with_status(200)
}

#[track_caller]
fn card(served: &Served, handle: &str) -> Value {
    served.curl_tls(&format!("/.well-known/agent-card/{handle}"), &[]).with_status(200).json()
}

/// Runs a command that talks to the served deployment.
fn run(served: &Served, command: &str, arguments: &[&str]) -> crate::support::Ran {
    let data = served.deployment.data().display().to_string();
    served.deployment.run(command, [arguments, &["--data", &data]].concat())
}

#[test]
fn an_address_leads_to_an_answer() {
    let served = Deployment::gatehouse().serve();
    let lookup = served.curl_tls("/.well-known/webfinger?resource=acct:echo@demo.localhost", &[]).with_status(200);
    assert_eq!(lookup.named("content-type"), "application/jrd+json");
    assert_eq!(lookup.named("access-control-allow-origin"), "*");
    let links = lookup.json()["links"].clone();
    let link = links.as_array().unwrap().iter().find(|link| link["rel"] == CARD).expect("a link to the card");
    let card = followed(&served, &link["href"]).json();
    assert_eq!(card["address"], "@echo@demo.localhost");
    let extensions = card["a2a"]["capabilities"]["extensions"].as_array().unwrap();
    let rest = extensions.iter().find(|extension| extension["uri"] == REST).expect("the REST transport");
    let ask = format!("{}?user=hello", rest["endpoint"].as_str().unwrap());
    let answer = curl(&ask, &["--cacert", &served.ca(), "-H", "Accept: text/markdown"]).with_status(200);
    assert_eq!(answer.text(), "hello");
}

#[test]
fn a_directory_lists_every_agent_with_its_card() {
    let served = Deployment::kitchen().serve();
    let directory = served.curl_tls("/.well-known/mentionable-agents.json", &[]).with_status(200).json();
    let agents = directory["contactPoint"].as_array().unwrap();
    assert_eq!(agents.len(), 3, "{directory}");
    for agent in agents {
        assert_eq!(followed(&served, &agent["url"]).json()["name"], agent["name"]);
    }
}

#[test]
fn who_does_not_live_here_is_not_found() {
    let served = Deployment::gatehouse().serve();
    for resource in ["acct:nobody@demo.localhost", "acct:echo@elsewhere.example", "https://demo.localhost/~echo2"] {
        served.curl(&format!("/.well-known/webfinger?resource={resource}"), &[]).with_status(404);
    }
    served.curl("/.well-known/webfinger", &[]).with_status(400);
    served.curl("/.well-known/agent-card/nobody", &[]).with_status(404);
}

#[test]
fn the_certificate_is_not_trusted_without_its_authority() {
    let served = Deployment::gatehouse().serve();
    let url = served.https_url("/~echo?user=hi");
    let output = std::process::Command::new("curl").args(["-q", "-sS", "--noproxy", "*", &url]).output().unwrap();
    assert_eq!(output.status.code(), Some(60), "{output:?}");
}

#[test]
fn discover_shows_a_domain_and_an_agent() {
    let served = Deployment::kitchen().serve();
    let text = run(&served, "discover", &[DOMAIN]).fine();
    for agent in ["Demo kitchen", "@chef@demo.localhost", "@echo@demo.localhost", "@gate@demo.localhost"] {
        assert!(text.contains(agent), "no {agent} in {text}");
    }
    let json = run(&served, "discover", &[DOMAIN, "--json"]).json();
    assert_eq!(json["domain"], DOMAIN);
    assert_eq!(json["directory"]["contactPoint"].as_array().unwrap().len(), 3);
    let text = run(&served, "discover", &["@chef@demo.localhost"]).fine();
    for said in ["@chef@demo.localhost", "Chef", "Find recipes", &served.https_url("/~chef")] {
        assert!(text.contains(said), "no {said} in {text}");
    }
    let json = run(&served, "discover", &["chef@demo.localhost", "--json"]).json();
    assert_eq!(json["card"], card(&served, "chef"));
}

#[test]
fn ask_prints_the_answer_and_how_to_go_on() {
    let served = Deployment::kitchen().serve();
    let asked = run(&served, "ask", &["@chef@demo.localhost", "chickpea", "soup"]);
    assert!(asked.stderr.contains("--session "), "{asked:?}");
    let session = format!("--session {}", asked.stderr.split("--session ").nth(1).unwrap().trim());
    let session: Vec<&str> = session.split(' ').collect();
    let first = asked.fine();
    assert!(first.contains("Chickpea"), "{first}");
    let question = ["@chef@demo.localhost", "only under 40 minutes"];
    let narrowed = run(&served, "ask", &[&session[..], &question].concat()).fine();
    assert!(narrowed.contains("40 min") && narrowed.contains("Chickpea"), "{narrowed}");
}

#[test]
fn ask_takes_ports_urls_files_and_json() {
    let served = Deployment::gatehouse().serve();
    let with_port = format!("@echo@demo.localhost:{}", served.https);
    assert_eq!(run(&served, "ask", &[&with_port, "hello"]).fine().trim(), "hello");
    assert_eq!(run(&served, "ask", &[&served.https_url("/~echo"), "hello"]).fine().trim(), "hello");
    assert_eq!(run(&served, "ask", &[&served.url("/~echo"), "hello"]).fine().trim(), "hello");
    served.deployment.write("chart.png", "as good as a picture");
    let json = run(&served, "ask", &["@echo@demo.localhost", "hello", "--attach", "chart.png", "--json"]).json();
    assert_eq!((&json["agent"], &json["parts"][0]["text"]), (&"@echo@demo.localhost".into(), &"hello".into()));
    assert_eq!((&json["parts"][1]["mime"], &json["parts"][1]["name"]), (&"image/png".into(), &"chart.png".into()));
}

#[test]
fn ask_finds_a_deployment_that_is_served_without_being_told_where() {
    let served = Deployment::gatehouse().serve();
    assert_eq!(served.deployment.run("ask", ["@echo@demo.localhost", "hello"]).fine().trim(), "hello");
}

#[test]
fn ask_takes_tokens_that_begin_with_a_hyphen() {
    let served = Deployment::gatehouse().serve();
    let session = ["@echo@demo.localhost", "hello", "--session", "-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"];
    assert_eq!(run(&served, "ask", &session).fine().trim(), "hello");
}

#[test]
fn ask_explains_refusals_and_failures() {
    let served = Deployment::gatehouse().serve();
    let refused = run(&served, "ask", &["@gate@demo.localhost", "pay"]);
    assert!(refused.stdout.contains("One moment."), "{refused:?}");
    let text = refused.failed(1);
    for said in ["Payment required", "Two coins.", "Pay two coins: ", &served.https_url("/~gate?user=paid")] {
        assert!(text.contains(said), "no {said} in {text}");
    }
    let failed = run(&served, "ask", &["@gate@demo.localhost", "fail"]);
    assert!(failed.stdout.contains("I will try."), "{failed:?}");
    let text = failed.failed(3);
    assert!(text.contains("error: "), "{text}");
    let text = run(&served, "ask", &["@gate@demo.localhost", "fail", "--json"]).failed(3);
    assert!(text.contains("Gate was asked to fail, and did."), "{text}");
}

#[test]
fn ask_says_what_to_do_when_nobody_is_there() {
    let served = Deployment::kitchen().serve();
    let text = run(&served, "ask", &["@nobody@demo.localhost", "hello"]).failed(1);
    assert!(text.contains("@nobody@demo.localhost") && text.contains("hint: ") && text.contains("@chef@"), "{text}");
    let deployment = served.killed();
    let text = deployment.run("ask", ["@echo@demo.localhost", "hello"]).failed(3);
    assert!(text.contains("error: ") && text.contains("hint: ") && text.contains("forecourt serve"), "{text}");
    let text = Deployment::empty().run("ask", ["@echo@demo.localhost", "hello"]).failed(3);
    assert!(text.contains("hint: ") && text.contains("forecourt serve"), "{text}");
    let text = Deployment::empty().run("ask", ["echo", "hello"]).failed(2);
    assert!(text.contains("hint: ") && text.contains("@chef@demo.localhost"), "{text}");
}

#[test]
fn a_rotated_key_is_published_without_a_restart() {
    let served = Deployment::gatehouse().serve();
    let before = card(&served, "echo")["mentionable"].clone();
    let old = before["signing_key"]["kid"].clone();
    assert!(old.is_string(), "{before}");
    served.deployment.run("keys", ["--rotate"]).fine();
    let after = within("the new key is published", || {
        let now = card(&served, "echo")["mentionable"].clone();
        (now["signing_key"]["kid"] != old).then_some(now)
    });
    let previous = after["previous_signing_keys"].as_array().unwrap();
    assert!(previous.iter().any(|key| key["kid"] == old), "{after}");
    let published = served.curl_tls("/.well-known/jwks.json", &[]).with_status(200).json();
    assert_eq!(published["keys"].as_array().unwrap().len(), 2, "{published}");
    let listed = served.deployment.run("keys", ["--json"]).json();
    assert_eq!(listed, published);
}
