//! The operator's API and console over the wire: what they show and do, and the attacks that must fail.

use serde_json::{Value, json};

use crate::support::{Deployment, Ran, Served, within};
use crate::wire::{Answer, curl};

pub(crate) const TOKEN: &str = "a-token-of-the-operator";
/// Within one machine; over https its name begins with `__Host-`.
const COOKIE: &str = "forecourt-console";

/// A deployment with a token, and an agent whose answers take as long as anybody likes.
pub(crate) fn deployment() -> Deployment {
    let slow = "handle = \"slow\"\nname = \"<script>alert('name')</script>\"\n\n[backend]\nkind = \"script\"\n\n\
                [[backend.rule]]\ntext = \".*\"\nevents = [{ text = \"Begun.\" }, { wait_ms = 100000 }]\n";
    Deployment::gatehouse().with("admin", &format!("token = \"{TOKEN}\"\neditor = true")).and("agents/slow.toml", slow)
}

pub(crate) fn url(served: &Served, path: &str) -> String {
    format!("http://127.0.0.1:{}{path}", served.admin)
}

/// A call of a program that carries the token.
pub(crate) fn api(served: &Served, path: &str, words: &[&str]) -> Answer {
    let authorization = format!("Authorization: Bearer {TOKEN}");
    curl(&url(served, &format!("/api/v1{path}")), &[&["-H", &authorization], words].concat())
}

pub(crate) fn post(served: &Served, path: &str, body: &Value) -> Answer {
    api(served, path, &["-H", "Content-Type: application/json", "-d", &body.to_string()])
}

/// Begins a task, and gives its name.
pub(crate) fn begun(served: &Served, agent: &str, text: &str) -> String {
    served
        .curl(&format!("/~{agent}"), &["--form-string", &format!("user={text}"), "-H", "Prefer: respond-async"])
        .with_status(202);
    let listed = api(served, &format!("/tasks?agent={agent}"), &[]).with_status(200).json();
    listed["tasks"][0]["task"].as_str().expect("the task is listed").to_owned()
}

fn admin(served: &Served, words: &[&str]) -> Ran {
    served.deployment.run("admin", words)
}

#[test]
fn every_call_of_the_document_exists_and_its_answers_are_as_it_says() {
    let served = deployment().serve();
    let task = begun(&served, "slow", "go");
    let document = curl(&url(&served, "/api/v1/openapi.json"), &[]).with_status(200).json();
    assert_eq!(document, kept(), "docs/admin-api.json is another one: write it anew with `curl …/api/v1/openapi.json`");
    let mut asked = 0;
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (verb, operation) in operations.as_object().unwrap() {
            let known = path.replace("{handle}", "gate").replace("{task}", &task).replace("{tool}", "ask");
            let known = known.replace("{id}", "0").replace("{endpoint}", "none").replace("{version}", "1");
            let words: &[&str] = if verb == "post" { &["-X", "POST"] } else { &[] };
            // What ends this server's agents is called last, by another test.
            if known.ends_with("/retire") || known.ends_with("/suspend") {
                continue;
            }
            let answer = api(&served, known.strip_prefix("/api/v1").unwrap(), words);
            let response = &operation["responses"][answer.status.to_string()];
            assert!(response.is_object(), "{verb} {known} answers {answer:?}");
            let schema = &response["content"]["application/json"]["schema"];
            let whole = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "components": document["components"], "allOf": [schema]});
            let validator = jsonschema::validator_for(&whole).unwrap();
            let told = answer.json();
            let wrong: Vec<String> = validator.iter_errors(&told).map(|error| error.to_string()).collect();
            assert_eq!(wrong, Vec::<String>::new(), "{verb} {known}: {told}");
            asked += 1;
        }
    }
    assert!(asked > 30, "{asked}");
    for nothing in ["/agents/gate/explode", "/nothing", "/tasks/x/y/z"] {
        assert_eq!(api(&served, nothing, &[]).status, 404, "{nothing}");
    }
    assert_eq!(api(&served, "/agents", &["-X", "DELETE"]).status, 405);
    assert_eq!(api(&served, "/tasks?sate=working", &[]).with_status(400).json()["code"], "invalid");
}

fn kept() -> Value {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/admin-api.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap_or_default()).unwrap_or_default()
}

#[test]
fn nobody_is_let_in_without_the_token_and_nothing_is_open_where_there_is_none() {
    let served = deployment().serve();
    for path in ["/api/v1/overview", "/api/v1/config", "/api/v1/tasks"] {
        assert_eq!(curl(&url(&served, path), &[]).status, 401, "{path}");
        assert_eq!(curl(&url(&served, path), &["-H", "Authorization: Bearer wrong-wrong-wrong-1"]).status, 401);
    }
    let led = curl(&url(&served, "/console/tasks?state=working"), &[]).with_status(303);
    assert_eq!(led.named("location"), "/console/login?next=%2Fconsole%2Ftasks%3Fstate%3Dworking");
    let closed = Deployment::gatehouse().serve();
    assert_eq!(curl(&url(&closed, "/api/v1/overview"), &[]).status, 403);
    let page = curl(&url(&closed, "/console"), &[]).with_status(403);
    assert!(page.text().contains("token"), "{page:?}");
}

#[test]
fn an_agent_is_suspended_and_resumed_and_it_is_written_down_who_did_so_and_why() {
    let served = deployment().serve();
    let suspended = post(&served, "/agents/echo/suspend", &json!({"reason": "wrong prices"})).with_status(200).json();
    assert_eq!(suspended["outcome"], "done");
    assert_eq!(served.curl("/~echo", &["-F", "user=hi"]).status, 503);
    let again = post(&served, "/agents/echo/suspend", &json!({})).with_status(200).json();
    assert_eq!(again["outcome"], "already");
    let agent = api(&served, "/agents/echo", &[]).json();
    assert_eq!((&agent["state"], &agent["changes"][0]["reason"]), (&"suspended".into(), &"wrong prices".into()));
    assert_eq!(post(&served, "/agents/echo/resume", &json!({})).with_status(200).json()["outcome"], "done");
    assert_eq!(served.curl("/~echo", &["-F", "user=hi"]).status, 200);
    assert_eq!(post(&served, "/agents/gate/retire", &json!({})).status, 200);
    assert_eq!(post(&served, "/agents/gate/resume", &json!({})).status, 409);
    assert_eq!(post(&served, "/agents/nobody/suspend", &json!({})).status, 404);
    assert_eq!(post(&served, "/agents/echo/suspend", &json!({"reason": "x".repeat(501)})).status, 400);
    assert_eq!(post(&served, "/agents/echo/suspend", &json!({"raeson": "x"})).status, 400);
    let actions = api(&served, "/actions", &[]).json();
    let said: Vec<String> = actions["actions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|done| {
            format!(
                "{} {} {}",
                done["action"].as_str().unwrap(),
                done["target"].as_str().unwrap(),
                done["outcome"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            "resume agent @gate refused",
            "retire agent @gate done",
            "resume agent @echo done",
            "suspend agent @echo already",
            "suspend agent @echo done"
        ]
    );
    let first = &actions["actions"][4];
    assert_eq!((&first["by"], &first["reason"]), (&"operator".into(), &"wrong prices".into()));
    let served = served.killed().serve();
    assert_eq!(api(&served, "/actions", &[]).json(), actions, "it is kept");
}

#[test]
fn tasks_of_everybody_are_seen_by_names_that_open_nothing_and_canceled() {
    let served = deployment().serve();
    let accepted = served.curl("/~slow", &["-F", "user=go", "-H", "Prefer: respond-async"]).with_status(202);
    let id = accepted.named("content-location").trim_start_matches("/tasks/").to_owned();
    let listed = api(&served, "/tasks?state=working", &[]).json();
    let task = listed["tasks"][0]["task"].as_str().unwrap();
    assert!(!listed.to_string().contains(&id) && served.curl(&format!("/tasks/{task}"), &[]).status == 404);
    let seen = within("its first event is there", || {
        let seen = api(&served, &format!("/tasks/{task}"), &[]).with_status(200).json();
        (seen["last_event"] != 0).then_some(seen)
    });
    assert_eq!((&seen["turns"][0]["text"], &seen["events"][0]["text"]), (&"go".into(), &"Begun.".into()), "{seen}");
    assert!(!seen.to_string().contains(&id), "{seen}");
    let overview = admin(&served, &["status", "--json"]).json();
    assert_eq!((&overview["tasks_running"], &overview["is_ready"]), (&1.into(), &true.into()), "{overview}");
    let table = admin(&served, &["tasks", "--state", "working"]).fine();
    assert!(table.contains(task) && table.starts_with("TASK "), "{table}");
    admin(&served, &["cancel", task, "--reason", "too long"]).fine();
    assert_eq!(api(&served, &format!("/tasks/{task}"), &[]).json()["state"], "canceled");
    assert_eq!(admin(&served, &["cancel", task, "--json"]).json()["outcome"], "already");
    let unknown = admin(&served, &["cancel", "0123456789abcdef"]).failed(1);
    assert!(unknown.contains("no such task") && unknown.contains("hint:"), "{unknown}");
    let done = begun(&served, "gate", "fail");
    within("it has failed", || {
        (api(&served, &format!("/tasks/{done}"), &[]).json()["state"] == "failed").then_some(())
    });
    assert_eq!(post(&served, &format!("/tasks/{done}/cancel"), &json!({})).status, 409);
    let agents = admin(&served, &["agents"]).fine();
    assert!(agents.contains("failed 1"), "{agents}");
}

#[test]
fn the_events_of_a_task_are_followed_as_they_happen() {
    let served = deployment().serve();
    let task = begun(&served, "gate", "slow");
    let followed =
        api(&served, &format!("/tasks/{task}/events"), &["-H", "Accept: text/event-stream"]).with_status(200);
    assert_eq!(followed.named("content-type"), "text/event-stream");
    let text = followed.text();
    assert!(
        text.contains("id: 1\n") && text.contains("\"kind\":\"ending\"") && text.contains("event: end\n"),
        "{text}"
    );
    let rest = api(&served, &format!("/tasks/{task}/events?after=1"), &["-H", "Accept: text/event-stream"]).text();
    assert!(!rest.contains("id: 1\n") && rest.contains("event: end\n"), "{rest}");
}

#[test]
fn a_delivery_that_fails_is_seen_tried_now_and_dropped() {
    // Nobody listens there any more.
    let port = forecourt_testkit::free_port();
    let served = deployment().open_to_loopback().with("mentionable", "webhook_retries = 9").serve();
    let preference = format!("Prefer: respond-async; callback=\"http://demo.localhost:{port}/told?key=s3cret\"");
    served.curl("/~gate", &["-F", "user=tool", "-H", &preference]).with_status(202);
    let failing = within("an attempt has failed", || {
        let listed = api(&served, "/deliveries", &[]).with_status(200).json();
        assert!(!listed.to_string().contains("s3cret"), "{listed}");
        listed["deliveries"].as_array()?.iter().find(|delivery| delivery["state"] == "failing").cloned()
    });
    assert_eq!(failing["to"], format!("http://demo.localhost:{port}"), "{failing}");
    let id = failing["id"].to_string();
    let table = admin(&served, &["deliveries"]).fine();
    assert!(table.contains("failing") && table.contains("mentionable"), "{table}");
    assert_eq!(admin(&served, &["retry", &id, "--json"]).json()["outcome"], "done");
    let tried = within("it was tried again", || {
        let listed = api(&served, "/deliveries", &[]).json();
        let found = listed["deliveries"].as_array()?.iter().find(|one| one["id"] == failing["id"]).cloned()?;
        (found["state"] == "failing" && found["attempts"].as_u64() > failing["attempts"].as_u64()).then_some(found)
    });
    assert!(tried["attempts"].as_u64() <= tried["attempts_max"].as_u64(), "{tried}");
    within("it is dropped", || {
        (post(&served, &format!("/deliveries/{id}/drop"), &json!({})).status == 200).then_some(())
    });
    assert_eq!(api(&served, "/deliveries", &[]).json()["deliveries"], json!([]));
    assert_eq!(post(&served, "/deliveries/99999/drop", &json!({})).with_status(200).json()["outcome"], "already");
    assert_eq!(post(&served, "/deliveries/99999/retry", &json!({})).status, 404);
    assert_eq!(post(&served, "/deliveries/x/retry", &json!({})).status, 404);
}

#[test]
fn settings_are_shown_without_their_secrets_and_the_playground_answers() {
    let served = deployment()
        .with("admin", "webhook = \"https://hooks.example/T0P\"\nwebhook_secret = \"a-secret-for-posts\"")
        .serve();
    let config = api(&served, "/config", &[]).with_status(200).json().to_string();
    assert!(!config.contains(TOKEN) && !config.contains("T0P") && !config.contains("a-secret-for-posts"), "{config}");
    assert!(config.contains("demo.localhost") && config.contains("agents/slow.toml"), "{config}");
    let answered = post(&served, "/playground/agents/echo", &json!({"text": "hello there"})).with_status(200).json();
    assert_eq!((&answered["answer"], &answered["ending"]), (&"hello there".into(), &"complete".into()), "{answered}");
    let refused = post(&served, "/playground/agents/gate", &json!({"text": "forbid"})).with_status(200).json();
    assert_eq!(
        (&refused["ending"], &refused["refusal"]["kind"]),
        (&"forbidden".into(), &"forbidden".into()),
        "{refused}"
    );
    let streamed = api(
        &served,
        "/playground/agents/echo",
        &["-H", "Content-Type: application/json", "-H", "Accept: text/event-stream", "-d", r#"{"text": "hi"}"#],
    );
    assert!(streamed.text().contains("\"kind\":\"text\"") && streamed.text().contains("event: end\n"), "{streamed:?}");
    assert_eq!(post(&served, "/playground/agents/echo", &json!({"text": " "})).status, 400);
    let certificates = api(&served, "/certificates", &[]).json();
    assert!(certificates["certificates"][0]["names"].to_string().contains("demo.localhost"), "{certificates}");
    let nodes = api(&served, "/nodes", &[]).json();
    assert_eq!((nodes["nodes"].as_array().unwrap().len(), &nodes["nodes"][0]["is_this"]), (1, &true.into()), "{nodes}");
}

#[test]
fn a_reload_with_a_mistake_changes_nothing_and_says_where_it_is() {
    let served = deployment().serve();
    assert!(admin(&served, &["reload", "--reason", "try"]).fine().starts_with("applied"));
    served.deployment.write("agents/slow.toml", "handle = \"slow\"\nnmae = \"Slow\"\n[backend]\nkind = \"echo\"\n");
    let refused = admin(&served, &["reload"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stdout.contains("agents/slow.toml:2"), "{refused:?}");
    assert_eq!(api(&served, "/reload", &[]).json()["status"]["last"]["outcome"], "refused");
    assert_eq!(admin(&served, &["actions", "--json"]).json()["actions"][0]["outcome"], "refused");
}

#[test]
fn the_command_line_says_what_to_do_when_nobody_answers_or_the_token_is_wrong() {
    let served = deployment().serve();
    let wrong = admin(&served, &["agents", "--token", "wrong-wrong-wrong-1"]).failed(1);
    assert!(wrong.contains("admin token"), "{wrong}");
    let away = admin(&served, &["agents", "--url", "http://127.0.0.1:9"]).failed(3);
    assert!(away.contains("hint:") && away.contains("--url"), "{away}");
    admin(&served, &["explode"]).failed(2);
    let none = Deployment::empty().run("admin", ["agents"]).failed(1);
    assert!(none.contains("FORECOURT_ADMIN_TOKEN"), "{none}");
    for list in [
        "agents",
        "tasks",
        "sessions",
        "refusals",
        "usage",
        "contracts",
        "deliveries",
        "queue",
        "limits",
        "content",
        "servers",
        "chats",
        "nodes",
        "certificates",
        "config",
        "actions",
        "status",
    ] {
        admin(&served, &[list]).fine();
        admin(&served, &[list, "--json"]).json();
    }
}

#[test]
fn one_look_tells_whether_the_parts_are_well() {
    let collector = "endpoint = \"http://127.0.0.1:9\"\ntraces = 1.0\nmetrics_seconds = 1";
    let served = deployment().with("telemetry", collector).serve();
    let check = |part: &str| -> (String, String) {
        let checks = api(&served, "/overview", &[]).with_status(200).json()["checks"].clone();
        let found = checks.as_array().unwrap().iter().find(|check| check["part"] == part).cloned().expect(part);
        (found["state"].as_str().unwrap().to_owned(), found["about"].as_str().unwrap().to_owned())
    };
    assert_eq!(check("store"), ("good".to_owned(), "sqlite, in the data folder".to_owned()));
    assert_eq!((check("bus").0, check("content").0), ("off".to_owned(), "off".to_owned()));
    assert_eq!(check("certificates").0, "good");
    assert_eq!(check("backup").0, "off");
    within("a collector that is away is told", || (check("telemetry").0 == "warn").then_some(()));
    served.deployment.run("backup", ["--out", "kept.backup"]).fine();
    assert_eq!(check("backup").0, "good");
    let shown = admin(&served, &["status"]).fine();
    for line in ["backup ", "telemetry ", "certificates "] {
        assert!(shown.lines().any(|told| told.starts_with(line)), "no {line} in {shown}");
    }
}

/// The cookie of a login, as a browser would send it back.
fn logged_in(served: &Served) -> String {
    let answer = login(served, TOKEN, &[]).with_status(303);
    let (cookie, forgotten) =
        answer.named("set-cookie").split_once(", ").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    assert!(forgotten.starts_with("__Host-") && forgotten.contains("Max-Age=0"), "{forgotten}");
    for word in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    // Not every browser takes such a cookie over plain http.
    assert!(!cookie.contains("Domain") && !cookie.contains("Secure") && !cookie.contains("__Host-"), "{cookie}");
    cookie.split(';').next().unwrap().to_owned()
}

fn login(served: &Served, token: &str, words: &[&str]) -> Answer {
    let origin = format!("Origin: http://127.0.0.1:{}", served.admin);
    let own = ["-H", origin.as_str(), "-H", "Sec-Fetch-Site: same-origin"];
    let form = format!("token={token}&next=%2Fconsole%2Ftasks");
    let words = if words.is_empty() { &own[..] } else { words };
    curl(&url(served, "/console/login"), &[&["-d", &form], words].concat())
}

fn with_cookie(served: &Served, path: &str, cookie: &str, words: &[&str]) -> Answer {
    let cookie = format!("Cookie: {cookie}");
    curl(&url(served, path), &[&["-H", &cookie], words].concat())
}

/// What forms of a session carry.
fn csrf(served: &Served, cookie: &str) -> String {
    let page = with_cookie(served, "/console", cookie, &[]).with_status(200).text();
    page.split("name=\"csrf\" content=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

#[test]
fn forms_and_scripts_of_other_sites_do_nothing_with_the_cookie() {
    let served = deployment().serve();
    let cookie = logged_in(&served);
    let csrf = csrf(&served, &cookie);
    let form = format!("csrf={csrf}&back=%2Fconsole%2Fagents");
    let own = format!("Origin: http://127.0.0.1:{}", served.admin);
    let elsewhere = [
        "Origin: https://evil.example",
        "Origin: null",
        "Origin: http://127.0.0.1:1",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
        "X-None: 1",
    ];
    for foreign in elsewhere {
        let answer = with_cookie(&served, "/console/do/agents/echo/suspend", &cookie, &["-d", &form, "-H", foreign]);
        assert_eq!(answer.status, 403, "{foreign}: {answer:?}");
        let json = ["-H", foreign, "-H", "Content-Type: application/json", "-d", "{}"];
        assert_eq!(with_cookie(&served, "/api/v1/agents/echo/suspend", &cookie, &json).status, 403, "{foreign}");
        assert_eq!(
            login(&served, TOKEN, &["-H", foreign]).status,
            403,
            "{foreign}: nobody is logged in by another site"
        );
    }
    for wrong in ["", "csrf=", "csrf=0000", "csrf"] {
        let answer = with_cookie(&served, "/console/do/agents/echo/suspend", &cookie, &["-d", wrong, "-H", &own]);
        assert_eq!(answer.status, 403, "{wrong}");
    }
    // A form of another site can only claim to be one of these.
    for media in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        let media = format!("Content-Type: {media}");
        let csrf = format!("X-CSRF-Token: {csrf}");
        let words = ["-H", &media, "-H", &own, "-H", &csrf, "-d", "{}"];
        assert_eq!(with_cookie(&served, "/api/v1/agents/echo/suspend", &cookie, &words).status, 400, "{media}");
    }
    assert_eq!(api(&served, "/agents/echo", &[]).json()["state"], "active");
    let done =
        with_cookie(&served, "/console/do/agents/echo/suspend", &cookie, &["-d", &form, "-H", &own]).with_status(303);
    assert_eq!(done.named("location"), "/console/agents?done=done");
    assert_eq!(api(&served, "/agents/echo", &[]).json()["state"], "suspended");
    let back = format!("csrf={csrf}&back=https%3A%2F%2Fevil.example");
    let done =
        with_cookie(&served, "/console/do/agents/echo/resume", &cookie, &["-d", &back, "-H", &own]).with_status(303);
    assert_eq!(done.named("location"), "/console?done=done", "nobody is led elsewhere");
}

#[test]
fn a_session_ends_by_logging_out_with_another_token_and_is_of_one_deployment() {
    let served = deployment().serve();
    let cookie = logged_in(&served);
    let is_in = |served: &Served, cookie: &str| with_cookie(served, "/console", cookie, &[]).status == 200;
    assert!(is_in(&served, &cookie));
    assert!(!is_in(&served, &format!("{cookie}; {cookie}")), "one of two was planted");
    assert!(!is_in(&served, &format!("{COOKIE}={}", "a".repeat(43))));
    let other = deployment().serve();
    assert!(!is_in(&other, &cookie), "it is another deployment's");
    drop(other);
    let mut served = served.killed().serve();
    assert!(is_in(&served, &cookie), "it outlives the process");
    let own = format!("Origin: http://127.0.0.1:{}", served.admin);
    let form = format!("csrf={}", csrf(&served, &cookie));
    let out = with_cookie(&served, "/console/logout", &cookie, &["-d", &form, "-H", &own]).with_status(303);
    assert!(out.named("set-cookie").contains("Max-Age=0"));
    assert!(!is_in(&served, &cookie), "a copy of the cookie is of no use after it");
    let cookie = logged_in(&served);
    let deployment = served.killed();
    deployment.edit("forecourt.toml", TOKEN, "another-token-of-the-operator");
    served = deployment.serve();
    assert!(!is_in(&served, &cookie), "whoever changes the token ends what it opened");
    let database = std::fs::read(served.deployment.data().join("forecourt.db")).unwrap();
    let secret = cookie.split_once('=').unwrap().1.as_bytes();
    assert!(!database.windows(secret.len()).any(|window| window == secret), "it is kept as a hash");
}

#[test]
fn consents_are_listed_exported_and_taken_back() {
    let polite = "handle = \"polite\"\nname = \"Polite\"\n\n[backend]\nkind = \"echo\"\n\n[[policy.rules]]\nkind = \"require_consent\"\n\
                  text = \"=We keep, it.\"\nlifetime = \"365d\"\n";
    let served = deployment().and("agents/polite.toml", polite).serve();
    let page = |path: &str, words: &[&str]| {
        served.curl(path, &[&["-H", "Accept: text/html", "-H", "Sec-Fetch-Site: same-origin"], words].concat())
    };
    let refused = page("/~polite?user=soup", &[]).with_status(401).text();
    let state: String = refused.split("/consent/").nth(1).unwrap().chars().take(43).collect();
    let form = page(&format!("/consent/{state}"), &[]).with_status(200).text();
    let token = form.split("name=\"token\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let fields = ["--data-urlencode", &format!("token={token}"), "-d", "decision=accept"].map(str::to_owned);
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    let agreed = page(&format!("/consent/{state}"), &fields).with_status(303);
    let kept = agreed.named("set-cookie");
    let cookie = format!("Cookie: {}", kept.split(';').next().unwrap());
    assert!(cookie.starts_with("Cookie: forecourt-consents="), "{kept}");
    page("/~polite?user=bread", &["-H", &cookie]).with_status(200);
    page("/~polite?user=bread", &[]).with_status(401);
    let listed = api(&served, "/consents?agent=polite&since=2000-01-01", &[]).with_status(200).json();
    assert_eq!((&listed["consents"][0]["status"], &listed["next"]), (&json!("holds"), &Value::Null), "{listed}");
    api(&served, "/consents?since=yesterday", &[]).with_status(400);
    let number = listed["consents"][0]["id"].to_string();
    let table = admin(&served, &["consents"]).stdout;
    assert!(table.contains("AGREED TO") && table.contains("polite"), "{table}");
    let csv = admin(&served, &["consents", "--all", "--csv"]).stdout;
    assert!(csv.starts_with("id,at,agent,who,status,until,rule,message\r\n"), "{csv}");
    assert!(csv.contains("\"'=We keep, it.\""), "{csv}");
    assert_eq!(admin(&served, &["payments"]).stdout.trim(), "no payment");
    let done = admin(&served, &["withdraw-consent", &number, "--reason", "asked by mail"]).stdout;
    assert!(done.contains("is taken back"), "{done}");
    assert!(admin(&served, &["withdraw-consent", &number]).stdout.contains("does not hold any more"));
    page("/~polite?user=bread", &["-H", &cookie]).with_status(401);
    let told = within("the audit has it", || {
        let told = api(&served, "/refusals?outcome=withdrawn", &[]).json();
        told["records"].get(0).cloned()
    });
    assert_eq!((&told["decided_by_proof"], &told["agent"]), (&json!("operator"), &json!("polite")), "{told}");
    assert_eq!(api(&served, "/actions", &[]).json()["actions"][1]["reason"], "asked by mail");
}

#[test]
fn sessions_are_listed_and_ended_by_names_that_open_nothing() {
    let served = deployment().serve();
    let cookie = logged_in(&served);
    let sessions = api(&served, "/sessions", &[]).json();
    let name = sessions["console"][0]["id"].as_str().unwrap();
    assert!(!sessions.to_string().contains(cookie.split_once('=').unwrap().1), "{sessions}");
    assert_ne!(with_cookie(&served, "/console", &format!("{COOKIE}={name}"), &[]).status, 200);
    assert_eq!(post(&served, &format!("/sessions/{name}/end"), &json!({})).json()["outcome"], "done");
    assert_eq!(with_cookie(&served, "/console", &cookie, &[]).status, 303);
    assert_eq!(post(&served, &format!("/sessions/{name}/end"), &json!({})).json()["outcome"], "already");
}

#[test]
fn whoever_guesses_tokens_is_held_up_and_programs_are_not() {
    let served = deployment().serve();
    for _ in 0..10 {
        assert_eq!(login(&served, "wrong-wrong-wrong-1", &[]).status, 403);
    }
    let held = login(&served, TOKEN, &[]).with_status(429);
    assert!(held.named("retry-after").parse::<u64>().unwrap() <= 60);
    assert_eq!(api(&served, "/overview", &[]).status, 200);
}

#[test]
fn pages_can_not_be_framed_rebound_or_made_to_run_what_others_say() {
    let served = deployment().serve();
    let cookie = logged_in(&served);
    begun(&served, "slow", "<img src=x onerror=alert(1)>");
    for path in
        ["/console", "/console/agents", "/console/agents/slow", "/console/tasks", "/console/nothing", "/console/login"]
    {
        let page = with_cookie(&served, path, &cookie, &[]);
        let policy = page.named("content-security-policy");
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("default-src 'none'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(
            (page.named("x-frame-options"), page.named("cache-control")),
            ("DENY".to_owned(), "no-store".to_owned())
        );
        let text = page.text();
        assert!(
            !text.contains("<script>alert") && !text.contains("<img") && !text.contains(" style="),
            "{path}: {text}"
        );
    }
    let task = api(&served, "/tasks?agent=slow", &[]).json()["tasks"][0]["task"].as_str().unwrap().to_owned();
    let page = with_cookie(&served, &format!("/console/tasks/{task}"), &cookie, &[]).with_status(200).text();
    assert!(page.contains("&#60;img") || page.contains("&lt;img"), "{page}");
    for path in ["/console", "/api/v1/overview", "/console/login"] {
        assert_eq!(with_cookie(&served, path, &cookie, &["-H", "Host: evil.example"]).status, 421, "{path}");
    }
    for next in ["//evil.example", "https://evil.example", "/\\evil.example", "/console/../../evil"] {
        let form = format!("token={TOKEN}&next={}", next.replace('/', "%2F"));
        let own = format!("Origin: http://127.0.0.1:{}", served.admin);
        let answer = curl(&url(&served, "/console/login"), &["-d", &form, "-H", &own]).with_status(303);
        assert_eq!(answer.named("location"), "/console", "{next}");
    }
}
