//! Who asks, as far as disclosure goes. AGTP-API 8.5.

use crate::settings::Disclosure;

/// The kind of caller, as far as it decides what is disclosed. AGTP-API 8.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A caller without a name that counts here.
    Stranger,
    /// A caller that is known here.
    Known,
}

impl Disclosure {
    /// Whether agents are named to such a caller.
    pub(crate) fn reaches(self, audience: Audience) -> bool {
        match self {
            Self::Public => true,
            Self::Authenticated => audience == Audience::Known,
            Self::Private => false,
        }
    }
}
