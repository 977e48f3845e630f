//! People sign in, at a certified provider, with a browser and without one: what a refusal leads to, and what nobody
//! gets by with. `dev/sdk/setup` brings the provider.

mod brokered;
mod consent;

use std::path::PathBuf;

use tempfile::TempDir;

use crate::browser::{Browser, ENTER, View};
use crate::openid::Provider;
use crate::pages::assert_quiet;
use crate::support::{Deployment, Served, within};
use crate::wire::Answer;

/// An agent for people who signed in.
const MEMBERS: &str = r#"
handle = "members"
name = "Members"
description = "Answers members."

[backend]
kind = "echo"

[[policy.rules]]
kind = "require_identity"
message = "Members only."
"#;

/// An agent for whom signing in is not enough.
const PROGRAMS: &str = r#"
handle = "programs"
name = "Programs"

[backend]
kind = "echo"

[[policy.rules]]
kind = "require_identity"
methods = ["urn:mentionable:auth:oauth-bearer:v0.1"]
"#;

/// The cookies of this host.
const SESSION: &str = "__Host-session";
const ATTEMPT: &str = "__Host-sign-in-";

impl Provider {
    /// A deployment whose people sign in there, with more lines in `[identity.oidc]`.
    fn deployment(&self, more: &str) -> Deployment {
        let lines = format!(
            "issuer = \"{}\"\nclient_id = \"forecourt\"\nclient_secret = \"${{OIDC_SECRET}}\"\n{more}",
            self.issuer
        );
        let deployment = Deployment::gatehouse().open_to_loopback().with("identity.oidc", &lines);
        deployment.and("agents/members.toml", MEMBERS).and("agents/programs.toml", PROGRAMS)
    }

    fn serve(&self, more: &str) -> Served {
        serve(self.deployment(more))
    }
}

fn serve(deployment: Deployment) -> Served {
    deployment.serve_with(&crate::support::FREE_PORTS, &[("OIDC_SECRET", "a-secret-of-the-test")])
}

/// A browser without a browser: its cookies, and where it asks.
struct Visitor<'a> {
    served: &'a Served,
    folder: TempDir,
}

impl<'a> Visitor<'a> {
    fn new(served: &'a Served) -> Self {
        Self { served, folder: tempfile::tempdir().unwrap() }
    }

    fn jar(&self) -> PathBuf {
        self.folder.path().join("jar")
    }

    /// Asks, as a page that a person opens or sends a form from.
    #[track_caller]
    fn ask(&self, path: &str, arguments: &[&str]) -> Answer {
        let jar = self.jar().display().to_string();
        let is_named = arguments.iter().any(|argument| argument.starts_with("Accept:"));
        let accept = if is_named { "X-Of: test" } else { "Accept: text/html" };
        let own = ["-b", &jar, "-c", &jar, "-H", accept, "-H", "Sec-Fetch-Site: same-origin"];
        self.served.curl_tls(path, &[&own, arguments].concat())
    }

    /// Follows to a URL of the host.
    #[track_caller]
    fn follow(&self, url: &str) -> Answer {
        self.ask(url.strip_prefix(&self.served.https_url("")).unwrap_or(url), &[])
    }

    /// The value of a cookie whose name begins so, as curl keeps it.
    fn cookie(&self, name: &str) -> Option<String> {
        let kept = std::fs::read_to_string(self.jar()).unwrap_or_default();
        let fields = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
        let cookies = kept.lines().map(fields).filter(|fields| fields.len() == 7);
        cookies.into_iter().find(|fields| fields[5].starts_with(name)).map(|fields| fields[6].clone())
    }

    /// Signs in, from the refusal of a question to its answer.
    #[track_caller]
    fn sign_in(&self, provider: &Provider, login: &str) -> Answer {
        let refused = self.ask("/~members?user=hello", &["-H", "Accept: application/json"]).with_status(401);
        let url = refused.json()["policy"]["url"].as_str().unwrap().to_owned();
        let left = self.follow(&url).with_status(303);
        let back = provider.sign_in(&left.named("location"), login);
        let came = self.follow(&back).with_status(303);
        self.follow(&came.named("location"))
    }
}

/// A parameter of a URL, decoded.
fn parameter(url: &str, name: &str) -> Option<String> {
    let url = url::Url::parse(url).unwrap();
    url.query_pairs().find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}

#[test]
fn policy3_3_1_a_refusal_leads_to_a_sign_in_and_back_to_the_question() {
    let Some(provider) = Provider::start() else { return };
    let served = provider.serve("");
    let visitor = Visitor::new(&served);
    let refused = visitor.ask("/~members?user=soup+%26+salad&lang=de", &["-H", "Accept: application/json"]);
    let refused = refused.with_status(401);
    assert!(refused.named("www-authenticate").starts_with("Bearer realm="), "{refused:?}");
    let policy = refused.json()["policy"].clone();
    let url = policy["url"].as_str().unwrap();
    assert!(url.starts_with(&served.https_url("/sign-in?return_to=")), "{url}");
    assert_eq!(parameter(url, "return_to").unwrap(), "/~members?user=soup+%26+salad&lang=de");
    assert_eq!(policy["action_label"], "Sign in");

    let left = visitor.follow(url).with_status(303);
    let away = left.named("location");
    assert!(away.starts_with(&provider.issuer), "{away}");
    for (name, value) in [("response_type", "code"), ("client_id", "forecourt"), ("code_challenge_method", "S256")] {
        assert_eq!(parameter(&away, name).as_deref(), Some(value));
    }
    assert_eq!(parameter(&away, "redirect_uri").unwrap(), served.https_url("/sign-in/callback"));
    for name in ["state", "nonce", "code_challenge"] {
        assert_eq!(parameter(&away, name).map(|text| text.len()), Some(43), "{name}");
    }
    let set = left.named("set-cookie");
    for word in [ATTEMPT, "; Path=/;", "Max-Age=600", "HttpOnly", "SameSite=Lax", "Secure"] {
        assert!(set.contains(word), "no {word} in {set}");
    }

    let back = provider.sign_in(&away, "ada");
    let came = visitor.follow(&back).with_status(303);
    assert_eq!(came.named("location"), served.https_url("/~members?user=soup+%26+salad&lang=de"));
    let answer = visitor.follow(&came.named("location")).with_status(200);
    assert!(answer.text().contains("soup &amp; salad"), "{answer:?}");
    assert!(answer.named("cache-control").starts_with("private"), "{answer:?}");
    // The sign-in on its way is over, the session is there.
    assert_eq!(visitor.cookie(ATTEMPT), None);
    assert_eq!(visitor.cookie(SESSION).map(|token| token.len()), Some(43));
    // The agent was told who asked; nobody else is.
    visitor.ask("/~members?user=again", &[]).with_status(200);
    served.curl_tls("/~members?user=again", &[]).with_status(401);
}

#[test]
fn a_question_that_was_posted_or_asked_elsewhere_is_found_again() {
    let Some(provider) = Provider::start() else { return };
    let served = provider.serve("");
    let back = |answer: &Answer| {
        let policy = answer.json()["policy"].clone();
        parameter(policy["url"].as_str().unwrap(), "return_to").unwrap()
    };
    let post =
        |form: &str| served.curl_tls("/~members", &["-H", "Accept: application/json", "-F", form]).with_status(401);
    assert_eq!(back(&post("user=soup & salad")), "/~members?user=soup+%26+salad");
    // Too long for an address: the agent, whose page still has it.
    assert_eq!(back(&post(&format!("user={}", "long ".repeat(1_500)))), "/~members");
    assert_eq!(back(&post("user=x;type=image/png")), "/~members");
    // Over other protocols the page of the agent, and the same words for programs.
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"messageId":"m",
        "role":"user","kind":"message","parts":[{"kind":"text","text":"hello"}]}}}"#;
    let refused = served.curl_tls("/a2a/members", &["-H", "Content-Type: application/json", "-d", message]);
    assert!(refused.text().contains(&served.https_url("/sign-in?return_to=%2F~members")), "{refused:?}");
    assert!(refused.text().contains("auth_challenges"), "{refused:?}");
}

#[test]
fn rest7_2_a_cookie_counts_on_our_own_pages_and_on_no_other_wire() {
    let Some(provider) = Provider::start() else { return };
    let served = provider.serve("");
    let visitor = Visitor::new(&served);
    visitor.sign_in(&provider, "ada").with_status(200);
    let cookie = format!("Cookie: {SESSION}={}", visitor.cookie(SESSION).unwrap());
    let asked = |fields: &[&str], status: u16| {
        let fields: Vec<&str> = fields.iter().flat_map(|field| ["-H", *field]).collect();
        let arguments = [&["-H", cookie.as_str()], fields.as_slice(), &["-F", "user=hello"]].concat();
        served.curl_tls("/~members", &arguments).with_status(status);
    };
    let origin = format!("Origin: {}", served.https_url(""));
    asked(&["Sec-Fetch-Site: same-origin"], 200);
    asked(&[&origin], 200);
    asked(&[], 401);
    asked(&["Sec-Fetch-Site: same-site", &origin], 401);
    asked(&["Sec-Fetch-Site: cross-site"], 403);
    asked(&["Origin: https://evil.example"], 403);
    let image = ["-H", &cookie, "-H", "Sec-Fetch-Site: cross-site", "-H", "Sec-Fetch-Mode: no-cors"];
    served.curl_tls("/~members?user=hello", &image).with_status(401);
    // Other wires never look at it.
    let own = ["-H", &cookie, "-H", "Sec-Fetch-Site: same-origin", "-H", "Content-Type: application/json"];
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"messageId":"m","role":"user",
        "kind":"message","parts":[{"kind":"text","text":"hello"}],"metadata":{}}}}"#;
    let over = served.curl_tls("/a2a/members", &[&own[..], &["-d", message]].concat());
    assert!(!over.text().contains("completed"), "{over:?}");
}

#[test]
fn whoever_signed_in_and_does_not_pass_is_refused_for_good() {
    let Some(provider) = Provider::start() else { return };
    let served = provider.serve("");
    let visitor = Visitor::new(&served);
    visitor.sign_in(&provider, "ada").with_status(200);
    let refused = visitor.ask("/~programs?user=hello", &["-H", "Accept: application/json"]).with_status(403);
    assert_eq!(refused.json()["policy"]["kind"], "forbidden");
    assert_eq!(refused.json()["policy"].get("url"), None);
}

#[test]
fn what_comes_back_is_good_once_and_for_the_browser_that_began() {
    let Some(provider) = Provider::start() else { return };
    let served = provider.serve("");
    let begin = |visitor: &Visitor<'_>, login: &str| {
        let left = visitor.ask("/sign-in?return_to=/~members", &[]).with_status(303);
        provider.sign_in(&left.named("location"), login)
    };
    let refused = |visitor: &Visitor<'_>, url: &str| {
        let answer = visitor.follow(url).with_status(400);
        assert_eq!(visitor.cookie(SESSION), None, "{url}");
        assert!(answer.text().contains("Try again"), "{answer:?}");
    };
    // Without the cookie, as when somebody is led to the end of another's sign-in; then it is used up for all.
    let (mallory, victim) = (Visitor::new(&served), Visitor::new(&served));
    let back = begin(&mallory, "mallory");
    refused(&victim, &back);
    refused(&mallory, &back);
    // A state that nobody gave out, none, and two.
    let ada = Visitor::new(&served);
    let back = begin(&ada, "ada");
    let code = parameter(&back, "code").unwrap();
    let state = parameter(&back, "state").unwrap();
    refused(&ada, &format!("/sign-in/callback?code={code}&state={}", "A".repeat(43)));
    refused(&ada, &format!("/sign-in/callback?code={code}"));
    refused(&ada, &format!("/sign-in/callback?code={code}&state={state}&state={state}"));
    // The code of another sign-in: its challenge is another one.
    let other = Visitor::new(&served);
    let swapped = parameter(&begin(&other, "mallory"), "code").unwrap();
    let issuer = parameter(&back, "iss").unwrap();
    refused(&ada, &format!("/sign-in/callback?code={swapped}&state={state}&iss={issuer}"));
    // Another issuer, and none where this provider always names itself: mix-up. RFC 9207.
    for issuer in ["&iss=https://evil.example", ""] {
        let back = begin(&ada, "ada");
        let (code, state) = (parameter(&back, "code").unwrap(), parameter(&back, "state").unwrap());
        refused(&ada, &format!("/sign-in/callback?code={code}&state={state}{issuer}"));
    }
    // The real one works once.
    let back = begin(&ada, "ada");
    ada.follow(&back).with_status(303);
    ada.ask("/~members?user=hello", &[]).with_status(200);
    ada.follow(&back).with_status(400);
    // The provider's word that it did not.
    let none = Visitor::new(&served);
    let left = none.ask("/sign-in?return_to=/~members%3Fuser%3Dx", &[]).with_status(303);
    let state = parameter(&left.named("location"), "state").unwrap();
    let declined = none.follow(&format!("/sign-in/callback?error=access_denied&state={state}&iss={issuer}"));
    assert!(declined.with_status(400).text().contains("/sign-in?return_to=%2F~members%3Fuser%3Dx"));
}

#[test]
fn a_session_is_new_at_each_sign_in_and_gone_after_signing_out() {
    let Some(provider) = Provider::start() else { return };
    let served = provider.serve("");
    let visitor = Visitor::new(&served);
    // One that was planted opens nothing, and is not what the browser has afterwards.
    let planted = "p".repeat(43);
    let line = format!("#HttpOnly_demo.localhost\tFALSE\t/\tTRUE\t0\t{SESSION}\t{planted}\n");
    std::fs::write(visitor.jar(), format!("# Netscape HTTP Cookie File\n{line}")).unwrap();
    visitor.ask("/~members?user=hello", &[]).with_status(401);
    visitor.sign_in(&provider, "ada").with_status(200);
    let first = visitor.cookie(SESSION).unwrap();
    assert_ne!(first, planted);
    let with = |token: &str| {
        let cookie = format!("Cookie: {SESSION}={token}");
        served.curl_tls("/~members?user=hello", &["-H", &cookie]).status
    };
    assert_eq!((with(&planted), with(&first)), (401, 200));
    // Who is signed in is told so, and has no need to do it again.
    let told = visitor.ask("/sign-in", &[]).with_status(200).text();
    assert!(told.contains("signed in as Ada"), "{told}");
    let back = visitor.ask("/sign-in?return_to=/~members", &[]).with_status(303);
    assert_eq!(back.named("location"), served.https_url("/~members"));

    // Nobody else's page signs anybody out, and no link does.
    let cookie = format!("Cookie: {SESSION}={first}");
    for fields in [
        &["-H", "Sec-Fetch-Site: cross-site"][..],
        &["-H", "Sec-Fetch-Site: same-site"],
        &["-H", "Origin: https://evil.example"],
        &["-H", "Origin: null"],
        &[],
    ] {
        served.curl_tls("/sign-out", &[&["-X", "POST", "-H", &cookie], fields].concat()).with_status(403);
    }
    visitor.ask("/sign-out", &[]).with_status(405);
    assert_eq!(with(&first), 200);
    visitor.ask("/sign-out", &["-X", "POST"]).with_status(200);
    assert_eq!((visitor.cookie(SESSION), with(&first)), (None, 401));
}

#[test]
fn a_session_outlives_a_crash_and_a_rotation_of_the_providers_keys() {
    let Some(mut provider) = Provider::start() else { return };
    let served = provider.serve("");
    let visitor = Visitor::new(&served);
    visitor.sign_in(&provider, "ada").with_status(200);
    let cookie = format!("Cookie: {SESSION}={}", visitor.cookie(SESSION).unwrap());
    provider.tell("rotate");
    Visitor::new(&served).sign_in(&provider, "grace").with_status(200);
    drop(visitor);
    let again = serve(served.killed());
    again.curl_tls("/~members?user=hello", &["-H", &cookie]).with_status(200);
}

#[test]
fn only_the_domains_that_are_allowed_sign_in_and_only_with_a_verified_address() {
    let Some(provider) = Provider::start() else { return };
    let served = provider.serve("allowed_domains = [\"acme.tld\"]\nsubject_claim = \"email\"");
    Visitor::new(&served).sign_in(&provider, "ada").with_status(200);
    for stranger in ["eve@evil.tld", "unverified@acme.tld"] {
        let visitor = Visitor::new(&served);
        let left = visitor.ask("/sign-in?return_to=/~members", &[]).with_status(303);
        let back = provider.sign_in(&left.named("location"), stranger);
        let refused = visitor.follow(&back).with_status(403);
        assert!(refused.text().contains("no access"), "{refused:?}");
        assert_eq!(visitor.cookie(SESSION), None);
    }
}

#[test]
fn open_redirects_are_refused() {
    let Some(provider) = Provider::start() else { return };
    let served = provider.serve("");
    for evil in [
        "//evil.example",
        "/%5Cevil.example",
        "%2F%2Fevil.example",
        "https://evil.example",
        "/%252Fevil.example",
        "/%09/evil.example",
        "javascript:alert(1)",
        "/sign-out",
        "",
        "/%0d%0aSet-Cookie:x=y",
    ] {
        let refused = served.curl_tls(&format!("/sign-in?return_to={evil}"), &[]).with_status(400);
        assert_eq!(refused.field("location"), None, "{evil}");
        assert_eq!(refused.field("set-cookie"), None, "{evil}");
    }
    served.curl_tls("/sign-in?return_to=/a&return_to=//evil.example", &[]).with_status(400);
}

#[test]
fn a_provider_that_is_away_or_slow_is_a_page_with_another_try() {
    let Some(mut provider) = Provider::start() else { return };
    let served = provider.serve("");
    provider.tell("slow");
    let visitor = Visitor::new(&served);
    let away = visitor.ask("/sign-in?return_to=/~members%3Fuser%3Dhello", &[]).with_status(503);
    assert!(away.field("retry-after").is_some(), "{away:?}");
    assert!(away.text().contains("href=\"/sign-in?return_to=%2F~members%3Fuser%3Dhello\""), "{away:?}");
    provider.tell("well");
    let left = within("the provider is asked again", || {
        Some(visitor.ask("/sign-in?return_to=/~members", &[])).filter(|answer| answer.status == 303)
    });
    // It goes away while a person is there.
    let back = provider.sign_in(&left.named("location"), "ada");
    drop(provider);
    let away = visitor.follow(&back).with_status(503);
    assert!(away.text().contains("/sign-in?return_to=%2F~members"), "{away:?}");
}

#[test]
fn signing_out_of_the_provider_too() {
    let Some(provider) = Provider::start() else { return };
    let served = provider.serve("logout = \"provider\"");
    let visitor = Visitor::new(&served);
    visitor.sign_in(&provider, "ada").with_status(200);
    let page = visitor.ask("/sign-out", &["-X", "POST"]).with_status(200).text();
    let refresh = format!("content=\"0;url={}/session/end?client_id=forecourt&#38;", provider.issuer);
    let refresh_other = refresh.replace("&#38;", "&amp;");
    assert!(page.contains(&refresh) || page.contains(&refresh_other), "{page}");
    assert!(page.contains("id_token_hint=") && page.contains("post_logout_redirect_uri="), "{page}");
}

#[test]
fn a_provider_that_may_not_be_reached_is_said_at_the_start() {
    let oidc = "issuer = \"http://127.0.0.1:9\"\nclient_id = \"forecourt\"";
    let deployment = Deployment::gatehouse().with("identity.oidc", oidc);
    let problem = deployment.run("serve", crate::support::FREE_PORTS).failed(1);
    assert!(problem.contains("`issuer` in [identity.oidc]") && problem.contains("allow_http"), "{problem}");
}

#[test]
fn without_a_provider_there_is_nothing_to_sign_in_at() {
    let served = Deployment::gatehouse().and("agents/members.toml", MEMBERS).serve();
    for path in ["/sign-in", "/sign-in/callback"] {
        served.curl(path, &[]).with_status(404);
    }
    let refused = served.curl("/~members?user=x", &["-H", "Accept: application/json"]).with_status(401);
    assert_eq!(refused.json()["policy"].get("url"), None);
    assert!(!served.curl("/", &[]).text().contains("Sign in"));
}

#[test]
fn a_person_signs_in_asks_and_signs_out() {
    let Some(provider) = Provider::start() else { return };
    let Some(browser) = Browser::open(View::Desk) else { return };
    let served = provider.serve("");
    browser.go(&served.https_url("/~members"));
    browser.picture("sign-in-agent");
    browser.find("#user").r#type(&format!("what is for dinner?{ENTER}"));
    let link = browser.find(".turn:last-child .notice a");
    browser.picture("sign-in-refused-in-chat");
    let to = link.property("href");
    browser.go(&to);
    let question = served.https_url("/~members?user=what");
    provider.sign_in_with(&browser, "ada", || browser.url().starts_with(&question));
    let answer = browser.find("article").text();
    assert!(answer.contains("what is for dinner?"), "{answer}");
    browser.picture("sign-in-answered");
    let _ = browser.complaints();

    browser.go(&served.https_url("/"));
    assert_eq!(browser.find("#signed-in").text(), "Ada");
    browser.picture("sign-in-front");
    browser.go(&served.https_url("/~members"));
    browser.find("#user").r#type(&format!("and for lunch?{ENTER}"));
    let talked = browser.find(".turn:last-child .reply:not(.waiting)").text();
    assert!(talked.contains("and for lunch?"), "{talked}");
    browser.picture("sign-in-chat");
    browser.go(&served.https_url("/sign-in"));
    assert!(browser.find("article").text().contains("signed in as Ada"));
    browser.picture("sign-in-who");
    assert_quiet(&browser, "");
    browser.find("#sign-out").click();
    within("the person is signed out", || browser.find("h1").text().contains("Signed out").then_some(()));
    browser.picture("sign-in-out");
    browser.go(&served.https_url("/~members?user=and+now"));
    let refused = browser.find("article").text();
    assert!(refused.contains("Members only."), "{refused}");
    browser.picture("sign-in-refused");
    assert_eq!(browser.find("article a.button").text(), "Sign in");
    assert_quiet(&browser, "status of 401");
}
