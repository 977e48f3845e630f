//! One caller's task: begun, and followed to its end over every daemon that comes and goes meanwhile.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Instant;

use serde_json::{Value, json};

use crate::support::{DOMAIN, PATIENCE, lines_of};
use crate::wire::curl_if_there;

/// A task that was acknowledged, as who follows it hears it.
#[derive(Debug, Default)]
pub(super) struct Followed {
    /// The text so far: what was told as a whole, and what was added since.
    pub(super) text: String,
    /// The number of the last event.
    last: u64,
    /// How it ended.
    pub(super) state: String,
    /// The answer as it is read at the end, or why there is none.
    pub(super) said: String,
    /// What was heard twice, or not as it was said before.
    pub(super) wrong: Vec<String>,
}

fn url(port: &AtomicU16, path: &str) -> String {
    format!("http://{DOMAIN}:{}{path}", port.load(Ordering::SeqCst))
}

/// Begins a task of whoever bears `token`; its id, once it is acknowledged.
pub(super) fn begin(port: &AtomicU16, token: &str, agent: &str, words: &str) -> Option<String> {
    let user = format!("user={words}");
    let path = format!("/~{agent}");
    let answer = curl_if_there(&url(port, &path), &["-F", &user, "-H", "Prefer: respond-async", "-H", token])?;
    assert!(matches!(answer.status, 202 | 503), "{answer:?}");
    (answer.status == 202).then(|| answer.named("content-location").strip_prefix("/tasks/").unwrap().to_owned())
}

/// Follows a task to its end.
pub(super) fn follow(port: &AtomicU16, token: &str, agent: &str, task: &str) -> Followed {
    let (mut heard, until) = (Followed::default(), Instant::now() + PATIENCE * 2);
    while heard.state.is_empty() {
        assert!(Instant::now() < until, "{agent} does not come to an end: {heard:?}");
        heard.listen(port, token, agent, task);
        heard.look(port, task);
    }
    heard
}

impl Followed {
    /// Listens for as long as the daemon lives, or to the end.
    fn listen(&mut self, port: &AtomicU16, token: &str, agent: &str, task: &str) {
        let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": task}}).to_string();
        let mut curl = Command::new("curl");
        curl.args(["-q", "-sSN", "--noproxy", "*", "--max-time", "60", "-H", "A2A-Version: 1.0", "-H", token]);
        curl.args(["-H", "Content-Type: application/json", "-H", "Accept: text/event-stream", "-d", &asked]);
        curl.arg(url(port, &format!("/a2a/{agent}")));
        let mut curl = curl.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = lines_of(curl.stdout.take().unwrap());
        while let Ok(line) = lines.recv() {
            if let Some(number) = line.strip_prefix("id: ").and_then(|number| number.trim().parse().ok()) {
                self.hear_number(number);
            } else if let Some(data) = line.strip_prefix("data: ")
                && let Ok(data) = serde_json::from_str::<Value>(data)
            {
                self.hear(&data["result"]);
            }
        }
        curl.wait().unwrap();
    }

    fn hear_number(&mut self, number: u64) {
        if number <= self.last {
            self.wrong.push(format!("event {number} behind {}", self.last));
        }
        self.last = number;
    }

    fn hear(&mut self, told: &Value) {
        if let Some(task) = told.get("task") {
            let whole = texts(&task["artifacts"][0]);
            if !whole.starts_with(&self.text) {
                self.wrong.push(format!("{whole:?} behind {:?}", self.text));
            }
            self.text = whole;
        }
        let update = &told["artifactUpdate"];
        match update["append"].as_bool() {
            Some(true) => self.text.push_str(&texts(&update["artifact"])),
            _ if update["lastChunk"] == true && texts(&update["artifact"]) != self.text => {
                self.wrong.push(format!("{} behind {:?}", update["artifact"], self.text));
            }
            _ if update.is_object() && self.text.is_empty() => self.text = texts(&update["artifact"]),
            _ => {}
        }
    }

    /// Looks whether it has ended.
    fn look(&mut self, port: &AtomicU16, task: &str) {
        let Some(answer) = curl_if_there(&url(port, &format!("/tasks/{task}")), &[]) else { return };
        if answer.status == 202 || answer.status == 503 {
            return;
        }
        let status = answer.with_status(200).json()["status"].take();
        self.state = status["state"].as_str().unwrap().to_owned();
        self.said = texts(&status["message"]);
    }
}

/// The words of an artifact or a message.
fn texts(artifact: &Value) -> String {
    let parts = artifact["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    parts.iter().filter_map(|part| part["text"].as_str()).collect()
}
