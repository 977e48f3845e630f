//! REST 4, 4.1, 4.2, 4.4: which form an answer has, and what each form holds.

use forecourt_core::part::Data;
use forecourt_core::{Ending, Event, File, Link, Part, Question, ToolCall, ToolOutcome};
use serde_json::{Value, json};

use crate::support::{bot, done, echo, get, text};

#[tokio::test]
async fn s4_the_best_match_wins_and_nothing_acceptable_is_406() {
    let Some(bytes) = forecourt_testkit::vectors("accept/cases.json") else { return };
    let file: Value = serde_json::from_slice(&bytes).unwrap();
    let place = echo().await;
    for case in file["cases"].as_array().unwrap() {
        let accept = case["accept"].as_str().unwrap();
        let answer = place.ask("/~echo?user=hi", accept).await;
        match case["chosen"].as_str() {
            Some(mime) => {
                assert_eq!(answer.status, 200, "{accept:?}");
                assert!(answer.field("content-type").unwrap().starts_with(mime), "{accept:?}");
            }
            None => assert!(answer.status == 406 && !answer.body.is_empty(), "{accept:?}"),
        }
        answer.has_required_fields("@echo@demo.localhost");
    }
}

#[tokio::test]
async fn s4_without_accept_it_is_a_page() {
    let answer = echo().await.send(get("/~echo?user=hi")).await.is(200);
    assert_eq!(answer.field("content-type"), Some("text/html; charset=utf-8"));
}

#[tokio::test]
async fn s4_1_a_page_has_its_required_elements() {
    let place = bot(vec![
        text("| a |\n|---|\n| ~~b~~ |\n\n- [x] c\n\nhttps://a.example/\n\n<script>alert(1)</script>"),
        done(),
    ])
    .await;
    let answer = place.ask("/~bot?user=1%20%3C%202", "text/html").await.is(200);
    let page = answer.text();
    for element in [
        "<html lang=\"en\"",
        " · @bot@demo.localhost</title>",
        r#"<link rel="alternate" type="text/markdown" href="https://demo.localhost/~bot?user=1%20%3C%202">"#,
        r#"<link rel="alternate" type="application/json""#,
        r#"<meta name="mentionable:agent" content="@bot@demo.localhost">"#,
        r#"<meta name="robots" content="noindex, nofollow, noarchive">"#,
        "<article",
        "<table>",
        "<del>b</del>",
        r#"<a href="https://a.example/""#,
    ] {
        assert!(page.contains(element), "{element}\n{page}");
    }
    assert!(!page.contains("<script>"));
    let policy = answer.field("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src") && !policy.contains("script-src"), "{policy}");
    assert_eq!(answer.field("referrer-policy"), Some("no-referrer"));
}

#[tokio::test]
async fn s4_2_markdown_is_verbatim() {
    let words = " # a\r\n\n<b>&amp;</b>\u{202e} \n";
    let answer = bot(vec![text(words), done()]).await.ask("/~bot?user=a", "text/markdown").await.is(200);
    assert_eq!(answer.text(), words);
    assert_eq!(answer.field("content-type"), Some("text/markdown; charset=utf-8"));
    assert_eq!(answer.field("content-language"), Some("en"));
    assert_eq!(answer.field("cache-control"), Some("private, max-age=0"));
}

fn call(outcome: ToolOutcome) -> Event {
    Event::ToolCall(ToolCall { id: "c1".into(), name: "search".into(), args: json!({"q": "x"}), outcome })
}

fn everything() -> Vec<Event> {
    let link = Link { url: "https://a.example/".into(), title: Some("A".into()), description: None };
    vec![
        text("Hello"),
        call(ToolOutcome::Running),
        Event::Part(Part::Link(link)),
        Event::Part(Part::File(File::inline("image/png", Some("a.png".into()), "x".into()))),
        Event::Part(Part::Data(Data { data: json!({"n": 1}).into(), mime: None })),
        call(ToolOutcome::Result(json!({"hits": 3}))),
        text("!"),
        done(),
    ]
}

#[tokio::test]
async fn s4_4_json_is_the_whole_answer_in_parts() {
    let answer = bot(everything()).await.ask("/~bot?user=a", "application/json").await.is(200).json();
    assert_eq!(answer["v"], "v0.1");
    assert_eq!(answer["agent"], "@bot@demo.localhost");
    assert!(answer.get("session").is_none() && answer.get("policy").is_none());
    assert_eq!(
        answer["parts"],
        json!([
            {"kind": "text", "text": "Hello!", "content": "Hello!", "mime": "text/markdown"},
            {"kind": "tool_call", "id": "c1", "name": "search", "args": {"q": "x"}, "result": {"hits": 3}},
            {"kind": "link", "url": "https://a.example/", "title": "A"},
            {"kind": "file", "mime": "image/png", "name": "a.png", "size_bytes": 1,
             "bytes_ref": {"kind": "inline", "data": "eA=="}},
            {"kind": "data", "data": {"n": 1}},
        ])
    );
}

#[tokio::test]
async fn s4_2_the_body_is_the_words_and_nothing_else() {
    let answer = bot(everything()).await.ask("/~bot?user=a", "text/markdown").await.is(200);
    assert_eq!(answer.text(), "Hello!");
    assert_eq!(answer.field("link"), Some("<https://a.example/>; rel=\"related\"; title*=UTF-8''A"));
}

#[tokio::test]
async fn s4_1_the_page_shows_files_and_links_beside_the_words() {
    let page = bot(everything()).await.ask("/~bot?user=a", "text/html").await.is(200);
    for shown in ["Hello!", "href=\"https://a.example/\"", "a.png"] {
        assert!(page.text().contains(shown), "{shown} in {}", page.text());
    }
}

#[tokio::test]
async fn s4_2_where_an_agent_said_nothing_its_files_and_links_are_a_list() {
    let wordless = everything().into_iter().filter(|event| !matches!(event, Event::Text(_))).collect();
    let answer = bot(wordless).await.ask("/~bot?user=a", "text/markdown").await.is(200);
    assert!(
        answer.text().starts_with("- [A](<https://a.example/>)\n- a.png (image/png, 1 bytes)"),
        "{}",
        answer.text()
    );
}

#[tokio::test]
async fn a_question_and_a_message_are_answers_in_words() {
    let question = Question { text: "Which one?".into(), questions: vec![] };
    let place = bot(vec![text("Hm."), Event::Ending(Ending::Question(question))]).await;
    assert_eq!(place.ask("/~bot?user=a", "text/markdown").await.is(200).text(), "Hm.\n\nWhich one?");
    let parts = place.ask("/~bot?user=a", "application/json").await.is(200).json()["parts"].clone();
    assert_eq!(parts[1]["text"], "\n\nWhich one?", "the texts are joined by nothing: 5.3");
    assert!(place.ask("/~bot?user=a", "text/html").await.is(200).text().contains("Which one?"));
    let place = bot(vec![Event::Ending(Ending::Message("direct".into()))]).await;
    assert_eq!(place.ask("/~bot?user=a", "text/markdown").await.is(200).text(), "direct");
}

#[tokio::test]
async fn an_agent_that_fails_is_502_in_every_form() {
    for ending in [vec![text("half"), Event::Ending(Ending::failed("out of <eggs>"))], vec![text("half")]] {
        let place = bot(ending).await;
        let error = place.ask("/~bot?user=a", "application/json").await.is(502).json()["error"].clone();
        assert!(error.is_string() && !error.to_string().contains("half"));
        for accept in ["text/html", "text/markdown"] {
            let answer = place.ask("/~bot?user=a", accept).await.is(502);
            assert!(!answer.text().contains("half") && !answer.text().contains("<eggs>") || accept == "text/markdown");
            answer.has_required_fields("@bot@demo.localhost");
        }
    }
}
