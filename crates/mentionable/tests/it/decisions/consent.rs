use std::time::Duration;

use forecourt_core::AgentCard;
use forecourt_core::policy::Confirmation;
use forecourt_testkit::card;
use http::Method;
use serde_json::json;

use super::support::{Browser, consent, of, page_of, payment, state_of, token_of, wanting};
use crate::support::{form, get, post_to, request};

#[tokio::test]
async fn policy5_3_a_person_agrees_and_sees_question_and_answer() {
    for remembers in [false, true] {
        let shop = of(consent(), AgentCard { remembers, ..card("bot") }).await;
        let browser = Browser::default();
        let path = browser.refused(&shop.place).await;
        let page = browser.open(&shop.place, &path).await.is(200);
        page.has_required_fields("@bot@demo.localhost");
        for words in ["Please agree.", "We keep what you say.", "Kept days", "chickpea soup", "@bot@demo.localhost"] {
            assert!(page.text().contains(words), "{words} in {}", page.text());
        }
        let back = browser.decides(&shop.place, &path, "accept").await.is(303);
        assert_eq!(back.field("location"), Some(format!("/~bot?state={}", state_of(&path)).as_str()));
        let answer = browser.open(&shop.place, back.field("location").unwrap()).await.is(200);
        assert!(answer.text().contains("chickpea soup") && answer.text().contains("Done."), "{}", answer.text());
        let heard = shop.agent.heard();
        assert_eq!((heard.len(), heard[0].text().as_str()), (1, "chickpea soup"));
        let resolution = heard[0].policy_resolution.as_ref().expect("the agent is told what was done");
        assert_eq!(resolution.in_reply_to_state.expose(), state_of(&path));
        assert!(matches!(resolution.confirmation, Confirmation::ConsentRequired(_)));
    }
}

#[tokio::test]
async fn policy5_5_a_reload_runs_nothing_twice() {
    let shop = wanting(once(consent())).await;
    let browser = Browser::default();
    let path = browser.refused(&shop.place).await;
    let back = browser.decides(&shop.place, &path, "accept").await.is(303);
    let location = back.field("location").unwrap().to_owned();
    browser.open(&shop.place, &location).await.is(200);
    let again = browser.open(&shop.place, &location).await;
    // The consent holds for the conversation, or it is asked for anew: the same state is of no use either way.
    let heard = shop.agent.heard();
    let used = heard.iter().filter(|message| message.policy_resolution.is_some()).count();
    assert_eq!(used, 1, "{}", again.text());
}

/// A consent that holds for no more than its one question.
fn once(mut requirement: forecourt_core::policy::Requirement) -> forecourt_core::policy::Requirement {
    if let forecourt_core::policy::Demand::Consent(terms) = &mut requirement.demand {
        terms.lifetime_seconds = Some(1);
    }
    requirement
}

#[tokio::test]
async fn policy5_5_a_used_state_is_of_no_use_again() {
    let shop = wanting(once(consent())).await;
    let browser = Browser::default();
    let path = browser.refused(&shop.place).await;
    let back = browser.decides(&shop.place, &path, "accept").await.is(303);
    let location = back.field("location").unwrap().to_owned();
    browser.open(&shop.place, &location).await.is(200);
    shop.place.clock.advance(Duration::from_secs(2));
    let again = browser.open(&shop.place, &location).await.is(410);
    assert!(again.text().contains("answered already"), "{}", again.text());
    let words = browser.open(&shop.place, &format!("{location}&user=lentils")).await.is(401);
    assert_ne!(page_of(words.text()), path, "a new page");
    assert_eq!(shop.agent.heard().len(), 1);
    browser.open(&shop.place, &path).await.is(404);
}

#[tokio::test]
async fn policy5_3_a_person_says_no() {
    let shop = wanting(consent()).await;
    let browser = Browser::default();
    let path = browser.refused(&shop.place).await;
    let shown = browser.decides(&shop.place, &path, "decline").await.is(303);
    assert_eq!(shown.field("location"), Some(path.as_str()));
    let page = browser.open(&shop.place, &path).await.is(200);
    assert!(page.text().contains("You said no") && !page.text().contains("<form"), "{}", page.text());
    let late = browser.submit(&shop.place, &path, &[("token", &token(&path)), ("decision", "accept")]).await;
    assert_eq!(late.is(303).field("location"), Some(path.as_str()), "it stays as it is");
    assert!(shop.agent.heard().is_empty());
}

/// The form's token of a page that has no form any more.
fn token(path: &str) -> String {
    forecourt_egress::signature::sign(state_of(path).as_bytes(), b"consent_required")
}

#[tokio::test]
async fn policy3_3_4_whoever_is_merely_given_the_address_is_not_shown_the_answer() {
    let shop = wanting(consent()).await;
    let (asker, other) = (Browser::default(), Browser::default());
    let path = asker.refused(&shop.place).await;
    let back = other.decides(&shop.place, &path, "accept").await.is(303);
    let bounced = other.open(&shop.place, back.field("location").unwrap()).await.is(303);
    assert_eq!(bounced.field("location"), Some(path.as_str()));
    let page = other.open(&shop.place, &path).await.is(200);
    assert!(page.text().contains("Go back to where you asked") && !page.text().contains("state="), "{}", page.text());
    assert!(shop.agent.heard().is_empty());
    let answer = asker.open(&shop.place, back.field("location").unwrap()).await.is(200);
    assert!(answer.text().contains("Done."));
}

#[tokio::test]
async fn policy3_3_4_a_program_goes_on_in_its_session() {
    let shop = wanting(consent()).await;
    let refused = shop.place.ask("/~bot?user=a", "application/json").await.is(401);
    assert_eq!(refused.field("set-cookie"), None, "programs keep no cookies");
    let session = refused.field("x-mentionable-session").unwrap().to_owned();
    let path = page_of(&refused.text().replace("\\/", "/"));
    Browser::default().decides(&shop.place, &path, "accept").await.is(303);
    let state = state_of(&path);
    shop.place.ask(&format!("/~bot?state={state}"), "application/json").await.is(404);
    let posted = shop.place.post("/~bot", &[("state", state), ("session", &session)]).await.is(200);
    assert!(posted.text().contains("Done."));
    assert_eq!(shop.agent.heard()[0].text(), "a");
}

#[tokio::test]
async fn policy3_3_4_words_of_its_own_count_before_those_that_were_kept() {
    let shop = wanting(consent()).await;
    let browser = Browser::default();
    let path = browser.refused(&shop.place).await;
    let back = browser.decides(&shop.place, &path, "accept").await.is(303);
    let location = format!("{}&user=lentils", back.field("location").unwrap());
    let answer = browser.open(&shop.place, &location).await.is(200);
    assert_eq!(shop.agent.heard()[0].text(), "lentils");
    assert!(!answer.text().contains("chickpea"));
}

#[tokio::test]
async fn s3_5_head_uses_nothing_up() {
    let shop = wanting(consent()).await;
    let browser = Browser::default();
    let path = browser.refused(&shop.place).await;
    assert!(shop.place.send(request(Method::HEAD, &path).header("accept", "text/html")).await.is(200).body.is_empty());
    let back = browser.decides(&shop.place, &path, "accept").await.is(303);
    let location = back.field("location").unwrap();
    shop.place.send(request(Method::HEAD, location).header("accept", "text/html")).await.is(200);
    browser.open(&shop.place, location).await.is(200);
    assert_eq!(shop.agent.heard().len(), 1);
}

#[tokio::test]
async fn policy3_3_4_unknown_expired_used_and_malformed_states_look_alike() {
    let shop = wanting(consent()).await;
    let (browser, unknown) = (Browser::default(), "A".repeat(43));
    let used = browser.refused(&shop.place).await;
    let back = browser.decides(&shop.place, &used, "accept").await.is(303);
    browser.open(&shop.place, back.field("location").unwrap()).await.is(200);
    let expired = Browser::default().refused(&shop.place).await;
    shop.place.clock.advance(Duration::from_secs(60 * 60 + 1));
    let other_kind = format!("/pay/{}", state_of(&Browser::default().refused(&shop.place).await));
    let paths = [used, expired, other_kind, format!("/consent/{unknown}"), "/consent/x".into(), "/pay/..%2f".into()];
    for accept in ["text/html", "application/json", "text/markdown"] {
        let mut bodies = Vec::new();
        for path in &paths {
            let answer = shop.place.ask(path, accept).await.is(404);
            answer.has_required_fields("@echo@demo.localhost");
            assert_eq!(answer.field("cache-control"), Some("no-store"));
            bodies.push(answer.text().replace(path.as_str(), "").to_owned());
        }
        bodies.dedup();
        assert_eq!(bodies.len(), 1, "{bodies:?}");
    }
    for state in [unknown.as_str(), "x", ""] {
        shop.place.ask(&format!("/~bot?state={state}"), "text/html").await.is(404);
    }
}

#[tokio::test]
async fn s8_2_1_a_decision_is_posted_by_its_own_page_alone() {
    let shop = wanting(consent()).await;
    let browser = Browser::default();
    let path = browser.refused(&shop.place).await;
    let token = token_of(browser.open(&shop.place, &path).await.text());
    let body = format!("token={}&decision=accept", token.replace('=', "%3D"));
    let urlencoded = "application/x-www-form-urlencoded";
    let post = || request(Method::POST, &path).header("accept", "text/html").header("content-type", urlencoded);
    let cross = [("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")];
    for (name, value) in cross {
        shop.place.send_with(post().header(name, value), body.clone()).await.is(403);
    }
    let posing = post().header("sec-fetch-site", "same-origin").header("origin", "https://evil.example");
    shop.place.send_with(posing, body.clone()).await.is(403);
    let other = forecourt_egress::signature::sign("A".repeat(43).as_bytes(), b"consent_required");
    for forged in ["", "sha256=00", &other, &token[1..]] {
        let body = format!("token={}&decision=accept", forged.replace('=', "%3D"));
        shop.place.send_with(post(), body).await.is(403);
    }
    for bad in ["maybe", ""] {
        shop.place.send_with(post(), format!("token={}&decision={bad}", token.replace('=', "%3D"))).await.is(400);
    }
    let json = post_to(&path).header("sec-fetch-site", "same-origin");
    shop.place.send_with(json, form(&[("decision", "accept")])).await.is(415);
    assert!(browser.open(&shop.place, &path).await.text().contains("I agree"), "nothing was decided");
    // As browsers do it for a page that sends no referrer.
    let own = post().header("sec-fetch-site", "same-origin").header("origin", "null");
    shop.place.send_with(own, body).await.is(303);
}

#[tokio::test]
async fn s3_5_other_methods_are_405_and_get_changes_nothing() {
    let shop = wanting(consent()).await;
    let path = Browser::default().refused(&shop.place).await;
    for method in [Method::PUT, Method::PATCH, Method::DELETE] {
        let answer = shop.place.send(request(method, &path)).await.is(405);
        assert_eq!(answer.field("allow"), Some("GET, HEAD, POST, OPTIONS"));
    }
    for query in ["?decision=accept", "?token=x&decision=decline"] {
        shop.place.ask(&format!("{path}{query}"), "text/html").await.is(200);
    }
    let told = shop.place.ask(&path, "application/json").await.is(200).json();
    assert_eq!((&told["status"], &told["policy"]["kind"]), (&json!("issued"), &json!("consent_required")));
    assert_eq!(told["scope"]["kept_days"], 7);
}

#[tokio::test]
async fn s8_the_page_is_kept_nowhere_and_names_itself_to_nobody() {
    for requirement in [consent(), payment()] {
        let shop = wanting(requirement).await;
        let path = Browser::default().refused(&shop.place).await;
        let page = shop.place.ask(&path, "text/html").await.is(200);
        assert_eq!(page.field("cache-control"), Some("no-store"));
        assert_eq!(page.field("referrer-policy"), Some("no-referrer"));
        let policy = page.field("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none';") && policy.contains("form-action 'self'"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{policy}");
    }
}

#[tokio::test]
async fn s5_1_the_words_are_the_readers() {
    let mut requirement = consent();
    let german = forecourt_core::policy::Translation { title: None, message: "Bitte zustimmen.".to_owned() };
    requirement.message_translations.insert("de".to_owned(), german);
    let shop = wanting(requirement).await;
    let path = Browser::default().refused(&shop.place).await;
    let page = shop.place.send(get(&path).header("accept", "text/html").header("accept-language", "de")).await.is(200);
    assert!(page.text().contains("Bitte zustimmen.") && page.text().contains("<html lang=\"de\""), "{}", page.text());
    assert_eq!(page.field("content-language"), Some("de"));
}
