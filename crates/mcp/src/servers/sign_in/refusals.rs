//! What a caller is told whose token for a server is not there.

use forecourt_agents::declined::unavailable;
use forecourt_core::policy::{AuthChallenge, RefusalKind, Translation};
use forecourt_core::{Ending, Error, Handle, PolicyPart, Site};
use forecourt_pages::sign_in_path;
use forecourt_sentences::{Sentences, SpokenLanguage};

use super::paths::page_path;
use crate::upstream::call_error::CallError;

/// Where to do something about a refusal, and what that is called.
type Action<'a> = (&'a str, fn(Sentences) -> String);

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
        let part = PolicyPart::new(RefusalKind::Forbidden, "");
        self.refused(part, "oauth:upstream_sign_in", Sentences::server_asks_people, None)
    }

    /// The refusal of a caller who is not known here: nobody could tell whose token it is.
    pub(super) fn unknown(&self) -> CallError {
        let challenge = AuthChallenge::new("Bearer").with("realm", &self.host);
        let part = PolicyPart::new(RefusalKind::Unauthorized { auth_challenges: vec![challenge] }, "");
        let action: Action<'_> = (&self.page_of_strangers, Sentences::page_sign_in);
        self.refused(part, "oauth:token_required", Sentences::server_asks_you, Some(action))
    }

    /// The refusal of a caller who has not signed in there. It is no 401: the caller is known here, and a client that
    /// signed in once more at this host would meet the same.
    pub(super) fn unsigned(&self) -> CallError {
        let part = PolicyPart::new(RefusalKind::Forbidden, "");
        let action: Action<'_> = (&self.page, Sentences::server_sign_in);
        self.refused(part, "oauth:upstream_sign_in", Sentences::server_asks_sign_in, Some(action))
    }

    /// A refusal in English, with its words in the other languages beside them.
    fn refused(
        &self,
        part: PolicyPart,
        code: &str,
        words: fn(Sentences, &str) -> String,
        action: Option<Action<'_>>,
    ) -> CallError {
        let said = |language: SpokenLanguage| words(Sentences::in_language(language), self.name.as_str());
        let others = SpokenLanguage::ALL.into_iter().filter(|language| *language != SpokenLanguage::English);
        let translation = |language: SpokenLanguage| {
            (language.code().to_owned(), Translation { title: None, message: said(language) })
        };
        let message_translations = others.map(translation).collect();
        let english = Sentences::in_language(SpokenLanguage::English);
        let (url, action_label) =
            action.map_or((None, None), |(url, label)| (Some(url.to_owned()), Some(label(english))));
        let message = said(SpokenLanguage::English);
        let part = PolicyPart { code: Some(code.to_owned()), url, action_label, message, message_translations, ..part };
        CallError::Unasked(Ending::Refused(Box::new(part)))
    }

    /// What is said while the authorization server can't be asked.
    pub(super) fn away(&self) -> CallError {
        let words = format!("Where people sign in for the server `{}` can't be asked at the moment.", self.name);
        CallError::Unasked(unavailable(&words, None))
    }
}

/// What is said while the store can't be asked.
pub(super) fn unkept(error: Error) -> CallError {
    tracing::warn!(%error, "sign-ins at servers can't be read");
    CallError::Unasked(unavailable("Sign-ins can't be read at the moment.", None))
}
