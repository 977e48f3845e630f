//! A message as it came, into what the rest of the crate goes by. Nothing here has been proven.

use std::borrow::Cow;

use bytes::Bytes;
use forecourt_core::clean::is_hidden;
use forecourt_core::{File, Language, Part};
use mail_auth::AuthenticatedMessage;
use mail_parser::{Address, HeaderName, HeaderValue, Message, MessageParser, MessagePart, MimeHeaders, PartType};

use crate::limits::{
    ATTACHMENTS_MAX, MESSAGE_ID_BYTES_MAX, MIME_PARTS_MAX, REFERENCES_MAX, SUBJECT_CHARS_MAX, TEXT_BYTES_MAX,
};
use crate::mailbox::Mailbox;
use crate::quote::own_words;

/// The field that each of our answers has: a message that has it was made by a program like this one.
pub(crate) const LOOP_FIELD: &str = "X-Forecourt-Loop";
/// The field of a policy envelope. PolicyPart 4.4.
pub(crate) const POLICY_FIELD: &str = "X-Mentionable-Policy";
/// Fields that a message may have once. RFC 5322 3.6: what is there twice, readers and signatures read differently.
const SINGLE: [&str; 12] = [
    "from",
    "to",
    "cc",
    "subject",
    "date",
    "message-id",
    "in-reply-to",
    "references",
    "content-type",
    "mime-version",
    "content-transfer-encoding",
    "x-mentionable-policy",
];

/// A message to an agent.
#[derive(Debug)]
pub(crate) struct InboundMail {
    /// Who claims to have written it.
    pub(crate) from: Mailbox,
    /// The name beside it.
    pub(crate) from_name: Option<String>,
    /// Whom it names as its readers.
    pub(crate) readers: Vec<Mailbox>,
    /// Its own id, without brackets.
    pub(crate) id: Option<String>,
    /// The ids of the messages before it: the one that it answers first, then the others, the latest first.
    pub(crate) references: Vec<String>,
    /// When it says that it was written, in seconds since 1970.
    pub(crate) dated_at: Option<i64>,
    /// On one line.
    pub(crate) subject: String,
    /// What was said, and what came with it.
    pub(crate) parts: Vec<Part>,
    /// The language that it is in, or an answer should be.
    pub(crate) language: Option<Language>,
    /// Why nobody wants an answer to it. RFC 3834 2.
    pub(crate) automatic: Option<&'static str>,
    /// A policy envelope, as base64.
    pub(crate) policy: Option<String>,
}

/// Why bytes are no message that an agent can be asked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecodeError {
    /// It has no head.
    #[error("the message can't be read")]
    Unreadable,
    /// It has no author, several, or one in an unusual form.
    #[error("the message needs one From with one plain address")]
    Author,
    /// A field that may be there once is there twice.
    #[error("the message has a header field twice that it may have once")]
    Repeated,
    /// There are too many parts.
    #[error("a message may have at most {MIME_PARTS_MAX} parts")]
    Parts,
    /// Nothing is asked.
    #[error("the message says nothing of its own")]
    Empty,
}

impl InboundMail {
    /// Reads a message. `head` is the same one, as signatures are checked against it.
    pub(crate) fn read(raw: &[u8], head: &AuthenticatedMessage<'_>) -> Result<Self, DecodeError> {
        is_single(head)?;
        let message = MessageParser::default().parse(raw).ok_or(DecodeError::Unreadable)?;
        if message.parts.len() > MIME_PARTS_MAX {
            return Err(DecodeError::Parts);
        }
        // Both readers must see the same author.
        let [signed_from] = head.from.as_slice() else { return Err(DecodeError::Author) };
        let author = only(message.from()).ok_or(DecodeError::Author)?;
        let from = author.address().and_then(Mailbox::parse).ok_or(DecodeError::Author)?;
        if Mailbox::parse(signed_from).as_ref() != Some(&from) {
            return Err(DecodeError::Author);
        }
        let from_name = author.name().map(one_line).filter(|name| !name.is_empty());
        let automatic = automatic(&message, &from);
        let subject = one_line(message.subject().unwrap_or_default());
        let parts = parts(&message, &subject);
        if parts.is_empty() && automatic.is_none() {
            return Err(DecodeError::Empty);
        }
        Ok(Self {
            from_name,
            readers: readers(&message),
            id: message.message_id().and_then(message_id),
            references: references(&message),
            dated_at: message.date().map(|date| date.to_timestamp()),
            subject,
            parts,
            language: language(&message),
            automatic,
            policy: message.header_raw(POLICY_FIELD).map(|value| value.split_whitespace().collect()),
            from,
        })
    }
}

fn is_single(head: &AuthenticatedMessage<'_>) -> Result<(), DecodeError> {
    let count = |name: &str| head.headers.iter().filter(|(it, _)| it.eq_ignore_ascii_case(name.as_bytes())).count();
    match SINGLE.iter().any(|name| count(name) > 1) {
        true => Err(DecodeError::Repeated),
        false if count("from") == 0 => Err(DecodeError::Author),
        false => Ok(()),
    }
}

/// The one address of a list of one.
fn only<'a, 'x>(address: Option<&'a Address<'x>>) -> Option<&'a mail_parser::Addr<'x>> {
    match address?.as_list()? {
        [one] => Some(one),
        _ => None,
    }
}

fn readers(message: &Message<'_>) -> Vec<Mailbox> {
    let all = message.to().into_iter().chain(message.cc()).flat_map(Address::iter);
    all.filter_map(|one| one.address().and_then(Mailbox::parse)).collect()
}

/// An id without brackets, as it may be written again: printable ASCII without spaces or brackets.
pub(crate) fn message_id(text: &str) -> Option<String> {
    let bare = text.trim().trim_start_matches('<').trim_end_matches('>');
    let fits = (1..=MESSAGE_ID_BYTES_MAX).contains(&bare.len());
    (fits && bare.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>".contains(&byte))).then(|| bare.to_owned())
}

fn references(message: &Message<'_>) -> Vec<String> {
    let before = ids(message.references());
    let mut found: Vec<String> = Vec::new();
    for id in ids(message.in_reply_to()).iter().chain(before.iter().rev()).filter_map(|id| message_id(id)) {
        if found.len() < REFERENCES_MAX && !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

fn ids(value: &HeaderValue<'_>) -> Vec<String> {
    match value {
        HeaderValue::Text(text) => vec![text.to_string()],
        HeaderValue::TextList(texts) => texts.iter().map(Cow::to_string).collect(),
        _ => Vec::new(),
    }
}

/// Text on one line, without what can't be seen.
pub(crate) fn one_line(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() || c.is_whitespace() { ' ' } else { c }).collect();
    let text: String = text.chars().filter(|c| !is_hidden(*c)).take(SUBJECT_CHARS_MAX).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn language(message: &Message<'_>) -> Option<Language> {
    let wanted = ["Accept-Language", "Content-Language"].into_iter().find_map(|name| message.header_raw(name))?;
    let first = wanted.split([',', ';']).next()?;
    Language::parse(first.trim())
}

/// Why a message is to be left without an answer: programs that answer each other don't end. RFC 3834 2.
fn automatic(message: &Message<'_>, from: &Mailbox) -> Option<&'static str> {
    let field = |name: &'static str| message.header_raw(name).map(|value| value.trim().to_lowercase());
    if field(LOOP_FIELD).is_some() {
        return Some("our own answer");
    }
    if field("Auto-Submitted").is_some_and(|value| !value.starts_with("no")) {
        return Some("Auto-Submitted");
    }
    if field("Precedence").is_some_and(|value| ["bulk", "junk", "list", "auto_reply"].contains(&value.as_str())) {
        return Some("Precedence");
    }
    if field("X-Auto-Response-Suppress").is_some_and(|value| value != "none") {
        return Some("X-Auto-Response-Suppress");
    }
    let is_list = |name: &str| name.len() > 5 && name[..5].eq_ignore_ascii_case("list-");
    if message.headers_raw().any(|(name, _)| name.is_ascii() && is_list(name)) {
        return Some("a mailing list");
    }
    let is_report = message.content_type().is_some_and(|kind| {
        kind.ctype().eq_ignore_ascii_case("multipart")
            && kind.subtype().is_some_and(|it| it.eq_ignore_ascii_case("report"))
    });
    if is_report {
        return Some("a report");
    }
    let robots = ["mailer-daemon", "postmaster", "noreply", "no-reply", "do-not-reply", "donotreply"];
    robots.contains(&from.local()).then_some("a mailbox that is not read")
}

/// The turn: what was said, or where that is nothing the subject, then the attachments.
fn parts(message: &Message<'_>, subject: &str) -> Vec<Part> {
    let said = own_words(&text(message));
    let files = files(message);
    let words = if said.is_empty() && files.is_empty() { subject } else { &said };
    let words = (!words.is_empty()).then(|| Part::text(words));
    words.into_iter().chain(files).collect()
}

/// The text parts, joined; HTML where there is no other.
fn text(message: &Message<'_>) -> String {
    let mut whole = String::new();
    for part in message.text_bodies() {
        let text = match &part.body {
            PartType::Text(text) => text.clone(),
            PartType::Html(html) => mail_parser::decoders::html::html_to_text(unquoted(html)).into(),
            _ => continue,
        };
        if !whole.is_empty() {
            whole.push('\n');
        }
        whole.extend(text.chars().filter(|c| !is_hidden(*c)).take(TEXT_BYTES_MAX));
        if whole.len() >= TEXT_BYTES_MAX {
            break;
        }
    }
    cut(whole)
}

/// At most [`TEXT_BYTES_MAX`] bytes, cut between characters.
fn cut(mut text: String) -> String {
    if text.len() > TEXT_BYTES_MAX {
        let end = (0..=TEXT_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

/// HTML up to where mail programs put the messages before.
fn unquoted(html: &str) -> &str {
    const MARKS: [&str; 7] = [
        "<blockquote",
        "class=\"gmail_quote",
        "class=\"gmail_attr",
        "id=\"divrplyfwdmsg",
        "id=\"appendonsend",
        "class=\"moz-cite-prefix",
        "class=\"yahoo_quoted",
    ];
    // Of the same length as the text itself, since only ASCII is folded.
    let folded = html.to_ascii_lowercase();
    let Some(at) = MARKS.iter().filter_map(|mark| folded.find(mark)).min() else { return html };
    let at = folded[..at].rfind('<').filter(|_| !folded[at..].starts_with('<')).unwrap_or(at);
    let before = &html[..at];
    match mail_parser::decoders::html::html_to_text(before).trim().is_empty() {
        true => html,
        false => before,
    }
}

fn files(message: &Message<'_>) -> Vec<Part> {
    let shown: Vec<u32> = message.text_body.clone();
    let ids = message.attachments.iter().filter(|id| !shown.contains(id)).take(ATTACHMENTS_MAX);
    ids.filter_map(|id| message.part(*id)).filter_map(file).map(Part::File).collect()
}

fn file(part: &MessagePart<'_>) -> Option<File> {
    let bytes = match &part.body {
        PartType::Binary(bytes) | PartType::InlineBinary(bytes) => bytes.to_vec(),
        PartType::Text(text) | PartType::Html(text) => text.as_bytes().to_vec(),
        PartType::Message(inner) => inner.raw_message().to_vec(),
        PartType::Multipart(_) => return None,
    };
    let mime = match part.content_type() {
        Some(kind) => media_type(kind.ctype(), kind.subtype()),
        None if matches!(part.body, PartType::Message(_)) => Some("message/rfc822".to_owned()),
        None => None,
    };
    // A name to show, and never a path.
    let name = part.attachment_name().map(|name| one_line(&name.replace(['/', '\\'], "_")));
    let name = name.filter(|name| !name.is_empty());
    Some(File::inline(mime.unwrap_or_else(|| "application/octet-stream".to_owned()), name, Bytes::from(bytes)))
}

fn media_type(main: &str, sub: Option<&str>) -> Option<String> {
    let is_token = |text: &str| {
        !text.is_empty()
            && text.len() < 64
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b))
    };
    let sub = sub.filter(|sub| is_token(sub) && is_token(main))?;
    Some(format!("{main}/{sub}").to_ascii_lowercase())
}

/// Whether a field is among those that a signature covers.
pub(crate) fn is_named(names: &[String], name: HeaderName<'_>) -> bool {
    names.iter().any(|signed| signed.eq_ignore_ascii_case(name.as_str()))
}

#[cfg(test)]
mod tests;
