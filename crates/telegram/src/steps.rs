//! What an operator does in Telegram.

use forecourt_core::Handle;

/// The steps for a connector of this name, whose events go to `url`.
pub(crate) fn steps(name: &Handle, url: &str) -> String {
    let variable = name.as_str().to_uppercase().replace('-', "_");
    format!(
        "1. In Telegram, write /newbot to @BotFather. It asks for a name and gives a token.\n\
         2. Make up a secret that Telegram sends with each event, such as `openssl rand -hex 32`.\n\
         3. Write connectors/{name}.toml:\n\n\
         kind = \"telegram\"\n\
         username = \"the_name_of_your_bot\"\n\
         bot_token = \"${{{variable}_BOT_TOKEN}}\"\n\
         webhook_secret = \"${{{variable}_SECRET}}\"\n\n\
         4. Serve with the two variables set, and tell Telegram where events go and what they hold:\n\n\
         curl \"https://api.telegram.org/bot${{{variable}_BOT_TOKEN}}/setWebhook\" -d url={url} \\\n  \
         -d secret_token=\"${variable}_SECRET\" -d 'allowed_updates=[\"message\",\"edited_message\"]' -d max_connections=20\n\n\
         5. `forecourt check --connect` asks Telegram whether the token is good.\n\
         6. Write to the bot, or add it to a group and mention it. For replies without a mention it must be told of all \
         messages there: /setprivacy at @BotFather, then Disable. Telegram must reach the URL over the internet.\n"
    )
}
