//! Messages and their JSON form. Mentionable normalized-message 3, REST 3.2.2.

use forecourt_core::limits::HOPS_MAX;
use forecourt_core::{
    Address, Authority, Handle, IdentityEvidence, Language, Message, MessageId, Part, Profile, Question,
    QuestionAnswer, Role, ScopeSet, SearchRefinement, Sender, ThreadId, Timestamp, Turn,
};
use forecourt_testkit::CountedEntropy;
use serde_json::{Value, json};

pub(crate) fn message() -> Message {
    let (id, chef) = (MessageId::parse("m1").unwrap(), Handle::parse("chef").unwrap());
    let parts = vec![Part::text("hi"), Part::data(json!(1)), Part::markdown("there")];
    Message::new(id, chef, parts, "rest", "2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap())
}

fn written(message: &Message) -> Value {
    message.to_json(&Address::parse("@chef@demo.localhost").unwrap())
}

fn evidence() -> IdentityEvidence {
    serde_json::from_value(json!({
        "subject": "slack:T1/U2", "issuer": "connector.example", "method": "urn:x:v1", "assurance": "platform",
        "audience": "@chef@demo.localhost", "issued_at": "2026-01-01T00:00:00Z",
        "proof": {"type": "bearer-token", "verified_by": "us", "token_hash": "secret", "token": "secret"},
    }))
    .unwrap()
}

fn proven() -> Sender {
    Sender {
        address: "@ann@other.example".into(),
        auth_method: "a2a-jwt".into(),
        verified: true,
        key_id: Some("k".into()),
        profile: Some(Profile { display_name: Some("Ann".into()), ..Profile::default() }),
        identities: vec![evidence()],
        authority: Authority::default().within(&ScopeSet::parse_list("documents:query").unwrap()),
        agent: None,
        claimed_address: Some("@ann@claimed.example".into()),
        token: None,
        peer: Some([127, 0, 0, 1].into()),
        ..Sender::anonymous()
    }
}

#[test]
fn what_a_caller_said_about_a_message_is_written_when_there_is_any() {
    let mut message = message();
    message.metadata.insert("https://example.com/ns#mood".to_owned(), json!({"x": 1}));
    message.extensions.push("https://example.com/ext".to_owned());
    let json = written(&message);
    assert_eq!(json["metadata"], json!({"https://example.com/ns#mood": {"x": 1}}));
    assert_eq!(json["extensions"], json!(["https://example.com/ext"]));
}

#[test]
fn s3_a_plain_message_has_the_required_fields() {
    let wanted = json!({
        "id": "m1",
        "sender": {"address": "", "auth_method": "none", "verified": false},
        "recipient": "@chef@demo.localhost",
        "parts": [
            {"kind": "text", "mime": "text/plain", "content": "hi", "text": "hi"},
            {"kind": "data", "data": 1},
            {"kind": "text", "mime": "text/markdown", "content": "there", "text": "there"},
        ],
        "history": [],
        "recipient_capabilities": {"agent_chain": {"hop": 1, "max_hops": HOPS_MAX, "is_final": false}},
        "received_via": "rest",
        "received_at": "2026-01-01T00:00:00Z",
    });
    assert_eq!(written(&message()), wanted);
}

#[test]
fn s3_optional_fields_are_written_when_set() {
    let thread = ThreadId::mint(&CountedEntropy::default());
    let mut message = message();
    message.thread = Some(thread.clone());
    message.language = Language::parse("de-AT");
    message.sender = proven();
    message.history = vec![Turn::text(Role::User, "before"), Turn::text(Role::Assistant, "yes?")].into();
    let json = written(&message);
    assert_eq!(json["thread_id"], thread.expose());
    assert_eq!(json["language"], "de-AT");
    assert_eq!(json["sender"]["identities"][0]["subject"], "slack:T1/U2");
    assert_eq!(json["sender"]["key_id"], "k");
    assert_eq!(json["history"][1]["role"], "assistant");
    let history: Vec<Turn> = serde_json::from_value(json["history"].clone()).unwrap();
    assert_eq!(history[0].parts, [Part::text("before")]);
}

#[test]
fn s3_the_last_agent_of_a_chain_is_told_so() {
    for (hop, on_wire, is_final) in [(0, 1, false), (HOPS_MAX - 2, HOPS_MAX - 1, false), (HOPS_MAX - 1, HOPS_MAX, true)]
    {
        let mut message = message();
        message.hop = hop;
        let wanted = json!({"hop": on_wire, "max_hops": HOPS_MAX, "is_final": is_final});
        assert_eq!(written(&message)["recipient_capabilities"]["agent_chain"], wanted);
    }
    let mut endless = message();
    endless.hop = u32::MAX;
    assert_eq!(written(&endless)["recipient_capabilities"]["agent_chain"]["is_final"], true);
}

#[test]
fn tokens_of_proofs_and_network_addresses_stay_here() {
    let mut message = message();
    message.sender = proven();
    message.history = vec![Turn { sender: proven(), ..Turn::text(Role::User, "before") }].into();
    let json = written(&message).to_string();
    assert!(!json.contains("secret") && !json.contains("127.0.0.1"), "{json}");
    assert!(json.contains("bearer-token") && json.contains("verified_by"), "{json}");
}

#[test]
fn the_text_is_that_of_the_text_parts_joined_by_newlines() {
    assert_eq!(message().text(), "hi\nthere");
}

#[test]
fn rest_3_2_2_a_described_sender_proves_nothing() {
    let stripped = proven().stripped_of_proof();
    assert_eq!(stripped.auth_method, "none");
    assert!(!stripped.verified && stripped.key_id.is_none() && stripped.identities.is_empty());
    assert_eq!(stripped.address, "@ann@other.example");
    assert_eq!(stripped.profile.as_ref().and_then(|p| p.display_name.as_deref()), Some("Ann"));
    assert_eq!(stripped.owner(), None);
}

#[test]
fn only_proof_makes_an_owner() {
    assert_eq!(Sender::anonymous().owner(), None);
    assert_eq!(proven().owner(), Some("slack:T1/U2"));
    assert_eq!(Sender { identities: vec![], ..proven() }.owner(), Some("@ann@other.example"));
    assert_eq!(Sender { verified: false, ..proven() }.owner(), None);
    assert_eq!(Sender { verified: true, ..Sender::anonymous() }.owner(), None);
}

#[test]
fn a_sender_in_a_history_may_say_little() {
    let turn: Turn = serde_json::from_value(json!({"role": "user", "parts": [{"kind": "text", "text": "a"}]})).unwrap();
    assert_eq!((turn.sender.address.as_str(), turn.sender.auth_method.as_str()), ("", "none"));
    let turn: Turn =
        serde_json::from_value(json!({"role": "user", "sender": {"address": "slack:T1/U2"}, "parts": []})).unwrap();
    assert_eq!(turn.sender.address, "slack:T1/U2");
    assert!(!turn.sender.verified);
    assert!(serde_json::from_value::<Turn>(json!({"role": "system", "parts": []})).is_err());
}

#[test]
fn what_our_own_parts_tell_each_other_is_stored_and_never_a_callers() {
    let asked = Question { text: "Which?".to_owned(), questions: vec![json!({"id": "g", "text": "Which?"})] };
    let narrowing = SearchRefinement { results: Some(3), ..SearchRefinement::default() };
    let answers = vec![QuestionAnswer { id: "g".to_owned(), value: json!("x") }];
    let turn = Turn { question: Some(Box::new(asked)), narrowing, answers, ..Turn::text(Role::User, "x") };
    let stored = json!(turn);
    assert_eq!(serde_json::from_value::<Turn>(stored.clone()).unwrap(), turn);
    let from_caller = Turn::from_caller(stored).unwrap();
    assert_eq!(from_caller, Turn::text(Role::User, "x"));
    let mut message = message();
    message.history = vec![turn].into();
    let written = written(&message)["history"][0].clone();
    assert!(["question", "narrowing", "answers"].iter().all(|key| written.get(key).is_none()), "{written}");
    let old = json!({"role": "assistant", "parts": [{"kind": "text", "content": "Hm."}], "something": "new"});
    let old: Turn = serde_json::from_value(old).unwrap();
    assert_eq!((old.question, old.answers.len(), old.narrowing.is_empty()), (None, 0, true));
}
