//! A file of `connectors/` with `kind = "slack"`.

use forecourt_connectors::ConnectorSettings;
use forecourt_settings::{Problems, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::SECRET_BYTES_MIN;

/// Where the methods of the Web API are.
const API: &str = "https://slack.com/api";

/// A workspace of Slack in which agents are mentioned.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlackSettings {
    /// What Slack signs events with, on the page *Basic Information* of the app: best as `"${VARIABLE}"`.
    pub signing_secret: String,
    /// The bot token of the app, which begins with `xoxb-`: best as `"${VARIABLE}"`.
    pub bot_token: String,
    /// Where the methods of the Web API are. Default: `https://slack.com/api`.
    #[serde(default = "api")]
    pub api: String,
}

fn api() -> String {
    API.to_owned()
}

/// Never prints a secret.
impl std::fmt::Debug for SlackSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SlackSettings").field("api", &self.api).finish_non_exhaustive()
    }
}

impl SlackSettings {
    /// Reads a file.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(crate) fn read(section: &Section) -> Result<(Self, ConnectorSettings), Problems> {
        let (settings, of_connector): (Self, _) = section.read_both()?;
        let mut problems = Problems::new();
        let mut wrong = |key: &str, words: String| problems.push(section.problem(Some(key), words));
        if settings.signing_secret.trim().is_empty() {
            wrong(
                "signing_secret",
                "`signing_secret` is empty: it is on the page *Basic Information* of the app".to_owned(),
            );
        } else if settings.signing_secret.len() < SECRET_BYTES_MIN {
            // Whoever guesses it can be any member of the workspace.
            let words = "`signing_secret` is shorter than those of Slack, which have 32 characters";
            wrong("signing_secret", words.to_owned());
        }
        let is_token = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if !settings.bot_token.starts_with("xoxb-") || !is_token(&settings.bot_token) {
            wrong("bot_token", "`bot_token` must be a bot token, which begins with `xoxb-`".to_owned());
        }
        if url::Url::parse(&settings.api).map_or(true, |url| !matches!(url.scheme(), "http" | "https")) {
            wrong("api", "`api` must be a URL such as `https://slack.com/api`".to_owned());
        }
        problems.into_result((settings, of_connector))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_secret_that_could_be_guessed_is_refused_at_the_bound() {
        let read = |secret: &str| {
            let text = format!("kind = \"slack\"\nsigning_secret = \"{secret}\"\nbot_token = \"xoxb-1\"\n");
            SlackSettings::read(&Section::parse(Path::new("connectors/a.toml"), &text, &|_: &str| None).unwrap())
        };
        assert!(read(&"s".repeat(SECRET_BYTES_MIN)).is_ok());
        let short = read(&"s".repeat(SECRET_BYTES_MIN - 1)).unwrap_err().to_string();
        assert!(short.contains("`signing_secret` is shorter"), "{short}");
        assert!(read(&" ".repeat(40)).unwrap_err().to_string().contains("is empty"));
    }
}
