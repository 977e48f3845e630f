//! `search` with a model that sharpens it, against a scripted server: what it is asked, and what its help comes
//! to.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use forecourt_core::reply::collect;
use forecourt_core::{Ending, Event, Findings, FindingsDetail, Message, Role, SearchOptions, Turn};
use futures::{FutureExt, StreamExt};
use serde_json::json;
use tokio::sync::Notify;

use crate::support::provider::{Server, raw, says, stop, text};
use crate::support::reranked::*;
use crate::support::{ask, ask_after, build, problems};

#[tokio::test]
async fn a_page_is_told_the_summary_sentence_by_sentence() {
    let server = Server::answering(|asked| match step(asked) {
        "summary" => raw(&[
            says("One is best [1]. "),
            says("Two is slow [2]. "),
            says("Three is hot [3]. "),
            says("Four is not [4]."),
            stop("stop"),
        ]
        .concat()),
        _ => helpful(asked),
    })
    .await;
    let (_folder, _, built) = reranked(&soups(12), &server.url, "");
    let said = async |findings: FindingsDetail| {
        let search = SearchOptions { findings, ..SearchOptions::default() };
        let message = Message { search, ..wishing("soup") };
        let told: Vec<Event> = crate::support::stream(&built, message).await.collect().await;
        let told = told.iter().filter_map(|event| match event {
            Event::Findings(findings) => Some(findings),
            _ => None,
        });
        let mut sentences: Vec<usize> = told.map(|findings| findings.summary.matches("[[").count()).collect();
        sentences.dedup();
        sentences
    };
    let told = said(FindingsDetail::Facets).await;
    assert!(told.len() > 2 && told.is_sorted() && told.ends_with(&[4]), "{told:?}");
    assert_eq!(said(FindingsDetail::Summary).await, [0, 4], "others are told it once");
}

fn scores(told: &Findings) -> Vec<f32> {
    told.items.iter().map(|item| item.score).collect()
}

#[tokio::test]
async fn items_are_ranked_explained_and_summed_up() {
    let mut server = Server::answering(helpful).await;
    let (_folder, _, built) = reranked(&soups(12), &server.url, "");
    let answer = answer(&built, wishing("soup")).await;
    assert_eq!(answer.ending, Ending::Complete);
    assert_eq!(names(&answer), ["Dish 11", "Dish 10", "Dish 09", "Dish 08"]);
    let said = answer.text();
    for wanted in [
        "Best match: **[Dish 11](https://r.example/11)**",
        "\n4. **[Dish 08]",
        "Why: Because it is Dish 11.",
        "The first one is best [[1]](https://r.example/11). It takes some time [[2]](https://r.example/10).",
    ] {
        assert!(said.contains(wanted), "{wanted}\n{said}");
    }
    let told = findings(&answer);
    assert_eq!((scores(&told), told.count, told.more), (vec![51.0, 50.0, 49.0, 48.0], 4, true));
    assert_eq!(told.items[3].reason.as_ref().unwrap().why, "Because it is Dish 08.");
    assert_eq!(
        told.summary,
        "The first one is best [[1]](https://r.example/11). It takes some time [[2]](https://r.example/10)."
    );
    assert_eq!(told.notes, ["A language model put the items in their order."]);
    assert_eq!(told.decontextualized.as_deref(), Some("soup with things"));
    let asked = server.all();
    let mut steps: Vec<&str> = asked.iter().map(step).collect();
    steps.sort_unstable();
    assert_eq!(steps, ["rank", "rank", "rewrite", "summary"], "twelve items are two windows");
    let first = &asked[0];
    assert_eq!((&first["model"], &first["temperature"], &first["stream"]), (&json!("tiny"), &json!(0.0), &json!(true)));
    assert_eq!(first["response_format"]["json_schema"]["strict"], true);
    assert!(asked.last().unwrap().get("response_format").is_none(), "a summary is prose");
}

/// The first window holds one that is good, the second one that is better: nothing goes out before both are judged.
#[tokio::test]
async fn the_order_is_the_models_over_all_windows() {
    let second = Arc::new(Notify::new());
    let waits = second.clone();
    let server = Server::answering_later(move |asked| match step(asked) {
        "rank" if data(asked)["entries"][0]["n"] == 1 => {
            std::future::ready(judged(asked, |entry| if number(entry) == 3 { 75 } else { 5 })).boxed()
        }
        "rank" => {
            let (waits, response) = (waits.clone(), judged(asked, |entry| 80 + number(entry)));
            async move {
                waits.notified().await;
                response
            }
            .boxed()
        }
        _ => std::future::ready(helpful(asked)).boxed(),
    })
    .await;
    let (_folder, _, built) = reranked(&soups(14), &server.url, "rank_seconds = 60\ntotal_seconds = 60\n");
    let mut events = crate::support::stream(&built, wishing("soup")).await;
    let first = events.next();
    futures::pin_mut!(first);
    assert!(futures::poll!(&mut first).is_pending(), "nothing is told before every window is judged");
    second.notify_one();
    let Some(Event::Findings(told)) = first.await else { panic!("findings come first") };
    assert_eq!((told.count, told.items.len(), told.summary.as_str()), (4, 4, ""), "a summary follows");
    assert!(told.notes.iter().any(|note| note.contains("language model")), "{:?}", told.notes);
    let rest = collect(events).await;
    assert_eq!(names(&rest), ["Dish 13", "Dish 12", "Dish 11", "Dish 10"]);
}

/// A model that words a question as another one.
#[tokio::test]
async fn a_wording_that_loses_the_questions_words_is_not_used() {
    let server = Server::answering(|asked| match step(asked) {
        "rewrite" => text(r#"{"question": "a hearty winter pleasure", "also": ["things"]}"#),
        _ => helpful(asked),
    })
    .await;
    let (_folder, _, built) = reranked(&soups(3), &server.url, "rank = 0\nsummary = false\n");
    let answer = answer(&built, wishing("soup")).await;
    let told = findings(&answer);
    assert!(told.notes.iter().any(|note| note.contains("lost the question's own words")), "{:?}", told.notes);
    assert_eq!(told.decontextualized, None);
}

#[tokio::test]
async fn who_asks_the_same_is_answered_from_what_is_kept() {
    let mut server = Server::answering(helpful).await;
    let (_folder, _, built) = reranked(&soups(12), &server.url, "");
    let first = answer(&built, wishing("soup")).await;
    assert_eq!(server.all().len(), 4);
    assert_eq!(answer(&built, wishing("soup")).await, first);
    assert_eq!(server.all().len(), 0);
    let unrecorded = || Message { unrecorded: true, ..wishing("soup") };
    assert_eq!(answer(&built, unrecorded()).await, first);
    assert_eq!(answer(&built, unrecorded()).await, first);
    assert_eq!(server.all().len(), 8, "of what nobody may remember nothing is kept, and nothing taken");
    answer(&built, wishing("soup with things")).await;
    assert!(!server.all().is_empty());
}

#[tokio::test]
async fn those_who_ask_the_same_at_once_share_a_call() {
    let go = Arc::new(Notify::new());
    let waits = go.clone();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let server = Server::answering_later(move |asked| {
        count.fetch_add(1, Ordering::Relaxed);
        let (waits, response) = (waits.clone(), helpful(asked));
        async move {
            waits.notified().await;
            response
        }
        .boxed()
    })
    .await;
    let (_folder, _, built) =
        reranked(&soups(3), &server.url, "rewrite = false\nsummary = false\nrank_seconds = 60\ntotal_seconds = 60\n");
    let (one, two) = (answer(&built, wishing("soup")), answer(&built, wishing("soup")));
    let opening = async {
        while asked.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        go.notify_one();
    };
    let (one, two, ()) = tokio::join!(one, two, opening);
    assert_eq!((one, asked.load(Ordering::Relaxed)), (two, 1));
}

#[tokio::test]
async fn a_follow_up_is_made_a_question_of_its_own() {
    let mut server = Server::answering(|asked| match step(asked) {
        "rewrite" => text("```json\n{\"question\": \"soup under 13 minutes\", \"also\": [\"broth\"]}\n```"),
        _ => helpful(asked),
    })
    .await;
    let (_folder, _, built) = reranked(&soups(12), &server.url, "");
    let history = vec![Turn::text(Role::User, "soup"), Turn::text(Role::Assistant, "Dish 00.")];
    let answer = ask_after(&built, history, "which would be done before my train leaves in 13 minutes, please?").await;
    assert_eq!(names(&answer), ["Dish 02", "Dish 01", "Dish 00"], "{}", answer.text());
    assert!(answer.text().contains("Limits: 13 minutes or less"), "{}", answer.text());
    let asked = data(&server.all()[0]);
    assert_eq!(asked["before"][0], json!({"who": "visitor", "said": "soup"}));
    assert!(asked["question"].as_str().unwrap().contains("my train"));
}

#[tokio::test]
async fn other_words_find_what_the_question_does_not() {
    let server = Server::answering(|asked| match step(asked) {
        "rewrite" => text(r#"{"question": "pottage", "also": ["soup"]}"#),
        _ => helpful(asked),
    })
    .await;
    let (_folder, _, built) = reranked(&soups(5), &server.url, "");
    assert_eq!(names(&ask(&built, "zzpottage").await), ["Dish 04", "Dish 03", "Dish 02", "Dish 01"]);
}

#[tokio::test]
async fn more_goes_on_in_the_same_order() {
    let server = Server::answering(helpful).await;
    let (_folder, _, built) = reranked(&soups(14), &server.url, "rank = 8\n");
    let asked = |count: usize| {
        let turns = std::iter::once("soup").chain(std::iter::repeat_n("more", count));
        turns.map(|turn| Turn::text(Role::User, turn)).collect::<Vec<_>>()
    };
    let first = names(&ask(&built, "soup").await);
    assert_eq!(first, ["Dish 07", "Dish 06", "Dish 05", "Dish 04"]);
    let second = ask_after(&built, asked(0), "more").await;
    assert_eq!(names(&second), ["Dish 03", "Dish 02", "Dish 01", "Dish 00"]);
    assert!(second.text().starts_with("Soups 5 to 8") && second.text().contains("\n5. "), "{}", second.text());
    let third = ask_after(&built, asked(1), "more").await;
    assert_eq!(names(&third), ["Dish 08", "Dish 09", "Dish 10", "Dish 11"], "what is not ranked is as it was found");
    let fourth = ask_after(&built, asked(2), "more").await;
    assert_eq!(names(&fourth), ["Dish 12", "Dish 13"]);
    assert!(ask_after(&built, asked(3), "more").await.text().contains("That was all"));
}

#[tokio::test]
async fn who_wishes_for_items_alone_gets_no_summary() {
    let mut server = Server::answering(helpful).await;
    let (_folder, _, built) = reranked(&soups(3), &server.url, "");
    let mut alone = wishing("soup");
    alone.search.list_only = true;
    let told = findings(&answer(&built, alone).await);
    assert!(told.summary.contains("3 soups match") && told.notes.len() == 1, "{told:?}");
    assert!(server.all().iter().all(|asked| step(asked) != "summary"));
}

#[tokio::test]
async fn nothing_is_asked_of_a_model_when_nothing_was_found_or_asked() {
    let mut server = Server::answering(helpful).await;
    let (_folder, _, built) = reranked(&soups(3), &server.url, "rewrite = false\n");
    assert!(ask(&built, "zzz").await.text().contains("I found no soups"));
    assert!(ask(&built, "hello").await.text().contains("I am **Agent**"));
    assert_eq!(server.all().len(), 0);
}

#[test]
fn settings_are_checked() {
    let with = |more: &str| settings("http://127.0.0.1:1/v1", more);
    for (toml, wanted) in [
        (settings("127.0.0.1", ""), "`base_url` must be an absolute"),
        (with("rank = 101\n"), "`rank` must be between 0 and 100"),
        (with("tokens = 0\n"), "`tokens` must be between 1 and"),
        (with("rank_seconds = 61\n"), "`rank_seconds` must be between 1 and 60"),
        (with("rank_seconds = 9\n"), "must not be more than `total_seconds`"),
        (with("cache_minutes = 1441\n"), "`cache_minutes` must be between 0 and 1440"),
        (with("temperature = 3.0\n"), "between 0 and 2"),
        (with("body = { response_format = 1 }\n"), "`response_format` is set by the backend"),
        (with("sumary = true\n"), "did you mean `summary`?"),
        (
            with("").replace("item_label = \"soups\"", "item_label = \"\"").replace("base_url", "base_uri"),
            "`item_label` is a word",
        ),
    ] {
        let said = problems(&toml);
        assert!(said.contains(wanted), "{said}");
    }
    build(
        &with("rank = 100\ncache_minutes = 1440\nrank_seconds = 60\ntotal_seconds = 60\n"),
        &crate::support::context(),
    );
}
