//! Matrix as a platform.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use forecourt_connectors::{
    ChatFile, CodeMarks, ConnectorSettings, EventAnswer, EventError, EventRequest, Incoming, Outcome, Place, Platform,
    PlatformError, Post,
};
use forecourt_core::message::Profile;
use forecourt_core::{File, Handle, Language, Timestamp};
use forecourt_egress::Egress;
use forecourt_pages::markdown::Marks;
use forecourt_sentences::{Sentences, SpokenLanguage};
use forecourt_settings::{Problems, Section};
use futures::future::BoxFuture;
use http::HeaderMap;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::api::{Api, segment};
use crate::content::{self, file_name, placed, transaction};
use crate::event::redacted_by;
use crate::ids::Us;
use crate::limits::{
    ACKNOWLEDGED_WITHIN, EDIT_EVERY, MESSAGE_CHARS_MAX, NAME_CHARS_MAX, PROFILE_TTL, PROFILE_WAIT, PROFILES_MAX,
    TRANSACTION_BYTES_MAX,
};
use crate::marks::{CODE_MARKS, MatrixHtml};
use crate::rooms::{Homeserver, Rooms};
use crate::settings::MatrixSettings;
use crate::{KIND, credentials, steps, transaction as transactions};

/// One bot of one homeserver.
pub(crate) struct Matrix {
    hs_token: String,
    registration: String,
    api: Api,
    us: Us,
    pub(crate) invited_by: Vec<String>,
    language: Option<Language>,
    pub(crate) rooms: Rooms,
    /// What users show of themselves, and since when that is known.
    profiles: Mutex<HashMap<String, (Instant, Profile)>>,
}

impl Platform for Matrix {
    const KIND: &'static str = KIND;
    // Each homeserver vouches for its users: `issuer`.
    const ISSUER: &'static str = "";
    const METHOD: &'static str = "matrix-user";
    const PATH: &'static str = "/connectors/matrix/{name}";
    const FILES_PATH: &'static str = "/connectors/matrix/{name}/files/{token}";
    const PATH_BELOW: Option<&'static str> = Some("/connectors/matrix/{name}/{*below}");
    const EVENT_BYTES_MAX: usize = TRANSACTION_BYTES_MAX;
    const ACKNOWLEDGED_WITHIN: Duration = ACKNOWLEDGED_WITHIN;
    const MESSAGE_CHARS_MAX: usize = MESSAGE_CHARS_MAX;
    const EDIT_EVERY: Duration = EDIT_EVERY;
    const CODE_MARKS: CodeMarks = CODE_MARKS;

    fn open(section: &Section) -> Result<(Self, ConnectorSettings), Problems> {
        let (settings, of_connector) = MatrixSettings::read(section)?;
        let api = Api::new(&settings.homeserver, &settings.as_token);
        let api = api.ok_or_else(|| section.problem(Some("as_token"), "`as_token` is no token"))?;
        let platform = Self {
            api,
            us: settings.us(),
            registration: settings.registration(),
            invited_by: settings.invited_by(),
            language: settings.language.as_deref().and_then(Language::parse),
            rooms: Rooms::default(),
            profiles: Mutex::default(),
            hs_token: settings.hs_token.clone(),
        };
        Ok((platform, of_connector))
    }

    fn admit(&self, headers: &HeaderMap) -> Result<(), EventError> {
        transactions::check(&self.hs_token, headers)
    }

    fn read(&self, request: &EventRequest<'_>, _now: Timestamp) -> Result<Incoming, EventError> {
        transactions::check(&self.hs_token, request.headers)?;
        transactions::read(request, &self.us)
    }

    fn look_into<'a>(&'a self, egress: &'a Egress, event: Value) -> BoxFuture<'a, Outcome<Incoming>> {
        Box::pin(self.resolve(self.homeserver(egress), event))
    }

    fn answer_body(answer: &EventAnswer<'_>) -> Option<Value> {
        Some(transactions::answer_body(answer))
    }

    fn issuer(&self) -> &str {
        &self.us.server
    }

    /// Ids of users have their homeserver in them.
    fn subject(&self, _group: &str, user: &str) -> String {
        format!("{KIND}:{user}")
    }

    fn profile<'a>(&'a self, egress: &'a Egress, user: &'a str) -> BoxFuture<'a, Option<Profile>> {
        Box::pin(async move {
            let known = self.profiles.lock().get(user).filter(|(since, _)| since.elapsed() < PROFILE_TTL).cloned();
            if let Some((_, profile)) = known {
                return Some(profile);
            }
            let path = format!("/profile/{}", segment(user));
            let asked = tokio::time::timeout(PROFILE_WAIT, self.api.get(egress, &path)).await;
            // Who shows nothing is asked again when it speaks again.
            let Ok(Ok(shown)) = asked else { return Some(self.shown(&Value::Null)) };
            let profile = self.shown(&shown);
            let mut profiles = self.profiles.lock();
            if profiles.len() >= PROFILES_MAX {
                profiles.clear();
            }
            profiles.insert(user.to_owned(), (Instant::now(), profile.clone()));
            Some(profile)
        })
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
        Box::pin(async move {
            match &post.only_for {
                Some(user) => self.post_alone(self.homeserver(egress), place, post, user).await.map(|()| None),
                None => self.send(egress, place, post).await.map(Some),
            }
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
            // An edit of a message that is gone is taken, and nobody sees it.
            let there = self.api.event(egress, &place.channel, id).await?;
            if let Some(by) = there.as_ref().and_then(redacted_by) {
                return Err(match by == self.us.user {
                    true => PlatformError::Refused("the message was taken back".to_owned()),
                    false => PlatformError::TakenDown,
                });
            }
            let transaction = transaction(&["edit", &place.channel, id, &post.key]);
            self.api.send(egress, &place.channel, &transaction, &content::edit(id, post)).await?;
            Ok(())
        })
    }

    fn delete<'a>(&'a self, egress: &'a Egress, place: &'a Place, id: &'a str) -> BoxFuture<'a, Outcome<()>> {
        Box::pin(async move {
            // First what it said in between, which stands in events of its own.
            for edit in self.api.edits(egress, &place.channel, id).await? {
                self.redact(egress, &place.channel, &edit).await?;
            }
            self.redact(egress, &place.channel, id).await
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
            let (name, length) = (file_name(file.name.as_deref()), bytes.len());
            let uri = self.api.upload(egress, &name, &file.mime, bytes).await?;
            let transaction = transaction(&["file", &place.channel, file.id.as_deref().unwrap_or(&uri)]);
            let content = placed(content::file(&uri, &name, &file.mime, length), place, None);
            self.api.send(egress, &place.channel, &transaction, &content).await?;
            Ok(())
        })
    }

    fn marks(&self) -> &'static (dyn Marks + Sync) {
        &MatrixHtml
    }

    fn try_credentials<'a>(&'a self, egress: &'a Egress) -> BoxFuture<'a, Outcome<String>> {
        Box::pin(credentials::ask(self.homeserver(egress), &self.registration))
    }

    fn steps(name: &Handle, url: &str) -> String {
        steps::steps(name, url)
    }
}

impl Matrix {
    fn homeserver<'a>(&'a self, egress: &'a Egress) -> Homeserver<'a> {
        Homeserver { api: &self.api, egress, us: &self.us }
    }

    /// Takes an event of ours back; one that is not there any more is fine.
    async fn redact(&self, egress: &Egress, room: &str, id: &str) -> Outcome<()> {
        let transaction = transaction(&["redact", room, id]);
        let path = format!("/rooms/{}/redact/{}/{transaction}", segment(room), segment(id));
        match self.api.put(egress, &path, &json!({})).await {
            Err(error) if error.is_not_found() => Ok(()),
            other => Ok(other.map(|_| ())?),
        }
    }

    /// The sentences of the language that the operator chose.
    pub(crate) fn say(&self) -> Sentences {
        let language = self.language.clone().unwrap_or_else(Language::english);
        Sentences::in_language(SpokenLanguage::of(&language).unwrap_or(SpokenLanguage::English))
    }

    /// Sends a message into its place. Where it was sent before and its id was lost, it is the same message, and gets
    /// the words of now.
    async fn send(&self, egress: &Egress, place: &Place, post: &Post) -> Outcome<String> {
        let content = placed(content::words(post), place, post.reply_to.as_deref());
        let sent = transaction(&["post", &place.channel, &post.key]);
        let id = self.api.send(egress, &place.channel, &sent, &content).await?;
        let there = self.api.event(egress, &place.channel, &id).await?;
        let before = there.as_ref().map(|there| &there["content"]["body"]);
        if before.is_some_and(|before| before.is_string() && *before != content["body"]) {
            let again = transaction(&["again", &place.channel, &id, &post.key]);
            self.api.send(egress, &place.channel, &again, &content::edit(&id, post)).await?;
        }
        Ok(id)
    }

    /// Sends what one person alone may see: into its direct room, and where that is another one a word into the place,
    /// without what is for one person.
    async fn post_alone(&self, homeserver: Homeserver<'_>, place: &Place, post: &Post, user: &str) -> Outcome<()> {
        let egress = homeserver.egress;
        // Somebody may have come since.
        if place.is_direct && homeserver.is_alone(&place.channel, user).await? {
            return self.send(egress, place, post).await.map(|_| ());
        }
        let told = match self.rooms.of_person(homeserver, user).await {
            Ok(room) => {
                let alone = Place { channel: room, is_direct: true, ..Place::default() };
                self.send(egress, &alone, post).await?;
                post.in_public.clone()
            }
            // It can't be invited, such as from a server that takes no invitations. Words with an address are left out.
            Err(PlatformError::Refused(reason)) if post.text.contains("://") => {
                tracing::warn!(reason, "what is for one person alone could not be sent");
                return Err(PlatformError::Refused(reason));
            }
            Err(PlatformError::Refused(_)) => {
                let open = Post { button: None, key: format!("{}/public", post.key), ..post.clone() };
                return self.send(egress, place, &open).await.map(|_| ());
            }
            Err(error) => return Err(error),
        };
        if told.is_empty() {
            return Ok(());
        }
        let reply_to = post.reply_to.clone();
        let told = Post { reply_to, key: format!("{}/told", post.key), ..content::post(&told) };
        self.send(egress, place, &told).await.map(|_| ())
    }

    /// What a user shows of itself, with the language that the operator chose: Matrix does not say one.
    fn shown(&self, profile: &Value) -> Profile {
        let name = profile["displayname"].as_str().filter(|name| !name.trim().is_empty());
        let name = name.map(|name| name.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect::<String>());
        let mut more = Map::new();
        if let Some(language) = &self.language {
            more.insert("locale".to_owned(), language.as_str().into());
        }
        if let Some(zone) = profile["m.tz"].as_str() {
            more.insert("timezone".to_owned(), zone.chars().take(NAME_CHARS_MAX).collect::<String>().into());
        }
        Profile { display_name: name, more }
    }
}
