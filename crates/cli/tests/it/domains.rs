//! Several domains in one daemon: a folder of deployments, or a file that names them, on one set of sockets.

use std::fs;

use crate::support::{Deployment, FREE_PORTS, Served, within};
use crate::wire::{Answer, curl, raw_curl};

const TOKENS: [(&str, &str); 2] = [("a.localhost", "the-token-of-domain-a"), ("b.localhost", "the-token-of-domain-b")];

/// A deployment in a folder of its own.
fn site(deployment: &Deployment, folder: &str, domain: &str, words: &str, token: &str) {
    let top = format!("domain = \"{domain}\"\n\n[admin]\ntoken = \"{token}\"\n");
    deployment.write(&format!("{folder}/forecourt.toml"), &top);
    let agent = format!(
        "handle = \"agent\"\nname = \"Agent\"\nsessions = true\n\n[backend]\nkind = \"script\"\n\n[[backend.rule]]\nevents = [{{ text = \"{words}\" }}]\n"
    );
    deployment.write(&format!("{folder}/agents/agent.toml"), &agent);
}

/// `a.localhost` and `b.localhost`, whose agents say so.
fn two() -> Deployment {
    let deployment = Deployment::empty();
    for (name, (domain, token)) in ["a", "b"].into_iter().zip(TOKENS) {
        site(&deployment, name, domain, &format!("I am {name}"), token);
    }
    deployment
}

/// A request to a domain on the plain listener.
fn ask(served: &Served, domain: &str, path: &str, words: &[&str]) -> Answer {
    curl(&format!("http://{domain}:{}{path}", served.http), &[&["-H", "Accept: text/markdown"], words].concat())
}

/// A call of a domain's operator.
fn operator(served: &Served, domain: &str, path: &str, token: &str, words: &[&str]) -> Answer {
    let authorization = format!("Authorization: Bearer {token}");
    let url = format!("http://127.0.0.1:{}/domains/{domain}{path}", served.admin);
    curl(&url, &[&["-H", &authorization], words].concat())
}

#[test]
fn each_domain_answers_for_itself_by_host_and_by_name_of_the_handshake() {
    let served = two().serve();
    assert_eq!(ask(&served, "a.localhost", "/~agent?user=hi", &[]).text().trim(), "I am a");
    assert_eq!(ask(&served, "b.localhost", "/~agent?user=hi", &[]).text().trim(), "I am b");
    assert_eq!(ask(&served, "c.localhost", "/~agent?user=hi", &[]).status, 421);
    // Within TLS, with a certificate of its own authority each.
    for (name, domain, http) in [("a", "a.localhost", "--http1.1"), ("b", "b.localhost", "--http2")] {
        let ca = served.deployment.path().join(name).join(".forecourt/ca.pem").display().to_string();
        let url = format!("https://{domain}:{}/~agent?user=hi", served.https);
        let said = raw_curl(&["--cacert", &ca, http, "-H", "Accept: text/markdown", &url]);
        assert_eq!(String::from_utf8_lossy(&said).trim(), format!("I am {name}"));
        // The host is another one than the connection was opened for.
        let other = if name == "a" { "b.localhost" } else { "a.localhost" };
        let host = format!("Host: {other}:{}", served.https);
        let answer = curl(&url, &["--cacert", &ca, http, "-H", &host]);
        assert_eq!(answer.status, 421, "{http}: {answer:?}");
    }
    // AGTP: the agents of the domain that the connection was opened for.
    for (name, domain, _) in [("a", "a.localhost", 0), ("b", "b.localhost", 0)] {
        let ran = served.deployment.run("agtp", ["DISCOVER", &format!("agtp://{domain}/agents")]);
        let agents = ran.json();
        assert_eq!(agents[0]["owner_id"], domain, "{name}: {agents}");
    }
}

#[test]
fn nothing_is_shared_but_sockets() {
    let served = two().serve();
    // A task of one domain is nobody's at another, whoever knows its id.
    let form = ["-F", "user=hi", "-H", "Prefer: respond-async"];
    let begun = ask(&served, "a.localhost", "/~agent", &form).with_status(202);
    let task = begun.named("content-location");
    within("the task is done", || (ask(&served, "a.localhost", &task, &[]).status == 200).then_some(()));
    assert_eq!(ask(&served, "b.localhost", &task, &[]).status, 404);
    for folder in ["a", "b"] {
        let data = served.deployment.path().join(folder).join(".forecourt");
        assert!(data.join("forecourt.db").exists() && data.join("signing.pem").exists(), "{folder}");
    }
    let key = |name: &str| fs::read(served.deployment.path().join(name).join(".forecourt/signing.pem")).unwrap();
    assert_ne!(key("a"), key("b"));
    // The operator's token of one opens nothing of the other.
    let [(a, token_a), (b, token_b)] = TOKENS;
    assert_eq!(operator(&served, a, "/queue", token_a, &[]).status, 200);
    assert_eq!(operator(&served, b, "/queue", token_b, &[]).status, 200);
    assert_eq!(operator(&served, b, "/queue", token_a, &[]).status, 401);
    assert_eq!(operator(&served, "c.localhost", "/queue", token_a, &[]).status, 404);
    assert_eq!(served.operator("/domains").json()["domains"], serde_json::json!([a, b]));
    assert_eq!(served.operator("/readyz").status, 200);
    assert!(served.operator("/domains/b.localhost/metrics").text().contains("forecourt_"));
    // What one is asked too often for is not the other's.
    let tight =
        served.deployment.read("a/forecourt.toml") + "\n[limits]\nper_address = { per_second = 1, burst = 1 }\n";
    served.deployment.write("a/forecourt.toml", &tight);
    operator(&served, a, "/reload", token_a, &["-X", "POST"]).with_status(200);
    within("it is full", || (ask(&served, a, "/~agent?user=hi", &[]).status == 429).then_some(()));
    assert_eq!(ask(&served, b, "/~agent?user=hi", &[]).status, 200);
}

#[test]
fn domains_come_and_go_while_it_is_served() {
    let served = two().serve();
    assert_eq!(ask(&served, "c.localhost", "/~agent?user=hi", &[]).status, 421);
    site(&served.deployment, "c", "c.localhost", "I am c", "the-token-of-domain-c");
    within("it is served", || {
        (ask(&served, "c.localhost", "/~agent?user=hi", &[]).text().trim() == "I am c").then_some(())
    });
    site(&served.deployment, "c", "c.localhost", "I am c still", "the-token-of-domain-c");
    let still = || (ask(&served, "c.localhost", "/~agent?user=hi", &[]).text().trim() == "I am c still").then_some(());
    within("it is read again", still);
    // One that names a domain that is there already changes nothing.
    site(&served.deployment, "d", "b.localhost", "I am nobody", "the-token-of-domain-d");
    fs::remove_dir_all(served.deployment.path().join("c")).unwrap();
    within("it is gone", || (ask(&served, "c.localhost", "/~agent?user=hi", &[]).status == 421).then_some(()));
    assert_eq!(ask(&served, "b.localhost", "/~agent?user=hi", &[]).text().trim(), "I am b");
    assert_eq!(served.operator("/domains").json()["domains"], serde_json::json!(["a.localhost", "b.localhost"]));
    served.signal(nix::sys::signal::Signal::SIGTERM);
    let (status, log, _) = served.ended();
    assert!(status.success() && log.contains("b.localhost is served already"), "{log}");
}

#[test]
fn a_proxy_that_is_trusted_with_nothing_is_warned_of_for_the_domain_that_is_behind_it() {
    let deployment = two();
    let behind = "domain = \"b.example\"\npublic_url = \"https://b.example\"\n";
    deployment.write("b/forecourt.toml", behind);
    let told = deployment.run("check", ["."]).stderr;
    assert!(told.contains("b.example: `public_url` is set") && !told.contains("a.localhost: `public_url`"), "{told}");
    let served = deployment.serve();
    within("both are served", || served.operator("/domains").text().contains("b.example").then_some(()));
    served.signal(nix::sys::signal::Signal::SIGTERM);
    let log = served.ended().1;
    assert!(log.contains("b.example: `public_url` is set") && !log.contains("a.localhost: `public_url`"), "{log}");
}

#[test]
fn check_and_serve_refuse_what_can_not_be_served_together() {
    let fine = two();
    let text = fine.run("check", ["."]).fine();
    assert!(text.contains("@agent@a.localhost") && text.contains("@agent@b.localhost"), "{text}");
    for (change, word) in [
        ("domain = \"a.localhost\"\n", "is served by"),
        ("domain = \"b.localhost\"\n[listen]\nhttps = \"127.0.0.1:9999\"\n", "share their sockets"),
        ("domain = \"b.localhost\"\n[http]\nhead_bytes_max = 9000\n", "share their sockets"),
        ("domain = \"b.localhost\"\nnmae = 3\n", "nmae"),
    ] {
        let wrong = two();
        wrong.write("b/forecourt.toml", change);
        let text = wrong.run("check", ["."]).failed(1);
        assert!(text.contains(word) && text.contains("b/forecourt.toml"), "{change}: {text}");
        if !change.contains("https") {
            let text = wrong.run("serve", FREE_PORTS).failed(1);
            assert!(text.contains(word), "{change}: {text}");
        }
    }
}

/// `a.localhost` and `b.localhost`, named by a file that says `shared` for both.
fn named(shared: &str) -> Deployment {
    let deployment = Deployment::empty();
    for (name, (domain, token)) in ["a", "b"].into_iter().zip(TOKENS) {
        site(&deployment, &format!("sites/{name}"), domain, &format!("I am {name}"), token);
    }
    deployment.write("forecourt.toml", &naming(&["a", "b"], shared));
    deployment
}

/// A file that names these folders.
fn naming(sites: &[&str], shared: &str) -> String {
    let entries: String = sites.iter().map(|site| format!("[[domain]]\npath = \"sites/{site}\"\n\n")).collect();
    format!("{entries}{shared}")
}

/// How many requests of these labels were counted.
fn counted(served: &Served, labels: &[&str]) -> u64 {
    let text = served.operator("/metrics").text();
    let of_requests = text.lines().filter(|line| line.starts_with("forecourt_http_requests_total{"));
    let right = of_requests.filter(|line| labels.iter().all(|label| line.contains(label)));
    right.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

#[test]
fn a_file_names_the_domains_and_says_what_they_share() {
    let served =
        named("[http]\nhead_bytes_max = 9000\n\n[log]\naccess = \"json\"\naccess_file = \"access.log\"\n").serve();
    for name in ["a", "b"] {
        assert_eq!(
            ask(&served, &format!("{name}.localhost"), "/~agent?user=hi", &[]).text().trim(),
            format!("I am {name}")
        );
        let ca = served.deployment.path().join(format!("sites/{name}/.forecourt/ca.pem")).display().to_string();
        let url = format!("https://{name}.localhost:{}/~agent?user=hi", served.https);
        assert_eq!(curl(&url, &["--cacert", &ca]).status, 200, "by the name of the handshake");
    }
    assert_eq!(ask(&served, "c.localhost", "/~agent?user=hi", &[]).status, 421);
    let long = format!("/~agent?user={}", "x".repeat(9_500));
    for domain in ["a.localhost", "b.localhost"] {
        assert_eq!(ask(&served, domain, &long, &[]).status, 431, "the bound holds for {domain}");
    }
    let log = served.deployment.path().join("access.log");
    within("it is beside the file that names it", || fs::metadata(&log).ok().filter(|found| found.len() > 0));
    assert_eq!(served.operator("/domains").json()["domains"], serde_json::json!(["a.localhost", "b.localhost"]));
}

#[test]
fn metrics_tell_configured_domains_apart_and_no_others() {
    let served = named("").serve();
    (0..2).for_each(|_| drop(ask(&served, "a.localhost", "/~agent?user=hi", &[]).with_status(200)));
    ask(&served, "b.localhost", "/~agent?user=hi", &[]).with_status(200);
    for made_up in 0..20 {
        ask(&served, &format!("made-up-{made_up}.localhost"), "/~agent?user=hi", &[]).with_status(421);
    }
    let mentionable = "protocol=\"mentionable\"";
    assert_eq!(counted(&served, &[mentionable, "domain=\"a.localhost\"", "status=\"2xx\""]), 2);
    assert_eq!(counted(&served, &[mentionable, "domain=\"b.localhost\"", "status=\"2xx\""]), 1);
    assert_eq!(counted(&served, &["domain=\"none\"", "status=\"4xx\""]), 20);
    let text = served.operator("/metrics").text();
    assert!(!text.contains("made-up"), "{text}");
    assert!(text.contains("forecourt_http_request_seconds_count{protocol=\"mentionable\",route=\"/~{handle}\",domain=\"b.localhost\"} 1"), "{text}");
    assert!(!served.operator("/domains/b.localhost/metrics").text().contains("forecourt_http_requests"), "once");
}

#[test]
fn domains_come_and_go_with_the_file_and_the_first_one_too() {
    let served = named("").serve();
    let mut kept = std::net::TcpStream::connect(("127.0.0.1", served.http)).unwrap();
    kept.set_read_timeout(Some(crate::support::PATIENCE)).unwrap();
    let mut said = |domain: &str| {
        use std::io::{Read, Write};
        write!(kept, "GET /~agent?user=hi HTTP/1.1\r\nHost: {domain}\r\nAccept: text/markdown\r\n\r\n").unwrap();
        let (mut text, mut bytes) = (String::new(), [0; 4096]);
        while !text.contains("I am ") && !text.contains("HTTP/1.1 421") {
            let count = kept.read(&mut bytes).unwrap();
            assert!(count > 0, "the connection was closed: {text}");
            text += &String::from_utf8_lossy(&bytes[..count]);
        }
        text
    };
    assert!(said("b.localhost").contains("I am b"));
    site(&served.deployment, "sites/c", "c.localhost", "I am c", "the-token-of-domain-c");
    served.deployment.write("forecourt.toml", &naming(&["a", "b", "c"], ""));
    within("it is served", || (ask(&served, "c.localhost", "/~agent?user=hi", &[]).status == 200).then_some(()));
    // The first one goes.
    served.deployment.write("forecourt.toml", &naming(&["c", "b"], ""));
    within("it is gone", || (ask(&served, "a.localhost", "/~agent?user=hi", &[]).status == 421).then_some(()));
    assert!(said("b.localhost").contains("I am b"), "connections stay");
    assert_eq!(served.operator("/domains").json()["domains"], serde_json::json!(["b.localhost", "c.localhost"]));
    assert_eq!(served.operator("/readyz").with_status(200).text(), "ready\n");
    let before = counted(&served, &["domain=\"b.localhost\""]);
    ask(&served, "b.localhost", "/~agent?user=hi", &[]).with_status(200);
    assert_eq!(counted(&served, &["domain=\"b.localhost\""]), before + 1, "who is first now shows what all share");
    let (b, token) = TOKENS[1];
    assert_eq!(served.operator(&format!("/domains/{b}/healthz")).status, 200);
    // Browsers find the views of each by its name.
    for (host, status) in [("c.localhost", 200), ("c.localhost.localhost", 200), ("a.localhost", 421), ("made.up", 421)]
    {
        let with_token = ["-H", "Authorization: Bearer the-token-of-domain-c", "-H", &format!("Host: {host}")];
        assert_eq!(curl(&format!("http://127.0.0.1:{}/queue", served.admin), &with_token).status, status, "{host}");
    }
    // The sockets go by what is first now, and by the file.
    served.deployment.write("forecourt.toml", &naming(&["c", "b"], "[http]\nhead_bytes_max = 9000\n"));
    let long = format!("/~agent?user={}", "x".repeat(9_500));
    within("another bound holds", || (ask(&served, b, &long, &[]).status == 431).then_some(()));
    assert!(said("b.localhost").contains("I am b"), "connections stay on the terms that they began with");
    operator(&served, b, "/reload", token, &["-X", "POST"]).with_status(200);
    // Who was first may come again, with what it kept.
    served.deployment.write("forecourt.toml", &naming(&["c", "b", "a"], ""));
    within("it is back", || (ask(&served, "a.localhost", "/~agent?user=hi", &[]).status == 200).then_some(()));
    served.signal(nix::sys::signal::Signal::SIGTERM);
    let (status, log, _) = served.ended();
    assert!(status.success(), "{log}");
}

#[test]
fn the_first_folder_may_go_as_any_other() {
    let served = two().serve();
    fs::remove_dir_all(served.deployment.path().join("a")).unwrap();
    within("it is gone", || (ask(&served, "a.localhost", "/~agent?user=hi", &[]).status == 421).then_some(()));
    assert_eq!(ask(&served, "b.localhost", "/~agent?user=hi", &[]).text().trim(), "I am b");
    assert_eq!(served.operator("/readyz").status, 200);
    let ca = served.deployment.path().join("b/.forecourt/ca.pem").display().to_string();
    let url = format!("https://b.localhost:{}/~agent?user=hi", served.https);
    assert_eq!(curl(&url, &["--cacert", &ca]).status, 200);
    // The last one stays.
    fs::remove_dir_all(served.deployment.path().join("b/agents")).unwrap();
    fs::remove_file(served.deployment.path().join("b/forecourt.toml")).unwrap();
    site(&served.deployment, "c", "c.localhost", "I am c", "the-token-of-domain-c");
    within("another one comes", || (ask(&served, "c.localhost", "/~agent?user=hi", &[]).status == 200).then_some(()));
}

#[test]
fn what_is_wrong_with_the_file_and_with_any_domain_is_told_at_once_with_its_line() {
    let wrong = |change: &dyn Fn(&Deployment)| {
        let deployment = named("");
        change(&deployment);
        let checked = deployment.run("check", ["."]).failed(1);
        let served = deployment.run("serve", FREE_PORTS).failed(1);
        (checked, served)
    };
    // Two domains with mistakes, and sockets that are not theirs to say.
    let (checked, served) = wrong(&|deployment| {
        deployment.write("sites/a/forecourt.toml", "domain = \"a.localhost\"\nnmae = 3\n");
        deployment.write("sites/b/forecourt.toml", "domain = \"b.localhost\"\n[listen]\nhttp = \"127.0.0.1:1\"\n");
    });
    for text in [&checked, &served] {
        assert!(text.contains("sites/a/forecourt.toml:2") && text.contains("nmae"), "{text}");
        assert!(text.contains("sites/b/forecourt.toml:2") && text.contains("all domains share"), "{text}");
    }
    for (text, line, word) in [
        (naming(&["a", "none"], ""), 5, "has no forecourt.toml"),
        (naming(&["a", "a"], ""), 5, "named twice"),
        (naming(&["a", "b"], "[limits]\naudit_days = 3\n"), 7, "of its own folder"),
        (naming(&["a", "b"], "[listen]\nhtp = \"127.0.0.1:0\"\n"), 8, "did you mean `http`"),
        (naming(&["a", "b"], "trusted_proxies = [\"10.0.0.0/8\"]\n"), 7, "trusted_proxies"),
    ] {
        let (checked, served) = wrong(&|deployment| deployment.write("forecourt.toml", &text));
        for told in [checked, served] {
            assert!(told.contains(&format!("forecourt.toml:{line}")) && told.contains(word), "{word}: {told}");
        }
    }
    let deployment = named("");
    let told = deployment.run("index", ["."]).failed(1);
    assert!(told.contains("names several domains") && told.contains("forecourt.toml:1"), "{told}");
    assert!(deployment.run("check", ["."]).fine().contains("@agent@b.localhost"));
}

#[test]
fn a_mistake_in_the_file_leaves_every_domain_as_it_is() {
    let served = named("[http]\nhead_bytes_max = 9000\n").serve();
    served.deployment.write("forecourt.toml", &naming(&["a"], "[htp]\n"));
    // A second file that changes is taken up by its own watch meanwhile.
    site(&served.deployment, "sites/b", "b.localhost", "I am b still", "the-token-of-domain-b");
    let (a, token) = TOKENS[0];
    within("it is refused", || {
        let attempt = operator(&served, a, "/reload", token, &["-X", "POST"]);
        (attempt.status == 422 && attempt.text().contains("htp")).then_some(())
    });
    assert_eq!(ask(&served, "b.localhost", "/~agent?user=hi", &[]).status, 200, "and nobody went");
    served.deployment.write("forecourt.toml", &naming(&["a", "b"], "[log]\nformat = \"json\"\n"));
    let needs_restart = || {
        let attempt = operator(&served, a, "/reload", token, &["-X", "POST"]);
        (attempt.status == 409).then(|| attempt.json())
    };
    let attempt = within("the log has one form", needs_restart);
    let problem = &attempt["problems"][0];
    assert!(problem["message"].as_str().unwrap().contains("log.format") && problem["line"] == 8, "{attempt}");
    served.deployment.write("forecourt.toml", &naming(&["a", "b"], ""));
    within("all is well", || (operator(&served, a, "/reload", token, &["-X", "POST"]).status == 200).then_some(()));
    within("what waited is served", || {
        (ask(&served, "b.localhost", "/~agent?user=hi", &[]).text().trim() == "I am b still").then_some(())
    });
}
