//! A search in a browser: one URL for every state, in every form, written as the answer comes.

use std::time::Duration;

use forecourt_core::findings::Facet;
use forecourt_core::policy::{PolicyPart, RefusalKind};
use forecourt_core::{AgentCard, Ending, Event, Findings, FindingsDetail, Part};
use forecourt_testkit::{ScriptedAgent, Step, card};
use futures::StreamExt;
use serde_json::json;

use crate::support::{Place, Setup, done, get, text};

const HTML: &str = "text/html";

fn finds() -> AgentCard {
    AgentCard { finds: true, ..card("finds") }
}

fn findings(summary: &str) -> Event {
    let facet = Facet {
        field: "genre".into(),
        label: "genre".into(),
        values: vec![("Drama".into(), 2), ("War".into(), 1)],
        ..Facet::default()
    };
    let told = Findings { summary: summary.into(), count: 1, facets: vec![facet], ..Findings::default() };
    Event::Findings(Box::new(told))
}

fn item(name: &str) -> Event {
    Event::Part(Part::data(json!({"@type": "Movie", "name": name, "url": "https://films.example/1"})))
}

async fn place(agent: std::sync::Arc<ScriptedAgent>) -> Place {
    Setup::default().with(finds(), agent).start().await
}

fn scripted(events: Vec<Event>) -> std::sync::Arc<ScriptedAgent> {
    ScriptedAgent::new(events.into_iter().map(Step::Do).collect())
}

#[tokio::test]
async fn s4_1_the_url_of_a_question_is_the_page_of_its_results() {
    let agent = scripted(vec![findings("One **film**."), item("Sea"), done()]);
    let place = place(agent.clone()).await;
    let page = place.ask("/~finds?user=sea&filter.genre=Drama&results=20&ask=no&utm=x", HTML).await.is(200);
    page.has_required_fields("@finds@demo.localhost");
    let policy = page.field("content-security-policy").unwrap();
    assert!(policy.contains("img-src 'self' https:;") && policy.contains("default-src 'none'"), "{policy}");
    for said in ["One <strong>film</strong>.", "https://films.example/1", "Remove Drama", "filter.genre=War"] {
        assert!(page.text().contains(said), "{said}: {}", page.text());
    }
    let heard = agent.heard().remove(0);
    assert_eq!((heard.search.findings, heard.extensions.len()), (FindingsDetail::Facets, 0));
    let narrowing = heard.search.narrowing;
    assert_eq!(narrowing.exactly, [("genre".to_owned(), "Drama".to_owned())]);
    assert_eq!((narrowing.results, narrowing.decided), (Some(20), true));
}

#[tokio::test]
async fn s4_4_programs_get_the_same_results_and_nothing_that_only_pages_show() {
    let agent = scripted(vec![text("One."), item("Sea"), done()]);
    let place = place(agent.clone()).await;
    for accept in ["application/json", "text/markdown", "text/event-stream"] {
        place.ask("/~finds?user=sea&filter.genre=Drama", accept).await.is(200);
    }
    for heard in agent.heard() {
        assert_eq!(heard.search.findings, FindingsDetail::None);
        assert_eq!(heard.search.narrowing.exactly, [("genre".to_owned(), "Drama".to_owned())]);
    }
}

#[tokio::test]
async fn s3_1_an_agent_that_finds_nothing_is_told_of_no_filter() {
    let place = Setup::default().start().await;
    let answer = place.ask("/~echo?user=a&filter.genre=Drama&results=3", "application/json").await.is(200).json();
    assert_eq!(answer["parts"], json!([{"kind": "text", "mime": "text/markdown", "content": "a", "text": "a"}]));
}

#[tokio::test]
async fn s6_a_conversation_is_shown_as_an_answer() {
    let place = place(scripted(vec![text("Hm."), done()])).await;
    let page = place.ask("/~finds?user=more&session=unknown", HTML).await.is(200);
    assert!(!page.text().contains("id=\"search\"") && page.text().contains("Hm."), "{}", page.text());
}

#[tokio::test]
async fn s5_1_refusals_and_failures_keep_their_status_and_the_box() {
    let refusal = PolicyPart::new(RefusalKind::Forbidden, "Two coins.");
    for (ending, status, said) in [
        (Ending::Refused(Box::new(refusal)), 403, "Two coins."),
        (Ending::failed("The shelf fell over."), 502, "The shelf fell over."),
    ] {
        let place = place(scripted(vec![Event::Ending(ending)])).await;
        let page = place.ask("/~finds?user=sea", HTML).await.is(status);
        assert!(page.text().contains(said) && page.text().contains("value=\"sea\""), "{}", page.text());
        assert!(page.text().trim_end().ends_with("</html>"));
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_known_is_sent_before_the_rest_is() {
    let steps = vec![
        Step::Do(findings("")),
        Step::Do(item("Sea")),
        Step::Wait(Duration::from_secs(5)),
        Step::Do(findings("First.")),
        Step::Wait(Duration::from_secs(5)),
        Step::Do(findings("First. Second.")),
        Step::Do(done()),
    ];
    let place = place(ScriptedAgent::new(steps)).await;
    let response = place.open(get("/~finds?user=sea").header("accept", HTML), "").await;
    let began = tokio::time::Instant::now();
    let mut frames = response.into_body().into_data_stream();
    let mut seen = String::new();
    let mut known = Vec::new();
    while let Some(frame) = frames.next().await {
        seen.push_str(std::str::from_utf8(&frame.unwrap()).unwrap());
        known.push((
            began.elapsed().as_secs(),
            seen.contains(">Sea<"),
            seen.contains("First."),
            seen.contains("Second."),
        ));
    }
    for wanted in [(0, true, false, false), (5, true, true, false), (10, true, true, true)] {
        assert!(known.contains(&wanted), "{wanted:?}: {known:?}");
    }
    assert!(seen.trim_end().ends_with("</html>"));
}

#[tokio::test]
async fn s4_1_a_question_back_is_a_form_of_this_origin() {
    let question = forecourt_core::Question {
        text: "Which genre?".into(),
        questions: vec![json!({"id": "genre", "text": "Which genre?", "type": "single_select", "options": ["War"]})],
    };
    let place = Setup::default()
        .with(finds(), scripted(vec![Event::Ending(Ending::Question(question.clone()))]))
        .bot(vec![Event::Ending(Ending::Question(question))])
        .start()
        .await;
    let page = place.ask("/~finds?user=sea", HTML).await.is(200);
    assert!(page.text().contains("name=\"filter.genre\" value=\"War\""), "{}", page.text());
    let page = place.ask("/~bot?user=sea", HTML).await.is(200);
    assert!(page.text().contains("name=\"user\" value=\"War\""), "{}", page.text());
    assert!(page.field("content-security-policy").unwrap().contains("form-action 'self'"));
    let page = place.ask("/~echo?user=sea", HTML).await.is(200);
    assert!(page.text().contains("id=\"ask-on\""), "one can ask on: {}", page.text());
    assert!(page.field("content-security-policy").unwrap().contains("form-action 'self'"));
}

#[tokio::test]
async fn a_search_goes_on_with_what_was_asked_before() {
    let agent = scripted(vec![Event::Ending(Ending::Complete)]);
    let place = Setup::default().with(finds(), agent.clone()).start().await;
    let page = place.ask("/~finds?user=with+rice&prev=chicken+soup&prev=I+am+vegan", HTML).await.is(200);
    let heard = agent.heard().remove(0);
    let earlier: Vec<String> =
        heard.history.iter().filter_map(|turn| Some(turn.parts[0].as_text()?.to_owned())).collect();
    assert_eq!(
        (heard.text(), earlier),
        ("with rice".to_owned(), vec!["chicken soup".to_owned(), "I am vegan".to_owned()])
    );
    let text = page.text();
    for (what, part) in [
        ("the box goes on", "name=\"prev\" value=\"I am vegan\""),
        ("with this one too", "name=\"prev\" value=\"with rice\""),
        ("each question has its page", "prev=chicken%20soup\""),
        ("one can begin anew", "href=\"/~finds\""),
    ] {
        assert!(text.contains(part), "{what}: {text}");
    }
    place.ask("/~finds?user=chicken+soup+with+rice&prev=chicken+soup", HTML).await.is(200);
    assert!(agent.heard().last().unwrap().history.is_empty(), "it was written anew");
}
