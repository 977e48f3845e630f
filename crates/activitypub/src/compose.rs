//! An answer as a note. ActivityStreams 2.0; PolicyPart 4.3.

use forecourt_core::part::FileSource;
use forecourt_core::{AgentCard, CollectedReply, Ending, Language, Part, PolicyPart, Site, Timestamp};
use forecourt_correspondence::{Content, answer_in_words, part_in_words};
use forecourt_pages::markdown;
use forecourt_sentences::Sentences;
use serde_json::{Value, json};

use crate::html::{escape, narrow};
use crate::iri::Iri;
use crate::letter::Letter;
use crate::limits::{PICTURES_MAX, WHOLE_BYTES_MAX};
use crate::names::{self, CONTEXT, PUBLIC, TERMS};
use crate::note::{HOP, POLICY, one_line};

/// The version of the policy envelope. PolicyPart 4.1.
const ENVELOPE_VERSION: &str = "v0.1";

/// What a note says.
pub(crate) enum NoteContent<'a> {
    /// An answer, or a refusal.
    Content(Content<'a>),
    /// That the answer follows.
    TakesLonger,
}

/// How notes are written.
pub(crate) struct Style<'a> {
    pub(crate) site: &'a Site,
    pub(crate) card: &'a AgentCard,
    /// Characters of the text.
    pub(crate) chars_max: usize,
    pub(crate) now: Timestamp,
    /// Where a whole answer would be that only its reader may see.
    pub(crate) whole: &'a str,
    /// What is told of its files.
    pub(crate) about_files: &'a [String],
}

/// A note, and what is kept beside it.
pub(crate) struct ComposedNote {
    /// Without a context.
    pub(crate) note: Value,
    /// All that was said, in markdown.
    pub(crate) words: String,
    /// Whether the note leaves out some of it.
    pub(crate) is_cut: bool,
    /// Whether everybody may read it.
    pub(crate) is_public: bool,
}

/// The note that tells this, called `token`. `None` where there is nothing to tell.
pub(crate) fn compose(told: &NoteContent<'_>, letter: &Letter, token: &str, style: &Style<'_>) -> Option<ComposedNote> {
    let language = letter.language.as_ref();
    let say = Sentences::for_caller(language, &style.card.language);
    let words = with_files(words(told, language, say)?, told, style.about_files);
    let refusal = told.refusal();
    // What a refusal or a sign-in asks for is its reader's alone: its link works once, for whoever has it.
    let is_public = letter.address.is_public && !told.is_private();
    let id = names::note(style.site, &letter.agent, token);
    let whole = if is_public { id.as_str() } else { style.whole };
    let (content, is_cut) = content(&words, letter, whole, style.chars_max, say);
    let tag = language.unwrap_or(&style.card.language).as_str();
    let actor = letter.address.actor.as_str();
    let mut note = json!({
        "id": id,
        "type": "Note",
        "attributedTo": names::actor(style.site, &letter.agent),
        "inReplyTo": letter.address.note,
        "published": style.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "to": [actor],
        // Public here, and not first, is what servers show as unlisted.
        "cc": if is_public { vec![PUBLIC] } else { Vec::new() },
        "content": content,
        "contentMap": {tag: content},
        "url": id,
        "tag": [{"type": "Mention", "href": actor, "name": mention(letter)}],
        "attachment": told.reply().map(pictures).unwrap_or_default(),
        HOP: letter.address.hop + 1,
    });
    if let Some(part) = refusal {
        // PolicyPart 4.3: for programs that will know it one day, beside the words for people.
        note[POLICY] = json!({"v": ENVELOPE_VERSION, "part": part.to_json()});
    }
    let words = cut(words);
    Some(ComposedNote { note, words, is_cut, is_public })
}

impl<'a> NoteContent<'a> {
    /// What is told, if it is an answer or a refusal.
    pub(crate) fn content(&self) -> Option<Content<'a>> {
        match self {
            Self::Content(content) => Some(*content),
            Self::TakesLonger => None,
        }
    }

    pub(crate) fn reply(&self) -> Option<&'a CollectedReply> {
        match self {
            Self::Content(Content::Reply(reply)) => Some(reply),
            _ => None,
        }
    }

    fn refusal(&self) -> Option<&'a PolicyPart> {
        match self {
            Self::Content(content) => content.refusal(),
            Self::TakesLonger => None,
        }
    }

    fn is_private(&self) -> bool {
        self.refusal().is_some() || self.reply().is_some_and(|reply| matches!(reply.ending, Ending::SignIn(_)))
    }
}

/// The activity that puts a note into the place of the one before. ActivityPub 6.3.
pub(crate) fn update(note: &Value, revision: u32) -> Value {
    let mut activity = create(note);
    let id = note.get("id").and_then(Value::as_str).unwrap_or_default();
    activity["id"] = format!("{id}/updates/{revision}").into();
    activity["type"] = "Update".into();
    activity
}

/// The activity that takes a note back. ActivityPub 6.4.
pub(crate) fn delete(site: &Site, letter: &Letter) -> Value {
    let id = names::note(site, &letter.agent, &letter.token);
    json!({
        "@context": CONTEXT,
        "id": format!("{id}/deleted"),
        "type": "Delete",
        "actor": names::actor(site, &letter.agent),
        "to": [letter.address.actor],
        "object": {"id": id, "type": "Tombstone"},
    })
}

/// The activity that makes a note. ActivityPub 6.2.
pub(crate) fn create(note: &Value) -> Value {
    let member = |name: &str| note.get(name).cloned().unwrap_or_default();
    let id = note.get("id").and_then(Value::as_str).unwrap_or_default();
    json!({
        "@context": [CONTEXT, {"mentionable": TERMS}],
        "id": format!("{id}/activity"),
        "type": "Create",
        "actor": member("attributedTo"),
        "published": member("published"),
        "to": member("to"),
        "cc": member("cc"),
        "object": note,
    })
}

fn words(told: &NoteContent<'_>, language: Option<&Language>, say: Sentences) -> Option<String> {
    match told {
        NoteContent::TakesLonger => Some(say.answer_takes_longer()),
        NoteContent::Content(content) => match (content.refusal(), content) {
            (Some(part), _) => Some(refusal_words(part, language)),
            (None, Content::Reply(reply)) => answer_in_words(&without_repeats(reply)),
            (None, Content::Refusal(_)) => None,
        },
    }
}

/// Words with what is told of files behind them, or these alone where an answer has nothing but files.
fn with_files(words: String, told: &NoteContent<'_>, about_files: &[String]) -> String {
    let says_nothing = told.reply().is_some_and(|reply| {
        matches!(reply.ending, Ending::Complete) && reply.parts.iter().all(|part| part_in_words(part).is_none())
    });
    let words = Some(words).filter(|_| !says_nothing || about_files.is_empty());
    words.into_iter().chain(about_files.iter().cloned()).collect::<Vec<_>>().join("\n\n")
}

/// PolicyPart 4.3: the message, and the link.
fn refusal_words(part: &PolicyPart, language: Option<&Language>) -> String {
    let (_, message) = part.in_language(language);
    match &part.url {
        Some(url) => format!("{message}\n\n<{url}>"),
        None => message.to_owned(),
    }
}

/// The reply without items that its words link to already.
fn without_repeats(reply: &CollectedReply) -> CollectedReply {
    let said = reply.parts.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n");
    let is_new = |part: &&Part| match part {
        Part::Data(data) => !data.data.get("url").and_then(Value::as_str).is_some_and(|url| said.contains(url)),
        _ => true,
    };
    CollectedReply { parts: reply.parts.iter().filter(is_new).cloned().collect(), ..reply.clone() }
}

/// The HTML of a note, and whether some of the words are left out: then it ends with a link to them.
fn content(words: &str, letter: &Letter, whole: &str, chars_max: usize, say: Sentences) -> (String, bool) {
    let mention = format!(
        "<span class=\"h-card\"><a href=\"{}\" class=\"u-url mention\">@<span>{}</span></a></span> ",
        escape(letter.address.actor.as_str()),
        escape(&letter.address.username)
    );
    let narrow = narrow(&markdown::to_html(words), chars_max);
    let html = narrow.html.trim();
    let mut content = match html.strip_prefix("<p>") {
        Some(rest) => format!("<p>{mention}{rest}"),
        None => format!("<p>{mention}</p>{html}"),
    };
    if narrow.is_cut {
        let (label, url) = (escape(&say.answer_whole()), escape(whole));
        content.push_str(&format!("<p><a href=\"{url}\" rel=\"nofollow noopener\" target=\"_blank\">{label}</a></p>"));
    }
    (content, narrow.is_cut)
}

fn mention(letter: &Letter) -> String {
    format!("@{}@{}", letter.address.username, letter.address.actor.authority())
}

/// Pictures among what was answered: files by address, and those of items.
fn pictures(reply: &CollectedReply) -> Vec<Value> {
    let picture = |part: &Part| match part {
        Part::File(file) if file.mime.starts_with("image/") => match &file.source {
            FileSource::Url { url, .. } => image(url, Some(&file.mime), file.name.as_deref().unwrap_or_default()),
            FileSource::Inline(_) | FileSource::Kept => None,
        },
        Part::Data(data) => {
            let named = |name: &str| data.data.get(name).and_then(Value::as_str);
            let label = named("name").or_else(|| named("headline")).unwrap_or_default();
            let found = data.data.get("image")?;
            let found = match found {
                Value::Array(list) => list.first()?,
                one => one,
            };
            image(found.as_str().or_else(|| found.get("url")?.as_str())?, None, label)
        }
        _ => None,
    };
    reply.parts.iter().filter_map(picture).take(PICTURES_MAX).collect()
}

fn image(url: &str, mime: Option<&str>, label: &str) -> Option<Value> {
    let url = Iri::parse(url)?;
    let mime = mime.map_or_else(|| mime_of(url.as_str()), |mime| Some(mime.to_owned()));
    let mut image = json!({"type": "Image", "url": url, "name": one_line(label)});
    if let Some(mime) = mime {
        image["mediaType"] = mime.into();
    }
    Some(image)
}

/// The media type that a file's name ends with. Mastodon shows no attachment without one.
fn mime_of(url: &str) -> Option<String> {
    let path = url.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let kinds = [("jpg", "jpeg"), ("jpeg", "jpeg"), ("png", "png"), ("gif", "gif"), ("webp", "webp"), ("avif", "avif")];
    let (_, kind) = kinds.into_iter().find(|(end, _)| path.ends_with(&format!(".{end}")))?;
    Some(format!("image/{kind}"))
}

/// At most [`WHOLE_BYTES_MAX`] bytes, cut between characters.
fn cut(mut words: String) -> String {
    if words.len() > WHOLE_BYTES_MAX {
        let end = (0..=WHOLE_BYTES_MAX).rev().find(|at| words.is_char_boundary(*at)).unwrap_or_default();
        words.truncate(end);
    }
    words
}

#[cfg(test)]
mod tests;
