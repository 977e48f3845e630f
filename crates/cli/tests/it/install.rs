//! What an installation brings beside the daemon: completions, manual pages, schemas, probes.

use std::os::unix::net::UnixDatagram;

use nix::sys::signal::Signal;

use crate::support::{Deployment, FREE_PORTS, PATIENCE};

#[test]
fn a_shell_completes_every_command() {
    let site = Deployment::empty();
    for (shell, begins) in [("bash", "_forecourt"), ("zsh", "#compdef forecourt"), ("fish", "complete -c forecourt")] {
        let script = site.run("completions", [shell]).fine();
        assert!(script.contains(begins), "{shell}");
        // One that comes with a protocol is there too.
        for command in ["serve", "backup", "agtp"] {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    assert!(site.run("completions", ["tcsh"]).failed(2).contains("possible values"));
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let site = Deployment::empty();
    let folder = site.path().join("man").display().to_string();
    site.run("man", ["--out", folder.as_str()]).fine();
    for page in ["forecourt.1", "forecourt-serve.1", "forecourt-keys-api-create.1", "forecourt-agtp.1"] {
        let text = site.read(&format!("man/{page}"));
        assert!(text.contains(".TH"), "{page}");
    }
    assert!(site.run("man", Vec::<&str>::new()).fine().contains(".TH"));
}

#[test]
fn schemas_and_what_tells_editors_of_them_are_written_together() {
    let site = Deployment::empty();
    let folder = site.path().display().to_string();
    site.run("schema", ["--out", folder.as_str()]).fine();
    assert!(site.read(".schemas/agent.schema.json").contains("\"const\": \"echo\""));
    assert!(site.read(".taplo.toml").contains("./.schemas/deployment.schema.json"));
    assert_eq!(site.run("schema", ["deployment"]).json()["required"][0], "domain");
}

#[test]
fn a_service_manager_is_told_when_it_answers_and_when_it_stops() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("notify");
    let manager = UnixDatagram::bind(&socket).unwrap();
    manager.set_read_timeout(Some(PATIENCE)).unwrap();
    let told = || {
        let mut text = [0; 256];
        let length = manager.recv(&mut text).unwrap();
        String::from_utf8_lossy(&text[..length]).into_owned()
    };
    let served = Deployment::gatehouse().serve_with(&FREE_PORTS, &[("NOTIFY_SOCKET", socket.to_str().unwrap())]);
    assert!(told().contains("READY=1"));
    served.signal(Signal::SIGTERM);
    assert!(told().contains("STOPPING=1"));
    assert!(served.ended().0.success());
}

#[test]
fn a_probe_tells_a_daemon_that_is_well_from_one_that_is_not_there() {
    let served = Deployment::gatehouse().serve();
    let folder = served.deployment.path().display().to_string();
    let health = |site: &Deployment, words: &[&str]| site.run("health", [words, &[folder.as_str()]].concat());
    assert_eq!(health(&served.deployment, &[]).fine(), "ok\n");
    assert_eq!(health(&served.deployment, &["--ready"]).fine(), "ready\n");
    let site = served.killed();
    let said = health(&site, &[]).failed(3);
    assert!(said.contains("nobody answers") && said.contains("hint:"), "{said}");
}
