//! Discord as a platform.

use std::time::Duration;

use bytes::Bytes;
use forecourt_connectors::{
    ChatFile, ConnectorSettings, EventError, EventRequest, Incoming, Listening, Outcome, Place, Platform,
    PlatformError, Post, Reception,
};
use forecourt_core::{File, Handle, Timestamp};
use forecourt_egress::Egress;
use forecourt_pages::markdown::Marks;
use forecourt_settings::{Problems, Section};
use futures::future::BoxFuture;
use http::Method;
use serde_json::Value;

use crate::api::{Api, Route};
use crate::gateway::ListeningBot;
use crate::limits::{EDIT_EVERY, MESSAGE_CHARS_MAX, NAME_CHARS_MAX};
use crate::marks::DiscordMarkdown;
use crate::places::Places;
use crate::sending::Sending;
use crate::settings::DiscordSettings;
use crate::signature::PublicKey;
use crate::{KIND, gateway, interaction, steps};

/// That the application may read what messages say: of few servers, or of many.
const READS_MESSAGES: u64 = (1 << 18) | (1 << 19);

/// One application.
pub(crate) struct Discord {
    public_key: PublicKey,
    /// As it was written down, to be compared.
    public_key_text: String,
    api: Api,
    places: Places,
    /// Whether messages are heard of.
    mentions: bool,
}

impl Discord {
    fn sending<'a>(&'a self, egress: &'a Egress) -> Sending<'a> {
        Sending { api: &self.api, places: &self.places, egress }
    }
}

impl Platform for Discord {
    const KIND: &'static str = KIND;
    const ISSUER: &'static str = "discord.com";
    const METHOD: &'static str = "discord-user";
    const PATH: &'static str = "/connectors/discord/{name}";
    const FILES_PATH: &'static str = "/connectors/discord/{name}/files/{token}";
    const MESSAGE_CHARS_MAX: usize = MESSAGE_CHARS_MAX;
    const EDIT_EVERY: Duration = EDIT_EVERY;

    fn open(section: &Section) -> Result<(Self, ConnectorSettings), Problems> {
        let (settings, of_connector) = DiscordSettings::read(section)?;
        let api = Api::new(&settings.api, &settings.application_id, &settings.bot_token);
        let api = api.ok_or_else(|| section.problem(Some("bot_token"), "`bot_token` is no token"))?;
        let public_key = PublicKey::parse(&settings.public_key);
        let public_key = public_key.ok_or_else(|| section.problem(Some("public_key"), "`public_key` is no key"))?;
        let mentions = settings.mentions;
        let public_key_text = settings.public_key;
        Ok((Self { public_key, public_key_text, api, places: Places::default(), mentions }, of_connector))
    }

    fn read(&self, request: &EventRequest<'_>, now: Timestamp) -> Result<Incoming, EventError> {
        self.public_key.check(request.headers, request.body, now)?;
        interaction::read(request.body, self.api.application(), now)
    }

    fn acknowledgement(&self, body: &[u8], reception: Reception) -> Option<Value> {
        Some(interaction::acknowledgement(body, reception))
    }

    fn listens(&self) -> bool {
        true
    }

    fn listen<'a>(&'a self, listening: &'a Listening<'a>) -> BoxFuture<'a, ()> {
        let bot = ListeningBot { api: &self.api, places: &self.places, mentions: self.mentions };
        Box::pin(gateway::listen(bot, listening))
    }

    /// Users of Discord are of no group.
    fn subject(&self, _group: &str, user: &str) -> String {
        format!("{KIND}:{user}")
    }

    fn download<'a>(&'a self, egress: &'a Egress, file: &'a ChatFile) -> BoxFuture<'a, Outcome<Bytes>> {
        Box::pin(self.api.download(egress, &file.url))
    }

    fn post<'a>(
        &'a self,
        egress: &'a Egress,
        place: &'a Place,
        post: &'a Post,
    ) -> BoxFuture<'a, Outcome<Option<String>>> {
        Box::pin(self.sending(egress).post(place, post))
    }

    fn edit<'a>(
        &'a self,
        egress: &'a Egress,
        place: &'a Place,
        id: &'a str,
        post: &'a Post,
    ) -> BoxFuture<'a, Outcome<()>> {
        Box::pin(self.sending(egress).edit(place, id, &post.text))
    }

    fn delete<'a>(&'a self, egress: &'a Egress, place: &'a Place, id: &'a str) -> BoxFuture<'a, Outcome<()>> {
        Box::pin(self.sending(egress).delete(place, id))
    }

    fn upload<'a>(
        &'a self,
        egress: &'a Egress,
        place: &'a Place,
        file: &'a File,
        bytes: Bytes,
    ) -> BoxFuture<'a, Outcome<()>> {
        Box::pin(async move {
            let name = file.name.as_deref().unwrap_or("file").replace(['/', '\\'], "_");
            let name: String = name.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect();
            self.sending(egress).upload(place, file.id.as_deref(), (&name, &bytes)).await
        })
    }

    fn marks(&self) -> &'static (dyn Marks + Sync) {
        &DiscordMarkdown
    }

    fn try_credentials<'a>(&'a self, egress: &'a Egress) -> BoxFuture<'a, Outcome<String>> {
        Box::pin(async move {
            let me = Route::new(Method::GET, "me", "", "/users/@me".to_owned());
            let me = self.api.call(egress, &me, None).await?;
            let application = Route::new(Method::GET, "application", "", "/applications/@me".to_owned());
            let application = self.api.call(egress, &application, None).await?;
            self.check(&application)?;
            Ok(format!("@{}", me["username"].as_str().unwrap_or_default()))
        })
    }

    fn steps(name: &Handle, url: &str) -> String {
        steps::steps(name, url)
    }
}

impl Discord {
    /// Holds what Discord says of the application of the token against the settings.
    fn check(&self, application: &Value) -> Outcome<()> {
        let refused = |words: &str| Err(PlatformError::Refused(words.to_owned()));
        let text = |key: &str| application[key].as_str().unwrap_or_default();
        if text("id") != self.api.application() {
            return refused("the token is that of another application than `application_id`");
        }
        if !text("verify_key").eq_ignore_ascii_case(&self.public_key_text) {
            return refused("`public_key` is not that of the application: no interaction would be believed");
        }
        if self.mentions && application["flags"].as_u64().unwrap_or_default() & READS_MESSAGES == 0 {
            return refused(
                "the application lacks the Message Content Intent (page *Bot*), or `mentions = false` is wanted",
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;

    #[test]
    fn credentials_of_another_application_or_without_messages_are_told() {
        let key = "ab".repeat(32);
        let open = |more: &str| {
            let text = format!(
                "kind = \"discord\"\napplication_id = \"1\"\npublic_key = \"{key}\"\nbot_token = \"a.b.c\"\n{more}"
            );
            let section = Section::parse(Path::new("connectors/a.toml"), &text, &|_: &str| None).unwrap();
            Discord::open(&section).unwrap().0
        };
        let of = |id: &str, key: &str, flags: u64| json!({"id": id, "verify_key": key, "flags": flags});
        let discord = open("");
        for flags in [1 << 18, 1 << 19, 1 << 18 | 1 << 23] {
            assert_eq!(discord.check(&of("1", &key.to_uppercase(), flags)), Ok(()));
        }
        for (wrong, word) in [
            (of("2", &key, 1 << 18), "application_id"),
            (of("1", "cd", 1 << 18), "public_key"),
            (of("1", &key, 1 << 23), "Message Content Intent"),
        ] {
            let said = discord.check(&wrong).unwrap_err().to_string();
            assert!(said.contains(word), "{said}");
        }
        assert_eq!(open("mentions = false\n").check(&of("1", &key, 0)), Ok(()));
    }
}
