//! This module reads and compares scope tokens. AGTP base 7; AGTP-API 6.4 for endpoints. It grants nothing.
//!
//! A token is segments joined by colons, the domain first and the action last: `booking:room`. A
//! *held* token may have `*` segments; a *required* one never does. `*` stands for exactly one
//! segment, at the end for one or more.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::limits::{SCOPE_CHARS_MAX, SCOPES_MAX};

/// Tokens that open something of the host itself. A wildcard over every domain (`*:*`) does not
/// grant them: they are held by name, or by a wildcard within their own domain.
pub(crate) const CAPABILITIES: [&str; 2] = ["inspect:all", "rcns:negotiate"];

/// A scope token, such as `booking:room`, or a pattern of them, such as `booking:*`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Scope(String);

/// Tokens that are held together, in the order in which they were given. Cheap to clone: it goes with every
/// call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Scope>")]
pub struct ScopeSet(Arc<[Scope]>);

/// Why a text or a list is not made of scope tokens.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// It breaks the grammar of tokens.
    #[error("`{0}` is no scope: write lower-case words joined by colons, such as booking:room")]
    Token(String),
    /// It has too many tokens.
    #[error("a scope list has at most {SCOPES_MAX} scopes")]
    TooMany,
    /// A wildcard where a plain token is needed.
    #[error("`{0}` may not have a wildcard: name what is required")]
    Wildcard(String),
}

impl Scope {
    /// Reads a token: two segments or more of lower-case letters, digits, `-` and `_`, or `*`.
    pub fn parse(text: &str) -> Result<Scope, ScopeError> {
        let word = |segment: &str| {
            let known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
            // A whole segment or nothing: `book*` has no meaning in the base protocol.
            segment == "*" || (!segment.is_empty() && segment.bytes().all(known))
        };
        let fits = text.len() <= SCOPE_CHARS_MAX && text.contains(':') && text.split(':').all(word);
        let shown = || text.chars().take(100).collect();
        if fits { Ok(Scope(text.to_owned())) } else { Err(ScopeError::Token(shown())) }
    }

    /// Reads a token that something requires: no wildcard.
    pub fn parse_required(text: &str) -> Result<Scope, ScopeError> {
        let scope = Scope::parse(text)?;
        if scope.is_pattern() { Err(ScopeError::Wildcard(scope.0)) } else { Ok(scope) }
    }

    /// The token as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it has a wildcard.
    pub fn is_pattern(&self) -> bool {
        self.0.split(':').any(|segment| segment == "*")
    }

    /// The pattern that covers exactly the tokens that both cover; `None` when they have none in common.
    fn common(&self, other: &Scope) -> Option<Scope> {
        let (one, two): (Vec<&str>, Vec<&str>) = (self.0.split(':').collect(), other.0.split(':').collect());
        let mut segments: Vec<&str> = Vec::new();
        for at in 0.. {
            let (is_last_of_one, is_last_of_two) = (at + 1 == one.len(), at + 1 == two.len());
            match (one.get(at)?, two.get(at)?) {
                // At its end a wildcard stands for all that follows.
                (&"*", _) if is_last_of_one => segments.extend_from_slice(&two[at..]),
                (_, &"*") if is_last_of_two => segments.extend_from_slice(&one[at..]),
                (&"*", &word) | (&word, &"*") => segments.push(word),
                (&word, same) if word == *same => segments.push(word),
                _ => return None,
            }
            if is_last_of_one || is_last_of_two {
                break;
            }
        }
        // Where one pattern ended early, without a wildcard at its end, the two have no token in common.
        let is_whole = segments.len() >= one.len().max(two.len());
        is_whole.then(|| Scope::parse(&segments.join(":")).ok()).flatten()
    }

    /// Whether who holds this also holds `wanted`, which may be a narrower pattern.
    pub fn covers(&self, wanted: &Scope) -> bool {
        if self == wanted {
            return true;
        }
        let own_domain = !self.0.starts_with("*:");
        (own_domain || !is_capability(wanted)) && covers(&self.0, &wanted.0)
    }
}

/// Whether `wanted` is, or within the last segment stands for, one of [`CAPABILITIES`].
fn is_capability(wanted: &Scope) -> bool {
    CAPABILITIES.iter().any(|token| covers(&wanted.0, token) && !wanted.0.starts_with("*:"))
}

fn covers(held: &str, wanted: &str) -> bool {
    let (mut held, mut wanted) = (held.split(':').peekable(), wanted.split(':'));
    while let Some(segment) = held.next() {
        let last = held.peek().is_none();
        match wanted.next() {
            None => return false,
            // The draft does not say how wildcards match and an implementation matches literally; ours: one segment
            // inside, one or more at the end.
            Some(_) if segment == "*" && last => return true,
            Some(found) if segment != "*" && segment != found => return false,
            Some(_) => {}
        }
    }
    wanted.next().is_none()
}

impl ScopeSet {
    /// Reads the list form: tokens with commas and optional blanks between them.
    ///
    /// # Errors
    /// The first text that is no token (an empty one too), or more than [`SCOPES_MAX`] of them.
    pub fn parse_list(text: &str) -> Result<ScopeSet, ScopeError> {
        collected(text.split(',').map(|token| Scope::parse(token.trim_matches([' ', '\t']))))
    }

    /// Reads an array of tokens, as identity documents have it.
    pub fn parse_all<'a>(tokens: impl IntoIterator<Item = &'a str>) -> Result<ScopeSet, ScopeError> {
        collected(tokens.into_iter().map(Scope::parse))
    }

    /// The tokens.
    pub fn iter(&self) -> impl Iterator<Item = &Scope> {
        self.0.iter()
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether any token covers `wanted`.
    pub fn covers(&self, wanted: &Scope) -> bool {
        self.0.iter().any(|held| held.covers(wanted))
    }

    /// What both hold: the tokens of each that the other covers, and what patterns have in common of which
    /// neither covers the other; at most [`SCOPES_MAX`]. What an identity may do within a limit, however either
    /// of the two is written.
    pub fn shared(&self, other: &ScopeSet) -> ScopeSet {
        let own = self.iter().filter(|scope| other.covers(scope));
        let others = other.iter().filter(|scope| self.covers(scope) && !self.0.contains(scope));
        let mut shared: Vec<Scope> = own.chain(others).cloned().collect();
        let patterns = |set: &ScopeSet| set.iter().filter(|scope| scope.is_pattern()).cloned().collect::<Vec<_>>();
        for (one, two) in patterns(self).iter().flat_map(|one| patterns(other).into_iter().map(move |two| (one, two))) {
            // Checked again by the rule that decides: an error in `common` may lose a token and never grants one.
            let common = one.common(&two).filter(|common| one.covers(common) && two.covers(common));
            shared.extend(common.filter(|common| !shared.iter().any(|known| known.covers(common))));
        }
        shared.truncate(SCOPES_MAX);
        ScopeSet(shared.into())
    }

    /// Those of `wanted` that no token covers, in their order.
    pub fn missing<'a>(&self, wanted: impl IntoIterator<Item = &'a Scope>) -> Vec<Scope> {
        wanted.into_iter().filter(|scope| !self.covers(scope)).cloned().collect()
    }
}

fn collected(scopes: impl Iterator<Item = Result<Scope, ScopeError>>) -> Result<ScopeSet, ScopeError> {
    // One more than fits: enough to see that there are too many, without reading a header of thousands.
    ScopeSet::try_from(scopes.take(SCOPES_MAX + 1).collect::<Result<Vec<_>, _>>()?)
}

impl TryFrom<Vec<Scope>> for ScopeSet {
    type Error = ScopeError;

    fn try_from(scopes: Vec<Scope>) -> Result<ScopeSet, ScopeError> {
        if scopes.len() > SCOPES_MAX { Err(ScopeError::TooMany) } else { Ok(ScopeSet(scopes.into())) }
    }
}

impl TryFrom<String> for Scope {
    type Error = ScopeError;

    fn try_from(text: String) -> Result<Scope, ScopeError> {
        Scope::parse(&text)
    }
}

impl From<Scope> for String {
    fn from(scope: Scope) -> String {
        scope.0
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
