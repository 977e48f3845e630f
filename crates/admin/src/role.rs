//! What somebody may do, and who was let in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What somebody may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Look at everything.
    Viewer,
    /// And do something about it.
    Operator,
}

impl Role {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
        }
    }
}

/// Somebody who was let in.
#[derive(Debug, Clone)]
pub(crate) struct Actor {
    /// Who, as it is written down.
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) by: Proof,
}

/// What somebody was let in by.
#[derive(Debug, Clone)]
pub(crate) enum Proof {
    /// The token of this mark, which no browser sends by itself.
    Token { mark: String },
    /// A cookie, which a browser sends whoever made it ask: the hash of its session, and what forms of it carry.
    Session { hash: String, csrf: String },
}

impl Actor {
    /// What forms of theirs must carry; `None` for programs.
    pub(crate) fn csrf(&self) -> Option<&str> {
        match &self.by {
            Proof::Token { .. } => None,
            Proof::Session { csrf, .. } => Some(csrf),
        }
    }
}
