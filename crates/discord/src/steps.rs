//! What an operator does in Discord.

use forecourt_core::Handle;

/// What the bot may do where it is invited: see channels, send messages, also in threads, attach files, read what was
/// written before.
const PERMISSIONS: u64 = (1 << 10) | (1 << 11) | (1 << 38) | (1 << 15) | (1 << 16);

/// The steps for a connector of this name, whose interactions go to `url`.
pub(crate) fn steps(name: &Handle, url: &str) -> String {
    let variable = name.as_str().to_uppercase().replace('-', "_");
    format!(
        "1. Open https://discord.com/developers/applications and choose *New Application*. *General Information* shows \
         the *Application ID* and the *Public Key*.\n\
         2. On *Bot*: *Reset Token* shows the token, once; turn on *Message Content Intent*, or write `mentions = false` \
         below.\n\
         3. Write connectors/{name}.toml:\n\n\
         kind = \"discord\"\n\
         application_id = \"APPLICATION_ID\"\n\
         public_key = \"PUBLIC_KEY\"\n\
         bot_token = \"${{{variable}_BOT_TOKEN}}\"\n\n\
         4. Serve with the variable set. `forecourt check --connect` asks Discord whether the three belong together. The \
         command /ask is registered by itself.\n\
         5. Then, on *General Information*, set the *Interactions Endpoint URL*, which Discord tries at once:\n\n\
         {url}\n\n\
         6. Invite the bot to a server that you manage:\n\n\
         https://discord.com/oauth2/authorize?client_id=APPLICATION_ID&scope=bot+applications.commands&permissions={PERMISSIONS}\n\n\
         7. Type /ask there, or mention the bot. Discord must reach the URL over the internet; mentions work without that.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_name_the_addresses_and_no_secret() {
        let name = Handle::parse("my-team").unwrap();
        let steps = steps(&name, "https://host.example/connectors/discord/my-team");
        for piece in
            ["${MY_TEAM_BOT_TOKEN}", "https://host.example/connectors/discord/my-team", "permissions=274878008320"]
        {
            assert!(steps.contains(piece), "{piece}: {steps}");
        }
    }
}
