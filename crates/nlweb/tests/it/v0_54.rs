//! The older dialect, and the flat form in which its clients ask. Design 24.

use forecourt_core::{Ending, Event, Findings};
use serde_json::{Value, json};

use crate::support::*;

fn old(more: Value) -> Value {
    let body = json!({"query": {"text": "soup"}, "prefer": {"streaming": false}, "meta": {"api_version": "0.54"}});
    merged(body, more)
}

#[tokio::test(start_paused = true)]
async fn the_version_or_the_format_shows_an_old_client() {
    let place = bot(found(&["Pea"])).await;
    for body in [
        old(json!({})),
        old(json!({"meta": {"version": "0.54"}})),
        old(json!({"meta": {}, "prefer": {"streaming": false, "response_format": "conv_search"}})),
    ] {
        let meta = place.ask(body).await.json()["_meta"].clone();
        assert_eq!(
            (&meta["response_type"], &meta["version"], &meta["response_format"]),
            (&json!("Answer"), &json!("0.54"), &json!("conv_search"))
        );
    }
    let both = json!({"meta": {"version": "0.55"}, "prefer": {"response_format": "conv_search"}});
    assert_eq!(place.ask(old(both)).await.json()["_meta"]["version"], "0.55");
}

#[tokio::test(start_paused = true)]
async fn items_have_an_id_a_site_and_a_score() {
    let place = bot(found(&["Pea", "Leek"])).await;
    let prefer = json!({"streaming": false, "mode": "list, summarize"});
    let results = place.ask(old(json!({ "prefer": prefer }))).await.json()["results"].clone();
    assert_eq!((&results[0]["@type"], &results[0]["text"]), (&json!("Summary"), &json!("2 soups match.")));
    assert_eq!(
        (&results[1]["@id"], &results[1]["site"], &results[1]["score"]),
        (&json!("https://soups.example/Pea"), &json!("bot"), &json!(9.5))
    );
    for item in results.as_array().unwrap() {
        assert!(item["@id"].is_string() && item["site"].is_string() && item["score"].is_number(), "{item}");
    }
}

#[tokio::test(start_paused = true)]
async fn frames_have_no_names_and_streaming_is_on_by_default() {
    let place = bot(found(&["Pea", "Leek"])).await;
    let answer = place.ask(old(json!({"prefer": {}}))).await;
    assert_eq!(answer.field("content-type"), "text/event-stream");
    assert!(!answer.text.contains("event:"));
    let events = answer.events();
    assert_eq!(events[0].1["_meta"]["response_type"], "Answer");
    assert_eq!(events[1].1["results"][0]["name"], "Pea");
    assert_eq!(events[2].1["results"][0]["name"], "Leek");
    let json_only = post("/ask").header("accept", "application/json");
    let answer = place.send(json_only, old(json!({"prefer": {}})).to_string()).await;
    assert_eq!(answer.field("content-type"), "application/json");
}

#[tokio::test(start_paused = true)]
async fn answers_can_be_bounded() {
    let place = bot(found(&["Pea", "Leek", "Corn"])).await;
    for query in [json!({"text": "x", "max_results": 2}), json!({"text": "x", "num_results": "2"})] {
        let results = place.ask(old(json!({ "query": query }))).await.json()["results"].clone();
        assert_eq!(results.as_array().map(Vec::len), Some(2));
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_is_paged_through_by_where_it_starts() {
    let place = bot(found(&["Pea", "Leek", "Corn", "Rice"])).await;
    let names = |answer: Value| -> Vec<String> {
        let results = answer["results"].as_array().cloned().unwrap_or_default();
        results.iter().map(|item| item["name"].as_str().unwrap_or_default().to_owned()).collect()
    };
    for path in [
        "/ask?query=soup&streaming=false&max_results=2&start_num=1",
        "/~bot/ask?query=soup&streaming=0&num_results=2&start_num=1",
    ] {
        assert_eq!(names(place.send(request("GET", path), "").await.json()), ["Leek", "Corn"], "{path}");
    }
    let flat = json!({"query": "soup", "streaming": false, "max_results": 2, "start_num": 2});
    assert_eq!(names(place.ask(flat).await.json()), ["Corn", "Rice"]);
    let in_address = post("/ask?start_num=3");
    assert_eq!(names(place.send(in_address, old(json!({})).to_string()).await.json()), ["Rice"]);
    let behind = place.send(request("GET", "/ask?query=soup&streaming=false&start_num=4"), "").await;
    assert_eq!(behind.json()["error"]["code"], "NO_RESULTS");
    for wrong in ["-1", "1001", "x"] {
        let path = format!("/ask?query=soup&streaming=false&start_num={wrong}");
        assert_eq!(place.send(request("GET", &path), "").await.status.as_u16(), 400, "{wrong}");
    }
    let most = place.send(request("GET", "/ask?query=soup&streaming=false&start_num=1000"), "").await;
    assert_eq!(most.status.as_u16(), 200);
}

#[tokio::test(start_paused = true)]
async fn pages_are_asked_for_as_the_front_end_of_0_54_does() {
    let place = bot(found(&["Pea", "Leek", "Corn", "Rice", "Beet"])).await;
    let names = async |query: Value, meta: Value| -> Vec<String> {
        let query = merged(json!({"text": "soup"}), query);
        let meta = merged(json!({"api_version": "0.54"}), meta);
        let answer = place.ask(old(json!({"query": query, "meta": meta}))).await.json();
        let results = answer["results"].as_array().cloned().unwrap_or_default();
        results.iter().map(|item| item["name"].as_str().unwrap_or_default().to_owned()).collect()
    };
    // Fifty are looked at, and two of them shown: on the first page, and behind it.
    let first = names(json!({"max_results": 2, "num_results": 50}), json!({})).await;
    assert_eq!(first, ["Pea", "Leek"]);
    let second = names(json!({"max_results": 2, "num_results": 50}), json!({"start_num": 2})).await;
    assert_eq!(second, ["Corn", "Rice"]);
    assert_eq!(names(json!({}), json!({"max_results": 1, "num_results": 50, "start_num": 4})).await, ["Beet"]);
    assert_eq!(names(json!({"max_results": 4, "num_results": 3}), json!({})).await, ["Pea", "Leek", "Corn"]);
    assert_eq!(names(json!({"start_num": 1}), json!({"start_num": 4, "max_results": 1})).await, ["Leek"]);
    let wrong = place.ask(old(json!({"meta": {"api_version": "0.54", "start_num": 1001}}))).await;
    assert_eq!((wrong.status.as_u16(), wrong.message().contains("meta.start_num")), (400, true));
}

fn merged(mut value: Value, more: Value) -> Value {
    value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    value
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_asked_for_what_is_shown_and_what_is_passed_over() {
    let card = forecourt_core::AgentCard { finds: true, ..forecourt_testkit::card("bot") };
    let agent = forecourt_testkit::ScriptedAgent::new(vec![forecourt_testkit::Step::Do(done())]);
    let place = Setup::default().with(card, agent.clone()).start().await;
    for path in ["max_results=5&start_num=20", "start_num=20", "max_results=5"] {
        place.send(request("GET", &format!("/ask?query=soup&streaming=false&{path}")), "").await;
    }
    let wanted: Vec<_> = agent.heard().iter().map(|message| message.search.narrowing.results).collect();
    assert_eq!(wanted, [Some(25), Some(30), Some(5)]);
}

#[tokio::test(start_paused = true)]
async fn a_summary_reads_well_as_it_is() {
    let findings = Findings {
        summary: "**2** soups match. Best: [Pea](https://a.example/).".to_owned(),
        count: 1,
        ..Findings::default()
    };
    let item = forecourt_core::Part::data(json!({"@type": "Recipe", "name": "Pea"}));
    let place = bot(vec![Event::Findings(Box::new(findings)), Event::Part(item), done()]).await;
    let whole = place.send(request("GET", "/ask?query=soup&mode=summarize&streaming=false"), "").await.json();
    assert_eq!(
        whole["results"][0],
        json!({"@type": "Summary", "text": "2 soups match. Best: Pea.",
        "@id": whole["results"][0]["@id"], "site": "bot", "score": 0.0})
    );
    let now = json!({"query": {"text": "soup"}, "prefer": {"mode": "list, summarize"}});
    assert!(place.ask(now).await.json()["results"][0]["text"].as_str().unwrap().contains("**2**"));
}

#[tokio::test(start_paused = true)]
async fn memory_may_be_an_array_and_the_question_may_stand_on_its_own() {
    let (place, agent) = scripted(vec![forecourt_testkit::Step::Do(done())]).await;
    let query = json!({"text": "and with cream?", "decontextualized_query": "pea soup with cream"});
    let body = old(json!({"query": query, "context": {"memory": ["vegan", "no nuts"]}}));
    assert_eq!(place.ask(body).await.status, 200);
    assert_eq!(agent.heard()[0].text(), "pea soup with cream");
}

#[tokio::test(start_paused = true)]
async fn other_types_of_responses_have_their_old_names() {
    let elicitation = bot(vec![Event::Ending(Ending::Question(question()))]).await.ask(old(json!({}))).await.json();
    assert_eq!(elicitation["_meta"]["response_type"], "Elicitation");
    let failure = bot(nothing()).await.ask(old(json!({}))).await.json();
    assert_eq!(
        (&failure["_meta"]["response_type"], &failure["error"]["code"]),
        (&json!("Failure"), &json!("NO_RESULTS"))
    );
    let wrong = bot(vec![done()]).await.ask(old(json!({"query": {"text": 1}}))).await;
    assert_eq!((wrong.status.as_u16(), &wrong.json()["_meta"]["version"]), (400, &json!("0.54")));
    let streamed = bot(nothing()).await.ask(old(json!({"prefer": {}}))).await.events();
    assert_eq!(streamed[0].1["_meta"]["response_type"], "Failure");
    assert_eq!(streamed[1].1["error"]["code"], "NO_RESULTS");
}

#[tokio::test(start_paused = true)]
async fn the_flat_form_is_a_stream_of_old_frames() {
    let place = bot(found(&["Pea"])).await;
    let answer = place.send(request("GET", "/ask?query=soup&site=all&generate_mode=summarize"), "").await;
    assert_eq!(answer.field("content-type"), "text/event-stream");
    let events = answer.events();
    assert_eq!(events[0].1["_meta"]["version"], "0.54");
    assert_eq!(events[1].1["results"][0]["@type"], "Summary");
    let whole = place.send(request("GET", "/~bot/ask?query=soup&streaming=false&num_results=1"), "").await;
    assert_eq!(whole.json()["results"][0]["name"], "Pea");
    let today = place.send(request("GET", "/ask?query=soup&version=0.55"), "").await;
    assert_eq!(today.json()["_meta"]["version"], "0.55");
}

#[tokio::test(start_paused = true)]
async fn a_flat_form_without_a_question_says_what_is_right() {
    let (place, agent) = scripted(vec![forecourt_testkit::Step::Do(done())]).await;
    for (path, status) in [
        ("/ask".to_owned(), 400),
        ("/ask?".to_owned(), 400),
        ("/ask?site=all".to_owned(), 400),
        ("/ask?query=".to_owned(), 400),
        ("/ask?query=a&streaming=perhaps".to_owned(), 400),
        ("/ask?query=a&prev=[1]".to_owned(), 400),
        (format!("/ask?query={}", "a".repeat(8 * 1024)), 413),
    ] {
        let answer = place.send(request("GET", &path), "").await;
        assert_eq!(answer.status.as_u16(), status, "{path}");
        assert!(!answer.message().is_empty());
    }
    let evil = place.send(request("GET", "/ask?query=a&site=http://127.0.0.1:1/"), "").await;
    assert_eq!(evil.json()["error"]["code"], "INVALID_QUERY");
    assert!(agent.heard().is_empty());
}
