//! Messages as they are sent: into channels, to one person, and as answers of a command.

use aws_lc_rs::digest::{SHA256, digest};
use forecourt_connectors::{Outcome, Place, PlatformError, Post, PostButton, ReplyTicket};
use forecourt_egress::Egress;
use http::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::api::{Api, ApiError, Route, codes};
use crate::interaction::EPHEMERAL;
use crate::limits::{
    BUTTON_URL_BYTES_MAX, LABEL_CHARS_MAX, MESSAGE_CHARS_MAX, NONCE_CHARS, UNKNOWN_WEBHOOK_TRIES, UNKNOWN_WEBHOOK_WAIT,
};
use crate::places::Places;

/// No previews of links.
const SUPPRESS_EMBEDS: u64 = 1 << 2;
/// What stands for a moment where an answer was promised to everybody, and is for one person.
const FOR_ONE_PERSON: &str = "…";

/// Who sends.
#[derive(Clone, Copy)]
pub(crate) struct Sending<'a> {
    pub(crate) api: &'a Api,
    pub(crate) places: &'a Places,
    pub(crate) egress: &'a Egress,
}

impl Sending<'_> {
    /// Sends a message to wherever it belongs, and gives its id where it can be edited.
    pub(crate) async fn post(self, place: &Place, post: &Post) -> Outcome<Option<String>> {
        // In a direct conversation nobody else sees it.
        let only_for = post.only_for.as_ref().filter(|_| !place.is_direct);
        match (only_for, &place.ticket) {
            (None, None) => self.to_channel(&place.channel, !place.is_direct, post).await.map(Some),
            (None, Some(ticket)) => match self.answer(ticket, post).await {
                Ok(id) => Ok(id),
                Err(error) if is_over(&error) => {
                    self.to_channel(&place.channel, !place.is_direct, post).await.map(Some)
                }
                Err(error) => Err(error.into()),
            },
            (Some(user), Some(ticket)) => match self.tell(ticket, post).await {
                Ok(()) => Ok(None),
                Err(error) if is_over(&error) => self.to_person(user, place, post).await.map(|()| None),
                Err(error) => Err(error.into()),
            },
            (Some(user), None) => self.to_person(user, place, post).await.map(|()| None),
        }
    }

    /// Sends a message into a channel.
    async fn to_channel(self, channel: &str, replies: bool, post: &Post) -> Outcome<String> {
        let mut message = message(post);
        if let Some(id) = post.reply_to.as_ref().filter(|_| replies) {
            // Of a message that was deleted meanwhile it is none.
            message["message_reference"] = json!({"message_id": id, "fail_if_not_exists": false});
        }
        if !post.key.is_empty() {
            message["nonce"] = json!(nonce(&post.key));
            message["enforce_nonce"] = json!(true);
        }
        let route = Route::new(Method::POST, "message", channel, format!("/channels/{channel}/messages"));
        let sent = self.api.call(self.egress, &route, Some(&message)).await?;
        let id = id_of(&sent)?;
        // Sent before under the same key, with less in it.
        if sent["content"].as_str().is_some_and(|there| there.trim() != post.text.trim()) && post.button.is_none() {
            self.edit_in_channel(channel, &id, &post.text).await?;
        }
        Ok(id)
    }

    pub(crate) async fn edit_in_channel(self, channel: &str, id: &str, text: &str) -> Result<(), ApiError> {
        let route = Route::new(Method::PATCH, "edit", channel, format!("/channels/{channel}/messages/{id}"));
        self.api.call(self.egress, &route, Some(&edit(text))).await.map(|_| ())
    }

    /// Sends a message to one person alone: into the conversation with the bot, or, where the person takes none, a word
    /// in the channel that opens nothing.
    async fn to_person(self, user: &str, place: &Place, post: &Post) -> Outcome<()> {
        let alone = Post { reply_to: None, ..post.clone() };
        let sent = match self.places.direct(self.api, self.egress, user).await {
            Ok(channel) => self.to_channel(&channel, false, &alone).await,
            Err(error) => Err(error),
        };
        match sent {
            Err(PlatformError::Refused(_)) => {
                self.to_channel(&place.channel, !place.is_direct, &in_public(post)).await.map(|_| ())
            }
            other => other.map(|_| ()),
        }
    }

    /// Answers a command, for everybody: the first message takes the place of the promise, further ones follow it.
    async fn answer(self, ticket: &ReplyTicket, post: &Post) -> Result<Option<String>, ApiError> {
        if post.reply_to.is_some() {
            let mut first = message(post);
            // Of an answer that is edited.
            first.as_object_mut().map(|fields| fields.remove("flags"));
            match self.of_command(ticket, Method::PATCH, "/messages/@original", Some(&first)).await {
                Err(error) if error.code == codes::UNKNOWN_MESSAGE => {}
                other => return other.map(|sent| id_of(&sent).ok()),
            }
        }
        let sent = self.of_command(ticket, Method::POST, "?wait=true", Some(&message(post))).await?;
        Ok(id_of(&sent).ok())
    }

    /// Tells who gave a command alone. The promise was for everybody, and what follows it at once would be, too: so it is
    /// turned into a message first, and that is deleted.
    async fn tell(self, ticket: &ReplyTicket, post: &Post) -> Result<(), ApiError> {
        let placeholder = edit(FOR_ONE_PERSON);
        match self.of_command(ticket, Method::PATCH, "/messages/@original", Some(&placeholder)).await {
            Err(error) if error.code == codes::UNKNOWN_MESSAGE => {}
            other => drop(other?),
        }
        let mut told = message(post);
        told["flags"] = json!(EPHEMERAL | SUPPRESS_EMBEDS);
        self.of_command(ticket, Method::POST, "?wait=true", Some(&told)).await?;
        if let Err(error) = self.of_command(ticket, Method::DELETE, "/messages/@original", None).await {
            // Told is told: what is left says nothing.
            tracing::info!(error = %error.error, "a placeholder of an answer is still there");
        }
        Ok(())
    }

    /// Edits a message of an answer.
    pub(crate) async fn edit(self, place: &Place, id: &str, text: &str) -> Outcome<()> {
        if let Some(ticket) = &place.ticket {
            let path = format!("/messages/{id}");
            match self.of_command(ticket, Method::PATCH, &path, Some(&edit(text))).await {
                Err(error) if is_over(&error) || error.code == codes::UNKNOWN_MESSAGE => {}
                other => return Ok(other.map(|_| ())?),
            }
        }
        Ok(self.edit_in_channel(&place.channel, id, text).await?)
    }

    /// Deletes a message of an answer.
    pub(crate) async fn delete(self, place: &Place, id: &str) -> Outcome<()> {
        let gone = |error: ApiError| if error.code == codes::UNKNOWN_MESSAGE { Ok(()) } else { Err(error.error) };
        if let Some(ticket) = &place.ticket {
            let path = format!("/messages/{id}");
            match self.of_command(ticket, Method::DELETE, &path, None).await {
                Err(error) if is_over(&error) || error.code == codes::UNKNOWN_MESSAGE => {}
                other => return Ok(other.map(|_| ())?),
            }
        }
        let path = format!("/channels/{}/messages/{id}", place.channel);
        let route = Route::new(Method::DELETE, "delete", &place.channel, path);
        self.api.call(self.egress, &route, None).await.map(|_| ()).or_else(gone)
    }

    /// Sends a file. What is sent again under a key is there once, where no command was answered by it.
    pub(crate) async fn upload(self, place: &Place, key: Option<&str>, file: (&str, &bytes::Bytes)) -> Outcome<()> {
        let mut about = json!({"allowed_mentions": {"parse": []}, "attachments": [{"id": 0, "filename": file.0}]});
        if let Some(ticket) = &place.ticket {
            let route = self.route(ticket, Method::POST, "?wait=true");
            match self.api.send_file(self.egress, &route, &about, file).await {
                Err(error) if is_over(&error) => {}
                other => return Ok(other.map(|_| ())?),
            }
        }
        if let Some(key) = key {
            about["nonce"] = json!(nonce(key));
            about["enforce_nonce"] = json!(true);
        }
        let path = format!("/channels/{}/messages", place.channel);
        let route = Route::new(Method::POST, "message", &place.channel, path);
        Ok(self.api.send_file(self.egress, &route, &about, file).await.map(|_| ())?)
    }

    /// Calls a method of a command; one that Discord does not know yet is tried for some seconds.
    async fn of_command(
        self,
        ticket: &ReplyTicket,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, ApiError> {
        let route = self.route(ticket, method, path);
        for _ in 1..UNKNOWN_WEBHOOK_TRIES {
            match self.api.call(self.egress, &route, body).await {
                Err(error) if error.code == codes::UNKNOWN_WEBHOOK => sleep(UNKNOWN_WEBHOOK_WAIT).await,
                other => return other,
            }
        }
        self.api.call(self.egress, &route, body).await
    }

    fn route(self, ticket: &ReplyTicket, method: Method, path: &str) -> Route {
        let path = format!("/webhooks/{}/{}{path}", self.api.application(), ticket.token);
        let name = match method {
            Method::PATCH => "answer",
            Method::DELETE => "withdrawal",
            _ => "further answer",
        };
        Route::of_interaction(method, name, &ticket.token, path)
    }
}

/// Whether the token of a command is good for nothing any more, or never was.
fn is_over(error: &ApiError) -> bool {
    matches!(error.code, codes::UNKNOWN_WEBHOOK | codes::INVALID_WEBHOOK_TOKEN)
}

fn id_of(sent: &Value) -> Outcome<String> {
    let id = sent["id"].as_str().filter(|id| crate::ids::is_id(id));
    id.map(str::to_owned).ok_or_else(|| PlatformError::Failed("message: a message has no id".to_owned()))
}

/// The fields of an edit. Whom it mentions is told nothing.
fn edit(text: &str) -> Value {
    json!({"content": text, "allowed_mentions": {"parse": []}})
}

/// The fields of a message.
fn message(post: &Post) -> Value {
    let mut message = edit(&post.text);
    message["flags"] = json!(SUPPRESS_EMBEDS);
    match &post.button {
        Some(PostButton { label, url }) if url.len() <= BUTTON_URL_BYTES_MAX => {
            let label: String = label.chars().take(LABEL_CHARS_MAX).collect();
            let button = json!({"type": 2, "style": 5, "label": label, "url": url});
            message["components"] = json!([{"type": 1, "components": [button]}]);
        }
        Some(PostButton { url, .. }) => {
            let room = MESSAGE_CHARS_MAX.saturating_sub(url.chars().count() + 3);
            let words: String = post.text.chars().take(room).collect();
            message["content"] = json!(format!("{words}\n<{url}>"));
        }
        None => {}
    }
    message
}

/// What a channel is told where one person can't be told alone: the words, and the command by which that can be. Words
/// with an address are left out, since it opens what is that person's.
fn in_public(post: &Post) -> Post {
    let has_address = post.text.contains("://");
    let leads = post.button.is_some() || has_address;
    let words = if has_address { "" } else { post.text.as_str() };
    let text = if leads { format!("{words}\n→ `/{}`", crate::command::ASK) } else { words.to_owned() };
    let key = format!("{}/public", post.key);
    Post { text: text.trim().to_owned(), button: None, only_for: None, key, ..post.clone() }
}

/// What Discord knows a message again by, of the length that it takes.
fn nonce(key: &str) -> String {
    let hash = digest(&SHA256, key.as_bytes());
    let hex = hash.as_ref().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    hex.chars().take(NONCE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(text: &str, url: Option<&str>) -> Post {
        let button = url.map(|url| PostButton { label: "Agree".to_owned(), url: url.to_owned() });
        Post { text: text.to_owned(), button, only_for: Some("5".to_owned()), ..Post::default() }
    }

    #[test]
    fn a_channel_is_told_no_address_that_is_for_one_person() {
        let told = in_public(&post("Please agree.", Some("https://host.example/consent/secret")));
        assert!(told.text == "Please agree.\n→ `/ask`" && told.button.is_none() && told.only_for.is_none());
        let words = in_public(&post("Sign in at [the door](<https://door.example/?for=you>).", None));
        assert_eq!(words.text, "→ `/ask`");
        let harmless = in_public(&post("Nobody here is called @x.", None));
        assert_eq!(harmless.text, "Nobody here is called @x.");
    }

    #[test]
    fn a_button_is_within_the_bounds_of_discord_at_the_bound_and_one_over_it() {
        let url = |bytes: usize| format!("https://host.example/{}", "x".repeat(bytes - 21));
        let fits = message(&post("a", Some(&url(BUTTON_URL_BYTES_MAX))));
        assert_eq!(fits["components"][0]["components"][0]["url"], url(BUTTON_URL_BYTES_MAX));
        let longer = message(&post("a", Some(&url(BUTTON_URL_BYTES_MAX + 1))));
        assert!(longer["components"].is_null() && longer["content"].as_str().unwrap().contains("host.example"));
        assert_eq!(fits["allowed_mentions"], json!({"parse": []}));
    }
}
