//! `forecourt genesis`, and the identities of a deployment.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::support::Deployment;

/// The published example: AGTP base 6.2.
const ID: &str = "27f2653c2f2b4c0ed8c8e18c6b8385ad2796d343311736d089d1949f78b6ee42";
const PUBLIC: &str = "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg";
const CREATE: [&str; 17] = [
    "create",
    "--owner",
    "acme.tld",
    "--archetype",
    "executor",
    "--zone",
    "development",
    "--scope",
    "booking:room,rcns:negotiate",
    "--issued-at",
    "2026-01-15T09:00:00Z",
    "--key",
    "key.pem",
    "--tier",
    "2",
    "--verification-path",
    "org-asserted",
];

/// A folder with the key of the published example: the bytes 0 to 31, as PKCS #8.
fn place() -> Deployment {
    let head = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
    let der: Vec<u8> = head.into_iter().chain(0..32).collect();
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(der));
    Deployment::empty().and("key.pem", &pem)
}

#[test]
fn base_6_2_the_published_example_is_made_and_checked() {
    let place = place();
    let made = place.run("genesis", CREATE.into_iter().chain(["--out", "desk.genesis.json"])).fine();
    assert_eq!(made.trim(), ID);
    let document = place.run("genesis", CREATE).json();
    let signature = "ORngFF4iD1W88Gz1RZHHgGETqvgKztMrAgbU6lDkSFgVkwjKXQBK7OA7ZipmeWiE59o3M4ZFhpDCkV0ksOO9BQ";
    assert_eq!((&document["signature"], &document["issuer_public_key"]), (&signature.into(), &PUBLIC.into()));
    assert_eq!(place.run("genesis", ["hash", "desk.genesis.json"]).fine().trim(), ID);
    let verified = place.run("genesis", ["verify", "desk.genesis.json", "--agent-id", ID, "--issuer", PUBLIC]);
    assert_eq!(verified.fine().trim(), ID);
    let shown = place.run("genesis", ["show", "desk.genesis.json"]).fine();
    for said in [ID, "acme.tld", "executor", "booking:room, rcns:negotiate", "signature   good"] {
        assert!(shown.contains(said), "no {said} in {shown}");
    }
    assert_eq!(place.run("genesis", ["show", "desk.genesis.json", "--json"]).json()["agent_id"], ID);
}

#[test]
fn an_origin_is_never_written_over() {
    let place = place();
    let arguments = || CREATE.into_iter().chain(["--out", "desk.genesis.json"]);
    place.run("genesis", arguments()).fine();
    let text = place.run("genesis", arguments()).failed(1);
    assert!(text.contains("desk.genesis.json") && text.contains("hint: "), "{text}");
}

#[test]
fn what_does_not_hold_is_said_and_exits_with_1() {
    let place = place();
    place.run("genesis", CREATE.into_iter().chain(["--out", "desk.genesis.json"])).fine();
    let failed = |arguments: &[&str]| place.run("genesis", arguments).failed(1);
    let other = "ab".repeat(32);
    assert!(failed(&["verify", "desk.genesis.json", "--agent-id", &other]).contains(ID));
    let key = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    assert!(failed(&["verify", "desk.genesis.json", "--issuer", key]).contains("another key"));
    assert!(failed(&["verify", "desk.genesis.json", "--issuer", "nonsense"]).contains("hint: "));
    let forged = place.read("desk.genesis.json").replace("booking:room", "payments:send");
    place.write("forged.json", &forged);
    assert!(failed(&["verify", "forged.json"]).contains("signature"));
    assert!(failed(&["show", "forged.json"]).contains("signature"));
    assert!(failed(&["show", "missing.json"]).contains("missing.json"));
    place.write("list.json", "[]");
    assert!(failed(&["hash", "list.json"]).contains("not a JSON object"));
    let bare_tier_1 = place.run("genesis", CREATE.map(|word| if word == "2" { "1" } else { word })).failed(1);
    assert!(bare_tier_1.contains("dns-anchored"), "{bare_tier_1}");
}

#[test]
fn a_document_without_a_signature_has_a_hash_from_standard_input() {
    let place = place();
    let mut document = place.run("genesis", CREATE).json();
    document.as_object_mut().unwrap().remove("signature");
    let mut command = place.command("genesis");
    let child = command.args(["hash", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    child.stdin.take().unwrap().write_all(document.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), ID);
    assert!(String::from_utf8(output.stderr).unwrap().contains("warning: "));
}

#[test]
fn help_teaches() {
    let place = place();
    let text = place.run("genesis", ["create", "--help"]).fine();
    for said in ["another one is another agent", "Example:", "--issued-at", "orchestrator"] {
        assert!(text.contains(said), "no {said} in {text}");
    }
}

#[test]
fn check_names_every_identity_that_does_not_hold() {
    let kitchen = Deployment::kitchen();
    kitchen.write("agents/gate.genesis.json", "{\"owner\": \"acme.tld\"}");
    kitchen.write("known/lauren.agent.json", "{\"name\": \"lauren\"}");
    let text = kitchen.run("check", ["."]).failed(1);
    for said in ["agents/gate.genesis.json", "`issuer_public_key`", "known/lauren.agent.json", "`agent_id` is missing"]
    {
        assert!(text.contains(said), "no {said} in {text}");
    }
    assert!(!kitchen.data().join("agents").exists(), "checking leaves nothing behind");
}

#[test]
fn settings_of_an_identity_are_checked_and_said_when_they_come_too_late() {
    let kitchen = Deployment::kitchen();
    let file = kitchen.read("agents/gate.toml");
    kitchen.write("agents/gate.toml", &format!("{file}\n[agtp]\ntrust_tier = 1\n"));
    let text = kitchen.run("check", ["."]).failed(1);
    assert!(text.contains("agents/gate.toml") && text.contains("dns-anchored"), "{text}");
    kitchen.write("agents/gate.toml", &format!("{file}\n[agtp]\nscopes = [\"booking:room\"]\n"));
    kitchen.run("check", ["."]).fine();
    let made = place().run("genesis", CREATE).fine();
    kitchen.write("agents/gate.genesis.json", &made);
    let checked = kitchen.run("check", ["."]);
    assert!(checked.stderr.contains("warning: ") && checked.stderr.contains("`scopes`"), "{checked:?}");
    checked.fine();
}

#[test]
fn a_key_that_is_not_there_is_made_and_used_again() {
    let place = Deployment::empty();
    let create = ["create", "--owner", "a", "--archetype", "monitor", "--zone", "z", "--scope", "a:b"];
    for more in [&["--key", "new.pem"][..], &[]] {
        let words: Vec<&str> = create.iter().chain(more).copied().collect();
        let issuer = || place.run("genesis", &words).json()["issuer_public_key"].clone();
        assert_eq!(issuer(), issuer(), "{more:?}");
    }
    let mode = std::fs::metadata(place.path().join("new.pem")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
