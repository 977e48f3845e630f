//! The search page as a browser reads it.

use forecourt_core::findings::{AppliedLimit, Facet, ItemFindings, LeftOut, MatchReason};
use forecourt_core::{Event, Findings, SearchRefinement};

use super::*;
use crate::testing::Tag;

fn findings(text: &str) -> Findings {
    let values = vec![(text.to_owned(), 3), (format!("{text}2"), 1)];
    Findings {
        summary: text.to_owned(),
        count: 1,
        more: true,
        total: Some(1_234),
        counted: 200,
        facets: vec![Facet { field: text.to_owned(), label: text.to_owned(), values, ..Facet::default() }],
        items: vec![ItemFindings::scored(1.0).because(MatchReason {
            snippet: text.to_owned(),
            fits: vec![text.to_owned()],
            why: text.to_owned(),
            distance: None,
        })],
        notes: vec![text.to_owned()],
        caveats: text.to_owned(),
        applied: vec![AppliedLimit::unsaid(text)],
        not_understood: vec![text.to_owned()],
        left_out: vec![LeftOut { limit: text.to_owned(), items: 2 }],
        decontextualized: Some(format!("{text} {text}")),
        ..Findings::default()
    }
}

/// An item, every word of which is `text`.
fn item(text: &str) -> Part {
    Part::data(json!({
        "@type": text, "name": text, "url": text, "description": text, "image": [text, {"url": text}], "x": text,
        "genre": [text, {"name": text}], "potentialAction": [{"name": text, "target": text}],
    }))
}

/// The page of a search that is about nothing but `text`.
fn page(text: &str, narrowing: &SearchRefinement, events: Vec<Event>) -> String {
    let (card, language) = (card(text), Language::english());
    let brand = Branding::default();
    let earlier = [text.to_owned()];
    let page = SearchPage {
        brand: &brand,
        earlier: &earlier,
        card: &card,
        url: URL,
        language: &language,
        path: "/~chef",
        ask: Some(text),
        host_name: text,
        question: text,
        narrowing,
        account: crate::Account::None,
    };
    let mut answer = page.answer();
    let told: String = events.into_iter().map(|event| answer.take(event)).collect();
    page.begin() + &told + &answer.end(Some(text))
}

fn chosen(text: &str) -> SearchRefinement {
    SearchRefinement {
        exactly: vec![(text.to_owned(), text.to_owned())],
        results: Some(20),
        ..SearchRefinement::default()
    }
}

/// What was found, and how it ends.
fn found(text: &str, ending: Ending) -> Vec<Event> {
    vec![
        Event::Text(text.to_owned()),
        Event::Findings(Box::new(findings(text))),
        Event::Part(item(text)),
        Event::Part(Part::data(json!(text))),
        Event::Findings(Box::new(findings(&format!("{text} ")))),
        Event::Part(item(text)),
        Event::Ending(ending),
    ]
}

fn endings(text: &str) -> Vec<Ending> {
    let kinds = ["single_select", "multi_select", "free_text", "number", "boolean"];
    let question = |kind| json!({"id": text, "text": text, "type": kind, "options": [text], "default": text});
    vec![
        Ending::Complete,
        Ending::Message(text.to_owned()),
        Ending::Question(Question { text: text.to_owned(), questions: kinds.map(question).to_vec() }),
        Ending::Refused(Box::new(refusals(text).remove(2))),
        Ending::failed(text),
    ]
}

/// The page of a question to several agents, which end in every way, about nothing but `text`.
fn several(text: &str) -> String {
    let (card, language, brand) = (card(text), Language::english(), Branding::default().rated(true));
    let agents = [AskedAgent { card: &card, path: "/~chef" }];
    let (account, question) = (Account::SignedIn(text), text);
    let page =
        SeveralPage { brand: &brand, name: text, url: URL, language: &language, question, agents: &agents, account };
    let mut answers = vec![GroupAnswer::NeedsOwnQuestion, GroupAnswer::Late, GroupAnswer::Failed(text.to_owned())];
    for (ending, has_findings) in endings(text).into_iter().zip([true, false, true, true, true]) {
        let reply = CollectedReply::new(vec![Part::text(text), item(text), Part::data(json!(text))], ending);
        let findings = has_findings.then(|| Box::new(findings(text)));
        answers.push(GroupAnswer::Reply(Box::new(CollectedReply { findings, ..reply })));
    }
    let mut groups = page.groups();
    let told: String = answers.iter().map(|answer| groups.group(agents[0], answer)).collect();
    page.begin() + &told + &groups.end()
}

/// Nothing of `text` became markup, left its origin or got a style.
fn check(page: &str) {
    let tags = tags(page);
    for name in ["html", "head", "body", "main", "title"] {
        assert_eq!(count(&tags, name), 1, "{name} in {page}");
    }
    assert_eq!(count(&tags, "script"), 0, "an answer has none: {page}");
    for name in ["iframe", "object", "embed", "svg", "math", "base", "video", "audio", "template", "style", "picture"] {
        assert_eq!(count(&tags, name), 0, "{name} in {page}");
    }
    for tag in &tags {
        for (name, value) in &tag.attributes {
            assert!(!name.starts_with("on") && name != "style" && name != "srcdoc" && name != "srcset", "{tag:?}");
            assert!(!["href", "action"].contains(&name.as_str()) || value.is_empty() || clean::href(value).is_some());
            assert!(tag.name != "img" || name != "src" || value.starts_with("https://"), "{tag:?}");
            assert!(name != "formaction" && name != "formtarget", "{tag:?}");
        }
    }
    assert!(!page.contains(|c| matches!(c, '\0' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')), "{page}");
}

/// One ending for each text, in turn.
fn check_reflected(texts: &[&str]) {
    for (at, text) in texts.iter().enumerate() {
        let mut endings = endings(text);
        let ending = endings.swap_remove(at % endings.len());
        check(&page(text, &chosen(text), found(text, ending)));
    }
}

#[test]
fn s8_2_no_payload_breaks_out_of_a_search() {
    let cases: Vec<Value> =
        vectors("markdown-xss/payloads.json").map(|b| serde_json::from_slice(&b).unwrap()).unwrap_or_default();
    let strings = naughty_strings();
    let payloads = cases.iter().filter_map(|case| case["markdown"].as_str());
    check_reflected(&payloads.chain(strings.iter().map(String::as_str)).collect::<Vec<_>>());
}

#[test]
fn s8_2_no_payload_breaks_out_of_the_answers_of_several() {
    for text in
        naughty_strings().iter().map(String::as_str).chain(["\"><script>x</script>", "' onclick='x", "\u{202e}"])
    {
        check(&several(text));
    }
    let page = several(&"soup ".repeat(200));
    let said: Vec<&str> =
        page.split("<p class=\"said\">").skip(1).map(|rest| &rest[..rest.find('<').unwrap()]).collect();
    assert!(!said.is_empty());
    for words in said {
        let chars = words.chars().count();
        assert!(chars <= limits::GROUP_CHARS_SHOWN + 1 && words.ends_with('…'), "{chars}: {words}");
    }
}

#[test]
fn hostile_items_are_words() {
    let evil = json!({
        "@type": "<b>Recipe", "name": "<script>alert(1)</script>", "url": "javascript:alert(1)",
        "image": "https://a.example/\"onerror=alert(1) x=\"", "description": "</li></ol><h1>owned</h1>",
        "potentialAction": {"name": "\"><img src=x onerror=alert(1)>", "target": "data:text/html,x"},
    });
    let page =
        page("q", &SearchRefinement::default(), vec![Event::Part(Part::data(evil)), Event::Ending(Ending::Complete)]);
    check(&page);
    let tags = tags(&page);
    assert_eq!((count(&tags, "h1"), count(&tags, "ol"), count(&tags, "img")), (1, 1, 1));
    let image = tags.iter().find(|tag| tag.name == "img").unwrap();
    assert_eq!(image.attribute("onerror"), None);
    assert_eq!(image.attribute("src"), Some("https://a.example/\"onerror=alert(1) x=\""));
}

#[test]
fn a_picture_says_nothing_of_who_looks_and_comes_when_it_is_seen() {
    let item = json!({"name": "A", "image": "https://a.example/i.png"});
    let page =
        page("q", &SearchRefinement::default(), vec![Event::Part(Part::data(item)), Event::Ending(Ending::Complete)]);
    let tags = tags(&page);
    let image = tags.iter().find(|tag| tag.name == "img").unwrap();
    for (name, value) in
        [("referrerpolicy", "no-referrer"), ("loading", "lazy"), ("alt", ""), ("width", "160"), ("height", "120")]
    {
        assert_eq!(image.attribute(name), Some(value), "{name}");
    }
    assert!(csp::SEARCH.contains("img-src 'self' https:;") && csp::SEARCH.contains("script-src 'self';"));
    assert!(csp::FOUND.contains("img-src 'self' https:;") && !csp::FOUND.contains("script-src"));
    assert!(![csp::SEARCH, csp::FOUND].iter().any(|policy| policy.contains("unsafe")));
    assert!(!csp::PAGE.contains("https:"));
}

#[test]
fn s4_1_a_search_has_all_that_an_answer_has() {
    let page = page("soup", &SearchRefinement::default(), found("soup", Ending::Complete));
    assert!(page.contains("<title>soup · @chef@demo.localhost</title>"));
    let tags = tags(&page);
    assert_eq!(meta(&tags, "mentionable:agent"), Some("@chef@demo.localhost"));
    assert_eq!(meta(&tags, "robots"), Some("noindex, nofollow, noarchive"));
    for mime in ["text/markdown", "application/json"] {
        let link = tags.iter().find(|tag| tag.attribute("type") == Some(mime)).unwrap();
        assert_eq!((link.attribute("rel"), link.attribute("href")), (Some("alternate"), Some(URL)));
    }
    assert!(count(&tags, "article") >= 1);
}

fn links<'a>(tags: &'a [Tag], with: &str) -> Vec<&'a str> {
    tags.iter().filter_map(|tag| tag.attribute("href")).filter(|href| href.contains(with)).collect()
}

#[test]
fn every_step_is_a_link() {
    let page = page("soup", &chosen("genre"), found("genre", Ending::Complete));
    let tags = tags(&page);
    assert!(links(&tags, "/~chef?user=soup#").is_empty());
    assert!(links(&tags, "/~chef?").contains(&"/~chef?user=soup&prev=soup"), "what was chosen can be left");
    assert!(links(&tags, "/~chef?").contains(&"/~chef?user=soup"), "and so can the earlier question");
    assert!(links(&tags, "genre2").contains(&"/~chef?user=soup&prev=soup&filter.genre=genre&filter.genre=genre2"));
    assert_eq!(links(&tags, "results="), ["/~chef?user=soup&prev=soup&filter.genre=genre&results=12#result-3"]);
    assert_eq!(links(&tags, "#session="), ["/~chef#session=soup"]);
    assert!(page.contains("1 of 1,234 results") && page.contains("Counted in the best 200."));
}

#[test]
fn a_page_shows_so_many_results_and_then_says_so() {
    let events = |count: usize| {
        let items = (0..count).map(|_| Event::Part(item("a")));
        let told = Event::Findings(Box::new(findings("a")));
        [told].into_iter().chain(items).chain([Event::Ending(Ending::Complete)]).collect::<Vec<_>>()
    };
    let none = SearchRefinement::default();
    assert!(page("q", &none, events(limits::RESULTS_SHOWN_MAX - 1)).contains("results=100#result-100"));
    assert!(page("q", &none, events(limits::RESULTS_SHOWN_MAX)).contains("These are the best."));
}

#[test]
fn nothing_found_is_said_and_offers_the_way_back() {
    let nothing = Findings { summary: "I found no recipes.".to_owned(), ..Findings::default() };
    let events = vec![Event::Findings(Box::new(nothing)), Event::Text("x".to_owned()), Event::Ending(Ending::Complete)];
    let page = page("soup", &chosen("genre"), events);
    assert!(page.contains("Nothing found") && page.contains("I found no recipes."), "{page}");
    assert!(page.contains("Search without what was chosen"));
    assert!(!page.contains("id=\"count\""));
}

#[test]
fn words_without_findings_are_the_answer() {
    let events =
        vec![Event::Text("I am **".to_owned()), Event::Text("Chef**".to_owned()), Event::Ending(Ending::Complete)];
    let page = page("hello", &SearchRefinement::default(), events);
    assert!(page.contains("<p>I am <strong>Chef</strong></p>"), "{page}");
}

#[test]
fn a_summary_that_follows_is_waited_for_on_the_page() {
    let told = |summary: &str, notes: &[&str]| {
        let notes = notes.iter().map(|note| (*note).to_owned()).collect();
        Event::Findings(Box::new(Findings { summary: summary.to_owned(), count: 1, notes, ..Findings::default() }))
    };
    let begun = vec![told("", &[]), Event::Part(item("a")), told("", &[])];
    let waiting =
        page("q", &SearchRefinement::default(), [begun.clone(), vec![Event::Ending(Ending::failed("no"))]].concat());
    assert_eq!(
        waiting.matches("class=\"summary").count(),
        2,
        "it is waited for once, and no longer at the end: {waiting}"
    );
    assert!(waiting.contains("<span class=\"summary\" hidden></span>"));
    let whole = vec![told("Well [[1]](https://a.example/).", &["Not ranked."]), Event::Ending(Ending::Complete)];
    let whole = page("q", &SearchRefinement::default(), [begun, whole].concat());
    assert!(whole.contains("Not ranked.") && whole.contains("class=\"cite\" href=\"#result-1\""), "{whole}");
    assert!(!whole.contains("<span class=\"summary\""), "{whole}");
}

#[test]
fn a_summary_that_is_told_again_follows_the_one_before_it() {
    let told = |summary: &str| {
        let findings = Findings { summary: summary.to_owned(), count: 1, ..Findings::default() };
        Event::Findings(Box::new(findings))
    };
    let events = vec![
        told("One."),
        Event::Part(item("a")),
        told("One."),
        told("One. Two."),
        Event::Part(item("b")),
        Event::Ending(Ending::Complete),
    ];
    let page = page("q", &SearchRefinement::default(), events);
    assert_eq!(page.matches("class=\"summary").count(), 2, "{page}");
    assert!(page.find("One. Two.") > page.find("result-1"));
    assert!(page.contains("<ol class=\"cards\" start=\"2\">"), "the list goes on: {page}");
    assert_eq!(page.matches("id=\"count\"").count(), 1);
}

#[test]
fn how_far_away_a_result_is_is_told_and_what_all_keep_is_not() {
    let (near, range) = ("within 5 km of Porto", "400 km or more");
    let distance = format!("{near} (1.2 km)");
    let reason = MatchReason {
        fits: vec![distance.clone(), format!("{range} (420 km)")],
        distance: Some(distance.clone()),
        ..MatchReason::default()
    };
    let findings = Findings {
        count: 1,
        items: vec![ItemFindings::scored(1.0).because(reason)],
        applied: [near, range].map(AppliedLimit::unsaid).into(),
        ..Findings::default()
    };
    let events = vec![Event::Findings(Box::new(findings)), Event::Part(item("a"))];
    let html = page("q", &SearchRefinement::default(), events);
    assert!(html.contains(&distance) && !html.contains("420 km"), "{html}");
}
