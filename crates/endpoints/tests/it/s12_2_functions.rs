//! Section 12.2: functions of the program.

use std::sync::Arc;

use forecourt_contract::Handler;
use forecourt_contract::Refusal;
use forecourt_endpoints::{FunctionError, FunctionSource, Functions};
use serde_json::json;

use crate::support::{answer, call, deployment, function, loaded, problems};

#[tokio::test]
async fn s12_2_a_function_gets_the_input_and_gives_the_result() {
    let folder = deployment(&[("endpoints/a.toml", &function("QUERY", "/rooms/{id}", "same"))]);
    let found = answer(&loaded(folder.path()), call("QUERY", "/rooms/7", json!({"n": 3}))).await;
    assert_eq!(found, Ok(json!({"id": "7", "n": 3})));
}

#[tokio::test]
async fn s12_2_a_function_may_end_in_a_declared_error() {
    let folder = deployment(&[("endpoints/a.toml", &function("BOOK", "/rooms", "full"))]);
    let found = answer(&loaded(folder.path()), call("BOOK", "/rooms", json!({}))).await.unwrap_err();
    assert!(
        matches!(found, Refusal::Declared { code, message, .. } if code == "room_unavailable" && message == "Try tomorrow.")
    );
}

#[tokio::test(start_paused = true)]
async fn s12_2_a_function_that_hangs_is_dropped_in_its_time() {
    let text = function("QUERY", "/rooms", "hang") + "timeout_seconds = 2.5\n";
    let folder = deployment(&[("endpoints/a.toml", &text)]);
    let started = tokio::time::Instant::now();
    let found = answer(&loaded(folder.path()), call("QUERY", "/rooms", json!({}))).await.unwrap_err();
    assert!(matches!(found, Refusal::Late { .. }), "{found:?}");
    assert_eq!(started.elapsed().as_millis(), 2_500);
}

#[test]
fn s12_2_a_function_that_is_not_there_refuses_its_endpoint() {
    let folder = deployment(&[("endpoints/a.toml", &function("QUERY", "/rooms", "rooms.none"))]);
    assert_eq!(
        problems(&loaded(folder.path())),
        ["a.toml:10: function-not-found: there is no function named `rooms.none`"]
    );
}

/// A source with one function that can't be loaded.
struct Faulty;

impl FunctionSource for Faulty {
    fn find(&self, dotted: &str) -> Result<Arc<dyn Handler>, FunctionError> {
        match dotted {
            "mod.broken" => Err(FunctionError::Broken("line 3: invalid syntax".into())),
            "mod.fine" => Functions::new().with("x", |_| async { Ok(json!(1)) }).find("x"),
            _ => Err(FunctionError::Unknown),
        }
    }
}

#[test]
fn functions_of_the_program_come_before_those_of_other_sources() {
    let functions = Functions::new().with("mod.own", |_| async { Ok(json!(0)) });
    let functions = functions
        .then(Arc::new(Faulty))
        .then(Arc::new(Functions::new().with("mod.broken", |_| async { Ok(json!(0)) })));
    let found = |name: &str| functions.find(name).map(drop);
    assert_eq!(found("mod.own"), Ok(()));
    assert_eq!(found("mod.fine"), Ok(()));
    assert_eq!(
        found("mod.broken"),
        Err(FunctionError::Broken("line 3: invalid syntax".into())),
        "not hidden by a later one"
    );
    assert_eq!(found("mod.none"), Err(FunctionError::Unknown));
}
