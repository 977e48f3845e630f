//! Hubs elsewhere whose agents this host fronts, and how they do.

use forecourt_core::Timestamp;
use forecourt_host::{HubState, HubStates};
use forecourt_pages::clean;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api_error::ApiError;
use crate::desk::Ask;

/// The hubs elsewhere whose agents this host fronts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Hubs {
    /// Those of the deployment, in the order of their names, as this node knows them.
    pub hubs: Vec<Hub>,
}

/// One of them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Hub {
    /// Its name: that of its file.
    pub hub: String,
    /// The URL of its card.
    pub url: String,
    /// Whether it was read when it was last looked at. `null`: it was not looked at yet.
    pub answers: Option<bool>,
    /// Agents of it that are served.
    pub agents: u64,
    /// When it was seen to have them. `null`: never.
    #[schemars(with = "Option<String>")]
    pub seen_at: Option<Timestamp>,
    /// What stands in the way of being as the hub is now.
    pub last_error: Option<String>,
    /// Agents of it that are not served, or not as they are now, and why, in a sentence each: the first 20, and how many
    /// more there are.
    pub left_out: Vec<String>,
}

#[allow(clippy::unused_async, reason = "what answers a call is a future, whether it waits or not")]
pub(crate) async fn list(ask: Ask) -> Result<Hubs, ApiError> {
    let states = ask.house.services.get::<HubStates>();
    let hubs = states.into_iter().flat_map(|states| (states.0)()).map(hub).collect();
    Ok(Hubs { hubs })
}

fn hub(state: HubState) -> Hub {
    let HubState { name, url, answers, last_error, agents, seen_at, left_out } = state;
    Hub {
        hub: name.to_string(),
        url,
        answers,
        agents: agents as u64,
        seen_at,
        // The words of a hub may be in it.
        last_error: last_error.map(|words| clean::line(&words)),
        left_out: left_out.iter().map(|words| clean::line(words)).collect(),
    }
}
