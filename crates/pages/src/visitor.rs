//! Who looks at a page, as it says it. Mentionable REST 7.2.

use crate::clean;

/// Where people see what they agreed to and paid for; a path of this origin.
pub const ACCOUNT: &str = "/account";

/// Whether somebody is signed in, as a page says it.
#[derive(Debug, Clone, Default)]
pub enum Account<'a> {
    /// Nobody signs in here: the page says nothing.
    #[default]
    None,
    /// Nobody is. Where to sign in, and come back from.
    SignedOut(String),
    /// Nobody is, and the browser keeps consents. Where to sign in, where people do.
    Browser(Option<String>),
    /// Somebody is. What they are called.
    SignedIn(&'a str),
}

/// An [`Account`] in a template.
#[derive(Default)]
pub(crate) struct AccountView {
    /// Who is signed in.
    pub(crate) name: Option<String>,
    /// Where to sign in.
    pub(crate) sign_in: Option<String>,
    /// Whether it leads to [`ACCOUNT`].
    pub(crate) has_page: bool,
}

impl AccountView {
    pub(crate) fn new(account: &Account<'_>) -> Self {
        match account {
            Account::None => Self::default(),
            Account::SignedOut(url) => Self { sign_in: clean::href(url), ..Self::default() },
            Account::Browser(url) => Self { name: None, sign_in: url.as_deref().and_then(clean::href), has_page: true },
            Account::SignedIn(name) => Self { name: Some(clean::line(name)), sign_in: None, has_page: true },
        }
    }
}
