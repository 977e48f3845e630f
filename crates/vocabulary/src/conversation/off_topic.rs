//! What people say to a search that no search has an answer to.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::ConversationFile;
use crate::pattern::Pattern;

/// A kind of message that no content answers.
#[derive(Debug)]
pub struct OffTopic {
    id: String,
    patterns: Vec<Pattern>,
    topic: Vec<String>,
    /// By the code of the language.
    replies: BTreeMap<String, String>,
}

/// The kind in one language.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
pub(super) struct OffTopicEntry {
    id: String,
    /// Words by which content may be about this after all.
    #[serde(default)]
    topic: Vec<String>,
    pub(super) whole: Vec<String>,
    reply: String,
}

impl PartialEq for OffTopic {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl OffTopic {
    /// The same in all languages.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Words that content has which is about this: a collection of jokes answers who wants one.
    pub fn topic(&self) -> &[String] {
        &self.topic
    }

    /// What is said to it in a language, else in English, where things are called `items` here.
    pub fn reply(&self, language: &str, items: &str) -> String {
        let code = language.split('-').next().unwrap_or_default();
        let reply = [code, "en"].into_iter().find_map(|code| self.replies.get(code));
        reply.map(|reply| reply.replace("{items}", items)).unwrap_or_default()
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.is_match(text))
    }
}

/// The kinds of all languages, each once.
pub(super) fn of(files: &[ConversationFile]) -> Vec<OffTopic> {
    let mut all: Vec<OffTopic> = Vec::new();
    for file in files {
        for entry in &file.off_topic {
            let at = all.iter().position(|known| known.id == entry.id).unwrap_or_else(|| {
                let (patterns, topic, replies) = (Vec::new(), Vec::new(), BTreeMap::new());
                all.push(OffTopic { id: entry.id.clone(), patterns, topic, replies });
                all.len() - 1
            });
            all[at].patterns.push(Pattern::whole(entry.whole.clone()));
            all[at].topic.extend(entry.topic.iter().cloned());
            all[at].replies.insert(file.language.clone(), entry.reply.clone());
        }
    }
    all
}

/// The patterns of all kinds.
pub(super) fn patterns(files: &[ConversationFile]) -> Vec<String> {
    files.iter().flat_map(|file| &file.off_topic).flat_map(|entry| entry.whole.iter().cloned()).collect()
}
