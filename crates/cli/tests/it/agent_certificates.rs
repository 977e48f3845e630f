//! Agents that prove their name with a certificate, over real TLS: made by `forecourt genesis`, and by OpenSSL where it
//! has to be wrong. Base 6.7.

use std::process::Command;

use serde_json::Value;

use crate::support::{DOMAIN, Deployment, Ran, Served};

/// A deployment whose agents have to prove who they are, and whose authority is `agent-ca`.
fn served(mode: &str) -> Served {
    let deployment = Deployment::gatehouse().serve().killed();
    deployment.run("genesis", ["authority", "--name", "Agents of acme.tld", "--out", "agent-ca"]).fine();
    let mtls = format!("mode = \"{mode}\"\nca_bundle_path = \"agent-ca.pem\"");
    deployment.with("agtp", "require_verified_identity = true").with("agtp.mtls", &mtls).serve()
}

fn genesis(handle: &str) -> String {
    format!(".forecourt/agents/{handle}.genesis.json")
}

/// A certificate for `handle`, in `{name}.pem`.
fn certify(served: &Served, handle: &str, name: &str, more: &[&str]) -> String {
    let (genesis, file) = (genesis(handle), format!("{name}.pem"));
    let words = ["certificate", &genesis, "--authority", "agent-ca", "--out", &file];
    served.deployment.run("genesis", [&words[..], more].concat()).fine();
    file
}

/// Asks as `id` with a certificate; gives what came of it.
fn ask(served: &Served, id: &str, certificate: Option<&str>, more: &[&str]) -> Ran {
    let uri = format!("agtp://{DOMAIN}/agents/echo");
    let words = ["QUERY", uri.as_str(), "-d", r#"{"intent": "hello"}"#, "--json", "--agent-id", id];
    let shown = certificate.map(|file| ["--certificate", file]);
    served.deployment.run("agtp", [&words[..], shown.as_ref().map_or(&[], |shown| &shown[..]), more].concat())
}

/// The status, and the error object where there is one.
fn told(ran: Ran) -> (u64, Value) {
    let whole: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    (whole["status"].as_u64().unwrap(), whole["body"]["error"].clone())
}

#[test]
fn base_6_7_a_certificate_with_every_extension_proves_the_name_and_bounds_the_request() {
    let served = served("optional");
    let (echo, gate) = (served.deployment.agent_id("echo"), served.deployment.agent_id("gate"));
    served.deployment.write("receipt.bin", "a receipt");
    let whole = ["--activation", "act-1", "--receipt", "receipt.bin", "--scope", "documents:query", "--tier", "3"];
    let file = certify(&served, "echo", "echo", &[&whole[..], &["--zone", "eu", "--principal", "acme.tld"]].concat());
    assert_eq!(told(ask(&served, &echo, None, &[])).0, 401, "a name alone is a claim");
    assert_eq!(told(ask(&served, &echo, Some(&file), &["--scope", "documents:query"])).0, 200);
    for (who, more, status, code) in [
        (&gate, &[][..], 401, "agent-id-mismatch"),
        (&echo, &["--scope", "documents:query,payments:send"], 455, "scope-violation"),
        (&echo, &["-H", "AGTP-Zone-ID: us"], 457, "zone-violation"),
        (&echo, &["-H", "Principal-ID: evil.tld"], 401, "principal-id-mismatch"),
    ] {
        let (found, error) = told(ask(&served, who, Some(&file), more));
        assert_eq!((found, &error["code"]), (status, &code.into()), "{more:?} {error}");
    }
    assert_eq!(told(ask(&served, &echo, Some(&file), &["-H", "AGTP-Zone-ID: eu"])).0, 200);
}

#[test]
fn base_6_7_certificates_of_strangers_and_of_yesterday_get_no_connection() {
    let served = served("required");
    let echo = served.deployment.agent_id("echo");
    let own = certify(&served, "echo", "echo", &[]);
    assert_eq!(told(ask(&served, &echo, Some(&own), &[])).0, 200);
    // None at all, and one of an authority that nobody named here but that has the same name.
    ask(&served, &echo, None, &[]).failed(3);
    served.deployment.run("genesis", ["authority", "--name", "Agents of acme.tld", "--out", "other-ca"]).fine();
    let file = genesis("echo");
    let words = ["certificate", &file, "--authority", "other-ca", "--out", "other.pem"];
    served.deployment.run("genesis", words).fine();
    ask(&served, &echo, Some("other.pem"), &[]).failed(3);
}

/// A certificate for `id` that OpenSSL makes with these lines of extensions.
fn by_openssl(served: &Served, name: &str, extensions: &str, more: &[&str]) -> String {
    let folder = served.deployment.path();
    std::fs::write(folder.join("ext"), format!("basicConstraints = CA:FALSE\n{extensions}\n")).unwrap();
    let run = |words: &[&str]| {
        let output = Command::new("openssl").args(words).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let (key, request, certificate) = (format!("{name}.key"), format!("{name}.csr"), format!("{name}.crt"));
    run(&["genpkey", "-algorithm", "ed25519", "-out", &key]);
    run(&["req", "-new", "-key", &key, "-subj", "/CN=agent", "-out", &request]);
    let signed = ["x509", "-req", "-in", &request, "-CA", "agent-ca.pem", "-CAkey", "agent-ca.key", "-CAcreateserial"];
    run(&[&signed[..], &["-extfile", "ext", "-out", &certificate], more].concat());
    let both = [certificate, key].map(|file| served.deployment.read(&file)).concat();
    served.deployment.write(&format!("{name}.pem"), &both);
    format!("{name}.pem")
}

const AGENT: &str = "2.25.268315605531543067570885820853135175300";
const SCOPES: &str = "2.25.282163161526436136340860154693646256049";
const TIER: &str = "2.25.198335757712203466569903271149789286606";

#[test]
fn base_6_7_what_openssl_makes_is_held_to_the_same() {
    if Command::new("openssl").arg("version").output().is_err() {
        println!("skipped: there is no openssl here");
        return;
    }
    let served = served("optional");
    let echo = served.deployment.agent_id("echo");
    let named = format!("{AGENT} = critical,ASN1:UTF8String:{echo}");
    let ask = |file: &str| ask(&served, &echo, Some(file), &[]);
    let good = by_openssl(
        &served,
        "good",
        &format!("{named}\n{SCOPES} = critical,ASN1:UTF8String:documents:query"),
        &["-days", "3"],
    );
    assert_eq!(told(ask(&good)).0, 200);
    // Over before anybody could show it.
    let past = by_openssl(&served, "past", &named, &["-days", "-1"]);
    ask(&past).failed(3);
    // Critical, and known to nobody.
    let unknown =
        by_openssl(&served, "unknown", &format!("{named}\n1.2.3.4 = critical,ASN1:UTF8String:x"), &["-days", "3"]);
    ask(&unknown).failed(3);
    // Without the extension that names the agent it speaks for whoever has its key, which is not this one.
    let bare = by_openssl(&served, "bare", "extendedKeyUsage = clientAuth", &["-days", "3"]);
    assert_eq!(told(ask(&bare)).1["code"], "agent-id-mismatch");
    // For servers.
    let server = by_openssl(&served, "server", &format!("{named}\nextendedKeyUsage = serverAuth"), &["-days", "3"]);
    ask(&server).failed(3);
    // Signed, and not what it should be inside.
    for (n, wrong) in [
        format!("{AGENT} = critical,ASN1:UTF8String:lauren"),
        format!("{AGENT} = critical,DER:0c:84:01:01:01:01"),
        format!("{named}\n{TIER} = ASN1:INTEGER:4"),
        format!("{named}\n{SCOPES} = critical,ASN1:UTF8String:booking"),
    ]
    .iter()
    .enumerate()
    {
        let file = by_openssl(&served, &format!("wrong-{n}"), wrong, &["-days", "3"]);
        let (status, error) = told(ask(&file));
        assert_eq!((status, &error["code"]), (401, &"cert-verification-failed".into()), "{wrong}");
    }
}

#[test]
fn certificates_are_made_with_what_the_origin_says_and_never_over_a_file() {
    let served = served("optional");
    certify(&served, "echo", "echo", &[]);
    let genesis = genesis("echo");
    let again = ["certificate", &genesis, "--authority", "agent-ca", "--out", "echo.pem"];
    assert!(served.deployment.run("genesis", again).failed(1).contains("exists"));
    let missing = ["cert", &genesis, "--authority", "no-ca", "--out", "x.pem"];
    assert!(served.deployment.run("genesis", missing).failed(1).contains("genesis authority"));
    let mixed = ["certificate", &genesis, "--authority", "agent-ca", "--key", "agent-ca.pem", "--out", "x.pem"];
    served.deployment.run("genesis", mixed).failed(1);
    assert!(!served.deployment.path().join("x.pem").exists());
    let help = served.deployment.run("genesis", ["certificate", "--help"]).fine();
    assert!(help.contains("Example") && help.contains("--receipt"), "{help}");
    #[cfg(unix)]
    for file in ["echo.pem", "agent-ca.key"] {
        let meta = std::fs::metadata(served.deployment.path().join(file)).unwrap();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o777, 0o600, "{file}");
    }
}
