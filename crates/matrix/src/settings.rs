//! A file of `connectors/` with `kind = "matrix"`.

use forecourt_connectors::ConnectorSettings;
use forecourt_core::Language;
use forecourt_settings::{Problems, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{Us, is_localpart, is_pattern, is_server};
use crate::limits::{TOKEN_BYTES_MAX, TOKEN_BYTES_MIN};

/// A homeserver of Matrix, of which this host is an application service.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatrixSettings {
    /// Where the homeserver answers clients, such as `https://matrix.example.org`.
    pub homeserver: String,
    /// What ids of its users end with, such as `example.org`.
    pub server_name: String,
    /// The name of the bot before that, `kitchen` in `@kitchen:example.org`: `sender_localpart` of the registration.
    pub localpart: String,
    /// By which the homeserver knows this host, as in the registration: best as `"${VARIABLE}"`.
    pub as_token: String,
    /// By which this host knows the homeserver, as in the registration: best as `"${VARIABLE}"`.
    pub hs_token: String,
    /// `id` of the registration. Default: `forecourt-LOCALPART`.
    pub registration: Option<String>,
    /// Who may invite the bot, such as `["@*:example.org", "@ann:far.example"]`. Default: users of the homeserver.
    pub invited_by: Option<Vec<String>>,
    /// The language in which it speaks of refusals, such as `de`: Matrix does not say that of a person. Default:
    /// English.
    pub language: Option<String>,
}

/// Never prints a secret.
impl std::fmt::Debug for MatrixSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MatrixSettings").field("localpart", &self.localpart).finish_non_exhaustive()
    }
}

impl MatrixSettings {
    /// Reads a file.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(crate) fn read(section: &Section) -> Result<(Self, ConnectorSettings), Problems> {
        let (settings, of_connector): (Self, _) = section.read_both()?;
        let mut problems = Problems::new();
        let mut wrong = |key: &str, words: String| problems.push(section.problem(Some(key), words));
        if url::Url::parse(&settings.homeserver).map_or(true, |url| !matches!(url.scheme(), "http" | "https")) {
            wrong("homeserver", "`homeserver` must be a URL such as `https://matrix.example.org`".to_owned());
        }
        if !is_server(&settings.server_name) {
            wrong("server_name", "`server_name` must be what ids of users end with, such as `example.org`".to_owned());
        }
        if !is_localpart(&settings.localpart) {
            let words = "`localpart` must be of a-z, 0-9 and `._=/+-`, such as `kitchen` of `@kitchen:example.org`";
            wrong("localpart", words.to_owned());
        }
        for (key, token) in [("as_token", &settings.as_token), ("hs_token", &settings.hs_token)] {
            if !is_token(token) {
                wrong(key, format!("`{key}` must have 16 to 512 letters and digits, such as `openssl rand -hex 32`"));
            }
        }
        if settings.as_token == settings.hs_token {
            wrong("hs_token", "`hs_token` must be another token than `as_token`".to_owned());
        }
        for pattern in settings.invited_by.iter().flatten().filter(|pattern| !is_pattern(pattern)) {
            wrong("invited_by", format!("`{pattern}` is no user, such as `@ann:example.org` or `@*:example.org`"));
        }
        if settings.language.as_deref().is_some_and(|language| Language::parse(language).is_none()) {
            wrong("language", "`language` must be the tag of a language, such as `de`".to_owned());
        }
        problems.into_result((settings, of_connector))
    }

    /// The user that the bot is.
    pub(crate) fn us(&self) -> Us {
        Us::new(&self.localpart, &self.server_name)
    }

    /// `id` of the registration.
    pub(crate) fn registration(&self) -> String {
        self.registration.clone().unwrap_or_else(|| format!("forecourt-{}", self.localpart))
    }

    /// Who may invite the bot.
    pub(crate) fn invited_by(&self) -> Vec<String> {
        self.invited_by.clone().unwrap_or_else(|| vec![format!("@*:{}", self.server_name)])
    }
}

/// Whether a text can be a token that nobody guesses and that stands in a header as it is.
fn is_token(text: &str) -> bool {
    (TOKEN_BYTES_MIN..=TOKEN_BYTES_MAX).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(more: &str) -> Result<MatrixSettings, Problems> {
        let text =
            format!("kind = \"matrix\"\nhomeserver = \"https://m.example\"\nserver_name = \"example.org\"\n{more}");
        let section = Section::parse(Path::new("connectors/a.toml"), &text, &|_: &str| None).unwrap();
        MatrixSettings::read(&section).map(|(settings, _)| settings)
    }

    fn with(as_token: &str, hs_token: &str, localpart: &str, more: &str) -> Result<MatrixSettings, String> {
        let text = format!("as_token = \"{as_token}\"\nhs_token = \"{hs_token}\"\nlocalpart = \"{localpart}\"\n{more}");
        read(&text).map_err(|problems| problems.to_string())
    }

    #[test]
    fn tokens_that_could_be_guessed_are_refused_at_the_bounds() {
        let (fine, other) = ("a".repeat(TOKEN_BYTES_MIN), "b".repeat(TOKEN_BYTES_MAX));
        assert!(with(&fine, &other, "kitchen", "").is_ok());
        assert!(with(&fine[1..], &other, "kitchen", "").unwrap_err().contains("`as_token` must have"));
        assert!(with(&fine, &format!("{other}b"), "kitchen", "").unwrap_err().contains("`hs_token` must have"));
        assert!(with(&fine, &fine, "kitchen", "").unwrap_err().contains("another token"));
        assert!(with(&fine, &format!("{} x", "b".repeat(20)), "kitchen", "").is_err());
    }

    #[test]
    fn who_may_invite_are_users_and_by_default_those_of_the_homeserver() {
        let (one, two) = ("a".repeat(32), "b".repeat(32));
        let usual = with(&one, &two, "kitchen", "").unwrap();
        assert_eq!(
            (usual.invited_by(), usual.us().user),
            (vec!["@*:example.org".to_owned()], "@kitchen:example.org".to_owned())
        );
        assert_eq!(usual.registration(), "forecourt-kitchen");
        assert!(with(&one, &two, "kitchen", "invited_by = [\"everybody\"]\n").unwrap_err().contains("is no user"));
        assert!(
            with(&one, &two, "Kitchen", "language = \"?\"\n")
                .is_err_and(|words| words.contains("`localpart`") && words.contains("`language`"))
        );
    }
}
