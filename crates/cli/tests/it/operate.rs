//! What an operator does: check, start, change, watch, and sleep while others flood.

use std::net::TcpListener;

use nix::sys::signal::Signal;

use crate::support::{DOMAIN, Deployment, FREE_PORTS, Served, within};
use crate::wire::curl;

/// The words of `check` about a deployment that is not fine.
#[track_caller]
fn problems(deployment: &Deployment) -> String {
    deployment.run("check", ["."]).failed(1)
}

#[test]
fn check_shows_what_the_world_will_see() {
    let kitchen = Deployment::kitchen();
    let text = kitchen.run("check", ["."]).fine();
    assert!(
        text.contains("@chef@demo.localhost  Chef") && text.contains("https://demo.localhost:8443/~chef"),
        "{text}"
    );
    let json = kitchen.run("check", [".", "--json"]).json();
    assert_eq!((&json["domain"], &json["origin"]), (&DOMAIN.into(), &"https://demo.localhost:8443".into()));
    assert_eq!(json["agents"].as_array().unwrap().len(), 3, "{json}");
    assert!(!kitchen.data().join("index").exists(), "checking leaves nothing behind");
}

#[test]
fn check_names_file_line_and_the_nearest_key() {
    let kitchen = Deployment::kitchen();
    kitchen.edit("agents/chef.toml", "results = 10", "resluts = 10");
    let text = problems(&kitchen);
    let line = kitchen.read("agents/chef.toml").lines().position(|line| line.starts_with("resluts")).unwrap() + 1;
    for said in ["agents/chef.toml", &format!(":{line}"), "resluts", "results"] {
        assert!(text.contains(said), "no {said} in {text}");
    }
}

#[test]
fn check_finds_every_problem_at_once() {
    let kitchen = Deployment::kitchen().with("limits", "per_adress = 1");
    kitchen.edit("agents/gate.toml", "kind = \"script\"", "kind = \"scirpt\"");
    kitchen.edit("agents/echo.toml", "handle = \"echo\"", "handle = \"Echo Echo\"");
    kitchen.write("agents/broken.toml", "handle = \"broken\nname = ");
    let text = problems(&kitchen);
    let found = ["forecourt.toml", "per_address", "agents/echo.toml", "handle", "agents/broken.toml"];
    for said in found {
        assert!(text.contains(said), "no {said} in {text}");
    }
}

#[test]
fn check_refuses_what_serve_would_refuse() {
    let missing = Deployment::kitchen();
    std::fs::remove_file(missing.path().join("content/recipes.jsonl")).unwrap();
    assert!(problems(&missing).contains("content/recipes.jsonl"));
    let unknown = Deployment::kitchen();
    unknown.edit("agents/gate.toml", "kind = \"script\"", "kind = \"scirpt\"");
    let text = problems(&unknown);
    assert!(text.contains("agents/gate.toml") && text.contains("scirpt") && text.contains("`script`"), "{text}");
    let twins = Deployment::kitchen();
    twins.write("agents/other.toml", &twins.read("agents/echo.toml"));
    assert!(problems(&twins).contains("echo"));
    let nobody = Deployment::kitchen();
    nobody.edit("forecourt.toml", "default_agent = \"chef\"", "default_agent = \"cook\"");
    assert!(problems(&nobody).contains("cook"));
    let foreign = Deployment::kitchen();
    foreign.edit("agents/gate.toml", "https://{host}/~gate?user=why", "https://elsewhere.example/why");
    assert!(problems(&foreign).contains("agents/gate.toml"));
    let unset = Deployment::kitchen();
    unset.edit("forecourt.toml", "name = \"Demo kitchen\"", "name = \"${NO_SUCH_VARIABLE_HERE}\"");
    assert!(problems(&unset).contains("NO_SUCH_VARIABLE_HERE"));
    let no_folder = Deployment::empty();
    let text = problems(&no_folder);
    assert!(text.contains("forecourt.toml") && text.contains("hint: "), "{text}");
}

#[test]
fn check_warns_of_rules_that_nobody_can_ever_meet() {
    let deployment = Deployment::of_backend("kind = \"echo\"\n");
    let agent = deployment.read("agents/agent.toml");
    let rules = "\n[[policy.rules]]\nkind = \"require_identity\"\nissuers = [\"https://login.example\"]\n\n\
                 [[policy.rules]]\nkind = \"require_payment\"\nprice = \"1 USD\"\n\
                 offers = [{ scheme = \"ln.bolt11\", payload = {} }]\n";
    deployment.write("agents/agent.toml", &format!("{agent}{rules}"));
    let checked = deployment.run("check", [deployment.path()]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    for words in
        ["agent.toml", "`https://login.example` is no issuer in [identity]", "payments of `ln` are not checked"]
    {
        assert!(checked.stderr.contains(words), "no {words:?} in {}", checked.stderr);
    }
    assert_eq!(checked.stderr.matches("warning:").count(), 2, "{}", checked.stderr);
}

#[test]
fn serve_says_the_same_as_check() {
    let kitchen = Deployment::kitchen();
    kitchen.edit("agents/chef.toml", "results = 10", "resluts = 10");
    let checked = problems(&kitchen);
    assert_eq!(
        kitchen.run("serve", FREE_PORTS).failed(1).replace("./agents", "agents"),
        checked.replace("./agents", "agents")
    );
}

#[test]
fn init_check_serve_ask() {
    let empty = Deployment::empty();
    empty.run("init", ["."]).failed(0);
    assert!(empty.run("init", ["."]).failed(1).contains("not empty"));
    empty.run("check", ["."]).fine();
    let served = empty.serve();
    let answer = served.deployment.run("ask", ["@search@demo.localhost", "what is here?"]).fine();
    assert!(!answer.trim().is_empty());
    assert_eq!(served.deployment.run("ask", ["@echo@demo.localhost", "hello"]).fine().trim(), "hello");
}

/// The words for `serve` on free ports, but for `flag` on `address`.
fn listening<'a>(flag: &'a str, address: &'a str) -> Vec<&'a str> {
    let mut words = FREE_PORTS.to_vec();
    match words.iter().position(|word| *word == flag) {
        Some(at) => words[at + 1] = address,
        None => words.extend([flag, address]),
    }
    words
}

#[test]
fn a_taken_port_is_said_with_a_way_out() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let gatehouse = Deployment::gatehouse();
    for flag in ["--http", "--https", "--admin", "--agtp", "--agtp-plaintext", "--gateway"] {
        let text = gatehouse.run("serve", listening(flag, &address)).failed(1);
        assert!(text.contains(&address) && text.contains("hint: ") && text.contains(flag), "{text}");
    }
}

#[test]
fn plain_http_off_loopback_is_refused() {
    let gatehouse = Deployment::gatehouse();
    for (flag, hint) in [
        ("--http", "127.0.0.1"),
        ("--https", "certificate"),
        ("--admin", "127.0.0.1"),
        ("--agtp", "certificate"),
        ("--agtp-plaintext", "127.0.0.1"),
        ("--gateway", "127.0.0.1"),
    ] {
        let text = gatehouse.run("serve", listening(flag, "0.0.0.0:0")).failed(1);
        assert!(text.contains("error: ") && text.contains(hint), "{flag}: {text}");
    }
}

#[test]
fn check_says_what_needs_a_certificate_as_serve_does() {
    let text = problems(&Deployment::gatehouse().with("agtp", "listen = \"0.0.0.0:4480\""));
    assert!(text.contains("agtp on 0.0.0.0:4480") && text.contains("hint: "), "{text}");
}

/// The gatehouse with a certificate of its own, so that it may be served off loopback.
fn certified() -> Deployment {
    let deployment = Deployment::gatehouse().serve().killed();
    let data = deployment.data();
    let tls = ["cert", "key"].map(|name| format!("{name} = \"{}\"", data.join(format!("{name}.pem")).display()));
    deployment.with("tls", &tls.join("\n"))
}

#[test]
fn what_a_flag_opens_to_others_is_held_to_what_holds_for_others() {
    let open = Deployment::gatehouse().with("agtp", "lifecycle_auth = \"open\"");
    let said = open.run("serve", listening("--agtp", "0.0.0.0:0")).failed(1);
    assert!(said.contains("`open` lets anybody retire agents") && said.contains("forecourt.toml:"), "{said}");
    let said = open.run("serve", listening("--gateway", "0.0.0.0:0")).failed(1);
    assert!(said.contains("`gateway` must be a loopback address") && said.contains("--> --gateway"), "{said}");

    let served = certified().serve_on(&listening("--agtp", "0.0.0.0:0"));
    let said = served.deployment.run("agtp", ["DEACTIVATE", "agtp://demo.localhost/agents/echo"]).failed(1);
    assert!(said.contains("401"), "a neighbour on this machine proves who it is, as everybody does: {said}");
}

#[test]
fn what_a_flag_opens_is_told() {
    let gateway = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let served = Deployment::gatehouse().serve_on(&listening("--gateway", &gateway));
    let apis = served.deployment.run("agtp", ["DISCOVER", "agtp://demo.localhost/apis"]).json();
    assert_eq!(apis[0]["base_url"], format!("http://{gateway}"), "{apis}");
}

#[test]
fn base_12_the_gateway_of_a_public_host_answers_under_the_names_of_its_machine() {
    let deployment = certified();
    let gateway = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let words = [&listening("--https", "0.0.0.0:0")[..], &["--gateway", &gateway]].concat();
    let _served = deployment.serve_on(&words);
    let url = format!("http://{gateway}/methods");
    assert!(curl(&url, &["-X", "DISCOVER"]).with_status(200).json().is_array());
    assert_eq!(curl(&url, &["-X", "DISCOVER", "-H", "Host: evil.example"]).status, 421);
}

#[test]
fn new_content_is_found_without_a_restart() {
    let served = Deployment::kitchen().serve();
    let ask = || served.curl("/~chef?user=xanthic%20quiverbread", &["-H", "Accept: text/markdown"]).text();
    assert!(!ask().contains("Quiverbread"));
    let recipe = r#"{"@type": "Recipe", "@id": "https://example.com/q", "url": "https://example.com/q", "name": "Xanthic Quiverbread", "recipeIngredient": ["flour"]}"#;
    let recipes = served.deployment.read("content/recipes.jsonl");
    served.deployment.write("content/recipes.jsonl", &format!("{recipes}{recipe}\n"));
    within("the new recipe is found", || ask().contains("Xanthic Quiverbread").then_some(()));
    served.deployment.write("content/recipes.jsonl", &recipes);
    within("the removed recipe is forgotten", || (!ask().contains("Quiverbread")).then_some(()));
}

#[test]
fn an_index_that_is_there_is_used_as_it_is() {
    let served = Deployment::kitchen().serve();
    let before = served.curl("/~chef?user=chickpeas", &["-H", "Accept: text/markdown"]).text();
    let again = served.killed().serve();
    let after = again.curl("/~chef?user=chickpeas", &["-H", "Accept: text/markdown"]).text();
    assert_eq!(before, after);
    again.signal(Signal::SIGTERM);
    let (_, log, _) = again.ended();
    let indexed = log.lines().filter(|line| line.contains("index"));
    assert_eq!(indexed.count(), 0, "nothing had changed: {log}");
}

#[test]
fn index_counts_what_it_read() {
    let kitchen = Deployment::kitchen();
    let recipes = kitchen.read("content/recipes.jsonl").lines().count();
    let text = kitchen.read("content/recipes.jsonl");
    kitchen.write("content/recipes.jsonl", &format!("{text}this is no JSON\n"));
    let json = kitchen.run("index", [".", "--json"]).json();
    let chef = json.as_array().unwrap().iter().find(|agent| agent["agent"] == "chef").unwrap();
    assert_eq!((&chef["items"], &chef["skipped"]), (&recipes.into(), &1.into()), "{json}");
}

/// A kitchen that takes ten requests at once from one caller, and one a second from then on.
fn narrow() -> Served {
    let kitchen = Deployment::gatehouse();
    kitchen.edit("forecourt.toml", "per_second = 50, burst = 300", "per_second = 1, burst = 10");
    kitchen.serve()
}

#[test]
fn s8_4_a_flood_is_stopped_and_others_do_not_notice() {
    let served = narrow();
    let url = format!("http://{DOMAIN}:{}/~echo?user=[1-60]", served.http);
    let format = "%{http_code} %header{retry-after}\n";
    let flood = ["-q", "-sS", "--noproxy", "*", "--parallel", "-o", "/dev/null", "-w", format, &url];
    let output = std::process::Command::new("curl").args(flood).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let refused: Vec<&str> = text.lines().filter(|line| line.starts_with("429")).collect();
    let served_well = text.lines().filter(|line| line.starts_with("200")).count();
    assert!(served_well >= 10 && refused.len() >= 10, "{served_well} of 60 were answered: {text}");
    for line in refused {
        let seconds: u64 = line.split(' ').nth(1).unwrap().parse().unwrap_or_else(|_| panic!("{line:?}"));
        assert!((1..=60).contains(&seconds), "{line}");
    }
    served.curl("/~echo?user=hi", &["--interface", "127.0.0.2"]).with_status(200);
    let policy = within("the flooder meets its bound again", || {
        let answer = served.curl("/~echo?user=hi", &["-H", "Accept: application/json"]);
        (answer.status == 429).then(|| answer.json())
    });
    assert_eq!(policy["policy"]["kind"], "too_many_requests");
    for path in ["/~gate", "/tasks/x", "/"] {
        within("every kind of path is counted", || (served.curl(path, &[]).status == 429).then_some(()));
    }
    assert_eq!(served.operator("/healthz").status, 200);
}

#[test]
fn s8_4_a_caller_comes_back_after_the_time_it_was_told() {
    let served = narrow();
    within("the bound is met", || (served.curl("/~echo?user=hi", &[]).status == 429).then_some(()));
    within("the caller may ask again", || (served.curl("/~echo?user=hi", &[]).status == 200).then_some(()));
}

#[test]
fn the_operator_sees_health_readiness_and_numbers() {
    let served = Deployment::gatehouse().serve();
    assert_eq!(served.operator("/healthz").with_status(200).text(), "ok\n");
    assert_eq!(served.operator("/readyz").with_status(200).text(), "ready\n");
    served.curl("/~gate?user=pay", &[]).with_status(402);
    served.curl("/~secret-name-of-nobody?user=hi", &[]).with_status(404);
    let metrics = served.operator("/metrics").with_status(200);
    assert!(metrics.named("content-type").starts_with("application/openmetrics-text"), "{metrics:?}");
    let text = metrics.text();
    for line in [
        "forecourt_replies_total{agent=\"gate\",via=\"rest\",ending=\"payment_required\",cause=\"\"} 1",
        "forecourt_http_requests_total{protocol=\"mentionable\",route=\"/~{handle}\",method=\"GET\",status=\"4xx\",domain=\"demo.localhost\"} 2",
        "# EOF",
    ] {
        assert!(text.contains(line), "no {line} in {text}");
    }
    assert!(!text.contains("secret-name"), "labels are a closed set: {text}");
    let url = format!("http://127.0.0.1:{}/metrics", served.admin);
    let plain = crate::wire::curl(&url, &["-H", "Accept: text/plain;version=0.0.4"]).with_status(200);
    assert!(plain.named("content-type").starts_with("text/plain; version=0.0.4"), "{plain:?}");
    let plain = plain.text();
    assert!(plain.contains("# TYPE forecourt_http_requests_total counter") && !plain.contains("# EOF"), "{plain}");
    for path in ["/healthz", "/readyz", "/metrics"] {
        served.curl(path, &[]).with_status(404);
    }
}

#[test]
fn machines_get_a_log_that_they_can_read() {
    let served = Deployment::gatehouse().with("log", "level = \"debug\"\nformat = \"json\"").serve();
    served.curl("/~gate?user=fail", &[]).with_status(502);
    served.signal(Signal::SIGTERM);
    let (status, log, _) = served.ended();
    assert!(status.success(), "{status}");
    let lines: Vec<&str> = log.lines().filter(|line| line.starts_with('{')).collect();
    assert!(!lines.is_empty(), "{log}");
    for line in lines {
        let value: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(value["level"].is_string() && value["timestamp"].is_string(), "{line}");
    }
    assert!(!log.contains('\u{1b}'), "a log in a file has no colours: {log:?}");
}

#[test]
fn state_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let served = Deployment::gatehouse().serve();
    let mode = |name: &str| served.deployment.data().join(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("."), 0o700);
    assert_eq!(mode("key.pem"), 0o600);
    assert_eq!(mode("forecourt.db"), 0o600);
}

#[test]
fn two_daemons_do_not_share_a_folder() {
    let served = Deployment::gatehouse().serve();
    let text = served.deployment.run("serve", FREE_PORTS).failed(1);
    assert!(text.contains("served from") && text.contains("hint: "), "{text}");
    served.curl("/~echo?user=hi", &[]).with_status(200);
}

#[test]
fn the_program_explains_itself() {
    let served = Deployment::kitchen_with_guide().serve();
    let answer = served.curl("/~guide?user=how%20do%20I%20add%20an%20agent?", &["-H", "Accept: text/markdown"]);
    let text = answer.with_status(200).text();
    assert!(text.contains("Put a TOML file into `agents/`.") && !text.contains("<!--"), "{text}");
}

#[test]
fn help_teaches_and_wrong_words_are_the_users_problem() {
    let nowhere = Deployment::empty();
    let text = nowhere.run("ask", ["--help"]).fine();
    assert!(text.contains("Examples:"), "{text}");
    assert!(nowhere.run("--version", [""; 0]).fine().starts_with("forecourt "));
    for (command, words) in [("serve", &["--htp"][..]), ("ask", &["@echo@demo.localhost"]), ("sreve", &[])] {
        let text = nowhere.run(command, words).failed(2);
        assert!(text.contains("error: "), "{text}");
    }
}
