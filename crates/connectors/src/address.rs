//! Where the answer to a message of a chat goes.

use std::marker::PhantomData;

use forecourt_core::{Handle, Language, Transport};
use forecourt_correspondence::{Address, Letter};
use forecourt_sentences::{Sentences, SpokenLanguage};
use serde::{Deserialize, Serialize};

use crate::chat::Place;
use crate::limits::ANSWER_RETRIES;
use crate::platform::Platform;

/// Where the answer to a message goes.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct ChatAddress<P> {
    /// The name of the connector.
    pub(crate) connector: Handle,
    /// Where the message is.
    pub(crate) place: Place,
    /// The message.
    pub(crate) message: String,
    /// Who wrote it.
    pub(crate) user: String,
    /// The letter whose messages this answer takes the place of, since its question was edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) replaces: Option<String>,
    /// Files of the question that were too large to be taken, with their bytes; the first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) too_large: Vec<(String, u64)>,
    #[serde(skip)]
    pub(crate) of: PhantomData<fn() -> P>,
}

// By hand, since a platform itself is never cloned.
impl<P> Clone for ChatAddress<P> {
    fn clone(&self) -> Self {
        Self {
            connector: self.connector.clone(),
            place: self.place.clone(),
            message: self.message.clone(),
            user: self.user.clone(),
            replaces: self.replaces.clone(),
            too_large: self.too_large.clone(),
            of: PhantomData,
        }
    }
}

impl<P: Platform> Address for ChatAddress<P> {
    const PROTOCOL: Transport = P::KIND;
    const KEY: &'static str = "chat";
    const RETRIES: u32 = ANSWER_RETRIES;
    const ANSWERS_HAVE_TOKENS: bool = false;

    fn url(&self) -> String {
        format!("{}:{}", P::KIND, self.place.key(&self.connector))
    }

    fn stranger(&self) -> String {
        format!("{}:{}/{}", P::KIND, self.connector, self.user)
    }
}

/// The sentences of the language of who asked.
pub(crate) fn say<P: Platform>(letter: &Letter<ChatAddress<P>>) -> Sentences {
    let language = letter.language.clone().unwrap_or_else(Language::english);
    Sentences::in_language(SpokenLanguage::of(&language).unwrap_or(SpokenLanguage::English))
}
