//! A file of `connectors/` with `kind = "telegram"`.

use forecourt_connectors::ConnectorSettings;
use forecourt_settings::{Problems, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::SECRET_CHARS;

/// Where the methods of the Bot API are.
const API: &str = "https://api.telegram.org";

/// A bot of Telegram by which agents are asked.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TelegramSettings {
    /// The token that @BotFather gave, such as `123456:ABC…`: best as `"${VARIABLE}"`.
    pub bot_token: String,
    /// The name of the bot, without its `@`.
    pub username: String,
    /// What Telegram sends with each event: 16 to 256 of A-Z, a-z, 0-9, `_` and `-`, made up by you; best as
    /// `"${VARIABLE}"`.
    pub webhook_secret: String,
    /// Where the methods of the Bot API are. Default: `https://api.telegram.org`.
    #[serde(default = "api")]
    pub api: String,
}

fn api() -> String {
    API.to_owned()
}

/// Never prints a secret.
impl std::fmt::Debug for TelegramSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TelegramSettings").field("username", &self.username).finish_non_exhaustive()
    }
}

impl TelegramSettings {
    /// Reads a file.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(crate) fn read(section: &Section) -> Result<(Self, ConnectorSettings), Problems> {
        let (settings, of_connector): (Self, _) = section.read_both()?;
        let mut problems = Problems::new();
        let mut wrong = |key: &str, words: String| problems.push(section.problem(Some(key), words));
        if settings.bot_id().is_none() {
            wrong("bot_token", "`bot_token` must be a token of @BotFather, such as `123456:ABC…`".to_owned());
        }
        let is_word = |text: &str, more: &[u8]| text.bytes().all(|b| b.is_ascii_alphanumeric() || more.contains(&b));
        if settings.username.is_empty() || !is_word(&settings.username, b"_") {
            wrong("username", "`username` must be the name of the bot, without its `@`".to_owned());
        }
        if !SECRET_CHARS.contains(&settings.webhook_secret.len()) || !is_word(&settings.webhook_secret, b"_-") {
            let words =
                "`webhook_secret` must be 16 to 256 of A-Z, a-z, 0-9, `_` and `-`, such as `openssl rand -hex 32`";
            wrong("webhook_secret", words.to_owned());
        }
        if url::Url::parse(&settings.api).map_or(true, |url| !matches!(url.scheme(), "http" | "https")) {
            wrong("api", format!("`api` must be a URL such as `{API}`"));
        }
        problems.into_result((settings, of_connector))
    }

    /// The id of the user that the bot is: what its token begins with.
    pub(crate) fn bot_id(&self) -> Option<i64> {
        let (id, rest) = self.bot_token.split_once(':')?;
        let is_token = rest.len() >= 16 && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
        id.parse().ok().filter(|id| *id > 0 && is_token)
    }
}
