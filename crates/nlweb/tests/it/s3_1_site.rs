//! NLWeb 3.1, `site`: one agent, all of them, or a host of the web whose items are here. Never fetched.

use std::sync::Arc;

use forecourt_core::findings::URL_HOST;
use forecourt_core::message::text_of;
use forecourt_core::{Admitted, Agent, AgentCard, Ending, Event, EventStream, Message, SearchRefinement};
use forecourt_testkit::{ScriptedAgent, Step, card};
use serde_json::{Value, json};

use crate::support::*;

/// A search that has items of one host.
struct Library {
    plays: Arc<ScriptedAgent>,
    host: &'static str,
}

impl Agent for Library {
    fn handle(&self, admitted: Admitted) -> EventStream {
        self.plays.handle(admitted)
    }

    fn has_host(&self, host: &str) -> bool {
        host == self.host
    }
}

fn finder(handle: &str) -> AgentCard {
    AgentCard { finds: true, ..remembering(handle) }
}

fn playing(events: Vec<Event>) -> Arc<ScriptedAgent> {
    ScriptedAgent::new(events.into_iter().map(Step::Do).collect())
}

/// `chef` and `books` find items, `echo` between them does not.
async fn three(
    chef: Vec<Event>,
    books: Vec<Event>,
) -> (Place, Arc<ScriptedAgent>, Arc<ScriptedAgent>, Arc<ScriptedAgent>) {
    let (chef, echo, books) = (playing(chef), ScriptedAgent::saying(["echo"]), playing(books));
    let library = |plays: &Arc<ScriptedAgent>, host| Arc::new(Library { plays: plays.clone(), host });
    let setup = Setup::default().with(finder("chef"), library(&chef, "soups.example"));
    let setup = setup.with(card("echo"), echo.clone()).with(finder("books"), library(&books, "books.example"));
    (setup.start().await, chef, echo, books)
}

fn asks(text: &str, site: &str) -> Value {
    json!({"query": {"text": text, "site": site}, "prefer": {"mode": "list, summarize"}})
}

fn names(answer: &Value) -> Vec<&str> {
    let items = answer["results"].as_array().expect("results").iter();
    items.filter_map(|item| item["name"].as_str()).collect()
}

fn narrowing(message: &Message) -> &SearchRefinement {
    &message.search.narrowing
}

#[tokio::test(start_paused = true)]
async fn s3_1_all_asks_every_agent_that_finds_and_puts_their_items_in_turn() {
    let (place, chef, echo, books) = three(found(&["Pea", "Leek", "Bean"]), found(&["On soup"])).await;
    let answer = place.ask(asks("soup", "all")).await.json();
    assert_eq!(names(&answer), ["Pea", "On soup", "Leek", "Bean"]);
    assert_eq!(answer["results"][0]["text"], "3 soups match.\n\n1 soups match.");
    assert_eq!((chef.heard().len(), echo.heard().len(), books.heard().len()), (1, 0, 1));
    let streamed = place.stream(asks("soup", "ALL")).await;
    assert_eq!(streamed.names(), ["start", "result", "result", "result", "result", "result", "complete"]);
    let own = place.send(post("/~books/ask"), asks("soup", "all").to_string()).await.json();
    assert_eq!(names(&own), ["On soup"], "at an agent's own address that is all there is");
}

#[tokio::test(start_paused = true)]
async fn s3_1_all_is_answered_though_one_of_them_is_not_able_to() {
    for ending in [Ending::failed("It broke."), Ending::Question(question())] {
        let (place, ..) = three(vec![Event::Ending(ending)], found(&["On soup"])).await;
        assert_eq!(names(&place.ask(asks("soup", "all")).await.json()), ["On soup"]);
    }
    let (place, ..) = three(nothing(), nothing()).await;
    assert_eq!(place.ask(asks("soup", "all")).await.verdict().2, "NO_RESULTS");
    let (place, ..) = three(vec![Event::Ending(Ending::failed("It broke."))], nothing()).await;
    assert_eq!(place.ask(asks("soup", "all")).await.verdict().2, "INTERNAL_ERROR");
}

#[tokio::test(start_paused = true)]
async fn s3_4_what_was_asked_of_all_goes_round_in_the_session() {
    let (place, _, _, books) = three(found(&["Pea"]), found(&["On soup"])).await;
    let query = json!({"text": "soup", "site": "all", "itemType": "Book"});
    let first = place.ask(json!({"query": query, "meta": {"session_context": {"state": "x"}}})).await.json();
    let session = &first["_meta"]["session_context"];
    assert_eq!((&session["state"], session.get("conversation_id")), (&json!("x"), None));
    let second = place.ask(json!({"query": {"text": "more"}, "meta": {"session_context": session}})).await.json();
    assert_eq!(names(&second), ["Pea", "On soup"], "it stays with all of them");
    let heard = books.heard().remove(1);
    assert_eq!((heard.text().as_str(), text_of(&heard.history[0].parts).as_str()), ("more", "soup"));
    assert_eq!(heard.history[0].parts.len(), 2, "the filters of then are there");
    assert!(heard.unrecorded && heard.history.len() == 1, "nothing was kept beside it");
    let meta = json!({"session_context": {}, "remember": false});
    let forgotten = place.ask(json!({"query": {"text": "soup", "site": "all"}, "meta": meta})).await.json();
    assert!(forgotten["_meta"].get("session_context").is_none());
}

#[tokio::test(start_paused = true)]
async fn s3_4_more_of_all_goes_on_where_the_answer_ended() {
    let (place, _, _, books) = three(found(&["Pea"]), found(&["On soup"])).await;
    let query = json!({"text": "soup", "site": "all", "num_results": 4});
    let first = place.ask(json!({ "query": query })).await.json();
    let meta = json!({"session_context": first["_meta"]["session_context"]});
    place.ask(json!({"query": {"text": "more"}, "meta": meta})).await;
    let (first, second) = (books.heard().remove(0), books.heard().remove(1));
    assert_eq!(narrowing(&first).results, Some(2), "half of them");
    assert_eq!(second.history[0].narrowing.results, Some(2));
}

#[tokio::test(start_paused = true)]
async fn s3_1_a_host_of_the_web_is_the_part_of_who_has_it() {
    let (place, chef, _, books) = three(found(&["Pea"]), found(&["On soup"])).await;
    for site in ["books.example", "www.Books.example", "https://books.example/soups?all#top"] {
        assert_eq!(names(&place.ask(asks("soup", site)).await.json()), ["On soup"], "{site}");
    }
    assert_eq!(chef.heard().len(), 0);
    let exactly = vec![(URL_HOST.to_owned(), "books.example".to_owned())];
    assert_eq!(narrowing(&books.heard()[0]).exactly, exactly);
    let own = place.send(post("/~chef/ask"), asks("soup", "books.example").to_string()).await;
    assert_eq!(own.verdict().2, "INVALID_QUERY", "it is not of this agent");
    let unknown = place.ask(asks("soup", "https://evil.example/")).await;
    assert_eq!(unknown.verdict(), (200, "failure".to_owned(), "INVALID_QUERY".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn s3_1_a_bound_of_the_answer_is_told_to_who_finds_items() {
    let (place, chef, echo, _) = three(found(&["Pea"]), Vec::new()).await;
    place.ask(json!({"query": {"text": "soup", "num_results": 3}})).await;
    place.ask(json!({"query": {"text": "soup", "num_results": 3, "site": "echo"}})).await;
    assert_eq!(narrowing(&chef.heard()[0]).results, Some(3));
    assert!(narrowing(&echo.heard()[0]).is_empty());
}
