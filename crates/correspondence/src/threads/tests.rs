//! Threads and letters on a host in memory.

use forecourt_core::store::Webhook;
use forecourt_core::{Sender, Transport};
use forecourt_testhost::{Blueprint, MountedHost, resident};
use forecourt_testkit::{ScriptedAgent, card};

use super::*;
use crate::letter::{Address, Letter};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Pigeon {
    loft: String,
}

impl Address for Pigeon {
    const PROTOCOL: Transport = "pigeon";
    const KEY: &'static str = "ring";
    const RETRIES: u32 = 3;
    const ANSWERS_HAVE_TOKENS: bool = true;

    fn url(&self) -> String {
        format!("pigeon:{}", self.loft)
    }

    fn stranger(&self) -> String {
        format!("unknown:{}", self.loft)
    }
}

fn handle(name: &str) -> Handle {
    Handle::parse(name).unwrap()
}

async fn host() -> MountedHost {
    let chef = resident(card("chef"), ScriptedAgent::saying(["hello"]), Vec::new());
    Blueprint { residents: vec![chef], ..Blueprint::default() }.start(None).await
}

#[tokio::test]
async fn an_answer_goes_on_with_its_conversation_for_its_reader_and_its_agent_alone() {
    let host = host().await;
    let threads = Threads::of(&host.mount.host, Pigeon::PROTOCOL);
    let chef = handle("chef");
    threads.remember("a1", &chef, "ann", "soup").await.unwrap();
    let find = async |id, agent: &str, reader| threads.find(id, &handle(agent), reader).await.unwrap();
    assert_eq!(find("a1", "chef", "ann").await.as_deref(), Some("soup"));
    for (id, agent, reader) in [("a1", "chef", "bob"), ("a1", "gate", "ann"), ("a2", "chef", "ann")] {
        assert_eq!(find(id, agent, reader).await, None, "{id} {agent} {reader}");
    }
    assert_eq!(threads.agent("a1").await.unwrap(), Some(chef.clone()));
    // Those of another protocol are other ids.
    assert_eq!(Threads::of(&host.mount.host, "raven").find("a1", &chef, "ann").await.unwrap(), None);
}

#[tokio::test]
async fn a_message_is_taken_once() {
    let host = host().await;
    let threads = Threads::of(&host.mount.host, Pigeon::PROTOCOL);
    assert!(!threads.was_taken(b"m1").await.unwrap());
    threads.take(b"m1").await.unwrap();
    threads.take(b"m1").await.unwrap();
    assert!(threads.was_taken(b"m1").await.unwrap() && !threads.was_taken(b"m2").await.unwrap());
}

#[test]
fn a_letter_travels_with_its_delivery() {
    let letter = Letter {
        agent: handle("chef"),
        sender: Sender::anonymous(),
        language: forecourt_core::Language::parse("de"),
        conversation: "soup".to_owned(),
        token: "t".to_owned(),
        repeats: 2,
        first: None,
        asked_at: None,
        address: Pigeon { loft: "north".to_owned() },
    };
    let webhook = letter.webhook("id".to_owned(), [("refusal", Value::Null)]);
    assert_eq!((webhook.protocol.as_str(), webhook.retries, webhook.url.as_str()), ("pigeon", 3, "pigeon:north"));
    assert_eq!(webhook.details["ring"]["loft"], "north");
    assert!(webhook.details.contains_key("refusal"));
    assert!(Letter::of(&webhook) == Some(letter.clone()));
    assert_eq!(letter.reader(), "unknown:north");
    let other = Webhook { details: Default::default(), ..webhook };
    assert!(Letter::<Pigeon>::of(&other).is_none());
}
