//! What is searched for.

use forecourt_core::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SearchHit;
use crate::api_error::ApiError;
use crate::desk::Ask;
use crate::limits::SEARCH_TEXT_CHARS_MAX;

/// What something is that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchKind {
    /// A task.
    Task,
    /// A message that was refused for good.
    Refusal,
    /// A step of a consent or a payment.
    Step,
    /// What models used for an answer.
    Usage,
    /// A consent for more than one message.
    Consent,
    /// A payment.
    Payment,
    /// A conversation.
    Conversation,
    /// A delivery that waits.
    Delivery,
}

/// All of them.
pub(crate) const KINDS: [SearchKind; 8] = [
    SearchKind::Task,
    SearchKind::Refusal,
    SearchKind::Step,
    SearchKind::Usage,
    SearchKind::Consent,
    SearchKind::Payment,
    SearchKind::Conversation,
    SearchKind::Delivery,
];

impl SearchKind {
    /// The word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Refusal => "refusal",
            Self::Step => "step",
            Self::Usage => "usage",
            Self::Consent => "consent",
            Self::Payment => "payment",
            Self::Conversation => "conversation",
            Self::Delivery => "delivery",
        }
    }
}

/// What is searched for, and in which span of time.
#[derive(Debug)]
pub(super) struct SearchFilter {
    /// In lower case; all of them.
    words: Vec<String>,
    pub(super) agent: Option<String>,
    /// In lower case.
    pub(super) who: Option<String>,
    kinds: Vec<SearchKind>,
    pub(super) since: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
}

impl SearchFilter {
    pub(super) fn of(ask: &Ask) -> Result<Self, ApiError> {
        let bounded = |name: &str| match ask.query(name) {
            Some(text) if text.chars().count() > SEARCH_TEXT_CHARS_MAX => {
                Err(ApiError::invalid(format!("`{name}` has at most {SEARCH_TEXT_CHARS_MAX} characters")))
            }
            text => Ok(text.map(str::to_lowercase)),
        };
        let (since, until) = (day(ask, "since", false)?, day(ask, "until", true)?);
        if since.zip(until).is_some_and(|(since, until)| since >= until) {
            let hint = "give the earlier moment as `since` and the later one as `until`";
            return Err(ApiError::invalid("`since` is not before `until`, and nothing is between").hint(hint));
        }
        let words = bounded("text")?.unwrap_or_default().split_whitespace().map(str::to_owned).collect();
        let agent = bounded("agent")?.map(|agent| agent.trim_start_matches('@').to_owned());
        Ok(Self { words, agent, who: bounded("who")?, kinds: kinds(ask.query("kind"))?, since, until })
    }

    /// Whether anything of a kind can be found.
    pub(super) fn has(&self, kind: SearchKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// Whether it is searched for.
    pub(super) fn takes(&self, hit: &SearchHit) -> bool {
        let has = |text: &str, part: &str| text.to_lowercase().contains(part);
        let texts = || {
            let maybe = [&hit.agent, &hit.via, &hit.task, &hit.conversation, &hit.request, &hit.state];
            let all = maybe.into_iter().flatten().map(String::as_str);
            all.chain([hit.who.as_str(), &hit.outcome, &hit.about])
        };
        self.has(hit.kind)
            && self.since.is_none_or(|since| hit.at >= since)
            && self.until.is_none_or(|until| hit.at < until)
            && self.agent.as_deref().is_none_or(|agent| hit.agent.as_deref() == Some(agent))
            && self.who.as_deref().is_none_or(|who| has(&hit.who, who))
            && self.words.iter().all(|word| texts().any(|text| has(text, word)))
    }
}

fn kinds(text: Option<&str>) -> Result<Vec<SearchKind>, ApiError> {
    let names = text.unwrap_or_default().split(',').map(str::trim).filter(|name| !name.is_empty());
    let read = |name: &str| {
        KINDS.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let known = KINDS.map(SearchKind::name).join(", ");
            ApiError::invalid(format!("`{}` is no kind", super::super::shortened(name, 40)))
                .hint(format!("there are {known}"))
        })
    };
    names.map(read).collect()
}

fn day(ask: &Ask, name: &str, is_end: bool) -> Result<Option<Timestamp>, ApiError> {
    ask.query(name).map(|text| moment(name, text, is_end)).transpose()
}

/// A moment, or a day in UTC: its beginning, or its end.
pub(crate) fn moment(name: &str, text: &str, is_end: bool) -> Result<Timestamp, ApiError> {
    let wrong =
        || ApiError::invalid(format!("`{name}` is a day such as 2026-11-30, or a moment such as 2026-11-30T12:00:00Z"));
    if let Ok(at) = text.parse() {
        return Ok(at);
    }
    let begins: Timestamp = format!("{text}T00:00:00Z").parse().map_err(|_| wrong())?;
    if is_end { begins.checked_add(jiff::SignedDuration::from_hours(24)).map_err(|_| wrong()) } else { Ok(begins) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_ends_where_the_next_one_begins() {
        let at = |text: &str, is_end| moment("until", text, is_end).map(|at| at.to_string()).unwrap_or_default();
        assert_eq!(at("2026-11-30", false), "2026-11-30T00:00:00Z");
        assert_eq!(at("2026-11-30", true), "2026-12-01T00:00:00Z");
        assert_eq!(at("2026-11-30T12:00:00Z", true), "2026-11-30T12:00:00Z");
        for odd in ["", "today", "2026-13-01", "9999-12-31", "2026-11-30T12:00:00"] {
            assert_eq!(at(odd, true), "", "{odd}");
        }
    }

    #[test]
    fn a_kind_is_one_that_there_is() {
        let names = KINDS.map(SearchKind::name).join(",");
        assert_eq!(kinds(Some(&names)).unwrap(), KINDS);
        assert_eq!(kinds(Some(" task , ")).unwrap(), [SearchKind::Task]);
        let refused = kinds(Some(&"x".repeat(10_000))).unwrap_err();
        assert!(refused.message.len() < 200 && refused.hint.unwrap().contains("refusal"));
    }
}
