//! An agent as this transport serves it: where it is, and the header values that never change.

use std::sync::Arc;

use forecourt_core::{AgentCard, Language};
use forecourt_pages::Branding;
use http::header::{CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_TYPE, VARY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::cors::CORS;

/// The header with the address of the agent that answers. REST 5.2.
pub(crate) static X_MENTIONABLE_AGENT: HeaderName = HeaderName::from_static("x-mentionable-agent");
/// The token of the conversation. REST 6.
pub(crate) static X_MENTIONABLE_SESSION: HeaderName = HeaderName::from_static("x-mentionable-session");
/// Keeps answers out of search engines. REST 8.5.
pub(crate) static X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

/// Fields that an answer usually has, so that none has to move.
const FIELDS_USUAL: usize = 16;

/// How one agent is served over REST: its card, its path, and the header values that never change. Made once, at start.
pub(crate) struct AgentRoute {
    pub(crate) card: Arc<AgentCard>,
    /// Its path on this host, `/~handle`.
    pub(crate) path: String,
    /// The same as pages link to it.
    pub(crate) link: String,
    address: HeaderValue,
    language: HeaderValue,
    cache_control: Option<HeaderValue>,
}

impl AgentRoute {
    /// The route of an agent. An operator's `cache_control` that is no header value is passed over.
    pub(crate) fn new(card: Arc<AgentCard>, brand: &Branding) -> Self {
        Self {
            path: path(&card),
            link: brand.path(&path(&card)),
            address: HeaderValue::from_str(&card.address.to_string()).unwrap_or(HeaderValue::from_static("")),
            language: language_value(&card.language),
            cache_control: card.cache_control.as_deref().and_then(|text| HeaderValue::from_str(text).ok()),
            card,
        }
    }

    /// The fields that every response has, whatever it says. REST 5.2, 8.5.
    pub(crate) fn head(&self, content_type: HeaderValue, language: &Language) -> HeaderMap {
        let mut head = HeaderMap::with_capacity(FIELDS_USUAL);
        let language = if *language == self.card.language { self.language.clone() } else { language_value(language) };
        head.insert(CONTENT_TYPE, content_type);
        head.insert(CONTENT_LANGUAGE, language);
        head.insert(&X_MENTIONABLE_AGENT, self.address.clone());
        // REST 5.2: an answer is for one caller and one question; to keep it longer is the agent's choice.
        head.insert(CACHE_CONTROL, HeaderValue::from_static("private, max-age=0"));
        head.insert(&X_ROBOTS_TAG, HeaderValue::from_static("noindex, nofollow, noarchive"));
        head.insert(VARY, HeaderValue::from_static("Accept, Accept-Language"));
        head.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if self.card.cors {
            CORS.open(&mut head);
        }
        head
    }

    /// The agent's own `Cache-Control`, if it has one. Only for whole answers that name no
    /// conversation: what others may keep must not hold anything personal. REST 8.5.
    pub(crate) fn cache_control(&self) -> Option<HeaderValue> {
        self.cache_control.clone()
    }
}

/// The path of an agent. Design 5.
pub(crate) fn path(card: &AgentCard) -> String {
    format!("/~{}", card.handle())
}

fn language_value(language: &Language) -> HeaderValue {
    HeaderValue::from_str(language.as_str()).unwrap_or(HeaderValue::from_static("en"))
}
