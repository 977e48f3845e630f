//! A file of `connectors/` with `kind = "slack"`.

use std::num::NonZeroU32;

use forecourt_connectors::ConnectorSettings;
use forecourt_core::Handle;
use forecourt_settings::{Problems, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::KIND;
use crate::limits::SECRET_BYTES_MIN;

/// Where the methods of the Web API are.
const API: &str = "https://slack.com/api";

/// A workspace of Slack in which agents are mentioned.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlackSettings {
    /// `slack`.
    pub kind: String,
    /// What Slack signs events with, on the page *Basic Information* of the app: best as `"${VARIABLE}"`.
    pub signing_secret: String,
    /// The bot token of the app, which begins with `xoxb-`: best as `"${VARIABLE}"`.
    pub bot_token: String,
    /// Where the methods of the Web API are. Default: `https://slack.com/api`.
    #[serde(default = "api")]
    pub api: String,
    /// The agent that is asked where nobody is mentioned by name. Default: the first of `agents`, else the default agent
    /// of the deployment.
    #[schemars(with = "Option<String>")]
    pub agent: Option<Handle>,
    /// The agents that can be asked. Default: all.
    #[schemars(with = "Option<Vec<String>>")]
    pub agents: Option<Vec<Handle>>,
    /// Messages of one person within an hour; further ones are dropped. Default: 60.
    pub messages_per_sender_per_hour: Option<NonZeroU32>,
    /// Whether an answer is shown while it is written. Default: true.
    #[serde(default = "yes")]
    pub live: bool,
}

fn api() -> String {
    API.to_owned()
}

fn yes() -> bool {
    true
}

/// Never prints a secret.
impl std::fmt::Debug for SlackSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SlackSettings").field("agent", &self.agent).finish_non_exhaustive()
    }
}

impl SlackSettings {
    /// Reads a file.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(crate) fn read(section: &Section) -> Result<Self, Problems> {
        let settings: Self = section.read()?;
        let mut problems = Problems::new();
        let mut wrong = |key: &str, words: String| problems.push(section.problem(Some(key), words));
        if settings.kind != KIND {
            wrong("kind", format!("`kind` must be `{KIND}`"));
        }
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
        problems.into_result(settings)
    }

    /// What every connector has.
    pub(crate) fn of_connector(&self) -> ConnectorSettings {
        let usual = ConnectorSettings::default();
        ConnectorSettings {
            agent: self.agent.clone(),
            agents: self.agents.clone(),
            messages_per_sender_per_hour: self
                .messages_per_sender_per_hour
                .unwrap_or(usual.messages_per_sender_per_hour),
            live: self.live,
        }
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
