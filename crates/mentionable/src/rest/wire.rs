//! What a request says, in the words of REST 3: entries, turns, and nothing of who is speaking.

use bytes::Bytes;
use forecourt_core::{Part, Role, SearchRefinement, Turn};

/// One entry of a turn, dispatched by its media type alone. REST 3.3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    /// `text/*`: words, a `data:` URL or an `http(s):` URL.
    Text {
        /// Without parameters, in lower case.
        mime: String,
        /// Decoded.
        text: String,
    },
    /// Anything else: the bytes of an attachment.
    File {
        /// As declared, parameters included.
        mime: String,
        /// The caller's name for it.
        name: Option<String>,
        /// As they came.
        bytes: Bytes,
    },
}

/// A run of entries of one author. REST 3.2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    /// Who spoke, seen from the agent.
    pub(crate) role: Role,
    /// In the order of the body.
    pub(crate) entries: Vec<Entry>,
}

/// One request to an agent.
#[derive(Debug, Default)]
pub(crate) struct Ask {
    /// All runs in order. The last is the current turn and is the caller's. None only where a state stands for it.
    pub(crate) runs: Vec<Run>,
    /// The token of a conversation to go on with. REST 6.
    pub(crate) session: Option<String>,
    /// The state of a refusal to go on after, as it was sent. PolicyPart 3.3.4.
    pub(crate) state: Option<String>,
    /// What a search is narrowed down to by parameters of our own, which REST 3.1 admits.
    pub(crate) narrowing: SearchRefinement,
    /// Whether the question is being typed, and what it may become is wanted.
    pub(crate) completes: bool,
    /// What was asked before, on pages of searches: at most [`forecourt_pages::EARLIER_MAX`], the oldest first.
    pub(crate) earlier: Vec<String>,
    /// A valid `parts` sidecar: the current turn. REST 3.2.1.
    pub(crate) parts: Option<Vec<Part>>,
    /// A valid `history` sidecar: the earlier turns. REST 3.2.2.
    pub(crate) history: Option<Vec<Turn>>,
}

impl Entry {
    /// An entry of plain text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text { mime: "text/plain".to_owned(), text: text.into() }
    }
}

/// Why a request can't be read. A decode fault: it never leaves this crate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecodeError {
    /// A query above its bound. REST 3.1.
    #[error("the query string is longer than 8,192 bytes; send it as a POST with multipart/form-data")]
    QueryTooLong,
    /// A body above its bound. REST 3.2.
    #[error("the body is longer than {bytes_max} bytes")]
    BodyTooLarge {
        /// The bound.
        bytes_max: usize,
    },
    /// A body that came too slowly.
    #[error("the body came too slowly")]
    BodyTooSlow,
    /// A body that broke off.
    #[error("the body ended before its end")]
    BodyBroken,
    /// More than one turn in a query. REST 3.1.
    #[error("a GET holds a single turn; multi-turn conversations require POST multipart/form-data")]
    MultiTurnQuery,
    /// Nothing to answer in a query.
    #[error("the query parameter `user` is missing")]
    NoUser,
    /// Nothing to answer in a body: it has no `user`, or ends with another author.
    #[error("the last turn must be one or more parts named `user`")]
    NoTerminalUser,
    /// More than one token.
    #[error("`session` may occur only once")]
    TwoSessions,
    /// More entries than we take.
    #[error("there are more than 1,000 entries")]
    TooManyEntries,
    /// A body in another form. REST 3.2.
    #[error("the body must be multipart/form-data")]
    NotMultipart,
    /// A coded body. Bounds are counted on what comes over the wire.
    #[error("a content coding is not accepted; send the body as it is")]
    Coded,
    /// A multipart body that is malformed.
    #[error("the multipart body is malformed: {0}")]
    Multipart(&'static str),
    /// Text in another encoding.
    #[error("text parts must be UTF-8")]
    Charset,
    /// A `data:` URL that can't be read.
    #[error("a data: URL can't be read: {0}")]
    DataUrl(String),
    /// More `data:` URLs than we take.
    #[error("a turn holds at most 16 data: URLs")]
    TooManyDataUrls,
}
