//! Lists of tasks: whose, which, in what order, and how many at once. A2A `ListTasks`.

use std::time::Duration;

use forecourt_testkit::{ScriptedAgent, card};
use serde_json::{Value, json};

use crate::hub::answer::state;
use crate::hub::support::{InTurn, Place, Setup, alone, ask, bot, done, text};
use crate::hub::wire::{Op, Wire};

/// The wires that list: 0.3 has no method of its own for it over JSON-RPC, but its servers have one.
const LISTING: [Wire; 4] = Wire::ALL;

async fn list(place: &Place, wire: Wire, by: &str, params: Value) -> Value {
    wire.at(place).by(by).call(Op::List, params).await.result(wire)
}

fn ids(listing: &Value) -> Vec<&str> {
    listing["tasks"].as_array().into_iter().flatten().map(|task| task["id"].as_str().unwrap()).collect()
}

/// Begins a task a second later than the last. Gives its id.
async fn begin(place: &Place, by: &str, words: &str, context: &str) -> String {
    place.clock.advance(Duration::from_secs(1));
    let answer = Wire::Rpc10.at(place).by(by).says_with(words, json!({"contextId": context})).await;
    answer.task(Wire::Rpc10)["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn page_sizes_out_of_range_are_invalid() {
    let place = bot(vec![done()]).await;
    for wire in LISTING {
        for size in [0, 101, -1, 1_000_000] {
            wire.at(&place).by("ann").call(Op::List, json!({"pageSize": size})).await.is_fault(wire, -32602);
        }
        for size in [1, 100] {
            assert_eq!(list(&place, wire, "ann", json!({"pageSize": size})).await["pageSize"], size);
        }
    }
}

#[tokio::test]
async fn cursors_that_are_none_of_ours_are_invalid() {
    let place = bot(vec![done()]).await;
    for wire in LISTING {
        for token in ["x", "../..", "e30", "AAAA"] {
            let answer = wire.at(&place).by("ann").call(Op::List, json!({"pageToken": token})).await;
            answer.is_fault(wire, -32602);
            assert!(answer.text().contains("pageToken"), "{}", answer.text());
        }
        list(&place, wire, "ann", json!({"pageToken": ""})).await;
    }
}

#[tokio::test]
async fn filters_that_make_no_sense_are_invalid() {
    let place = bot(vec![done()]).await;
    for wire in LISTING {
        let cases =
            [json!({"status": "done"}), json!({"statusTimestampAfter": "yesterday"}), json!({"historyLength": -1})];
        for params in cases {
            wire.at(&place).by("ann").call(Op::List, params).await.is_fault(wire, -32602);
        }
    }
}

#[tokio::test]
async fn everybody_sees_their_own() {
    let place = bot(vec![text("hi"), done()]).await;
    let ann = begin(&place, "ann", "hi", "c").await;
    let bob = begin(&place, "bob", "hi", "c").await;
    let nobody = begin(&place, "", "hi", "c").await;
    for wire in LISTING {
        assert_eq!(ids(&list(&place, wire, "ann", json!({})).await), [&*ann]);
        assert_eq!(ids(&list(&place, wire, "bob", json!({})).await), [&*bob]);
        assert!(ids(&list(&place, wire, "eve", json!({})).await).is_empty());
        let own = list(&place, wire, "ann", json!({"contextId": "c"})).await;
        assert_eq!(ids(&own), [&*ann], "a shared name opens nothing");
        assert_eq!(ids(&list(&place, wire, "", json!({"contextId": "c"})).await), [&*nobody]);
    }
}

#[tokio::test]
async fn who_is_nobody_sees_only_the_conversation_that_it_names() {
    let place = bot(vec![text("hi"), done()]).await;
    let first = begin(&place, "", "hi", "c").await;
    begin(&place, "", "hi", "d").await;
    for wire in LISTING {
        let all = list(&place, wire, "", json!({})).await;
        assert!(ids(&all).is_empty(), "{all}");
        if wire.is_1_0() {
            assert_eq!(all, json!({"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}));
        }
        assert_eq!(ids(&list(&place, wire, "", json!({"contextId": "c"})).await), [&*first]);
        assert!(ids(&list(&place, wire, "", json!({"contextId": "nobody's"})).await).is_empty());
    }
}

#[tokio::test]
async fn pages_go_on_where_the_last_one_ended() {
    let place = bot(vec![text("hi"), done()]).await;
    let mut begun = Vec::new();
    for _ in 0..7 {
        begun.insert(0, begin(&place, "ann", "hi", "c").await);
    }
    for wire in Wire::V1_0 {
        let (mut seen, mut token) = (Vec::new(), String::new());
        for round in 0..4 {
            let params = json!({"pageSize": 2, "pageToken": token});
            let page = list(&place, wire, "ann", params).await;
            assert_eq!((&page["pageSize"], &page["totalSize"]), (&json!(2), &json!(7)));
            seen.extend(ids(&page).into_iter().map(str::to_owned));
            token = page["nextPageToken"].as_str().unwrap().to_owned();
            assert_eq!(token.is_empty(), round == 3, "empty on the last page");
        }
        assert_eq!(seen, begun, "the last moved first");
    }
}

#[tokio::test]
async fn tasks_of_one_moment_are_each_on_one_page() {
    let place = bot(vec![text("hi"), done()]).await;
    let mut begun = Vec::new();
    for _ in 0..5 {
        let task = Wire::Rpc10.at(&place).by("ann").says("hi").await.task(Wire::Rpc10);
        begun.push(task["id"].as_str().unwrap().to_owned());
    }
    begun.sort_unstable();
    for wire in Wire::V1_0 {
        let (mut seen, mut token) = (Vec::new(), String::new());
        for _ in 0..3 {
            let page = list(&place, wire, "ann", json!({"pageSize": 2, "pageToken": token})).await;
            seen.extend(ids(&page).into_iter().map(str::to_owned));
            token = page["nextPageToken"].as_str().unwrap().to_owned();
        }
        seen.sort_unstable();
        assert_eq!((seen, token.as_str()), (begun.clone(), ""));
    }
}

#[tokio::test]
async fn a_task_that_begins_between_two_pages_moves_nothing() {
    let place = bot(vec![text("hi"), done()]).await;
    let first = begin(&place, "ann", "hi", "c").await;
    let second = begin(&place, "ann", "hi", "c").await;
    let page = list(&place, Wire::Rpc10, "ann", json!({"pageSize": 1})).await;
    assert_eq!(ids(&page), [&*second]);
    begin(&place, "ann", "hi", "c").await;
    let next = list(&place, Wire::Rpc10, "ann", json!({"pageToken": page["nextPageToken"]})).await;
    assert_eq!(ids(&next), [&*first]);
}

#[tokio::test]
async fn a_cursor_shows_nobody_the_tasks_of_others() {
    let place = bot(vec![text("hi"), done()]).await;
    for _ in 0..3 {
        begin(&place, "ann", "hi", "c").await;
    }
    let page = list(&place, Wire::Rpc10, "ann", json!({"pageSize": 1})).await;
    let stolen = json!({"pageToken": page["nextPageToken"]});
    for by in ["bob", ""] {
        let answer = Wire::Rpc10.at(&place).by(by).call(Op::List, stolen.clone()).await;
        assert!(!answer.text().contains("contextId"), "{}", answer.text());
    }
}

#[tokio::test]
async fn lists_are_filtered_by_conversation_state_and_time() {
    let place = alone(InTurn::of([vec![ask("Which?")], vec![text("hi"), done()]])).await;
    let waiting = begin(&place, "ann", "hi", "c").await;
    let middle = begin(&place, "ann", "hi", "c").await;
    let moment = place.host.clock().now().to_string();
    let last = begin(&place, "ann", "hi", "d").await;
    for wire in LISTING {
        let completed = if wire == Wire::Rpc03 { "completed" } else { "TASK_STATE_COMPLETED" };
        let asked = if wire == Wire::Rpc03 { "input-required" } else { "TASK_STATE_INPUT_REQUIRED" };
        let cases = [
            (json!({"contextId": "c"}), vec![&middle, &waiting]),
            (json!({"status": completed}), vec![&last, &middle]),
            (json!({"status": asked}), vec![&waiting]),
            (json!({"statusTimestampAfter": moment}), vec![&last, &middle]),
            (json!({"contextId": "c", "status": completed}), vec![&middle]),
            (json!({"contextId": "other"}), vec![]),
        ];
        for (params, expected) in cases {
            let listing = list(&place, wire, "ann", params.clone()).await;
            assert_eq!(ids(&listing), expected, "{wire:?} {params}");
        }
    }
}

#[tokio::test]
async fn artifacts_and_history_are_listed_when_asked_for() {
    let place = bot(vec![text("made"), done()]).await;
    begin(&place, "ann", "hi", "c").await;
    for wire in LISTING {
        let plain = list(&place, wire, "ann", json!({})).await;
        assert_eq!(plain["tasks"][0].get("artifacts"), None, "{plain}");
        assert_eq!(state(&plain["tasks"][0]), "completed");
        let full = list(&place, wire, "ann", json!({"includeArtifacts": true, "historyLength": 0})).await;
        assert!(full["tasks"][0]["artifacts"].to_string().contains("made"), "{full}");
        assert_eq!(full["tasks"][0].get("history"), None);
    }
}

#[tokio::test]
async fn the_endpoint_of_an_agent_lists_its_own() {
    let setup = Setup::default()
        .with(card("chef"), ScriptedAgent::saying(["a"]))
        .with(card("gate"), ScriptedAgent::saying(["b"]));
    let place = setup.start().await;
    let chef = begin(&place, "ann", "hi", "c").await;
    let gate = begin(&place, "ann", "@gate hi", "c").await;
    for wire in LISTING {
        let at = async |base| {
            let answer = wire.at(&place).to(base).by("ann").call(Op::List, json!({})).await;
            ids(&answer.result(wire)).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(at("/a2a").await, [&*gate, &*chef]);
        assert_eq!(at("/a2a/gate").await, [&*gate]);
        assert_eq!(at("/a2a/chef").await, [&*chef]);
    }
}
