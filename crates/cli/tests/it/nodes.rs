//! Several daemons of one deployment: one PostgreSQL, one NATS, and each a data folder of its own.

use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use forecourt_testkit::nats::NatsServer;
use forecourt_testkit::postgres::PostgresServer;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::{Deployment, FREE_PORTS, PATIENCE, Ran, Served, lines_of, within};
use crate::wire::Answer;

/// What every node has: an agent that takes its time, one word at a time, and asks back.
const SCRIPT: &str = r#"kind = "script"

[[backend.rule]]
text = "^slow"
events = [{ text = "one " }, { wait_ms = 3000 }, { text = "two " }, { wait_ms = 3000 }, { text = "three" }]

[[backend.rule]]
text = "^hang"
events = [{ text = "begun" }, { wait_ms = 90000 }, { text = "never" }]

[[backend.rule]]
text = "^ask"
events = [{ question = { text = "Which one?", questions = [] } }]

[[backend.rule]]
text = "^this"
events = [{ text = "That one." }]
"#;

/// Seconds of a lease in these tests: as short as it may be.
const LEASE_SECONDS: u64 = 5;

/// Daemons that share a store and a bus.
pub(crate) struct Nodes {
    pub(crate) postgres: PostgresServer,
    pub(crate) nats: NatsServer,
    pub(crate) nodes: Vec<Served>,
    url: String,
}

impl Nodes {
    /// So many of them; `None` where PostgreSQL or NATS is not installed.
    pub(crate) fn start(count: usize) -> Option<Self> {
        Self::start_with(count, |deployment| deployment)
    }

    /// The same, of a deployment that was changed.
    pub(crate) fn start_with(count: usize, change: fn(Deployment) -> Deployment) -> Option<Self> {
        let (postgres, nats) = (PostgresServer::start()?, NatsServer::start()?);
        let url = postgres.fresh();
        let mut nodes = Self { postgres, nats, nodes: Vec::new(), url };
        (0..count).for_each(|_| nodes.add_with(change));
        Some(nodes)
    }

    /// One more, of a deployment that was changed.
    pub(crate) fn add_with(&mut self, change: fn(Deployment) -> Deployment) {
        self.add_in(change(self.deployment()), &[]);
    }

    /// One more, with more variables in its environment.
    pub(crate) fn add_in(&mut self, deployment: Deployment, more: &[(&str, &str)]) {
        let variables = self.variables();
        let variables = variables.iter().map(|(name, value)| (*name, value.as_str()));
        let variables: Vec<(&str, &str)> = variables.chain(more.iter().copied()).collect();
        self.nodes.push(deployment.serve_with(&FREE_PORTS, &variables));
    }

    /// Stops a node as an operator does, and starts it again where it was.
    pub(crate) fn restart(&mut self, number: usize) {
        let variables = self.variables();
        let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let node = self.nodes.remove(number);
        let at = |port: u16| format!("127.0.0.1:{port}");
        let (http, https, admin) = (at(node.http), at(node.https), at(node.admin));
        node.signal(Signal::SIGTERM);
        let (status, log, deployment) = node.ended();
        assert!(status.success(), "{log}");
        let words = ["--http", &http, "--https", &https, "--admin", &admin, "--agtp", "127.0.0.1:0"];
        self.nodes.insert(number, deployment.serve_with(&words, &variables));
    }

    /// Runs the program in the folder of a node.
    pub(crate) fn run(&self, node: &Deployment, name: &str, arguments: &[&str]) -> Ran {
        node.run_with(name, arguments, &self.variables())
    }

    /// The deployment of each.
    pub(crate) fn deployment(&self) -> Deployment {
        let store = format!("url = \"${{STORE_URL}}\"\nkey = \"${{STORE_KEY}}\"\nlease_seconds = {LEASE_SECONDS}");
        Deployment::of_backend(SCRIPT).with("store", &store).with("bus", "url = \"${BUS_URL}\"")
    }

    fn variables(&self) -> [(&'static str, String); 3] {
        [("STORE_URL", self.url.clone()), ("STORE_KEY", "5e".repeat(32)), ("BUS_URL", self.nats.url())]
    }
}

/// Begins what `user` asks in the background; gives the id of its task.
#[track_caller]
pub(crate) fn begun(node: &Served, user: &str) -> String {
    let asked = ["-F", &format!("user={user}"), "-H", "Prefer: respond-async"];
    let task = node.curl("/~agent", &asked).with_status(202).named("content-location");
    task.strip_prefix("/tasks/").unwrap().to_owned()
}

#[track_caller]
pub(crate) fn state(node: &Served, task: &str) -> String {
    let answer = node.curl(&format!("/tasks/{task}"), &[]);
    answer.json()["status"]["state"].as_str().unwrap_or_default().to_owned()
}

fn a2a(node: &Served, path: &str, body: Option<&Value>) -> Answer {
    let body = body.map(Value::to_string);
    let mut words = vec!["-X", "POST", "-H", "A2A-Version: 1.0"];
    if let Some(body) = &body {
        words.extend(["-H", "Content-Type: application/json", "-d", body]);
    }
    node.curl(&format!("/a2a/agent{path}"), &words)
}

/// A stream of a task over A2A, as its lines come. Ends with this.
struct Stream {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Stream {
    fn open(node: &Served, task: &str, after: Option<&str>) -> Self {
        let url = node.url(&format!("/a2a/agent/tasks/{task}:subscribe"));
        let mut curl = Command::new("curl");
        curl.args(["-sN", "-X", "POST", "-H", "A2A-Version: 1.0", &url]);
        if let Some(after) = after {
            curl.arg("-H").arg(format!("Last-Event-ID: {after}"));
        }
        let mut child = curl.stdout(Stdio::piped()).spawn().unwrap();
        let lines = lines_of(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// Reads on to a line that holds `what`; gives the last event id before it, and all lines.
    #[track_caller]
    fn read_to(&self, what: &str) -> (Option<String>, String) {
        let (mut id, mut all) = (None, String::new());
        loop {
            let Ok(line) = self.lines.recv_timeout(PATIENCE) else { panic!("no {what:?} in {all}") };
            all.push_str(&line);
            all.push('\n');
            if let Some(number) = line.strip_prefix("id:") {
                id = Some(number.trim().to_owned());
            }
            if line.contains(what) {
                return (id, all);
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
fn a_task_is_followed_read_and_taken_from_a_dead_node_wherever_it_began() {
    let Some(nodes) = Nodes::start(3) else { return };
    let [one, two, three] = <[Served; 3]>::try_from(nodes.nodes).ok().unwrap();
    let slow = begun(&one, "slow");
    let stream = Stream::open(&two, &slow, None);
    let (seen, _) = stream.read_to("one");
    // Who comes back to another node goes on behind what it has seen.
    drop(stream);
    let stream = Stream::open(&three, &slow, seen.as_deref());
    let (_, rest) = stream.read_to("TASK_STATE_COMPLETED");
    assert!(rest.contains("two") && rest.contains("three"), "{rest}");
    assert_eq!(state(&two, &slow), "completed");
    let metrics = three.operator("/metrics").text();
    assert!(metrics.contains("forecourt_nodes 3"), "{metrics}");
    assert!(metrics.contains("forecourt_bus_up 1"), "{metrics}");

    let hangs = begun(&one, "hang");
    let stream = Stream::open(&two, &hangs, None);
    stream.read_to("begun");
    let ended = begun(&one, "slow");
    within("it has ended", || (state(&three, &ended) == "completed").then_some(()));
    one.killed();
    let (_, rest) = stream.read_to("TASK_STATE_FAILED");
    assert!(rest.contains("The host stopped while this was running."), "{rest}");
    assert_eq!((state(&two, &hangs), state(&three, &hangs)), ("failed".to_owned(), "failed".to_owned()));
    assert_eq!(state(&three, &ended), "completed", "what had ended stays");
    within("the others know that they are two", || {
        three.operator("/metrics").text().contains("forecourt_nodes 2").then_some(())
    });
}

#[test]
fn a_task_is_cancelled_from_another_node_and_a_question_answered_on_a_third() {
    let Some(nodes) = Nodes::start(3) else { return };
    let [one, two, three] = &nodes.nodes[..] else { unreachable!() };
    let hangs = begun(one, "hang");
    let stream = Stream::open(three, &hangs, None);
    stream.read_to("begun");
    within("it runs on the first", || {
        one.operator("/metrics").text().contains("forecourt_tasks_running 1").then_some(())
    });
    a2a(two, &format!("/tasks/{hangs}:cancel"), None).with_status(200);
    stream.read_to("TASK_STATE_CANCELED");
    within("its work stops", || one.operator("/metrics").text().contains("forecourt_tasks_running 0").then_some(()));
    // The word of REST for what came to no answer.
    assert_eq!(state(one, &hangs), "failed");

    let asks = begun(one, "ask");
    within("it waits", || {
        let answer = two.curl(&format!("/a2a/agent/tasks/{asks}"), &["-H", "A2A-Version: 1.0"]);
        answer.text().contains("TASK_STATE_INPUT_REQUIRED").then_some(())
    });
    let part = json!({"text": "this one"});
    let message = json!({"messageId": "m2", "role": "ROLE_USER", "taskId": asks, "parts": [part]});
    let answered = a2a(three, "/message:send", Some(&json!({"message": message}))).with_status(200).text();
    assert!(answered.contains("That one."), "{answered}");
    assert_eq!(state(two, &asks), "completed");
}

#[test]
fn the_bus_and_the_database_may_go_away_and_all_is_well_once_they_are_back() {
    let Some(mut nodes) = Nodes::start(2) else { return };
    let slow = begun(&nodes.nodes[0], "slow");
    nodes.nats.stop();
    within("it is said", || {
        let ready = nodes.nodes[1].operator("/readyz").with_status(200).text();
        ready.contains("note: the bus at nats://127.0.0.1").then_some(())
    });
    let stream = Stream::open(&nodes.nodes[1], &slow, None);
    stream.read_to("TASK_STATE_COMPLETED");
    nodes.nats.start_again();
    within("it is well again", || (nodes.nodes[1].operator("/readyz").text() == "ready\n").then_some(()));

    let slow = begun(&nodes.nodes[0], "slow");
    nodes.postgres.stop();
    let refused = nodes.nodes[1].curl("/~agent", &["-F", "user=slow", "-H", "Prefer: respond-async"]);
    assert_eq!(refused.status, 503, "{refused:?}");
    refused.named("retry-after");
    within("it is said", || (nodes.nodes[1].operator("/readyz").status == 503).then_some(()));
    // Longer than a lease.
    let away = std::time::Instant::now();
    within("a lease is over", || (away.elapsed().as_secs() > 2 * LEASE_SECONDS).then_some(()));
    nodes.postgres.start_again();
    within("both are ready", || nodes.nodes.iter().all(|node| node.operator("/readyz").status == 200).then_some(()));
    within("what was under way has ended as it should", || {
        (state(&nodes.nodes[1], &slow) == "completed").then_some(())
    });
    let lost = nodes.nodes.iter().map(|node| node.operator("/metrics").text());
    lost.for_each(|text| assert!(text.contains("forecourt_leases_lost_total 0"), "{text}"));
}

#[test]
fn a_node_that_stood_still_for_too_long_gives_up_its_tasks_and_goes_on() {
    let Some(nodes) = Nodes::start(2) else { return };
    let [one, two] = &nodes.nodes[..] else { unreachable!() };
    let hangs = begun(one, "hang");
    one.signal(Signal::SIGSTOP);
    within("the other ends it", || (state(two, &hangs) == "failed").then_some(()));
    one.signal(Signal::SIGCONT);
    within("it knows", || one.operator("/metrics").text().contains("forecourt_leases_lost_total 1").then_some(()));
    within("it is ready", || (one.operator("/readyz").status == 200).then_some(()));
    within("its work stopped", || one.operator("/metrics").text().contains("forecourt_tasks_running 0").then_some(()));
    let next = begun(one, "slow");
    within("it does new work", || (state(two, &next) == "completed").then_some(()));
    assert_eq!(state(one, &hangs), "failed");
}

#[test]
fn what_is_wrong_with_the_urls_is_said_without_connecting_and_without_passwords() {
    let check = |store: &str, bus: &str| {
        let deployment = Deployment::of_backend("kind = \"echo\"\n").with("store", store).with("bus", bus);
        deployment.run("check", ["."])
    };
    let key = format!("key = \"{}\"", "5e".repeat(32));
    let cases = [
        ("url = \"mysql://ann:s3cret@db/x\"", "", "postgres://"),
        ("url = \"postgres://ann:s3cret@db\"", "", "names no database"),
        ("url = \"postgres://ann:s3cret@:x/x\"", "", "is no URL"),
        ("url = \"postgres://ann:s3cret@db/x\"\nkind = \"memory\"", "", "not both"),
        ("kind = \"postgres\"", "", "needs `url`"),
        ("lease_seconds = 4", "", "between 5 and 300"),
        ("lease_seconds = 301", "", "between 5 and 300"),
        ("", "url = \"nats://ann:s3cret@bus:4222\"", "its own"),
        ("url = \"postgres://ann:s3cret@db/x\"", "url = \"http://ann:s3cret@bus\"", "no URL of a NATS server"),
        ("url = \"postgres://ann:s3cret@db/x\"", "url = \"nats://bus\"\nca_file = \"none.pem\"", "cannot be read"),
    ];
    for (store, bus, wanted) in cases {
        let store = if store.contains("url") { format!("{store}\n{key}") } else { store.to_owned() };
        let said = check(&store, bus).failed(1);
        assert!(said.contains(wanted) && !said.contains("s3cret"), "{store} {bus}: {said}");
        assert!(said.contains("forecourt.toml:"), "{said}");
    }
    let said = check("url = \"postgres://ann:s3cret@db/x\"", "").failed(1);
    assert!(said.contains("openssl rand -base64 32"), "{said}");
    let said = check(&format!("url = \"postgres://ann:s3cret@db/x\"\n{key}"), "");
    assert!(said.stderr.contains("there is no [bus]") && !said.stderr.contains("s3cret"), "{said:?}");
    said.fine();
}

#[test]
fn a_store_that_is_not_there_or_anothers_is_said_at_the_start() {
    let key = format!("key = \"{}\"", "5e".repeat(32));
    let nowhere = format!("url = \"postgres://ann:s3cret@127.0.0.1:1/x\"\n{key}");
    let said = Deployment::of_backend("kind = \"echo\"\n").with("store", &nowhere).run("serve", FREE_PORTS).failed(1);
    assert!(said.contains("postgres://127.0.0.1:1/x can't be reached") && !said.contains("s3cret"), "{said}");
    let Some(nodes) = Nodes::start(1) else { return };
    let stranger = nodes.deployment();
    stranger.edit("forecourt.toml", "demo.localhost", "other.localhost");
    let mut command = stranger.command("serve");
    command.args(FREE_PORTS).envs(nodes.variables()).stdin(Stdio::null());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("demo.localhost") && said.contains("other.localhost"), "{said}");
}

#[test]
fn a_node_tells_of_its_connections_its_bus_and_what_waits() {
    let Some(mut nodes) = Nodes::start(1) else { return };
    let metric = |nodes: &Nodes, name: &str| -> Option<f64> {
        let text = nodes.nodes[0].operator("/metrics").text();
        text.lines().find_map(|line| line.strip_prefix(&format!("{name} "))?.parse().ok())
    };
    begun(&nodes.nodes[0], "ask");
    assert_eq!(metric(&nodes, "forecourt_bus_up"), Some(1.0));
    assert_eq!(metric(&nodes, "forecourt_bus_reconnects_total"), Some(0.0));
    assert_eq!(metric(&nodes, "forecourt_store_waiters"), Some(0.0));
    assert!(metric(&nodes, "forecourt_store_writes_waiting").is_some());
    let most = metric(&nodes, "forecourt_store_connections_max").expect("there is a bound");
    let open =
        ["in_use", "idle"].map(|state| metric(&nodes, &format!("forecourt_store_connections{{state=\"{state}\"}}")));
    let open: f64 = open.into_iter().flatten().sum();
    assert!(open >= 1.0 && open <= most, "{open} of {most}");
    let lent = metric(&nodes, "forecourt_store_connections_lent_total").expect("some were lent");
    let waited = metric(&nodes, "forecourt_store_connection_wait_seconds_total").expect("that took its time");
    assert!(lent >= 1.0 && waited > 0.0, "{lent} lent after {waited} s");
    nodes.nats.stop();
    within("the bus is away", || (metric(&nodes, "forecourt_bus_up") == Some(0.0)).then_some(()));
    nodes.nats.start_again();
    within("the bus is back", || (metric(&nodes, "forecourt_bus_reconnects_total") == Some(1.0)).then_some(()));
}
