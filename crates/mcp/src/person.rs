//! Persons, as far as a sign-in elsewhere is kept for them.

use std::fmt;

use forecourt_core::{Account, CallerKey};

/// A caller who is known, as far as a sign-in is kept for it.
#[derive(Clone)]
pub(crate) struct KnownPerson {
    /// Who it is to this host.
    pub(crate) subject: String,
    /// Whose bytes what is kept is.
    pub(crate) account: Account,
}

/// Who asks a server at which people sign in.
#[derive(Debug, Clone)]
pub(crate) enum WhoAsks {
    /// Somebody who proved nothing.
    Stranger,
    /// Somebody who is known, and is no person of this host's provider.
    Other,
    /// A person.
    Person(KnownPerson),
}

impl KnownPerson {
    /// The person of a subject, as a sign-in here names it.
    pub(crate) fn new(subject: String) -> Self {
        let account = CallerKey::of(Some(&subject), None, None).account();
        Self { subject, account }
    }
}

/// Never prints who it is.
impl fmt::Debug for KnownPerson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KnownPerson")
    }
}
