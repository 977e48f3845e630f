//! Telegram as a platform.

use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use bytes::Bytes;
use forecourt_connectors::{
    ChatFile, CodeMarks, ConnectorSettings, EventError, EventRequest, Incoming, Outcome, Place, Platform,
    PlatformError, Post, PostButton,
};
use forecourt_core::{File, Handle, Timestamp};
use forecourt_egress::Egress;
use forecourt_pages::markdown::Marks;
use forecourt_settings::{Problems, Section};
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::api::Api;
use crate::limits::{EDIT_EVERY, MESSAGE_CHARS_MAX, NAME_CHARS_MAX};
use crate::marks::{CODE_MARKS, TelegramHtml};
use crate::settings::TelegramSettings;
use crate::update::Bot;
use crate::{KIND, steps, update};

/// The field that holds the secret.
const SECRET: &str = "x-telegram-bot-api-secret-token";

/// One bot.
pub(crate) struct Telegram {
    secret: String,
    api: Api,
    bot: Bot,
}

impl Platform for Telegram {
    const KIND: &'static str = KIND;
    const ISSUER: &'static str = "telegram.org";
    const METHOD: &'static str = "telegram-user";
    const PATH: &'static str = "/connectors/telegram/{name}";
    const FILES_PATH: &'static str = "/connectors/telegram/{name}/files/{token}";
    const MESSAGE_CHARS_MAX: usize = MESSAGE_CHARS_MAX;
    const EDIT_EVERY: Duration = EDIT_EVERY;
    const THREADS_ARE_TOPICS: bool = true;
    const CODE_MARKS: CodeMarks = CODE_MARKS;

    fn open(section: &Section) -> Result<(Self, ConnectorSettings), Problems> {
        let (settings, of_connector) = TelegramSettings::read(section)?;
        let bot = Bot { id: settings.bot_id().unwrap_or_default(), username: settings.username };
        let api = Api::new(&settings.api, &settings.bot_token);
        Ok((Self { secret: settings.webhook_secret, api, bot }, of_connector))
    }

    fn read(&self, request: &EventRequest<'_>, _now: Timestamp) -> Result<Incoming, EventError> {
        let mut all = request.headers.get_all(SECRET).iter();
        let secret = all.next().filter(|_| all.next().is_none()).map(|value| value.as_bytes()).unwrap_or_default();
        verify_slices_are_equal(secret, self.secret.as_bytes())
            .map_err(|_| EventError::Unproven("the event does not have the secret of the webhook"))?;
        update::read(request.body, &self.bot)
    }

    /// Users of Telegram are of no group.
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
        Box::pin(async move {
            let Some(user) = post.only_for.as_ref().filter(|_| !place.is_direct) else {
                return self.send(egress, &message(place, post)).await;
            };
            // Nothing in a group is for one person alone, so that goes to the person; who never wrote to the bot can't be
            // written to, and is told in the group where to.
            let alone = Place { channel: user.clone(), is_direct: true, ..Place::default() };
            let private = Post { reply_to: None, ..post.clone() };
            match self.send(egress, &message(&alone, &private)).await {
                Err(PlatformError::Refused(_)) => {
                    let open = in_public(post, &self.bot.username);
                    self.send(egress, &message(place, &open)).await.map(|_| None)
                }
                other => other.map(|_| None),
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
            let mut edit =
                json!({"chat_id": place.channel, "message_id": number(id), "text": post.text, "parse_mode": "HTML"});
            edit["link_preview_options"] = json!({"is_disabled": true});
            match self.plainly_too(egress, "editMessageText", edit).await {
                Err(PlatformError::Refused(reason)) if reason.contains("message is not modified") => Ok(()),
                other => other.map(|_| ()),
            }
        })
    }

    fn delete<'a>(&'a self, egress: &'a Egress, place: &'a Place, id: &'a str) -> BoxFuture<'a, Outcome<()>> {
        Box::pin(async move {
            let message = json!({"chat_id": place.channel, "message_id": number(id)});
            match self.api.call(egress, "deleteMessage", &message).await {
                Err(PlatformError::Refused(reason)) if reason.contains("message to delete not found") => Ok(()),
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
            self.api.send_document(egress, &place.channel, place.thread.as_deref(), (&name, bytes)).await
        })
    }

    fn marks(&self) -> &'static (dyn Marks + Sync) {
        &TelegramHtml
    }

    fn try_credentials<'a>(&'a self, egress: &'a Egress) -> BoxFuture<'a, Outcome<String>> {
        Box::pin(async move {
            let me = self.api.call(egress, "getMe", &json!({})).await?;
            let name = me["username"].as_str().unwrap_or_default();
            match name.eq_ignore_ascii_case(&self.bot.username) {
                true => Ok(format!("@{name}")),
                false => {
                    Err(PlatformError::Refused(format!("the token is that of @{name}, and `username` is another")))
                }
            }
        })
    }

    fn steps(name: &Handle, url: &str) -> String {
        steps::steps(name, url)
    }
}

impl Telegram {
    /// Sends a message, and gives its id.
    async fn send(&self, egress: &Egress, message: &Value) -> Outcome<Option<String>> {
        let sent = self.plainly_too(egress, "sendMessage", message.clone()).await?;
        Ok(sent["message_id"].as_i64().map(|id| id.to_string()))
    }

    /// Sends marked text; text whose marks were parted between two messages goes without them.
    async fn plainly_too(&self, egress: &Egress, method: &str, mut message: Value) -> Outcome<Value> {
        match self.api.call(egress, method, &message).await {
            Err(PlatformError::Refused(reason)) if reason.contains("can't parse entities") => {
                let plain = plain(message["text"].as_str().unwrap_or_default());
                message["text"] = json!(plain);
                message.as_object_mut().map(|fields| fields.remove("parse_mode"));
                self.api.call(egress, method, &message).await
            }
            other => other,
        }
    }
}

/// What a group is told where one person can't be told alone: the words, and where to write to the bot. Words with an
/// address are left out, since it opens what is that person's.
fn in_public(post: &Post, username: &str) -> Post {
    let bot = format!("@{username}");
    let has_address = post.text.contains("://");
    let leads = post.button.is_some() || has_address;
    let button = leads.then(|| PostButton { label: bot.clone(), url: format!("https://t.me/{username}") });
    let text = if has_address { bot } else { post.text.clone() };
    Post { text, button, ..post.clone() }
}

/// The arguments of a message.
fn message(place: &Place, post: &Post) -> Value {
    let mut message = json!({
        "chat_id": place.channel, "text": post.text, "parse_mode": "HTML", "link_preview_options": {"is_disabled": true},
    });
    if let Some(thread) = &place.thread {
        message["message_thread_id"] = number(thread);
    }
    // In a conversation of two everybody knows what is answered.
    if let Some(id) = post.reply_to.as_ref().filter(|_| !place.is_direct) {
        message["reply_parameters"] = json!({"message_id": number(id), "allow_sending_without_reply": true});
    }
    if let Some(PostButton { label, url }) = &post.button {
        message["reply_markup"] = json!({"inline_keyboard": [[{"text": label, "url": url}]]});
    }
    message
}

/// An id as the number that it is.
fn number(id: &str) -> Value {
    id.parse::<i64>().map_or(Value::Null, Value::from)
}

/// HTML of ours without its marks.
fn plain(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        rest = rest[at..].find('>').map_or("", |end| &rest[at + end + 1..]);
    }
    text.push_str(rest);
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use forecourt_pages::markdown::to_blocks;

    use super::*;

    #[test]
    fn answers_have_the_marks_of_telegram_and_mention_nobody() {
        let text = "# Soup\n\n**a** *b* `c<d` [x](https://a.example/?q=\"1\") @everyone <b>\n\n> said";
        let marked = to_blocks(text, &TelegramHtml).join("\n\n");
        assert!(marked.starts_with("<b>Soup</b>\n\n<b>a</b> <i>b</i> <code>c&lt;d</code> <a href="), "{marked}");
        assert!(
            marked.contains("@\u{2060}everyone &lt;b&gt;") && marked.ends_with("<blockquote>said</blockquote>"),
            "{marked}"
        );
        assert_eq!(plain("<b>a</b> &lt;b&gt; &amp;amp; <a href=\"x"), "a <b> &amp; ");
    }

    #[test]
    fn a_group_is_told_no_address_that_is_for_one_person() {
        let url = "https://host.example/consent/secret".to_owned();
        let button = Some(PostButton { label: "Agree".to_owned(), url });
        let of = |text: &str, button| Post {
            text: text.to_owned(),
            button,
            only_for: Some("5".to_owned()),
            ..Post::default()
        };
        let told = message(
            &Place { channel: "-1".to_owned(), ..Place::default() },
            &in_public(&of("Please agree.", button), "cook_bot"),
        )
        .to_string();
        assert!(
            told.contains("Please agree.") && told.contains("https://t.me/cook_bot") && !told.contains("secret"),
            "{told}"
        );
        let words =
            in_public(&of("Sign in at <a href=\"https://door.example/?for=you\">the door</a>.", None), "cook_bot");
        assert!(words.text == "@cook_bot" && words.button.is_some());
        let harmless = in_public(&of("Nobody here is called @x.", None), "cook_bot");
        assert!(harmless.text.starts_with("Nobody") && harmless.button.is_none());
    }
}
