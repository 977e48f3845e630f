//! A sign-in at a server behind this host that is done once for a person and kept, and what nobody gets by with.

use serde_json::{Value, json};

use super::{Visitor, parameter, serve};
use crate::identity::{ISSUER, believing, claims, token};
use crate::openid::Provider;
use crate::scripts::{RunningScript, client_script};
use crate::support::{Deployment, Served, within};
use crate::wire::curl;

/// The lists of the server, which it tells nobody who has not signed in.
const LISTS: &str = r#"{"tools": [{"name": "whoami", "inputSchema": {"type": "object"}}]}"#;
/// Calls that come at once.
const CALLS: usize = 50;
const PAGE: &str = "/servers/far/sign-in";

/// A server with an authorization server of its own.
struct Far {
    script: RunningScript,
    origin: String,
}

impl Far {
    fn start() -> Self {
        let (script, origin) = RunningScript::start(&mut client_script("brokered_server.py", None));
        Self { script, origin }
    }

    /// Changes what it does; gives what it saw.
    fn tell(&mut self, change: Value) -> Value {
        serde_json::from_str(&self.script.tell(&change.to_string())).unwrap()
    }

    fn saw(&mut self, what: &str) -> Value {
        self.tell(json!({}))[what].clone()
    }

    fn serve(&self, provider: &Provider) -> Served {
        self.serve_with(provider.deployment(""), provider, "")
    }

    /// The same with more in its definition.
    fn serve_with(&self, deployment: Deployment, provider: &Provider, more: &str) -> Served {
        let file = format!("url = \"{}/mcp\"\n\n[sign_in]\n{more}", self.origin);
        // Programs bring tokens of the provider at which people sign in.
        let believing = believing().replace(ISSUER, &provider.issuer);
        let top = format!("{}\n{believing}", deployment.read("forecourt.toml"));
        let deployment = deployment.and("forecourt.toml", &top).and("servers/far.toml", &file);
        serve(deployment.and("servers/far.tools.json", LISTS))
    }
}

/// The field in which a program of a person's proves that it is.
fn bearer(provider: &Provider, person: &str) -> String {
    let mut claims = claims(person);
    claims["iss"] = provider.issuer.as_str().into();
    format!("Authorization: Bearer {}", token(&claims))
}

/// What a program is told that calls the tool by the newest revision.
fn call(served: &Served, bearer: &str, may_be_led: bool) -> Value {
    ask(served, bearer, &arguments(may_be_led, &json!({})))
}

fn ask(served: &Served, bearer: &str, arguments: &[String]) -> Value {
    let arguments: Vec<&str> = ["-H", bearer].into_iter().chain(arguments.iter().map(String::as_str)).collect();
    let answer = served.curl_tls("/mcp/far", &arguments);
    serde_json::from_str(&answer.text()).unwrap_or_else(|_| panic!("{answer:?}"))
}

fn arguments(may_be_led: bool, more: &Value) -> Vec<String> {
    let capabilities = if may_be_led { json!({"elicitation": {"url": {}}}) } else { json!({}) };
    let mut params = json!({"name": "whoami", "arguments": {}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}}});
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let fields = [
        "content-type: application/json",
        "mcp-protocol-version: 2026-07-28",
        "mcp-method: tools/call",
        "mcp-name: whoami",
        "Accept: application/json, text/event-stream",
    ];
    let fields = fields.iter().flat_map(|field| ["-H".to_owned(), (*field).to_owned()]);
    fields.chain(["-d".to_owned(), body]).collect()
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// Where the authorization server sends the browser of somebody back to who signs in from the page here.
fn back(visitor: &Visitor<'_>) -> String {
    let left = visitor.ask(&format!("{PAGE}?go=1"), &[]).with_status(303);
    curl(&left.named("location"), &[]).named("location")
}

/// Signs in at the server.
fn sign_in_there(visitor: &Visitor<'_>) {
    let came = visitor.follow(&back(visitor)).with_status(200);
    assert!(came.text().contains("You are signed in there"), "{came:?}");
}

#[test]
fn a_person_signs_in_once_and_the_same_call_goes_on() {
    let (Some(provider), mut far) = (Provider::start(), Far::start()) else { return };
    let served = far.serve(&provider);
    let [ada, bob, nobody] = std::array::from_fn(|_| Visitor::new(&served));
    let [by_ada, by_bob] = ["ada", "bob"].map(|person| bearer(&provider, person));
    // Who is not known here signs in here first.
    let asked = arguments(false, &json!({}));
    let refused = served.curl_tls("/mcp/far", &asked.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(refused.with_status(401).named("www-authenticate").starts_with("Bearer realm="));
    nobody.ask(PAGE, &[]).with_status(303);

    ada.sign_in(&provider, "ada").with_status(200);
    bob.sign_in(&provider, "bob").with_status(200);
    let refused = call(&served, &by_ada, false);
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert!(text(&refused).contains(PAGE), "{refused}");

    let asked = call(&served, &by_ada, true);
    let (key, request) =
        asked["result"]["inputRequests"].as_object().and_then(|all| all.iter().next()).expect("a page");
    let url = request["params"]["url"].as_str().unwrap();
    assert_eq!(url, served.https_url(PAGE), "{asked}");
    assert!(ada.follow(url).with_status(200).text().contains("Sign in there"));
    sign_in_there(&ada);
    let more = json!({"requestState": asked["result"]["requestState"], "inputResponses": {key: {"action": "accept"}}});
    // Who is not known goes on with nothing of it.
    let strange = ada.ask("/mcp/far", &arguments(true, &more).iter().map(String::as_str).collect::<Vec<_>>());
    assert!(strange.text().contains("requestState does not hold"), "{strange:?}");
    assert_eq!(text(&ask(&served, &by_ada, &arguments(true, &more))), "You are login-1.");

    // Nobody else is asked for in that name.
    assert!(text(&call(&served, &by_bob, false)).contains(PAGE));
    sign_in_there(&bob);
    assert_eq!(
        (text(&call(&served, &by_bob, false)), text(&call(&served, &by_ada, false))),
        ("You are login-2.", "You are login-1.")
    );
    assert_eq!(far.saw("called"), json!(["login-1", "login-2", "login-1"]));
    assert_eq!((far.saw("registered"), far.saw("strange")), (json!(1), json!([])));

    // Forgotten, it is revoked, and the next call is refused.
    let cookie = format!("Cookie: {}={}", super::SESSION, ada.cookie(super::SESSION).unwrap());
    let foreign =
        ["-X", "POST", "-H", &cookie, "-H", "Origin: https://evil.example", "-H", "Sec-Fetch-Site: cross-site"];
    served.curl_tls("/servers/far/sign-out", &foreign).with_status(403);
    assert!(ada.ask(PAGE, &[]).text().contains("Forget this sign-in"));
    for (language, words) in [
        ("de", "Diese Anmeldung vergessen"),
        ("fr", "Oublier cette connexion"),
        ("es", "Olvidar este inicio de sesión"),
        ("ja", "Forget this sign-in"),
    ] {
        let page = ada.ask(PAGE, &["-H", &format!("Accept-Language: {language}")]);
        let is_in = if language == "ja" { "en" } else { language };
        assert!(page.text().contains(words) && page.text().contains(&format!("<html lang=\"{is_in}\"")), "{page:?}");
        assert_eq!(page.named("content-language"), is_in);
    }
    let nowhere = ada.ask("/servers/nobody/sign-in", &["-H", "Accept-Language: de-CH, en;q=0.5"]).with_status(404);
    assert!(nowhere.text().contains("Nicht gefunden"), "{nowhere:?}");
    ada.ask("/servers/far/sign-out", &["-X", "POST"]).with_status(200);
    assert_eq!(far.saw("revoked"), json!(1));
    assert!(text(&call(&served, &by_ada, false)).contains(PAGE));
    assert_eq!(text(&call(&served, &by_bob, false)), "You are login-2.");

    served.signal(nix::sys::signal::Signal::SIGTERM);
    let (_, log, deployment) = served.ended();
    let leaks = |text: &str| ["access-", "refresh-", "code-"].iter().any(|secret| text.contains(secret));
    assert!(!leaks(&log), "{log}");
    for file in std::fs::read_dir(deployment.data()).unwrap().flatten() {
        let Ok(bytes) = std::fs::read(file.path()) else { continue };
        assert!(!leaks(&String::from_utf8_lossy(&bytes)), "{}", file.path().display());
    }
}

#[test]
fn a_token_is_refreshed_once_however_many_calls_want_it_and_kept_before_it_is_used() {
    let (Some(provider), mut far) = (Provider::start(), Far::start()) else { return };
    let served = far.serve(&provider);
    let (ada, by_ada) = (Visitor::new(&served), bearer(&provider, "ada"));
    ada.sign_in(&provider, "ada").with_status(200);
    sign_in_there(&ada);
    // A token that ends in a moment: it is refreshed before it is used.
    far.tell(json!({"expires_in": 5, "end_access": true}));
    assert_eq!(text(&call(&served, &by_ada, false)), "You are login-1.");
    far.tell(json!({"expires_in": 3600}));
    assert_eq!(far.saw("refreshed"), json!(1));
    let asked = arguments(false, &json!({}));
    std::thread::scope(|scope| {
        let ask = || ask(&served, &by_ada, &asked);
        let calls: Vec<_> = (0..CALLS).map(|_| scope.spawn(ask)).collect();
        calls.into_iter().for_each(|call| assert_eq!(text(&call.join().unwrap()), "You are login-1."));
    });
    assert_eq!((far.saw("refreshed"), far.saw("reused")), (json!(2), json!(0)));

    // A token that the server takes back before its time is replaced within the call.
    far.tell(json!({"end_access": true}));
    assert_eq!(text(&call(&served, &by_ada, false)), "You are login-1.");
    assert_eq!(far.saw("refreshed"), json!(3));

    // What was rotated is on disk: a host that starts anew goes on with it.
    let served = serve(served.killed());
    far.tell(json!({"end_access": true}));
    assert_eq!(text(&call(&served, &by_ada, false)), "You are login-1.");
    assert_eq!((far.saw("refreshed"), far.saw("reused")), (json!(4), json!(0)));

    // Away is away, and no reason to sign in anew; refused is one.
    far.tell(json!({"end_access": true, "is_down": true}));
    let away = call(&served, &by_ada, false);
    assert!(text(&away).contains("can't be asked") && !text(&away).contains(PAGE), "{away}");
    far.tell(json!({"end_all": true, "is_down": false}));
    within("it may be asked again", || text(&call(&served, &by_ada, false)).contains(PAGE).then_some(()));
}

#[test]
fn rfc9207_nobody_ends_anothers_sign_in_and_no_other_server_is_believed() {
    let (Some(provider), mut far) = (Provider::start(), Far::start()) else { return };
    let served = far.serve(&provider);
    let [ada, bob] = std::array::from_fn(|_| Visitor::new(&served));
    let by_bob = bearer(&provider, "bob");
    ada.sign_in(&provider, "ada").with_status(200);
    bob.sign_in(&provider, "bob").with_status(200);

    // Another person's browser with it, and then again with the right one: the state is used up.
    let came = back(&ada);
    assert!(bob.follow(&came).with_status(400).text().contains("somebody else"));
    ada.follow(&came).with_status(400);
    // Used twice.
    let came = back(&ada);
    ada.follow(&came).with_status(200);
    ada.follow(&came).with_status(400);
    assert_eq!(far.saw("redeemed"), json!(1));
    // From another issuer, or from one that does not name itself though it says so.
    far.tell(json!({"iss": "https://evil.example"}));
    bob.follow(&back(&bob)).with_status(400);
    far.tell(json!({"iss": null}));
    let came = back(&bob);
    let without = came.split("&iss=").next().unwrap();
    bob.follow(without).with_status(400);
    let state = parameter(&back(&bob), "state").unwrap();
    bob.follow(&served.https_url(&format!("/servers/sign-in/callback?error=access_denied&state={state}")))
        .with_status(400);
    assert_eq!(far.saw("redeemed"), json!(1));
    assert!(text(&call(&served, &by_bob, false)).contains(PAGE));
    bob.ask("/servers/near/sign-in", &[]).with_status(404);
}

#[test]
fn rfc9728_3_3_metadata_of_another_resource_or_issuer_leads_nowhere() {
    let (Some(provider), mut far) = (Provider::start(), Far::start()) else { return };
    for wrong in [json!({"resource": "https://bank.example/mcp"}), json!({"issuer": "https://bank.example"})] {
        far.tell(wrong);
        let served = far.serve(&provider);
        let ada = Visitor::new(&served);
        ada.sign_in(&provider, "ada").with_status(200);
        ada.ask(&format!("{PAGE}?go=1"), &[]).with_status(503);
        far.tell(json!({"resource": null, "issuer": null}));
    }
    assert_eq!(far.saw("registered"), json!(0));
}

#[test]
fn a_client_of_the_operators_is_told_to_its_own_server_alone_and_may_have_another_secret() {
    let (Some(provider), mut far, mut evil) = (Provider::start(), Far::start(), Far::start()) else { return };
    far.tell(json!({"secret": "one"}));
    let client = format!("issuer = \"{}\"\nclient_id = \"us\"\nclient_secret_file = \"far.secret\"\n", far.origin);
    let served = far.serve_with(provider.deployment("").and("far.secret", "one\n"), &provider, &client);
    let (ada, by_ada) = (Visitor::new(&served), bearer(&provider, "ada"));
    ada.sign_in(&provider, "ada").with_status(200);
    sign_in_there(&ada);
    assert_eq!(text(&call(&served, &by_ada, false)), "You are login-1.");

    // Another secret there and not yet here: nobody's sign-in is lost by that.
    far.tell(json!({"secret": "two", "end_access": true}));
    for _ in 0..2 {
        let away = call(&served, &by_ada, false);
        assert!(text(&away).contains("can't be asked") && !text(&away).contains(PAGE), "{away}");
    }
    served.deployment.write("far.secret", "two\n");
    served.signal(nix::sys::signal::Signal::SIGHUP);
    within("the new secret is used", || (text(&call(&served, &by_ada, false)) == "You are login-1.").then_some(()));
    assert_eq!((far.saw("refreshed"), far.saw("redeemed"), far.saw("registered")), (json!(1), json!(1), json!(0)));

    // A server that was taken over names another place to sign in.
    far.tell(json!({"named": evil.origin}));
    evil.tell(json!({"resource": format!("{}/mcp", far.origin), "secret": "two"}));
    let served = serve(served.killed());
    let bob = Visitor::new(&served);
    bob.sign_in(&provider, "bob").with_status(200);
    bob.ask(&format!("{PAGE}?go=1"), &[]).with_status(503);
    assert_eq!((evil.saw("redeemed"), evil.saw("strange")), (json!(0), json!([])));
}

#[test]
fn a_sign_in_that_is_done_once_more_outlives_the_one_before() {
    let (Some(provider), mut far) = (Provider::start(), Far::start()) else { return };
    let served = far.serve(&provider);
    let (ada, by_ada) = (Visitor::new(&served), bearer(&provider, "ada"));
    ada.sign_in(&provider, "ada").with_status(200);
    for _ in 0..2 {
        sign_in_there(&ada);
    }
    assert_eq!((far.saw("redeemed"), far.saw("revoked")), (json!(2), json!(0)));
    assert_eq!(text(&call(&served, &by_ada, false)), "You are login-2.");
}

#[test]
fn a_sign_in_whose_new_token_is_not_taken_either_is_done_anew() {
    let (Some(provider), mut far) = (Provider::start(), Far::start()) else { return };
    let served = far.serve(&provider);
    let (ada, by_ada) = (Visitor::new(&served), bearer(&provider, "ada"));
    ada.sign_in(&provider, "ada").with_status(200);
    sign_in_there(&ada);
    assert_eq!(text(&call(&served, &by_ada, false)), "You are login-1.");
    far.tell(json!({"is_deaf": true}));
    for _ in 0..3 {
        let refused = call(&served, &by_ada, false);
        assert!(text(&refused).contains(PAGE), "{refused}");
    }
    assert_eq!((far.saw("refreshed"), far.saw("revoked")), (json!(1), json!(1)));
    far.tell(json!({"is_deaf": false}));
    sign_in_there(&ada);
    assert_eq!(text(&call(&served, &by_ada, false)), "You are login-2.");
}

#[test]
fn a_call_goes_on_where_it_was_when_its_token_ends_while_a_person_thinks() {
    let (Some(provider), mut far) = (Provider::start(), Far::start()) else { return };
    far.tell(json!({"asks": true}));
    let served = far.serve(&provider);
    let (ada, by_ada) = (Visitor::new(&served), bearer(&provider, "ada"));
    ada.sign_in(&provider, "ada").with_status(200);
    sign_in_there(&ada);
    let asked = call(&served, &by_ada, true);
    assert_eq!(asked["result"]["inputRequests"]["page"]["params"]["message"], "Look here.", "{asked}");
    far.tell(json!({"end_access": true}));
    let state = &asked["result"]["requestState"];
    let more = json!({"requestState": state, "inputResponses": {"page": {"action": "accept"}}});
    assert_eq!(text(&ask(&served, &by_ada, &arguments(true, &more))), "You are login-1.");
    assert_eq!((far.saw("refreshed"), far.saw("called")), (json!(1), json!(["login-1"])));
}

#[test]
fn a_call_is_led_to_a_consent_and_from_there_to_the_sign_in() {
    let (Some(provider), mut far) = (Provider::start(), Far::start()) else { return };
    let rule = "[[policy]]\nkind = \"require_consent\"\ntext = \"Calls are kept.\"\nlifetime = \"1h\"\n";
    let served = far.serve_with(provider.deployment(""), &provider, &format!("\n{rule}"));
    let (ada, by_ada) = (Visitor::new(&served), bearer(&provider, "ada"));
    ada.sign_in(&provider, "ada").with_status(200);
    let page = |asked: &Value| {
        let requests = asked["result"]["inputRequests"].as_object().unwrap_or_else(|| panic!("{asked}"));
        let (key, request) = requests.iter().next().unwrap();
        let more =
            json!({"requestState": asked["result"]["requestState"], "inputResponses": {key: {"action": "accept"}}});
        (request["params"]["url"].as_str().unwrap().to_owned(), more)
    };
    let (consent, more) = page(&call(&served, &by_ada, true));
    let consent = consent.strip_prefix(&served.https_url("")).unwrap().to_owned();
    let form = ada.ask(&consent, &[]).with_status(200).text();
    let token = super::consent::token(&form);
    ada.ask(&consent, &["-d", &format!("decision=accept&token={token}")]);
    let asked = ask(&served, &by_ada, &arguments(true, &more));
    let (sign_in, more) = page(&asked);
    assert!(sign_in.ends_with(PAGE), "{asked}");
    sign_in_there(&ada);
    assert_eq!(text(&ask(&served, &by_ada, &arguments(true, &more))), "You are login-1.");
    assert_eq!(far.saw("called"), json!(["login-1"]));
}

#[test]
fn what_is_wrong_with_a_sign_in_is_said() {
    let oidc = "[identity.oidc]\nissuer = \"https://id.example\"\nclient_id = \"a\"\nclient_secret = \"b\"\n";
    let checked = |top: &str, file: &str| {
        let deployment = Deployment::empty()
            .and("agents/echo.toml", "handle = \"echo\"\nname = \"Echo\"\n[backend]\nkind = \"echo\"\n");
        let deployment = deployment.and("forecourt.toml", &format!("domain = \"demo.localhost\"\n{top}"));
        deployment.and("servers/far.toml", file).run("check", [] as [&str; 0])
    };
    let url = "url = \"https://far.example/mcp\"\n";
    let refused = |lines: &str| checked(oidc, &format!("{url}{lines}")).failed(1);
    for (lines, words) in [
        ("headers = { Authorization = \"x\" }\n[sign_in]\n", "exclude each other"),
        ("sessions = \"shared\"\n[sign_in]\n", "whose session nobody shares"),
        ("[sign_in]\nclient_secret = \"x\"\n", "needs the `client_id`"),
        ("[sign_in]\nclient_id = \"\"\n", "must not be empty"),
        ("[sign_in]\nclient_id = \"a\"\n", "needs the `issuer`"),
        ("[sign_in]\nclient_id = \"a\"\nclient_secret = \"x\"\n", "needs the `issuer`"),
        ("[sign_in]\nissuer = \"http://id.example\"\n", "https://"),
        ("[sign_in]\nclient_id = \"a\"\nclient_secret = \"x\"\nclient_secret_file = \"f\"\n", "either `client_secret`"),
    ] {
        let said = refused(lines);
        assert!(said.contains(words), "{lines}: {said}");
    }
    let scopes = |count: usize| format!("{url}[sign_in]\nscopes = {:?}\n", vec!["a"; count]);
    assert!(checked(oidc, &scopes(51)).failed(1).contains("at most 50"));
    assert_eq!(checked(oidc, &scopes(50)).code, Some(0));
    let whole = "[sign_in]\nissuer = \"https://id.far.example\"\nclient_id = \"a\"\nclient_secret = \"x\"\n";
    assert_eq!(checked(oidc, &format!("{url}{whole}")).code, Some(0));
    assert!(checked(oidc, "command = [\"x\"]\n[sign_in]\n").failed(1).contains("needs `url`"));
    assert!(checked("", &format!("{url}[sign_in]\n")).failed(1).contains("[identity.oidc]"));
}
