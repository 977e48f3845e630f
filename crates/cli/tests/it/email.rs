//! E-mail through the whole program: mail by a real client of LMTP, answers to a real server of SMTP, signatures by
//! another implementation, keys from a real DNS server. `tests/sdk/mail.py` has the scenarios.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::Value;

use crate::scripts::{client_script, library};
use crate::support::{Deployment, FREE_PORTS, Served, within};

/// Says what it hears, from whom, and how much was said before.
pub(crate) const PARROT: &str = r#"
handle = "parrot"
name = "Parrot"

[backend]
kind = "command"
command = ["python3", "parrot.py"]
mode = "worker"
"#;

pub(crate) const PARROT_PROGRAM: &str = r#"
import json, sys

for line in sys.stdin:
    message = json.loads(line)
    def say(**event): print(json.dumps({"turn": message["turn"], **event}), flush=True)
    words = " ".join(part["content"] for part in message["parts"] if part["kind"] == "text")
    sender = message["sender"]
    assurance = sender["identities"][0]["assurance"] if sender.get("identities") else "none"
    before = len(message.get("history", []))
    say(text=f"You said: {words} ({before} before, {sender['address']}, {sender['auth_method']}, {assurance})")
    for part in message["parts"]:
        if part["kind"] == "file":
            say(text=f"\n\nfile {part['mime']} {part.get('name')} {part.get('size_bytes')}")
    say(end=True)
"#;

const VIP: &str = r#"
handle = "vip"
name = "Vip"

[backend]
kind = "echo"

[[policy.rules]]
kind = "deny"
subjects = ["mailto:ann@sender.example"]
message = "This is not for everybody."
"#;

/// Answers who agreed.
pub(crate) const CLUB: &str = r#"
handle = "club"
name = "Club"

[backend]
kind = "echo"

[[policy.rules]]
kind = "require_consent"
text = "I will not tell anybody."
message = "Please agree."
translations = { de = { message = "Bitte stimmen Sie zu." } }
"#;

/// The other end of everything: DNS, SMTP, and who writes.
struct World {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    dns: u64,
    smtp: u64,
}

impl World {
    fn start(deployment: &Deployment, scenario: &str, kind: &str) -> Option<Self> {
        let mut command = client_script("mail.py", Some(&library("mail-python")?));
        command.arg(deployment.path()).arg(scenario).env("DKIM", kind);
        command.env("SSL_CERT_FILE", deployment.data().join("ca.pem"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut world = Self { child, to, from, dns: 0, smtp: 0 };
        let ports: Value = serde_json::from_str(&world.line()).unwrap();
        (world.dns, world.smtp) = (ports["dns"].as_u64().unwrap(), ports["smtp"].as_u64().unwrap());
        Some(world)
    }

    /// What it says next; its complaints when it says no more.
    #[track_caller]
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        if line.is_empty() {
            let mut complaints = String::new();
            self.child.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
            panic!("{complaints}");
        }
        line.trim().to_owned()
    }

    fn tell(&mut self, line: &str) {
        writeln!(self.to, "{line}").unwrap();
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn deployment() -> Deployment {
    Deployment::empty()
        .and("agents/parrot.toml", PARROT)
        .and("parrot.py", PARROT_PROGRAM)
        .and("agents/vip.toml", VIP)
        .and("agents/club.toml", CLUB)
}

fn configured(deployment: Deployment, world: &World, more: &str, smtp: &str) -> Deployment {
    let (dns, port) = (world.dns, world.smtp);
    let text = format!(
        "domain = \"demo.localhost\"\nname = \"Demo\"\ndefault_agent = \"parrot\"\n\n[email]\nlisten = \"127.0.0.1:0\"\n\
         resolver = \"127.0.0.1:{dns}\"\n{more}\n[email.smtp]\nhost = \"127.0.0.1\"\nport = {port}\n{smtp}\n\
         [email.dkim]\nselector = \"agents\"\nkey_file = \"dkim.pem\"\n"
    );
    deployment.and("forecourt.toml", &text)
}

fn lmtp_port(served: &Served) -> String {
    within("the sockets are written down", || {
        let text = std::fs::read_to_string(served.deployment.data().join("serving.json")).ok()?;
        serde_json::from_str::<Value>(&text).ok()?["sockets"]["email"].as_u64().map(|port| port.to_string())
    })
}

/// Plays a scenario with a deployment, unless what it needs is not there.
#[track_caller]
fn plays(scenario: &str, kind: &str) {
    let deployment = deployment();
    let Some(mut world) = World::start(&deployment, scenario, kind) else { return };
    let served = configured(deployment, &world, "", "tls = \"none\"").serve();
    world.tell(&lmtp_port(&served));
    assert_eq!(world.line(), "done");
}

#[test]
fn policy4_4_questions_are_answered_into_their_thread_by_signed_mail() {
    plays("answers", "ed25519");
}

#[test]
fn policy4_4_rsa_keys_sign_too() {
    plays("loops", "rsa");
}

#[test]
fn policy4_4_whoever_did_not_sign_is_refused_and_never_written_to() {
    plays("forged", "ed25519");
}

#[test]
fn rfc3834_2_programs_that_write_are_not_answered() {
    plays("loops", "ed25519");
}

#[test]
fn rfc2033_messages_over_a_bound_or_broken_are_refused_and_the_next_one_is_taken() {
    plays("bounds", "ed25519");
}

#[test]
fn two_hundred_messages_at_once_are_answered_once_each() {
    plays("many", "ed25519");
}

#[test]
fn an_answer_that_was_not_taken_outlives_the_daemon() {
    let deployment = deployment();
    let Some(mut world) = World::start(&deployment, "kept", "ed25519") else { return };
    let served = configured(deployment, &world, "", "tls = \"none\"").serve();
    world.tell(&lmtp_port(&served));
    assert_eq!(world.line(), "taken");
    let deployment = served.killed();
    world.tell("again");
    let _served = deployment.serve_on(&FREE_PORTS);
    assert_eq!(world.line(), "done");
}

#[test]
fn policy5_3_the_answer_follows_by_mail_once_the_page_is_done() {
    plays("consent", "rsa");
}

#[test]
fn rfc6409_answers_are_handed_over_within_tls_by_who_signed_in() {
    let deployment = deployment();
    let Some(mut world) = World::start(&deployment, "protected", "ed25519") else { return };
    let smtp = "user = \"robot\"\npassword = \"${SMTP_PASSWORD}\"";
    let deployment = configured(deployment, &world, "", smtp).with("egress", "ca_files = [\"smtp.crt\"]");
    let served = deployment.serve_with(&FREE_PORTS, &[("SMTP_PASSWORD", "secret")]);
    world.tell(&lmtp_port(&served));
    assert_eq!(world.line(), "done");
    let (_, log, _) = {
        served.signal(nix::sys::signal::Signal::SIGTERM);
        served.ended()
    };
    assert!(!log.contains("secret") && !log.contains("ann@sender.example"), "{log}");
}

#[test]
fn webfinger2_3_the_mailbox_is_the_last_link_and_cards_name_the_protocol() {
    let deployment = deployment();
    let Some(world) = World::start(&deployment, "loops", "ed25519") else { return };
    let served = configured(deployment, &world, "", "tls = \"none\"").serve();
    let links = served.curl_tls("/.well-known/webfinger?resource=acct:parrot@demo.localhost", &[]).json();
    let links = links["links"].as_array().unwrap().clone();
    assert_eq!(links.last().unwrap(), &serde_json::json!({"rel": "mailto", "href": "mailto:parrot@demo.localhost"}));
    assert_eq!(links.len(), 3, "{links:?}");
    let card = served.curl_tls("/.well-known/agent-card/parrot", &[]).json();
    assert!(card["mentionable"]["supported_inbound"].as_array().unwrap().contains(&"email".into()), "{card}");
}
