//! Design 5 and 7, item 1: the host's own pages.

use forecourt_core::{Ending, Event, FailureCause};
use forecourt_testkit::{ScriptedAgent, Step, card};

use crate::support::{Setup, echo, get};

#[tokio::test]
async fn the_front_page_lists_the_agents_in_each_form() {
    let place = echo().await;
    let page = place.ask("/", "text/html").await.is(200);
    assert!(page.text().contains("application/ld+json") && page.text().contains("/~echo"), "{}", page.text());
    assert!(page.field("content-security-policy").unwrap().contains("form-action 'self'"));
    assert_eq!(page.field("x-robots-tag"), Some("noindex, nofollow, noarchive"));
    assert!(place.ask("/", "text/markdown").await.is(200).text().contains("@echo@demo.localhost"));
    assert_eq!(place.ask("/", "application/json").await.is(200).json()["agents"][0]["agent"], "@echo@demo.localhost");
    place.ask("/", "image/png").await.is(406);
}

#[tokio::test]
async fn an_agent_asked_nothing_shows_its_page() {
    let place = echo().await;
    for path in ["/~echo", "/~echo/", "/~echo?"] {
        let page = place.ask(path, "text/html").await.is(200);
        assert!(page.text().contains("<form") && page.text().contains("https://demo.localhost/~echo"), "{path}");
        page.has_required_fields("@echo@demo.localhost");
        assert_eq!(place.ask(path, "application/json").await.is(200).json()["agent"], "@echo@demo.localhost");
        assert!(place.ask(path, "text/markdown").await.is(200).text().starts_with("# echo"));
        assert!(place.ask(path, "text/event-stream").await.is(200).text().ends_with("event: end\ndata: {}\n\n"));
    }
}

#[tokio::test]
async fn assets_are_kept_for_long_and_asked_for_again_cheaply() {
    let place = echo().await;
    for path in ["/assets/forecourt.css", "/assets/forecourt.js"] {
        let asset = place.send(get(path)).await.is(200);
        assert!(asset.field("cache-control").unwrap().contains("immutable"));
        let tag = asset.field("etag").unwrap();
        assert!(place.send(get(path).header("if-none-match", tag)).await.is(304).body.is_empty());
    }
    place.send(get("/assets/..%2fsecret")).await.is(404);
}

#[tokio::test]
async fn the_front_page_comes_in_pages_of_a_hundred_agents() {
    let agents = |count: usize| {
        (1..count).fold(Setup::default(), |setup, n| setup.with(card(&format!("a{n}")), ScriptedAgent::saying(["x"])))
    };
    let place = agents(100).start().await;
    assert_eq!(place.ask("/", "application/json").await.is(200).json()["agents"].as_array().map(Vec::len), Some(100));
    assert!(!place.ask("/", "text/html").await.is(200).text().contains("?page="));
    place.ask("/?page=2", "text/html").await.is(404);

    let place = agents(101).start().await;
    let first = place.ask("/", "application/json").await.is(200).json();
    assert_eq!(first["agents"].as_array().map(Vec::len), Some(100));
    assert_eq!(first["next"], "https://demo.localhost/?page=2");
    let second = place.ask("/?page=2", "application/json").await.is(200).json();
    assert_eq!((second["agents"].as_array().map(Vec::len), &second["next"]), (Some(1), &serde_json::Value::Null));
    assert!(place.ask("/", "text/html").await.is(200).text().contains("href=\"/?page=2\""));
    let page = place.ask("/?page=2", "text/html").await.is(200);
    assert!(page.text().contains("rel=\"prev\" href=\"/\"") && !page.text().contains("/~a1\""), "{}", page.text());
    for none in ["/?page=0", "/?page=3", "/?page=x"] {
        place.ask(none, "text/html").await.is(404);
    }
}

#[tokio::test]
async fn a_page_tells_in_whose_language_a_failure_is_worded() {
    let says = |ending: Ending| ScriptedAgent::new(vec![Step::Do(Event::Ending(ending))]);
    let late = FailureCause::TimedOut.ending("it took too long");
    let place = Setup::default()
        .with(card("no"), says(Ending::declined("Davon verstehe ich nichts.")))
        .with(card("broken"), says(Ending::failed("Der Ofen ist aus.")))
        .with(card("late"), says(late))
        .start()
        .await;
    for (path, status, title, said) in [
        ("/~no?user=x", 403, "Der Agent hat abgelehnt", "lang=\"de\">Davon verstehe ich nichts."),
        ("/~broken?user=x", 502, "Der Agent konnte nicht antworten", "lang=\"de\">Der Ofen ist aus."),
        ("/~late?user=x", 504, "Der Agent konnte nicht antworten", "lang=\"en\">It took too long."),
        ("/~nobody?user=x", 404, "Diesen Agenten gibt es nicht", "lang=\"de\">Hier gibt es keinen Agenten"),
        ("/~no?user=x&assistant=y", 400, "Diese Anfrage ist nicht richtig geschrieben", "lang=\"en\">"),
    ] {
        let asked = get(path).header("accept", "text/html").header("accept-language", "de");
        let page = place.send(asked).await.is(status);
        assert!(page.text().contains(title) && page.text().contains(said), "{path}: {}", page.text());
    }
}
