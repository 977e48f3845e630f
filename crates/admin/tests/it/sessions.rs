//! How long a session lasts, what ends it, and that nobody can have planted it.

use forecourt_admin::limits::{LOOK_EVERY, SESSION_IDLE, SESSION_LIFETIME, SESSION_TOUCH};
use futures::StreamExt;
use http::Method;
use http::header::{CONTENT_TYPE, COOKIE, HOST, ORIGIN};
use tokio::time::Instant;

use crate::desk::{Console, SECOND, TOKEN};

#[tokio::test]
async fn a_session_ends_when_nobody_comes_for_a_while() {
    let console = Console::open().await;
    let (one, other) = (console.with_token().await, console.with_token().await);
    console.advance(SESSION_IDLE - SECOND);
    assert!(console.is_in(&one).await);
    console.advance(SECOND);
    assert!(!console.is_in(&other).await, "half an hour without a visit");
    assert!(console.is_in(&one).await, "a visit lets it go on");
    console.advance(SESSION_IDLE - SESSION_TOUCH);
    assert!(console.is_in(&one).await);
    console.advance(SESSION_IDLE - SECOND);
    assert!(console.is_in(&one).await);
    console.advance(SESSION_IDLE);
    assert!(!console.is_in(&one).await);
}

#[tokio::test]
async fn a_session_ends_after_its_lifetime_however_often_somebody_comes() {
    let console = Console::open().await;
    let cookie = console.log_in(&["staff"]).await;
    let step = SESSION_IDLE / 2;
    let mut gone = step;
    while gone < SESSION_LIFETIME {
        console.advance(step);
        assert!(console.is_in(&cookie).await, "after {gone:?}");
        gone += step;
    }
    console.advance(step - SECOND);
    assert!(console.is_in(&cookie).await, "a second is left");
    console.advance(SECOND);
    assert!(!console.is_in(&cookie).await);
}

#[tokio::test]
async fn a_session_that_was_ended_lets_nobody_in_from_the_next_request_on() {
    let console = Console::open().await;
    let (chief, viewer) = (console.log_in(&["chiefs"]).await, console.log_in(&["staff"]).await);
    let listed: serde_json::Value =
        serde_json::from_str(&console.get("/api/v1/sessions", &[&chief]).await.body).unwrap();
    let sessions = listed["console"].as_array().unwrap();
    assert_eq!(sessions.len(), 2, "{listed}");
    let of_viewer = sessions.iter().find(|session| session["role"] == "viewer").unwrap();
    let csrf = console.csrf(&chief).await;
    let path = format!("/console/do/sessions/{}/end", of_viewer["id"].as_str().unwrap());
    assert_eq!(console.form(&path, &[&chief], &format!("csrf={csrf}")).await.status, 303);
    assert!(!console.is_in(&viewer).await && console.is_in(&chief).await);
    let out = console.form("/console/logout", &[&chief], &format!("csrf={csrf}")).await;
    assert!(out.status == 303 && out.cookies.iter().all(|cookie| cookie.contains("Max-Age=0")), "{out:?}");
    assert!(!console.is_in(&chief).await, "a copy of the cookie is of no use");
}

#[tokio::test]
async fn a_session_that_was_planted_is_not_the_one_that_is_opened() {
    let console = Console::open().await;
    let planted = console.with_token().await;
    let login = console.form("/console/login", &[&planted], &format!("token={TOKEN}")).await;
    let own = login.session().unwrap();
    assert_ne!(own, planted);
    assert!(!console.is_in(&planted).await, "whoever planted it has nothing");
    let away = console.leave("/console").await;
    console.says(&away, &["staff"], |_| {});
    let came = console.come_back(&away, &[&away.cookie, &own]).await;
    assert!(came.session().is_some_and(|cookie| cookie != own) && !console.is_in(&own).await);
    let made_up = format!("forecourt-console={}", "a".repeat(43));
    let login = console.form("/console/login", &[&made_up], &format!("token={TOKEN}")).await;
    assert_ne!(login.session().unwrap(), made_up);
    assert!(!console.is_in(&made_up).await);
}

#[tokio::test]
async fn a_session_counts_in_the_way_in_which_it_was_begun() {
    let console = Console::open().await;
    let logs_in = async |host: &str, origin: &str| {
        let fields = [(HOST, host), (ORIGIN, origin), (CONTENT_TYPE, "application/x-www-form-urlencoded")];
        console.send(Method::POST, "/console/login", &fields, &format!("token={TOKEN}")).await
    };
    let opens = async |host: &str, cookie: &str| {
        console.send(Method::GET, "/console", &[(HOST, host), (COOKIE, cookie)], "").await.status == 200
    };
    let (here, there) = ("localhost:9080", "console.example");
    let plain = logs_in(here, "http://localhost:9080").await.session().unwrap();
    let secure = logs_in(there, "https://console.example").await.session().unwrap();
    assert!(plain.starts_with("forecourt-console=") && secure.starts_with("__Host-forecourt-console="));
    assert!(opens(here, &plain).await && opens(there, &secure).await);
    assert!(!opens(there, &plain).await, "a plain cookie is for one machine alone");
    // The same secret under the other name.
    let (of_plain, of_secure) = (plain.split_once('=').unwrap().1, secure.split_once('=').unwrap().1);
    assert!(!opens(there, &format!("__Host-forecourt-console={of_plain}")).await);
    assert!(!opens(here, &format!("forecourt-console={of_secure}")).await);
    // A proxy on this machine that does not pass the host on.
    let behind = logs_in(here, "https://console.example").await;
    assert_eq!(behind.status, 403, "nobody has said that this is its address");
    console.opens_by(|settings| settings.url = Some("https://console.example"));
    let behind = logs_in(here, "https://console.example").await;
    let cookie = behind.session().unwrap();
    assert!(cookie.starts_with("__Host-") && behind.cookies[0].contains("; Secure"), "{behind:?}");
    assert!(opens(here, &cookie).await);
}

#[tokio::test(start_paused = true)]
async fn what_goes_on_in_the_name_of_a_session_ends_with_it() {
    let console = Console::open().await;
    let cookie = console.with_token().await;
    let mut events = console.follow("/api/v1/overview", &cookie).await.into_data_stream();
    let first = events.next().await.unwrap().unwrap();
    assert!(first.starts_with(b"event: changed"), "{first:?}");
    let csrf = console.csrf(&cookie).await;
    console.form("/console/logout", &[&cookie], &format!("csrf={csrf}")).await;
    let since = Instant::now();
    while events.next().await.is_some() {}
    assert!(since.elapsed() < LOOK_EVERY * 3, "{:?}", since.elapsed());
    let by_token = console.with_token().await;
    let mut events = console.follow("/api/v1/overview", &by_token).await.into_data_stream();
    assert!(events.next().await.is_some());
    console.opens_by(|settings| settings.token = Some("another-token-of-it"));
    let since = Instant::now();
    while events.next().await.is_some() {}
    assert!(since.elapsed() < LOOK_EVERY * 3, "{:?}", since.elapsed());
}
