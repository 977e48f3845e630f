//! What happened, searched and followed: by names, ids and states, page by page, and never by what was said.

use std::collections::BTreeSet;

use forecourt_audit::{AUDIT_BATCH_MAX, AUDIT_STREAM, AuditOutcome, AuditRecord, RequestOrigin};
use forecourt_core::store::LedgerEntry;
use forecourt_core::{AnswerUsage, Role, Store, Task, ThreadId, Timestamp, Turn};
use forecourt_store::reference;
use forecourt_testkit::store_suite::{addition, handle, some_task, some_thread};
use serde_json::{Value, json};

use crate::desk::{Console, SECOND};

/// What nobody may find by what was said.
const SAID: &str = "xylophone";

fn record(at: Timestamp, who: &str, outcome: AuditOutcome, state: Option<&str>, request: &str) -> AuditRecord {
    AuditRecord {
        at,
        agent: handle("echo"),
        who: who.to_owned(),
        rule: "door".to_owned(),
        kind: "consent".to_owned(),
        outcome,
        state: state.map(str::to_owned),
        origin: RequestOrigin { request: Some(request.to_owned()), transport: Some("a2a".to_owned()), decider: None },
        usage: AnswerUsage::default(),
        dropped: 0,
    }
}

impl Console {
    async fn writes(&self, records: &[AuditRecord]) {
        let entry = LedgerEntry::new(serde_json::to_value(records).unwrap(), self.now());
        self.store.append_entry(AUDIT_STREAM, entry, None).await.unwrap();
    }

    async fn keeps_task(&self, owner: &str, thread: Option<ThreadId>, request: &str) -> Task {
        let (now, turn) = (self.now(), Turn::text(Role::User, format!("tell me of the {SAID}")));
        let task = Task {
            agent: handle("echo"),
            owner: Some(owner.to_owned()),
            thread,
            received_via: "a2a".to_owned(),
            turns: vec![Turn { id: Some(request.to_owned()), ..turn }],
            trace: Some("4bf92f3577b34da6a3ce929d0e0e4736".to_owned()),
            created_at: now,
            updated_at: now,
            expires_at: now + 3_600 * SECOND,
            ..some_task()
        };
        self.store.create_task(task.clone(), Vec::new()).await.unwrap();
        task
    }

    async fn finds(&self, query: &str) -> Vec<Value> {
        let (status, told) = self.asks(&format!("/api/v1/search?{query}")).await;
        assert_eq!(status, 200, "{query}: {told}");
        told["hits"].as_array().unwrap().clone()
    }
}

/// A console where some things happened, a second apart.
async fn eventful() -> (Console, Task) {
    let console = Console::open().await;
    let thread = some_thread();
    console.writes(&[record(console.now(), "ann@a.example", AuditOutcome::Issued, Some("0a1b2c3d"), "m-0")]).await;
    console.advance(SECOND);
    let task = console.keeps_task("ann@a.example", Some(thread.clone()), "m-1").await;
    console.advance(SECOND);
    let at = console.now();
    let batch = [
        record(at, "ann@a.example", AuditOutcome::Resumed, Some("0a1b2c3d"), "m-1"),
        record(at, "<script>alert(1)</script>", AuditOutcome::Refused, None, "m-2"),
        record(at, "=cmd|' /C calc'", AuditOutcome::Used, None, "m-1"),
    ];
    console.writes(&batch).await;
    console.advance(SECOND);
    console.keeps_task("ann@a.example", Some(thread.clone()), "m-3").await;
    let kept = console.now() + forecourt_core::limits::THREAD_TTL;
    let said = addition(vec![Turn::text(Role::User, SAID)], 9, kept);
    console.store.append_turns(&thread, &handle("echo"), said).await.unwrap();
    (console, task)
}

#[tokio::test]
async fn everything_is_found_once_in_the_order_of_time_however_small_the_pages_are() {
    let (console, _) = eventful().await;
    let all = console.finds("").await;
    let kinds: Vec<&str> = all.iter().filter_map(|hit| hit["kind"].as_str()).collect();
    assert_eq!(kinds.len(), 7, "{kinds:?}");
    for limit in 1..8 {
        let (mut cursor, mut seen) = (String::new(), Vec::new());
        for _ in 0..10 {
            let (_, told) = console.asks(&format!("/api/v1/search?limit={limit}{cursor}")).await;
            seen.extend(told["hits"].as_array().unwrap().clone());
            let Some(next) = told["next"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(seen.len(), all.len(), "pages of {limit}");
        let names = |hits: &[Value]| hits.iter().map(Value::to_string).collect::<BTreeSet<_>>();
        assert_eq!(names(&seen), names(&all), "pages of {limit}");
        let times: Vec<Timestamp> = seen.iter().map(|hit| hit["at"].as_str().unwrap().parse().unwrap()).collect();
        assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
    }
}

#[tokio::test]
async fn what_is_searched_for_is_found_by_who_kind_time_and_words_and_not_by_what_was_said() {
    let (console, task) = eventful().await;
    let count = async |query: &str| console.finds(query).await.len();
    assert_eq!(count("kind=task").await, 2);
    assert_eq!(count("kind=refusal,usage").await, 2);
    assert_eq!(count("who=ANN").await, 4);
    assert_eq!(count("agent=%40echo&kind=step").await, 2);
    assert_eq!(count("agent=other").await, 0);
    assert_eq!(count("text=0a1b2c3d").await, 2);
    assert_eq!(count("text=ann+door+resumed").await, 1);
    assert_eq!(count(&format!("text={}", reference(&task.id))).await, 1);
    let (begun, end) = (task.created_at, task.created_at + SECOND);
    assert_eq!(count(&format!("since={begun}&until={end}&kind=task")).await, 1);
    assert_eq!(count(&format!("until={begun}")).await, 1, "the first record");
    let conversation = &console.finds("kind=conversation").await[0];
    assert_eq!(conversation["at"], json!(console.now()));
    let name = conversation["conversation"].as_str().unwrap();
    assert_eq!(count(&format!("text={name}")).await, 3, "with its tasks");
    // Ids that open something, and what was said, are neither found nor told.
    assert_eq!(count(&format!("text={SAID}")).await, 0);
    let (_, all) = console.asks("/api/v1/search").await;
    assert!(!all.to_string().contains(SAID) && !all.to_string().contains(task.id.expose()), "{all}");
}

#[tokio::test]
async fn a_search_that_makes_no_sense_is_refused_in_words() {
    let console = Console::open().await;
    let at_the_bound = "x".repeat(200);
    assert_eq!(console.asks(&format!("/api/v1/search?text={at_the_bound}")).await.0, 200);
    for (query, told) in [
        (format!("text={at_the_bound}x"), "at most 200 characters"),
        (format!("who={}", "x".repeat(10_000)), "at most 200 characters"),
        ("kind=secret".to_owned(), "is no kind"),
        ("since=2026-12-02&until=2026-12-01".to_owned(), "not before"),
        ("since=2026-12-01T00:00:00Z&until=2026-12-01T00:00:00Z".to_owned(), "not before"),
        ("since=yesterday".to_owned(), "is a day"),
        ("cursor=1.2".to_owned(), "is none that a search gave"),
        (format!("cursor={}", "9".repeat(5_000)), "is none that a search gave"),
        ("limit=201".to_owned(), "from 1 to 200"),
        ("words=x".to_owned(), "no parameter"),
    ] {
        let (status, refused) = console.asks(&format!("/api/v1/search?{query}")).await;
        assert_eq!(status, 400, "{query}");
        assert!(refused["error"].as_str().unwrap().contains(told), "{query}: {refused}");
    }
    // A cursor of another search, or one that was made up, only begins elsewhere.
    let (status, told) = console.asks("/api/v1/search?cursor=0.0_0.7_1.1_18446744073709551615.9_7.7_x").await;
    assert_eq!((status, told["hits"].as_array().map(Vec::len)), (200, Some(0)), "{told}");
}

#[tokio::test]
async fn words_of_callers_are_text_on_pages_and_a_house_without_history_says_so() {
    let (console, task) = eventful().await;
    let viewer = console.log_in(&["staff"]).await;
    let name = reference(&task.id);
    for path in ["/console/search", "/console/search?text=%3Cscript%3E&kind=refusal", &format!("/console/tasks/{name}")]
    {
        let page = console.get(path, &[&viewer]).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(!page.body.contains("<script>alert"), "{path}");
        assert!(page.body.len() < 100_000 && !page.body.contains(task.id.expose()), "{path}");
    }
    let found = console.get("/console/search?kind=refusal", &[&viewer]).await.body;
    assert!(found.contains("alert(1)") && !found.contains(SAID), "{found}");
    let quiet = Console::open().await;
    let page = quiet.get("/console/search", &[&quiet.with_token().await]).await.body;
    assert!(page.contains("Nothing of this kind is kept.") && !page.contains(">More<"), "{page}");
}

#[tokio::test]
async fn what_fits_little_is_looked_for_a_bounded_part_at_a_time() {
    let console = Console::open().await;
    console.writes(&[record(console.now(), "needle", AuditOutcome::Refused, None, "m")]).await;
    console.advance(3_600 * SECOND);
    let hay = vec![record(console.now(), "hay", AuditOutcome::Refused, None, "m"); AUDIT_BATCH_MAX];
    // Some more than a page looks at, which looks at whole entries of several at once.
    for _ in 0..70 {
        console.writes(&hay).await;
    }
    let (_, first) = console.asks("/api/v1/search?who=needle").await;
    assert_eq!(first["hits"], json!([]));
    assert!(first["looked_back_to"].is_string(), "{first}");
    let next = first["next"].as_str().unwrap();
    let (_, second) = console.asks(&format!("/api/v1/search?who=needle&cursor={next}")).await;
    assert_eq!((second["hits"].as_array().unwrap().len(), &second["next"]), (1, &Value::Null), "{second}");
    // A span before it is gone to at once.
    let until = console.now() - 1_800 * SECOND;
    assert_eq!(console.finds(&format!("who=needle&until={until}")).await.len(), 1);
}

#[tokio::test]
async fn a_task_is_followed_to_its_requests_issuances_models_and_neighbours() {
    let (console, task) = eventful().await;
    console.writes(&[record(console.now(), "ann@a.example", AuditOutcome::Used, None, "m-1")]).await;
    let path = format!("/api/v1/tasks/{}/history", reference(&task.id));
    let (status, told) = console.asks(&path).await;
    assert_eq!(status, 200, "{told}");
    assert_eq!((&told["trace"], &told["requests"]), (&json!("4bf92f3577b34da6a3ce929d0e0e4736"), &json!(["m-1"])));
    let outcomes: Vec<_> = told["records"].as_array().unwrap().iter().map(|hit| hit["outcome"].clone()).collect();
    assert_eq!(outcomes, ["issued", "resumed"], "what was asked for before, by the state that it came back with");
    assert_eq!((told["usage"].as_array().unwrap().len(), &told["is_whole"]), (1, &json!(true)));
    let related = &told["related"][0];
    assert_eq!((&related["relation"], &related["agent"]), (&json!("same_conversation"), &json!("echo")));
    assert!(!told.to_string().contains(SAID) && !told.to_string().contains(task.id.expose()), "{told}");
    assert_eq!(console.asks("/api/v1/tasks/0000000000000000/history").await.0, 404);
}

#[tokio::test]
async fn a_task_is_not_told_what_others_did_under_the_same_id_of_a_message() {
    let console = Console::open().await;
    let long = "a".repeat(300);
    let (ann, bob) = (console.keeps_task(&long, None, "1").await, console.keeps_task("bob", None, "1").await);
    let mut rest = record(console.now(), "bob", AuditOutcome::Refused, Some("0000000d"), "1");
    rest.origin.transport = Some("mentionable".to_owned());
    let batch = [
        record(console.now(), &long[..256], AuditOutcome::Resumed, Some("0000000a"), "1"),
        record(console.now(), "bob", AuditOutcome::Resumed, Some("0000000b"), "1"),
        record(console.now(), "", AuditOutcome::Refused, Some("0000000c"), "1"),
        rest,
    ];
    console.writes(&batch).await;
    for (task, own) in [(ann, "0000000a"), (bob, "0000000b")] {
        let (_, told) = console.asks(&format!("/api/v1/tasks/{}/history", reference(&task.id))).await;
        let states: Vec<_> = told["records"].as_array().unwrap().iter().map(|hit| hit["state"].clone()).collect();
        assert_eq!(states, [own], "{told}");
    }
}

#[tokio::test]
async fn a_search_takes_a_place_and_a_task_is_shown_without_its_history_where_there_is_none() {
    let (console, task) = eventful().await;
    let (cookie, name) = (console.with_token().await, reference(&task.id));
    let (page, history) = (format!("/console/tasks/{name}"), format!("/api/v1/tasks/{name}/history"));
    let mut places = Vec::new();
    for _ in 0..8 {
        assert_eq!((console.asks("/api/v1/search").await.0, console.asks(&history).await.0), (200, 200));
        places.push(console.tries_out().await);
    }
    assert_eq!((console.asks("/api/v1/search").await.0, console.asks(&history).await.0), (503, 503));
    let shown = console.get(&page, &[&cookie]).await;
    assert!(shown.status == 200 && shown.body.contains("It can&#39;t be looked at"), "{}", shown.body);
    places.pop();
    assert_eq!(console.asks("/api/v1/search").await.0, 200);
    assert!(console.get(&page, &[&cookie]).await.body.contains("payments on its way"));
}
