//! This module has the last two steps of a call: joining and checking its input, and running the handler.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use serde_json::{Map, Value};

use super::{CallTarget, pair};
use crate::call::Call;
use crate::endpoint::COMPOSITION_ERROR;
use crate::handler::{Failure, Invocation};
use crate::input::merge;
use crate::refusal::{BrokenContract, Refusal};
use crate::registry::{MatchedEndpoint, RegisteredEndpoint};

/// Section 5.5: query, path and body become one input, which is held against the endpoint's schema.
/// Takes the body out of the call.
pub(super) fn prepare(
    target: &CallTarget,
    matched: &MatchedEndpoint,
    call: &mut Call,
) -> Result<Map<String, Value>, Refusal> {
    let mut body = std::mem::take(&mut call.body);
    for (name, value) in &target.resolved.added {
        // Section 3.6: a legacy verb adds its action only where the caller did not name one.
        body.entry(name).or_insert_with(|| value.clone());
    }
    if let Some(key) = call.idempotency_key.as_ref().filter(|_| target.resolved.is_keyed) {
        body.entry("idempotency_key").or_insert_with(|| key.as_str().into());
    }
    let schema = &matched.registered.endpoint.input;
    let merged = merge(Some(schema), call.query.as_deref(), &matched.values, body);
    match merged.and_then(|input| schema.take(Value::Object(input))) {
        Ok(Value::Object(input)) => Ok(input),
        // Not reached: registration takes only input schemas of objects.
        Ok(_) => Ok(Map::new()),
        Err(violation) => Err(Refusal::Input { pair: pair(target), violation }),
    }
}

/// Sections 6.4 and 13.3: the result is what was promised, and an error is a declared one.
pub(super) async fn invoke(
    target: &CallTarget,
    registered: RegisteredEndpoint,
    input: Map<String, Value>,
    call: Call,
) -> Result<Value, Refusal> {
    let RegisteredEndpoint { endpoint, handler, .. } = registered;
    let Call { caller, thread, depth, .. } = call;
    let invocation = Invocation { endpoint: Arc::clone(&endpoint), input, caller, thread, depth };
    // A panic must end this call alone. Asserted as unwind safe: the handler's state is its own, and the future is
    // gone.
    let called = AssertUnwindSafe(async { handler.call(invocation).await }).catch_unwind().await;
    let broken = |kind, cause: String| Err(Refusal::Broken { pair: pair(target), kind, cause });
    match called {
        // A result outside the schema is not handed on: callers rely on what was published (13.3).
        Ok(Ok(output)) => match endpoint.output.check(&output) {
            Ok(()) => Ok(output),
            Err(violation) => broken(BrokenContract::Output, format!("{} at `{}`", violation.detail, violation.field)),
        },
        Ok(Err(Failure::Named { code, message, details })) if endpoint.declares_error(&code) => {
            Err(Refusal::Declared { pair: pair(target), code, message, details })
        }
        // An error that is not declared may tell of the inside: its name and words go to the log alone.
        Ok(Err(Failure::Named { code, message, .. })) => {
            broken(BrokenContract::UndeclaredError, format!("{code}: {message}"))
        }
        Ok(Err(Failure::Step(failed))) if endpoint.declares_error(COMPOSITION_ERROR) => {
            Err(Refusal::Step { pair: pair(target), failed })
        }
        Ok(Err(Failure::Step(failed))) => {
            broken(BrokenContract::UndeclaredError, format!("{COMPOSITION_ERROR}: {}", failed.refusal))
        }
        Ok(Err(Failure::Input(violation))) => Err(Refusal::Input { pair: pair(target), violation }),
        Ok(Err(Failure::Unidentified(why))) => Err(Refusal::Identity(why)),
        Ok(Err(Failure::Unauthorised(missing))) => Err(Refusal::Scope { pair: pair(target), missing }),
        Ok(Err(Failure::Busy(cause))) => Err(Refusal::Busy { pair: pair(target), cause }),
        Ok(Err(Failure::Late(cause))) => Err(Refusal::Late { pair: pair(target), cause }),
        Ok(Err(Failure::Crashed(cause))) => broken(BrokenContract::Crashed, cause),
        Err(_) => broken(BrokenContract::Crashed, "the handler panicked".to_owned()),
    }
}
