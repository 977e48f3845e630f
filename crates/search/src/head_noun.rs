//! What a thing is, by the head of what it is called: a dog leash is a leash, and no dog. Where something is what a question
//! names, things for it come later.

use forecourt_core::LazyJson;
use forecourt_index::{Hit, Library};
use forecourt_loaders::item::SECTION;
use forecourt_vocabulary::{LANGUAGES, folded, folded_letters};
use memchr::memmem;
use serde_json::Value;

use super::name_role::{is_head_first, is_same, segments};
use super::phrases::content_words;

/// Properties that say of what kind a thing is, in words of the site's own.
pub(super) const KINDS: [&str; 5] = ["category", "recipeCategory", "genre", "bodyType", "additionalType"];
/// What a thing counts that is only for what was asked for, as part of its score.
pub(super) const BESIDE_WORTH: f32 = 0.5;

/// Words of a question that are read as names of things.
const NAMED_MAX: usize = 8;

/// What a question names, by its own word and by others for the same.
pub(super) struct HeadNoun {
    /// Names, each with its head last: of several words, all have to be there.
    names: Vec<Vec<String>>,
    /// The letters that each word of a name has in each of its forms.
    roots: Vec<Vec<String>>,
    is_one_word: bool,
}

impl HeadNoun {
    /// The head of the words of a question. `None`: they name nothing.
    pub(super) fn of(library: &Library, text: &str) -> Option<Self> {
        let first = segments(text).into_iter().find(|segment| !segment.is_empty())?;
        let own = first.last()?.clone();
        Some(Self::named(library, own, &first))
    }

    /// The heads of a question by its last word and by its first one, which is the head in other languages. `None`: it
    /// has no words.
    pub(super) fn ends(library: &Library, text: &str) -> Option<(Self, Self)> {
        let first = segments(text).into_iter().find(|segment| !segment.is_empty())?;
        let [last, begin] = [first.last()?, first.first()?].map(String::clone);
        Some((Self::named(library, last, &first), Self::named(library, begin, &first)))
    }

    /// The word of a question by which one of these is called: its head, else the word that it begins with, which is the
    /// head in other languages. `None`: nothing is called by either.
    pub(super) fn among(library: &Library, text: &str, hits: &[Hit]) -> Option<Self> {
        let (last, first) = Self::ends(library, text)?;
        [last, first].into_iter().find(|head| head.calls(hits))
    }

    /// Whether one of these is called by it.
    pub(super) fn calls(&self, hits: &[Hit]) -> bool {
        hits.iter().any(|hit| self.is_called(hit))
    }

    /// Each word of the first part of a question that names something.
    pub(super) fn each(library: &Library, text: &str) -> Vec<Self> {
        let first = segments(text).into_iter().find(|segment| !segment.is_empty()).unwrap_or_default();
        let words = first.iter().filter(|word| content_words(word).next().is_some()).take(NAMED_MAX);
        words.map(|word| Self::named(library, word.clone(), std::slice::from_ref(word))).collect()
    }

    fn named(library: &Library, own: String, first: &[String]) -> Self {
        let phrase = first.join(" ");
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
        let roots = |name: &Vec<String>| name.iter().map(|word| root(&folded(word)).to_owned()).collect();
        Self { roots: names.iter().map(roots).collect(), names, is_one_word: first.len() == 1 }
    }

    /// Whether a thing is called by the word, whatever else it is called, or sorted in by it.
    fn is_called(&self, hit: &Hit) -> bool {
        let is_called = |name: &str| segments(name).iter().flatten().any(|word| self.says(word));
        is_called(&hit.name) || kinds(hit).any(is_called)
    }

    /// Whether a word of a name is the head of what is named, or a part of it or a compound ends with that.
    fn says(&self, word: &str) -> bool {
        let heads = || self.names.iter().filter_map(|name| name.last());
        word.split('-').chain([word]).any(|part| heads().any(|head| is_same(head, part) || is_compound(part, head)))
    }

    /// Whether some text of a thing has the word, or another name of what it names, in whichever form.
    pub(super) fn is_mentioned(&self, hit: &Hit) -> bool {
        // Once for all names: items may be long, and this is asked of each hit of a page. What it is called is mostly in its
        // text, too.
        let text = folded_text(&hit.item);
        let has = |root: &String| memmem::find(text.as_bytes(), root.as_bytes()).is_some();
        self.roots.iter().any(|name| name.iter().all(has)) || self.is_called(hit)
    }

    /// Whether the first part of a thing's name has the word, which says what it is, or it is sorted in by the word: a gift
    /// set with a serum is none.
    pub(super) fn is_called_first(&self, hit: &Hit) -> bool {
        let first = segments(&hit.name).into_iter().find(|segment| !segment.is_empty()).unwrap_or_default();
        self.is_kind_of(hit) || first.iter().any(|word| self.says(word))
    }

    /// Whether something has the word in its name, and something else nowhere.
    pub(super) fn tells_apart(&self, hits: &[Hit]) -> bool {
        let is_named = |hit: &Hit| segments(&hit.name).iter().flatten().any(|word| self.says(word));
        are_things(hits) && hits.iter().any(is_named) && hits.iter().any(|hit| !self.is_mentioned(hit))
    }

    /// Lets things come later that have the word nowhere.
    pub(super) fn called_first(&self, hits: &mut [Hit]) {
        for hit in hits.iter_mut().filter(|hit| !self.is_mentioned(hit)) {
            hit.score *= BESIDE_WORTH;
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
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
        are_things(hits) && hits.iter().any(|hit| self.is_beside(hit))
    }

    /// Whether a thing is called by the word, and is something else.
    pub(super) fn is_beside(&self, hit: &Hit) -> bool {
        let heads = || self.names.iter().filter_map(|name| name.last());
        let has_word = |name: &str| segments(name).iter().flatten().any(|word| heads().any(|head| is_same(head, word)));
        // By the name first, for which nothing has to be looked up in the item.
        let is_head = self.is_head(&segments(&hit.name));
        !is_head && !self.is_kind_of(hit) && (has_word(&hit.name) || kinds(hit).any(has_word))
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

/// Whether none of these is a section of a document.
fn are_things(hits: &[Hit]) -> bool {
    !hits.iter().any(|hit| hit.item.has_member(SECTION))
}

/// All that an item says as one text. The text that it is stored as says the same, unless letters are spelled with escapes.
fn folded_text(item: &LazyJson) -> String {
    let stored = item.text().filter(|text| !["\\u", "\\/"].iter().any(|escape| text.contains(escape)));
    stored.map_or_else(|| folded(&item.to_string()), folded_letters)
}

/// Letters of a word, without accents, that it has in each of its forms.
fn root(word: &str) -> &str {
    let kept = word.char_indices().nth(word.chars().count().saturating_sub(ENDING_MAX).max(ROOT_MIN));
    kept.map_or(word, |(at, _)| &word[..at])
}

/// Letters by which forms of a word differ at their ends, and those that are left at least.
const ENDING_MAX: usize = 1;
const ROOT_MIN: usize = 4;
/// Letters of what stands before the head of a compound.
const COMPOUND_BEGIN_MIN: usize = 3;
/// Letters of the head of a compound.
const COMPOUND_END_MIN: usize = 4;

/// Whether a word is a compound that ends with another one: a "Nachtcreme" is a "Creme".
fn is_compound(word: &str, head: &str) -> bool {
    let is_long = head.chars().count() >= COMPOUND_END_MIN;
    is_long && word.strip_suffix(head).is_some_and(|before| before.chars().count() >= COMPOUND_BEGIN_MIN)
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
