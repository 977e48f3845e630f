//! What a caller is told whose token for a server is not there.

use forecourt_agents::declined::unavailable;
use forecourt_core::policy::{AuthChallenge, RefusalKind};
use forecourt_core::{Ending, Error, Handle, PolicyPart, Site};
use forecourt_pages::sign_in_path;

use super::paths::page_path;
use crate::upstream::call_error::CallError;

/// The refusals of one server.
pub(super) struct Refusals {
    name: Handle,
    /// The canonical host, for challenges.
    host: String,
    /// Where a person signs in there, and here first.
    page: String,
    page_of_strangers: String,
}

impl Refusals {
    pub(super) fn new(site: &Site, name: &Handle) -> Self {
        let path = page_path(name);
        Self {
            name: name.clone(),
            host: site.canonical_host().to_owned(),
            page: site.url(&path),
            page_of_strangers: site.url(&sign_in_path(&path)),
        }
    }

    /// The refusal of a caller who is known, and is nobody who could sign in there.
    pub(super) fn no_person(&self) -> CallError {
        let words =
            format!("The server `{}` is asked in the name of people who sign in here, and you are none.", self.name);
        let part = PolicyPart {
            code: Some("oauth:upstream_sign_in".to_owned()),
            ..PolicyPart::new(RefusalKind::Forbidden, words)
        };
        CallError::Unasked(Ending::Refused(Box::new(part)))
    }

    /// The refusal of a caller who is not known here: nobody could tell whose token it is.
    pub(super) fn unknown(&self) -> CallError {
        let challenge = AuthChallenge::new("Bearer").with("realm", &self.host);
        let kind = RefusalKind::Unauthorized { auth_challenges: vec![challenge] };
        let words = format!("The server `{}` is asked in your name: sign in here first.", self.name);
        refused(kind, "oauth:token_required", words, &self.page_of_strangers, "Sign in")
    }

    /// The refusal of a caller who has not signed in there. It is no 401: the caller is known here, and a client that
    /// signed in once more at this host would meet the same.
    pub(super) fn unsigned(&self) -> CallError {
        let words = format!(
            "The server `{}` behind this host answers who has signed in there. Please do that once, as yourself:",
            self.name
        );
        refused(RefusalKind::Forbidden, "oauth:upstream_sign_in", words, &self.page, "Sign in there")
    }

    /// What is said while the authorization server can't be asked.
    pub(super) fn away(&self) -> CallError {
        let words = format!("Where people sign in for the server `{}` can't be asked at the moment.", self.name);
        CallError::Unasked(unavailable(&words, None))
    }
}

fn refused(kind: RefusalKind, code: &str, words: String, url: &str, label: &str) -> CallError {
    let part = PolicyPart {
        code: Some(code.to_owned()),
        url: Some(url.to_owned()),
        action_label: Some(label.to_owned()),
        ..PolicyPart::new(kind, words)
    };
    CallError::Unasked(Ending::Refused(Box::new(part)))
}

/// What is said while the store can't be asked.
pub(super) fn unkept(error: Error) -> CallError {
    tracing::warn!(%error, "sign-ins at servers can't be read");
    CallError::Unasked(unavailable("Sign-ins can't be read at the moment.", None))
}
