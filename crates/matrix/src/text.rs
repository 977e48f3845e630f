//! The text of a message, without what clients put into it: copies of what it answers, and names of users.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::ids::{self, Us, is_server};
use crate::limits::{NAME_CHARS_MAX, PILLS_MAX};

/// What is read of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadText {
    /// As a person reads it, without mentions of the bot.
    pub(crate) words: String,
    /// Whether the bot is mentioned.
    pub(crate) mentions_us: bool,
    /// Whether it begins with a mention of somebody else.
    pub(crate) is_for_others: bool,
}

/// A link to a user, which clients show as a mention.
#[derive(Debug, PartialEq, Eq)]
struct Pill {
    user: String,
    /// What it says, as it stands in the plain text, too.
    label: String,
}

/// Whether the users that a message mentions are named, and whether the bot is one of them.
pub(crate) fn mentions(content: &Map<String, Value>, us: &Us) -> (bool, bool) {
    let named = content.get("m.mentions").and_then(|mentions| mentions.get("user_ids")).and_then(Value::as_array);
    (content.contains_key("m.mentions"), named.is_some_and(|users| users.iter().any(|user| *user == *us.user)))
}

/// Reads the words of a message; `may_quote` says that they may begin with a copy of what it answers.
pub(crate) fn read(body: &str, content: &Map<String, Value>, us: &Us, may_quote: bool) -> ReadText {
    let body = if may_quote { without_quote(body) } else { body };
    let html = content.get("format").filter(|format| **format == "org.matrix.custom.html");
    let html = html.and_then(|_| content.get("formatted_body")?.as_str()).map_or("", without_reply);
    let pills = pills(html);
    let mut read = ReadText { mentions_us: mentions(content, us).1, ..ReadText::default() };
    let mut words = body.to_owned();
    for Pill { user, label } in pills {
        let is_us = user == us.user;
        read.mentions_us |= is_us;
        read.is_for_others |= !is_us && words.trim_start().starts_with(&label);
        words = match is_us {
            true => without_name(&words, &label),
            // Without its `@`: a person is no agent of the same name.
            false => bare(&words, &label),
        };
    }
    of_ids(&words, us, &mut read);
    read.words = read.words.trim().to_owned();
    read
}

/// A text without the lines that quote what it answers, which older clients put before it.
fn without_quote(body: &str) -> &str {
    if !body.starts_with("> ") {
        return body;
    }
    let mut rest = body;
    while rest.starts_with('>') {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    rest.trim_start_matches('\n')
}

fn without_reply(html: &str) -> &str {
    html.split_once("</mx-reply>").map_or(html, |(_, rest)| rest)
}

/// The first links to users.
fn pills(html: &str) -> Vec<Pill> {
    let mut found = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find("<a ").filter(|_| found.len() < PILLS_MAX) {
        let Some((link, behind)) = rest[at..].split_once("</a>") else { break };
        let Some((tag, label)) = link.split_once('>') else { break };
        if let Some(user) = href(tag).and_then(linked_user) {
            found.push(Pill { user, label: plain(label) });
        }
        rest = behind;
    }
    found.retain(|pill| !pill.label.is_empty());
    found
}

fn href(tag: &str) -> Option<&str> {
    let (_, value) = tag.split_once("href=")?;
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    value[1..].split(quote).next()
}

/// The user that an address names: `https://matrix.to/#/@user:server` or `matrix:u/user:server`.
fn linked_user(url: &str) -> Option<String> {
    let after =
        |base: &str| url.get(..base.len()).filter(|begin| begin.eq_ignore_ascii_case(base)).map(|_| &url[base.len()..]);
    let path = match (after("https://matrix.to/#/"), after("matrix:u/")) {
        (Some(path), _) => path.to_owned(),
        (None, Some(path)) => format!("@{path}"),
        (None, None) => return None,
    };
    let path = path.split('?').next().unwrap_or_default();
    let user = percent_decode_str(path).decode_utf8().ok()?.into_owned();
    ids::user(&user).is_some().then_some(user)
}

/// HTML as plain words of one name.
fn plain(html: &str) -> String {
    let mut words = String::new();
    for (at, piece) in html.split('<').enumerate() {
        let text = if at == 0 { piece } else { piece.split_once('>').map_or("", |(_, text)| text) };
        words.push_str(text);
    }
    let words = words.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    words.replace("&amp;", "&").trim().chars().take(NAME_CHARS_MAX).collect()
}

/// A text without the first place that is this name, and the colon behind it.
fn without_name(words: &str, label: &str) -> String {
    let Some(at) = place_of(words, label) else { return words.to_owned() };
    let begin = if words[..at].ends_with('@') { at - 1 } else { at };
    let rest = &words[at + label.len()..];
    format!("{}{}", &words[..begin], rest.strip_prefix([':', ',']).unwrap_or(rest))
}

/// A text whose first place that is this name begins without an `@`.
fn bare(words: &str, label: &str) -> String {
    match (place_of(words, label), label.strip_prefix('@')) {
        (Some(at), Some(name)) => format!("{}{name}{}", &words[..at], &words[at + label.len()..]),
        _ => words.to_owned(),
    }
}

/// Where a name stands as words of its own.
fn place_of(words: &str, name: &str) -> Option<usize> {
    let stands_alone = |at: usize| {
        let before = words[..at].chars().next_back();
        let behind = words[at + name.len()..].chars().next();
        [before, behind].into_iter().all(|c| c.is_none_or(|c| !c.is_alphanumeric()))
    };
    words.match_indices(name).map(|(at, _)| at).find(|at| stands_alone(*at))
}

/// Takes ids of users out of a text: those of the bot whole, of others their `@`.
fn of_ids(words: &str, us: &Us, read: &mut ReadText) {
    let mut rest = words;
    while let Some(at) = rest.find('@') {
        let is_inside = rest[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        read.words.push_str(&rest[..at]);
        let token = Token::read(&rest[at + 1..], &us.server);
        let id = token.name.len() + token.server.map_or(0, |server| server.len() + 1);
        let behind = &rest[at + 1 + id..];
        let is_us =
            token.name == us.localpart && token.server.is_none_or(|server| server.eq_ignore_ascii_case(&us.server));
        rest = match (is_us && !is_inside, token.server) {
            (true, _) => {
                read.mentions_us = true;
                behind.strip_prefix([':', ',']).unwrap_or(behind)
            }
            (false, Some(_)) if !is_inside => {
                read.is_for_others |= read.words.trim().is_empty() && !read.mentions_us;
                &rest[at + 1..]
            }
            _ => {
                read.words.push('@');
                &rest[at + 1..]
            }
        };
    }
    read.words.push_str(rest);
}

/// What may be the id of a user behind an `@`.
struct Token<'a> {
    name: &'a str,
    server: Option<&'a str>,
}

impl<'a> Token<'a> {
    /// Reads one; `@chef:how` is the agent `chef` and a word, since nothing but a host stands in an id.
    fn read(text: &'a str, own: &str) -> Self {
        let name = run(text, |c| c.is_ascii_alphanumeric() || "._=/+-".contains(c)).trim_end_matches(['.', '-', '/']);
        let server = text[name.len()..].strip_prefix(':').map(|rest| {
            run(rest, |c| c.is_ascii_alphanumeric() || ".:-".contains(c)).trim_end_matches(['.', ':', '-'])
        });
        let is_host = |server: &&str| is_server(server) && (server.contains('.') || server.eq_ignore_ascii_case(own));
        Self { name, server: server.filter(is_host).filter(|_| !name.is_empty()) }
    }
}

fn run(text: &str, is_part: impl Fn(char) -> bool) -> &str {
    &text[..text.find(|c| !is_part(c)).unwrap_or(text.len())]
}

#[cfg(test)]
mod tests;
