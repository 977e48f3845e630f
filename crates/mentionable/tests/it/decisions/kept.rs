//! What a browser without an account agreed to holds for it, and for nobody and nothing else.

use std::time::Duration;

use forecourt_testkit::card;
use http::Method;

use super::support::{Browser, Shop, consent, of, page_of, payment, token_of, wanting};
use crate::support::{get, request};

const COOKIE: &str = "__Host-forecourt_consents";
const ASKS: &str = "/~bot?user=lentils";

/// A browser that agreed, and has forgotten its conversation.
async fn agreed(shop: &Shop) -> Browser {
    let browser = Browser::default();
    let path = browser.refused(&shop.place).await;
    let back = browser.decides(&shop.place, &path, "accept").await.is(303);
    browser.open(&shop.place, back.field("location").unwrap()).await.is(200);
    browser.cookies.lock().retain(|name, _| name == COOKIE);
    browser
}

#[tokio::test]
async fn a_browser_that_agreed_is_not_asked_again_for_as_long_as_it_said() {
    let shop = wanting(consent()).await;
    let browser = agreed(&shop).await;
    for _ in 0..2 {
        browser.open(&shop.place, ASKS).await.is(200);
    }
    shop.place.clock.advance(Duration::from_secs(364 * 24 * 60 * 60));
    browser.open(&shop.place, ASKS).await.is(200);
    // Nobody keeps a cookie for longer, and its consent ends with it.
    shop.place.clock.advance(Duration::from_secs(24 * 60 * 60));
    browser.open(&shop.place, ASKS).await.is(401);
}

#[tokio::test]
async fn the_cookie_is_for_this_host_and_no_script() {
    let shop = wanting(consent()).await;
    let browser = Browser::default();
    let path = browser.refused(&shop.place).await;
    let back = browser.decides(&shop.place, &path, "accept").await.is(303);
    let set: Vec<_> = back.headers.get_all("set-cookie").iter().collect();
    let [set] = &set[..] else { panic!("{set:?}") };
    assert!(set.is_sensitive());
    let value = set.to_str().unwrap();
    let (pair, attributes) = value.split_once("; ").unwrap();
    assert_eq!(pair.strip_prefix("__Host-forecourt_consents=").unwrap().len(), 43, "256 bits");
    assert_eq!(attributes, "Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax; Secure");
    // Sent twice, the form leaves a cookie that is good.
    let again = Browser::default();
    let path = again.refused(&shop.place).await;
    let token = token_of(again.open(&shop.place, &path).await.is(200).text());
    for _ in 0..2 {
        again.cookies.lock().remove(COOKIE);
        again.submit(&shop.place, &path, &[("token", &token), ("decision", "accept")]).await.is(303);
    }
    again.cookies.lock().retain(|name, _| name == COOKIE);
    again.open(&shop.place, ASKS).await.is(200);
}

#[tokio::test]
async fn another_browser_a_guess_and_another_wire_have_nothing_of_it() {
    let shop = wanting(consent()).await;
    let browser = agreed(&shop).await;
    let token = browser.cookies.lock()[COOKIE].clone();
    Browser::default().open(&shop.place, ASKS).await.is(401);
    let guessing = Browser::default();
    guessing.cookies.lock().insert(COOKIE.to_owned(), "A".repeat(43));
    guessing.open(&shop.place, ASKS).await.is(401);
    let sent = |more: &[(&'static str, &'static str)], cookie: String| {
        let first = get(ASKS).header("accept", "text/html").header("cookie", cookie);
        shop.place.send(more.iter().fold(first, |request, (name, value)| request.header(*name, *value)))
    };
    let own = format!("{COOKIE}={token}");
    sent(&[("sec-fetch-site", "same-origin")], own.clone()).await.is(200);
    // Whatever another site has a browser send, a second cookie that was planted, and the name of plain http.
    for foreign in [
        &[("origin", "https://evil.example")][..],
        &[("origin", "null")],
        &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "cors")],
        &[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")],
    ] {
        sent(foreign, own.clone()).await.is(401);
    }
    sent(&[], format!("{own}; {COOKIE}=x")).await.is(401);
    sent(&[], format!("forecourt-consents={token}")).await.is(401);
    // It is neither a conversation, nor a state, nor a token of anybody.
    sent(&[], format!("__Host-conversation={token}; __Host-session={token}")).await.is(401);
    shop.place.send(get(&format!("{ASKS}&session={token}"))).await.is(401);
    shop.place.send(get(ASKS).header("authorization", format!("Bearer {token}"))).await.is(401);
    shop.place.send(get(&format!("/~bot?state={token}"))).await.is(404);
}

#[tokio::test]
async fn it_pays_for_nothing() {
    let free = wanting(consent()).await;
    let browser = agreed(&free).await;
    let shop = of(payment(), card("bot")).await;
    browser.open(&shop.place, ASKS).await.is(402);
}

#[tokio::test]
async fn a_planted_token_is_replaced_and_an_own_one_is_kept() {
    let shop = wanting(consent()).await;
    let browser = Browser::default();
    browser.cookies.lock().insert(COOKIE.to_owned(), "A".repeat(43));
    let path = browser.refused(&shop.place).await;
    browser.decides(&shop.place, &path, "accept").await.is(303);
    let first = browser.cookies.lock()[COOKIE].clone();
    assert_ne!(first, "A".repeat(43));
    shop.place.clock.advance(Duration::from_secs(366 * 24 * 60 * 60));
    browser.cookies.lock().retain(|name, _| name == COOKIE);
    let path = browser.refused(&shop.place).await;
    browser.decides(&shop.place, &path, "accept").await.is(303);
    assert_ne!(browser.cookies.lock()[COOKIE], first, "what is forgotten is not known");
}

#[tokio::test]
async fn programs_keep_no_cookie() {
    let shop = wanting(consent()).await;
    let path = page_of(shop.place.ask(ASKS, "text/html").await.is(401).text());
    let token = token_of(shop.place.ask(&path, "text/html").await.is(200).text());
    let fields = [("token", token.as_str()), ("decision", "accept")];
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let kind = "application/x-www-form-urlencoded";
    let post = request(Method::POST, &path).header("accept", "text/html").header("content-type", kind);
    let agreed = shop.place.send_with(post, body).await.is(303);
    assert_eq!(agreed.field("set-cookie"), None);
}
