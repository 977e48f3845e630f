//! REST 3.1, 3.3 and 3.5: the GET form and the methods.

use http::Method;

use crate::support::{bot, done, echo, get, post_to, request, text};

#[tokio::test]
async fn s3_1_a_question_is_answered() {
    let place = echo().await;
    let answer = place.ask("/~echo?user=hello", "text/markdown").await.is(200);
    assert_eq!(answer.text(), "hello");
    answer.has_required_fields("@echo@demo.localhost");
}

#[tokio::test]
async fn s3_1_repeated_entries_are_one_turn() {
    let place = echo().await;
    assert_eq!(place.ask("/~echo?user=a&user=b&x=1", "text/markdown").await.is(200).text(), "a\nb");
}

#[tokio::test]
async fn s3_1_assistant_is_400_and_points_to_post() {
    let place = echo().await;
    for query in ["assistant=x", "user=a&assistant=b", "user=a&%61ssistant=b"] {
        let answer = place.ask(&format!("/~echo?{query}"), "application/json").await.is(400);
        assert!(answer.json()["error"].as_str().unwrap().contains("POST multipart"), "{query}");
        answer.has_required_fields("@echo@demo.localhost");
    }
}

#[tokio::test]
async fn s3_1_a_query_without_user_is_400_and_shows_the_form() {
    let place = echo().await;
    let answer = place.ask("/~echo?x=1", "application/json").await.is(400);
    assert_eq!(answer.json()["hint"], "GET https://demo.localhost/~echo?user=hello");
}

#[tokio::test]
async fn s3_1_a_query_of_8_kib_is_fine_and_one_byte_more_is_413() {
    let place = echo().await;
    let path = |bytes: usize| format!("/~echo?user={}", "a".repeat(bytes - 5));
    place.ask(&path(8192), "text/markdown").await.is(200);
    place.ask(&path(8193), "text/markdown").await.is(413).has_required_fields("@echo@demo.localhost");
}

#[tokio::test]
async fn s3_1_lang_is_used_where_no_header_says_it() {
    use forecourt_testkit::{ScriptedAgent, card};
    let agent = ScriptedAgent::saying(["hi"]);
    let place = crate::support::Setup::default().with(card("bot"), agent.clone()).start().await;
    place.send(get("/~bot?user=a&lang=de")).await.is(200);
    place.send(get("/~bot?user=a&lang=de").header("accept-language", "fr;q=0.5, ko")).await.is(200);
    place.send(get("/~bot?user=a&lang=de").header("accept-language", "*")).await.is(200);
    let heard: Vec<_> = agent.heard().iter().map(|m| m.language.as_ref().map(ToString::to_string)).collect();
    assert_eq!(heard, ["de", "ko", "de"].map(|tag| Some(tag.to_owned())));
}

#[tokio::test]
async fn s3_3_data_urls_arrive_as_bytes() {
    let place = echo().await;
    let answer = place.ask("/~echo?user=data:image/png%3Bbase64,iVBORw0KGgo%3D", "application/json").await.is(200);
    let part = &answer.json()["parts"][0];
    assert_eq!(part["kind"], "file");
    assert_eq!(part["mime"], "image/png");
    assert_eq!(part["bytes_ref"], serde_json::json!({"kind": "inline", "data": "iVBORw0KGgo="}));
    place.ask("/~echo?user=data:;base64,%40%40%40", "application/json").await.is(400);
}

#[tokio::test]
async fn s3_3_addresses_that_may_not_be_fetched_are_400_in_one_text() {
    let place = echo().await;
    let mut said = Vec::new();
    for url in ["http://169.254.169.254/a", "https://127.0.0.1/a", "https://demo.localhost/a", "https://x/a"] {
        let answer = place.ask(&format!("/~echo?user={url}"), "application/json").await.is(400);
        said.push(answer.json()["error"].clone());
    }
    said.dedup();
    assert_eq!(said, ["attachments: `a` could not be fetched from its address"]);
}

#[tokio::test]
async fn s3_5_other_methods_are_405_everywhere() {
    let place = echo().await;
    let id = "A".repeat(43);
    let paths = ["/~echo", "/~echo/", "/", "/assets/forecourt.css", "/tasks/x"].map(str::to_owned);
    let tasks = [format!("/tasks/{id}"), format!("/tasks/{id}/webhook"), format!("/tasks/{id}/artifacts/a")];
    for path in paths.iter().chain(&tasks) {
        for method in ["PUT", "PATCH", "DELETE", "TRACE", "BREW"] {
            let answer = place.send(request(method.parse().unwrap(), path)).await.is(405);
            let allow = answer.field("allow").unwrap();
            assert!(allow.contains("OPTIONS") && !allow.contains("PUT"), "{path}");
            answer.has_required_fields("@echo@demo.localhost");
        }
    }
    place.send(request(Method::GET, &tasks[1])).await.is(405);
    place.send(request(Method::POST, &tasks[0])).await.is(405);
    place.send(request(Method::POST, "/")).await.is(405);
}

#[tokio::test]
async fn s3_5_head_has_the_fields_of_get_and_no_content() {
    let place = bot(vec![text("hello"), done()]).await;
    for accept in ["text/html", "text/markdown", "application/json", "text/event-stream", "image/png"] {
        for path in ["/~bot?user=a", "/~bot", "/", "/~nobody?user=a"] {
            let whole = place.ask(path, accept).await;
            let bare = place.send(request(Method::HEAD, path).header("accept", accept)).await;
            assert!(bare.body.is_empty() && bare.status == whole.status, "{path} {accept}");
            let streamed = accept == "text/event-stream" && path == "/~bot?user=a";
            assert_eq!(bare.headers.contains_key("content-length"), !streamed, "{path} {accept}");
            assert_eq!(bare.headers, whole.headers, "{path} {accept}");
        }
    }
}

#[tokio::test]
async fn s3_5_options_says_what_there_is() {
    let place = echo().await;
    for (path, allow) in [
        ("/~echo", "GET, HEAD, POST, OPTIONS"),
        ("/", "GET, HEAD, OPTIONS"),
        ("/tasks/x", "GET, HEAD, OPTIONS"),
        ("/tasks/x/webhook", "POST, OPTIONS"),
    ] {
        let answer = place.send(request(Method::OPTIONS, path)).await.is(204);
        assert_eq!(answer.field("allow"), Some(allow), "{path}");
        answer.has_required_fields("@echo@demo.localhost");
    }
}

#[tokio::test]
async fn s2_the_last_slash_changes_nothing_and_is_never_redirected() {
    let place = echo().await;
    for path in ["/~echo", "/~echo/", "/%7Eecho", "/%7eecho/", "/~ECHO", "/~%65cho"] {
        assert_eq!(place.ask(&format!("{path}?user=hi"), "text/markdown").await.is(200).text(), "hi", "{path}");
        place.send_with(post_to(path), crate::support::form(&[("user", "hi")])).await.is(200);
    }
}

#[tokio::test]
async fn s2_an_unknown_agent_is_404_in_every_form() {
    let place = echo().await;
    for (accept, begin) in
        [("text/html", "<!doctype html>"), ("text/markdown", "# No such agent"), ("*/*", "<!doctype")]
    {
        for path in ["/~nobody?user=a", "/~nobody", "/~no.body", "/~@echo", "/~%40echo"] {
            let answer = place.ask(path, accept).await.is(404);
            assert!(answer.text().to_lowercase().starts_with(&begin.to_lowercase()), "{}", answer.text());
            answer.has_required_fields("@echo@demo.localhost");
        }
    }
    assert!(place.ask("/~nobody", "application/json").await.is(404).json()["error"].is_string());
}
