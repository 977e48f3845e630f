//! A person who signed in is asked for a consent: nobody else gives it, and the audit says who did.

use super::{Visitor, serve};
use crate::openid::Provider;
use crate::support::within;

/// An agent for people who signed in and agreed.
const CLUB: &str = r#"
handle = "club"
name = "Club"
description = "Answers members who agreed."

[backend]
kind = "echo"

[[policy.rules]]
kind = "require_identity"
message = "Members only."

[[policy.rules]]
kind = "require_consent"
text = "Your questions are kept for 30 days."
"#;

/// What the form of a page sends along.
pub(super) fn token(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"token\" value=\"").expect("there is a form");
    rest.split('"').next().unwrap().to_owned()
}

#[test]
fn policy3_3_4_who_was_asked_decides_and_the_audit_says_by_which_proof() {
    let Some(provider) = Provider::start() else { return };
    let served = serve(provider.deployment("").and("agents/club.toml", CLUB));
    let [ada, bob, nobody] = std::array::from_fn(|_| Visitor::new(&served));
    ada.sign_in(&provider, "ada").with_status(200);
    bob.sign_in(&provider, "bob").with_status(200);
    let asked = ada.ask("/~club?user=soup", &["-H", "Accept: application/json"]).with_status(401).json();
    let url = asked["policy"]["url"].as_str().unwrap();
    let path = url.strip_prefix(&served.https_url("")).unwrap();
    let form = |token: &str| format!("decision=accept&token={token}");
    let token = token(&ada.ask(path, &[]).with_status(200).text());

    // Whoever has nothing but the address is led to the sign-in, and back.
    let page = nobody.ask(path, &[]).with_status(200);
    assert!(page.text().contains("Sign in as that person") && !page.text().contains("I agree"), "{page:?}");
    assert!(page.text().contains("/sign-in?return_to=%2Fconsent%2F"), "{page:?}");
    let page = bob.ask(path, &[]).with_status(200);
    assert!(page.text().contains("You are signed in as Bob") && !page.text().contains("I agree"), "{page:?}");
    for stranger in [&nobody, &bob] {
        let refused = stranger.ask(path, &["-d", &form(&token)]).with_status(403);
        assert!(refused.text().contains("only the person who asked"), "{refused:?}");
    }
    let back = ada.ask(path, &["-d", &form(&token)]).with_status(303);
    let answer = ada.follow(&back.named("location")).with_status(200);
    assert!(answer.text().contains("soup"), "{answer:?}");

    let verified = || {
        let secret = [("OIDC_SECRET", "a-secret-of-the-test".to_owned())];
        let audit = served.deployment.run_with("audit", [""; 0], &secret);
        audit.stdout.lines().find(|line| line.contains("verified")).map(str::to_owned)
    };
    let line = within("the audit is written", verified);
    assert!(line.contains(&format!("decided by oidc:{}#ada (session)", provider.issuer)), "{line}");
}
