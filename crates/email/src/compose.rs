//! An answer as a message. RFC 5322, RFC 3834; PolicyPart 4.4.

use base64::{Engine, engine::general_purpose::STANDARD};
use forecourt_core::{Language, PolicyPart};
use forecourt_correspondence::{Content, answer_in_words};
use forecourt_pages::markdown;
use mail_builder::MessageBuilder;
use mail_builder::headers::address::Address;
use mail_builder::headers::message_id::MessageId;
use mail_builder::headers::raw::Raw;
use serde_json::json;

use crate::address::MailLetter;
use crate::inbound::{LOOP_FIELD, POLICY_FIELD, one_line};
use crate::limits::ENVELOPE_BYTES_MAX;

/// The version of the envelope. PolicyPart 4.1.
pub(crate) const ENVELOPE_VERSION: &str = "v0.1";
/// Characters of the envelope on one line.
const FOLD_AT: usize = 70;

/// The domain that answers, and how.
pub(crate) struct Style<'a> {
    /// The domain of every address here.
    pub(crate) domain: &'a str,
    /// Whether there is an HTML part.
    pub(crate) html: bool,
    /// Whether the message will be signed: only then it may ask for consent or payment. PolicyPart 4.4.
    pub(crate) is_signed: bool,
    /// Now, in seconds since 1970.
    pub(crate) now: i64,
}

/// The message, not signed yet. `None` where there is nothing to tell.
pub(crate) fn compose(content: &Content<'_>, to: &MailLetter, style: &Style<'_>) -> Option<Vec<u8>> {
    let address = &to.address;
    let refusal = content.refusal();
    let text = match (content, refusal) {
        (_, Some(part)) => refusal_words(part, to.language.as_ref(), style.is_signed),
        (Content::Reply(reply), None) => answer_in_words(reply)?,
        (Content::Refusal(_), None) => return None,
    };
    let from = format!("{}@{}", to.agent, style.domain);
    let mut message = MessageBuilder::new()
        .from(Address::new_address(Some(one_line(&address.agent_name)), from.as_str()))
        .to(Address::new_address(None::<&str>, address.to.to_string()))
        .subject(address.subject.as_str())
        .date(style.now)
        .message_id(format!("{}@{}", to.token, style.domain))
        // RFC 3834 3.1, and what Exchange has for it: no program is to answer this one. By the third we know our own.
        .header("Auto-Submitted", Raw::new("auto-replied"))
        .header("X-Auto-Response-Suppress", Raw::new("All"))
        .header(LOOP_FIELD, Raw::new(style.domain));
    if let Some(id) = &address.in_reply_to {
        message = message.in_reply_to(id.as_str());
    }
    if !address.references.is_empty() {
        message = message.references(MessageId::new_list(address.references.iter().map(String::as_str)));
    }
    if let Some(envelope) = refusal.filter(|_| style.is_signed).and_then(envelope) {
        message = message.header(POLICY_FIELD, Raw::new(envelope));
    }
    if style.html && refusal.is_none() {
        message = message.html_body(format!("<!doctype html><html><body>{}</body></html>", markdown::to_html(&text)));
    }
    message.text_body(text).write_to_vec().ok()
}

/// PolicyPart 4.4: the message, and the URL inline where it may be.
fn refusal_words(part: &PolicyPart, language: Option<&Language>, with_url: bool) -> String {
    let (_, message) = part.in_language(language);
    match part.url.as_ref().filter(|_| with_url) {
        Some(url) => format!("{message}\n\n{url}\n"),
        None => message.to_owned(),
    }
}

/// The envelope in words that a field can be folded between.
fn envelope(part: &PolicyPart) -> Option<String> {
    let json = serde_json::to_vec(&json!({"v": ENVELOPE_VERSION, "part": part})).ok()?;
    let text = STANDARD.encode(json);
    let lines: Vec<&str> = text.as_bytes().chunks(FOLD_AT).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    (text.len() <= ENVELOPE_BYTES_MAX).then(|| lines.join(" "))
}

#[cfg(test)]
mod tests;
