//! What members of inputs and outputs mean: of which entity they are, and which property. An order's `total` and an
//! invoice's are two things, and `latest_order_id` is the id of an order.
//!
//! | file | holds |
//! |---|---|
//! | `words.rs` | names and sentences as words |
//! | `nouns.rs` | the entities that a host knows, from its paths and its ids |
//! | `infer.rs` | the meaning of a member, from what is said of it or from where it stands |
//! | `fields.rs` | the members that schemas declare |
//! | `members.rs` | all members of a schema with their meanings |
//! | `list.rs` | the meanings of an endpoint, for people and agents |

mod fields;
mod infer;
mod list;
mod members;
mod nouns;
pub(crate) mod words;

use std::fmt;

pub(crate) use infer::KEYWORD;
pub(crate) use list::entity_of;
pub use list::{EndpointMeanings, of_host};
pub(crate) use members::{Place, TypedMember, typed};
pub(crate) use nouns::{Nouns, is_generic, literals};

/// What a value is: a property of an entity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Meaning {
    /// Of what, in the singular: `order`, `lab_test`. None: nothing says it.
    pub entity: Option<String>,
    /// Which property: `email`, `result_value`; `id` for what says which one it is.
    pub property: String,
    /// As what it stands there, where one entity has several: `latest` of `latest_order_id`.
    pub role: Option<String>,
    /// What kind of value it is.
    pub kind: MeaningKind,
}

/// Kinds of values that say more than their types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MeaningKind {
    /// What tells which one something is.
    Id,
    /// An amount of money.
    Money,
    /// A day or a time.
    Date,
    /// An address for mail.
    Mail,
    /// A number of a telephone.
    Phone,
    /// An address on the web.
    Url,
    /// How many.
    Count,
    /// Anything else.
    Plain,
}

/// The property of what tells which one something is.
pub(crate) const ID: &str = "id";

/// Roles of one among many, which somebody must have asked for.
const CHOOSING: [&str; 12] = [
    "latest", "last", "newest", "recent", "first", "oldest", "next", "previous", "former", "old", "original",
    "upcoming",
];

impl Meaning {
    /// Whether it tells which one something is.
    pub fn is_id(&self) -> bool {
        self.property == ID
    }

    /// The word of its role that chooses one among many, such as `latest`.
    pub(crate) fn chooses(&self) -> Option<&str> {
        self.role.as_deref()?.split('_').find(|word| CHOOSING.contains(word))
    }
}

impl MeaningKind {
    fn word(self) -> Option<&'static str> {
        match self {
            Self::Id => Some("id"),
            Self::Money => Some("money"),
            Self::Date => Some("date"),
            Self::Mail => Some("email"),
            Self::Phone => Some("phone"),
            Self::Url => Some("url"),
            Self::Count => Some("count"),
            Self::Plain => None,
        }
    }
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Meaning { entity, property, role, kind } = self;
        f.write_str(entity.as_deref().unwrap_or("?"))?;
        write!(f, ".{property}")?;
        if let Some(role) = role {
            write!(f, " as {role}")?;
        }
        match kind.word().filter(|word| word != property) {
            Some(word) => write!(f, ": {word}"),
            None => Ok(()),
        }
    }
}
