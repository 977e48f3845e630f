use std::time::Duration;

use super::*;
use crate::limits::{CHANGES_PER_ACTOR_PER_HOUR, CHANGES_PER_HOUR, LOOKUPS_PER_SERVER_PER_MINUTE};

/// Activities of each kind, unless the environment says otherwise.
const FLOOD: usize = 500;

fn flood() -> usize {
    std::env::var("FORECOURT_FLOOD").ok().and_then(|text| text.parse().ok()).unwrap_or(FLOOD)
}

#[tokio::test]
async fn of_a_flood_of_forged_and_replayed_notes_none_reaches_an_agent() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    let note = there.note("ann", 0, "once");
    assert_eq!(here.post(&there, "ann", &note).await, StatusCode::ACCEPTED);
    assert_eq!(here.heard(1).await, ["once"]);
    let fetched = there.fetched();
    let (ann, body) = (format!("{}#main-key", there.actor("ann")), note.to_string());
    let headers = here.headers(Signed { by_draft: true, key: &there.key, key_id: &ann }, body.as_bytes());
    for _ in 0..flood() {
        assert_eq!(here.send(headers.clone(), body.clone()).await.0, StatusCode::ACCEPTED);
    }
    for number in 0..flood() {
        // A signature of another note, of which all but the name of the key is right: each names an actor of its own.
        let mut forged = headers.clone();
        let text = headers["signature"].to_str().unwrap().replace("/users/ann#", &format!("/users/a{number}#"));
        forged.insert("signature", HeaderValue::from_str(&text).unwrap());
        let status = here.send(forged, body.clone()).await.0;
        assert!(matches!(status, StatusCode::UNAUTHORIZED | StatusCode::SERVICE_UNAVAILABLE), "{status}");
    }
    assert_eq!(here.heard(2).await, ["once"]);
    let most = usize::try_from(LOOKUPS_PER_SERVER_PER_MINUTE).unwrap();
    assert!(there.fetched() - fetched < most, "{} fetches", there.fetched());
}

#[tokio::test]
async fn two_hundred_copies_of_a_note_at_once_are_one_message() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    let note = there.note("ann", 0, "once");
    let copies = futures::future::join_all((0..200).map(|_| here.post(&there, "ann", &note))).await;
    let mut told: Vec<u16> = copies.into_iter().map(|status| status.as_u16()).collect();
    told.sort_unstable();
    told.dedup();
    assert!(told.iter().all(|status| [202, 429].contains(status)), "{told:?}");
    assert_eq!(here.heard(2).await, ["once"]);
    assert_eq!(here.post(&there, "ann", &note).await, StatusCode::ACCEPTED);
    assert_eq!(there.fetched(), 1);
}

#[tokio::test]
async fn whoever_else_replies_in_a_thread_begins_a_conversation_of_their_own() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    there.has("bob", "Person", &there.key);
    here.post(&there, "ann", &there.note("ann", 0, "mine")).await;
    for (number, name) in [(1, "bob"), (2, "ann")] {
        let mut reply = there.note(name, number, "and?");
        reply["object"]["inReplyTo"] = json!(format!("{}/notes/0", there.origin));
        here.post(&there, name, &reply).await;
    }
    here.heard(3).await;
    let threads: Vec<_> = here.agent.heard().into_iter().map(|message| message.thread).collect();
    assert!(threads[0].is_some() && threads[0] == threads[2] && threads[0] != threads[1]);
}

#[tokio::test]
async fn an_actor_a_server_and_all_of_them_have_a_bound() {
    for (key, names) in [
        ("messages_per_actor_per_hour", ["ann", "ann"]),
        ("messages_per_server_per_hour", ["ann", "bob"]),
        ("messages_per_hour", ["ann", "bob"]),
    ] {
        let (here, there) = (Here::start(&format!("{key} = 2"), Vec::new()).await, Elsewhere::start().await);
        for name in names {
            there.has(name, "Person", &there.key);
        }
        for (number, expected) in
            [StatusCode::ACCEPTED, StatusCode::ACCEPTED, StatusCode::TOO_MANY_REQUESTS].into_iter().enumerate()
        {
            let name = names[number % 2];
            assert_eq!(here.post(&there, name, &there.note(name, number, "hi")).await, expected, "{key} {number}");
        }
        assert_eq!(here.heard(2).await.len(), 2);
    }
}

#[tokio::test]
async fn bots_are_answered_as_often_as_the_operator_says_in_one_thread_and_never_otherwise() {
    for (section, answered) in [("", 0), ("answers_to_bots = 2", 2)] {
        let (here, there) = (Here::start(section, Vec::new()).await, Elsewhere::start().await);
        there.has("bot", "Service", &there.key);
        for number in 0..4 {
            let mut note = there.note("bot", number, "and now?");
            if number > 0 {
                note["object"]["inReplyTo"] = json!(format!("{}/notes/{}", there.origin, number - 1));
            }
            assert_eq!(here.post(&there, "bot", &note).await, StatusCode::ACCEPTED);
        }
        assert_eq!(here.heard(4).await.len(), answered, "{section}");
    }
}

#[tokio::test]
async fn a_thread_ends_at_its_bound_and_so_does_what_agents_hand_on() {
    let (here, there) = (Here::start("answers_per_thread = 2", Vec::new()).await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    for number in 0..3 {
        let mut note = there.note("ann", number, "more");
        if number > 0 {
            note["object"]["inReplyTo"] = json!(format!("{}/notes/{}", there.origin, number - 1));
        }
        here.post(&there, "ann", &note).await;
    }
    assert_eq!(here.heard(3).await.len(), 2);
    let mut handed_on = there.note("ann", 9, "hi");
    let most = u64::from(forecourt_core::limits::HOPS_MAX);
    for (hop, heard) in [(most, 2), (1u64 << 32, 2), (most - 1, 3)] {
        handed_on["object"]["mentionable:hop"] = json!(hop);
        here.post(&there, "ann", &handed_on).await;
        assert_eq!(here.heard(3).await.len(), heard, "{hop}");
    }
}

#[tokio::test]
async fn who_is_refused_for_its_server_alone_is_not_counted() {
    let section = "messages_per_server_per_hour = 1\nmessages_per_actor_per_hour = 1";
    let (here, there) = (Here::start(section, Vec::new()).await, Elsewhere::start().await);
    for name in ["ann", "bob"] {
        there.has(name, "Person", &there.key);
    }
    assert_eq!(here.post(&there, "ann", &there.note("ann", 0, "hi")).await, StatusCode::ACCEPTED);
    here.mounted.clock.advance(Duration::from_secs(30 * 60));
    assert_eq!(here.post(&there, "bob", &there.note("bob", 1, "hi")).await, StatusCode::TOO_MANY_REQUESTS);
    // The hour of the server is over; that of bob would not be, had it begun.
    here.mounted.clock.advance(Duration::from_secs(30 * 60));
    assert_eq!(here.post(&there, "bob", &there.note("bob", 2, "hi")).await, StatusCode::ACCEPTED);
    assert_eq!(here.heard(2).await.len(), 2);
}

#[tokio::test]
async fn follows_and_blocks_of_all_actors_have_a_bound() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    let block = async |number: u32| {
        let name = format!("a{}", number / CHANGES_PER_ACTOR_PER_HOUR);
        there.has(&name, "Person", &there.key);
        let block = there.activity(&name, "Block", usize::try_from(number).unwrap(), &json!(CHEF));
        here.post(&there, &name, &block).await
    };
    for number in 0..CHANGES_PER_HOUR {
        if number % (LOOKUPS_PER_SERVER_PER_MINUTE * CHANGES_PER_ACTOR_PER_HOUR) == 0 {
            here.mounted.clock.advance(Duration::from_secs(60));
        }
        assert_eq!(block(number).await, StatusCode::ACCEPTED, "{number}");
    }
    assert_eq!(block(CHANGES_PER_HOUR).await, StatusCode::TOO_MANY_REQUESTS);
    here.mounted.clock.advance(Duration::from_secs(60 * 60));
    assert_eq!(block(CHANGES_PER_HOUR).await, StatusCode::ACCEPTED);
}
