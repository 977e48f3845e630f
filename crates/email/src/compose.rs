//! An answer as a message. RFC 5322, RFC 3834; PolicyPart 4.4.

use base64::{Engine, engine::general_purpose::STANDARD};
use forecourt_core::{CollectedReply, Ending, Language, Part, PolicyPart};
use forecourt_pages::markdown;
use mail_builder::MessageBuilder;
use mail_builder::headers::address::Address;
use mail_builder::headers::message_id::MessageId;
use mail_builder::headers::raw::Raw;
use serde_json::{Value, json};

use crate::correspondence::Correspondence;
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

/// What a message tells.
pub(crate) enum Content<'a> {
    /// What an agent answered.
    Reply(&'a CollectedReply),
    /// Why it does not.
    Refusal(&'a PolicyPart),
}

impl<'a> Content<'a> {
    /// The refusal, if this is one.
    pub(crate) fn refusal(&self) -> Option<&'a PolicyPart> {
        match self {
            Self::Refusal(part) => Some(part),
            Self::Reply(reply) => match &reply.ending {
                Ending::Refused(part) => Some(part),
                _ => None,
            },
        }
    }
}

/// The message, not signed yet. `None` where there is nothing to tell.
pub(crate) fn compose(content: &Content<'_>, to: &Correspondence, style: &Style<'_>) -> Option<Vec<u8>> {
    let language = to.language.as_deref().and_then(Language::parse);
    let refusal = content.refusal();
    let text = match (content, refusal) {
        (_, Some(part)) => refusal_words(part, language.as_ref(), style.is_signed),
        (Content::Reply(reply), None) => reply_words(reply)?,
        (Content::Refusal(_), None) => return None,
    };
    let address = format!("{}@{}", to.agent, style.domain);
    let mut message = MessageBuilder::new()
        .from(Address::new_address(Some(one_line(&to.agent_name)), address.as_str()))
        .to(Address::new_address(None::<&str>, to.to.to_string()))
        .subject(to.subject.as_str())
        .date(style.now)
        .message_id(format!("{}@{}", to.token, style.domain))
        // RFC 3834 3.1, and what Exchange has for it: no program is to answer this one. By the third we know our own.
        .header("Auto-Submitted", Raw::new("auto-replied"))
        .header("X-Auto-Response-Suppress", Raw::new("All"))
        .header(LOOP_FIELD, Raw::new(style.domain));
    if let Some(id) = &to.in_reply_to {
        message = message.in_reply_to(id.as_str());
    }
    if !to.references.is_empty() {
        message = message.references(MessageId::new_list(to.references.iter().map(String::as_str)));
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

fn reply_words(reply: &CollectedReply) -> Option<String> {
    let mut blocks: Vec<String> = reply.parts.iter().filter_map(part_words).collect();
    match &reply.ending {
        // The message is among the parts already.
        Ending::Complete | Ending::Message(_) | Ending::Refused(_) => {}
        Ending::Question(question) => blocks.push(question.in_words()),
        Ending::SignIn(wanted) => blocks.push(wanted.question.in_words()),
        Ending::Declined { reason } => blocks.push(reason.clone()),
        Ending::Failed { reason, .. } => blocks.push(format!("The question could not be answered: {reason}")),
        Ending::Canceled => return None,
    }
    blocks.retain(|block| !block.trim().is_empty());
    match blocks.is_empty() {
        true => Some("There is no answer.".to_owned()),
        false => Some(blocks.join("\n\n")),
    }
}

/// What of a part can be told in words.
fn part_words(part: &Part) -> Option<String> {
    match part {
        Part::Text(text) => Some(text.content.clone()),
        Part::Link(link) => Some(match &link.title {
            Some(title) => format!("{title}\n{}", link.url),
            None => link.url.clone(),
        }),
        Part::Data(data) => {
            let text = |key: &str| data.data.get(key).and_then(Value::as_str);
            let name = text("name").or_else(|| text("headline"))?;
            Some(text("url").map_or_else(|| format!("- {name}"), |url| format!("- {name}\n  {url}")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
