//! Slack as a platform.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use forecourt_connectors::{
    ChatFile, ConnectorSettings, EventError, EventRequest, Incoming, Outcome, Place, Platform, PlatformError, Post,
    PostButton,
};
use forecourt_core::message::Profile;
use forecourt_core::{File, Handle, Timestamp};
use forecourt_egress::Egress;
use forecourt_pages::markdown::Marks;
use forecourt_settings::{Problems, Section};
use futures::future::BoxFuture;
use http::header::CONTENT_TYPE;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::api::Api;
use crate::limits::{
    EDIT_EVERY, MESSAGE_CHARS_MAX, NAME_CHARS_MAX, PROFILE_TTL, PROFILE_WAIT, PROFILES_MAX, SECTION_CHARS_MAX,
};
use crate::marks::Mrkdwn;
use crate::settings::SlackSettings;
use crate::steps::{self, SCOPES};
use crate::{KIND, event, signature};

/// One app in one workspace.
pub(crate) struct Slack {
    signing_secret: String,
    api: Api,
    /// What users show of themselves, and since when that is known.
    profiles: Mutex<HashMap<String, (Instant, Option<Profile>)>>,
}

impl Platform for Slack {
    const KIND: &'static str = KIND;
    const ISSUER: &'static str = "slack.com";
    const METHOD: &'static str = "slack-workspace-member";
    const PATH: &'static str = "/connectors/slack/{name}";
    const FILES_PATH: &'static str = "/connectors/slack/{name}/files/{token}";
    const MESSAGE_CHARS_MAX: usize = MESSAGE_CHARS_MAX;
    const EDIT_EVERY: Duration = EDIT_EVERY;

    fn open(section: &Section) -> Result<(Self, ConnectorSettings), Problems> {
        let (settings, of_connector) = SlackSettings::read(section)?;
        let api = Api::new(&settings.api, &settings.bot_token);
        let api = api.ok_or_else(|| section.problem(Some("bot_token"), "`bot_token` is no token"))?;
        Ok((Self { signing_secret: settings.signing_secret, api, profiles: Mutex::default() }, of_connector))
    }

    fn read(&self, request: &EventRequest<'_>, now: Timestamp) -> Result<Incoming, EventError> {
        let EventRequest { headers, body, .. } = *request;
        signature::check(&self.signing_secret, headers, body, now)?;
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        event::read(body, kind.starts_with("application/x-www-form-urlencoded"))
    }

    fn profile<'a>(&'a self, egress: &'a Egress, user: &'a str) -> BoxFuture<'a, Option<Profile>> {
        Box::pin(async move {
            let known = self.profiles.lock().get(user).filter(|(since, _)| since.elapsed() < PROFILE_TTL).cloned();
            if let Some((_, profile)) = known {
                return profile;
            }
            let arguments = [("user", user), ("include_locale", "true")];
            let asked = tokio::time::timeout(PROFILE_WAIT, self.api.call_form(egress, "users.info", &arguments)).await;
            let profile = match asked {
                Ok(Ok(answer)) => Some(profile(&answer["user"])),
                // Without the scope it will not be told later either.
                Ok(Err(PlatformError::Refused(_))) => None,
                Ok(Err(_)) | Err(_) => return None,
            };
            let mut profiles = self.profiles.lock();
            if profiles.len() >= PROFILES_MAX {
                profiles.clear();
            }
            profiles.insert(user.to_owned(), (Instant::now(), profile.clone()));
            profile
        })
    }

    fn download<'a>(&'a self, egress: &'a Egress, file: &'a ChatFile) -> BoxFuture<'a, Outcome<Bytes>> {
        Box::pin(self.api.download(egress, &file.url, &file.mime))
    }

    fn post<'a>(
        &'a self,
        egress: &'a Egress,
        place: &'a Place,
        post: &'a Post,
    ) -> BoxFuture<'a, Outcome<Option<String>>> {
        Box::pin(async move {
            let mut message = message(place, post);
            // What only one person sees can't be edited, and has no id for that.
            if let Some(user) = post.only_for.as_ref().filter(|_| !place.is_direct) {
                message["user"] = json!(user);
                self.api.call(egress, "chat.postEphemeral", &message).await?;
                return Ok(None);
            }
            let answer = self.api.call(egress, "chat.postMessage", &message).await?;
            Ok(answer["ts"].as_str().map(str::to_owned))
        })
    }

    fn edit<'a>(
        &'a self,
        egress: &'a Egress,
        place: &'a Place,
        id: &'a str,
        post: &'a Post,
    ) -> BoxFuture<'a, Outcome<()>> {
        Box::pin(async move {
            // Unlike a new message, an edited one has plain names linked unless that is turned off.
            let message = json!({"channel": place.channel, "ts": id, "text": post.text, "parse": "none"});
            self.api.call(egress, "chat.update", &message).await.map(|_| ())
        })
    }

    fn delete<'a>(&'a self, egress: &'a Egress, place: &'a Place, id: &'a str) -> BoxFuture<'a, Outcome<()>> {
        Box::pin(async move {
            match self.api.call(egress, "chat.delete", &json!({"channel": place.channel, "ts": id})).await {
                Err(PlatformError::Refused(reason)) if reason.ends_with("message_not_found") => Ok(()),
                other => other.map(|_| ()),
            }
        })
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
            let length = bytes.len().to_string();
            let arguments = [("filename", name.as_str()), ("length", length.as_str())];
            let place_for = self.api.call_form(egress, "files.getUploadURLExternal", &arguments).await?;
            let (Some(url), Some(id)) = (place_for["upload_url"].as_str(), place_for["file_id"].as_str()) else {
                return Err(PlatformError::Failed("there is no address to upload a file to".to_owned()));
            };
            self.api.send_bytes(egress, url, bytes).await?;
            let mut done = json!({"files": [{"id": id, "title": name}], "channel_id": place.channel});
            if let Some(thread) = &place.thread {
                done["thread_ts"] = json!(thread);
            }
            self.api.call(egress, "files.completeUploadExternal", &done).await.map(|_| ())
        })
    }

    fn marks(&self) -> &'static (dyn Marks + Sync) {
        &Mrkdwn
    }

    fn try_credentials<'a>(&'a self, egress: &'a Egress) -> BoxFuture<'a, Outcome<String>> {
        Box::pin(async move {
            let (scopes, answer) = self.api.scopes(egress).await?;
            let missing: Vec<&str> =
                SCOPES.iter().copied().filter(|scope| !scopes.iter().any(|has| has == scope)).collect();
            if !missing.is_empty() {
                return Err(PlatformError::Refused(format!("the app lacks the scopes {}", missing.join(", "))));
            }
            let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
            Ok(format!("{} in {}", text("user"), text("team")))
        })
    }

    fn steps(name: &Handle, url: &str) -> String {
        steps::steps(name, url)
    }
}

/// The arguments of a message. Its text is what notifications show; with a button it stands in a section as well.
fn message(place: &Place, post: &Post) -> Value {
    let mut message = json!({
        "channel": place.channel, "text": post.text, "unfurl_links": false, "unfurl_media": false,
    });
    if let Some(thread) = &place.thread {
        message["thread_ts"] = json!(thread);
    }
    if let Some(PostButton { label, url }) = &post.button {
        let words: String = post.text.chars().take(SECTION_CHARS_MAX).collect();
        let button = json!({
            "type": "button", "text": {"type": "plain_text", "text": label}, "url": url, "style": "primary",
            "action_id": "open",
        });
        message["blocks"] = json!([
            {"type": "section", "text": {"type": "mrkdwn", "text": words, "verbatim": true}},
            {"type": "actions", "elements": [button]},
        ]);
    }
    message
}

/// What a user shows of itself.
fn profile(user: &Value) -> Profile {
    let text = |value: &Value| {
        let text = value.as_str().filter(|text| !text.is_empty())?;
        Some(text.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect::<String>())
    };
    let shown = &user["profile"];
    let name = text(&shown["display_name"]).or_else(|| text(&shown["real_name"])).or_else(|| text(&user["name"]));
    let mut more = Map::new();
    for (key, value) in [("username", &user["name"]), ("locale", &user["locale"]), ("timezone", &user["tz"])] {
        if let Some(value) = text(value) {
            more.insert(key.to_owned(), value.into());
        }
    }
    Profile { display_name: name, more }
}
