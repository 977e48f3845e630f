//! Servers that stand behind this host, and how they do.

use forecourt_host::{ServerState, ServerStates};
use forecourt_pages::clean;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api_error::ApiError;
use crate::desk::Ask;

/// The servers behind this host.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Servers {
    /// Those of the deployment, in the order of their names, as this node knows them.
    pub servers: Vec<Server>,
}

/// One of them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Server {
    /// Its name: that of its file, and of its path.
    pub server: String,
    /// Whether it answered when it was last asked. `null`: it was not asked yet.
    pub answers: Option<bool>,
    /// What went wrong since it last answered.
    pub last_error: Option<String>,
    /// Tools of it that are offered, as they were last known.
    pub tools: u64,
    /// Sessions that are open with it.
    pub sessions: u64,
}

#[allow(clippy::unused_async, reason = "what answers a call is a future, whether it waits or not")]
pub(crate) async fn list(ask: Ask) -> Result<Servers, ApiError> {
    let states = ask.house.services.get::<ServerStates>();
    let servers = states.into_iter().flat_map(|states| (states.0)()).map(server).collect();
    Ok(Servers { servers })
}

fn server(state: ServerState) -> Server {
    let ServerState { name, answers, last_error, tools, sessions } = state;
    Server {
        server: name.to_string(),
        answers,
        // The words of a server may be in it.
        last_error: last_error.map(|words| clean::line(&words)),
        tools: tools as u64,
        sessions: sessions as u64,
    }
}
