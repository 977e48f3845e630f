//! The data folder: private, bounded, missed when it is gone; and what `serve` refuses, which `check` finds.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;

use crate::support::{Deployment, FREE_PORTS, within};

/// Everything below a folder, the folder too.
fn all(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_path_buf()];
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { found.extend(all(&entry)) } else { found.push(entry) }
    }
    found
}

#[test]
fn b7_whatever_was_there_nobody_else_reads_the_data_folder() {
    let ended = Deployment::kitchen().serve().killed();
    let open = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    all(&ended.data()).iter().for_each(|path| open(path, if path.is_dir() { 0o755 } else { 0o644 }));
    let served = ended.serve();
    served.curl("/~echo", &["-F", "user=hello", "-H", "Prefer: respond-async"]).with_status(202);
    for path in all(&served.deployment.data()) {
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
    }
}

#[test]
fn c2_a_hangup_ends_nothing_and_a_termination_drains() {
    let served = Deployment::gatehouse().serve();
    served.signal(Signal::SIGHUP);
    within("it is heard", || {
        served.operator("/metrics").text().contains("reloads_total{outcome=\"applied\"} 1").then_some(())
    });
    served.signal(Signal::SIGTERM);
    let (status, log, _) = served.ended();
    assert!(status.success() && log.contains("stopping"), "{status} {log}");
}

#[test]
fn c2_a_signing_key_that_is_gone_is_missed_until_a_new_one_is_made() {
    let ended = Deployment::gatehouse().serve().killed();
    fs::remove_file(ended.data().join("signing.pem")).unwrap();
    for command in ["serve", "check"] {
        let words = if command == "serve" { FREE_PORTS.to_vec() } else { vec!["."] };
        let text = ended.run(command, words).failed(1);
        assert!(text.contains("signing.pem") && text.contains("forecourt keys"), "{command}: {text}");
    }
    assert!(!ended.data().join("signing.pem").exists(), "no other key is made in silence");
    ended.run("keys", ["."]).fine();
    ended.run("check", ["."]).fine();
}

#[test]
fn c2_while_the_data_folder_is_gone_nothing_is_acknowledged() {
    let served = Deployment::gatehouse().serve();
    let (data, aside) = (served.deployment.data(), served.deployment.path().join("aside"));
    let begin = || served.curl("/~echo", &["-F", "user=hello", "-H", "Prefer: respond-async"]);
    begin().with_status(202);
    fs::rename(&data, &aside).unwrap();
    let refused = begin().with_status(503);
    assert!(refused.field("retry-after").is_some());
    assert!(served.operator("/readyz").with_status(503).text().contains("gone"));
    fs::rename(&aside, &data).unwrap();
    begin().with_status(202);
    served.operator("/readyz").with_status(200);
}

#[test]
fn c3_a_post_that_is_half_sent_when_the_daemon_is_told_to_stop_gets_its_answer() {
    let served = Deployment::gatehouse().serve();
    let mut stream = TcpStream::connect(("127.0.0.1", served.http)).unwrap();
    let body = "--x\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nhello there\r\n--x--\r\n";
    let head = format!(
        "POST /~echo HTTP/1.1\r\nHost: demo.localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n\
         Accept: text/markdown\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body.as_bytes()[..6]).unwrap();
    // It is known that more is to come.
    crate::support::within("the request is seen", || {
        served.operator("/metrics").text().contains("forecourt_http_arriving 1").then_some(())
    });
    served.signal(Signal::SIGTERM);
    stream.write_all(&body.as_bytes()[6..]).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("hello there"), "{answer}");
    assert!(served.ended().0.success());
}

#[test]
fn design_36_one_address_fills_no_more_than_its_bound() {
    let served = Deployment::gatehouse().with("limits", "stored_bytes_per_caller = 1048576").serve();
    let size = |folder: &Path| all(folder).iter().map(|path| path.metadata().unwrap().len()).sum::<u64>();
    let before = size(&served.deployment.data());
    // Nothing that is shorter when it is compressed.
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut letter = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        char::from(b'0' + (seed >> 58) as u8)
    };
    let noise: String = (0..60_000).map(|_| letter()).filter(char::is_ascii_alphanumeric).collect();
    let form = format!("user={noise}");
    let answers: Vec<_> =
        (0..40).map(|_| served.curl("/~echo", &["-F", &form, "-H", "Prefer: respond-async"])).collect();
    let refused = answers.iter().find(|answer| answer.status != 202).expect("one is refused");
    assert_eq!(refused.status, 429, "{refused:?}");
    assert!(refused.text().contains("limits.stored_bytes_per_caller") && refused.field("retry-after").is_some());
    let grown = size(&served.deployment.data()) - before;
    assert!(grown < 1_048_576 + 12 * 1024 * 1024, "with its log, it grew by {grown}");
}

/// What `serve` refuses, each by a change to a deployment that was served before.
#[test]
fn c4_check_finds_all_that_serve_refuses() {
    type Change = fn(&Deployment);
    let changes: [(&str, Change, &str); 8] = [
        (
            "a damaged database",
            |d| {
                // Otherwise its log would mend it.
                fs::remove_file(d.data().join("forecourt.db-wal")).unwrap();
                fs::write(d.data().join("forecourt.db"), "x".repeat(9_000)).unwrap();
            },
            "forecourt.db",
        ),
        ("another store key", |d| fs::write(d.data().join("store.key"), [7; 32]).unwrap(), "store.key"),
        ("no store key", |d| fs::remove_file(d.data().join("store.key")).unwrap(), "store.key"),
        ("a damaged signing key", |d| fs::write(d.data().join("signing.pem"), "x").unwrap(), "signing.pem"),
        ("a damaged authority", |d| fs::write(d.data().join("ca.key"), "x").unwrap(), "ca.key"),
        (
            "a certificate that is not there",
            |d| d.edit("forecourt.toml", "[limits]", "[tls]\ncert = \"no.pem\"\nkey = \"no.key\"\n[limits]"),
            "no.pem",
        ),
        (
            "plain text off loopback",
            |d| d.edit("forecourt.toml", "[limits]", "[listen]\nhttp = \"0.0.0.0:0\"\n[limits]"),
            "0.0.0.0",
        ),
        (
            "TLS off loopback without a certificate",
            |d| d.edit("forecourt.toml", "[limits]", "[listen]\nhttps = \"0.0.0.0:0\"\n[limits]"),
            "needs a certificate",
        ),
    ];
    for (name, change, said) in changes {
        let ended = Deployment::of_backend("kind = \"echo\"\n").with("limits", "").serve().killed();
        change(&ended);
        let checked = ended.run("check", ["."]).failed(1);
        assert!(checked.contains(said), "{name}: {checked}");
        let json = ended.run("check", [".", "--json"]);
        assert_eq!(json.code, Some(1), "{name}");
        let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
        let problems = json["problems"].as_array().unwrap();
        assert!(!problems.is_empty() && problems.iter().all(|p| p["message"].is_string()), "{name}: {json}");
        let own = if name.contains("loopback") { vec!["--agtp", "127.0.0.1:0"] } else { FREE_PORTS.to_vec() };
        let served = ended.run("serve", own);
        assert!(served.code != Some(0) && served.stderr.contains(said), "{name}: {served:?}");
    }
}
