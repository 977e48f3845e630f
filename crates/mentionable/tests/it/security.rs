//! REST 8: CSRF, CORS, caching and indexing.

use forecourt_core::AgentCard;
use forecourt_testkit::{ScriptedAgent, card};
use http::Method;

use crate::support::{Place, Setup, echo, form, get, post_to, request};

async fn post_from(place: &Place, path: &str, fields: &[(&str, &str)]) -> crate::support::Answer {
    let request = fields.iter().fold(post_to(path), |request, (name, value)| request.header(*name, *value));
    place.send_with(request, form(&[("user", "a")])).await
}

#[tokio::test]
async fn s8_2_1_posts_from_pages_of_other_sites_are_403() {
    let place = echo().await;
    for fields in [
        &[("origin", "https://evil.example")][..],
        &[("origin", "null")],
        &[("origin", "https://demo.localhost.evil.example")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-origin"), ("origin", "https://evil.example")],
    ] {
        post_from(&place, "/~echo", fields).await.is(403).has_required_fields("@echo@demo.localhost");
    }
    for fields in [
        &[][..],
        &[("origin", "https://demo.localhost"), ("sec-fetch-site", "same-origin")],
        &[("origin", "https://demo.localhost:8443")],
        &[("origin", "http://127.0.0.1:8080")],
        &[("sec-fetch-site", "none")],
    ] {
        post_from(&place, "/~echo", fields).await.is(200);
    }
}

async fn open() -> Place {
    let card = AgentCard { cors: true, ..card("open") };
    Setup::default().with(card, ScriptedAgent::saying(["hi"])).start().await
}

const CORS: [(&str, &str); 4] = [
    ("access-control-allow-origin", "*"),
    ("access-control-allow-methods", "GET, POST, OPTIONS"),
    (
        "access-control-allow-headers",
        "Content-Type, Accept, Accept-Language, Authorization, Signature, Signature-Input, \
         Mentionable-Identity-Evidence, Mentionable-Identity, X-Mentionable-Identity, X-Mentionable-From",
    ),
    ("access-control-expose-headers", "X-Mentionable-Agent, X-Mentionable-Session, Content-Language"),
];

#[tokio::test]
async fn s8_6_cors_is_opt_in_with_exactly_the_listed_values() {
    let place = open().await;
    let preflight = request(Method::OPTIONS, "/~open")
        .header("origin", "https://a.example")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "x-odd, content-type");
    for answer in [
        place.send(preflight).await.is(204),
        place.send(get("/~open?user=a").header("origin", "https://a.example")).await.is(200),
        place.send(get("/~open?x=1")).await.is(400),
        post_from(&place, "/~open", &[("origin", "https://a.example"), ("sec-fetch-site", "cross-site")]).await.is(200),
    ] {
        for (name, value) in CORS {
            assert_eq!(answer.field(name), Some(value));
        }
        assert_eq!(answer.field("access-control-allow-credentials"), None);
    }
}

#[tokio::test]
async fn s8_6_without_the_option_there_is_nothing_to_read() {
    let place = open().await;
    for answer in [
        place.send(request(Method::OPTIONS, "/~echo").header("origin", "https://a.example")).await,
        place.send(get("/~echo?user=a").header("origin", "https://a.example")).await,
    ] {
        assert!(answer.headers.keys().all(|name| !name.as_str().starts_with("access-control")));
    }
}

#[tokio::test]
async fn s8_5_long_caching_is_the_agents_choice_for_whole_answers_only() {
    let card = AgentCard { cache_control: Some("public, max-age=60".into()), ..card("faq") };
    let place = Setup::default().with(card, ScriptedAgent::saying(["hi"])).start().await;
    assert_eq!(place.send(get("/~faq?user=a")).await.is(200).field("cache-control"), Some("public, max-age=60"));
    assert_eq!(place.send(get("/~faq?x=a")).await.is(400).field("cache-control"), Some("private, max-age=0"));
}

#[tokio::test]
async fn policy_f7_what_another_site_may_have_sent_spends_nothing() {
    let agent = ScriptedAgent::saying(["soup"]);
    let place = Setup::default().with(card("bot"), agent.clone()).start().await;
    let asked = [
        (None, true),
        (Some(("sec-fetch-site", "same-origin")), true),
        (Some(("sec-fetch-site", "none")), true),
        (Some(("origin", "https://demo.localhost")), true),
        (Some(("sec-fetch-site", "cross-site")), false),
        (Some(("origin", "https://evil.example")), false),
    ];
    for (header, may_spend) in asked {
        let request = get("/~bot?user=a").header("accept", "application/json");
        let request = header.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        place.send(request).await.is(200);
        assert_eq!(agent.heard().pop().unwrap().sender.allowance.has_credit(), may_spend, "{header:?}");
    }
}
