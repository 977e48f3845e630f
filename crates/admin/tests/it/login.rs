//! Logging in at a provider: what must hold, and the attacks that must fail. OpenID Connect Core 3.1, RFC 9700.

use forecourt_admin::limits::{ATTEMPTS_WITHIN, LOGINS_BEGUN_MAX};
use forecourt_oidc::limits::FLOW_TIME_MAX;
use forecourt_testhost::openid::CLIENT;
use http::Method;
use http::header::{COOKIE, HOST, ORIGIN};
use serde_json::{Value, json};

use crate::desk::{Console, ORIGIN_OF_CONSOLE, SECOND};

#[tokio::test]
async fn whoever_has_a_role_at_the_provider_is_let_in_with_it() {
    let console = Console::open().await;
    let page = console.get("/console/login?next=/console/tasks", &[]).await.body;
    assert!(page.contains("Log in with Acme") && page.contains("name=\"token\""), "{page}");
    let away = console.leave("/console/tasks").await;
    assert_eq!(away.parameter("redirect_uri"), format!("{ORIGIN_OF_CONSOLE}/console/login/callback"));
    assert_eq!((away.parameter("code_challenge_method"), away.parameter("client_id")), ("S256".into(), CLIENT.into()));
    for (groups, role) in [(&["chiefs", "staff"][..], "operator"), (&["staff"], "viewer")] {
        let cookie = console.log_in(groups).await;
        assert_eq!(console.provider.asked()["code_verifier"].len(), 43);
        let page = console.get("/console", &[&cookie]).await.body;
        assert!(page.contains(&format!("ada@acme.tld <span class=\"badge plain\">{role}</span>")), "{page}");
        let actions = console.get("/api/v1/actions", &[&cookie]).await.body;
        assert!(actions.contains(&format!("console as {role}")), "{actions}");
    }
}

#[tokio::test]
async fn whoever_has_no_role_gets_a_clear_page_and_no_session() {
    let console = Console::open().await;
    for groups in [&[][..], &["others"], &["Chiefs"]] {
        let refused = console.try_login(groups, |_| {}).await;
        assert_eq!((refused.status, refused.session()), (403, None), "{groups:?}");
        for word in ["ada@acme.tld", "may not come in", "[admin.oidc]", "Log in with Acme"] {
            assert!(refused.body.contains(word), "{word}: {}", refused.body);
        }
    }
    // With the next try the provider asks who they are, or they would be sent back as the same once more.
    assert!(console.try_login(&[], |_| {}).await.body.contains("name=\"anew\""));
    let away = console.form("/console/login/provider", &[], "next=&anew=1").await.leads_to();
    assert!(away.contains("prompt=login"), "{away}");
    assert!(!console.leave("/console").await.url.as_str().contains("prompt="));
    let held_back = |claims: &mut Value| {
        claims.as_object_mut().unwrap().remove("groups");
        claims["_claim_names"] = json!({"groups": "src1"});
    };
    let refused = console.try_login(&[], held_back).await;
    assert!(refused.status == 403 && refused.body.contains("holds"), "{refused:?}");
}

#[tokio::test]
async fn core3_1_3_7_an_id_token_that_does_not_hold_lets_nobody_in() {
    let console = Console::open().await;
    let now = console.now().as_second();
    let wrong: Vec<(&str, Value)> = vec![
        ("nonce", json!("another")),
        ("nonce", Value::Null),
        ("iss", json!("https://evil.example")),
        ("aud", json!("another-client")),
        ("aud", json!([CLIENT, "another-client"])),
        ("azp", json!("another-client")),
        ("exp", json!(now)),
        ("exp", json!(now - 1)),
        ("exp", Value::Null),
        ("sub", json!("")),
        ("sub", Value::Null),
        ("at_hash", json!("AAAAAAAAAAAAAAAAAAAAAA")),
    ];
    for (name, value) in wrong {
        let shown = format!("{name} = {value}");
        let refused = console
            .try_login(&["chiefs"], |claims| match value {
                Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
                value => claims[name] = value,
            })
            .await;
        assert!(matches!(refused.status, 400 | 503) && refused.session().is_none(), "{shown}: {refused:?}");
    }
    for way in ["stranger", "none", "hs256"] {
        console.provider.answers(way);
        let refused = console.try_login(&["chiefs"], |_| {}).await;
        assert_eq!((refused.status, refused.session()), (400, None), "{way}");
    }
    console.provider.answers("well");
    // One second of life left is enough.
    let last = console.try_login(&["chiefs"], |claims| claims["exp"] = json!(now + 1)).await;
    assert!(last.session().is_some(), "{last:?}");
}

#[tokio::test]
async fn rfc9700_2_1_a_state_is_good_for_one_use() {
    let console = Console::open().await;
    let away = console.leave("/console").await;
    console.says(&away, &["chiefs"], |_| {});
    assert!(console.come_back(&away, &[&away.cookie]).await.session().is_some());
    for _ in 0..2 {
        let again = console.come_back(&away, &[&away.cookie]).await;
        assert_eq!((again.status, again.session()), (400, None));
        assert!(again.body.contains("used before") && again.body.contains("Log in with Acme"), "{}", again.body);
    }
    // Of two hundred at once, one.
    let away = console.leave("/console").await;
    console.says(&away, &["chiefs"], |_| {});
    let cookie = [away.cookie.as_str()];
    let many = futures::future::join_all((0..200).map(|_| console.come_back(&away, &cookie))).await;
    assert_eq!(many.iter().filter(|answer| answer.session().is_some()).count(), 1);
}

#[tokio::test]
async fn rfc9700_4_7_nobody_ends_a_login_that_another_browser_began() {
    let console = Console::open().await;
    let (own, other) = (console.leave("/console").await, console.leave("/console").await);
    console.says(&own, &["chiefs"], |_| {});
    for planted in [&[][..], &[other.cookie.as_str()], &["forecourt-login-x=y"]] {
        let away = console.leave("/console").await;
        console.says(&away, &["chiefs"], |_| {});
        let injected = console.come_back(&away, planted).await;
        assert_eq!((injected.status, injected.session()), (400, None), "{planted:?}");
        // What was tried by a stranger is of no use to anybody.
        assert_eq!(console.come_back(&away, &[&away.cookie]).await.status, 400);
    }
    // A cookie that was planted beside the right one counts as none.
    let name = own.cookie.split('=').next().unwrap();
    let planted = console.come_back(&own, &[&own.cookie, &format!("{name}=x")]).await;
    assert_eq!((planted.status, planted.session()), (400, None));
}

#[tokio::test]
async fn rfc9207_2_4_an_answer_of_another_issuer_lets_nobody_in() {
    let console = Console::open().await;
    for (issuer, is_right) in [("https://evil.example".to_owned(), false), (console.provider.issuer.clone(), true)] {
        let away = console.leave("/console").await;
        console.says(&away, &["chiefs"], |_| {});
        let path = format!("/console/login/callback?code=c&state={}&iss={issuer}", away.parameter("state"));
        let answer = console.get(&path, &[&away.cookie]).await;
        assert_eq!(answer.session().is_some(), is_right, "{issuer}: {answer:?}");
    }
    for (error, status) in [("access_denied", 403), ("server_error", 503), ("%3Cscript%3E", 403)] {
        let away = console.leave("/console").await;
        let path = format!("/console/login/callback?error={error}&state={}", away.parameter("state"));
        let answer = console.get(&path, &[&away.cookie]).await;
        assert!(answer.status == status && answer.session().is_none(), "{error}: {answer:?}");
        assert!(!answer.body.contains("<script"), "{}", answer.body);
    }
    for query in ["", "?state=", "?code=c", "?state=x&code=c", "?state=a&state=b", "?code=%ff&state=%00"] {
        let answer = console.get(&format!("/console/login/callback{query}"), &[]).await;
        assert_eq!((answer.status, answer.session()), (400, None), "{query}");
    }
}

#[tokio::test]
async fn rfc9700_4_11_nobody_is_led_elsewhere() {
    let console = Console::open().await;
    for evil in [
        "https%3A%2F%2Fevil.example",
        "%2F%2Fevil.example",
        "%2F%5Cevil.example",
        "%2Fconsole%2F..%2F..%2Fevil",
        "%2Fconsole%2F%2Fevil.example",
        "javascript%3Aalert(1)",
        "%2Fconsole%0d%0aSet-Cookie%3A+x%3Dy",
        "%2Fconsole%2Flogin",
    ] {
        let away = console.leave(evil).await;
        console.says(&away, &["staff"], |_| {});
        let came = console.come_back(&away, &[&away.cookie]).await;
        assert_eq!((came.status, came.leads_to().as_str()), (200, "/console"), "{evil}");
        let page = console.get(&format!("/console/login?next={evil}"), &[]).await.body;
        assert!(!page.contains("evil"), "{page}");
    }
}

#[tokio::test]
async fn the_address_to_come_back_to_is_never_what_a_request_says() {
    let console = Console::open().await;
    let form = [(http::header::CONTENT_TYPE, "application/x-www-form-urlencoded"), (ORIGIN, "https://evil.example")];
    for host in ["evil.example", "127.0.0.1:1", "evil.example:9080"] {
        let own = format!("https://{host}");
        let fields = [(HOST, host), form[0].clone(), (ORIGIN, own.as_str())];
        let answer = console.send(Method::POST, "/console/login/provider", &fields, "").await;
        assert!(answer.leads_to().contains("redirect_uri=http%3A%2F%2F127.0.0.1%3A9080%2Fconsole"), "{answer:?}");
    }
    let forwarded = http::HeaderName::from_static("x-forwarded-host");
    let fields = [(forwarded, "evil.example"), form[0].clone(), (ORIGIN, ORIGIN_OF_CONSOLE)];
    let answer = console.send(Method::POST, "/console/login/provider", &fields, "").await;
    assert!(!answer.body.contains("evil"), "{answer:?}");
    console.opens_by(|settings| settings.url = Some("https://console.example"));
    let answer = console.form("/console/login/provider", &[], "").await;
    assert!(answer.leads_to().contains("redirect_uri=https%3A%2F%2Fconsole.example%2Fconsole%2Flogin"), "{answer:?}");
    assert!(answer.cookies[0].starts_with("__Host-forecourt-login-") && answer.cookies[0].contains("; Secure"));
    // Whoever is at another address is led there first, where the cookie will be found again.
    let page = console.get("/console/login?next=/console/tasks", &[]).await.body;
    assert!(
        page.contains("href=\"https://console.example/console/login?here=1&#38;next=%2Fconsole%2Ftasks\""),
        "{page}"
    );
    let page = console.send(Method::GET, "/console/login", &[(HOST, "console.example")], "").await.body;
    assert!(page.contains("action=\"/console/login/provider\""), "{page}");
    let page = console.get("/console/login?here=1", &[]).await.body;
    assert!(page.contains("action=\"/console/login/provider\""), "a proxy may have another name for it: {page}");
}

#[tokio::test]
async fn other_sites_begin_no_login() {
    let console = Console::open().await;
    let site = http::HeaderName::from_static("sec-fetch-site");
    let form = (http::header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    for foreign in [(ORIGIN, "https://evil.example"), (ORIGIN, "null"), (site, "cross-site"), (COOKIE, "a=b")] {
        let fields = [foreign.clone(), form.clone()];
        let answer = console.send(Method::POST, "/console/login/provider", &fields, "").await;
        assert!(answer.status == 403 && answer.cookies.is_empty(), "{foreign:?}: {answer:?}");
    }
    assert_eq!(console.get("/console/login/provider", &[]).await.status, 405);
}

#[tokio::test]
async fn a_provider_that_answers_anything_else_is_a_clear_page_and_the_token_does() {
    let console = Console::open().await;
    for way in ["garbage", "huge", "down"] {
        console.provider.answers(way);
        let away = console.try_login(&["chiefs"], |_| {}).await;
        assert_eq!((away.status, away.session()), (503, None), "{way}: {}", away.body);
        for word in ["Acme can&#39;t be reached", "name=\"token\"", "value=\"/console/tasks\""] {
            assert!(away.body.contains(word), "{way}: {word} in {}", away.body);
        }
    }
    // Nobody is there at all.
    console.opens_by(|settings| settings.oidc.as_mut().unwrap().issuer = "http://127.0.0.1:9".to_owned());
    let away = console.form("/console/login/provider", &[], "next=%2Fconsole%2Ftasks").await;
    assert!(away.status == 503 && away.body.contains("name=\"token\""), "{away:?}");
    assert!(console.is_in(&console.with_token().await).await);
}

#[tokio::test]
async fn a_login_takes_ten_minutes_at_most() {
    let console = Console::open().await;
    for (late, is_in) in [(FLOW_TIME_MAX - SECOND, true), (FLOW_TIME_MAX, false)] {
        let away = console.leave("/console").await;
        console.advance(late);
        console.says(&away, &["staff"], |_| {});
        assert_eq!(console.come_back(&away, &[&away.cookie]).await.session().is_some(), is_in, "{late:?}");
    }
}

#[tokio::test]
async fn logins_that_are_begun_have_a_bound() {
    let console = Console::open().await;
    for _ in 0..LOGINS_BEGUN_MAX {
        console.leave("/console").await;
    }
    let held = console.form("/console/login/provider", &[], "").await;
    assert!(
        held.status == 429 && held.body.contains("too many logins") || held.body.contains("Too many logins"),
        "{held:?}"
    );
    assert!(console.is_in(&console.with_token().await).await, "the token is not held up");
    console.advance(ATTEMPTS_WITHIN);
    console.leave("/console").await;
}

#[tokio::test]
async fn with_a_provider_alone_there_is_no_way_in_for_a_token() {
    let console = Console::open().await;
    console.opens_by(|settings| settings.token = None);
    let page = console.get("/console/login", &[]).await.body;
    assert!(page.contains("Log in with Acme") && !page.contains("name=\"token\""), "{page}");
    assert_eq!(console.form("/console/login", &[], "token=a-token-of-the-operator").await.status, 403);
    let bearer = (http::header::AUTHORIZATION, "Bearer a-token-of-the-operator");
    assert_eq!(console.send(Method::GET, "/api/v1/overview", &[bearer], "").await.status, 401);
    assert!(console.is_in(&console.log_in(&["staff"]).await).await);
    console.opens_by(|settings| {
        (settings.token, settings.oidc) = (None, None);
    });
    for path in ["/console", "/console/login", "/api/v1/overview"] {
        assert_eq!(console.get(path, &[]).await.status, 403, "{path}");
    }
    assert_eq!(console.form("/console/login/provider", &[], "").await.status, 404);
}
