//! Tokens of a real authorization server over AGTP: which are taken, which are not, and that none is kept anywhere.
//! Base 7.4. `dev/sdk/setup` brings the server.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::scripts::{RunningScript, client_script, library};
use crate::support::{DOMAIN, Deployment, Ran, Served, within};
use crate::wire::curl;

/// Who is meant by tokens.
const AUDIENCE: &str = "https://demo.localhost";

/// An authorization server, and the folder with its certificate.
struct Issuer {
    script: RunningScript,
    url: String,
    ca: PathBuf,
}

impl Issuer {
    /// Starts one, and serves a deployment that believes it, with more lines in `[agtp.policies.oauth]`. Every QUERY
    /// needs a token. `None`, and says so, where there is none.
    fn serve(more: &str) -> Option<(Self, Served)> {
        let folder = library("oidc-provider")?;
        // Its first run gives it an authority, and a certificate for this machine.
        let deployment = Deployment::gatehouse().serve().killed();
        let mut command = client_script("token_issuer.mjs", Some(&folder));
        command.env("TLS_FOLDER", deployment.data()).env("NODE_NO_WARNINGS", "1");
        let (script, url) = RunningScript::start(&mut command);
        let ca = deployment.data().join("ca.pem");
        let deployment = deployment
            .with("egress", "allow = [\"127.0.0.0/8\"]\nca_files = [\".forecourt/ca.pem\"]")
            .with("endpoints", "token_required = [\"QUERY\"]")
            .with("agtp.policies.oauth", more);
        let top = deployment.read("forecourt.toml");
        let bearer = format!(
            "[[identity.bearer]]\nissuer = \"{url}\"\naudience = [\"{AUDIENCE}\"]\njwks_url = \"{url}/jwks\"\n"
        );
        let served = deployment.and("forecourt.toml", &format!("{top}\n{bearer}")).serve();
        Some((Self { script, url, ca }, served))
    }

    /// A token that it gives to its client, for `resource`.
    fn token(&self, resource: &str) -> String {
        let (ca, resource) = (self.ca.display().to_string(), format!("resource={resource}"));
        let asked = ["--cacert", &ca, "-u", "desk:a-secret-of-the-test", "-d", "grant_type=client_credentials"];
        let given = curl(&format!("{}/token", self.url), &[&asked[..], &["-d", &resource]].concat());
        given.with_status(200).json()["access_token"].as_str().unwrap().to_owned()
    }

    fn forge(&mut self, kind: &str) -> String {
        self.script.tell(&format!("forge {kind}"))
    }
}

/// Asks the deployment's `@echo`; gives the status and the code of the problem.
fn ask(served: &Served, token: Option<&str>) -> (u64, String) {
    let uri = format!("agtp://{DOMAIN}/agents/echo");
    let bearer = format!("Authorization: Bearer {}", token.unwrap_or_default());
    let mut words = vec!["QUERY", uri.as_str(), "-d", r#"{"intent": "hello"}"#, "--json"];
    words.extend(token.iter().flat_map(|_| ["-H", bearer.as_str()]));
    let Ran { stdout, stderr, .. } = served.deployment.run("agtp", words);
    let told: Value = serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{stdout}{stderr}"));
    let code = told["body"]["error"]["code"].as_str().unwrap_or_default().to_owned();
    (told["status"].as_u64().unwrap(), code)
}

fn refused(code: &str) -> (u64, String) {
    (401, code.to_owned())
}

/// Every file below a folder, and what is in it.
fn files(folder: &Path) -> impl Iterator<Item = (PathBuf, Vec<u8>)> {
    let entries = walkdir::WalkDir::new(folder).into_iter().flatten();
    entries.filter_map(|entry| Some((entry.path().to_owned(), std::fs::read(entry.path()).ok()?)))
}

#[test]
fn base_7_4_a_token_of_the_issuer_is_taken_and_every_other_is_refused() {
    let Some((mut issuer, served)) = Issuer::serve("") else { return };
    assert_eq!(ask(&served, None), refused("oauth-required"));
    assert_eq!(ask(&served, Some(&issuer.token(AUDIENCE))).0, 200);
    assert_eq!(ask(&served, Some(&issuer.token("https://other.example"))), refused("oauth-invalid"), "the audience");
    // What is signed like a good one is taken, so that each of the others is refused for what it is.
    assert_eq!(ask(&served, Some(&issuer.forge("good"))).0, 200);
    let wrong = ["expired", "early", "issuer", "audience", "no-audience", "id-token", "key", "none", "hs256"];
    for kind in wrong {
        assert_eq!(ask(&served, Some(&issuer.forge(kind))), refused("oauth-invalid"), "{kind}");
    }
    for (n, cut) in ["", "x", "a.b", "a.b.c", &format!("{}x", issuer.token(AUDIENCE))].iter().enumerate() {
        assert_eq!(ask(&served, Some(cut)).0, 401, "{n}");
    }
}

#[test]
fn base_7_4_keys_are_replaced_while_serving() {
    let Some((mut issuer, served)) = Issuer::serve("") else { return };
    let before = issuer.token(AUDIENCE);
    // What was refused before any key was needed makes nobody wait for the next ones.
    assert_eq!(ask(&served, Some(&issuer.forge("issuer"))).0, 401);
    issuer.script.tell("rotate");
    let after = issuer.token(AUDIENCE);
    within("the new key is known", || (ask(&served, Some(&after)).0 == 200).then_some(()));
    assert_eq!(ask(&served, Some(&before)), refused("oauth-invalid"), "its key is gone");
    assert_eq!(ask(&served, Some(&issuer.forge("key"))), refused("oauth-invalid"));
}

#[test]
fn base_7_4_the_principal_is_the_claim_that_is_named() {
    let Some((mut issuer, served)) = Issuer::serve("principal_id_claim = \"email\"") else { return };
    assert_eq!(ask(&served, Some(&issuer.token(AUDIENCE))).0, 200);
    assert_eq!(ask(&served, Some(&issuer.forge("no-email"))), refused("oauth-invalid"));
}

#[test]
fn base_7_4_no_token_is_kept_or_logged() {
    let Some((mut issuer, served)) = Issuer::serve("") else { return };
    let (good, bad) = (issuer.token(AUDIENCE), issuer.forge("expired"));
    assert_eq!(ask(&served, Some(&good)).0, 200);
    assert_eq!(ask(&served, Some(&bad)).0, 401);
    served.signal(nix::sys::signal::Signal::SIGTERM);
    let (_, log, deployment) = served.ended();
    // The last part is the signature, which alone makes a token of it.
    for token in [good, bad] {
        let signature = token.rsplit('.').next().unwrap();
        assert!(!log.contains(signature), "{log}");
        for (file, bytes) in files(&deployment.data()) {
            let holds = bytes.windows(signature.len()).any(|window| window == signature.as_bytes());
            assert!(!holds, "{}", file.display());
        }
    }
}

#[test]
fn base_7_4_checks_are_not_turned_off_by_one_word_or_for_others() {
    let noop = |lines: &str| Deployment::gatehouse().with("agtp.policies.oauth", lines);
    let told = noop("validator = \"noop\"").run("check", ["."]);
    assert!(told.code == Some(1) && format!("{told:?}").contains("allow_noop_validator"), "{told:?}");
    let served = noop("validator = \"noop\"\nallow_noop_validator = true")
        .with("endpoints", "token_required = [\"QUERY\"]")
        .serve();
    assert_eq!(ask(&served, None), refused("oauth-required"));
    assert_eq!(ask(&served, Some("anything")).0, 200);
}
