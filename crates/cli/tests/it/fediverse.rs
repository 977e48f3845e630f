//! The Fediverse through the whole program: a server made with fedify, whose person writes notes to agents and gets
//! notes back. `tests/sdk/fediverse.mjs` is that server; `dev/sdk/setup` brings the library and its Node.

use std::net::TcpListener;
use std::process::Command;

use serde_json::{Value, json};

use crate::conformance::node;
use crate::email::{CLUB, PARROT, PARROT_PROGRAM};
use crate::scripts::{RunningScript, library, script_path};
use crate::support::{Deployment, FREE_PORTS, Served, within};
use crate::wire::curl;

/// Whom public things are addressed to.
const PUBLIC: &str = "https://www.w3.org/ns/activitystreams#Public";

/// Asks back once.
const WAITER: &str = r#"
handle = "waiter"
name = "Waiter"

[backend]
kind = "script"

[[backend.rule]]
text = "table"
events = [{ question = { text = "For how many?", questions = [] } }]

[[backend.rule]]
text = "four"
events = [{ text = "A table for four is yours." }]
"#;

/// A server of somebody else's, with one actor.
struct Elsewhere {
    script: RunningScript,
    actor: String,
}

impl Elsewhere {
    /// Starts it; `None` where the library is not there.
    fn start(ca: &str, variables: &[(&str, &str)]) -> Option<Self> {
        let folder = library("fedify-js")?;
        let mut command = Command::new(node(&folder.join("node_modules"))?);
        command.arg(script_path("fediverse.mjs")).env("FORECOURT_SDK", &folder).env("NODE_EXTRA_CA_CERTS", ca);
        command.envs(variables.iter().copied());
        for stranger in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            command.env_remove(stranger).env_remove(stranger.to_lowercase());
        }
        let (script, place) = RunningScript::start(&mut command);
        let place: Value = serde_json::from_str(&place).unwrap();
        Some(Self { script, actor: place["actor"].as_str().unwrap().to_owned() })
    }

    #[track_caller]
    fn tell(&mut self, words: &Value) -> Value {
        serde_json::from_str(&self.script.tell(&words.to_string())).unwrap()
    }

    /// Writes to an agent; gives the name of the note.
    #[track_caller]
    fn write(&mut self, to: &str, text: &str, more: &Value) -> String {
        let mut words = json!({"do": "note", "to": to, "text": text});
        words.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let sent = self.tell(&words);
        sent["sent"].as_str().unwrap_or_else(|| panic!("{sent}")).to_owned()
    }

    /// The note in the activity of this number that was received.
    #[track_caller]
    fn received(&mut self, count: usize) -> Value {
        let activity = self.tell(&json!({"do": "received", "count": count}));
        assert_eq!(activity["type"], "Create", "{activity}");
        activity["object"].clone()
    }
}

fn words(note: &Value) -> &str {
    note["content"].as_str().unwrap()
}

fn named(note: &Value) -> &str {
    note["id"].as_str().unwrap()
}

/// Agents that are actors, on a deployment that may speak with this machine.
fn federated(deployment: Deployment) -> Deployment {
    deployment.open_to_loopback().with("activitypub", "enabled = true")
}

fn of_parrot() -> Deployment {
    let deployment = Deployment::empty().and("agents/parrot.toml", PARROT).and("parrot.py", PARROT_PROGRAM);
    let deployment = deployment.and("agents/club.toml", CLUB).and("agents/waiter.toml", WAITER);
    let text = "domain = \"demo.localhost\"\nname = \"Demo\"\ndefault_agent = \"parrot\"\n";
    federated(deployment.and("forecourt.toml", text))
}

fn actor(served: &Served, agent: &str) -> String {
    served.https_url(&format!("/activitypub/users/{agent}"))
}

#[test]
fn a_recipe_is_asked_for_and_the_answer_comes_into_the_thread() {
    let served = federated(Deployment::kitchen()).serve();
    let Some(mut there) = Elsewhere::start(&served.ca(), &[]) else { return };
    let chef = actor(&served, "chef");
    let seen = there.tell(&json!({"do": "look", "at": chef}));
    assert_eq!((&seen["id"], &seen["username"]), (&json!(chef), &json!("chef")), "{seen}");
    let asked = there.write(&chef, "a soup with chickpeas", &json!({"open": true}));
    let note = there.received(1);
    assert!(words(&note).to_lowercase().contains("chickpea"), "{note}");
    assert_eq!((&note["inReplyTo"], &note["attributedTo"]), (&json!(asked), &json!(chef)));
    assert_eq!((&note["to"], &note["cc"]), (&json!([there.actor]), &json!([PUBLIC])), "unlisted");
    assert!(!words(&note).contains("<table") && !words(&note).contains("<h1"), "{note}");
    // The server can read it where it is, and so can a person.
    let read = there.tell(&json!({"do": "read", "url": named(&note), "unsigned": true}));
    assert_eq!(read["content"], note["content"], "{read}");
    let path = named(&note).strip_prefix(&served.https_url("")).unwrap();
    let page = served.curl_tls(path, &["-H", "Accept: text/html"]);
    assert!(page.text().contains("<!doctype html") || page.text().contains("<!DOCTYPE html"), "{page:?}");
    let jrd = served.curl_tls("/.well-known/webfinger?resource=acct:chef@demo.localhost", &[]).json();
    assert_eq!(jrd["links"][0], json!({"rel": "self", "type": "application/activity+json", "href": chef}));
    let card = served.curl_tls("/.well-known/agent-card/chef", &[]).json();
    assert_eq!(card["activitypub"]["actor"], json!(chef), "{card}");
}

#[test]
fn a_direct_note_is_answered_directly_a_reply_goes_on_and_nobody_else_reads_it() {
    let served = of_parrot().serve();
    // This one begins with the draft that most servers speak.
    let knock = ("KNOCK", "draft-cavage-http-signatures-12");
    let Some(mut there) = Elsewhere::start(&served.ca(), &[knock]) else { return };
    let parrot = actor(&served, "parrot");
    there.write(&parrot, "hello", &json!({}));
    let first = there.received(1);
    assert!(words(&first).contains("You said: hello (0 before, @ann@127.0.0.1:"), "{first}");
    assert!(words(&first).contains("activitypub-signature, server)"), "{first}");
    assert_eq!((&first["to"], &first["cc"]), (&json!([there.actor]), &json!([])));
    there.write(&parrot, "and now", &json!({"reply": named(&first)}));
    assert!(
        words(&there.received(2)).contains("You said: and now (1 before")
            || words(&there.received(2)).contains("(2 before")
    );
    // A note of its own begins a conversation.
    there.write(&parrot, "again", &json!({}));
    assert!(words(&there.received(3)).contains("(0 before"));
    let unsigned = there.tell(&json!({"do": "read", "url": named(&first), "unsigned": true}));
    assert!(unsigned["error"].is_string(), "{unsigned}");
    let signed = there.tell(&json!({"do": "read", "url": named(&first)}));
    assert_eq!(signed["content"], first["content"], "{signed}");
}

#[test]
fn a_question_back_is_a_note_that_asks_and_its_answer_goes_on() {
    let served = of_parrot().serve();
    // This server reads RFC 9421 alone.
    let Some(mut there) = Elsewhere::start(&served.ca(), &[("REFUSES", "draft")]) else { return };
    let waiter = actor(&served, "waiter");
    there.write(&waiter, "a table please", &json!({"open": true}));
    let question = there.received(1);
    assert!(words(&question).contains("For how many?"), "{question}");
    there.write(&waiter, "four", &json!({"reply": named(&question), "open": true}));
    assert!(words(&there.received(2)).contains("A table for four is yours."));
}

#[test]
fn policy5_3_the_answer_follows_in_the_thread_once_the_page_is_done() {
    let served = of_parrot().serve();
    let Some(mut there) = Elsewhere::start(&served.ca(), &[]) else { return };
    let asked = there.write(&actor(&served, "club"), "let me in", &json!({"open": true}));
    let refusal = there.received(1);
    assert!(words(&refusal).contains("Please agree."), "{refusal}");
    // Its link is for whoever asked alone, though the question was public.
    assert_eq!(refusal["cc"], json!([]), "{refusal}");
    assert_eq!(refusal["mentionable:policy"]["part"]["kind"], "consent_required", "{refusal}");
    let url = refusal["mentionable:policy"]["part"]["url"].as_str().unwrap();
    assert!(words(&refusal).contains(&url.replace('&', "&amp;")), "{refusal}");
    agree(&served, url);
    let answer = there.received(2);
    assert!(words(&answer).contains("let me in"), "{answer}");
    assert_eq!((&answer["inReplyTo"], &answer["cc"]), (&json!(asked), &json!([PUBLIC])));
    // What comes next is the answer to another question: this one is answered once.
    let more = there.write(&actor(&served, "club"), "and me", &json!({}));
    assert_eq!(there.received(3)["inReplyTo"], json!(more));
}

/// What a person does at the address of a consent.
fn agree(served: &Served, url: &str) {
    let ca = served.ca();
    let page = curl(url, &["--cacert", &ca, "-H", "Accept: text/html"]).text();
    let (_, token) = page.split_once("name=\"token\" value=\"").unwrap_or_else(|| panic!("{page}"));
    let form = format!("token={}&decision=accept", token.split('"').next().unwrap());
    let decided = curl(url, &["--cacert", &ca, "-H", "Accept: text/html", "-d", &form]);
    assert_eq!(decided.status, 303, "{decided:?}");
}

#[test]
fn a_follow_is_accepted_and_a_block_ends_what_is_sent() {
    let served = of_parrot().serve();
    let Some(mut there) = Elsewhere::start(&served.ca(), &[]) else { return };
    let parrot = actor(&served, "parrot");
    there.tell(&json!({"do": "follow", "to": parrot}));
    let accept = there.tell(&json!({"do": "received", "count": 1}));
    assert_eq!((&accept["type"], &accept["actor"]), (&json!("Accept"), &json!(parrot)), "{accept}");
    let followers = || served.curl_tls("/activitypub/users/parrot/followers", &[]).json()["totalItems"].clone();
    assert_eq!(followers(), 1);
    there.tell(&json!({"do": "undo", "to": parrot}));
    within("nobody follows", || (followers() == 0).then_some(()));
}

#[test]
fn a_daemon_that_is_killed_between_taking_a_note_and_answering_it_answers_once() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let https = format!("127.0.0.1:{port}");
    let ports = FREE_PORTS.map(|word| word);
    let mut ports: Vec<&str> = ports.to_vec();
    ports[3] = &https;
    let deployment = federated(Deployment::gatehouse());
    deployment.edit("agents/gate.toml", "handle = \"gate\"\n", "handle = \"gate\"\non_lost = \"restart\"\n");
    let served = deployment.serve_on(&ports);
    let Some(mut there) = Elsewhere::start(&served.ca(), &[]) else { return };
    let gate = actor(&served, "gate");
    there.write(&gate, "slow", &json!({"id": "kept"}));
    let served = served.killed().serve_on(&ports);
    let answer = there.received(1);
    assert!(words(&answer).contains("This takes a while"), "{answer}");
    // Its server tells it again, as servers do that did not hear the answer.
    there.write(&gate, "slow", &json!({"id": "kept"}));
    // And a note that is new is answered behind everything else.
    there.write(&gate, "hello", &json!({}));
    let next = there.received(2);
    assert!(!words(&next).contains("This takes a while"), "{next}");
    assert_eq!(there.tell(&json!({"do": "count"})), 2);
    drop(served);
}

#[test]
fn an_answer_waits_for_a_server_that_is_away() {
    let served = of_parrot().serve();
    let Some(mut there) = Elsewhere::start(&served.ca(), &[]) else { return };
    let parrot = actor(&served, "parrot");
    there.write(&parrot, "one", &json!({}));
    there.received(1);
    there.tell(&json!({"do": "away", "is": true}));
    there.write(&parrot, "two", &json!({}));
    let failed = || {
        served.operator("/metrics").text().lines().any(|line| {
            line.starts_with("forecourt_deliveries_total{") && line.contains("activitypub") && line.contains("failed")
        })
    };
    within("a delivery has failed", || failed().then_some(()));
    there.tell(&json!({"do": "away", "is": false}));
    assert!(words(&there.received(2)).contains("You said: two"));
}

#[test]
fn two_bots_that_answer_each_other_stop() {
    let served = of_parrot().with("activitypub", "answers_to_bots = 3").serve();
    let Some(mut there) = Elsewhere::start(&served.ca(), &[("KIND", "Service")]) else { return };
    there.tell(&json!({"do": "chat"}));
    there.write(&actor(&served, "parrot"), "hello", &json!({}));
    assert!(words(&there.received(3)).contains("and you?"));
    // Nothing comes of its fourth note: what comes next is the answer in another thread.
    let more = there.write(&actor(&served, "parrot"), "else", &json!({}));
    assert_eq!(there.received(4)["inReplyTo"], json!(more));
}

#[test]
fn an_operator_is_shown_where_agents_are_found_and_hears_that_nobody_finds_them() {
    let deployment = of_parrot();
    let folder = deployment.path().to_str().unwrap().to_owned();
    let steps = deployment.run("connect", ["fediverse", &folder]).fine();
    for piece in ["@parrot@", "/activitypub/users/parrot", "/.well-known/webfinger?resource=acct:", "is this machine"] {
        assert!(steps.contains(piece), "{piece}: {steps}");
    }
    let none = Deployment::gatehouse();
    let steps = none.run("connect", ["fediverse", none.path().to_str().unwrap()]).fine();
    assert!(steps.contains("[activitypub]\nenabled = true"), "{steps}");
    // A name that nobody can look up.
    let away = Deployment::of_backend("kind = \"echo\"").with("activitypub", "enabled = true");
    away.edit("forecourt.toml", "demo.localhost", "agents.invalid");
    let said = format!("{:?}", away.run("check", [away.path().to_str().unwrap(), "--connect"]));
    for piece in ["fediverse: @", "https://agents.invalid:8443/.well-known/webfinger", "are not found by others"] {
        assert!(said.contains(piece), "{piece}: {said}");
    }
}
