//! Conversations: with one agent, the newest turns, for a while.

use forecourt_core::limits::THREAD_TURNS_MAX;
use forecourt_core::{Role, Sender, Turn};
use serde_json::json;

use super::*;

fn turns(words: impl IntoIterator<Item = impl Into<String>>) -> Vec<Turn> {
    words.into_iter().map(|word| Turn::text(Role::User, word)).collect()
}

async fn append(store: &Fresh, thread: &ThreadId, words: &[&str], keep: usize, until: u64) {
    store.append_turns(thread, &chef(), addition(turns(words.to_vec()), keep, after(until))).await.unwrap();
}

async fn words(store: &Fresh, thread: &ThreadId, now: u64) -> Option<Vec<String>> {
    let turns = store.thread(thread, &chef(), after(now)).await.unwrap()?.turns;
    Some(turns.iter().map(|turn| forecourt_core::message::text_of(&turn.parts)).collect())
}

/// An unknown conversation is `None`; one that began without turns is there and empty.
pub async fn an_unknown_conversation_is_none(store: Fresh) {
    let thread = some_thread();
    assert_eq!(words(&store, &thread, 0).await, None);
    append(&store, &thread, &[], 10, 60).await;
    assert_eq!(words(&store, &thread, 0).await, Some(vec![]));
}

/// A conversation belongs to its agent: the same id with another agent is another conversation.
pub async fn a_conversation_is_with_one_agent(store: Fresh) {
    let thread = some_thread();
    append(&store, &thread, &["a"], 10, 60).await;
    assert!(store.thread(&thread, &handle("baker"), start()).await.unwrap().is_none());
    store.append_turns(&thread, &handle("baker"), addition(turns(["b"]), 10, after(60))).await.unwrap();
    assert_eq!(words(&store, &thread, 0).await.unwrap(), ["a"]);
}

/// The newest turns up to the bound are kept, oldest first, whether they come in one call or in several.
pub async fn the_newest_turns_are_kept_oldest_first(store: Fresh) {
    let thread = some_thread();
    append(&store, &thread, &["a", "b"], 3, 60).await;
    append(&store, &thread, &["c"], 3, 60).await;
    assert_eq!(words(&store, &thread, 0).await.unwrap(), ["a", "b", "c"]);
    append(&store, &thread, &["d"], 3, 60).await;
    assert_eq!(words(&store, &thread, 0).await.unwrap(), ["b", "c", "d"]);
    append(&store, &thread, &["e", "f", "g", "h", "i"], 3, 60).await;
    assert_eq!(words(&store, &thread, 0).await.unwrap(), ["g", "h", "i"]);

    let many = turns((0..=THREAD_TURNS_MAX).map(|n| n.to_string()));
    store.append_turns(&thread, &chef(), addition(many, THREAD_TURNS_MAX, after(60))).await.unwrap();
    let kept = words(&store, &thread, 0).await.unwrap();
    assert_eq!((kept.len(), kept[0].as_str()), (THREAD_TURNS_MAX, "1"));
    append(&store, &thread, &["a"], 0, 60).await;
    assert!(words(&store, &thread, 0).await.unwrap().is_empty());
}

/// Nobody's at first, then that of the first owner who adds to it; of what others add nothing stays.
pub async fn a_conversation_is_its_first_owners(store: Fresh) {
    let thread = some_thread();
    append(&store, &thread, &["a"], 10, 60).await;
    let add = async |owner: Option<&str>, word: &str| {
        let addition = ConversationAppend { owner: owner.map(str::to_owned), ..addition(turns([word]), 10, after(60)) };
        store.append_turns(&thread, &chef(), addition).await.unwrap().is_some()
    };
    assert!(add(Some("ada"), "b").await);
    assert!(!add(Some("bob"), "c").await && !add(None, "d").await);
    assert!(add(Some("ada"), "e").await);
    let kept = store.thread(&thread, &chef(), start()).await.unwrap().unwrap();
    assert_eq!(kept.owner.as_deref(), Some("ada"));
    assert!(kept.is_open_to(Some("ada")) && !kept.is_open_to(Some("bob")) && !kept.is_open_to(None));
    assert_eq!(words(&store, &thread, 0).await.unwrap(), ["a", "b", "e"]);
}

/// The same as often as it is read, another one for each addition, none once it has ended.
pub async fn each_addition_gives_a_conversation_another_version(store: Fresh) {
    let thread = some_thread();
    let version = async |now| store.thread_version(&thread, &chef(), after(now)).await.unwrap();
    assert_eq!(version(0).await, None);
    let mut seen = Vec::new();
    for (word, until) in [("a", 60), ("b", 60), ("c", 60), ("d", 90)] {
        let added = store.append_turns(&thread, &chef(), addition(turns([word]), 2, after(until))).await.unwrap();
        assert!(added.is_some() && !seen.contains(&added));
        assert_eq!(version(0).await, added);
        assert_eq!(store.thread(&thread, &chef(), start()).await.unwrap().map(|kept| kept.version), added);
        seen.push(added);
    }
    let strangers = ConversationAppend { owner: Some("bob".into()), ..addition(turns(["e"]), 2, after(90)) };
    let adas = ConversationAppend { owner: Some("ada".into()), ..strangers.clone() };
    let hers = store.append_turns(&thread, &chef(), adas).await.unwrap();
    assert_eq!(store.append_turns(&thread, &chef(), strangers).await.unwrap(), None);
    assert_eq!(version(89).await, hers);
    assert_eq!(version(90).await, None);
}

/// Every field of a turn reads back as it was.
pub async fn turns_read_back_as_they_were(store: Fresh) {
    let thread = some_thread();
    let turn: Turn = serde_json::from_value(json!({
        "role": "assistant",
        "sender": {"address": "@chef@demo.localhost", "auth_method": "none", "verified": false},
        "parts": [{"kind": "text", "mime": "text/markdown", "content": "**Soup** 🍲"}, {"kind": "data", "data": {"x": 1}}],
        "timestamp": "2026-01-01T00:00:00.123456789Z",
        "id": "m1",
    }))
    .unwrap();
    store.append_turns(&thread, &chef(), addition(vec![turn.clone()], 10, after(60))).await.unwrap();
    let kept = store.thread(&thread, &chef(), start()).await.unwrap().unwrap();
    assert_eq!(serde_json::to_value(kept.turns).unwrap(), serde_json::to_value(vec![turn]).unwrap());
}

/// A conversation has a bound in bytes: of turns of a megabyte the oldest go, and the newest always stays.
pub async fn a_conversation_has_a_bounded_size(store: Fresh) {
    let thread = some_thread();
    let huge = "x".repeat(1024 * 1024);
    append(&store, &thread, &[&huge, &huge, &huge, &huge, "a"], 100, 60).await;
    let kept = words(&store, &thread, 0).await.unwrap();
    assert!((2..5).contains(&kept.len()), "{}", kept.len());
    assert_eq!(kept.last().map(String::as_str), Some("a"));
    let one = "y".repeat(5 * 1024 * 1024);
    append(&store, &thread, &[&one], 100, 60).await;
    assert!(words(&store, &thread, 0).await.unwrap() == [one]);
}

/// A conversation expires unless an addition moves its end.
pub async fn a_conversation_expires_unless_it_goes_on(store: Fresh) {
    let thread = some_thread();
    append(&store, &thread, &["a"], 10, 60).await;
    assert!(words(&store, &thread, 59).await.is_some());
    assert_eq!(words(&store, &thread, 60).await, None);
    append(&store, &thread, &["b"], 10, 120).await;
    assert!(words(&store, &thread, 119).await.is_some());
    assert_eq!(words(&store, &thread, 120).await, None);
}

/// What two clients call by the same name, and a token that looks like it.
pub async fn a_name_of_two_owners_is_two_conversations(store: Fresh) {
    let token = some_thread();
    let named = |owner| ThreadId::adopt_for(owner, token.expose()).expect("a name");
    let nobodys = ThreadId::adopt(token.expose(), &Sender::anonymous().caller(None)).expect("a name");
    let (anns, bobs) = (named("ann"), named("bob"));
    for (thread, word) in [(&anns, "a"), (&bobs, "b"), (&nobodys, "n"), (&token, "t")] {
        append(&store, thread, &[word], 10, 60).await;
    }
    for (thread, word) in [(&anns, "a"), (&bobs, "b"), (&nobodys, "n"), (&token, "t")] {
        assert_eq!(words(&store, thread, 0).await.unwrap(), [word]);
    }
}
