//! This module has crawlers: programs that read pages and answers for others, as far as one proved or said that it is
//! one. Nobody is taken for a crawler who did neither.

use serde::{Deserialize, Serialize};

/// A crawler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bot {
    /// The host of its signature agent where it is verified, else the product by which it names itself.
    pub name: String,
    /// The product that is known under that host; the name itself where nothing was verified.
    pub product: Option<String>,
    /// What it reads for, as far as that is known.
    pub purpose: Option<BotPurpose>,
    /// Whether this host verified who it is. Else it only says so.
    pub is_verified: bool,
}

/// What a crawler reads for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BotPurpose {
    /// An index that leads people to pages.
    Search,
    /// Models that are trained on what it reads.
    Training,
    /// A person who asked an assistant just now.
    Assistant,
    /// A copy that is kept.
    Archive,
}

impl BotPurpose {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Search, Self::Training, Self::Assistant, Self::Archive];

    /// How it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Training => "training",
            Self::Assistant => "assistant",
            Self::Archive => "archive",
        }
    }

    /// The one that is written so.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|purpose| purpose.name() == text)
    }
}
