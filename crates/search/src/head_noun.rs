//! What a thing is, by the head of what it is called: a dog leash is a leash, and no dog. Where something is what a question
//! names, things for it come later.

use forecourt_index::{Hit, Library};
use forecourt_loaders::item::SECTION;
use forecourt_vocabulary::LANGUAGES;
use serde_json::Value;

use super::name_role::{is_head_first, is_same, segments};

/// Properties that say of what kind a thing is, in words of the site's own.
pub(super) const KINDS: [&str; 5] = ["category", "recipeCategory", "genre", "bodyType", "additionalType"];
/// What a thing counts that is only for what was asked for, as part of its score.
const BESIDE_WORTH: f32 = 0.5;

/// What a question names, by its own word and by others for the same.
pub(super) struct HeadNoun {
    /// Names, each with its head last: of several words, all have to be there.
    names: Vec<Vec<String>>,
    is_one_word: bool,
}

impl HeadNoun {
    /// The head of the words of a question. `None`: they name nothing.
    pub(super) fn of(library: &Library, text: &str) -> Option<Self> {
        let first = segments(text).into_iter().find(|segment| !segment.is_empty())?;
        let (own, phrase) = (first.last()?.clone(), first.join(" "));
        let vocabulary = library.vocabulary();
        let named = |phrase: &str| {
            let all = LANGUAGES.iter().flat_map(|code| vocabulary.names_of(phrase, code));
            all.map(|(code, name)| head_last(name, code)).collect::<Vec<_>>()
        };
        let mut names: Vec<Vec<String>> = named(&phrase).into_iter().chain(named(&own)).collect();
        names.push(vec![own]);
        names.retain(|name| !name.is_empty());
        names.sort_unstable();
        names.dedup();
        Some(Self { names, is_one_word: first.len() == 1 })
    }

    /// Whether the question names it in one word.
    pub(super) fn is_one_word(&self) -> bool {
        self.is_one_word
    }

    /// Whether a thing is sorted in as what is named.
    pub(super) fn is_kind_of(&self, hit: &Hit) -> bool {
        kinds(hit).any(|kind| self.is_head(&segments(kind)))
    }

    /// Whether a thing is called or sorted in as what is named.
    pub(super) fn is_it(&self, hit: &Hit) -> bool {
        self.is_kind_of(hit) || self.is_head(&segments(&hit.name))
    }

    /// Whether things for what is named are among these.
    pub(super) fn has_others(&self, hits: &[Hit]) -> bool {
        let are_things = hits.iter().all(|hit| hit.item.get(SECTION).is_none());
        are_things && hits.iter().any(|hit| self.is_beside(hit))
    }

    /// Whether a thing is called by the word, and is something else.
    fn is_beside(&self, hit: &Hit) -> bool {
        let heads = || self.names.iter().filter_map(|name| name.last());
        let has_word = |name: &str| segments(name).iter().flatten().any(|word| heads().any(|head| is_same(head, word)));
        !self.is_it(hit) && kinds(hit).chain([hit.name.as_str()]).any(has_word)
    }

    /// Whether the head of a name is the word. Behind it stand sizes and the names of models.
    fn is_head(&self, name: &[Vec<String>]) -> bool {
        let is_word = |word: &&String| word.chars().count() > 2 && word.chars().all(char::is_alphabetic);
        let Some(part) = name.iter().find(|part| !part.is_empty()) else { return false };
        let Some(head) = part.iter().rev().find(is_word) else { return false };
        let is_it = |named: &Vec<String>| {
            named.last().is_some_and(|last| is_same(last, head))
                && named.iter().all(|word| part.iter().any(|other| is_same(word, other)))
        };
        self.names.iter().any(is_it)
    }

    /// Lets things come later that are only for what is named, where something is sorted in as it.
    pub(super) fn first(&self, hits: &mut [Hit]) {
        if !hits.iter().any(|hit| self.is_kind_of(hit)) {
            return;
        }
        for hit in hits.iter_mut() {
            if self.is_beside(hit) {
                hit.score *= BESIDE_WORTH;
            }
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    }
}

/// The words of a phrase of a language that say what it is, its head last.
fn head_last(phrase: &str, language: &str) -> Vec<String> {
    let mut first = segments(phrase).into_iter().find(|segment| !segment.is_empty()).unwrap_or_default();
    if is_head_first(language) {
        first.reverse();
    }
    first
}

/// What stands between the steps of a path of kinds: "Computers > Laptops".
const STEPS: [char; 4] = ['>', '/', '|', '›'];

/// What an item says of its kind. Of a path of kinds each step, the last and narrowest first.
pub(super) fn kinds(hit: &Hit) -> impl Iterator<Item = &str> {
    let kinds = KINDS.iter().filter_map(|key| hit.item.get(*key)).flat_map(|value| match value {
        Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
        value => value.as_str().into_iter().collect::<Vec<_>>(),
    });
    kinds.flat_map(|kind| kind.rsplit(STEPS).map(str::trim).filter(|step| !step.is_empty()))
}
