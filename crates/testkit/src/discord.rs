//! Discord on loopback, after the public description of its API, its gateway and its interactions: strict about what it
//! is sent, failing as it is told to. What people do there is for the test to say.

mod call;
mod commands;
mod gateway;
mod messages;
mod rest;

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use axum::body::Bytes;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::watch;

pub use commands::{CommandState, discord_command};
pub use gateway::GatewayOrder;

/// The token that it takes.
pub const DISCORD_TOKEN: &str = "MTAwMQ.double.of-a-token";
/// The id of the application.
pub const DISCORD_APPLICATION: &str = "1001";
/// The user that the bot is.
pub const DISCORD_BOT: &str = "1002";
/// A role that the bot has.
pub const DISCORD_ROLE: &str = "1003";

/// A message that was sent by the bot.
#[derive(Debug, Clone, PartialEq)]
pub struct DiscordMessage {
    /// Its id.
    pub id: String,
    /// Its channel.
    pub channel: String,
    /// What was sent, as it is by now.
    pub fields: Value,
    /// How often it was edited.
    pub edits: usize,
    /// Whether only who gave the command sees it.
    pub is_ephemeral: bool,
    /// Whether it was deleted.
    pub is_deleted: bool,
}

/// What it knows.
#[derive(Debug, Default)]
pub struct DiscordBooks {
    /// What the bot sent, in order.
    pub messages: Vec<DiscordMessage>,
    /// Forms with files that it sent, with their channel.
    pub files: Vec<(String, Bytes)>,
    /// The commands that are registered.
    pub commands: Vec<Value>,
    /// Users who take no messages of the bot.
    pub closed: HashSet<String>,
    /// Channels that are threads.
    pub threads: HashSet<String>,
    /// Methods that fail once, such as `POST messages`, with this status; 429 asks to come again after half a second.
    pub faults: Vec<(String, u16)>,
    /// Commands that were given, by their token.
    pub given: HashMap<String, CommandState>,
    /// What was against the rules.
    pub wrong: Vec<String>,
    /// Sessions that were begun.
    pub identifies: usize,
    /// Sessions that went on.
    pub resumes: usize,
    /// Heartbeats that were heard.
    pub beats: usize,
    /// The code with which new sessions are refused.
    pub refuses_sessions: Option<u16>,
    /// New sessions that were refused.
    pub refused_sessions: usize,
    /// Whether heartbeats are answered.
    pub is_mute: bool,
    /// What people wrote, by channel.
    said: HashMap<String, Vec<Value>>,
    shared: HashMap<String, Bytes>,
    nonces: HashMap<String, String>,
    calls: HashMap<String, VecDeque<Instant>>,
    sessions: HashMap<String, Vec<Value>>,
    orders: Vec<GatewayOrder>,
    identified_at: Option<Instant>,
    origin: String,
    gateway: String,
    last: u64,
}

/// Discord. Clones share its books.
#[derive(Debug, Clone)]
pub struct DiscordDouble {
    /// What it knows.
    pub books: Arc<Mutex<DiscordBooks>>,
    /// Told of each change that connections of the gateway are to hear of.
    changed: watch::Sender<u64>,
}

impl Default for DiscordDouble {
    fn default() -> Self {
        Self { books: Arc::default(), changed: watch::Sender::new(0) }
    }
}

impl DiscordDouble {
    /// Listens on this machine, and gives the address of its API.
    pub async fn start(&self) -> SocketAddr {
        let gateway = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        {
            let mut books = self.books.lock();
            books.origin = format!("http://{address}");
            books.gateway = format!("ws://{}", gateway.local_addr().unwrap());
        }
        let routes = rest::routes(self.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        tokio::spawn(gateway::serve(self.clone(), gateway));
        address
    }

    /// Something happens of which every session is told, also one that is not connected just now.
    pub fn tell(&self, kind: &str, data: &Value) {
        let mut books = self.books.lock();
        if let ("MESSAGE_CREATE", Some(channel)) = (kind, data["channel_id"].as_str()) {
            // The API does not say where a message stands.
            let mut said = data.clone();
            said.as_object_mut().unwrap().retain(|key, _| !matches!(key.as_str(), "guild_id" | "member"));
            books.said.entry(channel.to_owned()).or_default().push(said);
        }
        for events in books.sessions.values_mut() {
            events.push(json!({"op": 0, "s": events.len() + 1, "t": kind, "d": data}));
        }
        drop(books);
        self.changed.send_modify(|count| *count += 1);
    }

    /// Has every connection of the gateway do something.
    pub fn order(&self, order: GatewayOrder) {
        self.books.lock().orders.push(order);
        self.changed.send_modify(|count| *count += 1);
    }

    /// Forgets every session.
    pub fn forget_sessions(&self) {
        self.books.lock().sessions.clear();
    }

    /// Has the next call of a method fail with this status.
    pub fn fail(&self, method: &str, status: u16) {
        self.books.lock().faults.push((method.to_owned(), status));
    }

    /// Messages that are there, in order.
    pub fn messages(&self) -> Vec<DiscordMessage> {
        self.books.lock().messages.iter().filter(|message| !message.is_deleted).cloned().collect()
    }

    /// The address of a file that somebody shares.
    pub fn share(&self, name: &str, bytes: &'static [u8]) -> String {
        let mut books = self.books.lock();
        books.shared.insert(name.to_owned(), Bytes::from_static(bytes));
        format!("{}/files/{name}", books.origin)
    }

    /// The conversation of the bot with a user.
    pub fn direct(user: &str) -> String {
        format!("9000{user}")
    }
}

impl DiscordBooks {
    /// Notes what is against the rules.
    fn note(&mut self, wrong: impl Into<String>) {
        self.wrong.push(wrong.into());
    }

    fn next_id(&mut self) -> String {
        self.last += 1;
        (5_000_000 + self.last).to_string()
    }

    /// Counts a call; how long until the next one may come where this one is too much. Five within a second.
    fn count(&mut self, bucket: &str) -> Result<usize, Duration> {
        const WINDOW: Duration = Duration::from_secs(1);
        const MAX: usize = 5;
        let (now, calls) = (Instant::now(), self.calls.entry(bucket.to_owned()).or_default());
        calls.retain(|at| now.duration_since(*at) < WINDOW);
        if calls.len() >= MAX {
            return Err(WINDOW - now.duration_since(calls[0]));
        }
        calls.push_back(now);
        Ok(MAX - calls.len())
    }
}

fn key() -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[9; 32]).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The public key of the application.
pub fn discord_public_key() -> String {
    hex(key().public_key().as_ref())
}

/// The signature of a body at a time, in seconds since 1970.
pub fn discord_signature(time: i64, body: &str) -> String {
    hex(key().sign(format!("{time}{body}").as_bytes()).as_ref())
}
