//! How people talk around what they ask for: greetings, "more", "instead", "the second one", what has no answer here.
//! Files of one form, one for each language; all of them are read together, since nobody says which one is spoken.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::pattern::{Pattern, RequiredWords, SHIPPED_REQUIRED};

mod item_reference;
mod off_topic;

pub use item_reference::{ItemPosition, ItemReference};
pub use off_topic::OffTopic;

/// What the files `data/languages/CODE-conversation.toml` say, and what texts must have for their patterns, as a test
/// writes it down ([`crate::shipped`]).
const SHIPPED: &str = include_str!("../data/conversation.json");

static PHRASES: LazyLock<ConversationPhrases> = LazyLock::new(|| {
    // A test holds it against the files.
    let written: WrittenPhrases = serde_json::from_str(SHIPPED).unwrap_or_else(|error| panic!("conversation: {error}"));
    SHIPPED_REQUIRED.get_or_init(|| written.required);
    ConversationPhrases::of(written.files)
});

/// What is shipped, as it is written down.
#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
pub(crate) struct WrittenPhrases {
    files: Vec<ConversationFile>,
    required: RequiredWords,
}

#[cfg(test)]
impl WrittenPhrases {
    /// What these files say.
    pub(crate) fn of(files: Vec<ConversationFile>) -> Self {
        let parts = |file: &ConversationFile| {
            let topics = file.off_topic.iter().map(|topic| &topic.whole);
            serde_json::json!([file.whole, file.start, file.end, file.within, topics.collect::<Vec<_>>()])
        };
        let mut patterns = Vec::new();
        files.iter().for_each(|file| texts(parts(file), &mut patterns));
        let required = |pattern: String| Some((pattern.clone(), crate::pattern::required_words::of(&pattern)?));
        Self { required: patterns.into_iter().filter_map(required).collect(), files }
    }
}

/// All texts in a value.
#[cfg(test)]
fn texts(value: serde_json::Value, out: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => out.push(text),
        serde_json::Value::Array(all) => all.into_iter().for_each(|value| texts(value, out)),
        serde_json::Value::Object(all) => all.into_iter().for_each(|(_, value)| texts(value, out)),
        _ => {}
    }
}

/// Bytes of a message that is read as a phrase: a longer one asks for something.
const PHRASE_BYTES_MAX: usize = 300;

/// One file.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
pub(crate) struct ConversationFile {
    #[serde(rename = "about")]
    _about: String,
    language: String,
    whole: WholePatterns,
    start: StartPatterns,
    end: EndPatterns,
    within: WithinPatterns,
    answers: BTreeMap<String, String>,
    off_topic: Vec<off_topic::OffTopicEntry>,
}

/// Patterns of whole messages.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
struct WholePatterns {
    greeting: Vec<String>,
    more: Vec<String>,
    widen: Vec<String>,
    recount: Vec<String>,
    any: Vec<String>,
    both: Vec<String>,
    start_over: Vec<String>,
    that_item: Vec<String>,
    about_item: Vec<String>,
}

/// Patterns of beginnings.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
struct StartPatterns {
    addition: Vec<String>,
    only: Vec<String>,
    drop: Vec<String>,
    limit: Vec<String>,
    replacement: Vec<String>,
    #[serde(rename = "self")]
    about_self: Vec<String>,
}

/// Patterns of ends.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
struct EndPatterns {
    replacement: Vec<String>,
    drop: Vec<String>,
    only: Vec<String>,
}

/// Patterns that stand anywhere, and words.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
struct WithinPatterns {
    pointing: Vec<String>,
    swap: Vec<String>,
    set_aside: Vec<String>,
    no_item: Vec<String>,
    ordinals: Vec<String>,
    last: Vec<String>,
    number: Vec<String>,
    thing: Vec<String>,
    choosing: Vec<String>,
    fillers: Vec<String>,
    joining: Vec<String>,
    question: Vec<String>,
}

/// The phrases of all languages.
#[derive(Debug)]
pub struct ConversationPhrases {
    greeting: Pattern,
    more: Pattern,
    widen: Pattern,
    recount: Pattern,
    any: Pattern,
    both: Pattern,
    start_over: Pattern,
    addition: Pattern,
    only: Pattern,
    only_end: Pattern,
    drop_start: Pattern,
    drop_end: Pattern,
    limit: Pattern,
    replacement_start: Pattern,
    replacement_end: Pattern,
    replacement_within: Pattern,
    about_self: Pattern,
    pointing: Pattern,
    swaps: Vec<Pattern>,
    set_aside: Pattern,
    joining: Pattern,
    question: Pattern,
    fillers: Vec<String>,
    references: item_reference::ReferencePatterns,
    /// Any of them: most messages are none.
    any_off_topic: Pattern,
    off_topic: Vec<OffTopic>,
    /// By the code of the language.
    answers: BTreeMap<String, BTreeMap<String, String>>,
}

/// Something that takes the place of something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement<'t> {
    /// What is wanted now.
    pub new: &'t str,
    /// What is not wanted any more, where that is said.
    pub old: Option<&'t str>,
    /// What else is said behind it: "rum instead, under 30 euros".
    pub further: Option<&'t str>,
}

impl ConversationPhrases {
    /// What comes with the program.
    pub fn shipped() -> &'static Self {
        &PHRASES
    }

    fn of(files: Vec<ConversationFile>) -> Self {
        let all = |of: fn(&ConversationFile) -> &Vec<String>| -> Vec<String> {
            files.iter().flat_map(|file| of(file).iter().cloned()).collect()
        };
        let mut fillers = all(|file| &file.within.fillers);
        fillers.sort_unstable();
        Self {
            greeting: Pattern::whole(all(|file| &file.whole.greeting)),
            more: Pattern::whole(all(|file| &file.whole.more)),
            any: Pattern::whole(all(|file| &file.whole.any)),
            both: Pattern::whole(all(|file| &file.whole.both)),
            widen: Pattern::whole(all(|file| &file.whole.widen)),
            recount: Pattern::whole(all(|file| &file.whole.recount)),
            start_over: Pattern::whole(all(|file| &file.whole.start_over)),
            addition: Pattern::of(r"^\s*(?:(?:", all(|file| &file.start.addition), r")\b[\s,]*)+"),
            only: Pattern::of(r"^\s*(?:", all(|file| &file.start.only), r")\b[\s,]*"),
            only_end: Pattern::of(r"(?:", all(|file| &file.end.only), r")[\s!.?,]*$"),
            drop_start: Pattern::of(r"^\s*(?:", all(|file| &file.start.drop), r")"),
            drop_end: Pattern::of(r"(?:", all(|file| &file.end.drop), r")[\s!.?,]*$"),
            limit: Pattern::of(r"^\s*(?:", all(|file| &file.start.limit), r")\b\s*"),
            replacement_start: Pattern::of(r"^\s*(?:", all(|file| &file.start.replacement), r")"),
            replacement_end: Pattern::of(r"(?:", all(|file| &file.end.replacement), r")[\s!.?,]*$"),
            replacement_within: Pattern::of(r"(?:", all(|file| &file.end.replacement), r")\s*[,;]\s*"),
            about_self: Pattern::of(r"^\s*(?:", all(|file| &file.start.about_self), r")"),
            pointing: Pattern::of(r"\b(?:", all(|file| &file.within.pointing), r")\b"),
            swaps: all(|file| &file.within.swap)
                .into_iter()
                .map(|swap| Pattern::of(r"^\s*", vec![swap], "$"))
                .collect(),
            set_aside: Pattern::of(r"\b(?:", all(|file| &file.within.set_aside), r")\b"),
            joining: Pattern::of(r"\s+(?:", all(|file| &file.within.joining), r")\s+|\s*[,/]\s*"),
            question: Pattern::of(r"^[\s¿]*(?:", all(|file| &file.within.question), r")\b"),
            references: item_reference::ReferencePatterns::of(&files),
            any_off_topic: Pattern::whole(off_topic::patterns(&files)),
            off_topic: off_topic::of(&files),
            answers: files.into_iter().map(|file| (file.language, file.answers)).collect(),
            fillers,
        }
    }

    /// Whether a message asks for nothing: it is empty, says hello, or asks what there is to ask.
    pub fn is_greeting(&self, text: &str) -> bool {
        text.trim().is_empty() || is_whole(&self.greeting, text)
    }

    /// Whether a message asks for more of the same, and for nothing else.
    pub fn is_more(&self, text: &str) -> bool {
        is_whole(&self.more, text)
    }

    /// Whether an answer to a question leaves it open: "no preference".
    pub fn leaves_open(&self, text: &str) -> bool {
        is_whole(&self.any, text)
    }

    /// Whether an answer chooses both of two.
    pub fn is_both(&self, text: &str) -> bool {
        is_whole(&self.both, text)
    }

    /// Whether a message goes back to the first question: "show me everything again".
    pub fn widens(&self, text: &str) -> bool {
        is_whole(&self.widen, text)
    }

    /// Whether a message asks how many there are of what was shown.
    pub fn recounts(&self, text: &str) -> bool {
        is_whole(&self.recount, text)
    }

    /// The limit that a message lets go of, in its words: "forget the parking", "the colour doesn't matter". `None`: it
    /// lets go of none, which a message may also say of a thing that it rules out.
    pub fn dropped<'t>(&self, text: &'t str) -> Option<&'t str> {
        let text = text.trim().trim_end_matches(['?', '!', '.', ' ']);
        if text.len() > PHRASE_BYTES_MAX {
            return None;
        }
        let rest = self.behind_addition(text);
        let front = behind(&self.drop_start, rest);
        let end = self.drop_end.find(front).map_or(front.len(), |found| found.start());
        let what = front[..end].trim();
        (what.len() < rest.trim().len() && !what.is_empty()).then_some(what)
    }

    /// Whether a message ends what was asked, and asks for nothing itself.
    pub fn starts_over(&self, text: &str) -> bool {
        is_whole(&self.start_over, text)
    }

    /// A message without the words at its beginning that go on with what was said before.
    pub fn behind_addition<'t>(&self, text: &'t str) -> &'t str {
        behind(&self.addition, text)
    }

    /// What nothing else is wanted but, in "only soups" and "French ones only".
    pub fn behind_only<'t>(&self, text: &'t str) -> Option<&'t str> {
        let rest = Some(behind(&self.only, text)).filter(|rest| rest.len() < text.len());
        let before = || {
            let end = self.only_end.find(text).map(|found| found.start())?;
            Some(text[..end].trim()).filter(|before| !before.is_empty() && text.len() <= PHRASE_BYTES_MAX)
        };
        rest.or_else(before)
    }

    /// Whether a message begins with a limit or something to add: "with rice", "under 20 minutes".
    pub fn begins_with_limit(&self, text: &str) -> bool {
        self.limit.is_match(text)
    }

    /// What takes the place of something: "beef instead", "what about fish?", "beef instead of chicken".
    pub fn replacement<'t>(&self, text: &'t str) -> Option<Replacement<'t>> {
        let text = text.trim().trim_end_matches(['?', '!', '.', ' ']);
        if text.len() > PHRASE_BYTES_MAX {
            return None;
        }
        let swap = self.swaps.iter().find_map(|swap| {
            let found = swap.captures(text)?;
            let (new, old) = (found.name("new")?.as_str(), Some(found.name("old")?.as_str()));
            Some(Replacement { new: behind(&self.replacement_start, self.behind_addition(new)), old, further: None })
        });
        if swap.is_some() {
            return swap;
        }
        let rest = self.behind_addition(text);
        let front = behind(&self.replacement_start, behind(&self.replacement_start, rest));
        let within = self.replacement_within.find(front).filter(|found| found.end() < front.len());
        let further = within.as_ref().map(|found| &front[found.end()..]);
        let end = within.or_else(|| self.replacement_end.find(front)).map_or(front.len(), |found| found.start());
        let new = front[..end].trim();
        (new.len() < rest.trim().len() && !new.is_empty()).then_some(Replacement { new, old: None, further })
    }

    /// Whether a message says something about the caller: "I am vegan".
    pub fn is_about_self(&self, text: &str) -> bool {
        self.about_self.is_match(text)
    }

    /// A message without the words by which it speaks of the caller.
    pub fn behind_self<'t>(&self, text: &'t str) -> &'t str {
        behind(&self.about_self, text)
    }

    /// Whether a message points at what was shown before: "those with rice".
    pub fn points_back(&self, text: &str) -> bool {
        self.pointing.is_match(text)
    }

    /// A message without the words that point at what was shown: "le moins cher" of "le moins cher des deux".
    pub fn without_pointing(&self, text: &str) -> String {
        self.pointing.replace_all(text, " ").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether a message sets aside what is known of the caller.
    pub fn sets_aside(&self, text: &str) -> bool {
        self.set_aside.is_match(text)
    }

    /// A message without the words that set something aside.
    pub fn without_setting_aside(&self, text: &str) -> String {
        let rest = self.set_aside.replace_all(text, " ").split_whitespace().collect::<Vec<_>>().join(" ");
        rest.trim_matches([',', ';', '.', '!', ' ']).to_owned()
    }

    /// Whether a message begins like a question.
    pub fn is_question(&self, text: &str) -> bool {
        self.question.is_match(text)
    }

    /// The things of a list in words: "soup or stew".
    pub fn listed<'t>(&'t self, text: &'t str) -> impl Iterator<Item = &'t str> {
        self.joining.split(text).map(str::trim).filter(|part| !part.is_empty())
    }

    /// Whether a word asks for nothing by itself.
    pub fn is_filler(&self, word: &str) -> bool {
        let word = word.to_lowercase().replace('’', "'");
        self.fillers.binary_search(&word).is_ok()
    }

    /// The item that was shown at which a message points, where things are called `item_label` here.
    pub fn item_reference(&self, text: &str, item_label: &str) -> Option<ItemReference> {
        if text.len() > PHRASE_BYTES_MAX {
            return None;
        }
        self.references.read(&plain(text), item_label)
    }

    /// What a message wants that no search has: thanks, a joke, the weather.
    pub fn off_topic(&self, text: &str) -> Option<&OffTopic> {
        let text = plain(text);
        let is_one = text.len() <= PHRASE_BYTES_MAX && self.any_off_topic.is_match(&text);
        is_one.then(|| self.off_topic.iter().find(|topic| topic.matches(&text))).flatten()
    }

    /// A sentence of the host's, by its name, in a language or else in English.
    pub fn sentence(&self, name: &str, language: &str) -> &str {
        let code = language.split('-').next().unwrap_or_default();
        let of = |code: &str| self.answers.get(code)?.get(name).map(String::as_str);
        of(code).or_else(|| of("en")).unwrap_or_default()
    }
}

/// A message as patterns are written: straight apostrophes, no white space around it.
fn plain(text: &str) -> String {
    text.trim().replace('’', "'")
}

fn is_whole(pattern: &Pattern, text: &str) -> bool {
    text.len() <= PHRASE_BYTES_MAX && pattern.is_match(&plain(text))
}

fn behind<'t>(pattern: &Pattern, text: &'t str) -> &'t str {
    pattern.find(text).filter(|found| found.start() == 0).map_or(text, |found| &text[found.end()..])
}

#[cfg(test)]
mod tests;
