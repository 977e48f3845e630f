//! Three daemons on one PostgreSQL and one NATS, behind a HAProxy that sends each request to the next one: what one
//! began, any other goes on with.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use forecourt_testkit::haproxy::{BalancedNode, Haproxy};
use serde_json::{Value, json};

use crate::nodes::Nodes;
use crate::support::{DOMAIN, Deployment, PATIENCE, Served, lines_of, within};
use crate::wire::{Answer, curl};

const TOKEN: &str = "a-token-of-the-operator";
const SHELF: &str = "handle = \"shelf\"\nname = \"Shelf\"\n[backend]\nkind = \"search\"\ncontent = [\"content\"]\n";
const ECHO: &str = "handle = \"echo\"\nname = \"Echo\"\n[backend]\nkind = \"echo\"\n";
/// More than there are nodes, so that each has its turn.
const ROUNDS: usize = 6;

/// The nodes, and what stands before them.
struct Balanced {
    nodes: Nodes,
    balancer: Haproxy,
}

fn of_each(deployment: Deployment) -> Deployment {
    let top = "domain = \"demo.localhost\"\n";
    let more = format!("{top}public_url = \"https://demo.localhost\"\ndefault_agent = \"agent\"\n");
    deployment.edit("forecourt.toml", top, &more);
    deployment
        .with("admin", &format!("token = \"{TOKEN}\""))
        .with("nlweb", "sync_wait_seconds = 1")
        // As long as the balancer of these tests needs, which looks every 200 ms, and some more.
        .with("drain", "seconds = 2")
        // Clients here ask as fast as the machine lets them.
        .with("limits", "per_address = { per_second = 10000, burst = 10000 }")
        .and("agents/shelf.toml", SHELF)
        .and("agents/echo.toml", ECHO)
        .and("content/a.jsonl", "{\"@id\": \"urn:first\", \"name\": \"a first thing\"}\n")
}

impl Balanced {
    /// `None` where something that it needs is not installed.
    fn start() -> Option<Self> {
        let nodes = Nodes::start_with(3, of_each)?;
        let at = |port| ([127, 0, 0, 1], port).into();
        let balanced: Vec<BalancedNode> =
            nodes.nodes.iter().map(|node| BalancedNode { http: at(node.http), admin: at(node.admin) }).collect();
        for node in &nodes.nodes {
            within("a node is ready", || (node.operator("/readyz").status == 200).then_some(()));
        }
        Some(Self { balancer: Haproxy::start(&balanced)?, nodes })
    }

    fn url(&self, path: &str) -> String {
        format!("http://{DOMAIN}:{}{path}", self.balancer.address().port())
    }

    #[track_caller]
    fn curl(&self, path: &str, words: &[&str]) -> Answer {
        curl(&self.url(path), words)
    }

    #[track_caller]
    fn post(&self, path: &str, body: &Value, words: &[&str]) -> Answer {
        let body = body.to_string();
        self.curl(path, &[&["-H", "Content-Type: application/json", "-d", &body], words].concat())
    }

    /// Begins what `user` asks of @agent over A2A; gives the id of its task and who works on it.
    #[track_caller]
    fn begun(&self, user: &str) -> (String, usize) {
        let message = json!({"messageId": user, "role": "ROLE_USER", "parts": [{"text": user}]});
        let params = json!({"message": message, "configuration": {"returnImmediately": true}});
        let answer = self.post("/a2a/agent/message:send", &params, &["-H", "A2A-Version: 1.0"]).with_status(200);
        (answer.json()["task"]["id"].as_str().unwrap().to_owned(), served_by(&answer.named("x-served-by")))
    }

    /// The state of a task, over REST, as whichever node has its turn sees it.
    #[track_caller]
    fn state(&self, task: &str) -> String {
        let answer = self.curl(&format!("/tasks/{task}"), &[]);
        answer.json()["status"]["state"].as_str().unwrap_or_default().to_owned()
    }
}

/// The number of the node that the balancer chose.
fn served_by(name: &str) -> usize {
    name.trim_start_matches("node").parse().unwrap()
}

#[track_caller]
fn push(node: &Served, words: &[&str]) -> Answer {
    let authorization = format!("Authorization: Bearer {TOKEN}");
    let url = format!("http://127.0.0.1:{}/content/shelf", node.admin);
    curl(&url, &[&["-H", &authorization, "-H", "Content-Type: application/x-ndjson"], words].concat())
}

#[track_caller]
fn has(node: &Served, word: &str) -> bool {
    node.curl(&format!("/~shelf?user={word}"), &["-H", "Accept: text/markdown"]).text().contains("Xanthic")
}

/// A stream of a task over A2A, as its lines come. Ends with this.
struct Stream {
    child: Child,
    lines: mpsc::Receiver<String>,
    /// Who sends it.
    node: usize,
}

impl Stream {
    fn open(balanced: &Balanced, task: &str, after: Option<&str>) -> Self {
        let mut curl = Command::new("curl");
        curl.args(["-q", "-isN", "-X", "POST", "-H", "A2A-Version: 1.0"]);
        curl.arg(balanced.url(&format!("/a2a/agent/tasks/{task}:subscribe")));
        if let Some(after) = after {
            curl.arg("-H").arg(format!("Last-Event-ID: {after}"));
        }
        let mut child = curl.stdout(Stdio::piped()).spawn().unwrap();
        let lines = lines_of(child.stdout.take().unwrap());
        let mut stream = Self { child, lines, node: usize::MAX };
        while stream.node == usize::MAX {
            let line = stream.lines.recv_timeout(PATIENCE).expect("a head");
            if let Some(name) = line.strip_prefix("x-served-by: ") {
                stream.node = served_by(name.trim());
            }
        }
        stream
    }

    /// The numbers and words of its events, up to one that holds `what` or to its end.
    fn read_to(&self, what: &str, seen: &mut Vec<(u64, String)>) {
        let mut number = 0;
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            if let Some(id) = line.strip_prefix("id:") {
                number = id.trim().parse().unwrap();
            }
            if let Some(data) = line.strip_prefix("data:") {
                seen.push((number, data.trim().to_owned()));
                if data.contains(what) {
                    return;
                }
            }
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_stream_is_followed_through_the_death_of_its_node_and_loses_nothing() {
    let Some(mut balanced) = Balanced::start() else { return };
    let (task, worker) = balanced.begun("slow");
    // The node that works on it lives; the one that tells of it dies.
    let stream = within("another node tells of it", || {
        let stream = Stream::open(&balanced, &task, None);
        (stream.node != worker).then_some(stream)
    });
    let mut seen = Vec::new();
    stream.read_to("one", &mut seen);
    let dead = stream.node;
    drop(balanced.nodes.nodes.remove(dead).killed());
    stream.read_to("nothing more comes", &mut seen);
    assert!(!seen.iter().any(|(_, data)| data.contains("COMPLETED")), "{seen:?}");
    let last = seen.iter().map(|(number, _)| *number).max().unwrap();
    let stream = Stream::open(&balanced, &task, Some(&last.to_string()));
    assert_ne!(stream.node, dead);
    let mut rest = Vec::new();
    stream.read_to("TASK_STATE_COMPLETED", &mut rest);
    let text = |events: &[(u64, String)]| events.iter().map(|(_, data)| data.as_str()).collect::<String>();
    assert!(text(&rest).contains("two") && text(&rest).contains("three"), "{rest:?}");
    let numbers: BTreeSet<u64> = seen.iter().chain(&rest).map(|(number, _)| *number).filter(|n| *n > 0).collect();
    let (first, last) = (*numbers.first().unwrap(), *numbers.last().unwrap());
    assert_eq!(numbers.len() as u64, last - first + 1, "no event is missing: {numbers:?}");
    for _ in 0..ROUNDS {
        assert_eq!(balanced.state(&task), "completed");
    }
}

#[test]
fn a_task_a_promise_and_a_session_go_on_with_whichever_node_is_next() {
    let Some(balanced) = Balanced::start() else { return };
    // Begun over A2A, read over REST.
    let (task, _) = balanced.begun("slow");
    let mut nodes = BTreeSet::new();
    for _ in 0..ROUNDS {
        let read = balanced.curl(&format!("/tasks/{task}"), &[]);
        assert!(read.status == 202 || read.status == 200, "{read:?}");
        nodes.insert(read.named("x-served-by"));
    }
    assert_eq!(nodes.len(), 3, "each node was asked");
    // A promise of one is answered by the others.
    let question = json!({"query": {"text": "slow"}, "prefer": {"streaming": false}});
    let promised = balanced.post("/~agent/ask", &question, &[]).with_status(202);
    let token = promised.json()["promise"]["token"].as_str().unwrap().to_owned();
    let await_it = json!({"promise_token": token, "action": "checkin"});
    let promised_by = served_by(&promised.named("x-served-by"));
    for turn in 1..=3 {
        // Whose turn the balancer has when the promise is kept is chance, so each is asked by itself, the others first.
        let other = &balanced.nodes.nodes[(promised_by + turn) % 3];
        let url = format!("http://{DOMAIN}:{}/await", other.http);
        let words = ["-H", "Content-Type: application/json", "-d", &await_it.to_string()];
        let answer = within("the promise is kept", || {
            let answer = curl(&url, &words);
            (answer.status == 200).then_some(answer)
        });
        assert!(answer.text().contains("three"), "asked after node {promised_by} in turn {turn}: {answer:?}");
    }
    // A session of MCP.
    let rpc = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let accept = ["-H", "Accept: application/json, text/event-stream"];
    let begun = balanced.post("/mcp", &rpc("initialize", hello), &accept).with_status(200);
    let session = format!("Mcp-Session-Id: {}", begun.named("mcp-session-id"));
    let within_it = [&accept[..], &["-H", &session, "-H", "MCP-Protocol-Version: 2025-06-18"]].concat();
    let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    balanced.post("/mcp", &told, &within_it).with_status(202);
    for round in 0..ROUNDS {
        let call = json!({"name": "ask_echo", "arguments": {"message": format!("round {round}")}});
        let answer = balanced.post("/mcp", &rpc("tools/call", call), &within_it).with_status(200);
        assert!(answer.text().contains(&format!("round {round}")), "{answer:?}");
    }
    balanced.curl("/mcp", &[&["-X", "DELETE"], &within_it[..]].concat()).with_status(204);
    for _ in 0..ROUNDS {
        balanced.post("/mcp", &rpc("tools/list", json!({})), &within_it).with_status(404);
    }
}

#[test]
fn keys_agents_and_pushed_content_are_the_same_on_every_node() {
    let Some(mut balanced) = Balanced::start() else { return };
    let keys = |balanced: &Balanced| -> BTreeSet<String> {
        balanced.nodes.nodes.iter().map(|node| node.curl("/.well-known/jwks.json", &[]).text()).collect()
    };
    assert_eq!(keys(&balanced).len(), 1);
    let ids = |balanced: &Balanced| -> BTreeSet<String> {
        balanced.nodes.nodes.iter().map(|node| node.deployment.agent_id("agent")).collect()
    };
    assert_eq!(ids(&balanced).len(), 1);
    for node in &balanced.nodes.nodes {
        assert!(!node.deployment.data().join("signing.pem").exists(), "no key of its own");
    }
    // Pushed on one, found on all; removed on another.
    let line = "{\"@id\": \"urn:q\", \"name\": \"Xanthic Quiverbread\"}";
    let [one, two, three] = &balanced.nodes.nodes[..] else { unreachable!() };
    let pushed = push(one, &["--data-binary", line]).with_status(200);
    assert_eq!(pushed.json()["stored"], 1);
    for node in [two, three] {
        within("it is found", || has(node, "quiverbread").then_some(()));
    }
    // A node that starts later has all of it.
    balanced.nodes.add_with(of_each);
    let [.., late] = &balanced.nodes.nodes[..] else { unreachable!() };
    within("the late one is ready", || (late.operator("/readyz").status == 200).then_some(()));
    assert!(has(late, "quiverbread"), "with all that was pushed");
    assert_eq!((keys(&balanced).len(), ids(&balanced).len()), (1, 1));
    let two = &balanced.nodes.nodes[1];
    push(two, &["-X", "DELETE", "-d", "{\"ids\": [\"urn:q\"]}"]).with_status(200);
    for node in &balanced.nodes.nodes {
        within("it is gone", || (!has(node, "quiverbread")).then_some(()));
    }
    // A rotation anywhere reaches all.
    let before = keys(&balanced).into_iter().next().unwrap();
    balanced.nodes.run(&balanced.nodes.nodes[2].deployment, "keys", &["--rotate"]).fine();
    within("all sign with the new key", || {
        let now = keys(&balanced);
        (now.len() == 1 && !now.contains(&before)).then_some(())
    });
}

/// A client that asks again and again until it is told to end: over REST, and over both bindings of A2A with tasks.
fn asking(base: String, is_over: Arc<AtomicBool>) -> thread::JoinHandle<(usize, Vec<String>)> {
    thread::spawn(move || {
        let (mut answers, mut wrong) = (0, Vec::new());
        while !is_over.load(Ordering::Relaxed) {
            let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "this"}]});
            let rest = json!({"message": message, "configuration": {"returnImmediately": true}}).to_string();
            let rpc = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
            let rpc = rpc.to_string();
            let ways: [(&str, &[&str]); 3] = [
                ("/~echo?user=hello", &[]),
                ("/a2a/agent/message:send", &["-d", &rest]),
                ("/a2a/agent", &["-d", &rpc]),
            ];
            for (path, body) in ways {
                let mut curl = Command::new("curl");
                curl.args(["-q", "-sS", "--max-time", "30", "-w", "\nHTTP %{http_code}", "-H", "A2A-Version: 1.0"]);
                curl.args(["-H", "Content-Type: application/json"]).args(body).arg(format!("{base}{path}"));
                let ran = curl.output().unwrap();
                let said = String::from_utf8_lossy(&ran.stdout);
                answers += 1;
                if !said.ends_with("HTTP 200") || said.contains("FAILED") || said.contains("\"error\"") {
                    wrong.push(format!("{path}: {said} {}", String::from_utf8_lossy(&ran.stderr)));
                }
            }
        }
        (answers, wrong)
    })
}

#[test]
fn three_nodes_are_restarted_one_by_one_under_load_and_nobody_notices() {
    let Some(mut balanced) = Balanced::start() else { return };
    let is_over = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..3).map(|_| asking(balanced.url(""), is_over.clone())).collect();
    for number in 0..balanced.nodes.nodes.len() {
        balanced.nodes.restart(number);
        let node = &balanced.nodes.nodes[number];
        within("the node is ready again", || (node.operator("/readyz").status == 200).then_some(()));
        // Until the balancer has seen that, too: with two nodes away there would be one.
        let name = format!("node{number}");
        within("it is asked again", || {
            (balanced.curl("/~echo?user=a", &[]).named("x-served-by") == name).then_some(())
        });
    }
    is_over.store(true, Ordering::Relaxed);
    let ended: Vec<_> = clients.into_iter().map(|client| client.join().unwrap()).collect();
    let answers: usize = ended.iter().map(|(answers, _)| answers).sum();
    let wrong: Vec<&String> = ended.iter().flat_map(|(_, wrong)| wrong).collect();
    assert!(answers > 100 && wrong.is_empty(), "{} of {answers} failed: {wrong:?}", wrong.len());
}
