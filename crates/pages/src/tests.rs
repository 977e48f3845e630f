//! The pages as a browser reads them.

use forecourt_core::agent::{AgentCard, Endpoint, Skill};
use forecourt_core::part::{Artifact, ArtifactContent, Data, UnknownPart};
use forecourt_core::policy::{AcceptedPayment, AuthChallenge, PolicyPart, RefusalKind, Translation};
use forecourt_core::{
    Address, CollectedReply, Ending, File, FileSource, Language, Link, Part, Question, ToolCall, ToolOutcome,
};
use forecourt_testkit::vectors;
use serde_json::{Map, Value, json};

use crate::asset;
use crate::testing::{Tag, naughty_strings, tags};
use crate::*;

const URL: &str = "https://demo.localhost/~chef?user=a&session='\"<x>";

/// A card whose every word is `text`.
fn card(text: &str) -> AgentCard {
    let text = text.to_owned();
    let skill = Skill {
        id: text.clone(),
        name: text.clone(),
        description: text.clone(),
        tags: vec![text.clone()],
        examples: vec![text.clone()],
    };
    AgentCard {
        address: address(),
        name: text.clone(),
        description: text.clone(),
        version: text.clone(),
        icon: None,
        skills: vec![skill],
        input_modes: Vec::new(),
        output_modes: Vec::new(),
        homepage: Some(text.clone()),
        language: Language::english(),
        streams: true,
        uses_tools: false,
        remembers: true,
        composes: false,
        wants_token: false,
        finds: false,
        cors: false,
        cache_control: None,
        examples: vec![text.clone()],
        endpoints: vec![Endpoint::new("web", text)],
        via: Vec::new(),
    }
}

fn address() -> Address {
    "@chef@demo.localhost".parse().unwrap()
}

/// A reply with one part of each kind, every word of which is `text`.
fn collected(text: &str, ending: Ending) -> CollectedReply {
    let text = text.to_owned();
    let value =
        json!({"@type": text, "name": text, "url": text, "description": text, "x": text, "y": [text, {"name": text}]});
    let inline = FileSource::Inline(text.clone().into());
    let remote = FileSource::Url { url: text.clone(), expires_at: None };
    let file = |source| File {
        id: Some(text.clone()),
        name: Some(text.clone()),
        mime: text.clone(),
        size_bytes: None,
        source,
    };
    let artifact = |mime: &str, content| Artifact {
        mime: mime.to_owned(),
        artifact_type: None,
        name: Some(text.clone()),
        content,
    };
    let call =
        |outcome| ToolCall { id: text.clone(), name: text.clone(), args: json!({ text.as_str(): text }), outcome };
    CollectedReply {
        findings: None,
        usage: forecourt_core::AnswerUsage::default(),
        receipt: None,
        parts: vec![
            Part::markdown(text.clone()),
            Part::text(text.clone()),
            Part::data(value.clone()),
            Part::Data(Data { data: json!([value, {"schema_object": value}]).into(), mime: None }),
            Part::data(json!(text)),
            Part::Link(Link { url: text.clone(), title: Some(text.clone()), description: Some(text.clone()) }),
            Part::Link(Link { url: text.clone(), title: None, description: None }),
            Part::File(file(inline.clone())),
            Part::File(file(remote)),
            Part::File(file(FileSource::Kept)),
            Part::Artifact(artifact("text/markdown", ArtifactContent::Text(text.clone()))),
            Part::Artifact(artifact(&text, ArtifactContent::Text(text.clone()))),
            Part::Artifact(artifact(&text, ArtifactContent::Bytes(inline))),
            Part::ToolCall(call(ToolOutcome::Result(json!(text)))),
            Part::ToolCall(call(ToolOutcome::Error(text.clone()))),
            Part::ToolCall(call(ToolOutcome::Running)),
            Part::Unknown(UnknownPart { kind: text, fields: Map::new() }),
        ],
        ending,
    }
}

fn refusals(text: &str) -> Vec<PolicyPart> {
    let payload = Map::from_iter([(text.to_owned(), json!(text))]);
    let kinds = vec![
        RefusalKind::ConsentRequired { state: text.to_owned(), return_to: text.to_owned() },
        RefusalKind::Unauthorized { auth_challenges: vec![AuthChallenge::new(text).with("realm", text)] },
        RefusalKind::PaymentRequired { accepted_payments: vec![AcceptedPayment { scheme: text.to_owned(), payload }] },
        RefusalKind::Forbidden,
        RefusalKind::TooManyRequests { retry_after_seconds: Some(90) },
        RefusalKind::UnavailableForLegalReasons,
        RefusalKind::ServiceUnavailable { retry_after_seconds: None },
        RefusalKind::Other(text.to_owned()),
    ];
    let translation = Translation { title: Some(text.to_owned()), message: text.to_owned() };
    let part = |kind| PolicyPart {
        title: Some(text.to_owned()),
        url: Some(text.to_owned()),
        action_label: Some(text.to_owned()),
        message_translations: [("de".to_owned(), translation.clone())].into(),
        ..PolicyPart::new(kind, text)
    };
    kinds.into_iter().map(part).collect()
}

fn reply_page(text: &str, ending: Ending) -> String {
    let (card, collected) = (card(text), collected(text, ending));
    let brand = Branding::default();
    let page = ReplyPage {
        brand: &brand,
        card: &card,
        url: URL,
        language: &Language::english(),
        collected: &collected,
        path: "/~chef",
        session: Some(text),
        asked: &[Part::text(text)],
        kept_under: Some("/tasks/t/artifacts/".to_owned()),
        account: Account::SignedIn(text),
        transaction: Some(text),
    };
    page.render()
}

fn refusal_page(text: &str, part: &PolicyPart, language: &Language) -> String {
    let (card, brand) = (card(text), Branding::default());
    let asked = [Part::text(text)];
    let (worded, path) = (language, "/~chef");
    let account = Account::SignedIn(text);
    RefusalPage {
        brand: &brand,
        card: &card,
        url: URL,
        language,
        worded,
        part,
        asked: &asked,
        path,
        account,
        price: (text, &[text.to_owned()]),
    }
    .render()
}

fn error_page(text: &str) -> String {
    let (address, language) = (address(), Language::english());
    ErrorPage {
        brand: &Branding::default(),
        address: Some(&address),
        url: URL,
        language: &language,
        title: text,
        message: text,
        is_english: true,
        hint: Some(text),
        asked: text,
        path: Some("/~chef"),
        may_work_again: true,
    }
    .render()
}

/// All answers that reflect `text`.
fn answers(text: &str) -> Vec<String> {
    let question = Question { text: text.to_owned(), questions: vec![json!(text), json!({ "question": text })] };
    let failed = Ending::failed(text);
    let refusals = refusals(text);
    let mut pages = vec![
        reply_page(text, Ending::Complete),
        reply_page(text, failed),
        reply_page(text, Ending::Question(question)),
        reply_page(text, Ending::Refused(Box::new(refusals[2].clone()))),
        error_page(text),
    ];
    pages.extend(refusals.iter().map(|part| refusal_page(text, part, &Language::parse("de").unwrap())));
    pages
}

/// The host's own pages, with `text` in every place.
fn own_pages(text: &str) -> Vec<String> {
    let (card, language, brand) = (card(text), Language::english(), Branding::default());
    let front = FrontPage {
        brand: &brand,
        ask: Some(&AgentListItem { card: &card, page: "/~chef", ask: Some(text) }),
        asks_several: true,
        name: text,
        domain: card.address.domain(),
        url: URL,
        language: &language,
        agents: &[AgentListItem { card: &card, page: "/~chef", ask: Some(text) }],
        json_ld: Some(text),
        manual_url: Some(text),
        previous_page: Some(text),
        next_page: Some(text),
        account: Account::SignedIn(text),
    };
    let agent = AgentPage {
        brand: &brand,
        card: &card,
        url: URL,
        language: &language,
        action: "/~chef",
        ask: Some(text),
        host_name: text,
        session: Some(text),
        json_ld: Some(text),
        account: Account::SignedOut(text.to_owned()),
    };
    vec![front.render(), agent.render()]
}

fn count(tags: &[Tag], name: &str) -> usize {
    tags.iter().filter(|tag| tag.name == name).count()
}

fn meta<'a>(tags: &'a [Tag], name: &str) -> Option<&'a str> {
    tags.iter().find(|tag| tag.attribute("name") == Some(name))?.attribute("content")
}

/// Same elements as the page of harmless text: nothing of `text` became markup.
fn check_page(page: &str, scripts: usize) {
    let tags = tags(page);
    for name in ["html", "head", "body", "main", "title"] {
        assert_eq!(count(&tags, name), 1, "{name} in {page}");
    }
    assert_eq!(count(&tags, "script"), scripts, "{page}");
    for name in ["iframe", "object", "embed", "img", "svg", "math", "base", "video", "audio", "template"] {
        assert_eq!(count(&tags, name), 0, "{name} in {page}");
    }
    for tag in &tags {
        for (name, value) in &tag.attributes {
            assert!(!name.starts_with("on") && name != "style" && name != "srcdoc", "{tag:?}");
            let target = ["href", "src", "action", "formaction"].contains(&name.as_str());
            let is_download =
                value.starts_with("data:application/octet-stream;") && tag.attribute("download").is_some();
            assert!(!target || is_download || clean::href(value).is_some(), "{tag:?}");
        }
    }
    assert!(count(&tags, "article") + count(&tags, "style") <= 2);
    assert!(!page.contains(|c| matches!(c, '\0' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')), "{page}");
}

/// Every template once, with `text` in each of its places.
fn check_reflected(text: &str) {
    let mut refusals = refusals(text).into_iter().skip(1);
    let english = Language::english();
    let mut answers: Vec<String> = refusals.by_ref().take(2).map(|part| refusal_page(text, &part, &english)).collect();
    let last = refusals.next().map(Box::new).unwrap();
    answers.extend([reply_page(text, Ending::Refused(last)), error_page(text)]);
    for page in answers {
        check_page(&page, 0);
    }
    for page in own_pages(text) {
        // The script, its words and the description for machines.
        check_page(&page, 3);
    }
}

#[test]
fn s8_2_no_payload_breaks_out_of_any_place() {
    let cases: Vec<Value> =
        vectors("markdown-xss/payloads.json").map(|b| serde_json::from_slice(&b).unwrap()).unwrap_or_default();
    cases.iter().filter_map(|case| case["markdown"].as_str()).for_each(check_reflected);
}

#[test]
fn s8_2_no_naughty_string_breaks_out_of_any_place() {
    naughty_strings().iter().for_each(|text| check_reflected(text));
}

#[test]
fn s4_1_an_answer_has_all_that_is_required() {
    for page in answers("hello") {
        assert!(page.starts_with("<!doctype html>\n<html lang=\""), "{page}");
        let title = page.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next()).unwrap();
        assert!(title.ends_with(" · @chef@demo.localhost"), "the page, the site and the address: {title}");
        let tags = tags(&page);
        assert_eq!(meta(&tags, "mentionable:agent"), Some("@chef@demo.localhost"));
        for mime in ["text/markdown", "application/json"] {
            let link = tags.iter().find(|tag| tag.attribute("type") == Some(mime)).unwrap();
            assert_eq!((link.attribute("rel"), link.attribute("href")), (Some("alternate"), Some(URL)));
        }
        let main = tags.iter().find(|tag| tag.name == "main").unwrap();
        assert_eq!(main.attribute("class"), Some("mentionable-response"));
        assert!(tags.iter().any(|tag| tag.attribute("href") == Some("https://mentionable.dev")));
    }
}

#[test]
fn every_page_has_one_heading_and_says_what_was_asked() {
    for page in answers("# hello").into_iter().chain(own_pages("# hello")) {
        assert_eq!(count(&tags(&page), "h1"), 1, "{page}");
    }
    for page in answers("hello") {
        assert!(page.contains("hello"), "{page}");
        let tags = tags(&page);
        let shared = |property: &str| tags.iter().any(|tag| tag.attribute("property") == Some(property));
        assert!(shared("og:title") && shared("og:url") && shared("og:description"), "{page}");
    }
}

#[test]
fn an_answer_goes_on_without_a_script() {
    let page = reply_page("hello", Ending::Complete);
    let tags = tags(&page);
    let forms: Vec<_> = tags.iter().filter(|tag| tag.name == "form").collect();
    let ways: Vec<_> = forms.iter().map(|form| (form.attribute("method"), form.attribute("action"))).collect();
    // Whoever is signed in is let out before anything else.
    assert_eq!(ways, [(Some("post"), Some("/sign-out")), (Some("get"), Some("/~chef"))]);
    assert!(tags.iter().any(|tag| tag.attribute("href") == Some("/account")));
    assert!(tags.iter().any(|tag| tag.attribute("name") == Some("session") && tag.attribute("value") == Some("hello")));
    let refused = refusal_page("hello", &refusals("hello").remove(3), &Language::english());
    assert!(refused.contains("value=\"hello\"") && refused.contains("action=\"/~chef\""), "{refused}");
}

#[test]
fn s8_5_no_page_is_indexed() {
    for page in answers("hello").into_iter().chain(own_pages("hello")) {
        assert_eq!(meta(&tags(&page), "robots"), Some("noindex, nofollow, noarchive"));
    }
}

#[test]
fn s8_2_the_style_of_an_answer_is_the_one_in_its_policy() {
    let page = error_page("hello");
    let style = page.split("<style>").nth(1).and_then(|rest| rest.split("</style>").next()).unwrap();
    assert_eq!(style, asset::ANSWER_CSS);
    let brand = Branding::default();
    for policy in [brand.answer_policy(), brand.asking_policy()] {
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"));
        assert!(!policy.contains("unsafe"));
    }
}

#[test]
fn s4_1_the_language_is_that_of_the_answer() {
    let german = Language::parse("de").unwrap();
    let mut part = PolicyPart::new(RefusalKind::Forbidden, "No.");
    part.message_translations.insert("de".to_owned(), Translation { title: None, message: "Nein.".to_owned() });
    let page = refusal_page("Koch", &part, &german);
    assert!(page.contains("<html lang=\"de\">") && page.contains("Nein.") && !page.contains("No."));
}

#[test]
fn a_refusal_links_only_where_it_has_a_url() {
    let mut part = PolicyPart::new(RefusalKind::Forbidden, "No.");
    let buttons = |part: &PolicyPart| {
        let page = refusal_page("Chef", part, &Language::english());
        let is_link = |tag: &Tag| tag.name == "a" && tag.attribute("class") == Some("button");
        tags(&page).into_iter().filter(is_link).collect::<Vec<_>>()
    };
    assert!(buttons(&part).is_empty());
    part.url = Some("javascript:alert(1)".to_owned());
    assert!(buttons(&part).is_empty());
    part.url = Some("https://demo.localhost/pay?a=1&b=\"".to_owned());
    let button = buttons(&part).remove(0);
    assert_eq!(button.attribute("href"), part.url.as_deref());
    assert_eq!(button.attribute("aria-label"), Some("Continue"));
    part.action_label = Some("Ask \"Ada\"".to_owned());
    assert_eq!(buttons(&part).remove(0).attribute("aria-label"), Some("Ask \"Ada\""));
}

#[test]
fn a_kept_file_is_linked_below_its_task() {
    let page = reply_page("a/b", Ending::Complete);
    assert!(tags(&page).iter().any(|tag| tag.attribute("href") == Some("/tasks/t/artifacts/a%2Fb")));
}

#[test]
fn the_chat_works_without_a_script() {
    let page = own_pages("hello").pop().unwrap();
    let tags = tags(&page);
    let form = tags.iter().find(|tag| tag.name == "form").unwrap();
    assert_eq!((form.attribute("method"), form.attribute("action")), (Some("get"), Some("/~chef")));
    let field = tags.iter().find(|tag| tag.attribute("name") == Some("user")).unwrap();
    assert_eq!(field.attribute("id"), Some("user"));
    assert!(tags.iter().any(|tag| tag.name == "label" && tag.attribute("for") == Some("user")));
    assert!(tags.iter().any(|tag| tag.attribute("href") == Some("/~chef?user=hello")));
}

#[test]
fn pages_load_their_assets_from_this_origin_only() {
    for page in own_pages("hello") {
        for tag in tags(&page).iter().filter(|tag| tag.name == "script" || tag.attribute("rel") == Some("stylesheet")) {
            if let Some(url) = tag.attribute("src").or(tag.attribute("href")) {
                let path = url.split('?').next().unwrap();
                assert!(Branding::default().asset(path).is_some(), "{url}");
            }
        }
    }
}

#[test]
fn the_script_makes_no_markup_of_text() {
    let brand = Branding::default();
    for path in ["/assets/forecourt.js", WIDGET] {
        let script = String::from_utf8_lossy(&brand.asset(path).unwrap().bytes).into_owned();
        for word in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "EventSource"]
        {
            assert!(!script.contains(word), "{word} in {path}");
        }
        let keeps = ["localStorage", "document.cookie", "sessionStorage", "indexedDB"];
        assert!(path != WIDGET || !keeps.iter().any(|word| script.contains(word)), "the search box keeps nothing");
    }
}

#[test]
fn the_front_page_says_the_same_in_markdown() {
    let (card, language, brand) = (card("Chef *one*"), Language::english(), Branding::default());
    let page = FrontPage {
        brand: &brand,
        ask: None,
        asks_several: false,
        name: "Kitchen",
        domain: card.address.domain(),
        url: URL,
        language: &language,
        agents: &[AgentListItem { card: &card, page: "/~chef", ask: Some("https://demo.localhost/~chef") }],
        json_ld: None,
        manual_url: Some("https://demo.localhost/manual"),
        previous_page: None,
        next_page: Some("/?page=2"),
        account: Account::None,
    };
    let text = page.render_markdown();
    assert!(text.starts_with("# Kitchen\n\n## Chef \\*one\\*\n\n`@chef@demo.localhost`\n"), "{text}");
    assert!(
        text.contains("curl -H 'Accept: text/markdown' 'https://demo.localhost/~chef?user=Chef%20%2Aone%2A'"),
        "{text}"
    );
    assert!(text.ends_with("Manual: <https://demo.localhost/manual>\n"), "{text}");
}

mod search;

#[test]
fn the_chat_has_the_title_of_every_kind_of_refusal() {
    let words = crate::script_words::of(crate::template::words_in(&Language::english()));
    let words: Value = serde_json::from_str(words).unwrap();
    let rows = forecourt_core::codes::refusals();
    let wanted: Map<String, Value> =
        rows.iter().map(|row| (row.code.to_string(), row.sample.kind.title().into())).collect();
    assert_eq!(words["titles"], Value::Object(wanted));
}

#[test]
fn the_front_page_offers_questions_of_each_agent_that_its_box_asks() {
    let (mut chef, mut shop, language, brand) = (card("Chef"), card("Shop"), Language::english(), Branding::default());
    for (card, handle) in [(&mut chef, "chef"), (&mut shop, "shop")] {
        card.finds = true;
        card.address = forecourt_core::Address::parse(&format!("@{handle}@demo.localhost")).unwrap();
        card.examples = (0..8).map(|n| format!("{handle} {n}")).collect();
        card.skills.clear();
    }
    let agents = [
        AgentListItem { card: &chef, page: "/~chef", ask: None },
        AgentListItem { card: &shop, page: "/~shop", ask: None },
    ];
    let front = |asks_several: bool| {
        let page = FrontPage {
            brand: &brand,
            ask: Some(&agents[0]),
            asks_several,
            name: "Kitchen",
            domain: chef.address.domain(),
            url: URL,
            language: &language,
            agents: &agents,
            json_ld: None,
            manual_url: None,
            previous_page: None,
            next_page: None,
            account: Account::None,
        };
        let html = page.render();
        let hero = html[..html.find("</header>").unwrap()].to_owned();
        (
            hero.matches("class=\"chip\"").count(),
            hero.contains("shop 0"),
            hero.contains("<option value=\"\">All of them"),
        )
    };
    assert_eq!(front(true), (crate::limits::EXAMPLES_MAX, true, true));
    assert_eq!(front(false), (crate::limits::EXAMPLES_MAX, false, false));
}
