//! Certificates that a served deployment orders by itself, from a real authority.

use std::fs;
use std::path::Path;

use forecourt_testkit::postgres::PostgresServer;
use forecourt_testkit::{Pebble, PebbleOptions, free_port};

use crate::support::{Deployment, FREE_PORTS, Served, within};
use crate::wire::{Answer, curl, raw_curl};

const NAME: &str = "shop.example.com";
const REFUSED: &str = "refused.example.com";

/// An authority for a deployment that is served on ports that are known before.
struct Scene {
    folder: tempfile::TempDir,
    http: u16,
    https: u16,
    pebble: Pebble,
}

impl Scene {
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let (http, https) = (free_port(), free_port());
        let options = PebbleOptions {
            http_port: http,
            tls_port: https,
            life: std::time::Duration::from_secs(24 * 3600),
            refused: REFUSED.to_owned(),
            port: None,
        };
        let pem = |name: &str| folder.path().join(name);
        let files =
            forecourt_server::local_ca::ensure(folder.path(), "demo.localhost", jiff::Timestamp::now()).unwrap();
        let pebble = Pebble::start(&pem("pebble"), &files.certificate, &files.key, &options)?;
        Some(Self { folder, http, https, pebble })
    }

    fn deployment(&self, domain: &str, more: &str) -> Deployment {
        let directory = self.pebble.directory();
        let ca = self.folder.path().join("ca.pem");
        let deployment = Deployment::of_backend("kind = \"echo\"");
        let acme = format!("[tls.acme]\ndirectory = \"{directory}\"\nca_file = \"{}\"\n{more}", ca.display());
        deployment.write("forecourt.toml", &format!("domain = \"{domain}\"\n{acme}"));
        deployment
    }

    fn words(&self, address: &str) -> Vec<String> {
        let words = [
            "--http",
            &format!("{address}:{}", self.http),
            "--https",
            &format!("{address}:{}", self.https),
            "--admin",
            "127.0.0.1:0",
            "--agtp",
            "127.0.0.1:0",
        ];
        words.map(str::to_owned).to_vec()
    }

    fn serve(&self, deployment: Deployment, address: &str) -> Served {
        let words = self.words(address);
        deployment.serve_on(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The authority's own certificate, in a file.
    fn root(&self) -> String {
        let file = self.folder.path().join("root.pem");
        fs::write(&file, raw_curl(&["-k", &self.pebble.root()])).unwrap();
        file.display().to_string()
    }

    fn ask(&self, name: &str, ca: &str) -> Result<Answer, String> {
        let resolve = format!("{name}:{}:127.0.0.1", self.https);
        let url = format!("https://{name}:{}/~agent?user=hello", self.https);
        let tried = std::process::Command::new("curl")
            .args(["-q", "-sS", "-o", "/dev/null", "--max-time", "20", "--cacert", ca, "--resolve", &resolve, &url])
            .output()
            .unwrap();
        match tried.status.success() {
            true => Ok(curl(&url, &["--cacert", ca, "--resolve", &resolve])),
            false => Err(String::from_utf8_lossy(&tried.stderr).into_owned()),
        }
    }
}

/// Reads the deployment again, which must go well, and gives what came of it.
fn reload(served: &Served) -> serde_json::Value {
    let url = format!("http://127.0.0.1:{}/reload", served.admin);
    curl(&url, &["-X", "POST", "-H", "Authorization: Bearer a-token-of-the-operator"]).with_status(200).json()
}

/// The serial of the certificate that a client is shown who asks for a name.
fn serial(scene: &Scene, name: &str) -> String {
    let connect = format!("127.0.0.1:{}", scene.https);
    let command = format!(
        "openssl s_client -connect {connect} -servername {name} </dev/null 2>/dev/null | openssl x509 -noout -serial"
    );
    let shown = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
    String::from_utf8_lossy(&shown.stdout).trim().to_owned()
}

#[test]
fn another_authority_is_asked_without_a_restart_and_the_old_certificate_stays_until_then() {
    let (Some(scene), Some(other)) = (Scene::new(), Scene::new()) else { return };
    let admin = "[admin]\ntoken = \"a-token-of-the-operator\"\n[reload]\nwatch = false\n";
    let deployment = scene.deployment(NAME, &format!("enabled = true\nchallenge = \"http-01\"\n{admin}"));
    let served = scene.serve(deployment, "127.0.0.1");
    let root = scene.root();
    within("a certificate that is trusted is in use", || scene.ask(NAME, &root).ok());
    let first = serial(&scene, NAME);

    // What is the same orders nothing, and so does what concerns no order.
    reload(&served);
    served.deployment.edit(
        "forecourt.toml",
        "challenge = \"http-01\"",
        "challenge = \"http-01\"\nemail = \"me@example.com\"",
    );
    let notes = reload(&served)["notes"].to_string();
    assert!(notes.contains("are ordered from 127.0.0.1"), "{notes}");
    assert_eq!(serial(&scene, NAME), first, "what is good stays");

    // An authority that is not there: the certificate stays, and the operator is told.
    let directory = scene.pebble.directory();
    let nowhere = format!("https://127.0.0.1:{}/dir", free_port());
    served.deployment.edit("forecourt.toml", &directory, &nowhere);
    reload(&served);
    within("it is told", || served.operator("/readyz").text().contains(&format!("for {NAME} yet")).then_some(()));
    assert_eq!((serial(&scene, NAME), scene.ask(NAME, &root).unwrap().status), (first.clone(), 200));

    // One that is there signs anew, and asks this daemon.
    let Scene { folder: other_folder, pebble: gone, .. } = other;
    drop(gone);
    let options = PebbleOptions {
        http_port: scene.http,
        tls_port: scene.https,
        life: std::time::Duration::from_secs(24 * 3600),
        refused: REFUSED.to_owned(),
        port: None,
    };
    let pem = |name: &str| scene.folder.path().join(name);
    let second =
        Pebble::start(&other_folder.path().join("second"), &pem("cert.pem"), &pem("key.pem"), &options).unwrap();
    served.deployment.edit("forecourt.toml", &nowhere, &second.directory());
    reload(&served);
    fs::write(pem("second-root.pem"), raw_curl(&["-k", &second.root()])).unwrap();
    let second_root = pem("second-root.pem").display().to_string();
    within("the new authority's certificate is in use", || scene.ask(NAME, &second_root).ok());
    let ordered = serial(&scene, NAME);
    assert_ne!(ordered, first);

    // None at all: the local authority's, and nothing is ordered or renewed any more.
    served.deployment.edit("forecourt.toml", "enabled = true", "enabled = false");
    let notes = reload(&served)["notes"].to_string();
    assert!(notes.contains("the local authority's"), "{notes}");
    let own = served.deployment.data().join("ca.pem").display().to_string();
    assert_eq!(scene.ask(NAME, &own).unwrap().status, 200);
    assert_eq!(served.operator("/readyz").text(), "ready\n");

    // And back: what was ordered is still good, so nothing is ordered again.
    served.deployment.edit("forecourt.toml", "enabled = false", "enabled = true");
    reload(&served);
    assert_eq!(serial(&scene, NAME), ordered);
    let metrics = served.operator("/metrics").text();
    assert!(metrics.contains("forecourt_acme_orders_total{outcome=\"issued\"} 2"), "{metrics}");
}

#[test]
fn a_certificate_of_ones_own_is_taken_up_without_a_restart_or_refused() {
    let Some(scene) = Scene::new() else { return };
    let admin = "[admin]\ntoken = \"a-token-of-the-operator\"\n[reload]\nwatch = false\n";
    let served = scene.serve(scene.deployment(NAME, &format!("enabled = true\n{admin}")), "127.0.0.1");
    let root = scene.root();
    within("a certificate that is trusted is in use", || scene.ask(NAME, &root).ok());
    let own = tempfile::tempdir().unwrap();
    let files = forecourt_server::local_ca::ensure(own.path(), NAME, jiff::Timestamp::now()).unwrap();
    let tls = format!("[tls]\ncert = \"{}\"\nkey = \"{}\"\n", files.certificate.display(), files.key.display());
    let text = served.deployment.read("forecourt.toml");
    let with_own = text.replace("[tls.acme]", &format!("{tls}[tls.acme]")).replace("enabled = true\n", "");
    served.deployment.write("forecourt.toml", &with_own.replace("cert.pem", "nothing.pem"));
    let url = format!("http://127.0.0.1:{}/reload", served.admin);
    let refused = curl(&url, &["-X", "POST", "-H", "Authorization: Bearer a-token-of-the-operator"]).with_status(422);
    assert!(refused.text().contains("nothing.pem"), "{refused:?}");
    assert_eq!(scene.ask(NAME, &root).unwrap().status, 200, "nothing has changed");
    served.deployment.write("forecourt.toml", &with_own);
    reload(&served);
    let ca = own.path().join("ca.pem").display().to_string();
    assert_eq!(scene.ask(NAME, &ca).unwrap().status, 200);
}

#[test]
fn a_domain_that_comes_gets_a_certificate_of_its_own() {
    let Some(scene) = Scene::new() else { return };
    let root = scene.root();
    let folder = Deployment::empty();
    let site = |deployment: &Deployment, name: &str, at: &str| {
        let one = scene.deployment(name, "enabled = true\nchallenge = \"tls-alpn-01\"\n");
        for file in ["agents/agent.toml", "forecourt.toml"] {
            deployment.write(&format!("{at}/{file}"), &one.read(file));
        }
    };
    site(&folder, "one.example.com", "a");
    folder.write("forecourt.toml", "[[domain]]\npath = \"a\"\n");
    let served = scene.serve(folder, "127.0.0.1");
    within("its certificate is in use", || scene.ask("one.example.com", &root).ok());
    let before = serial(&scene, "one.example.com");
    site(&served.deployment, "two.example.com", "b");
    served.deployment.write("forecourt.toml", "[[domain]]\npath = \"a\"\n[[domain]]\npath = \"b\"\n");
    within("the new one's certificate is in use", || scene.ask("two.example.com", &root).ok());
    served.deployment.write("forecourt.toml", "[[domain]]\npath = \"b\"\n");
    within("the first one is gone", || serial(&scene, "one.example.com").is_empty().then_some(()));
    assert!(!before.is_empty());
    assert_eq!(scene.ask("two.example.com", &root).unwrap().status, 200);
}

/// What is kept of an order, as it is on the disk.
fn kept(data: &Path, name: &str) -> String {
    fs::read_to_string(data.join(format!("acme/certificate-{name}.json"))).unwrap()
}

#[test]
fn off_loopback_a_public_domain_gets_its_certificate_without_a_restart_and_keeps_it() {
    let Some(scene) = Scene::new() else { return };
    let served = scene.serve(scene.deployment(NAME, ""), "0.0.0.0");
    let root = scene.root();
    let answer = within("a certificate that is trusted is in use", || scene.ask(NAME, &root).ok());
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.named("strict-transport-security"), "max-age=31536000");
    assert_eq!(served.operator("/readyz").text(), "ready\n");
    let metrics = served.operator("/metrics").text();
    assert!(metrics.contains("forecourt_acme_orders_total{outcome=\"issued\"} 1"), "{metrics}");
    let expiry = metrics.lines().find_map(|line| {
        line.strip_prefix("forecourt_certificate_expiry_seconds{name=\"shop.example.com\"} ")?.parse::<i64>().ok()
    });
    let left = expiry.unwrap() - jiff::Timestamp::now().as_second();
    assert!((80_000..=86_400).contains(&left), "{left}");

    // Off loopback plain HTTP says where HTTPS is, and nothing else.
    let host = format!("Host: {NAME}");
    let plain = |path: &str, host: &str| curl(&format!("http://127.0.0.1:{}{path}", scene.http), &["-H", host]);
    let sent = plain("/~agent?user=hello", &host).with_status(308);
    assert_eq!(sent.named("location"), format!("https://{NAME}:{}/~agent?user=hello", scene.https));
    assert_eq!(plain("/", "Host: evil.example").status, 421);
    assert_eq!(plain("/.well-known/acme-challenge/nothing", "Host: evil.example").status, 404);

    let before = kept(&served.deployment.data(), NAME);
    let deployment = served.killed();
    // The authority is away: what was ordered is served all the same.
    let Scene { pebble, folder, http, https } = scene;
    drop(pebble);
    let words = ["--http".to_owned(), format!("0.0.0.0:{http}"), "--https".to_owned(), format!("0.0.0.0:{https}")];
    let words: Vec<&str> =
        words.iter().map(String::as_str).chain(["--admin", "127.0.0.1:0", "--agtp", "127.0.0.1:0"]).collect();
    let again = deployment.serve_on(&words);
    let resolve = format!("{NAME}:{https}:127.0.0.1");
    let answer =
        curl(&format!("https://{NAME}:{https}/~agent?user=hello"), &["--cacert", &root, "--resolve", &resolve]);
    assert_eq!(answer.status, 200);
    assert_eq!(kept(&again.deployment.data(), NAME), before);
    drop(folder);
}

#[test]
fn on_loopback_it_is_ordered_where_that_was_asked_for() {
    let Some(scene) = Scene::new() else { return };
    for challenge in ["http-01", "tls-alpn-01"] {
        let more = format!("enabled = true\nchallenge = \"{challenge}\"");
        let _served = scene.serve(scene.deployment(NAME, &more), "127.0.0.1");
        let root = scene.root();
        let answer = within("a certificate that is trusted is in use", || scene.ask(NAME, &root).ok());
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.field("strict-transport-security"), None, "not in development");
    }
}

#[test]
fn an_authority_that_refuses_is_told_of_and_harms_nobody() {
    let Some(scene) = Scene::new() else { return };
    let served = scene.serve(scene.deployment(REFUSED, "enabled = true"), "127.0.0.1");
    let note = within("the refusal is told", || {
        let ready = served.operator("/readyz").with_status(200).text();
        ready.contains("the authority refuses").then_some(ready)
    });
    assert!(note.starts_with("ready\nnote: there is no certificate for refused.example.com yet"), "{note}");
    let metrics = served.operator("/metrics").text();
    assert!(metrics.contains("forecourt_acme_orders_total{outcome=\"refused\"} 1"), "{metrics}");
    assert!(metrics.contains("forecourt_certificate_expiry_seconds{name=\"refused.example.com\"} 0"), "{metrics}");
    let own = served.deployment.data().join("ca.pem").display().to_string();
    assert_eq!(scene.ask(REFUSED, &own).unwrap().status, 200, "one of our own stands in");
    let (_, log, _) = {
        served.signal(nix::sys::signal::Signal::SIGTERM);
        served.ended()
    };
    assert!(log.contains("no new certificate: the authority refuses"), "{log}");
    assert!(!log.contains("PRIVATE KEY"), "{log}");
}

#[test]
fn each_domain_of_a_daemon_gets_a_certificate_of_its_own() {
    let Some(scene) = Scene::new() else { return };
    let root = scene.root();
    for challenge in ["http-01", "tls-alpn-01"] {
        let folder = Deployment::empty();
        let names = ["one.example.com", "two.example.com"];
        for (name, at) in names.into_iter().zip(["a", "b"]) {
            let one = scene.deployment(name, &format!("enabled = true\nchallenge = \"{challenge}\"\n"));
            for file in ["forecourt.toml", "agents/agent.toml"] {
                folder.write(&format!("{at}/{file}"), &one.read(file));
            }
        }
        let _served = scene.serve(folder, "127.0.0.1");
        for name in names {
            let answer = within("its certificate is in use", || scene.ask(name, &root).ok());
            assert_eq!(answer.status, 200, "{challenge}: {name}: {answer:?}");
        }
    }
}

#[test]
fn nodes_that_share_a_store_order_once_and_all_serve_it() {
    let Some(scene) = Scene::new() else { return };
    let Some(postgres) = PostgresServer::start() else { return };
    let variables = [("STORE_URL", postgres.fresh()), ("STORE_KEY", "5e".repeat(32))];
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let deployment = || {
        let deployment = scene.deployment(NAME, "enabled = true\n");
        deployment.with("store", "url = \"${STORE_URL}\"\nkey = \"${STORE_KEY}\"")
    };
    let words = scene.words("127.0.0.1");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let first = deployment().serve_with(&words, &variables);
    let root = scene.root();
    within("a certificate that is trusted is in use", || scene.ask(NAME, &root).ok());
    let second = deployment().serve_with(&FREE_PORTS, &variables);
    let url = format!("https://{NAME}:{}/~agent?user=hello", second.https);
    let resolve = format!("{NAME}:{}:127.0.0.1", second.https);
    assert_eq!(curl(&url, &["--cacert", &root, "--resolve", &resolve]).status, 200);
    let issued = |node: &Served| {
        let metrics = node.operator("/metrics").text();
        metrics.contains("forecourt_acme_orders_total{outcome=\"issued\"} 1")
    };
    assert!(issued(&first) && !issued(&second), "one order for both");
    assert!(!second.deployment.data().join("acme").exists(), "nothing of it is a node's own");
}

#[test]
fn what_cannot_be_ordered_is_said_before_anything_is_served() {
    let check = |toml: &str| {
        let deployment = Deployment::of_backend("kind = \"echo\"");
        deployment.write("forecourt.toml", toml);
        deployment.run("check", ["."]).failed(1)
    };
    let told = check("domain = \"nas.local\"\n[listen]\nhttps = \"0.0.0.0:443\"");
    assert!(told.contains("needs a certificate of your own") && told.contains("`directory` in [tls.acme]"), "{told}");
    let told = check("domain = \"example.com\"\n[tls.acme]\ndirectory = \"http://ca.example/dir\"");
    assert!(told.contains("`directory` is an https URL") && told.contains("forecourt.toml:3"), "{told}");
    let told = check("domain = \"example.com\"\n[listen]\nhttps = \"0.0.0.0:443\"\n[tls.acme]\nca_file = \"none.pem\"");
    assert!(told.contains("none.pem"), "{told}");
    let told = check("domain = \"example.com\"\n[tls.acme]\nchalenge = \"http-01\"");
    assert!(told.contains("unknown key `chalenge`") && told.contains("did you mean `challenge`"), "{told}");
}
