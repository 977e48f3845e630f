//! NLWeb 4: the four types of responses, and actions on items.

use std::time::Duration;

use forecourt_core::findings::LeftOut;
use forecourt_core::{Ending, Event, File, Findings, Part};
use forecourt_testkit::{ScriptedAgent, Step, card};
use serde_json::{Value, json};

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn s4_every_response_has_a_type_and_a_version() {
    for (events, kind) in [
        (found(&["Pea"]), "answer"),
        (vec![Event::Ending(Ending::Question(question()))], "elicitation"),
        (nothing(), "failure"),
    ] {
        let meta = bot(events).await.say("soup").await.json()["_meta"].clone();
        assert_eq!((&meta["response_type"], &meta["version"]), (&json!(kind), &json!("0.55")));
    }
}

#[tokio::test(start_paused = true)]
async fn s4_1_1_conversational_search_is_a_list_of_grounded_items() {
    let answer = bot(found(&["Pea", "Leek"])).await.say("soup").await;
    assert_eq!(answer.field("content-language"), "en");
    assert_eq!(
        answer.json()["results"],
        json!([
            {"@type": "Recipe", "name": "Pea", "url": "https://soups.example/Pea",
                "grounding": {"source_urls": ["https://soups.example/Pea"]}},
            {"@type": "Recipe", "name": "Leek", "url": "https://soups.example/Leek",
                "grounding": {"source_urls": ["https://soups.example/Leek"]}},
        ])
    );
}

#[tokio::test(start_paused = true)]
async fn s4_1_1_a_summary_is_a_search_summary() {
    let place = bot(found(&["Pea"])).await;
    let answer = place.ask(json!({"query": {"text": "soup"}, "prefer": {"mode": "list, summarize"}})).await.json();
    assert_eq!(answer["results"][0], json!({"@type": "SearchSummary", "text": "1 soups match."}));
    assert_eq!(answer["results"][1]["name"], "Pea");
}

#[tokio::test(start_paused = true)]
async fn s4_1_1_an_agent_of_words_answers_in_an_item() {
    for events in [
        vec![text("Hello "), text("there."), done()],
        vec![Event::Ending(Ending::Message("Hello there.".to_owned()))],
        vec![text("Hello "), Event::Ending(Ending::Message("there.".to_owned()))],
    ] {
        let place = bot(events).await;
        let answer = place.say("hi").await.json();
        assert_eq!(
            answer["results"],
            json!([{"@context": "https://schema.org", "@type": "Answer", "text": "Hello there."}])
        );
        let summary = place.ask(json!({"query": {"text": "hi"}, "prefer": {"mode": "summarize"}})).await.json();
        assert_eq!(summary["results"], json!([{"@type": "SearchSummary", "text": "Hello there."}]));
    }
}

#[tokio::test(start_paused = true)]
async fn s4_1_1_words_beside_items_are_the_summary() {
    let place = bot(vec![text("Two of them."), item("a"), item("b"), done()]).await;
    let names = |answer: Value| -> Vec<String> {
        let results = answer["results"].as_array().unwrap().iter();
        results.map(|item| item["name"].as_str().or(item["text"].as_str()).unwrap().to_owned()).collect()
    };
    assert_eq!(names(place.say("x").await.json()), ["a", "b"]);
    let both = place.ask(json!({"query": {"text": "x"}, "prefer": {"mode": "list, summarize"}})).await.json();
    assert_eq!(names(both), ["Two of them.", "a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn s4_1_1_chatgpt_app_has_words_and_data() {
    let section = "output_template = \"https://example.com/widget\"\nwidget_accessible = true";
    let agent = ScriptedAgent::new(found(&["Pea"]).into_iter().map(Step::Do).collect());
    let place = Setup::default().with(card("bot"), agent).section(section).start().await;
    let prefer = json!({"response_format": "chatgpt_app", "mode": "list, summarize"});
    let answer = place.ask(json!({"query": {"text": "soup"}, "prefer": prefer})).await.json();
    assert_eq!(answer["content"], json!([{"type": "text", "text": "1 soups match."}]));
    assert!(answer.get("results").is_none());
    let meta = &answer["_meta"];
    assert_eq!(
        (&meta["response_format"], &meta["openai/outputTemplate"], &meta["openai/widgetAccessible"]),
        (&json!("chatgpt_app"), &json!("https://example.com/widget"), &json!(true))
    );
    let names: Vec<_> = answer["structuredData"].as_array().unwrap().iter().map(|item| item["name"].clone()).collect();
    assert!(names.contains(&json!("Pea")));
    let plain = place.say("soup").await.json();
    assert!(plain["_meta"].get("openai/outputTemplate").is_none());
}

#[tokio::test(start_paused = true)]
async fn s4_1_1_chatgpt_app_names_items_when_nothing_was_said() {
    let prefer = json!({"response_format": "chatgpt_app"});
    let place = bot(vec![item("a"), item("b"), item("c"), item("d"), done()]).await;
    let answer = place.ask(json!({"query": {"text": "x"}, "prefer": prefer})).await.json();
    assert_eq!(answer["content"][0]["text"], "4 results, such as a, b, c.");
    let empty = bot(vec![done()]).await.ask(json!({"query": {"text": "x"}, "prefer": prefer})).await.json();
    assert_eq!((&empty["structuredData"], &empty["content"][0]["type"]), (&json!([]), &json!("text")));
}

#[tokio::test(start_paused = true)]
async fn s4_1_1_what_can_not_be_shown_is_noted() {
    let large = File::inline("a/b", Some("big.bin".to_owned()), vec![0; 1024 * 1024 + 1].into());
    let answer = bot(vec![Event::Part(Part::File(large)), item("a"), done()]).await.say("x").await.json();
    assert_eq!(answer["results"].as_array().map(Vec::len), Some(1));
    assert!(answer["_meta"]["forecourt/notes"][0].as_str().is_some_and(|note| note.contains("big.bin")), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn s4_1_3_all_types_of_questions_come_as_the_agent_asks_them() {
    let answer = bot(vec![Event::Ending(Ending::Question(question()))]).await.say("pasta recipe").await;
    assert_eq!(answer.status, 200);
    let elicitation = &answer.json()["elicitation"];
    assert_eq!(elicitation["text"], "Tell me more.");
    let kinds: Vec<_> = elicitation["questions"].as_array().unwrap().iter().map(|q| q["type"].clone()).collect();
    assert_eq!(kinds, ["single_select", "multi_select", "free_text", "number", "boolean"]);
    assert_eq!(elicitation["questions"][1]["default"], json!(["none"]));
}

#[tokio::test(start_paused = true)]
async fn s4_1_3_an_answer_to_a_question_goes_on_in_the_session() {
    let asks = ScriptedAgent::new(vec![Step::Do(Event::Ending(Ending::Question(question())))]);
    let place = Setup::default().with(remembering("bot"), asks.clone()).start().await;
    let first = place.say("pasta").await.json();
    let session = &first["_meta"]["session_context"];
    place.ask(json!({"query": {"text": "tomato", "sauce": "tomato"}, "meta": {"session_context": session}})).await;
    let heard = asks.heard().remove(1);
    let turns: Vec<_> = heard.history.iter().map(|turn| forecourt_core::message::text_of(&turn.parts)).collect();
    assert_eq!((turns, heard.text()), (vec!["pasta".to_owned(), "Tell me more.".to_owned()], "tomato".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn s4_1_4_nothing_found_is_no_results_with_what_might_help() {
    let answer = bot(nothing()).await.say("recipes from planet Mars").await;
    assert_eq!(answer.verdict(), (200, "failure".to_owned(), "NO_RESULTS".to_owned()));
    assert!(answer.message().contains("try other words"), "{}", answer.text);
    assert!(answer.json().get("results").is_none());
}

#[tokio::test(start_paused = true)]
async fn s4_1_4_an_agent_that_fails_is_an_internal_error_and_a_slow_one_a_timeout() {
    let failed = bot(vec![Event::Ending(Ending::failed("The oven broke."))]).await.say("x").await;
    assert_eq!(failed.verdict(), (200, "failure".to_owned(), "INTERNAL_ERROR".to_owned()));
    assert_eq!(failed.message(), "The oven broke.");
    let setup = Setup { time_max: Some(Duration::from_secs(3)), ..Setup::default() };
    let slow = setup.with(card("bot"), ScriptedAgent::new(vec![Step::Hang])).start().await.say("x").await;
    assert_eq!(slow.verdict(), (200, "failure".to_owned(), "TIMEOUT".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn s5_actions_are_attached_to_items_they_fit() {
    let section = r#"
        [[actions]]
        item_type = "Recipe"
        name = "add"
        type = "AddToCartAction"
        description = "Buy {name}"
        protocol = "HTTP"
        method = "POST"
        endpoint = "https://shop.example/cart"
        params = { item = "{name}" }

        [[actions]]
        item_type = "Movie"
        name = "watch"
        description = "Watch it"
        protocol = "MCP"
        server = "tv"
        tool = "play"
    "#;
    let agent = ScriptedAgent::new(vec![Step::Do(item("Soup")), Step::Do(done())]);
    let place = Setup::default().with(card("bot"), agent).section(section).start().await;
    assert_eq!(
        place.say("x").await.json()["results"][0]["actions"],
        json!([{"@context": "https://schema.org/", "@type": "AddToCartAction", "name": "add",
            "description": "Buy Soup", "protocol": "HTTP", "method": "POST",
            "endpoint": "https://shop.example/cart", "params": {"item": "Soup"}}])
    );
}

#[tokio::test(start_paused = true)]
async fn s5_settings_that_can_not_work_are_refused_at_start() {
    let action = |more: &str| format!("[[actions]]\nname = \"a\"\ndescription = \"b\"\n{more}");
    for (section, says) in [
        (action("protocol = \"SMTP\""), "HTTP, MCP and A2A"),
        (action("protocol = \"HTTP\"\nmethod = \"POST\""), "endpoint"),
        (action("protocol = \"MCP\"\nserver = \"s\"\ntool = \"t\"\nagents = [\"nobody\"]"), "@nobody"),
        ("sync_wait_seconds = 101".to_owned(), "at most 100"),
        ("nonsense = 1".to_owned(), "nonsense"),
    ] {
        let setup = Setup::default().with(card("bot"), ScriptedAgent::saying(["x"])).section(&section);
        let problems = setup.try_start().await.err().map(|problems| format!("{problems:?}")).unwrap_or_default();
        assert!(problems.contains(says), "{section}: {problems}");
    }
    let fits = Setup::default().with(card("bot"), ScriptedAgent::saying(["x"])).section("sync_wait_seconds = 100");
    assert!(fits.try_start().await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn s4_what_a_search_says_of_its_question_is_in_meta_of_both_versions() {
    let told = Findings {
        summary: "1 soup matches.".to_owned(),
        count: 1,
        not_understood: vec!["not too salty".to_owned()],
        left_out: vec![LeftOut { limit: "30 minutes or less".to_owned(), items: 3 }],
        decontextualized: Some("pea soup with cream".to_owned()),
        notes: vec!["Look closely.".to_owned()],
        ..Findings::default()
    };
    let mut events = found(&["Pea"]);
    events[0] = Event::Findings(Box::new(told));
    let place = bot(events).await;
    for version in ["0.55", "0.54"] {
        let prefer = json!({"streaming": false});
        let body = json!({"query": {"text": "with cream"}, "prefer": prefer, "meta": {"version": version}});
        let meta = place.ask(body.clone()).await.json()["_meta"].clone();
        assert_eq!(meta["decontextualized_query"], "pea soup with cream", "{version}");
        assert_eq!(meta["not_understood"], json!(["not too salty"]), "{version}");
        assert_eq!(meta["left_out"], json!([{"limit": "30 minutes or less", "items": 3}]), "{version}");
        assert_eq!(meta["forecourt/notes"], json!(["Look closely."]), "{version}");
        let mut streamed = body;
        streamed["prefer"] = json!({"streaming": true});
        let events = place.stream(streamed).await.events();
        assert_eq!(events[0].1["_meta"]["decontextualized_query"], "pea soup with cream", "{version}");
        let last = &events.last().expect("a frame").1["_meta"];
        assert_eq!(
            (&last["not_understood"], &last["forecourt/notes"]),
            (&meta["not_understood"], &meta["forecourt/notes"])
        );
    }
}
