//! What an operator does in Slack, and the manifest that is pasted there.

use forecourt_core::Handle;
use serde_json::json;

/// The scopes that the app needs.
pub(crate) const SCOPES: [&str; 8] = [
    "app_mentions:read",
    "channels:history",
    "chat:write",
    "files:read",
    "files:write",
    "groups:history",
    "im:history",
    "users:read",
];
/// What it is told of.
const EVENTS: [&str; 4] = ["app_mention", "message.channels", "message.groups", "message.im"];

/// The steps for a connector of this name, whose events go to `url`.
pub(crate) fn steps(name: &Handle, url: &str) -> String {
    let manifest = json!({
        "display_information": {"name": name.as_str()},
        "features": {
            "bot_user": {"display_name": name.as_str(), "always_online": true},
            "app_home": {"home_tab_enabled": false, "messages_tab_enabled": true, "messages_tab_read_only_enabled": false},
        },
        "oauth_config": {"scopes": {"bot": SCOPES}},
        "settings": {
            "event_subscriptions": {"request_url": url, "bot_events": EVENTS},
            "interactivity": {"is_enabled": true, "request_url": url},
            "org_deploy_enabled": false,
            "socket_mode_enabled": false,
            "token_rotation_enabled": false,
        },
    });
    let manifest = serde_json::to_string_pretty(&manifest).unwrap_or_default();
    let variable = name.as_str().to_uppercase().replace('-', "_");
    format!(
        "1. Open https://api.slack.com/apps, choose *Create New App*, *From a manifest*, your workspace, and paste:\n\n\
         {manifest}\n\n\
         2. *Install App* installs it and shows the *Bot User OAuth Token* (xoxb-…); *Basic Information* shows the \
         *Signing Secret*.\n\
         3. Write connectors/{name}.toml:\n\n\
         kind = \"slack\"\n\
         signing_secret = \"${{{variable}_SIGNING_SECRET}}\"\n\
         bot_token = \"${{{variable}_BOT_TOKEN}}\"\n\n\
         4. Serve with the two variables set. `forecourt check --connect` asks Slack whether they are good.\n\
         5. On *Event Subscriptions* of the app, choose *Retry* where the request URL is not verified yet:\n\n\
         {url}\n\n\
         6. In a channel, type /invite @{name}, then mention it. Slack must reach that URL over the internet.\n"
    )
}
