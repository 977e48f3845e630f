//! Changes of a deployment while it is served: by its files, by a signal and by a call of the operator.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::nodes::Nodes;
use crate::support::{DOMAIN, Deployment, FREE_PORTS, PATIENCE, Served, lines_of, within};
use crate::wire::{Answer, curl};

const TOKEN: &str = "a-token-of-the-operator";
/// How soon a change of files is to be served.
const EFFECTIVE: Duration = Duration::from_secs(1);
/// Reloads under load.
const ROUNDS: usize = 100;
/// Kilobytes by which 80 reloads may let the process grow: an allocator keeps some of what it was given back.
const GROWTH_KB_MAX: usize = 48 * 1024;

/// `@agent` says `words`.
fn agent(words: &str) -> String {
    format!(
        "handle = \"agent\"\nname = \"Agent\"\n\n[backend]\nkind = \"script\"\n\n\
         [[backend.rule]]\ntext = \"^slowly\"\nevents = [{{ text = \"{words} \" }}, {{ wait_ms = 1500 }}, {{ text = \"{words}\" }}]\n\n\
         [[backend.rule]]\nevents = [{{ text = \"{words}\" }}]\n"
    )
}

/// A deployment whose `@agent` says `words`, with the operator's token.
fn saying(words: &str) -> Deployment {
    let deployment = Deployment::empty();
    let free = "{ per_second = 1000000, burst = 1000000 }";
    let top = format!(
        "domain = \"{DOMAIN}\"\n\n[admin]\ntoken = \"{TOKEN}\"\n\n\
         [limits]\nper_address = {free}\nper_session = {free}\n"
    );
    deployment.write("forecourt.toml", &top);
    deployment.and("agents/agent.toml", &agent(words))
}

fn operator(served: &Served, words: &[&str]) -> Answer {
    let authorization = format!("Authorization: Bearer {TOKEN}");
    curl(&format!("http://127.0.0.1:{}/reload", served.admin), &[&["-H", &authorization], words].concat())
}

fn reload(served: &Served) -> Answer {
    operator(served, &["-X", "POST"])
}

/// The last attempt.
fn last(served: &Served) -> Value {
    operator(served, &[]).json()["last"].take()
}

fn said(served: &Served) -> String {
    served.curl("/~agent?user=hi", &["-H", "Accept: text/markdown"]).text().trim().to_owned()
}

/// Kilobytes that the process has in memory.
fn resident_kb(served: &Served) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", served.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// A connection that asks one question after another.
struct KeptConnection(BufReader<TcpStream>);

impl KeptConnection {
    fn open(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(BufReader::new(stream))
    }

    /// The status and the body of an answer with a length.
    fn get(&mut self, path: &str) -> Result<(u16, String), String> {
        let wrong = |error: std::io::Error| format!("{path}: {error}");
        let head = format!("GET {path} HTTP/1.1\r\nHost: {DOMAIN}\r\nAccept: text/markdown\r\n\r\n");
        self.0.get_mut().write_all(head.as_bytes()).map_err(wrong)?;
        let (mut status, mut length, mut line) = (0, None, String::new());
        loop {
            line.clear();
            if self.0.read_line(&mut line).map_err(wrong)? == 0 {
                return Err(format!("{path}: the connection was closed"));
            }
            let text = line.trim_end().to_ascii_lowercase();
            if text.is_empty() {
                break;
            }
            if let Some(rest) = text.strip_prefix("http/1.1 ") {
                status = rest.split(' ').next().unwrap().parse().unwrap();
            }
            if let Some(value) = text.strip_prefix("content-length:") {
                length = value.trim().parse().ok();
            }
        }
        let mut body = vec![0; length.ok_or_else(|| format!("{path}: {status}, an answer without a length"))?];
        self.0.read_exact(&mut body).map_err(wrong)?;
        Ok((status, String::from_utf8_lossy(&body).trim().to_owned()))
    }
}

#[test]
fn files_that_change_are_served_and_those_that_come_and_go_too() {
    let served = saying("one").serve();
    assert_eq!(said(&served), "one");
    served.deployment.write("agents/agent.toml", &agent("two"));
    within("the change is served", || (said(&served) == "two").then_some(()));
    let attempt = last(&served);
    assert_eq!((&attempt["outcome"], &attempt["by"]), (&"applied".into(), &"files".into()), "{attempt}");
    assert_eq!(attempt["changed"], serde_json::json!(["agents/agent.toml"]), "{attempt}");
    served.deployment.write("agents/more.toml", "handle = \"more\"\nname = \"More\"\n[backend]\nkind = \"echo\"\n");
    within("an agent has come", || (served.curl("/~more?user=hi", &[]).status == 200).then_some(()));
    fs::remove_file(served.deployment.path().join("agents/more.toml")).unwrap();
    within("an agent has gone", || (served.curl("/~more?user=hi", &[]).status == 404).then_some(()));
    let metrics = served.operator("/metrics").text();
    assert!(metrics.contains("forecourt_reloads_total{outcome=\"applied\"} 3"), "{metrics}");
}

#[test]
fn a_mistake_changes_nothing_and_is_told_with_file_line_and_hint() {
    let served = saying("one").serve();
    served.deployment.write("agents/agent.toml", &agent("two").replace("name =", "nmae ="));
    let attempt = within("the mistake is seen", || Some(last(&served)).filter(|last| last["outcome"] == "refused"));
    let problem = &attempt["problems"][1];
    assert_eq!((&problem["file"], &problem["line"]), (&"agents/agent.toml".into(), &2.into()), "{attempt}");
    assert!(problem["message"].as_str().unwrap().contains("nmae") && problem["hint"].is_string(), "{attempt}");
    let answer = reload(&served).with_status(422).json();
    assert_eq!(answer["problems"], attempt["problems"]);
    assert_eq!(said(&served), "one");
    assert_eq!(served.operator("/readyz").status, 200, "what is served is fine");
    served.deployment.write("agents/agent.toml", &agent("three"));
    within("it was put right", || (said(&served) == "three").then_some(()));
    assert_eq!(reload(&served).with_status(200).json()["problems"], serde_json::json!([]));
}

#[test]
fn an_endpoint_that_is_refused_changes_nothing_while_it_is_served() {
    let served = saying("one").serve();
    served.deployment.write("endpoints/broken.toml", "method = \"no method\"\n");
    let attempt = within("the mistake is seen", || Some(last(&served)).filter(|last| last["outcome"] == "refused"));
    assert_eq!(attempt["problems"][0]["file"], "endpoints/broken.toml", "{attempt}");
    served.deployment.write("agents/agent.toml", &agent("two"));
    assert_eq!(reload(&served).status, 422, "all of it or nothing");
    assert_eq!(said(&served), "one");
}

#[test]
fn half_written_files_are_never_served() {
    let served = saying("one").serve();
    let path = served.deployment.path().join("agents/agent.toml");
    let (whole, half) = (agent("two"), agent("two").len() / 2);
    // As a slow copy writes: cut off, then piece by piece, in the same file.
    let mut file = fs::File::create(&path).unwrap();
    file.write_all(&whole.as_bytes()[..half]).unwrap();
    let refused = within("the half is seen", || Some(last(&served)).filter(|last| last["outcome"] == "refused"));
    assert_eq!(refused["problems"][0]["file"], "agents/agent.toml", "{refused}");
    assert_eq!(said(&served), "one");
    file.write_all(&whole.as_bytes()[half..]).unwrap();
    within("the whole is served", || (said(&served) == "two").then_some(()));
}

#[test]
fn a_hangup_and_a_call_read_what_nobody_watches() {
    let served = saying("one").with("reload", "watch = false").serve();
    assert_eq!(operator(&served, &[]).json()["watch"], false);
    served.deployment.write("agents/agent.toml", &agent("two"));
    served.signal(Signal::SIGHUP);
    within("the signal is heard", || (said(&served) == "two").then_some(()));
    assert_eq!(last(&served)["by"], "signal");
    served.deployment.write("agents/agent.toml", &agent("three"));
    let answer = reload(&served).with_status(200).json();
    assert_eq!((&answer["by"], &answer["changed"][0]), (&"admin".into(), &"agents/agent.toml".into()), "{answer}");
    assert_eq!(said(&served), "three", "once it is answered it is served");
    let url = format!("http://127.0.0.1:{}/reload", served.admin);
    assert_eq!((curl(&url, &["-X", "POST"]).status, curl(&url, &[]).status), (401, 401), "the token is needed");
}

#[test]
fn what_needs_a_restart_is_refused_with_that_word() {
    let served = saying("one").with("store", "size_max = 33554432").serve();
    let top = served.deployment.read("forecourt.toml");
    for (from, to, key) in [
        (DOMAIN, "other.localhost", "domain"),
        ("33554432", "67108864", "store.size_max"),
        ("[limits]", "[limits]\ntasks_running_max = 7", "limits.tasks_running_max"),
        ("[admin]", "public_url = \"https://elsewhere.example\"\n[admin]", "elsewhere.example"),
    ] {
        served.deployment.write("forecourt.toml", &top.replacen(from, to, 1));
        served.deployment.write("agents/agent.toml", &agent("two"));
        let answer = reload(&served).with_status(409).json();
        let problem = &answer["problems"][0];
        assert!(problem["message"].as_str().unwrap().contains(key), "{answer}");
        assert!(problem["hint"].as_str().unwrap().contains("restart") && problem["line"].is_number(), "{answer}");
        assert_eq!(said(&served), "one");
    }
    served.deployment.write("forecourt.toml", &top);
    reload(&served).with_status(200);
    assert_eq!(said(&served), "two");
}

#[test]
fn an_answer_under_way_ends_with_what_it_began_with() {
    let served = saying("old").serve();
    let mut curl = std::process::Command::new("curl");
    curl.args(["-q", "-sS", "-N", "--noproxy", "*", "-H", "Accept: text/event-stream"])
        .arg(served.url("/~agent?user=slowly"));
    let mut streaming = curl.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let lines = lines_of(streaming.stdout.take().unwrap());
    let mut heard = String::new();
    while !heard.contains("old") {
        heard += &lines.recv_timeout(PATIENCE).unwrap();
    }
    served.deployment.write("agents/agent.toml", &agent("new"));
    reload(&served).with_status(200);
    assert_eq!(said(&served), "new");
    while let Ok(line) = lines.recv_timeout(PATIENCE) {
        heard += &line;
    }
    assert!(streaming.wait().unwrap().success());
    assert!(heard.matches("old").count() >= 2 && !heard.contains("new"), "{heard}");
    within("the old house is gone", || (operator(&served, &[]).json()["houses"] == 1).then_some(()));
}

#[test]
fn rules_limits_the_log_and_the_token_follow() {
    let served = saying("one").with("log", "level = \"warn\"").serve();
    let rules = "\n[[policy.rules]]\nkind = \"require_identity\"\n";
    served.deployment.write("agents/agent.toml", &format!("{}{rules}", agent("two")));
    reload(&served).with_status(200);
    assert_eq!(served.curl("/~agent?user=hi", &[]).status, 401, "the rule holds");
    served.deployment.write("agents/agent.toml", &agent("three"));
    served.deployment.edit("forecourt.toml", "level = \"warn\"", "level = \"debug\"");
    served.deployment.edit("forecourt.toml", TOKEN, "another-token-of-the-operator");
    reload(&served).with_status(200);
    assert_eq!(operator(&served, &[]).status, 401, "the old token opens nothing");
    let url = format!("http://127.0.0.1:{}/reload", served.admin);
    let status = curl(&url, &["-H", "Authorization: Bearer another-token-of-the-operator"]);
    assert_eq!(status.status, 200);
    let mut kept = KeptConnection::open(served.http);
    assert_eq!(kept.get("/~agent?user=hi").unwrap().0, 200);
    let free = "per_address = { per_second = 1000000, burst = 1000000 }";
    served.deployment.edit("forecourt.toml", free, "per_address = { per_second = 1, burst = 1 }");
    served.signal(Signal::SIGHUP);
    within("the limit holds on a connection that was open", || {
        (kept.get("/~agent?user=hi").unwrap().0 == 429).then_some(())
    });
    served.signal(Signal::SIGTERM);
    let (_, log, _) = served.ended();
    assert!(log.contains("DEBUG"), "{log}");
}

#[test]
fn listeners_are_opened_and_closed_and_connections_stay() {
    let free = forecourt_testkit::free_port;
    let (first, second) = (free(), free());
    let deployment = saying("one").with("listen", &format!("http = \"127.0.0.1:{first}\""));
    let served = deployment.serve_on(&FREE_PORTS[2..]);
    let mut kept = KeptConnection::open(first);
    assert_eq!(kept.get("/~agent?user=hi").unwrap(), (200, "one".to_owned()));
    // A port that somebody has.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    served.deployment.edit("forecourt.toml", &format!("127.0.0.1:{first}"), &address);
    let refused = reload(&served).with_status(422).json();
    assert!(refused["problems"][0]["message"].as_str().unwrap().contains(&address), "{refused}");
    assert_eq!(kept.get("/~agent?user=hi").unwrap().0, 200);

    served.deployment.edit("forecourt.toml", &address, &format!("127.0.0.1:{second}"));
    let moved = reload(&served).with_status(200).json();
    assert_eq!(moved["notes"].as_array().unwrap().len(), 2, "{moved}");
    assert_eq!(KeptConnection::open(second).get("/~agent?user=hi").unwrap().0, 200);
    within("the old port is closed", || TcpStream::connect(("127.0.0.1", first)).err());

    // Other bounds hold for new connections; those that are open go on.
    let mut kept = KeptConnection::open(second);
    assert_eq!(kept.get("/~agent?user=hi").unwrap().0, 200);
    served.deployment.edit("forecourt.toml", "[limits]", "[http]\nhead_bytes_max = 8192\n\n[limits]");
    reload(&served).with_status(200);
    let long = format!("/~agent?user={}", "x".repeat(9000));
    assert!(!matches!(KeptConnection::open(second).get(&long), Ok((200, _))), "the new bound holds");
    assert_eq!(kept.get("/~agent?user=hi").unwrap(), (200, "one".to_owned()));
}

#[test]
fn a_search_in_another_language_is_indexed_aside_and_takes_over() {
    let shop = |language: &str| {
        format!(
            "handle = \"shop\"\nname = \"Shop\"\nlanguage = \"{language}\"\n\n\
             [backend]\nkind = \"search\"\ncontent = [\"content\"]\n"
        )
    };
    let item =
        r#"{"@type": "Product", "@id": "https://e.org/1", "name": "Äpfel und Birnen", "url": "https://e.org/1"}"#;
    let served = saying("one").and("content/items.jsonl", item).and("agents/shop.toml", &shop("en")).serve();
    let found = |served: &Served| served.curl("/~shop?user=Birnen", &["-H", "Accept: text/markdown"]).text();
    assert!(found(&served).contains("Birnen"), "{}", found(&served));
    served.deployment.write("agents/shop.toml", &shop("de"));
    reload(&served).with_status(200);
    assert!(found(&served).contains("Birnen"), "there is no moment without an index");
    let aside = served.deployment.data().join("index/.aside-1/shop");
    assert!(aside.join("words").exists());
    served.deployment.write("agents/shop.toml", &shop("fr"));
    reload(&served).with_status(200);
    assert!(found(&served).contains("Birnen"));
    let served = served.killed().serve();
    assert!(found(&served).contains("Birnen"), "and a start finds it");
}

#[test]
fn a_node_that_is_told_tells_the_others() {
    let Some(nodes) = Nodes::start(2) else { return println!("skipped: PostgreSQL or NATS is not installed") };
    let reloads = |node: &Served| {
        let metrics = node.operator("/metrics").text();
        let count = metrics.lines().find_map(|line| line.strip_prefix("forecourt_reloads_total{outcome=\"applied\"} "));
        count.map_or(0, |count| count.parse::<u64>().unwrap())
    };
    for node in &nodes.nodes {
        let top = node.deployment.read("forecourt.toml");
        node.deployment.write("forecourt.toml", &format!("{top}\n[reload]\nwatch = false\n"));
        within("nobody watches", || (reloads(node) == 1).then_some(()));
        node.deployment.write("agents/agent.toml", &agent("two"));
    }
    let [first, second] = nodes.nodes.as_slice() else { panic!("two") };
    first.signal(Signal::SIGHUP);
    within("the node that was told follows", || (said(first) == "two").then_some(()));
    within("and so does the other", || (said(second) == "two").then_some(()));
    assert_eq!((reloads(first), reloads(second)), (2, 2), "each did once");
}

#[test]
fn a_hundred_reloads_under_load_and_no_request_fails() {
    let served = saying("round 0").serve();
    let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let asking = |keeps: bool| {
        let (stop, done, port) = (stop.clone(), done.clone(), served.http);
        thread::spawn(move || {
            let mut connection = KeptConnection::open(port);
            while !stop.load(Ordering::Relaxed) {
                if !keeps {
                    connection = KeptConnection::open(port);
                }
                match connection.get("/~agent?user=hi")? {
                    (200, text) if text.starts_with("round ") => done.fetch_add(1, Ordering::Relaxed),
                    other => return Err(format!("{other:?}")),
                };
            }
            Ok::<(), String>(())
        })
    };
    let load: Vec<_> = [true, true, true, false].map(asking).into_iter().collect();
    let (mut slowest, mut late, mut settled) = (Duration::ZERO, 0, 0);
    for round in 1..=ROUNDS {
        let (words, before) = (format!("round {round}"), done.load(Ordering::Relaxed));
        let written = Instant::now();
        served.deployment.write("agents/agent.toml", &agent(&words));
        if round % 2 == 0 {
            reload(&served).with_status(200);
        }
        let mut kept = KeptConnection::open(served.http);
        while kept.get("/~agent?user=hi").unwrap().1 != words {
            assert!(written.elapsed() < PATIENCE, "round {round} is never served");
            thread::yield_now();
        }
        let took = written.elapsed();
        (slowest, late) = (slowest.max(took), late + usize::from(took > EFFECTIVE));
        while done.load(Ordering::Relaxed) < before + 8 && load.iter().all(|worker| !worker.is_finished()) {
            thread::yield_now();
        }
        if round == 20 {
            settled = resident_kb(&served);
        }
    }
    stop.store(true, Ordering::Relaxed);
    for worker in load {
        worker.join().unwrap().expect("no request fails");
    }
    let grown = resident_kb(&served).saturating_sub(settled);
    println!(
        "{ROUNDS} reloads under {} requests: slowest {slowest:?}, {late} over {EFFECTIVE:?}; {settled} kB after 20, {grown} kB more at the end",
        done.load(Ordering::Relaxed)
    );
    within("one house is left", || (operator(&served, &[]).json()["houses"] == 1).then_some(()));
    assert!(grown < GROWTH_KB_MAX, "grown by {grown} kB from {settled} kB");
}
