//! Viewers see everything and do nothing; and what a person may do is asked anew with every request.

use http::Method;
use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, ORIGIN};

use crate::desk::{Console, ORIGIN_OF_CONSOLE, TOKEN};

/// Every call of the document, with names of nothing in it: verb, path, and whether it is for operators alone.
fn calls() -> Vec<(Method, String, bool)> {
    let document = forecourt_admin::document();
    let mut calls = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (verb, operation) in operations.as_object().unwrap() {
            let path = path.split('/').map(|part| if part.starts_with('{') { "nobody" } else { part });
            let method = verb.to_uppercase().parse().unwrap();
            let is_for_operators = operation["description"].as_str().unwrap_or_default().contains("`operator`");
            calls.push((method, path.collect::<Vec<_>>().join("/"), is_for_operators));
        }
    }
    assert!(calls.len() > 30 && calls.iter().any(|(method, ..)| method == Method::POST));
    let reads = calls.iter().filter(|(method, _, is_for_operators)| method == Method::GET && *is_for_operators);
    assert_eq!(reads.count(), 2, "only files of settings are hidden from viewers");
    calls
}

#[tokio::test]
async fn of_all_calls_a_viewer_makes_those_that_look_and_an_operator_all() {
    let console = Console::open().await;
    let (viewer, operator) = (console.log_in(&["staff"]).await, console.log_in(&["chiefs"]).await);
    for (cookie, may_act) in [(&viewer, false), (&operator, true)] {
        let csrf = console.csrf(cookie).await;
        let csrf_field = http::HeaderName::from_static("x-csrf-token");
        for (method, path, is_for_operators) in calls() {
            let fields = [
                (COOKIE, cookie.as_str()),
                (ORIGIN, ORIGIN_OF_CONSOLE),
                (CONTENT_TYPE, "application/json"),
                (csrf_field.clone(), csrf.as_str()),
            ];
            let answer = console.send(method.clone(), &path, &fields, "").await;
            assert!(is_for_operators || method != Method::POST, "{path}");
            let is_refused = is_for_operators && !may_act;
            assert_eq!(answer.status == 403, is_refused, "{method} {path}: {answer:?}");
            assert!(!matches!(answer.status, 401 | 405 | 500), "{method} {path}: {answer:?}");
            if method != Method::POST {
                continue;
            }
            assert!(may_act || answer.body.contains("ada@acme.tld is a viewer"), "{path}: {answer:?}");
            // The same by a form of the console.
            let form = path.replace("/api/v1", "/console/do");
            let answer = console.form(&form, &[cookie], &format!("csrf={csrf}")).await;
            assert_eq!(answer.status == 403, !may_act, "{form}: {answer:?}");
            assert!(may_act || answer.body.contains("is a viewer"), "{form}: {answer:?}");
        }
        for path in ["/console/try/agents/echo", "/console/try/endpoints/nothing", "/console/try/tools/nothing"] {
            let answer = console.form(path, &[cookie], &format!("csrf={csrf}&text=hello")).await;
            assert_eq!(answer.status == 403, !may_act, "{path}: {answer:?}");
        }
    }
    let state = console.get("/api/v1/agents/echo", &[&viewer]).await.body;
    assert!(state.contains("\"active\""), "{state}");
}

#[tokio::test]
async fn no_page_of_a_viewer_has_a_button_that_does_something() {
    let console = Console::open().await;
    let (viewer, operator) = (console.log_in(&["staff"]).await, console.log_in(&["chiefs"]).await);
    let front = console.get("/console", &[&viewer]).await.body;
    let links = front.split("<a href=\"/console").skip(1).map(|rest| rest.split('"').next().unwrap());
    let paths = links.map(|rest| format!("/console{rest}")).chain(["/console/agents/echo".to_owned()]);
    let paths: Vec<String> = paths.chain(["/console/try/agents/echo".to_owned()]).collect();
    assert!(paths.len() > 15, "{paths:?}");
    let mut acting = 0;
    for path in &paths {
        let page = console.get(path, &[&viewer]).await;
        assert_eq!(page.status, 200, "{path}");
        let forms: Vec<_> =
            page.body.split("method=\"post\"").skip(1).map(|rest| rest.split('>').next().unwrap()).collect();
        assert_eq!(forms, [" action=\"/console/logout\""], "{path}");
        acting += console.get(path, &[&operator]).await.body.matches("method=\"post\"").count() - 1;
    }
    assert!(acting > 4, "operators have what viewers have not: {acting}");
}

#[tokio::test]
async fn other_settings_take_what_they_took_from_a_person_at_once() {
    let console = Console::open().await;
    let chief = console.log_in(&["chiefs", "staff"]).await;
    let csrf = console.csrf(&chief).await;
    assert_eq!(console.suspends(&chief, &csrf).await.status, 303);
    // Chiefs are nobody any more, but are of the staff too.
    console.opens_by(|settings| settings.oidc.as_mut().unwrap().operators = vec!["few".to_owned()]);
    assert_eq!(console.suspends(&chief, &csrf).await.status, 403);
    assert!(console.is_in(&chief).await, "a viewer still");
    console.opens_by(|settings| settings.oidc.as_mut().unwrap().viewers = vec!["some".to_owned()]);
    console.opens_by(|settings| {
        let oidc = settings.oidc.as_mut().unwrap();
        (oidc.operators, oidc.viewers) = (vec!["few".to_owned()], vec!["some".to_owned()]);
    });
    assert!(!console.is_in(&chief).await);
    console.opens_by(|_| {});
    assert_eq!(console.suspends(&chief, &csrf).await.status, 303, "as it was");
    for change in [
        |settings: &mut crate::desk::Settings| settings.oidc.as_mut().unwrap().client_id = "another".to_owned(),
        |settings: &mut crate::desk::Settings| settings.oidc.as_mut().unwrap().issuer = "https://b.example".to_owned(),
        |settings: &mut crate::desk::Settings| settings.oidc.as_mut().unwrap().claim = "roles".to_owned(),
        |settings: &mut crate::desk::Settings| settings.oidc = None,
    ] {
        console.opens_by(change);
        assert!(!console.is_in(&chief).await);
        assert_eq!(console.get("/api/v1/overview", &[&chief]).await.status, 401);
        console.opens_by(|_| {});
    }
    // A viewer becomes nothing more by other settings, before the next login.
    let viewer = console.log_in(&["staff"]).await;
    let csrf = console.csrf(&viewer).await;
    console.opens_by(|settings| settings.oidc.as_mut().unwrap().operators = vec!["staff".to_owned()]);
    assert_eq!(console.suspends(&viewer, &csrf).await.status, 403);
    let again = console.log_in(&["staff"]).await;
    assert_eq!(console.suspends(&again, &console.csrf(&again).await).await.status, 303);
    // Neither way in opens what the other one opened.
    let by_token = console.with_token().await;
    console.opens_by(|settings| settings.token = None);
    assert!(!console.is_in(&by_token).await && console.is_in(&again).await);
    console.opens_by(|settings| settings.token = Some("another-token-of-it"));
    assert!(!console.is_in(&by_token).await);
    let bearer = format!("Bearer {TOKEN}");
    assert_eq!(console.send(Method::GET, "/api/v1/overview", &[(AUTHORIZATION, &bearer)], "").await.status, 401);
}
