//! Answers, refusals and faults in the four forms of REST 4.

mod html;
mod json;
mod markdown;
mod question;
mod sse;

pub(crate) use html::security_fields;
pub(crate) use question::{data as question_data, words as question_words};
pub(crate) use sse::{ReplyStart, begin, frames, one_message};

use bytes::Bytes;
use forecourt_core::{CollectedReply, Ending, Language, Part, PolicyPart};
use forecourt_pages::{Account, Branding};
use forecourt_surface::BaseUrl;

use super::agent_route::AgentRoute;
use super::errors::Failure;
use super::media::Media;

/// What every rendering needs to know beside its content.
pub(crate) struct Frame<'a> {
    pub(crate) door: &'a AgentRoute,
    /// The absolute URL that was asked for.
    pub(crate) url: &'a str,
    /// The language of what is said.
    pub(crate) language: &'a Language,
    /// The token of the conversation.
    pub(crate) session: Option<&'a str>,
    /// How pages look.
    pub(crate) brand: &'a Branding,
    /// What was asked, for refusals and faults.
    pub(crate) asked: &'a str,
    /// What URLs of this host begin with.
    pub(crate) base: BaseUrl<'a>,
    /// Who is signed in.
    pub(crate) account: Account<'a>,
    /// The transaction by which an answer was paid for.
    pub(crate) transaction: Option<&'a str>,
}

/// A whole answer. [`Media::Stream`] is rendered by [`frames`] as it comes, never here. `asked` is shown on a page
/// beside its answer, where the URL does not say it.
pub(crate) fn answer(media: Media, frame: &Frame<'_>, asked: &[Part], collected: CollectedReply) -> Bytes {
    match media {
        Media::Html => html::answer(frame, asked, &collected).into(),
        Media::Markdown | Media::Stream => markdown::answer(parts(collected)).into(),
        Media::Json => json::answer(frame, parts(collected)),
    }
}

/// The parts of an answer, what it asks back among them. Its texts, joined by nothing, are the words of the answer in
/// every form. REST 5.3.
fn parts(collected: CollectedReply) -> Vec<Part> {
    let CollectedReply { mut parts, ending, .. } = collected;
    if let Ending::Question(question) = ending {
        let spoken = parts.iter().filter_map(Part::as_text).any(|text| !text.is_empty());
        parts.push(Part::markdown(under(spoken, question::words(&question))));
        parts.extend(question::data(&question));
    }
    parts
}

/// What stands apart from the words before it, if there are any.
fn under(spoken: bool, text: String) -> String {
    if spoken { format!("\n\n{text}") } else { text }
}

/// The body of a refusal: a page, words, the policy part as JSON, or a frame and the end. REST 5.3.
/// `worded`: the language of the refusal's words, which a page may be in another one than.
pub(crate) fn refusal(media: Media, frame: &Frame<'_>, part: &PolicyPart, worded: &Language) -> Bytes {
    match media {
        Media::Html => html::refusal(frame, part, worded).into(),
        Media::Markdown => forecourt_surface::refusal::words(part, Some(frame.language)).into(),
        Media::Json => json::refusal(frame, part),
        Media::Stream => sse::refusal(part),
    }
}

/// A fault; `media` is one of [`Media::of_error`]. Companion decision U14.
pub(crate) fn failure(media: Media, frame: &Frame<'_>, failure: &Failure) -> Bytes {
    match media {
        Media::Html => html::failure(frame, failure).into(),
        Media::Markdown | Media::Stream => markdown::failure(failure).into(),
        Media::Json => json::failure(failure),
    }
}
