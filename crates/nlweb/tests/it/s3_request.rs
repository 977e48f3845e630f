//! NLWeb 3: what is read of a request, and what is wrong with it.

use forecourt_core::message::text_of;
use forecourt_core::{Part, Role};
use forecourt_testkit::Step;
use serde_json::{Value, json};

use crate::support::*;

/// The data that went to the agent beside the words, and its message.
async fn heard(body: Value) -> (forecourt_core::Message, Option<Value>) {
    let (place, agent) = scripted(vec![Step::Do(done())]).await;
    let answer = place.ask(body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let message = agent.heard().remove(0);
    let data = message.parts.iter().find_map(|part| match part {
        Part::Data(data) => Some((*data.data).clone()),
        _ => None,
    });
    (message, data)
}

#[tokio::test(start_paused = true)]
async fn s3_1_the_text_is_required_and_its_lack_is_explained() {
    let place = bot(vec![done()]).await;
    for query in [
        json!({}),
        json!({"text": ""}),
        json!({"text": "  "}),
        json!({"text": 3}),
        json!({"text": null}),
        json!("soup"),
    ] {
        let answer = place.ask(json!({"query": query})).await;
        assert_eq!(answer.verdict(), (400, "failure".to_owned(), "INVALID_QUERY".to_owned()), "{query}");
        assert!(answer.message().contains("query"), "{}", answer.text);
        assert_eq!(answer.json()["_meta"]["version"], "0.55");
    }
    for body in ["", "{", "[]", "\"x\"", "null", "{\"query\": {\"text\": \"a\"}, \"query\": 1}", "\u{feff}{}"] {
        let answer = place.send(post("/ask"), body).await;
        assert_eq!(answer.verdict(), (400, "failure".to_owned(), "INVALID_QUERY".to_owned()), "{body}");
        assert!(answer.message().contains("{\"query\": {\"text\""), "{}", answer.text);
    }
    let answer = place.ask(json!({})).await;
    assert!(answer.message().contains("query"), "{}", answer.text);
}

#[tokio::test(start_paused = true)]
async fn s3_1_filters_go_to_the_agent_by_name() {
    let query = json!({"text": "soup", "itemType": "Recipe", "price": "less than $20", "x": {"a": [1]}, "none": null});
    let (message, data) = heard(json!({"query": query})).await;
    assert_eq!(message.text(), "soup");
    assert_eq!(data, Some(json!({"filters": {"itemType": "Recipe", "price": "less than $20", "x": {"a": [1]}}})));
}

#[tokio::test(start_paused = true)]
async fn s3_1_filters_that_mean_nothing_are_named() {
    let place = bot(found(&["Pea"])).await;
    let answer = place.ask(json!({"query": {"text": "soup", "price": "less than $20"}})).await;
    assert_eq!(answer.json()["_meta"]["forecourt/ignored_filters"], json!(["price"]));
}

#[tokio::test(start_paused = true)]
async fn s3_1_a_site_is_an_agent_an_address_the_domain_or_all() {
    let (place, _, _) = two().await;
    for (site, agent) in [
        ("gate", "gate"),
        ("@Gate", "gate"),
        ("@gate@demo.localhost", "gate"),
        ("gate@demo.localhost", "gate"),
        ("demo.localhost", "chef"),
        ("all", "chef"),
        ("ALL", "chef"),
        (" ", "chef"),
    ] {
        let answer = place.ask(json!({"query": {"text": "hi", "site": site}})).await;
        assert_eq!(answer.json()["results"][0]["text"], agent, "{site}");
    }
}

#[tokio::test(start_paused = true)]
async fn s3_1_a_site_that_is_not_here_is_never_fetched_and_what_is_here_is_listed() {
    let (place, chef, gate) = two().await;
    for site in ["https://evil.example/", "evil.example", "@chef@evil.example", "nobody", "http://127.0.0.1:1/"] {
        let answer = place.ask(json!({"query": {"text": "hi", "site": site}})).await;
        assert_eq!(answer.verdict(), (200, "failure".to_owned(), "INVALID_QUERY".to_owned()), "{site}");
        assert!(answer.message().contains("chef, gate, and all"), "{}", answer.text);
    }
    assert!(chef.heard().is_empty() && gate.heard().is_empty());
    let answer = place.send(post("/~chef/ask"), json!({"query": {"text": "hi", "site": "gate"}}).to_string()).await;
    assert!(answer.message().contains("ask @gate at its own address"), "{}", answer.text);
    let own = place.send(post("/~gate/ask"), json!({"query": {"text": "hi", "site": "all"}}).to_string()).await;
    assert_eq!(own.json()["results"][0]["text"], "gate");
}

#[tokio::test(start_paused = true)]
async fn s3_2_earlier_queries_are_turns_and_the_rest_is_handed_on() {
    let context = json!({"prev": ["muffins", "snacks"], "text": "planning a party", "memory": "vegetarian"});
    let (message, data) = heard(json!({"query": {"text": "soup"}, "context": context})).await;
    let turns: Vec<_> = message.history.iter().map(|turn| (turn.role, text_of(&turn.parts))).collect();
    assert_eq!(turns, [(Role::User, "muffins".to_owned()), (Role::User, "snacks".to_owned())]);
    assert_eq!(data, Some(json!({"context": {"text": "planning a party", "memory": "vegetarian"}})));
}

#[tokio::test(start_paused = true)]
async fn s3_2_a_context_of_another_type_is_preserved() {
    let context = json!({"@type": "UserDiet", "@context": "https://example.com/schemas/diet", "prev": 1,
        "restrictions": ["vegan"]});
    let (message, data) = heard(json!({"query": {"text": "soup"}, "context": context})).await;
    assert!(message.history.is_empty());
    assert_eq!(data, Some(json!({ "context": context })));
}

#[tokio::test(start_paused = true)]
async fn s3_wrong_types_are_400_and_name_the_field() {
    let place = bot(vec![done()]).await;
    for (field, body) in [
        ("query.site", json!({"query": {"text": "a", "site": 1}})),
        ("context", json!({"query": {"text": "a"}, "context": "x"})),
        ("context.prev", json!({"query": {"text": "a"}, "context": {"prev": "x"}})),
        ("context.prev", json!({"query": {"text": "a"}, "context": {"prev": [1]}})),
        ("context.text", json!({"query": {"text": "a"}, "context": {"text": []}})),
        ("context.memory", json!({"query": {"text": "a"}, "context": {"memory": {}}})),
        ("context.@type", json!({"query": {"text": "a"}, "context": {"@type": 1}})),
        ("prefer", json!({"query": {"text": "a"}, "prefer": []})),
        ("prefer.streaming", json!({"query": {"text": "a"}, "prefer": {"streaming": "yes"}})),
        ("prefer.mode", json!({"query": {"text": "a"}, "prefer": {"mode": 1}})),
        ("prefer.response_format", json!({"query": {"text": "a"}, "prefer": {"response_format": [1]}})),
        ("prefer.user-agent", json!({"query": {"text": "a"}, "prefer": {"user-agent": "a\nb"}})),
        ("meta", json!({"query": {"text": "a"}, "meta": 1})),
        ("meta.version", json!({"query": {"text": "a"}, "meta": {"version": 0.55}})),
        ("meta.session_context", json!({"query": {"text": "a"}, "meta": {"session_context": "x"}})),
        ("meta.user", json!({"query": {"text": "a"}, "meta": {"user": 1}})),
        ("meta.remember", json!({"query": {"text": "a"}, "meta": {"remember": "no"}})),
        ("query.num_results", json!({"query": {"text": "a", "num_results": 0}})),
    ] {
        let answer = place.ask(body).await;
        assert_eq!(answer.verdict(), (400, "failure".to_owned(), "INVALID_QUERY".to_owned()), "{field}");
        assert!(answer.message().contains(&format!("`{field}`")), "{field}: {}", answer.text);
    }
}

#[tokio::test(start_paused = true)]
async fn s4_1_4_what_is_too_much_is_a_token_limit_and_one_less_is_read() {
    let place = bot(vec![done()]).await;
    let a = |count: usize| "a".repeat(count);
    let prev = |count: usize| json!({"query": {"text": "a"}, "context": {"prev": vec!["b"; count]}});
    let filters = |count: usize| {
        let mut query = json!({"text": "a"});
        (0..count).for_each(|n| query[format!("f{n}")] = json!("v"));
        json!({ "query": query })
    };
    let memory = |bytes: usize| {
        let frame = json!({"memory": ""}).to_string().len();
        json!({"query": {"text": "a"}, "context": {"memory": a(bytes - frame)}})
    };
    let session = |bytes: usize| {
        let frame = json!({"s": ""}).to_string().len();
        json!({"query": {"text": "a"}, "meta": {"session_context": {"s": a(bytes - frame)}}})
    };
    let user = |bytes: usize| json!({"query": {"text": "a"}, "meta": {"user": a(bytes - 2)}});
    let filter_bytes = |bytes: usize| {
        let frame = json!({"f": ""}).to_string().len();
        json!({"query": {"text": "a", "f": a(bytes - frame)}})
    };
    let text = |bytes: usize| json!({"query": {"text": a(bytes)}});
    for (fits, is_too_much) in [
        (text(16 * 1024), text(16 * 1024 + 1)),
        (prev(100), prev(101)),
        (filters(16), filters(17)),
        (filter_bytes(8 * 1024), filter_bytes(8 * 1024 + 1)),
        (memory(128 * 1024), memory(128 * 1024 + 1)),
        (session(8 * 1024), session(8 * 1024 + 1)),
        (user(4 * 1024), user(4 * 1024 + 1)),
    ] {
        let (fits, is_too_much) = (place.ask(fits).await, place.ask(is_too_much).await);
        assert_eq!(fits.verdict().1, "answer", "{}", fits.text);
        assert_eq!(is_too_much.verdict(), (200, "failure".to_owned(), "TOKEN_LIMIT".to_owned()));
        assert!(is_too_much.message().contains("at most"), "{}", is_too_much.text);
    }
}

#[tokio::test(start_paused = true)]
async fn s3_lists_and_names_are_bounded() {
    let place = bot(vec![done()]).await;
    let modes = |count: usize| json!({"query": {"text": "a"}, "prefer": {"mode": vec!["list"; count]}});
    let agent = |bytes: usize| json!({"query": {"text": "a"}, "prefer": {"user-agent": "a".repeat(bytes)}});
    for (fits, is_too_much) in [(modes(16), modes(17)), (agent(256), agent(257))] {
        assert_eq!(place.ask(fits).await.status, 200);
        assert_eq!(place.ask(is_too_much).await.status, 400);
    }
}

#[tokio::test(start_paused = true)]
async fn s3_3_language_and_client_reach_the_agent() {
    let prefer = json!({"accept-language": "de-CH, en;q=0.5", "user-agent": "Copilot/1.0.0"});
    let meta = json!({"user": {"@type": "Person", "name": "Jane"}, "request_id": "r1"});
    let (message, _) = heard(json!({"query": {"text": "a"}, "prefer": prefer, "meta": meta})).await;
    assert_eq!(message.language.map(|language| language.to_string()), Some("de-CH".to_owned()));
    assert_eq!(
        message.metadata["nlweb"],
        json!({"user_agent": "Copilot/1.0.0", "request_id": "r1",
            "user": {"@type": "Person", "name": "Jane"}})
    );
    assert!(!message.sender.verified);
}

#[tokio::test(start_paused = true)]
async fn s3_3_1_the_first_format_that_is_spoken_is_taken() {
    let place = bot(found(&["Pea"])).await;
    for (formats, format) in [
        (json!(null), "conversational_search"),
        (json!(["html", "chatgpt_app", "conversational_search"]), "chatgpt_app"),
        (json!("xml, conversational_search"), "conversational_search"),
    ] {
        let answer = place.ask(json!({"query": {"text": "a"}, "prefer": {"response_format": formats}})).await;
        assert_eq!(answer.json()["_meta"]["response_format"], format, "{formats}");
    }
    let answer = place.ask(json!({"query": {"text": "a"}, "prefer": {"response_format": "xml"}})).await;
    assert_eq!(answer.verdict(), (200, "failure".to_owned(), "UNSUPPORTED_FORMAT".to_owned()));
    assert!(answer.message().contains("chatgpt_app"), "{}", answer.text);
}

#[tokio::test(start_paused = true)]
async fn s3_3_2_modes_are_a_list_and_open() {
    let place = bot(found(&["Pea"])).await;
    let ask = |mode: &str| place.ask(json!({"query": {"text": "a"}, "prefer": {"mode": mode}}));
    for (mode, count) in [("list", 1), ("list, summarize", 2), ("Summarize", 2), ("", 1), ("list,x", 1)] {
        assert_eq!(ask(mode).await.json()["results"].as_array().map(Vec::len), Some(count), "{mode}");
    }
    let noted = ask("list, poem").await.json()["_meta"]["forecourt/notes"][0].clone();
    assert!(noted.as_str().is_some_and(|note| note.contains("poem")), "{noted}");
    let answer = ask("generate").await;
    assert_eq!(answer.verdict(), (200, "failure".to_owned(), "UNSUPPORTED_MODE".to_owned()));
    assert!(answer.message().contains("list and summarize"), "{}", answer.text);
}

#[tokio::test(start_paused = true)]
async fn s3_4_another_version_is_answered_in_ours_with_a_note() {
    let place = bot(found(&["Pea"])).await;
    for version in ["0.53", "1.0", "banana"] {
        let answer = place.ask(json!({"query": {"text": "a"}, "meta": {"version": version}})).await.json();
        assert_eq!(answer["_meta"]["version"], "0.55");
        assert!(answer["_meta"]["forecourt/notes"][0].as_str().is_some_and(|note| note.contains(version)), "{answer}");
    }
    let plain = place.ask(json!({"query": {"text": "a"}, "meta": {"version": "0.55"}})).await.json();
    assert!(plain["_meta"].get("forecourt/notes").is_none());
}

#[tokio::test(start_paused = true)]
async fn s3_4_the_session_goes_round_and_an_unknown_conversation_begins_afresh() {
    let (place, chef, _) = two().await;
    let session = json!({"state_token": "blob", "n": [1], "conversation_id": "conv_98765"});
    let first = place.ask(json!({"query": {"text": "one"}, "meta": {"session_context": session}})).await.json();
    let given = &first["_meta"]["session_context"];
    assert_eq!((&given["state_token"], &given["n"]), (&json!("blob"), &json!([1])));
    assert_ne!(given["conversation_id"], "conv_98765");
    let second = place.ask(json!({"query": {"text": "two"}, "meta": {"session_context": given}})).await.json();
    assert_eq!(second["_meta"]["session_context"], *given);
    let heard = chef.heard();
    assert!(heard[0].history.is_empty());
    let turns: Vec<String> = heard[1].history.iter().map(|turn| text_of(&turn.parts)).collect();
    assert_eq!(turns, ["one", "chef"]);
}

#[tokio::test(start_paused = true)]
async fn s3_4_a_conversation_stays_with_the_agent_that_was_asked_by_name() {
    let (place, _, gate) = two().await;
    let ask = |query: Value, session: Value| place.ask(json!({"query": query, "meta": {"session_context": session}}));
    let first = ask(json!({"text": "one", "site": "gate"}), json!({})).await.json();
    let session = first["_meta"]["session_context"].clone();
    let second = ask(json!({"text": "two"}), session.clone()).await.json();
    assert_eq!((&second["results"][0]["text"], &second["_meta"]["session_context"]), (&json!("gate"), &session));
    assert_eq!(gate.heard()[1].history.len(), 2);
    let elsewhere = ask(json!({"text": "three", "site": "chef"}), session).await.json();
    assert_eq!(elsewhere["results"][0]["text"], "chef");
}

#[tokio::test(start_paused = true)]
async fn s3_4_what_is_not_to_be_remembered_is_not() {
    let (place, chef, _) = two().await;
    let first = place.ask(json!({"query": {"text": "one"}})).await.json();
    let session = first["_meta"]["session_context"].clone();
    let meta = json!({"session_context": session, "remember": false});
    place.ask(json!({"query": {"text": "secret"}, "meta": meta})).await;
    place.ask(json!({"query": {"text": "three"}, "meta": {"session_context": session}})).await;
    let turns = |at: usize| chef.heard()[at].history.iter().map(|turn| text_of(&turn.parts)).collect::<Vec<_>>();
    assert_eq!(turns(1), ["one", "chef"]);
    assert_eq!(turns(2), ["one", "chef"]);
}
