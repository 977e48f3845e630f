//! The services behind the agents of a daemon that is killed: a model, the endpoints that it calls, one that answers at
//! once, and one that works on. They live on, and count what is done.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long an answer of the model, or a call of an endpoint, takes.
const STEP: Duration = Duration::from_millis(120);
/// How long a job takes.
const JOB: Duration = Duration::from_millis(700);

/// What was done, by the number of the order.
#[derive(Default)]
pub(super) struct Shop {
    pub(super) looked: Mutex<HashMap<u64, usize>>,
    pub(super) booked: Mutex<HashMap<u64, usize>>,
    pub(super) sent: Mutex<HashMap<u64, usize>>,
    pub(super) begun: Mutex<HashMap<u64, usize>>,
    /// Jobs by their key: the order, and since when.
    jobs: Mutex<HashMap<String, (u64, Instant)>>,
}

/// A request as it came.
struct Asked {
    path: String,
    key: Option<String>,
    body: Value,
}

impl Shop {
    /// Opens it on a free port; its origin.
    pub(super) fn open(self: &Arc<Self>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let shop = self.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shop = shop.clone();
                thread::spawn(move || shop.serve(stream));
            }
        });
        origin
    }

    fn serve(&self, mut stream: TcpStream) -> Option<()> {
        let asked = read(&stream)?;
        let (status, place, body) = self.answer(&asked);
        let place = place.map(|place| format!("Location: {place}\r\n")).unwrap_or_default();
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 {status}\r\n{place}Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).ok()
    }

    fn answer(&self, asked: &Asked) -> (&'static str, Option<String>, Value) {
        let fine = |body: Value| ("200 OK", None, body);
        let mut steps = asked.path.trim_start_matches('/').split('/');
        let (what, which) = (steps.next().unwrap_or_default(), steps.next().unwrap_or_default());
        match what {
            "v1" => {
                thread::sleep(STEP);
                fine(model(&asked.body))
            }
            "look" => fine(count(&self.looked, which.parse().unwrap(), STEP)),
            "book" => fine(count(&self.booked, which.parse().unwrap(), STEP)),
            "send" => {
                let order = order(&asked.body["parts"][0]["content"]);
                count(&self.sent, order, JOB);
                fine(json!({"text": format!("Sent {order}.")}))
            }
            "work" => {
                let (order, key) = (order(&asked.body["parts"][0]["content"]), asked.key.clone().unwrap());
                // A message that comes again under its key is the one of before.
                if let Entry::Vacant(new) = self.jobs.lock().unwrap().entry(key.clone()) {
                    new.insert((order, Instant::now()));
                    count(&self.begun, order, Duration::ZERO);
                }
                ("202 Accepted", Some(format!("/jobs/{key}")), json!({}))
            }
            "jobs" => match self.jobs.lock().unwrap().get(which) {
                Some((_, since)) if since.elapsed() < JOB => ("202 Accepted", None, json!({})),
                Some((order, _)) => fine(json!({"text": format!("Worked on {order}.")})),
                None => ("404 Not Found", None, json!({})),
            },
            other => panic!("{other}"),
        }
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut key) = (0, None);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "idempotency-key" => key = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { path, key, body: serde_json::from_slice(&body).unwrap_or_default() })
}

/// Counts that something is done for an order, and takes its time for it.
fn count(done: &Mutex<HashMap<u64, usize>>, order: u64, time: Duration) -> Value {
    *done.lock().unwrap().entry(order).or_default() += 1;
    thread::sleep(time);
    json!({"order": order})
}

/// The number at the end of the words.
fn order(words: &Value) -> u64 {
    words.as_str().and_then(|words| words.rsplit(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("{words}"))
}

/// A model that looks, books and then says so, or what went wrong.
fn model(asked: &Value) -> Value {
    let messages = asked["messages"].as_array().unwrap();
    let order = order(&messages.iter().rfind(|message| message["role"] == "user").unwrap()["content"]);
    let arguments = json!({"n": order}).to_string();
    let call =
        |name: &str| json!([{"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}]);
    let last = messages.last().filter(|message| message["role"] == "tool").map(|message| message["content"].clone());
    if let Some(last) = last.filter(|last| !last.as_str().unwrap().starts_with("Result of the tool")) {
        return json!({"choices": [{"message": {"content": last}, "finish_reason": "stop"}]});
    }
    let (message, reason) = match messages.iter().filter(|message| message["role"] == "tool").count() {
        0 => (json!({"content": "Let me look. ", "tool_calls": call("query_stock_n")}), "tool_calls"),
        1 => (json!({"content": "It is there. ", "tool_calls": call("book_orders_n")}), "tool_calls"),
        _ => (json!({"content": format!("Booked {order}.")}), "stop"),
    };
    json!({"choices": [{"message": message, "finish_reason": reason}]})
}
