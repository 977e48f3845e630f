//! Whether the tokens of a file are good: the homeserver says whom one is for, and tries the other.

use forecourt_connectors::{Outcome, PlatformError};
use http::Method;
use serde_json::json;

use crate::api::segment;
use crate::rooms::Homeserver;

/// Asks the homeserver, and has it call this host. That it can't reach this host is said and no failure: nobody may be
/// serving just now.
pub(crate) async fn ask(homeserver: Homeserver<'_>, registration: &str) -> Outcome<String> {
    let Homeserver { api, egress, us } = homeserver;
    let who = api.get(egress, &format!("/account/whoami?user_id={}", segment(&us.user))).await?;
    let user = who["user_id"].as_str().unwrap_or_default();
    if user != us.user {
        let words = format!("`as_token` is that of {user}, and the file says {}", us.user);
        return Err(PlatformError::Refused(words));
    }
    let path = format!("/_matrix/client/v1/appservice/{}/ping", segment(registration));
    match api.call_with(egress, Method::POST, &path, &json!({"transaction_id": "forecourt"})).await {
        Ok(_) => Ok(format!("{user}, and the homeserver reaches this host")),
        // Older homeservers do not have it.
        Err(error) if matches!(error.code.as_str(), "M_UNRECOGNIZED" | "M_NOT_FOUND") => Ok(user.to_owned()),
        Err(error) if is_refusal_of_ours(&error.code, &error.error.to_string()) => {
            Err(PlatformError::Refused("this host refused the homeserver: `hs_token` is another one".to_owned()))
        }
        Err(error) if error.code == "M_FORBIDDEN" => {
            Err(PlatformError::Refused(format!("`as_token` is not that of the registration `{registration}`")))
        }
        Err(error) => Ok(format!("{user}, but the homeserver does not reach this host: {}", error.error)),
    }
}

/// Whether the homeserver was answered with 401 here.
fn is_refusal_of_ours(code: &str, words: &str) -> bool {
    code == "M_BAD_STATUS" && words.contains("401")
}
