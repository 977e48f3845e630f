//! Attacks on contracts that are made while serving, on a real daemon that serves `examples/hotel`: by another agent,
//! session and connection, under a name that is only claimed, two hundred at once, and around a crash. AGTP-API 10.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::identity::{believing, token_of};
use crate::negotiation::weekend;
use crate::support::{Deployment, FREE_PORTS, PATIENCE, Served};

/// What the agents claim who negotiate.
const SCOPES: &str = "room:read,room:book,rcns:negotiate";
/// What is asked for: a pair that the hotel has a recipe for, and no endpoint.
const WEEKEND: &str = "RESERVE /weekend";

fn stay() -> Value {
    json!({"room_id": "7", "guest": "Ada"})
}

/// The example, in a folder of its own.
fn hotel() -> Deployment {
    Deployment::of_example("hotel")
}

fn serve(deployment: Deployment) -> Served {
    deployment.serve_on(&[&FREE_PORTS[..], &["--agtp-plaintext", "127.0.0.1:0", "--gateway", "127.0.0.1:0"]].concat())
}

/// An answer: its status and its body.
struct Heard {
    status: u16,
    body: Value,
}

impl Heard {
    /// The code of its problem with the reason, where it has one.
    fn problem(&self) -> (u16, &str, &str) {
        let member = |name: &str| self.body["error"][name].as_str().unwrap_or_default();
        (self.status, member("code"), member("reason"))
    }

    #[track_caller]
    fn synthesis_id(&self) -> String {
        self.body["synthesis_id"].as_str().unwrap_or_else(|| panic!("{} {}", self.status, self.body)).to_owned()
    }
}

/// A connection.
struct Line(TcpStream);

impl Line {
    fn to(served: &Served) -> Self {
        let recorded = served.deployment.read(".forecourt/serving.json");
        let recorded: Value = serde_json::from_str(&recorded).unwrap();
        let port = recorded["sockets"]["agtp-plaintext"].as_u64().unwrap();
        let stream = TcpStream::connect(("127.0.0.1", port.try_into().unwrap())).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(stream)
    }

    /// Sends a request with these fields; gives the answer.
    #[track_caller]
    fn ask(&mut self, line: &str, fields: &[(&str, &str)], body: &Value) -> Heard {
        let body = body.to_string();
        let fields: String = fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let request = format!("AGTP/1.0 {line}\r\n{fields}Content-Length: {}\r\n\r\n{body}", body.len());
        self.0.write_all(request.as_bytes()).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.0.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let fields: BTreeMap<&str, &str> = head.lines().filter_map(|line| line.split_once(": ")).collect();
        let length = fields.get("Content-Length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        let status = head.split_whitespace().nth(1).unwrap().parse().unwrap();
        Heard { status, body: serde_json::from_slice(&body).unwrap_or_default() }
    }
}

/// Who asks, in which session.
#[derive(Clone, Copy)]
struct By<'a> {
    id: &'a str,
    session: Option<&'a str>,
}

impl By<'_> {
    /// Asks for the weekend with one more field, over a connection of its own.
    #[track_caller]
    fn reserve(self, served: &Served, more: (&str, &str)) -> Heard {
        self.ask(&mut Line::to(served), WEEKEND, &[more], &stay())
    }

    #[track_caller]
    fn ask(self, line: &mut Line, request: &str, more: &[(&str, &str)], body: &Value) -> Heard {
        let mut fields = vec![("Agent-ID", self.id), ("Authority-Scope", SCOPES)];
        fields.extend(self.session.map(|session| ("Session-ID", session)));
        fields.extend(more);
        line.ask(request, &fields, body)
    }

    #[track_caller]
    fn propose(self, line: &mut Line) -> String {
        let heard = self.ask(line, "PROPOSE /", &[], &json!({"endpoint": weekend()}));
        assert_eq!(heard.status, 263, "{}", heard.body);
        heard.synthesis_id()
    }
}

const OPT_IN: (&str, &str) = ("Allow-RCNS", "true");

fn presenting(id: &str) -> (&str, &str) {
    ("Contract-Synthesized", id)
}

const NOT_YOURS: (u16, &str, &str) = (464, "rcns-no-contract", "contract-not-yours");

#[test]
fn s10_1_3_an_offer_is_of_use_to_nobody_but_the_agent_that_got_it() {
    let served = serve(hotel());
    let (guest, rival) = (served.deployment.agent_id("guest"), served.deployment.agent_id("rival"));
    let own = By { id: &guest, session: Some("s-1") };
    let offered = own.reserve(&served, OPT_IN);
    assert_eq!(offered.status, 461, "{}", offered.body);
    let made = offered.synthesis_id();
    let with = presenting(&made);
    assert_eq!(By { id: &rival, session: Some("s-1") }.reserve(&served, with).problem(), NOT_YOURS);
    for fields in [&[with][..], &[with, ("Agent-ID", &"0".repeat(64))]] {
        assert_eq!(Line::to(&served).ask(WEEKEND, fields, &stay()).status, 401);
    }
    // The gateway is one more way in, and no way around.
    let asked = |agent: &str, field: &str| {
        let (agent, body) = (format!("Agent-ID: {agent}"), stay().to_string());
        let scopes = format!("Authority-Scope: {SCOPES}");
        let words = ["-X", "RESERVE", "-H", &agent, "-H", &scopes, "-H", field, "-d", &body];
        crate::wire::curl(&format!("http://127.0.0.1:{}/weekend", served.gateway), &words).status
    };
    let shown = format!("Contract-Synthesized: {made}");
    assert_eq!(asked(&rival, &shown), 464);
    assert_eq!(asked(&rival, "Allow-RCNS: true"), 404, "nobody consents for what comes by HTTP");
    assert_eq!(asked(&guest, &shown), 200);
    // It is the agent's, in whatever session, and for its pair alone.
    let elsewhere = By { session: Some("s-2"), ..own };
    assert_eq!(elsewhere.reserve(&served, with).status, 200);
    let other = elsewhere.ask(&mut Line::to(&served), "RESERVE /month", &[with], &stay());
    assert_eq!(other.problem().1, "contract-mismatch");
}

#[test]
fn s10_1_6_contracts_of_a_session_or_a_connection_serve_no_other() {
    let served = serve(hotel());
    let guest = served.deployment.agent_id("guest");
    let session = |session: Option<&'static str>| By { id: &guest, session };
    let made = session(Some("s-1")).propose(&mut Line::to(&served));
    assert_eq!(session(Some("s-1")).reserve(&served, presenting(&made)).status, 200);
    for other in [Some("s-2"), None] {
        assert_eq!(session(other).reserve(&served, presenting(&made)).problem(), NOT_YOURS, "{other:?}");
    }
    let mut line = Line::to(&served);
    let made = session(None).propose(&mut line);
    let ask = |line: &mut Line| session(None).ask(line, WEEKEND, &[presenting(&made)], &stay()).status;
    assert_eq!((ask(&mut line), ask(&mut Line::to(&served))), (200, 464));
}

#[test]
fn s10_1_2_a_name_that_was_only_claimed_never_reaches_what_was_made_under_the_proven_one() {
    let deployment = hotel();
    let top = deployment.read("forecourt.toml");
    let served = serve(deployment.and("forecourt.toml", &format!("{top}\n{}", believing())));
    let guest = served.deployment.agent_id("guest");
    let token = format!("Bearer {}", token_of(&guest));
    let proof = ("Authorization", token.as_str());
    let by = By { id: &guest, session: Some("s-1") };
    let proven = |more: (&str, &str)| by.ask(&mut Line::to(&served), WEEKEND, &[proof, more], &stay());
    let made = proven(OPT_IN);
    assert_eq!(made.status, 461, "{}", made.body);
    let made = made.synthesis_id();
    assert_eq!(by.reserve(&served, presenting(&made)).problem(), NOT_YOURS, "a claim is not a proof");
    let claimed = by.reserve(&served, OPT_IN);
    assert_eq!(claimed.status, 461, "{}", claimed.body);
    let claimed = claimed.synthesis_id();
    assert_ne!(made, claimed);
    assert_eq!(proven(presenting(&claimed)).problem(), NOT_YOURS, "what somebody planted serves nobody who proves");
    assert_eq!((proven(presenting(&made)).status, by.reserve(&served, presenting(&claimed)).status), (200, 200));
}

#[test]
fn s10_7_two_hundred_who_ask_at_once_make_one_contract() {
    let served = serve(hotel());
    let guest = served.deployment.agent_id("guest");
    let heard: Vec<Heard> = std::thread::scope(|scope| {
        let one = |_| scope.spawn(|| By { id: &guest, session: Some("s-1") }.reserve(&served, OPT_IN));
        let asking: Vec<_> = (0..200).map(one).collect();
        asking.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let mut made: Vec<String> = heard.iter().filter(|one| one.status == 461).map(Heard::synthesis_id).collect();
    made.dedup();
    assert_eq!(made.len(), 1, "{made:?}");
    assert!(heard.iter().all(|one| matches!(one.status, 200 | 429 | 461)), "nobody is told anything else");
}

#[test]
fn s10_1_3_the_plan_that_was_offered_is_the_one_that_runs_after_a_crash_and_an_edit() {
    let served = serve(hotel());
    let guest = served.deployment.agent_id("guest");
    let by = By { id: &guest, session: Some("s-1") };
    let made = by.reserve(&served, OPT_IN).synthesis_id();
    let mut line = Line::to(&served);
    let connected = By { session: None, ..by }.propose(&mut line);
    let deployment = served.killed();
    deployment.edit("recipes.toml", "version = \"1\"", "version = \"2\"");
    deployment.edit("recipes.toml", "value = 2 }", "value = 3 }");
    let served = serve(deployment);
    let heard = by.reserve(&served, presenting(&made));
    assert_eq!((heard.status, &heard.body["nights"]), (200, &json!(2)), "{}", heard.body);
    // Its connection did not outlive the crash, and no new one is taken for it.
    let late = By { session: None, ..by }.reserve(&served, presenting(&connected));
    assert_eq!((late.status, late.problem().1), (464, "rcns-no-contract"), "{}", late.body);
}

#[test]
fn base_9_nothing_runs_in_a_session_once_it_is_suspended() {
    let served = serve(hotel());
    let guest = served.deployment.agent_id("guest");
    let by = By { id: &guest, session: Some("s-1") };
    let made = by.reserve(&served, OPT_IN).synthesis_id();
    let suspend = json!({"reason": "awaiting_input"});
    let late = std::thread::scope(|scope| {
        let calls = || {
            let mut line = Line::to(&served);
            let call = |_| by.ask(&mut line, WEEKEND, &[presenting(&made)], &stay()).status;
            (0..6).map(call).collect::<Vec<_>>()
        };
        let calling: Vec<_> = (0..4).map(|_| scope.spawn(calls)).collect();
        let suspended = by.ask(&mut Line::to(&served), "SUSPEND /", &[], &suspend);
        assert_eq!(suspended.status, 200, "{}", suspended.body);
        let late = by.reserve(&served, presenting(&made)).status;
        for status in calling.into_iter().flat_map(|calls| calls.join().unwrap()) {
            assert!(matches!(status, 200 | 409), "{status}");
        }
        late
    });
    assert_eq!(late, 409);
    assert_eq!(By { session: Some("s-2"), ..by }.reserve(&served, presenting(&made)).status, 200);
}
