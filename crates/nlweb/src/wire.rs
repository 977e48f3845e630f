//! The words of a request, in the order of NLWeb 3.

use forecourt_core::Language;

use crate::limits::RESULTS_USUAL;
use serde_json::{Map, Value};

/// Which version answers are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// 0.55, the current one.
    V0_55,
    /// 0.54, which clients in the field still speak.
    V0_54,
}

impl Dialect {
    /// The version's name.
    pub(crate) fn version(self) -> &'static str {
        match self {
            Self::V0_55 => "0.55",
            Self::V0_54 => "0.54",
        }
    }
}

/// How the content of an answer is laid out. NLWeb 3.3.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// A list of items.
    ConversationalSearch,
    /// Words for a model, and items for its widget.
    ChatgptApp,
}

impl Format {
    /// The format's name in a version.
    pub(crate) fn name(self, dialect: Dialect) -> &'static str {
        match (self, dialect) {
            (Self::ConversationalSearch, Dialect::V0_55) => "conversational_search",
            (Self::ConversationalSearch, Dialect::V0_54) => "conv_search",
            (Self::ChatgptApp, _) => "chatgpt_app",
        }
    }
}

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    /// In which version.
    pub(crate) dialect: Dialect,
    /// In which layout.
    pub(crate) format: Format,
    /// Whether the mode includes a summary. NLWeb 3.3.2.
    pub(crate) summarize: bool,
    /// Items at most, when the caller has a bound.
    pub(crate) limit: Option<usize>,
    /// Items that are passed over before the first one that is given.
    pub(crate) skip: usize,
}

impl Style {
    /// Items that an agent is asked for: those that are given, and those before them.
    pub(crate) fn wanted(self) -> Option<usize> {
        let shown = self.limit.or((self.skip > 0).then_some(RESULTS_USUAL));
        shown.map(|shown| shown.saturating_add(self.skip))
    }

    /// How answers are written to who prefers nothing.
    pub(crate) fn plain(dialect: Dialect) -> Self {
        Self { dialect, format: Format::ConversationalSearch, summarize: false, limit: None, skip: 0 }
    }
}

/// A request to `ask`, read and bounded. NLWeb 3.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ask {
    /// What is asked.
    pub(crate) query: Query,
    /// What helps to understand it.
    pub(crate) context: Context,
    /// How the answer is written.
    pub(crate) style: Style,
    /// What the caller would like beside that.
    pub(crate) prefer: Prefer,
    /// About the request itself.
    pub(crate) meta: Meta,
    /// What the caller should know about how the request was understood.
    pub(crate) notes: Vec<String>,
}

/// The `query` of a request: the question, the site and the filters. NLWeb 3.1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Query {
    /// The question in the caller's words.
    pub(crate) text: String,
    /// Which part of what is here is asked. Never an address to fetch.
    pub(crate) site: Option<String>,
    /// All other attributes.
    pub(crate) filters: Map<String, Value>,
}

/// The `context` of a request: earlier queries, and whatever else the caller knows. NLWeb 3.2.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Context {
    /// Earlier queries, oldest first.
    pub(crate) prev: Vec<String>,
    /// Everything else, as it came: for the agent.
    pub(crate) about: Map<String, Value>,
}

/// What of NLWeb 3.3 is not [`Style`].
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Prefer {
    /// Whether the answer comes as it is made. `None`: nothing was said.
    pub(crate) streaming: Option<bool>,
    /// The language of all texts.
    pub(crate) language: Option<Language>,
    /// The kind of client.
    pub(crate) user_agent: Option<String>,
}

/// The `meta` of a request: session, user, and whether it may be remembered. NLWeb 3.4.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Meta {
    /// What the caller wants back as it was.
    pub(crate) session: Map<String, Value>,
    /// Who asks, as the caller says: hearsay.
    pub(crate) user: Option<Value>,
    /// Whether the interaction may be remembered.
    pub(crate) remember: bool,
    /// Whether the caller asks other agents the same at once, so that nothing may be used up for it: what the search box
    /// for other sites says of its own questions.
    pub(crate) asks_several: bool,
    /// The caller's name for the request.
    pub(crate) request_id: Option<String>,
}

impl Default for Meta {
    fn default() -> Self {
        Self { session: Map::new(), user: None, remember: true, asks_several: false, request_id: None }
    }
}

/// What to do about a promise. NLWeb 4.2.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Await {
    /// The promise.
    pub(crate) token: String,
    /// What to do.
    pub(crate) action: Action,
    /// The version of the answer.
    pub(crate) dialect: Dialect,
    /// About the request itself.
    pub(crate) meta: Meta,
    /// What the caller should know about how the request was understood.
    pub(crate) notes: Vec<String>,
}

/// What an `await` wants of a promise. NLWeb 4.2, `action`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// `checkin`: tells how far it is, or gives the answer.
    Checkin,
    /// `cancel`: stops the work.
    Cancel,
}
