//! `backup` and `restore`: while it is served, into another folder, asked again; and what is damaged, or locked.

use std::fs;
use std::process::Stdio;

use crate::support::{Deployment, Ran, Served};
use crate::wire::curl;

const TOKEN: &str = "a-token-of-the-operator";
const PASSPHRASE: &str = "correct horse battery staple\n";
const PUSHED: &str =
    r#"{"@type": "Recipe", "@id": "urn:q", "url": "https://example.com/q", "name": "Xanthic Quiverbread"}"#;

/// A kitchen at work: with a task, a pushed item, an identity and a record of what was answered.
fn worked() -> (Served, String) {
    let served = Deployment::kitchen().with("admin", &format!("token = \"{TOKEN}\"")).serve();
    let url = format!("http://127.0.0.1:{}/content/chef", served.admin);
    let authorization = format!("Authorization: Bearer {TOKEN}");
    let pushed =
        curl(&url, &["-H", &authorization, "-H", "Content-Type: application/x-ndjson", "--data-binary", PUSHED]);
    assert_eq!(pushed.status, 200, "{}", pushed.text());
    let task = crate::tasks::begun(&served, "tool");
    crate::tasks::settled(&served, &task);
    (served, task)
}

/// The data folder of the restored deployment is its own, whatever the environment of the test says.
fn restore(backup: &Deployment, file: &str, into: &Deployment, words: &[&str]) -> Ran {
    let folder = into.path().join("again").display().to_string();
    backup.run("restore", [&[file, folder.as_str()], words].concat())
}

/// The deployment in the folder that was restored.
fn lifted(place: Deployment) -> Deployment {
    let folder = place.path().join("again");
    for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        fs::rename(entry.path(), place.path().join(entry.file_name())).unwrap();
    }
    place
}

fn backup_of(served: &Deployment, words: &[&str]) -> String {
    let file = served.path().parent().unwrap().join(format!("{}.backup", uuid(served))).display().to_string();
    let _ = fs::remove_file(&file);
    let folder = served.path().display().to_string();
    served.run("backup", [&[folder.as_str(), "--out", &file], words].concat()).fine();
    file
}

fn uuid(deployment: &Deployment) -> String {
    deployment.path().file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn what_was_kept_while_it_was_served_is_there_again() {
    let (served, task) = worked();
    let signing = fs::read(served.deployment.data().join("signing.pem")).unwrap();
    let id = served.deployment.agent_id("chef");
    let file = backup_of(&served.deployment, &["--json"]);
    // What comes after it is not in it.
    let later = crate::tasks::begun(&served, "tool");
    let original = served.killed();
    let place = Deployment::empty();
    restore(&original, &file, &place, &[]).fine();
    let folder = place.path().join("again");
    assert_eq!(fs::read(folder.join(".forecourt/signing.pem")).unwrap(), signing);
    assert!(!folder.join(".forecourt/index/chef/words").exists(), "indexes are made again");
    let again = lifted(place).serve();
    assert_eq!(again.deployment.agent_id("chef"), id);
    assert_eq!(again.curl(&task, &["-H", "Accept: application/json"]).json()["status"]["state"], "completed");
    assert_eq!(again.curl(&later, &["-H", "Accept: application/json"]).status, 404);
    let asked = again.curl("/~chef?user=quiverbread", &["-H", "Accept: text/markdown"]).text();
    assert!(asked.contains("Xanthic Quiverbread"), "{asked}");
    let folder = again.deployment.path().display().to_string();
    again.deployment.run("audit", ["verify", folder.as_str()]).fine();
    fs::remove_file(file).unwrap();
}

#[test]
fn a_locked_backup_opens_with_its_passphrase_alone() {
    let site = Deployment::gatehouse().and("secret", PASSPHRASE).and("other", "incorrect horse battery\n");
    let named = |name: &str| site.path().join(name).display().to_string();
    let (secret, other) = (named("secret"), named("other"));
    let file = backup_of(&site, &["--passphrase-file", &secret]);
    let bytes = fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/"), "it is locked");
    let place = Deployment::empty();
    let said = restore(&site, &file, &place, &[]).failed(1);
    assert!(said.contains("encrypted") && said.contains("--passphrase-file"), "{said}");
    restore(&site, &file, &place, &["--passphrase-file", &other]).failed(1);
    assert!(!place.path().join("again").exists());
    restore(&site, &file, &place, &["--passphrase-file", &secret]).fine();
    assert!(place.path().join("again/forecourt.toml").exists());
    fs::remove_file(file).unwrap();
}

#[test]
fn a_backup_that_is_damaged_or_cut_short_leaves_nothing() {
    let site = Deployment::gatehouse();
    let file = backup_of(&site, &[]);
    let whole = fs::read(&file).unwrap();
    let place = Deployment::empty();
    for bytes in [&whole[..whole.len() - 7], &whole[..whole.len() / 2], &[], b"no backup at all"] {
        fs::write(&file, bytes).unwrap();
        let said = restore(&site, &file, &place, &[]).failed(1);
        assert!(said.contains("nothing was restored"), "{said}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "nothing is left");
    }
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    fs::write(&file, &flipped).unwrap();
    restore(&site, &file, &place, &[]).failed(1);
    fs::write(&file, &whole).unwrap();
    restore(&site, &file, &place, &["--check"]).fine();
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "looking restores nothing");
    fs::remove_file(file).unwrap();
}

#[test]
fn nothing_that_is_there_is_written_over() {
    let site = Deployment::gatehouse();
    let file = backup_of(&site, &[]);
    let folder = site.path().display().to_string();
    let said = site.run("backup", [folder.as_str(), "--out", &file]).failed(1);
    assert!(said.contains("is there already"), "{said}");
    let said = site.run("restore", [file.as_str(), folder.as_str()]).failed(1);
    assert!(said.contains("is there already"), "{said}");
    fs::remove_file(file).unwrap();
}

#[test]
fn a_backup_goes_through_a_pipe() {
    let site = Deployment::gatehouse();
    let place = Deployment::empty();
    let folder = site.path().display().to_string();
    let mut out = site.command("backup");
    let mut out = out.args([folder.as_str(), "--out", "-"]).stdout(Stdio::piped()).spawn().unwrap();
    let again = place.path().join("again").display().to_string();
    let mut back = site.command("restore");
    let back = back.args(["-", again.as_str()]).stdin(out.stdout.take().unwrap()).status().unwrap();
    assert!(back.success() && out.wait().unwrap().success());
    assert!(place.path().join("again/agents/gate.toml").exists());
}

#[test]
fn an_upgrade_is_told_before_it_is_made() {
    let site = Deployment::gatehouse().serve().killed();
    let folder = site.path().display().to_string();
    let told = site.run("upgrade", ["--check", folder.as_str(), "--json"]).json();
    assert_eq!(told["store"]["schema"], told["schema"], "{told}");
    assert!(told["refused"].is_null(), "{told}");
    let database = rusqlite::Connection::open(site.data().join("forecourt.db")).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    drop(database);
    let said = site.run("upgrade", ["--check", folder.as_str()]).failed(1);
    assert!(said.contains("schema 99") && said.contains("nothing was changed"), "{said}");
}
