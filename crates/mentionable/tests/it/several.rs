//! A question of the front page to several agents: each behind its own rules, their answers grouped on one page.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::findings::ItemFindings;
use forecourt_core::gate::{Rule, RuleVerdict};
use forecourt_core::policy::RefusalKind;
use forecourt_core::policy::{ConsentTerms, Demand, Requirement};
use forecourt_core::{AgentCard, Allowance, Ending, Event, Findings, FindingsDetail, Message, Part, PolicyPart};
use forecourt_testkit::{ScriptedAgent, Step, card};
use futures::future::BoxFuture;
use serde_json::{Map, json};

use crate::support::{Answer, Place, Setup, get};

/// An agent that finds things.
fn finding(handle: &str) -> AgentCard {
    AgentCard { finds: true, name: format!("The {handle}"), ..card(handle) }
}

/// What finds these, in this order.
fn found(names: &[&str]) -> Arc<ScriptedAgent> {
    let findings = Findings {
        summary: format!("Best match: {}.", names.first().unwrap_or(&"nothing")),
        count: names.len(),
        total: Some(12),
        items: names.iter().map(|_| ItemFindings::scored(1.0)).collect(),
        ..Findings::default()
    };
    let item = |name: &&str| json!({"name": name, "url": format!("https://shop.example/{name}")});
    let items = names.iter().map(|name| Event::Part(Part::data(item(name))));
    let events = std::iter::once(Event::Findings(Box::new(findings))).chain(items);
    ScriptedAgent::new(events.chain([Event::Ending(Ending::Complete)]).map(Step::Do).collect())
}

fn saying(ending: Ending) -> Arc<ScriptedAgent> {
    ScriptedAgent::new(vec![Step::Do(Event::Ending(ending))])
}

async fn asked(place: &Place, path: &str) -> Answer {
    place.send(get(path).header("accept", "text/html")).await
}

/// The groups of a page, each from its heading on.
fn groups(page: &str) -> Vec<&str> {
    page.split("<section class=\"group").skip(1).collect()
}

#[tokio::test]
async fn a_question_without_a_name_is_asked_of_all_that_find_things() {
    let (jackets, films) = (found(&["coat", "cape", "hat", "boots", "scarf"]), found(&["Rain Man"]));
    let setup = Setup::default().with(finding("shop"), jackets.clone()).with(finding("cinema"), films.clone());
    let place = setup.start().await;
    let answer = asked(&place, "/?user=rain").await.is(200);
    assert_eq!(answer.field("content-security-policy").unwrap().matches("script-src").count(), 0);
    assert_eq!((answer.field("x-mentionable-agent"), answer.field("access-control-allow-origin")), (None, None));
    let page = answer.text();
    let groups = groups(page);
    assert_eq!(groups.len(), 2, "echo finds nothing, and is not asked: {page}");
    assert!(groups[0].contains("The shop") && groups[0].contains("4 of 12 results"), "{}", groups[0]);
    assert!(groups[0].contains("boots") && !groups[0].contains("scarf"), "{}", groups[0]);
    assert!(groups[0].contains("href=\"/~shop?user=rain\"") && groups[0].contains("Go on with The shop"));
    assert!(groups[1].contains("Rain Man") && groups[1].contains("id=\"result-5\""), "{}", groups[1]);
    let heard = jackets.heard();
    let heard = &heard[0];
    assert!(heard.search.asks_several && heard.search.list_only && heard.search.narrowing.decided && heard.unrecorded);
    assert_eq!((heard.search.findings, heard.search.narrowing.results), (FindingsDetail::Facets, Some(4)));
    assert_eq!((heard.text().as_str(), heard.sender.allowance), ("rain", Allowance::WithoutCredit));
    let german = place.send(get("/?user=rain").header("accept", "text/html").header("accept-language", "de")).await;
    assert!(german.text().contains("Weiter mit The shop") && german.text().contains("4 von 12"), "{}", german.text());
    // No page but this one asks several.
    place.ask("/?user=rain", "application/json").await.is(200);
    place.send(crate::support::request(http::Method::HEAD, "/?user=rain").header("accept", "text/html")).await.is(200);
    assert_eq!(jackets.heard().len(), 2);
}

#[tokio::test]
async fn a_mention_a_choice_and_an_address_are_for_one_agent() {
    let (shop, cinema) = (found(&["coat"]), found(&["Rain Man"]));
    let setup = Setup::default().with(finding("shop"), shop.clone()).with(finding("cinema"), cinema.clone());
    let place = setup.start().await;
    for (path, leads) in [
        ("/?user=%40cinema+rain", "/~cinema?user=%40cinema+rain"),
        ("/?user=what+does+%40echo+say", "/~echo?user=what+does+%40echo+say"),
        ("/?user=rain&agent=shop", "/~shop?user=rain"),
        ("/?user=https%3A%2F%2Fa.example%2F", "/~echo?user=https%3A%2F%2Fa.example%2F"),
        ("/?user=data%3A%2Cx", "/~echo?user=data%3A%2Cx"),
    ] {
        let answer = asked(&place, path).await.is(303);
        assert_eq!(answer.field("location"), Some(leads), "{path}");
    }
    for path in ["/?user=rain+%40nobody", "/?user=rain&agent=nobody", "/?user=rain&agent="] {
        assert_eq!(groups(asked(&place, path).await.is(200).text()).len(), 2, "{path}");
    }
    let long = |bytes: usize| format!("/?user={}", "x".repeat(bytes - "user=".len()));
    asked(&place, &long(8 * 1024)).await.is(200);
    asked(&place, &long(8 * 1024 + 1)).await.is(303);
    let alone = Setup::default().with(finding("shop"), found(&["coat"])).start().await;
    assert_eq!(asked(&alone, "/?user=rain").await.is(303).field("location"), Some("/~echo?user=rain"));
}

/// A rule that wants a consent.
struct Wants;

impl Rule for Wants {
    fn judge<'a>(&'a self, _: &'a AgentCard, _: &'a Message) -> BoxFuture<'a, RuleVerdict> {
        let demand = Demand::Consent(ConsentTerms { scope: Map::new(), lifetime_seconds: None });
        let (rule, message) = ("first".to_owned(), "Please agree.".to_owned());
        let wanted = Requirement { rule, title: None, message, message_translations: Default::default(), demand };
        Box::pin(std::future::ready(Err(wanted.into())))
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_without_an_answer_is_one_line_and_the_others_are_there() {
    let (wanting, slow) = (found(&["secret"]), ScriptedAgent::new(vec![Step::Hang]));
    let refusal = PolicyPart {
        url: Some("https://demo.localhost/hours".to_owned()),
        action_label: Some("Opening hours".to_owned()),
        ..PolicyPart::new(RefusalKind::Forbidden, "We are closed.")
    };
    let place = Setup::default()
        .with(finding("shop"), found(&["coat"]))
        .with(finding("broken"), saying(Ending::failed("The shelf fell over.")))
        .with(finding("closed"), saying(Ending::Refused(Box::new(refusal))))
        .with(finding("late"), slow.clone())
        .guarded(finding("careful"), wanting.clone(), vec![Arc::new(Wants)])
        .with(finding("empty"), found(&[]))
        .start()
        .await;
    let answer = asked(&place, "/?user=rain").await.is(200);
    let groups = groups(answer.text());
    for (at, said) in [
        (0, "coat"),
        (1, "The shelf fell over."),
        (2, "We are closed. <a href=\"https://demo.localhost/hours\">Opening hours</a>"),
        (3, "The late did not answer in time."),
        (4, "The careful needs a consent or a payment first."),
        (5, "Nothing found"),
    ] {
        assert!(groups[at].contains(said), "{said}: {}", groups[at]);
        assert_eq!(groups[at].contains("class=\"line"), at > 0, "{}", groups[at]);
    }
    assert!(wanting.heard().is_empty() && answer.field("set-cookie").is_none(), "nothing was issued");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(slow.begun_and_left(), (1, 1), "work that nobody waits for ends");
}

#[tokio::test]
async fn a_question_is_asked_of_so_many_agents_and_no_more() {
    let agents = |count: usize| {
        (0..count).fold(Setup::default(), |setup, n| setup.with(finding(&format!("a{n}")), found(&["coat"])))
    };
    for (count, shown) in [(8, 8), (9, 8)] {
        let place = agents(count).start().await;
        assert_eq!(groups(asked(&place, "/?user=rain").await.is(200).text()).len(), shown, "{count}");
    }
}
