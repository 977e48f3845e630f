//! Contracts that are made while the host serves, from bytes to bytes: the files of `examples/hotel` on a host in
//! memory. AGTP-API 10; base 9.

mod contracts;
mod delivery;
mod gate;
mod hostile;
mod persistent;
mod proposals;
mod recorded;
mod repeated;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use forecourt_agtp_wire::message::Response;
use forecourt_contract::{Failure, HostHandle, Invocation, ScopeSet};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_endpoints::{Functions, Kinds, load};
use forecourt_identity::agents::AgentIdentitySettings;
use forecourt_testhost::Blueprint;
use serde_json::{Value, json};

use super::support::{Client, Server, blueprint, body, server_of, terms};

/// Both switches, for the agents of these tests, which this host vouches for itself.
const OPEN: &str = "[policies]\nsynthesis_enabled = true\n[policies.rcns]\nenabled = true\nmin_trust_tier = 2\n";
/// What callers claim who may negotiate and book.
const SCOPES: &str = "room:read, room:book, rcns:negotiate";

/// A server of the hotel.
struct Hotel {
    server: Server,
    /// Rooms that were booked.
    booked: Arc<AtomicUsize>,
}

/// A call, as it is sent.
struct Sent<'a> {
    by: &'a str,
    line: &'a str,
    fields: &'a [(&'a str, &'a str)],
    body: Value,
}

impl Hotel {
    async fn with(section: &str) -> Self {
        Self::of(&example(), section).await
    }

    async fn open() -> Self {
        Self::with(OPEN).await
    }

    /// The hotel whose recipes end with these.
    async fn and_recipes(recipes: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("endpoints")).unwrap();
        for file in ["endpoints/look.toml", "endpoints/book.toml", "recipes.toml"] {
            std::fs::copy(example().join(file), folder.path().join(file)).unwrap();
        }
        let all = std::fs::read_to_string(folder.path().join("recipes.toml")).unwrap() + recipes;
        std::fs::write(folder.path().join("recipes.toml"), all).unwrap();
        Self::of(folder.path(), OPEN).await
    }

    async fn of(folder: &Path, section: &str) -> Self {
        let booked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&booked);
        let look = |_: Invocation| async { Ok::<_, Failure>(json!({"beds": 2, "price": 95})) };
        let book = move |call: Invocation| {
            let counted = Arc::clone(&counted);
            async move {
                if call.input["room_id"] == "13" {
                    return Err(Failure::named("no_such_room", "There is no such room."));
                }
                counted.fetch_add(1, Ordering::Relaxed);
                Ok(json!({"reservation_id": "r-1", "nights": call.input.get("nights").cloned().unwrap_or(json!(1))}))
            }
        };
        let functions = Functions::new().with("rooms.look", look).with("rooms.book", book);
        let egress = Egress::builder(EgressConfig::default()).build().unwrap();
        let kinds = Kinds { egress, functions, host: HostHandle::default() };
        let loaded = load(folder, terms(section), &|_: &str| None, &kinds);
        assert!(loaded.refused.is_empty(), "{}", loaded.refused);
        let scopes = ScopeSet::parse_list(&format!("{SCOPES}, inspect:all")).unwrap();
        let identities = AgentIdentitySettings { scopes: Some(scopes), ..AgentIdentitySettings::default() };
        let server = server_of(Blueprint { contract: loaded.dispatcher, identities, ..blueprint(section) }).await;
        Self { server, booked }
    }

    /// The answer to a call on a connection of its own.
    async fn say(&self, sent: Sent<'_>) -> Response {
        self.say_by(&mut self.server.connect(), sent).await
    }

    /// The same on a connection that is there.
    async fn say_by(&self, client: &mut Client, sent: Sent<'_>) -> Response {
        let mut head = format!("{}\r\nAgent-ID: {}", sent.line, self.server.id(sent.by));
        if !sent.fields.iter().any(|(name, _)| *name == "Authority-Scope") {
            head += &format!("\r\nAuthority-Scope: {SCOPES}");
        }
        for (name, value) in sent.fields {
            head += &format!("\r\n{name}: {value}");
        }
        let text = if sent.body.is_null() { String::new() } else { sent.body.to_string() };
        client.say(&head, &text).await;
        client.hear().await.expect("an answer")
    }

    /// `RESERVE /weekend` by chef, with these fields.
    async fn reserve(&self, fields: &[(&str, &str)]) -> Response {
        self.say(Sent { by: "chef", line: "RESERVE /weekend", fields, body: stay() }).await
    }

    /// An offer that was made to chef.
    async fn offered(&self) -> String {
        let offer = self.reserve(&[ALLOW]).await;
        assert_eq!(offer.start.code, 461, "{}", body(&offer));
        body(&offer)["synthesis_id"].as_str().unwrap().to_owned()
    }

    /// A method of the host's own, by chef.
    async fn floor(&self, method: &str, parameters: Value) -> (u16, Value) {
        self.floor_by("chef", SCOPES, method, parameters).await
    }

    /// The same by an agent that claims these scopes.
    async fn floor_by(&self, by: &str, scopes: &str, method: &str, parameters: Value) -> (u16, Value) {
        let fields = [("Authority-Scope", scopes)];
        let line = format!("{method} /");
        let answer = self.say(Sent { by, line: &line, fields: &fields, body: parameters }).await;
        (answer.start.code, body(&answer))
    }

    fn booked(&self) -> usize {
        self.booked.load(Ordering::Relaxed)
    }
}

/// The caller's consent.
const ALLOW: (&str, &str) = ("Allow-RCNS", "true");
/// What an operator claims.
const OPERATOR: &str = "inspect:all";

fn presents(id: &str) -> (&str, &str) {
    ("Contract-Synthesized", id)
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hotel")
}

/// What a weekend is reserved with.
fn stay() -> Value {
    json!({"room_id": "7", "guest": "Ada"})
}

/// An endpoint as an agent proposes it.
fn weekend() -> Value {
    json!({
        "method": "RESERVE",
        "path": "/weekend",
        "description": "Books a room for a weekend.",
        "semantic": {
            "intent": "Book a room for a weekend.", "actor": "agent", "outcome": "The room is booked for two nights.",
            "capability": "transaction", "confidence": 0.9, "impact": "reversible", "is_idempotent": false,
        },
        "input_schema": {
            "type": "object", "required": ["room_id", "guest"], "additionalProperties": false,
            "properties": {"room_id": {"type": "string"}, "guest": {"type": "string"}},
        },
        "output_schema": {"type": "object", "required": ["reservation_id"]},
    })
}

fn word<'a>(body: &'a Value, name: &str) -> &'a str {
    body["error"][name].as_str().unwrap_or_default()
}
