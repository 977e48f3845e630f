//! Model agents in production: budgets that outlive a restart, guardrails on the wire, and agents of two domains that
//! ask each other, each behind a daemon of its own.

use serde_json::{Value, json};

use crate::admin::{TOKEN, api, url};
use crate::receiver::Receiver;
use crate::support::{Deployment, FREE_PORTS, Served, within};
use crate::wire::{Answer, curl};

/// An answer of a model in one piece.
fn says(message: &Value) -> Value {
    json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 300, "completion_tokens": 20}})
}

fn words(text: &str) -> Value {
    says(&json!({"content": text}))
}

/// An answer that asks an agent.
fn asks(agent: &str, message: &str) -> Value {
    let arguments = json!({"agent": agent, "message": message}).to_string();
    let call = json!({"id": "c1", "type": "function", "function": {"name": "ask_agent", "arguments": arguments}});
    says(&json!({"content": null, "tool_calls": [call]}))
}

fn model(provider: &Receiver, more: &str) -> String {
    format!("kind = \"model\"\nbase_url = \"{}\"\nmodel = \"tiny\"\nstream = false\n{more}", provider.webhook_url())
}

fn answer(served: &Served) -> Answer {
    served.curl("/~agent?user=hi", &["-H", "Accept: application/json"])
}

#[test]
fn a_budget_outlives_a_restart_and_its_refusal_says_when_it_renews() {
    let provider = Receiver::answering(vec![words("Fine.")]);
    let deployment = Deployment::of_backend(&model(&provider, "max_tokens = 100\n"));
    let deployment = deployment.with("admin", &format!("token = \"{TOKEN}\""));
    let agent = deployment.read("agents/agent.toml");
    deployment.write("agents/agent.toml", &format!("{agent}\n[budget]\ntokens_per_month = 400\n"));
    let served = deployment.serve();
    assert!(answer(&served).with_status(200).text().contains("Fine."));
    let served = served.killed().serve();
    let refused = answer(&served).with_status(429);
    assert!(refused.field("retry-after").is_some(), "{refused:?}");
    let part = refused.json()["policy"].clone();
    assert!(part["message"].as_str().unwrap().contains("tokens_per_month"), "{part}");
    assert!(part["data"]["forecourt.budget"]["renews_at"].is_string(), "{part}");
    // The operator sees it where refusals of the host are seen.
    let limits = api(&served, "/limits", &[]).with_status(200).json();
    assert_eq!(limits["limits"][0]["limit"], "budget.tokens_per_month", "{limits}");
    assert!(limits["limits"][0]["caller"].is_null(), "it is the bound of all callers: {limits}");
    within("the refusal in the audit", || {
        let refusals = api(&served, "/refusals?agent=agent&outcome=refused", &[]).with_status(200).json();
        let first = &refusals["records"][0];
        (first["rule"] == "budget.tokens_per_month" && first["kind"] == "too_many_requests").then_some(())
    });
    let metrics = curl(&url(&served, "/metrics"), &["-H", &format!("Authorization: Bearer {TOKEN}")]).text();
    assert!(metrics.contains("forecourt_agent_limit_hits_total{limit=\"budget.tokens_per_month\"} 1"), "{metrics}");
}

#[test]
fn guardrails_hold_on_every_wire() {
    let rule = "[[policy.rules]]\nkind = \"guardrail\"\npatterns = [\"(?i)secret\"]\n";
    let deployment = Deployment::of_backend("kind = \"echo\"\n");
    let agent = deployment.read("agents/agent.toml");
    deployment.write("agents/agent.toml", &format!("{agent}{rule}"));
    let served = deployment.serve();
    let asked =
        |text: &str, accept: &str| served.curl(&format!("/~agent?user={text}"), &["-H", &format!("Accept: {accept}")]);
    assert!(asked("hello", "application/json").with_status(200).text().contains("hello"));
    assert_eq!(asked("a%20SECRET", "application/json").with_status(403).json()["policy"]["kind"], "forbidden");
    let stream = asked("a%20SECRET", "text/event-stream").with_status(200).text();
    assert!(stream.contains("forbidden") && !stream.contains("SECRET"), "{stream}");
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": {
        "kind": "message", "messageId": "m1", "role": "user", "parts": [{"kind": "text", "text": "a SECRET"}]}}});
    let sent = served.curl("/a2a/agent", &["-H", "Content-Type: application/json", "-d", &body.to_string()]).text();
    assert!(sent.contains("does not answer messages of this kind"), "{sent}");
    let body = json!({"query": {"text": "a SECRET"}}).to_string();
    let sent = served.curl("/~agent/ask", &["-H", "Content-Type: application/json", "-d", &body]).text();
    assert!(
        !sent.contains("\"SECRET") && sent.to_lowercase().contains("does not answer messages of this kind"),
        "{sent}"
    );
    let metrics = served.operator("/metrics").text();
    assert!(metrics.contains("guardrails_total{agent=\"agent\",side=\"message\",outcome=\"denied\"} 4"), "{metrics}");
    let (_, log, _) = {
        served.signal(nix::sys::signal::Signal::SIGTERM);
        served.ended()
    };
    assert!(!log.contains("SECRET"), "{log}");
}

#[test]
fn a_second_model_judges_what_is_said() {
    let judge = Receiver::answering(vec![words("No."), words("<think>hm</think>\n\nYes, it does."), words("perhaps")]);
    let rule = format!(
        "[[policy.rules]]\nkind = \"guardrail\"\ncheck = \"message\"\n[policy.rules.model]\nbase_url = \"{}\"\n\
         model = \"small\"\nquestion = \"Is it about gold?\"\n",
        judge.webhook_url()
    );
    let deployment = Deployment::of_backend("kind = \"echo\"\n");
    let agent = deployment.read("agents/agent.toml");
    deployment.write("agents/agent.toml", &format!("{agent}{rule}"));
    let served = deployment.serve();
    assert_eq!(answer(&served).status, 200);
    assert_eq!(answer(&served).status, 403);
    assert_eq!(answer(&served).status, 503, "neither yes nor no");
    let asked = judge.post().json()["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(asked.starts_with("Is it about gold?") && asked.contains("\nhi\n"), "{asked}");
}

/// The domain of the other daemon.
const OTHER: &str = "kitchen.localhost";
const EGRESS: &str = "[egress]\nallow = [\"127.0.0.0/8\", \"::1/128\"]\nca_files = [\".forecourt/ca.pem\"]\n";

/// A deployment that trusts the authority of `of`, which is its own too.
fn trusting(deployment: Deployment, of: Option<&Deployment>) -> Deployment {
    match of {
        None => {
            // Serving it once makes the authority.
            let made = deployment.serve().killed();
            made.write("forecourt.toml", &format!("{}\n{EGRESS}", made.read("forecourt.toml")));
            made
        }
        Some(of) => {
            for name in ["ca.pem", "ca.key"] {
                let file = format!(".forecourt/{name}");
                deployment.write(&file, &of.read(&file));
            }
            deployment.write("forecourt.toml", &format!("{}\n{EGRESS}", deployment.read("forecourt.toml")));
            deployment
        }
    }
}

/// The other daemon: an @chef that repeats what it hears, behind `rule`.
fn kitchen(of: &Deployment, rule: &str) -> Served {
    let agent = format!("handle = \"chef\"\nname = \"Chef\"\n[backend]\nkind = \"echo\"\n{rule}");
    let deployment =
        Deployment::empty().and("forecourt.toml", &format!("domain = \"{OTHER}\"\n")).and("agents/chef.toml", &agent);
    trusting(deployment, Some(of)).serve()
}

fn front() -> Deployment {
    trusting(Deployment::of_backend("kind = \"echo\"\n"), None)
}

/// Our daemon, whose model asks those of the other one.
fn asking(front: &Deployment, other: &Served, provider: &Receiver) -> Served {
    let ask = format!("retries = 0\n[backend.ask]\ndomains = [\"{OTHER}:{}\"]\nseconds = 20\n", other.https);
    let deployment = Deployment::of_backend(&model(provider, &ask));
    trusting(deployment, Some(front)).serve_on(&FREE_PORTS)
}

/// What the model was told last.
fn told(provider: &Receiver) -> String {
    let asked = provider.post().json();
    asked["messages"].as_array().unwrap().iter().rev().find_map(|m| m["content"].as_str()).unwrap().to_owned()
}

#[test]
fn an_agent_asks_one_of_another_domain_and_proves_who_it_is() {
    let front = front();
    let provider = Receiver::answering(vec![asks("@chef@kitchen.localhost", "Any eggs?"), words("They have eggs.")]);
    let rule = "[[policy.rules]]\nkind = \"require_identity\"\nassurance = [\"agent\"]\nmessage = \"Agents only.\"\n";
    let kitchen = kitchen(&front, rule);
    let served = asking(&front, &kitchen, &provider);
    assert!(answer(&served).with_status(200).text().contains("They have eggs."));
    provider.post();
    let heard = told(&provider);
    assert!(heard.contains("as data") && heard.contains("Any eggs?"), "{heard}");
}

#[test]
fn a_consent_of_the_other_side_reaches_the_person_and_then_the_answer_comes() {
    let front = front();
    let ask = || asks("@chef@kitchen.localhost", "Any eggs?");
    let provider = Receiver::answering(vec![ask(), ask(), words("They have eggs.")]);
    let rule = "[[policy.rules]]\nkind = \"require_consent\"\nmessage = \"May we keep it?\"\ntext = \"We keep it.\"\nlifetime = \"1d\"\n";
    let kitchen = kitchen(&front, rule);
    let served = asking(&front, &kitchen, &provider);
    let refused = answer(&served);
    let (session, part) = (refused.field("x-mentionable-session"), refused.json()["policy"].clone());
    assert_eq!(part["kind"], "consent_required", "{part}");
    let link = part["data"]["mentionable.relayed"]["url"].as_str().expect("the page of the other side").to_owned();
    assert!(link.starts_with(&format!("https://{OTHER}:{}/consent/", kitchen.https)), "{part}");
    assert!(part["message"].as_str().unwrap().contains(&link), "a person can follow it: {part}");
    let ca = kitchen.ca();
    let page = curl(&link, &["--cacert", &ca, "-H", "Accept: text/html"]).with_status(200).text();
    let token = page.split("name=\"token\" value=\"").nth(1).expect("a form").split('"').next().unwrap();
    let (token, origin) = (format!("token={token}"), format!("Origin: https://{OTHER}:{}", kitchen.https));
    let form = ["--cacert", &ca, "-H", &origin, "--data-urlencode", &token, "-d", "decision=accept"];
    let agreed = curl(&link, &form);
    assert!(agreed.status < 400, "{agreed:?}");
    let form = match &session {
        Some(session) => format!("/~agent?user=again&session={session}"),
        None => "/~agent?user=again".to_owned(),
    };
    let done = served.curl(&form, &["-H", "Accept: application/json"]).with_status(200).text();
    assert!(done.contains("They have eggs."), "{done}");
}

#[test]
fn limits_of_the_other_side_are_passed_on_and_what_is_away_is_told_to_the_model() {
    let front = front();
    let ask = || asks("@chef@kitchen.localhost", "Any eggs?");
    let provider = Receiver::answering(vec![ask(), words("Once."), ask(), ask(), words("Nobody is there.")]);
    let rule = "[[policy.rules]]\nkind = \"limit\"\nby = \"agent\"\nrequests = 1\nper = \"1h\"\n";
    let kitchen = kitchen(&front, rule);
    let served = asking(&front, &kitchen, &provider);
    assert!(answer(&served).with_status(200).text().contains("Once."));
    let refused = answer(&served).with_status(429);
    assert!(refused.field("retry-after").is_some(), "{refused:?}");
    let message = refused.json()["policy"]["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("@chef@kitchen.localhost says: "), "{message}");
    drop(kitchen);
    assert!(answer(&served).with_status(200).text().contains("Nobody is there."));
}

#[test]
fn agents_that_ask_each_other_in_a_circle_come_to_an_end() {
    let front = front();
    // Of eight in line, ours are the first, the third and so on; the last may ask nobody.
    let asking_and_saying = |whom: &str, asked: usize| {
        let all = std::iter::repeat_n(asks(whom, "And you?"), asked).chain(std::iter::repeat_n(words("Enough."), 4));
        Receiver::answering(all.collect())
    };
    let ours = asking_and_saying("@chef@kitchen.localhost", 4);
    let theirs = asking_and_saying("@agent@demo.localhost", 3);
    // The ports of both are known once both were served; the first settings of the kitchen lead nowhere.
    let agent = |port: u16| {
        let ask = format!("retries = 0\n[backend.ask]\ndomains = [\"demo.localhost:{port}\"]\nseconds = 20\n");
        format!("handle = \"chef\"\nname = \"Chef\"\n[backend]\n{}", model(&theirs, &ask))
    };
    let kitchen = Deployment::empty()
        .and("forecourt.toml", &format!("domain = \"{OTHER}\"\n"))
        .and("agents/chef.toml", &agent(1));
    let kitchen = trusting(kitchen, Some(&front)).serve();
    let port = kitchen.https;
    let served = asking(&front, &kitchen, &ours);
    let deployment = kitchen.killed();
    deployment.write("agents/chef.toml", &agent(served.https));
    let address = format!("127.0.0.1:{port}");
    let words =
        ["--http", "127.0.0.1:0", "--https", address.as_str(), "--admin", "127.0.0.1:0", "--agtp", "127.0.0.1:0"];
    let _kitchen = deployment.serve_on(&words);
    assert!(answer(&served).with_status(200).text().contains("Enough."));
    let offered = |post: crate::receiver::Post| post.json().get("tools").is_some();
    let theirs: Vec<bool> = std::iter::from_fn(|| theirs.posted()).map(offered).collect();
    assert_eq!(theirs, [true, true, true, false, true, true, true], "the eighth in line is offered nobody to ask");
    assert_eq!(std::iter::from_fn(|| ours.posted()).count(), 8);
}
