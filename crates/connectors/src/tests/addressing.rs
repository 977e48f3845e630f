//! One rule for all platforms: what is said anew is for the agent of the connector, and replies and threads stay.

use forecourt_core::{CollectedReply, Ending, Part};
use forecourt_correspondence::{Carrier, Content, Letter, Outgoing};
use forecourt_host::CarryOutcome;

use super::pause::carrying;
use super::*;

impl Here {
    /// Says something in a group; which agent hears it.
    async fn asked_in(&self, message: &str, text: &str, more: Value) -> &'static str {
        let before = (self.agent.heard().len(), self.baker.heard().len());
        let mut event = json!({"message": message, "text": text, "group": {}});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(self.tell(&event).await, StatusCode::OK);
        for _ in 0..100_000 {
            let now = (self.agent.heard().len(), self.baker.heard().len());
            if now != before {
                return if now.0 > before.0 { "chef" } else { "baker" };
            }
            tokio::task::yield_now().await;
        }
        panic!("nobody hears it");
    }
}

#[tokio::test]
async fn what_is_said_anew_in_a_channel_is_for_its_agent_whoever_was_asked_there_last() {
    let here = Here::start("anew", 99).await;
    assert_eq!(here.asked_in("1", "@baker hello", json!({})).await, "baker");
    assert_eq!(here.asked_in("2", "hello", json!({})).await, "chef");
    // A thread stays, with or without a mention of the bot, until it is another's.
    let of = |is_reply: bool| json!({"group": {"thread": "t", "is_reply": is_reply}});
    assert_eq!(here.asked_in("3", "@baker hello", of(false)).await, "baker");
    assert_eq!(here.asked_in("4", "and now?", of(true)).await, "baker");
    assert_eq!(here.asked_in("5", "@chef hello", of(true)).await, "chef");
    assert_eq!(here.asked_in("6", "and now?", of(true)).await, "chef");
    // So does a conversation of two.
    let two = json!({"group": null});
    assert_eq!(here.asked_in("7", "@baker hello", two.clone()).await, "baker");
    assert_eq!(here.asked_in("8", "and now?", two).await, "baker");
}

#[tokio::test]
async fn a_reply_is_for_who_said_what_it_answers() {
    let here = Here::start("replies", 99).await;
    let (carrier, desk, letter) = carrying(&here);
    let place = Place { channel: "C1".to_owned(), ..Place::default() };
    let address = crate::address::ChatAddress { place, ..letter.address.clone() };
    let letter = Letter { agent: Handle::parse("baker").unwrap(), address, ..letter };
    let reply = CollectedReply::new(vec![Part::text("Bread.")], Ending::Complete);
    let outgoing = Outgoing { desk: &desk, letter: &letter, content: Content::Reply(&reply), id: "1", task: None };
    assert_eq!(carrier.send(outgoing).await, CarryOutcome::Delivered);
    // Others were asked since, the last of them the chef.
    assert_eq!(here.asked_in("1", "hello", json!({})).await, "chef");
    let to = |message: &str| json!({"group": {"is_reply": true}, "replies_to": message});
    assert_eq!(here.asked_in("2", "and now?", to("0")).await, "baker");
    assert_eq!(here.asked_in("3", "@chef and now?", to("0")).await, "chef");
    // Of a message that nobody knows any more, it is for who was asked last.
    assert_eq!(here.asked_in("4", "and now?", to("unknown")).await, "chef");
    // A thread that somebody begins below an answer.
    let below = json!({"group": {"thread": "0", "is_reply": true}});
    assert_eq!(here.asked_in("5", "and here?", below).await, "baker");
    // What only quotes it in a channel is said anew.
    assert_eq!(here.asked_in("6", "hello", json!({"replies_to": "0"})).await, "chef");
}

/// Sends what an agent says in a place: always for the same question.
async fn answered(here: &Here, (agent, says): (&str, &str), thread: Option<&str>) {
    let (carrier, desk, letter) = carrying(here);
    let place = Place { channel: "C1".to_owned(), thread: thread.map(str::to_owned), ..Place::default() };
    let address = crate::address::ChatAddress { place, ..letter.address.clone() };
    let token = "b".repeat(43);
    let letter = Letter { agent: Handle::parse(agent).unwrap(), token, address, ..letter };
    let reply = CollectedReply::new(vec![Part::text(says)], Ending::Complete);
    let outgoing = Outgoing { desk: &desk, letter: &letter, content: Content::Reply(&reply), id: "1", task: None };
    assert_eq!(carrier.send(outgoing).await, CarryOutcome::Delivered);
}

#[tokio::test]
async fn a_reply_to_an_answer_that_became_another_agents_is_for_that_agent() {
    let here = Here::start("became another's", 99).await;
    answered(&here, ("baker", "Bread."), None).await;
    let to = json!({"group": {"is_reply": true}, "replies_to": "0"});
    assert_eq!(here.asked_in("1", "and now?", to.clone()).await, "baker");
    // Its question names another agent now, whose answer takes its place.
    answered(&here, ("chef", "Soup."), None).await;
    assert_eq!(here.cage.posted.load(Ordering::SeqCst), 1);
    assert_eq!(here.asked_in("2", "and now?", to).await, "chef");
}

#[tokio::test]
async fn a_reply_in_a_topic_is_for_who_said_what_it_answers() {
    let here = Here::start("topics", 99).await;
    answered(&here, ("baker", "Bread."), Some("t")).await;
    let to = |replied: Option<&str>| json!({"group": {"thread": "t", "is_reply": true}, "replies_to": replied});
    assert_eq!(here.asked_in("1", "@chef hello", to(None)).await, "chef");
    assert_eq!(here.asked_in("2", "and now?", to(Some("0"))).await, "baker");
}
