//! A house takes the place of another one while it is lived in.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use forecourt::settings::{AgentSettings, ListenOverrides};
use forecourt::{Admitted, Agent, BuiltAgent, Deployment, Ending, Event, EventStream, Handle, Server, reply};
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::http::Client;

const SETTINGS: &str = "domain = \"demo.localhost\"\n[store]\nkind = \"memory\"\n[log]\nlevel = \"error\"\n\
    [limits]\nper_address = { per_second = 1000000, burst = 1000000 }\n\
    per_session = { per_second = 1000000, burst = 1000000 }\n";
const ECHO: &str = "handle = \"echo\"\nname = \"Echo\"\n[backend]\nkind = \"echo\"\n";
/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Begins to answer at once, and ends when its gate is opened.
struct Gate(watch::Receiver<bool>);

impl Agent for Gate {
    fn handle(&self, _: Admitted) -> EventStream {
        let mut gate = self.0.clone();
        let opened = async move {
            let _ = gate.wait_for(|open| *open).await;
            futures::stream::iter([Event::Text("after".to_owned()), Event::Ending(Ending::Complete)])
        };
        let begun = futures::stream::iter([Event::Text("before ".to_owned())]);
        Box::pin(begun.chain(futures::stream::once(opened).flatten()))
    }
}

/// Panics.
struct Panics;

impl Agent for Panics {
    fn handle(&self, message: Admitted) -> EventStream {
        if message.into_message().text() == "at once" {
            panic!("asked to");
        }
        Box::pin(futures::stream::once(async { panic!("asked to, later") }))
    }
}

/// Says which house it is of.
struct Says(usize);

impl Agent for Says {
    fn handle(&self, _: Admitted) -> EventStream {
        reply::once(Ending::Message(format!("house {}", self.0)))
    }
}

struct Place {
    folder: tempfile::TempDir,
    server: Server,
    client: Client,
}

fn settings(handle: &str) -> AgentSettings {
    AgentSettings::new(Handle::parse(handle).unwrap(), handle)
}

fn read(folder: &Path) -> Deployment {
    let mut overrides = ListenOverrides::free_ports();
    for name in ["agtp", "agtp-plaintext"] {
        overrides.own.insert(name.to_owned(), "127.0.0.1:0".parse().unwrap());
    }
    Deployment::read_with(folder, &|_: &str| None, &overrides).unwrap_or_else(|wrong| panic!("{wrong}"))
}

impl Place {
    async fn serving(first: impl FnOnce(Deployment) -> Deployment) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("agents")).unwrap();
        std::fs::write(folder.path().join("forecourt.toml"), SETTINGS).unwrap();
        std::fs::write(folder.path().join("agents/echo.toml"), ECHO).unwrap();
        // Tests of one process: only the first one has to.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let mut deployment = first(read(folder.path()));
        let bound = Server::bind(&mut deployment).await.unwrap();
        let server = bound.start(deployment.build().unwrap()).await.unwrap();
        Self { folder, server, client: Client::new() }
    }

    async fn replace(&self, with: impl FnOnce(Deployment) -> Deployment) {
        let house = self.server.build(with(read(self.folder.path()))).unwrap();
        self.server.replace(house).await.unwrap();
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.server.addresses().shared.http)
    }

    async fn ask(&self, agent: &str, words: &str) -> (u16, String) {
        let url = self.url(&format!("/~{agent}?user={}", words.replace(' ', "%20")));
        let answer = self.client.get(url).header("Accept", "text/markdown").send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap().trim().to_owned())
    }

    /// Waits until nothing but the last house is left.
    async fn one_house(&self) {
        let settled = async {
            while self.server.houses() > 1 {
                tokio::task::yield_now().await;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, settled).await.unwrap_or_else(|_| panic!("{} houses", self.server.houses()));
    }
}

/// One request of a kind; whatever is wrong with its answer.
async fn request(client: &Client, base: &str, kind: usize, session: &str) -> Result<(), String> {
    let post = |path: &str, body: Value| client.post(format!("{base}{path}")).json(&body);
    let message = json!({"messageId": format!("m-{}", rand()), "role": "ROLE_USER", "parts": [{"text": "hello"}]});
    let rpc = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    let accept = "application/json, text/event-stream";
    // Several use the session at once, and an id is one request's within it.
    let tool = json!({"jsonrpc": "2.0", "id": rand(), "method": "tools/call",
        "params": {"name": "ask_echo", "arguments": {"message": "hello"}}});
    let (wanted, sent) = match kind {
        0 => ("hello", client.get(format!("{base}/~echo?user=hello"))),
        1 => ("hello", client.get(format!("{base}/~echo?user=hello")).header("Accept", "text/event-stream")),
        2 => ("hello", post("/a2a/echo", rpc).header("A2A-Version", "1.0")),
        3 => ("hello", post("/mcp", tool).header("Accept", accept).header("Mcp-Session-Id", session)),
        4 => ("hello", client.get(format!("{base}/~echo/ask?query=hello&streaming=false"))),
        _ => ("house", client.get(format!("{base}/~says?user=which"))),
    };
    let answer = sent.send().await.map_err(|error| format!("kind {kind}: {error:?}"))?;
    let (status, text) = (answer.status(), answer.text().await.map_err(|error| format!("kind {kind}: {error:?}"))?);
    let is_right = status.is_success() && text.contains(wanted) && !text.contains("\"isError\":true");
    if is_right { Ok(()) } else { Err(format!("kind {kind}: {status} {text}")) }
}

/// A number that no other request has.
fn rand() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Begins a session of MCP, of a client that knows nothing newer.
async fn session(client: &Client, base: &str) -> String {
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let send = |body: Value| {
        let accept = "application/json, text/event-stream";
        client.post(format!("{base}/mcp")).header("Accept", accept).json(&body)
    };
    let begun = send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})).send().await.unwrap();
    let id = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let told = send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).header("Mcp-Session-Id", &id);
    assert!(told.send().await.unwrap().status().is_success());
    id
}

/// A connection of AGTP that stays open, and asks who is here.
struct AgtpConnection(TcpStream);

impl AgtpConnection {
    async fn open(place: &Place) -> Self {
        let address = place.server.addresses().own("agtp-plaintext").expect("a plain listener");
        Self(TcpStream::connect(address).await.unwrap())
    }

    /// The head and the body of the answer.
    async fn discover(&mut self) -> Result<String, String> {
        let wrong = |error: std::io::Error| format!("AGTP: {error}");
        self.0.write_all(b"AGTP/1.0 DISCOVER /agents\r\n\r\n").await.map_err(wrong)?;
        let mut answer = String::new();
        let mut buffer = [0; 4096];
        loop {
            let read = self.0.read(&mut buffer).await.map_err(wrong)?;
            answer.push_str(&String::from_utf8_lossy(&buffer[..read]));
            let Some((head, body)) = answer.split_once("\r\n\r\n") else {
                if read == 0 {
                    return Err(format!("AGTP: the connection ended: {answer}"));
                }
                continue;
            };
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap_or("0");
            if body.len() >= length.parse::<usize>().unwrap_or(0) {
                return if head.starts_with("AGTP/1.0 200") { Ok(answer) } else { Err(answer) };
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_houses_one_after_another_and_no_request_fails() {
    let says = |number: usize| {
        move |deployment: Deployment| {
            // AGTP lists agents by their handles, so one of them tells which house it is.
            let named = settings(&format!("house-{number}"));
            let deployment = deployment.with_agent(named, BuiltAgent::new(Says(number)));
            deployment.with_agent(settings("says"), BuiltAgent::new(Says(number)))
        }
    };
    let place = Place::serving(says(0)).await;
    let base = place.url("");
    let session = session(&place.client, &base).await;
    let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let load: Vec<_> = (0..12)
        .map(|worker| {
            let (stop, done, client, base) = (stop.clone(), done.clone(), place.client.clone(), base.clone());
            let session = session.clone();
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    request(&client, &base, worker % 6, &session).await?;
                    done.fetch_add(1, Ordering::Relaxed);
                }
                Ok::<(), String>(())
            })
        })
        .collect();
    let mut connection = AgtpConnection::open(&place).await;
    for number in 1..=100 {
        let before = done.load(Ordering::Relaxed);
        place.replace(says(number)).await;
        let (status, said) = place.ask("says", "which").await;
        assert_eq!((status, said.trim()), (200, format!("house {number}").as_str()), "new requests meet the new house");
        let listed = connection.discover().await.unwrap();
        assert!(listed.contains(&format!("\"house-{number}\"")), "an open connection meets the new house: {listed}");
        // Every house is lived in before it goes.
        let lived = async {
            while done.load(Ordering::Relaxed) < before + 6 && load.iter().all(|worker| !worker.is_finished()) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(PATIENCE, lived).await.unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    for worker in load {
        worker.await.unwrap().unwrap();
    }
    request(&place.client, &base, 3, &session).await.unwrap();
    place.one_house().await;
    assert_eq!(place.server.houses(), 1);
    place.server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_is_gone_ends_its_work_and_is_not_found_any_more() {
    let (open, gate) = watch::channel(false);
    let place = Place::serving(|deployment| deployment.with_agent(settings("gate"), BuiltAgent::new(Gate(gate)))).await;
    let streaming = place.client.get(place.url("/~gate?user=hi")).header("Accept", "text/event-stream").send();
    let mut stream = streaming.await.unwrap();
    let mut said = String::new();
    while !said.contains("before") {
        said.push_str(std::str::from_utf8(&stream.chunk().await.unwrap().expect("more")).unwrap());
    }
    let form = "--x\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nhi\r\n--x--\r\n";
    let asking =
        place.client.post(place.url("/~gate")).header("Content-Type", "multipart/form-data; boundary=x").body(form);
    let begun = asking.header("Prefer", "respond-async").send().await.unwrap();
    assert_eq!(begun.status(), 202);
    let task = begun.headers()["content-location"].to_str().unwrap().to_owned();

    place.replace(|deployment| deployment).await;
    assert_eq!(place.ask("gate", "hi").await.0, 404);
    assert_eq!(place.ask("echo", "hi").await.0, 200);
    assert_eq!(
        place.client.get(place.url(&task)).header("Accept", "application/json").send().await.unwrap().status(),
        202,
        "its task goes on"
    );
    open.send(true).unwrap();
    while let Some(more) = stream.chunk().await.unwrap() {
        said.push_str(std::str::from_utf8(&more).unwrap());
    }
    assert!(said.contains("after"), "the stream came to its end: {said}");
    let ended = async {
        loop {
            let answer = place.client.get(place.url(&task)).header("Accept", "application/json").send().await.unwrap();
            if answer.status() != 202 {
                return (answer.status().as_u16(), answer.text().await.unwrap());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let (status, text) = tokio::time::timeout(PATIENCE, ended).await.unwrap();
    assert!(status == 200 && text.contains("before after"), "{status} {text}");
    drop(stream);
    place.one_house().await;
    place.server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_house_that_fails_changes_nothing_and_says_why() {
    let place = Place::serving(|deployment| deployment).await;
    std::fs::write(
        place.folder.path().join("agents/broken.toml"),
        "handle = \"broken\"\nname = 3\n[backend]\nkind = \"echo\"",
    )
    .unwrap();
    let wrong = Deployment::read(place.folder.path()).err().expect("a name is a text");
    assert!(wrong.to_string().contains("broken.toml:2"), "{wrong}");
    std::fs::write(place.folder.path().join("agents/broken.toml"), ECHO).unwrap();
    let wrong = place.server.build(read(place.folder.path())).err().expect("two agents of one handle");
    assert!(wrong.to_string().contains("is taken by"), "{wrong}");
    std::fs::remove_file(place.folder.path().join("agents/broken.toml")).unwrap();

    // It is built, and a protocol finds that it can't serve it.
    let reserved = read(place.folder.path()).with_agent(settings("message"), BuiltAgent::new(Says(1)));
    let house = place.server.build(reserved).unwrap();
    let wrong = place.server.replace(house).await.unwrap_err();
    assert!(wrong.to_string().contains("an agent can't be called"), "{wrong}");
    // Another domain is another deployment.
    std::fs::write(place.folder.path().join("forecourt.toml"), "domain = \"other.localhost\"").unwrap();
    let house = place.server.build(read(place.folder.path())).unwrap();
    let wrong = place.server.replace(house).await.unwrap_err();
    assert!(wrong.to_string().contains("other.localhost") && wrong.next_step().is_some(), "{wrong}");
    assert_eq!(place.ask("echo", "still here").await, (200, "still here".to_owned()));
    place.one_house().await;
    place.server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_panics_is_one_honest_failure() {
    let place = Place::serving(|deployment| deployment.with_agent(settings("panics"), BuiltAgent::new(Panics))).await;
    for words in ["at once", "later"] {
        let (status, said) = place.ask("panics", words).await;
        assert!(status >= 500 || said.contains("crashed"), "{words}: {status} {said}");
        assert_eq!(place.ask("echo", "hi").await.0, 200, "the rest goes on");
    }
    place.server.shutdown().await;
}
