//! Mentionable REST v0.1 as a stranger with curl meets it.

use std::collections::BTreeSet;

use regex::Regex;
use serde_json::Value;

use crate::support::{Deployment, Served};
use crate::wire::Answer;

/// A picture of one pixel.
const PIXEL: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0, 0, 1, 8,
    4, 0, 0, 0, 0xb5, 0x1c, 0x0c, 2,
];

/// Fields that every response of the transport has. REST 5.2, 8.5.
const FIELDS: [&str; 5] = ["content-type", "content-language", "x-mentionable-agent", "cache-control", "x-robots-tag"];

fn accept(media: &str) -> String {
    format!("Accept: {media}")
}

/// What `user` gets in `media` from `agent`.
#[track_caller]
fn asked(served: &Served, agent: &str, user: &str, media: &str) -> Answer {
    served.curl(&format!("/~{agent}?user={user}"), &["-H", &accept(media)])
}

/// The text parts of a JSON answer, joined.
fn words(answer: &Answer) -> String {
    let json = answer.json();
    let parts = json["parts"].as_array().expect("parts");
    parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn s9_1_a_browser_visit_is_a_page() {
    let served = Deployment::kitchen().serve();
    let answer = served.curl_tls("/~chef/?user=chickpea%20soup%20%26%20%3Cscript%3E", &[]).with_status(200);
    assert_eq!(answer.named("content-type"), "text/html; charset=utf-8");
    assert_eq!(answer.named("content-language"), "en");
    assert_eq!(answer.named("x-mentionable-agent"), "@chef@demo.localhost");
    assert_eq!(answer.named("cache-control"), "private, max-age=0");
    let page = answer.text();
    let same_url = served.https_url("/~chef/?user=chickpea%20soup%20%26%20%3Cscript%3E");
    for part in [
        "<!doctype html>",
        "<html lang=\"en\">",
        " · Demo kitchen · @chef@demo.localhost</title>",
        "<meta name=\"mentionable:agent\" content=\"@chef@demo.localhost\">",
        "<meta name=\"robots\" content=\"noindex, nofollow, noarchive\">",
        &format!("<link rel=\"alternate\" type=\"text/markdown\" href=\"{same_url}\">"),
        "<main class=\"mentionable-response\">",
        "<article",
        "Chickpea",
    ] {
        assert!(page.contains(part), "no {part} in {page}");
    }
    assert!(!page.contains("<script"), "{page}");
}

#[test]
fn s9_2_an_llm_client_gets_the_words_alone() {
    let served = Deployment::kitchen().serve();
    let answer = served.curl_tls("/~chef/?user=4%25%20chickpea%20soup", &["-H", "Accept: text/markdown"]);
    let answer = answer.with_status(200);
    assert_eq!(answer.named("content-type"), "text/markdown; charset=utf-8");
    assert_eq!(answer.named("content-language"), "en");
    assert_eq!(answer.named("x-mentionable-agent"), "@chef@demo.localhost");
    let text = answer.text();
    assert!(text.contains("](https://en.wikibooks.org/") && !text.contains('<') && !text.starts_with('{'), "{text}");
}

#[test]
fn s9_3_earlier_turns_are_history_and_not_the_question() {
    let served = Deployment::kitchen().serve();
    let turns = ["-F", "user=earlier I asked", "-F", "assistant=and got this", "-F", "user=4% now"];
    let echo = served.curl("/~echo/", &[&["-H", "Accept: text/markdown"], &turns[..]].concat()).with_status(200);
    assert_eq!(echo.named("content-type"), "text/markdown; charset=utf-8");
    assert_eq!(echo.text(), "4% now");
    let turns = ["-F", "user=chickpea soup", "-F", "assistant=I found some.", "-F", "user=only under 30 minutes"];
    let chef = served.curl("/~chef", &[&["-H", "Accept: application/json"], &turns[..]].concat()).with_status(200);
    let said = words(&chef);
    assert!(said.contains("Chickpea") && said.contains("30 min"), "{said}");
}

#[test]
fn s9_4_an_attachment_is_part_of_its_turn() {
    let served = Deployment::gatehouse().serve();
    let file = served.deployment.path().join("chart.png");
    std::fs::write(&file, PIXEL).unwrap();
    let attach = format!("user=@{};type=image/png", file.display());
    let turn = ["-H", "Accept: application/json", "-F", "user=look at this chart", "-F", &attach];
    let answer = served.curl("/~echo/", &turn).with_status(200).json();
    let [text, image] = answer["parts"].as_array().unwrap().as_slice() else { panic!("{answer}") };
    assert_eq!(text["text"], "look at this chart");
    assert_eq!(image["mime"], "image/png");
    assert_eq!(image["name"], "chart.png");
    assert_eq!(image["size_bytes"], PIXEL.len());
}

#[test]
fn s3_3_a_data_url_is_an_attachment_in_both_forms() {
    let served = Deployment::gatehouse().serve();
    let url = "data:image/png;base64,iVBORw0KGgo=";
    let get =
        served.curl("/~echo?user=hi&user=data:image/png%3Bbase64,iVBORw0KGgo%3D", &["-H", "Accept: application/json"]);
    let post = served
        .curl("/~echo", &["-H", "Accept: application/json", "-F", "user=hi", "--form-string", &format!("user={url}")]);
    for answer in [get, post] {
        let answer = answer.with_status(200).json();
        assert_eq!((&answer["parts"][0]["text"], &answer["parts"][1]["mime"]), (&"hi".into(), &"image/png".into()));
    }
}

#[test]
fn s9_5_words_stream_and_end() {
    let served = Deployment::gatehouse().serve();
    let answer = asked(&served, "gate", "tool", "text/event-stream").with_status(200);
    assert!(answer.named("content-type").starts_with("text/event-stream"), "{answer:?}");
    assert_eq!(answer.named("cache-control"), "no-cache");
    assert_eq!(answer.named("x-mentionable-agent"), "@gate@demo.localhost");
    let text = answer.text();
    let frames: Vec<&str> = text.trim_end().split("\n\n").collect();
    let [words, running, done, more, end] = frames.as_slice() else { panic!("{frames:?}") };
    assert_eq!(*words, "data: Let me look that up. ");
    assert!(running.starts_with("event: tool_call\ndata: {\"part\":{\"args\""), "{running}");
    assert!(done.contains("\"result\":{\"hits\":3}") && done.ends_with("\"v\":\"v0.1\"}"), "{done}");
    assert_eq!((*more, *end), ("data: There are three.", "event: end\ndata: {}"));
}

#[test]
fn s9_6_payment_required_is_a_page_with_a_link() {
    let served = Deployment::gatehouse().serve();
    let answer = served.curl_tls("/~gate/?user=pay", &[]).with_status(402);
    assert_eq!(answer.named("content-type"), "text/html; charset=utf-8");
    let page = answer.text();
    let link = format!("href=\"{}\"", served.https_url("/~gate?user=paid"));
    for part in ["<main class=\"mentionable-response\">", "<article", "Payment required", "Two coins.", &link] {
        assert!(page.contains(part), "no {part} in {page}");
    }
}

#[test]
fn s4_four_media_types_and_the_default() {
    let served = Deployment::gatehouse().serve();
    let html = served.curl("/~echo?user=*hi*", &["-H", "Accept:"]).with_status(200);
    assert!(html.text().contains("<em>hi</em>"), "{html:?}");
    for (media, wanted) in [
        ("*/*", "text/html"),
        ("text/html", "text/html"),
        ("text/markdown, text/html;q=0.9", "text/markdown"),
        ("application/json, */*;q=0.1", "application/json"),
        ("text/event-stream", "text/event-stream"),
        ("text/*;q=0.5, application/json;q=0.4", "text/html"),
        ("image/png, text/markdown;q=0.1", "text/markdown"),
    ] {
        let answer = asked(&served, "echo", "hi", media).with_status(200);
        assert!(answer.named("content-type").starts_with(wanted), "{media}: {answer:?}");
    }
    assert_eq!(asked(&served, "echo", "*hi*", "text/markdown").text(), "*hi*");
    let json = asked(&served, "echo", "*hi*", "application/json").json();
    assert_eq!((json["v"].as_str(), json["agent"].as_str()), (Some("v0.1"), Some("@echo@demo.localhost")));
    assert_eq!(json["parts"][0]["kind"], "text");
    assert_eq!(asked(&served, "echo", "*hi*", "text/event-stream").text(), "data: *hi*\n\nevent: end\ndata: {}\n\n");
}

/// The seven refusals: what to say, the status, and a field with what it holds. PolicyPart 4.5.
const REFUSALS: [(&str, u16, &str, &str, &str); 7] = [
    ("consent", 401, "consent_required", "www-authenticate", "Mentionable-Consent "),
    ("login", 401, "unauthorized", "www-authenticate", "Bearer realm=\"demo.localhost"),
    ("pay", 402, "payment_required", "content-type", "application/json"),
    ("forbid", 403, "forbidden", "content-type", "application/json"),
    ("flood", 429, "too_many_requests", "retry-after", "30"),
    ("law", 451, "unavailable_for_legal_reasons", "link", "rel=\"blocked-by\""),
    ("closed", 503, "service_unavailable", "retry-after", "120"),
];

#[test]
fn s5_1_each_refusal_has_its_status_and_fields() {
    let served = Deployment::gatehouse().serve();
    for (said, status, kind, field, holds) in REFUSALS {
        let json = asked(&served, "gate", said, "application/json").with_status(status);
        assert!(json.named(field).contains(holds), "{said}: {json:?}");
        let body = json.json();
        assert_eq!((&body["policy"]["kind"], &body["v"]), (&kind.into(), &"v0.1".into()), "{said}");
        assert_eq!(body.get("parts"), None, "{said}");
        let message = body["policy"]["message"].as_str().unwrap();
        let page = asked(&served, "gate", said, "text/html").with_status(status);
        assert!(page.text().contains(message), "{said}: {page:?}");
        let text = asked(&served, "gate", said, "text/markdown").with_status(status).text();
        // No state serves two calls.
        let state = body["policy"]["state"].as_str().unwrap_or("\0");
        let url = body["policy"]["url"].as_str().map(|url| url.trim_end_matches(state));
        let wanted = url.map_or(message.to_owned(), |url| format!("{message}\n\n{url}"));
        assert!(text.starts_with(&wanted), "{said}: {text}");
        let stream = asked(&served, "gate", said, "text/event-stream").with_status(200).text();
        assert!(stream.contains("event: policy\ndata: {\"part\":"), "{said}: {stream}");
        assert!(stream.ends_with("event: end\ndata: {}\n\n"), "{said}: {stream}");
    }
}

#[test]
fn s5_1_a_refusal_speaks_the_callers_language() {
    let served = Deployment::gatehouse().serve();
    let answer = served.curl("/~gate?user=forbid", &["-H", "Accept: text/html", "-H", "Accept-Language: de"]);
    let answer = answer.with_status(403);
    assert_eq!(answer.named("content-language"), "de");
    assert!(answer.text().contains("Nicht erlaubt") && answer.text().contains("Das ist nicht für Sie."), "{answer:?}");
}

#[test]
fn s6_a_conversation_is_carried_by_its_token() {
    let kitchen = Deployment::kitchen();
    kitchen.edit("agents/chef.toml", "results = 10", "results = 3");
    let served = kitchen.serve();
    let ask =
        |query: &str| served.curl(&format!("/~chef?{query}"), &["-H", "Accept: application/json"]).with_status(200);
    let first = ask("user=chickpeas");
    let session = first.named("x-mentionable-session");
    assert_eq!(first.json()["session"], session.as_str());
    let narrowed = ask(&format!("session={session}&user=only%20under%2040%20minutes"));
    let more = ask(&format!("session={session}&user=more"));
    assert!(words(&narrowed).contains("40 min"), "{narrowed:?}");
    assert_eq!((names(&first).len(), names(&narrowed).len(), names(&more).len()), (3, 3, 3), "{more:?}");
    assert!(names(&narrowed).is_disjoint(&names(&more)), "{narrowed:?} {more:?}");
    let alone = ask("user=more");
    assert!(names(&alone).is_disjoint(&names(&first)), "another caller's `more` goes on with nothing: {alone:?}");
}

/// The recipes that an answer links to.
fn names(answer: &Answer) -> BTreeSet<String> {
    let link = Regex::new(r"\[([^\]]+)\]\(https://en\.wikibooks").unwrap();
    link.captures_iter(&words(answer)).map(|found| found[1].to_owned()).collect()
}

#[test]
fn s6_a_token_that_nobody_gave_out_is_a_fresh_start() {
    let served = Deployment::kitchen().serve();
    for token in ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "x", "%27%20OR%201=1"] {
        let answer = served.curl(&format!("/~chef?session={token}&user=chickpeas"), &[]);
        assert!(matches!(answer.status, 200 | 404), "{answer:?}");
    }
}

#[test]
fn s3_and_s4_what_is_wrong_is_named_with_its_status() {
    let served = Deployment::gatehouse().serve();
    let long = format!("/~echo?user={}", "a".repeat(8 * 1024));
    let large = served.deployment.path().join("large");
    std::fs::write(&large, vec![b'a'; 1024 * 1024 + 1]).unwrap();
    let attach = format!("user=@{}", large.display());
    let cases: [(&str, &[&str], u16); 16] = [
        ("/nowhere", &[], 404),
        ("/~echo/further", &[], 404),
        ("/~nobody?user=hi", &[], 404),
        ("/~nobody", &["-F", "user=hi"], 404),
        ("/~echo", &["-X", "PUT", "-d", "x"], 405),
        ("/~echo", &["-X", "PATCH", "-d", "x"], 405),
        ("/~echo", &["-X", "DELETE"], 405),
        ("/tasks/x", &["-X", "DELETE"], 405),
        ("/tasks/x/webhook", &["-X", "PUT"], 405),
        ("/~echo?user=hi", &["-H", "Accept: image/png"], 406),
        (&long, &[], 413),
        ("/~echo", &["-F", &attach], 413),
        ("/~echo", &["-d", "user=hi"], 415),
        ("/~echo", &["-H", "Content-Type: application/json", "-d", "{}"], 415),
        ("/~echo?assistant=x&user=hi", &[], 400),
        ("/~echo?lang=de", &[], 400),
    ];
    for (path, arguments, status) in cases {
        let answer = served.curl(path, arguments);
        assert_eq!(answer.status, status, "{path:.40} {arguments:?}: {answer:?}");
        for field in FIELDS {
            assert!(answer.field(field).is_some(), "{path:.40} {arguments:?} has no {field}: {answer:?}");
        }
        if status == 405 {
            assert!(answer.named("allow").contains("OPTIONS"), "{answer:?}");
        }
    }
}

#[test]
fn s3_1_the_right_form_is_shown() {
    let served = Deployment::gatehouse().serve();
    let wrong = served.curl("/~echo?lang=de", &["-H", "Accept: application/json"]).json();
    assert_eq!(wrong["hint"], format!("GET {}", served.url("/~echo?user=hello")));
    let wrong = served.curl("/~echo?assistant=x&user=y", &["-H", "Accept: text/markdown"]).text();
    assert!(wrong.contains("POST multipart/form-data"), "{wrong}");
}

#[test]
fn s3_5_head_has_the_fields_of_get_and_options_the_methods() {
    let served = Deployment::kitchen().serve();
    for path in ["/~echo?user=hi", "/~gate?user=pay", "/", "/~chef", "/tasks/x"] {
        let (head, get) = (served.curl(path, &["--head"]), served.curl(path, &[]));
        assert_eq!((head.status, head.body.len()), (get.status, 0), "{path}");
        for field in FIELDS.iter().chain(&["content-length", "vary"]) {
            assert_eq!(head.field(field), get.field(field), "{path} {field}");
        }
    }
    for (path, methods) in
        [("/~gate", "GET, HEAD, POST, OPTIONS"), ("/tasks/x", "GET, HEAD, OPTIONS"), ("/", "GET, HEAD, OPTIONS")]
    {
        let answer = served.curl(path, &["-X", "OPTIONS"]).with_status(204);
        assert_eq!(answer.named("allow"), methods, "{path}");
    }
}

#[test]
fn s8_5_no_answer_may_be_indexed() {
    let served = Deployment::kitchen().serve();
    for path in [
        "/",
        "/~chef",
        "/~gate",
        "/~gate?user=pay",
        "/~gate?user=fail",
        "/~gate?user=file",
        "/~echo?user=hi",
        "/~echo?nothing",
        "/~nobody",
        "/nowhere",
        "/tasks/x",
        "/tasks/x/artifacts/y",
        "/assets/nothing",
        "/.well-known/nothing",
        "/.well-known/webfinger?resource=acct:chef@demo.localhost",
        "/.well-known/agent-card/chef",
    ] {
        for media in ["text/html", "text/markdown", "application/json", "text/event-stream", "image/png"] {
            let answer = served.curl(path, &["-H", &accept(media)]);
            assert_eq!(answer.named("x-robots-tag"), "noindex, nofollow, noarchive", "{path} {media}");
            if answer.named("content-type").starts_with("text/html") && path != "/" {
                let meta = "<meta name=\"robots\" content=\"noindex, nofollow, noarchive\">";
                assert!(answer.text().contains(meta), "{path} {media}: {answer:?}");
            }
        }
    }
}

#[test]
fn s8_6_only_an_agent_that_wants_it_is_open_to_pages_of_other_origins() {
    let served = Deployment::gatehouse().serve();
    let foreign = ["-H", "Origin: https://elsewhere.example"];
    let open = served.curl("/~echo?user=hi", &foreign).with_status(200);
    assert_eq!(open.named("access-control-allow-origin"), "*");
    assert_eq!(open.named("access-control-allow-methods"), "GET, POST, OPTIONS");
    let closed = served.curl("/~gate?user=hi", &foreign).with_status(200);
    assert_eq!(closed.field("access-control-allow-origin"), None);
    served.curl("/~gate", &[&foreign[..], &["-F", "user=hi"]].concat()).with_status(403);
}

#[test]
fn s8_2_what_a_caller_says_never_becomes_markup() {
    let served = Deployment::kitchen_with_guide().serve();
    let evil = "%3Cscript%3Ealert(1)%3C/script%3E%3Cimg%20src=x%20onerror=alert(1)%3E";
    for agent in ["echo", "chef", "gate", "guide"] {
        let answer = asked(&served, agent, evil, "text/html");
        let (page, policy) = (answer.text(), answer.named("content-security-policy"));
        assert!(!page.contains("<script>alert") && !page.contains("<img src=x"), "{agent}: {page}");
        assert!(policy.starts_with("default-src 'none'; style-src '") && !policy.contains("script-src"), "{policy}");
    }
}

#[test]
fn d7_1_a_request_without_a_question_shows_the_agent() {
    let served = Deployment::kitchen().serve();
    let json = served.curl("/~chef", &["-H", "Accept: application/json"]).with_status(200).json();
    assert_eq!((&json["agent"], &json["name"]), (&"@chef@demo.localhost".into(), &"Chef".into()));
    let text = served.curl("/~chef", &["-H", "Accept: text/markdown"]).with_status(200).text();
    assert!(text.contains("@chef@demo.localhost"), "{text}");
    let front = served.curl("/", &["-H", "Accept: application/json"]).with_status(200).json();
    let handles: Vec<&str> = front["agents"].as_array().unwrap().iter().filter_map(|a| a["agent"].as_str()).collect();
    assert_eq!(handles.len(), 3, "{handles:?}");
}

#[test]
fn d7_13_an_agent_that_fails_is_told_as_it_is() {
    let served = Deployment::gatehouse().serve();
    let json = asked(&served, "gate", "fail", "application/json").with_status(502).json();
    assert_eq!(json["error"], Value::from("Gate was asked to fail, and did."));
    let stream = asked(&served, "gate", "fail", "text/event-stream").with_status(200).text();
    let told = "data: I will try. \n\n: code agent-failed\n\n: error Gate was asked to fail, and did.\n\n";
    assert_eq!(stream, told, "a broken answer must not look like a whole one");
}

#[test]
fn d7_18_names_that_are_not_ours_are_misdirected() {
    let served = Deployment::gatehouse().serve();
    let to = format!("::127.0.0.1:{}", served.http);
    let foreign = crate::wire::curl("http://elsewhere.example/~echo?user=hi", &["--connect-to", &to]);
    foreign.with_status(421);
    let local = format!("http://127.0.0.1:{}/~echo?user=hi", served.http);
    crate::wire::curl(&local, &[]).with_status(200);
}
