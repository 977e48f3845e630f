//! A file of `connectors/` with `kind = "discord"`.

use forecourt_connectors::ConnectorSettings;
use forecourt_settings::{Problems, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::is_id;
use crate::signature::PublicKey;

/// Where the methods of the API are.
const API: &str = "https://discord.com/api/v10";

/// An application of Discord by which agents are asked.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiscordSettings {
    /// The application id, on the page *General Information* of the application.
    pub application_id: String,
    /// The public key, on the same page: 64 hexadecimal digits. Interactions are signed with its other half.
    pub public_key: String,
    /// The token of the bot, on the page *Bot*: best as `"${VARIABLE}"`.
    pub bot_token: String,
    /// Whether messages are heard of, so that agents can be mentioned and written to: a connection to Discord is kept
    /// open for it. Without it there is `/ask` alone. Default: true.
    #[serde(default = "yes")]
    pub mentions: bool,
    /// Where the methods of the API are. Default: `https://discord.com/api/v10`.
    #[serde(default = "api")]
    pub api: String,
}

fn api() -> String {
    API.to_owned()
}

fn yes() -> bool {
    true
}

/// Never prints a secret.
impl std::fmt::Debug for DiscordSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DiscordSettings").field("application_id", &self.application_id).finish_non_exhaustive()
    }
}

impl DiscordSettings {
    /// Reads a file.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(crate) fn read(section: &Section) -> Result<(Self, ConnectorSettings), Problems> {
        let (settings, of_connector): (Self, _) = section.read_both()?;
        let mut problems = Problems::new();
        let mut wrong = |key: &str, words: String| problems.push(section.problem(Some(key), words));
        if !is_id(&settings.application_id) {
            let words = "`application_id` must be the number on the page *General Information* of the application";
            wrong("application_id", words.to_owned());
        }
        if PublicKey::parse(&settings.public_key).is_none() {
            let words = "`public_key` must be the 64 hexadecimal digits on the page *General Information*";
            wrong("public_key", words.to_owned());
        }
        if !is_token(&settings.bot_token) {
            let words = "`bot_token` must be a token of the page *Bot*: three parts with a dot between them";
            wrong("bot_token", words.to_owned());
        }
        if url::Url::parse(&settings.api).map_or(true, |url| !matches!(url.scheme(), "http" | "https")) {
            wrong("api", format!("`api` must be a URL such as `{API}`"));
        }
        problems.into_result((settings, of_connector))
    }
}

/// The token of a bot, and no other secret of the same page.
fn is_token(text: &str) -> bool {
    let is_part =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    text.split('.').count() == 3 && text.split('.').all(is_part)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(id: &str, key: &str, token: &str) -> Result<(DiscordSettings, ConnectorSettings), Problems> {
        let text =
            format!("kind = \"discord\"\napplication_id = \"{id}\"\npublic_key = \"{key}\"\nbot_token = \"{token}\"\n");
        DiscordSettings::read(&Section::parse(Path::new("connectors/a.toml"), &text, &|_: &str| None).unwrap())
    }

    #[test]
    fn each_of_the_three_secrets_has_its_form_and_none_is_printed() {
        let key = "ab".repeat(32);
        let (fine, of_connector) = read("123", &key, "MTIz.abc.d-e_f").unwrap();
        assert!(fine.mentions && of_connector.live && !format!("{fine:?}").contains("MTIz"));
        for (id, key, token, word) in [
            ("x", key.as_str(), "a.b.c", "application_id"),
            ("1", "abc", "a.b.c", "public_key"),
            ("1", key.as_str(), "abc", "bot_token"),
            ("1", key.as_str(), "a.b.", "bot_token"),
            ("1", key.as_str(), "Bot a.b.c", "bot_token"),
        ] {
            let said = read(id, key, token).unwrap_err().to_string();
            assert!(said.contains(&format!("`{word}` must be")), "{said}");
        }
    }
}
