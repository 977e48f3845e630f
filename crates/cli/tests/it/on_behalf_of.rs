//! Services behind agents that are asked in the name of the caller, with a token that was exchanged for the caller's.
//! RFC 8693.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::identity::{believing, token_of};
use crate::receiver::Receiver;
use crate::support::{Deployment, Served};
use crate::wire::Answer;

/// A deployment of `@agent` with this backend, which believes what our issuer signs.
fn near(backend: &str) -> Served {
    let deployment = Deployment::of_backend(backend);
    let top = format!("{}\n{}", deployment.read("forecourt.toml"), believing());
    deployment.and("forecourt.toml", &top).serve_with(&crate::support::FREE_PORTS, &[("CRM_SECRET", "s3cret &more")])
}

fn exchange(endpoint: &Receiver) -> String {
    format!(
        "[backend.on_behalf_of]\ntoken_endpoint = \"{}\"\naudience = \"https://crm.example\"\nscope = \"crm.read\"\n\
         client_id = \"desk\"\nclient_secret = \"${{CRM_SECRET}}\"\n",
        endpoint.webhook_url()
    )
}

fn granted(token: &str) -> Value {
    json!({"access_token": token, "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
        "token_type": "Bearer", "expires_in": 300})
}

fn ask(served: &Served, token: Option<&str>) -> Answer {
    let bearer = format!("Authorization: Bearer {}", token.unwrap_or_default());
    let words = ["-H", "Accept: application/json", "-H", &bearer];
    served.curl("/~agent?user=hello", if token.is_some() { &words } else { &words[..2] })
}

#[test]
fn rfc8693_the_service_is_shown_a_token_of_its_own_and_never_the_callers() {
    let (endpoint, service) =
        (Receiver::answering(vec![granted("for-crm-1")]), Receiver::answering(vec![json!({"text": "Well."}); 2]));
    let backend = format!("kind = \"http\"\nurl = \"{}\"\n{}", service.webhook_url(), exchange(&endpoint));
    let served = near(&backend);
    let token = token_of("ada");
    // The second time it is at hand: the endpoint would have no other one.
    for _ in 0..2 {
        assert!(ask(&served, Some(&token)).with_status(200).text().contains("Well."));
        let heard = service.post();
        assert_eq!(heard.field("authorization"), Some("Bearer for-crm-1"));
        assert!(!format!("{heard:?}").contains(&token) && !String::from_utf8_lossy(&heard.body).contains(&token));
    }
    let asked = endpoint.post();
    let form: HashMap<String, String> = url::form_urlencoded::parse(&asked.body).into_owned().collect();
    assert_eq!(form["grant_type"], "urn:ietf:params:oauth:grant-type:token-exchange");
    assert_eq!((form["subject_token"].as_str(), form["audience"].as_str()), (token.as_str(), "https://crm.example"));
    assert_eq!((form["scope"].as_str(), form.get("resource")), ("crm.read", None));
    // `desk:s3cret+%26more`, as RFC 6749 2.3.1 encodes it.
    assert_eq!(asked.field("authorization"), Some("Basic ZGVzazpzM2NyZXQrJTI2bW9yZQ=="));

    let stranger = ask(&served, None).with_status(401);
    assert!(stranger.named("www-authenticate").starts_with("Bearer realm="), "{stranger:?}");
    let mut create = served.deployment.command("keys");
    let made = create.args(["api", "create", "nightly"]).env("CRM_SECRET", "s3cret &more").output().unwrap();
    let key = String::from_utf8(made.stdout).unwrap();
    assert!(key.starts_with("fck_"), "{key}");
    ask(&served, Some(key.trim())).with_status(401);

    served.signal(nix::sys::signal::Signal::SIGTERM);
    let (_, log, deployment) = served.ended();
    let signature = token.rsplit('.').next().unwrap();
    assert!(!log.contains(signature) && !log.contains("for-crm-1") && !log.contains("s3cret"), "{log}");
    for file in std::fs::read_dir(deployment.data()).unwrap().flatten() {
        let Ok(bytes) = std::fs::read(file.path()) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(signature) && !text.contains("for-crm-1"), "{}", file.path().display());
    }
}

#[test]
fn rfc8693_without_settings_a_callers_token_goes_nowhere() {
    let service = Receiver::answering(vec![json!({"text": "Well."})]);
    let served = near(&format!("kind = \"http\"\nurl = \"{}\"\n", service.webhook_url()));
    let token = token_of("ada");
    ask(&served, Some(&token)).with_status(200);
    let heard = service.post();
    assert_eq!(heard.field("authorization"), None);
    assert!(!format!("{heard:?}").contains(&token) && !String::from_utf8_lossy(&heard.body).contains(&token));
}

#[test]
fn rfc8693_an_endpoint_that_gives_the_callers_token_back_gives_nothing() {
    let token = token_of("ada");
    let (endpoint, service) = (Receiver::answering(vec![granted(&token)]), Receiver::start());
    let backend = format!("kind = \"http\"\nurl = \"{}\"\n{}", service.webhook_url(), exchange(&endpoint));
    let answer = ask(&near(&backend), Some(&token));
    assert!(answer.text().contains("does not serve this host"), "{answer:?}");
}

/// A host elsewhere, whose `@vip` answers nobody but proven callers.
fn far() -> Served {
    let deployment = Deployment::gatehouse();
    let top = format!("{}\n{}", deployment.read("forecourt.toml"), believing());
    let vip =
        "handle = \"vip\"\nname = \"Vip\"\n[backend]\nkind = \"echo\"\n[[policy.rules]]\nkind = \"require_identity\"\n";
    deployment.and("forecourt.toml", &top).and("agents/vip.toml", vip).serve()
}

#[test]
fn rfc8693_remote_agents_and_servers_are_asked_in_the_callers_name_too() {
    let far = far();
    for backend in [
        format!("kind = \"a2a\"\nurl = \"{}\"\n", far.url("/a2a/vip")),
        format!("kind = \"mcp\"\nurl = \"{}\"\ntool = \"ask_vip\"\n", far.url("/mcp")),
    ] {
        // What the endpoint gives is good at the far end, and of another subject than the caller's own.
        let endpoint = Receiver::answering(vec![granted(&token_of("ada-at-far"))]);
        let served = near(&format!("{backend}{}", exchange(&endpoint)));
        let answer = ask(&served, Some(&token_of("ada"))).with_status(200);
        assert!(answer.text().contains("hello"), "{backend}: {answer:?}");
        ask(&served, None).with_status(401);
        // Without an exchange the far end does not know the caller.
        let answer = ask(&near(&backend), Some(&token_of("ada")));
        assert!(answer.status != 200 || !answer.text().contains("hello"), "{backend}: {answer:?}");
    }
}

#[test]
fn what_is_wrong_with_an_exchange_is_said() {
    let refused = |more: &str| {
        let backend = format!("kind = \"http\"\nurl = \"http://127.0.0.1:9/\"\n{more}");
        Deployment::of_backend(&backend).run("check", [] as [&str; 0]).failed(1)
    };
    let table = |lines: &str| format!("[backend.on_behalf_of]\nclient_id = \"a\"\nclient_secret = \"b\"\n{lines}");
    let https = "token_endpoint = \"https://idp.example/token\"\n";
    assert!(refused(&table(https)).contains("`audience` or `resource`"));
    assert!(
        refused(&table("audience = \"x\"\ntoken_endpoint = \"http://idp.example/token\"\n")).contains("must be https")
    );
    let both = format!("audience = \"x\"\nclient_secret_file = \"f\"\n{https}");
    assert!(refused(&table(&both)).contains("either `client_secret` or `client_secret_file`"));
    let own = format!("headers = {{ Authorization = \"x\" }}\n{}", table(&format!("audience = \"x\"\n{https}")));
    assert!(refused(&own).contains("exclude each other"));
}
