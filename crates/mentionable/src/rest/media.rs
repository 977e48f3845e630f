//! The four forms in which an agent answers, and who gets which. REST 4.

use forecourt_surface::negotiate;
use http::{HeaderMap, HeaderValue};

use super::problem::PROBLEM_JSON;

/// A form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Media {
    /// A page for people. The default.
    Html,
    /// The agent's words and nothing else.
    Markdown,
    /// Typed parts, for other agents.
    Json,
    /// Words as they come.
    Stream,
}

/// What an agent offers, the preferred one first.
const OFFERS: [(Media, &str); 4] = [
    (Media::Html, "text/html"),
    (Media::Markdown, "text/markdown"),
    (Media::Json, "application/json"),
    (Media::Stream, "text/event-stream"),
];
const TYPES: [&str; 4] = [OFFERS[0].1, OFFERS[1].1, OFFERS[2].1, OFFERS[3].1];
/// What tasks offer for their errors: machines read tasks, so JSON comes first.
const TASK_OFFERS: [(Media, &str); 3] = [OFFERS[2], OFFERS[0], OFFERS[1]];
const TASK_TYPES: [&str; 3] = [TASK_OFFERS[0].1, TASK_OFFERS[1].1, TASK_OFFERS[2].1];

impl Media {
    /// What `headers` ask for; HTML when they say nothing. Who names problems and nothing else of ours reads JSON.
    /// `None`: nothing of ours is acceptable, which is 406.
    pub(crate) fn wanted(headers: &HeaderMap) -> Option<Self> {
        let wanted = negotiate::media_type_or_first(headers, &TYPES).map(|index| OFFERS[index].0);
        wanted.or_else(|| (negotiate::named_quality(headers, PROBLEM_JSON) > 0).then_some(Self::Json))
    }

    /// The form of an error about a task; JSON when `headers` say nothing, or nothing that we have.
    pub(crate) fn wanted_of_task(headers: &HeaderMap) -> Self {
        negotiate::media_type_or_first(headers, &TASK_TYPES).map_or(Self::Json, |index| TASK_OFFERS[index].0)
    }

    /// The form of an error for who wanted `media`: a stream that never began is told in JSON, and
    /// who accepts nothing of ours gets words.
    pub(crate) fn of_error(media: Option<Self>) -> Self {
        match media {
            Some(Self::Stream) => Self::Json,
            Some(media) => media,
            None => Self::Markdown,
        }
    }

    /// The media type, as `Accept` names it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Html => TYPES[0],
            Self::Markdown => TYPES[1],
            Self::Json => TYPES[2],
            Self::Stream => TYPES[3],
        }
    }

    /// The `Content-Type`, with its charset where it is text.
    pub(crate) fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Html => "text/html; charset=utf-8",
            Self::Markdown => "text/markdown; charset=utf-8",
            Self::Json => "application/json",
            Self::Stream => "text/event-stream; charset=utf-8",
        })
    }
}
