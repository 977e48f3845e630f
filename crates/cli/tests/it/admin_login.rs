//! Operators log in at a certified provider: with roles, with a browser and without one, and what nobody gets by with.
//! `dev/sdk/setup` brings the provider.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::admin::{TOKEN, api, post, url};
use crate::browser::{Browser, ENTER, View};
use crate::openid::{Provider, SECRET};
use crate::support::{Deployment, FREE_PORTS, Served, within};
use crate::wire::{Answer, curl};

/// The settings of `[admin.oidc]`, with more lines.
fn oidc(provider: &Provider, more: &str) -> String {
    format!(
        "issuer = \"{}\"\nclient_id = \"forecourt\"\nclient_secret = \"${{OIDC_SECRET}}\"\nname = \"Acme\"\n{more}",
        provider.issuer
    )
}

const ROLES: &str = "operators = [\"chiefs\"]\nviewers = [\"staff\"]";

/// A deployment that the token opens and the provider.
fn deployment(provider: &Provider) -> Deployment {
    let deployment = Deployment::gatehouse().open_to_loopback().with("admin", &format!("token = \"{TOKEN}\""));
    deployment.with("admin.oidc", &oidc(provider, ROLES))
}

fn serve(deployment: Deployment) -> Served {
    deployment.serve_with(&FREE_PORTS, &[("OIDC_SECRET", SECRET)])
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

    /// Asks, from a page of the console.
    #[track_caller]
    fn ask(&self, path: &str, arguments: &[&str]) -> Answer {
        let jar = self.folder.path().join("jar").display().to_string();
        let origin = format!("Origin: http://127.0.0.1:{}", self.served.admin);
        let own = ["-b", &jar, "-c", &jar, "-H", &origin];
        curl(&url(self.served, path), &[&own, arguments].concat())
    }

    /// Goes away to the provider, signs in there, and comes back.
    #[track_caller]
    fn log_in(&self, provider: &Provider, name: &str) -> Answer {
        let back = provider.sign_in(&self.leave(), name);
        let own = url(self.served, "");
        self.ask(back.strip_prefix(&own).unwrap_or_else(|| panic!("{back} is another address")), &[])
    }

    /// Where the provider is gone to.
    #[track_caller]
    fn leave(&self) -> String {
        let away = self.ask("/console/login/provider", &["-d", "next=%2Fconsole%2Ftasks"]).with_status(200);
        leads_to(&away)
    }

    /// What forms of its session carry.
    #[track_caller]
    fn csrf(&self) -> String {
        let page = self.ask("/console", &[]).with_status(200).text();
        page.split("name=\"csrf\" content=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
    }

    fn suspends(&self, csrf: &str) -> u16 {
        self.ask("/console/do/agents/echo/suspend", &["-d", &format!("csrf={csrf}")]).status
    }
}

/// Where a page goes on to by itself.
#[track_caller]
fn leads_to(page: &Answer) -> String {
    let text = page.text();
    let to = text.split("content=\"0;url=").nth(1).unwrap_or_else(|| panic!("it goes nowhere: {text}"));
    to.split('"').next().unwrap().replace("&#38;", "&").replace("&amp;", "&")
}

#[test]
fn operators_and_viewers_log_in_at_the_provider_and_other_settings_take_that_away_at_once() {
    let Some(provider) = Provider::start() else { return };
    let served = serve(deployment(&provider));
    let (chief, clerk, stranger) = (Visitor::new(&served), Visitor::new(&served), Visitor::new(&served));
    let came = chief.log_in(&provider, "chief").with_status(200);
    assert_eq!(leads_to(&came), "/console/tasks");
    clerk.log_in(&provider, "clerk").with_status(200);
    let refused = stranger.log_in(&provider, "eve").with_status(403);
    assert!(refused.text().contains("eve@acme.tld") && refused.text().contains("may not come in"), "{refused:?}");
    assert_eq!(stranger.ask("/console", &[]).status, 303);
    let (of_chief, of_clerk) = (chief.csrf(), clerk.csrf());
    assert_eq!((chief.suspends(&of_chief), clerk.suspends(&of_clerk)), (303, 403));
    let sessions = api(&served, "/sessions", &[]).json();
    let roles: Vec<_> = sessions["console"].as_array().unwrap().iter().map(|one| (&one["who"], &one["role"])).collect();
    assert_eq!(roles, [(&json!("clerk@acme.tld"), &json!("viewer")), (&json!("chief@acme.tld"), &json!("operator"))]);
    let actions = api(&served, "/actions", &[]).json();
    assert_eq!(
        (&actions["actions"][0]["by"], &actions["actions"][0]["action"]),
        (&json!("chief@acme.tld"), &json!("suspend"))
    );

    let reload = || {
        let reloaded = post(&served, "/reload", &json!({})).with_status(200).json();
        assert_eq!(reloaded["is_applied"], true, "{reloaded}");
    };
    served.deployment.edit("forecourt.toml", "operators = [\"chiefs\"]", "operators = [\"few\"]");
    reload();
    assert_eq!(chief.suspends(&of_chief), 403, "of the staff still");
    assert_eq!(chief.ask("/console", &[]).status, 200);
    served.deployment.edit("forecourt.toml", "viewers = [\"staff\"]", "viewers = [\"some\"]");
    reload();
    for visitor in [&chief, &clerk] {
        assert_eq!((visitor.ask("/console", &[]).status, visitor.ask("/api/v1/overview", &[]).status), (303, 401));
    }
    assert_eq!(api(&served, "/overview", &[]).status, 200, "the token is what it was");
}

/// The parameters without which a call makes no sense, each with some text.
fn needed(get: &Value) -> String {
    let all = get["parameters"].as_array().into_iter().flatten();
    let needed = all.filter(|parameter| parameter["in"] == "query" && parameter["required"] == true);
    let pairs: Vec<String> =
        needed.map(|parameter| format!("{}=something", parameter["name"].as_str().unwrap())).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

#[test]
fn every_call_of_the_document_refuses_a_viewer_what_it_does_for_an_operator() {
    let Some(provider) = Provider::start() else { return };
    let served = serve(deployment(&provider));
    let document = curl(&url(&served, "/api/v1/openapi.json"), &[]).with_status(200).json();
    let (clerk, chief) = (Visitor::new(&served), Visitor::new(&served));
    clerk.log_in(&provider, "clerk").with_status(200);
    chief.log_in(&provider, "chief").with_status(200);
    let mut acting = 0;
    for (visitor, may_act) in [(&clerk, false), (&chief, true)] {
        let csrf = visitor.csrf();
        let header = format!("X-CSRF-Token: {csrf}");
        for (path, operations) in document["paths"].as_object().unwrap() {
            let of_nothing = path.split('/').map(|part| if part.starts_with('{') { "nobody" } else { part });
            let path = of_nothing.collect::<Vec<_>>().join("/");
            if let Some(get) = operations.get("get") {
                let seen = visitor.ask(&format!("{path}{}", needed(get)), &[]);
                // What may hold secrets is for operators, though it only looks.
                let is_hidden = !may_act && get["description"].as_str().is_some_and(|text| text.contains("`operator`"));
                assert!(
                    if is_hidden { seen.status == 403 } else { matches!(seen.status, 200 | 404) },
                    "{path}: {seen:?}"
                );
            }
            if operations.get("post").is_some() {
                acting += 1;
                let called = visitor.ask(&path, &["-X", "POST", "-H", &header]);
                assert_eq!(called.status == 403, !may_act, "{path}: {called:?}");
                assert!(may_act || called.json()["error"].as_str().unwrap().contains("is a viewer"), "{called:?}");
                let form = path.replace("/api/v1", "/console/do");
                let sent = visitor.ask(&form, &["-d", &format!("csrf={csrf}")]);
                assert_eq!(sent.status == 403, !may_act, "{form}: {sent:?}");
            }
        }
    }
    assert!(acting > 20, "{acting}");
}

#[test]
fn what_comes_back_is_of_the_browser_that_left_and_of_one_use() {
    let Some(provider) = Provider::start() else { return };
    let served = serve(deployment(&provider));
    let (own, other) = (Visitor::new(&served), Visitor::new(&served));
    let back = provider.sign_in(&own.leave(), "chief");
    let path = back.strip_prefix(&url(&served, "")).unwrap().to_owned();
    other.leave();
    let injected = other.ask(&path, &[]).with_status(400);
    assert!(injected.text().contains("another browser"), "{injected:?}");
    assert_eq!(other.ask("/console", &[]).status, 303);
    assert_eq!(own.ask(&path, &[]).status, 400, "it is used up");
    let back = provider.sign_in(&own.leave(), "chief");
    let path = back.strip_prefix(&url(&served, "")).unwrap();
    let swapped = path.replace("iss=", "iss=http%3A%2F%2Fevil.example&was=");
    assert_ne!(swapped, path, "the provider says who it is");
    assert_eq!(own.ask(&swapped, &[]).status, 400);
    own.log_in(&provider, "chief").with_status(200);
    for host in ["evil.example", "127.0.0.1.evil.example"] {
        let host = format!("Host: {host}");
        assert_eq!(own.ask("/console/login/provider", &["-H", &host, "-d", "next="]).status, 421, "{host}");
    }
    let database = std::fs::read(served.deployment.data().join("forecourt.db")).unwrap();
    let holds = |text: &str| database.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(!holds(SECRET), "the secret is not kept");
}

#[test]
fn while_the_provider_is_away_the_token_opens_the_console() {
    let Some(mut provider) = Provider::start() else { return };
    let served = serve(deployment(&provider));
    let visitor = Visitor::new(&served);
    provider.tell("slow");
    let away = visitor.ask("/console/login/provider", &["-d", "next=%2Fconsole%2Ftasks"]).with_status(503);
    assert!(away.field("retry-after").is_some(), "{away:?}");
    for word in ["Acme can&#39;t be reached", "name=\"token\"", "value=\"/console/tasks\""] {
        assert!(away.text().contains(word), "{word}: {away:?}");
    }
    let login = visitor.ask("/console/login", &["-d", &format!("token={TOKEN}&next=%2Fconsole%2Ftasks")]);
    assert_eq!(login.with_status(303).named("location"), "/console/tasks");
    provider.tell("well");
    let back = within("the provider is asked again", || {
        let left = visitor.ask("/console/login/provider", &["-d", "next="]);
        (left.status == 200).then(|| provider.sign_in(&leads_to(&left), "clerk"))
    });
    // It goes away while a person is there.
    drop(provider);
    let away = visitor.ask(back.strip_prefix(&url(&served, "")).unwrap(), &[]).with_status(503);
    assert!(away.text().contains("Log in with Acme"), "{away:?}");
}

#[test]
fn people_who_signed_in_are_listed_in_the_console_and_sent_away() {
    let Some(provider) = Provider::start() else { return };
    let identity = oidc(&provider, "").replace("name = \"Acme\"\n", "");
    let served = serve(deployment(&provider).with("identity.oidc", &identity));
    let jar = tempfile::tempdir().unwrap();
    let jar = jar.path().join("jar").display().to_string();
    let asks = |path: &str| served.curl_tls(path, &["-b", &jar, "-c", &jar, "-H", "Sec-Fetch-Site: same-origin"]);
    let left = asks("/sign-in?return_to=/~echo").with_status(303);
    let back = provider.sign_in(&left.named("location"), "ada");
    asks(back.strip_prefix(&served.https_url("")).unwrap()).with_status(303);
    let is_in = || asks("/sign-in").text().contains("signed in as Ada");
    assert!(is_in());
    let sessions = api(&served, "/sessions", &[]).with_status(200).json();
    assert_eq!(sessions["people"][0]["who"], "Ada", "{sessions}");
    let id = sessions["people"][0]["id"].as_str().unwrap();
    assert_eq!(post(&served, &format!("/sessions/{id}/end"), &json!({})).json()["outcome"], "done");
    assert!(!is_in(), "from the next request on");
    assert_eq!(api(&served, "/sessions", &[]).json()["people"], json!([]));
    assert_eq!(post(&served, &format!("/sessions/{id}/end"), &json!({})).json()["outcome"], "already");
}

#[test]
fn what_is_wrong_with_the_settings_is_said_with_its_line() {
    let check = |lines: &str| {
        let deployment = Deployment::gatehouse().with("admin.oidc", lines);
        deployment.run("check", ["."]).failed(1)
    };
    let nobody = check("issuer = \"https://login.example\"\nclient_id = \"us\"");
    assert!(nobody.contains("nobody could log in") && nobody.contains("forecourt.toml:"), "{nobody}");
    let plain = check("issuer = \"http://login.example\"\nclient_id = \"us\"\nviewers = [\"a\"]");
    assert!(plain.contains("https://"), "{plain}");
    let misspelled = check("issuer = \"https://login.example\"\nclient_id = \"us\"\nviewrs = [\"a\"]");
    assert!(misspelled.contains("viewrs") && misspelled.contains("viewers"), "{misspelled}");
    let closed = check("issuer = \"http://127.0.0.1:9\"\nclient_id = \"us\"\nviewers = [\"a\"]");
    assert!(closed.contains("`issuer` in [admin.oidc]") && closed.contains("allow_http"), "{closed}");
    let deployment = Deployment::gatehouse().with("admin", "public_url = \"http://console.example\"");
    let address = deployment.run("check", ["."]).failed(1);
    assert!(address.contains("`public_url` must be") && address.contains("forecourt.toml:"), "{address}");
}

/// Logs in at the provider by keyboard alone, from the login of the console, and gives the page that it leads to.
fn log_in_by_keyboard(browser: &Browser, provider: &Provider, name: &str) {
    within("the button has the focus", || {
        (browser.value("document.activeElement.textContent") == "Log in with Acme").then_some(())
    });
    browser.press(ENTER);
    provider.sign_in_with(browser, name, || is_in(browser));
}

/// Whether the browser is at a page that takes having logged in.
fn is_in(browser: &Browser) -> bool {
    !browser.all("nav a[aria-current]").is_empty()
}

#[test]
fn an_operator_and_a_viewer_use_the_console_by_keyboard() {
    let Some(provider) = Provider::start() else { return };
    // A name of its own, so that the provider is another site.
    let port = forecourt_testkit::free_port();
    let deployment = deployment(&provider).with("admin", &format!("public_url = \"http://localhost:{port}\""));
    let admin = format!("127.0.0.1:{port}");
    let words: Vec<&str> =
        FREE_PORTS.chunks(2).flat_map(|pair| [pair[0], if pair[0] == "--admin" { &admin } else { pair[1] }]).collect();
    let served = deployment.serve_with(&words, &[("OIDC_SECRET", SECRET)]);
    let page = |path: &str| format!("http://localhost:{port}{path}");
    for (name, view) in
        [("desk", View::Desk), ("dark", View::Dark), ("phone", View::Phone), ("noscript", View::NoScript)]
    {
        let Some(browser) = Browser::open(view) else { return };
        browser.go(&page("/console/login"));
        browser.find("h1");
        browser.picture(&format!("admin-login-{name}"));
    }
    let tab = "\u{e004}";
    for (who, may_act) in [("clerk", false), ("chief", true)] {
        let Some(browser) = Browser::open(View::Desk) else { return };
        browser.go(&page("/console/agents/echo"));
        assert!(browser.url().starts_with(&page("/console/login?next=")), "{}", browser.url());
        log_in_by_keyboard(&browser, &provider, who);
        // What the provider's own pages lack is not the console's.
        let _ = browser.complaints();
        assert_eq!(browser.url(), page("/console/agents/echo"), "back to where it was wanted to");
        browser.picture(&format!("admin-login-{who}"));
        let role = if may_act { "operator" } else { "viewer" };
        assert!(browser.find(".whoami").text().contains(role));
        assert_eq!(browser.all("details.act").is_empty(), !may_act);
        let mut stops = Vec::new();
        for _ in 0..80 {
            browser.press(tab);
            let stop = "document.activeElement.tagName + ' ' + document.activeElement.textContent.trim().slice(0, 20)";
            stops.push(browser.value(stop).as_str().unwrap().to_owned());
            if stops.last().is_some_and(|stop| stop.starts_with("SUMMARY")) {
                break;
            }
        }
        assert_eq!(stops.iter().any(|stop| stop.starts_with("SUMMARY Suspend")), may_act, "{stops:?}");
        if may_act {
            browser.press(ENTER);
            browser.press(tab);
            browser.press("by keyboard");
            browser.press(ENTER);
            within("it is suspended", || {
                (api(&served, "/agents/echo", &[]).json()["state"] == "suspended").then_some(())
            });
            let done = api(&served, "/actions", &[]).json()["actions"][0].clone();
            assert_eq!((&done["by"], &done["reason"]), (&json!("chief@acme.tld"), &json!("by keyboard")));
        }
        browser.go(&page("/console/try/agents/gate"));
        assert_eq!(browser.all(".trial").is_empty(), !may_act);
        browser.go(&page("/console/sessions"));
        browser.picture(&format!("admin-login-sessions-{who}"));
        browser.find(".top form button").click();
        within("it is logged out", || browser.find("h1").text().contains("Log in").then_some(()));
        assert_eq!(browser.complaints(), Vec::<String>::new());
    }
    let Some(browser) = Browser::open(View::Phone) else { return };
    browser.go(&page("/console/login"));
    browser.find("form[action='/console/login/provider'] button").click();
    provider.sign_in_with(&browser, "eve", || !browser.all("[role=alert]").is_empty());
    assert!(browser.find("[role=alert]").text().contains("may not come in"));
    browser.picture("admin-login-refused");
    // With another account it works: the provider asks for it.
    browser.find("form[action='/console/login/provider'] button").click();
    provider.sign_in_with(&browser, "clerk", || is_in(&browser));
    browser.find(".top form button").click();
    browser.find("input[name=token]");
    // Whoever came by another name of this machine is led to the one that the provider knows.
    browser.go(&format!("http://127.0.0.1:{port}/console/login?next=%2Fconsole%2Ftasks"));
    browser.find("a.button.main").click();
    within("the address is the right one", || browser.url().starts_with(&page("/console/login?here=1")).then_some(()));
    browser.find("form[action='/console/login/provider'] button");
}
