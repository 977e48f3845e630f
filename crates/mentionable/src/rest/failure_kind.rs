//! What kinds of failure there are, with their titles, codes and words.

use forecourt_sentences::Sentences;

/// Makes the kinds, each with its title and the code of a failure that has no finer one.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $title:literal, $code:literal;)+) => {
        /// What went wrong, in a few words.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum FailureKind {
            $($(#[$doc])* $kind,)+
        }

        impl FailureKind {
            #[cfg(test)]
            pub(crate) const ALL: &[Self] = &[$(Self::$kind),+];

            /// In English, for programs and texts.
            pub(crate) fn title(self) -> &'static str {
                match self {
                    $(Self::$kind => $title,)+
                }
            }

            /// The code of such a failure, unless an error of the host has one of its own. Sentences are kept by it.
            pub(crate) fn code(self) -> &'static str {
                match self {
                    $(Self::$kind => $code,)+
                }
            }
        }
    };
}

kinds! {
    /// Nobody here has this name.
    NoSuchAgent = "No such agent", "agent-not-found";
    /// The task is unknown, or its time is over.
    NoSuchTask = "No such task", "task-not-found";
    /// Nothing is at this address.
    NotFound = "Not found", "not-found";
    /// What was done for a question is used up.
    AnsweredAlready = "Answered already", "already-answered";
    /// It was there, and was taken away for good.
    Gone = "Gone", "gone";
    /// The same request is being answered.
    UnderWay = "Under way", "idempotency-unsettled";
    /// The key came with another request.
    KeyUsedAlready = "Key used already", "idempotency-key-reused";
    /// It does not fit how things stand.
    Conflict = "Conflict", "state-conflict";
    /// The request breaks a rule of how it is written.
    BadRequest = "Bad request", "bad-request";
    /// The resource does not take this method.
    MethodNotAllowed = "Method not allowed", "method-not-allowed";
    /// There is no such form of the answer.
    NotAcceptable = "Not acceptable", "not-acceptable";
    /// The body is of no kind that is read here.
    UnsupportedMediaType = "Unsupported media type", "unsupported-media-type";
    /// More was sent than is read.
    TooLarge = "Too large", "too-large";
    /// The body took too long to come.
    TooSlow = "Too slow", "request-timeout";
    /// This caller, or this site, may not do it.
    NotAllowed = "Not allowed", "forbidden";
    /// Too much is going on.
    NotAvailable = "Not available", "unavailable";
    /// The caller has as much stored as it may.
    TooMuchStored = "Too much stored", "storage-quota-exceeded";
    /// The store is full.
    NoRoom = "No room", "storage-full";
    /// The agent wants a sign-in of its own.
    SignInFirst = "Sign in first", "sign-in-needed";
    /// The agent does not want to answer.
    AgentDeclined = "The agent declined", "declined";
    /// The agent could not answer.
    AgentFailed = "The agent failed", "agent-failed";
    /// This host failed.
    InternalError = "Internal error", "server-error";
}

impl FailureKind {
    /// The title in the language of a page.
    pub(crate) fn title_in(self, say: Sentences) -> String {
        say.page_failure_title(self.code())
    }

    /// What a person is told of it in one line: the sentence, or the title where there is none.
    pub(crate) fn words_in(self, say: Sentences) -> String {
        self.message_in(say).unwrap_or_else(|| self.title_in(say))
    }

    /// The whole sentence in the language of a page. `None` where the message of such a failure tells more than its kind.
    pub(crate) fn message_in(self, say: Sentences) -> Option<String> {
        match self {
            Self::NoSuchAgent | Self::NoSuchTask | Self::NotFound | Self::AnsweredAlready | Self::NotAvailable => {
                Some(say.page_failure_message(self.code()))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use forecourt_sentences::SpokenLanguage;

    use super::*;

    #[test]
    fn every_kind_has_a_title_in_every_language() {
        for language in SpokenLanguage::ALL {
            let say = Sentences::in_language(language);
            let other = say.page_failure_title("other");
            let titles: BTreeSet<String> = FailureKind::ALL.iter().map(|kind| kind.title_in(say)).collect();
            assert!(!titles.contains(&other), "{language:?}");
            assert_eq!(titles.len(), FailureKind::ALL.len(), "{language:?} {titles:?}");
        }
        let english = Sentences::in_language(SpokenLanguage::English);
        FailureKind::ALL.iter().for_each(|kind| assert_eq!(kind.title_in(english), kind.title()));
    }

    #[test]
    fn messages_that_are_worded_are_each_their_own() {
        for language in SpokenLanguage::ALL {
            let say = Sentences::in_language(language);
            let messages: Vec<String> = FailureKind::ALL.iter().filter_map(|kind| kind.message_in(say)).collect();
            assert_eq!(messages.len(), 5);
            assert_eq!(messages.iter().collect::<BTreeSet<_>>().len(), 5, "{language:?} {messages:?}");
        }
    }
}
