//! Section 12.1: endpoints that are made of calls of others.

use std::sync::Arc;

use forecourt_contract::limits::COMPOSITION_DEPTH_MAX;
use forecourt_contract::refusal::FailedStep;
use forecourt_contract::refusal::IdentityRefusal;
use forecourt_contract::{Call, Method, Refusal};
use forecourt_core::identity::BEARER_TOKEN;
use forecourt_endpoints::limits::{RESULTS_BYTES_MAX, STEP_BYTES_MAX};
use forecourt_testkit::proven;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    answer, call, caller, deployment, endpoint, function, loaded, loaded_with, opened, problems, terms,
};

/// The file of an endpoint that runs a recipe.
pub(crate) fn composition(method: &str, path: &str, recipe: &str, more: &str) -> String {
    let handler = format!(
        "errors = [\"composition_failed\"]\n[endpoint.handler]\ntype = \"composition\"\nrecipe = \"{recipe}\"\n{more}"
    );
    endpoint(method, path, &handler)
}

/// A deployment with `PLAN /trips`, which runs these steps, and the functions that they may call.
fn trips(steps: &str) -> TempDir {
    let recipe = format!("[[recipe]]\nname = \"trip\"\nversion = 7\n{steps}\n");
    let book =
        function("BOOK", "/rooms/{id}", "echo").replace("errors =", "required_scopes = [\"booking:room\"]\nerrors =");
    deployment(&[
        ("recipes.toml", &recipe),
        ("endpoints/trip.toml", &composition("PLAN", "/trips", "trip", "timeout_seconds = 5")),
        ("endpoints/same.toml", &function("QUERY", "/same", "same")),
        ("endpoints/echo.toml", &function("QUERY", "/told", "echo")),
        ("endpoints/book.toml", &book),
        ("endpoints/full.toml", &function("RESERVE", "/full", "full")),
        ("endpoints/large.toml", &function("QUERY", "/large", "large")),
        ("endpoints/hang.toml", &function("QUERY", "/hang", "hang")),
    ])
}

async fn planned(folder: &TempDir, call: Call) -> Result<Value, Refusal> {
    let loaded = loaded(folder.path());
    assert_eq!(problems(&loaded), Vec::<String>::new());
    answer(&loaded, call).await
}

fn plan(input: Value) -> Call {
    call("PLAN", "/trips", input)
}

async fn failed(steps: &str, call: Call) -> FailedStep {
    match planned(&trips(steps), call).await {
        Err(Refusal::Step { failed, .. }) => *failed,
        other => panic!("{other:?}"),
    }
}

const SAME_THEN: &str = "[[recipe.steps]]\nmethod = \"QUERY\"\npath = \"/same\"\ncapture_as = \"first\"\n\
    parameters = { n = { kind = \"proposal\", value = \"n\" } }\n[[recipe.steps]]\n";

#[tokio::test]
async fn s12_1_steps_run_in_order_and_hand_on_what_they_found() {
    let folder = trips(&format!(
        "{SAME_THEN}method = \"QUERY\"\npath = \"/same\"\nparameters = {{ deep = {{ kind = \"previous_step\", value = \"first\" }}, \
         on = {{ kind = \"constant\", value = true }}, id = {{ kind = \"proposal\", value = \"id\" }} }}"
    ));
    let found = planned(&folder, plan(json!({"n": 3}))).await;
    assert_eq!(found, Ok(json!({"deep": {"n": 3}, "on": true})));
}

#[tokio::test]
async fn s12_1_every_step_is_the_callers_own_call() {
    let folder = trips(
        "steps = [{ method = \"BOOK\", path = \"/rooms/{id}\", parameters = { id = { kind = \"proposal\", value = \"id\" } } }]",
    );
    let mut call = plan(json!({"id": "a/b"}));
    call.caller = caller("booking:*");
    call = call.claiming(forecourt_contract::ScopeSet::parse_list("booking:room").unwrap());
    call.thread.task_id = Some("t1".into());
    call.idempotency_key = Some("k".into());
    let found = planned(&folder, call).await;
    let expected =
        json!({"input": {"id": "a/b"}, "scopes": ["booking:room"], "agent": "agent-one", "task": "t1", "depth": 1});
    assert_eq!(found, Ok(expected));
}

#[test]
fn s12_1_what_the_known_steps_need_is_published_as_what_the_whole_needs() {
    let steps = "steps = [{ method = \"QUERY\", path = \"/same\" }, { method = \"BOOK\", path = \"/rooms/7\" }]";
    let loaded = loaded(trips(steps).path());
    let trip = loaded.dispatcher.registry.iter().find(|registered| registered.endpoint.path.as_str() == "/trips");
    assert_eq!(trip.unwrap().endpoint.projection()["required_scopes"], json!(["booking:room"]));
}

#[tokio::test]
async fn s12_1_a_step_that_the_caller_may_not_make_is_refused_to_it() {
    let known = trips("steps = [{ method = \"QUERY\", path = \"/same\" }, { method = \"BOOK\", path = \"/rooms/7\" }]");
    let found_out = trips(
        "steps = [{ method = \"BOOK\", path = \"/rooms/{id}\", parameters = { id = { kind = \"proposal\", value = \"id\" } } }]",
    );
    for folder in [known, found_out] {
        let mut call = plan(json!({"id": "7"}));
        call.caller = caller("calendar:read");
        let refusal = planned(&folder, call).await.unwrap_err();
        let Refusal::Scope { pair, missing } = refusal else { panic!("{refusal:?}") };
        assert_eq!((pair.path.as_str(), missing[0].as_str()), ("/trips", "booking:room"));
    }
}

#[tokio::test]
async fn base_7_4_a_step_that_needs_a_token_is_refused_to_a_caller_without_one() {
    let steps = |value: &str| {
        format!(
            "steps = [{{ method = \"QUERY\", path = \"/same\", capture_as = \"c\", parameters = {{ n = {{ kind = \"constant\", value = \"full\" }} }} }}, \
             {{ method = \"QUERY\", path = \"/seen\" }}, \
             {{ method = \"QUERY\", path = \"/word\", capture_as = \"word\" }}, \
             {{ method = \"RESERVE\", path = \"/{{id}}\", parameters = {{ id = {value} }} }}]"
        )
    };
    let known = trips("steps = [{ method = \"RESERVE\", path = \"/full\" }]");
    let foreseen = trips(&steps("{ kind = \"proposal\", value = \"id\" }"));
    let found_out = trips(&steps("{ kind = \"previous_step\", value = \"word\" }"));
    let word = function("QUERY", "/word", "word")
        .replace("output_schema = { type = \"object\" }", "output_schema = { type = \"string\" }");
    for folder in [known, foreseen, found_out] {
        let upstream = crate::upstream::Upstream::answering("200 OK", "{}").await;
        let seen = crate::s12_3_requests::service("/seen", "POST", &upstream.url("/"), "");
        std::fs::write(folder.path().join("endpoints/word.toml"), &word).unwrap();
        std::fs::write(folder.path().join("endpoints/seen.toml"), &seen).unwrap();
        let mut terms = terms(json!({}));
        terms.rules.token_required = [Method::parse("RESERVE").unwrap()].into();
        let loaded = loaded_with(folder.path(), terms, opened());
        assert_eq!(problems(&loaded), Vec::<String>::new());
        let mut call = plan(json!({"id": "full"}));
        assert_eq!(answer(&loaded, call.clone()).await, Err(Refusal::Identity(IdentityRefusal::NoToken)));
        assert!(upstream.seen().is_empty(), "its method says so before anything is done");
        call.caller.sender = Arc::new(proven("somebody", BEARER_TOKEN));
        let Err(Refusal::Step { failed, .. }) = answer(&loaded, call).await else { panic!("it is full") };
        assert_eq!(failed.refusal.kind(), "declared-error");
    }
}

#[tokio::test]
async fn s12_1_nothing_is_half_done_for_want_of_a_scope_that_could_be_foreseen() {
    let upstream = crate::upstream::Upstream::answering("200 OK", "{}").await;
    let service = crate::s12_3_requests::service("/seen", "POST", &upstream.url("/"), "");
    let steps = |value: &str| {
        format!(
            "steps = [{{ method = \"QUERY\", path = \"/seen\" }}, {{ method = \"QUERY\", path = \"/same\", capture_as = \"c\" }}, \
             {{ method = \"BOOK\", path = \"/rooms/{{id}}\", parameters = {{ id = {value} }} }}]"
        )
    };
    let foreseen = trips(&steps("{ kind = \"proposal\", value = \"id\" }"));
    let found_out = trips(&steps("{ kind = \"previous_step\", value = \"c\" }"));
    for (folder, calls) in [(foreseen, 0), (found_out, 1)] {
        std::fs::write(folder.path().join("endpoints/seen.toml"), &service).unwrap();
        let refusal = planned(&folder, plan(json!({"id": "7"}))).await.unwrap_err();
        assert_eq!((upstream.seen().len(), refusal.was_begun()), (calls, calls > 0), "{refusal:?}");
    }
}

#[tokio::test]
async fn s12_1_a_claim_is_not_widened_by_what_the_agent_might_do_besides() {
    let folder = trips(
        "steps = [{ method = \"BOOK\", path = \"/rooms/{id}\", parameters = { id = { kind = \"proposal\", value = \"id\" } } }]",
    );
    let mut call = plan(json!({"id": "7"}));
    call.caller = caller("booking:room, calendar:read");
    call = call.claiming(forecourt_contract::ScopeSet::parse_list("calendar:read").unwrap());
    assert!(matches!(planned(&folder, call).await, Err(Refusal::Scope { .. })));
}

#[tokio::test]
async fn s12_1_a_failed_step_is_told_with_what_came_before() {
    let failed = failed(&format!("{SAME_THEN}method = \"RESERVE\"\npath = \"/full\""), plan(json!({"n": 3}))).await;
    assert_eq!((failed.recipe.as_str(), failed.version.as_str(), failed.step), ("trip", "7", 1));
    assert_eq!((failed.method.as_str(), failed.refusal.kind()), ("RESERVE", "declared-error"));
    assert_eq!(failed.captured.into_iter().collect::<Vec<_>>(), [("first".to_owned(), json!({"n": 3}))]);
}

#[tokio::test]
async fn s12_1_a_step_whose_input_does_not_fit_fails() {
    let failed = failed("steps = [{ method = \"QUERY\", path = \"/same\", parameters = { none = { kind = \"constant\", value = 1 } } }]", plan(json!({}))).await;
    assert_eq!((failed.step, failed.refusal.kind()), (0, "input-validation-failed"));
}

#[tokio::test]
async fn s12_1_a_path_that_is_found_out_to_be_nowhere_fails() {
    for (id, kind) in [("7", "endpoint-not-found"), ("get", "endpoint-violation")] {
        let steps = "steps = [{ method = \"QUERY\", path = \"/{id}\", parameters = { id = { kind = \"proposal\", value = \"id\" } } }]";
        let failed = failed(steps, plan(json!({"id": id}))).await;
        assert_eq!(failed.refusal.kind(), kind, "{id}");
    }
}

#[tokio::test]
async fn s13_2_a_value_that_the_path_of_a_step_needs_is_asked_for_before_anything_is_done() {
    let upstream = crate::upstream::Upstream::answering("200 OK", "{}").await;
    let folder = trips(
        "steps = [{ method = \"QUERY\", path = \"/seen\" }, \
         { method = \"BOOK\", path = \"/rooms/{id}\", parameters = { id = { kind = \"proposal\", value = \"id\" } } }]",
    );
    let service = crate::s12_3_requests::service("/seen", "POST", &upstream.url("/"), "");
    std::fs::write(folder.path().join("endpoints/seen.toml"), &service).unwrap();
    for input in [json!({}), json!({"id": ""}), json!({"id": ".."}), json!({"id": "a\nb"})] {
        let mut call = plan(input);
        call.caller = caller("booking:room");
        let refusal = planned(&folder, call).await.unwrap_err();
        assert!(matches!(&refusal, Refusal::Input { violation, .. } if violation.field == "/id"), "{refusal:?}");
    }
    assert_eq!(upstream.seen().len(), 0);
}

#[tokio::test]
async fn a_result_that_no_path_takes_fails_the_step_that_takes_it() {
    let failed = failed(
        &format!("{SAME_THEN}method = \"BOOK\"\npath = \"/rooms/{{id}}\"\nparameters = {{ id = {{ kind = \"previous_step\", value = \"first\" }} }}"),
        plan(json!({"n": 1})),
    )
    .await;
    assert_eq!((failed.refusal.kind(), failed.method.as_str(), failed.step), ("handler-exception", "BOOK", 1));
}

#[tokio::test(start_paused = true)]
async fn all_steps_together_have_one_deadline() {
    let started = tokio::time::Instant::now();
    let failed = failed(&format!("{SAME_THEN}method = \"QUERY\"\npath = \"/hang\""), plan(json!({"n": 1}))).await;
    assert_eq!((failed.step, failed.refusal.kind(), failed.captured.len()), (1, "handler-timeout", 1));
    assert_eq!(started.elapsed().as_secs(), 5, "of the composition, not of the step");
}

#[tokio::test]
async fn compositions_lie_in_one_another_up_to_a_bound() {
    let again = "steps = [{ method = \"PLAN\", path = \"/{n}\", parameters = { n = { kind = \"constant\", value = \"trips\" } } }]";
    let mut failed = failed(again, plan(json!({}))).await;
    let mut levels = 1;
    while let Refusal::Step { failed: inner, .. } = failed.refusal {
        failed = *inner;
        levels += 1;
    }
    assert_eq!((failed.refusal.kind(), levels), ("handler-exception", COMPOSITION_DEPTH_MAX + 1));
}

#[tokio::test]
async fn a_call_at_the_last_level_may_be_made_and_one_beyond_it_not() {
    let steps = "steps = [{ method = \"QUERY\", path = \"/told\" }]";
    let at = |depth| Call { depth, ..plan(json!({})) };
    let folder = trips(steps);
    assert_eq!(planned(&folder, at(COMPOSITION_DEPTH_MAX - 1)).await.unwrap()["depth"], json!(COMPOSITION_DEPTH_MAX));
    assert!(matches!(planned(&folder, at(COMPOSITION_DEPTH_MAX)).await, Err(Refusal::Step { .. })));
    assert!(matches!(planned(&folder, at(u32::MAX)).await, Err(Refusal::Step { .. })));
}

#[tokio::test]
async fn an_input_of_a_step_has_a_bound() {
    let steps = "steps = [{ method = \"QUERY\", path = \"/same\", parameters = { n = { kind = \"proposal\", value = \"n\" } } }]";
    let folder = trips(steps);
    // A name, a text, and what stands between them.
    let at = |bytes: usize| plan(json!({"n": "x".repeat(bytes - "n".len() - 6)}));
    assert!(planned(&folder, at(STEP_BYTES_MAX)).await.is_ok());
    assert!(matches!(planned(&folder, at(STEP_BYTES_MAX + 1)).await, Err(Refusal::Step { .. })));
}

#[tokio::test]
async fn the_results_of_all_steps_have_one_bound() {
    let steps = "steps = [{ method = \"QUERY\", path = \"/large\" , parameters = { n = { kind = \"proposal\", value = \"n\" } } }, \
                 { method = \"QUERY\", path = \"/large\" , parameters = { n = { kind = \"proposal\", value = \"n\" } } }]";
    let folder = trips(steps);
    let at = |bytes: usize| plan(json!({"n": bytes / 2 - "n".len() - 9}));
    assert!(planned(&folder, at(RESULTS_BYTES_MAX)).await.is_ok());
    let Err(Refusal::Step { failed, .. }) = planned(&folder, at(RESULTS_BYTES_MAX + 2)).await else { panic!("taken") };
    assert_eq!(failed.step, 1);
}

#[tokio::test]
async fn what_is_done_at_once_runs_out_of_time_too() {
    let recipe = |level: usize| {
        let step = if level == 0 {
            "{ method = \"QUERY\", path = \"/same\" }".to_owned()
        } else {
            format!("{{ method = \"PLAN\", path = \"/level-{}\" }}", level - 1)
        };
        format!("[[recipe]]\nname = \"level-{level}\"\nsteps = [{}]\n", vec![step; 64].join(", "))
    };
    let recipes: String = (0..6).map(recipe).collect();
    let mut files = vec![
        ("recipes.toml".to_owned(), recipes),
        ("endpoints/same.toml".to_owned(), function("QUERY", "/same", "same")),
    ];
    files.extend((0..6).map(|level| {
        (
            format!("endpoints/{level}.toml"),
            composition("PLAN", &format!("/level-{level}"), &format!("level-{level}"), "timeout_seconds = 0.2"),
        )
    }));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let started = std::time::Instant::now();
    let found = planned(&deployment(&files), call("PLAN", "/level-5", json!({}))).await;
    assert!(matches!(found, Err(Refusal::Step { .. })), "{found:?}");
    assert!(started.elapsed().as_secs() < 10, "68,719,476,736 calls are not made");
}

#[tokio::test]
async fn what_doubles_with_every_step_meets_a_bound() {
    let text = "x".repeat(1000);
    let step = |at: usize| {
        let from =
            |name: &str| format!("{name} = {{ kind = \"previous_step\", value = \"c{}\" }}", at.saturating_sub(1));
        let given = if at == 0 {
            "n = { kind = \"proposal\", value = \"n\" }".to_owned()
        } else {
            [from("n"), from("deep")].join(", ")
        };
        format!("{{ method = \"QUERY\", path = \"/same\", capture_as = \"c{at}\", parameters = {{ {given} }} }}")
    };
    let steps = format!("steps = [{}]", (0..40).map(step).collect::<Vec<_>>().join(", "));
    let failed = failed(&steps, plan(json!({"n": text}))).await;
    assert_eq!(failed.refusal.kind(), "handler-exception");
    assert!(failed.step < 15 && 1000 << failed.step >= STEP_BYTES_MAX, "at step {}", failed.step);
}

#[tokio::test]
async fn what_deepens_with_every_step_meets_a_bound() {
    let step = |at: usize| {
        let given = match at {
            0 => "deep = { kind = \"proposal\", value = \"n\" }".to_owned(),
            at => format!("deep = {{ kind = \"previous_step\", value = \"c{}\" }}", at - 1),
        };
        format!("{{ method = \"QUERY\", path = \"/same\", capture_as = \"c{at}\", parameters = {{ {given} }} }}")
    };
    let steps = format!("steps = [{}]", (0..64).map(step).collect::<Vec<_>>().join(", "));
    assert!(planned(&trips(&steps), plan(json!({"n": 1}))).await.is_ok(), "as deep as JSON may be");
    let failed = failed(&steps, plan(json!({"n": [1]}))).await;
    assert_eq!((failed.refusal.kind(), failed.step), ("handler-exception", 63));
}

#[tokio::test]
async fn a_step_may_be_one_of_the_hosts_own_methods() {
    // Nothing answers them in this deployment, so that the step is refused and not the endpoint.
    let failed = failed("steps = [{ method = \"QUERY\" }]", plan(json!({}))).await;
    assert_eq!(failed.refusal.kind(), "method-not-allowed");
}
