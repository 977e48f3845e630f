//! Reading the deployment again.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::Why;
use crate::access::Command;
use crate::account::{self, Came};
use crate::api_error::ApiError;
use crate::desk::{Ask, reason};

/// When and how the deployment was read last.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reload {
    /// Whether it can be read again while it is served.
    pub is_offered: bool,
    /// What the program says of it: `watch`, `houses`, `last` and `running_since`.
    pub status: Value,
}

/// What came of reading it again.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReloadOutcome {
    /// Whether what was read is served now. If not, nothing has changed.
    pub is_applied: bool,
    /// What was read, what has changed, and what is wrong with it: each problem with file, line and hint.
    pub report: Value,
}

pub(crate) async fn one(ask: Ask) -> Result<Reload, ApiError> {
    let status = ask.desk.around.reload_status();
    Ok(Reload { is_offered: status.is_some(), status: status.unwrap_or_default() })
}

pub(crate) async fn now(ask: Command) -> Result<ReloadOutcome, ApiError> {
    let why = reason(ask.body::<Why>()?.reason.as_deref())?;
    let answer = ask.desk.around.reload(ask.actor.name.clone()).await;
    let Some(answer) = answer else {
        return Err(ApiError::unavailable("this program can't read its deployment again while it serves"));
    };
    let came = if answer.is_applied { Came::Done } else { Came::Refused };
    // The house may be another one by now.
    let host = ask.desk.house()?.host;
    account::note(&host, &ask.actor.name, "reload", "deployment".to_owned(), why.as_deref(), came).await;
    Ok(ReloadOutcome { is_applied: answer.is_applied, report: answer.report })
}
