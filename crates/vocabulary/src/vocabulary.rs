//! All files of vocabulary together, and what they answer.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::OnceLock;

use crate::absent::AbsenceSigns;
use crate::class::{Area, Class, Diet, ItemKind, ItemProperty, ItemValue, WordsByLanguage};
use crate::class_set::ClassSet;
use crate::denial::Denials;
use crate::file::AbsenceTable;
use crate::fold::folded;
use crate::judge::unknown_words;
use crate::phrases::Phrases;
use crate::roles::TextRoles;
use crate::stem::phrase_key;
use crate::synonym::{NamedSubject, OwnSynonyms, Synonym};
use crate::words::{LANGUAGES, compared};

/// What words mean: what came with the program, and what a deployment added.
#[derive(Debug, Default)]
pub struct Vocabulary {
    pub(crate) areas: Vec<Area>,
    pub(crate) classes: Vec<Class>,
    pub(crate) diets: Vec<Diet>,
    pub(crate) kinds: Vec<ItemKind>,
    pub(crate) properties: Vec<ItemProperty>,
    pub(crate) values: Vec<ItemValue>,
    /// Words that mean the same, those of the deployment.
    pub(crate) synonyms: OwnSynonyms,
    /// Places of classes by their id.
    pub(crate) class_ids: HashMap<String, usize>,
    /// Places of classes by their names, for each of [`LANGUAGES`].
    pub(crate) class_names: Vec<HashMap<String, usize>>,
    /// Places of kinds by their names, for each of [`LANGUAGES`].
    pub(crate) kind_names: Vec<HashMap<String, usize>>,
    /// For each class, the classes that what is of it is of too, itself among them.
    pub(crate) is_also: Vec<ClassSet>,
    /// For each class, what is absent with it, itself among them.
    pub(crate) absent_with: Vec<ClassSet>,
    /// How absence is said back, by the code of the language.
    pub(crate) without_words: BTreeMap<String, String>,
    /// How texts say that something is not there.
    pub(crate) denials: Denials,
    pub(crate) absence_signs: AbsenceSigns,
    pub(crate) text_roles: TextRoles,
    /// Words that were looked at and say nothing of any class.
    pub(crate) neutral: WordsByLanguage,
    /// How languages say that something is not there, by their codes.
    pub(crate) absence: Vec<(String, AbsenceTable)>,
    /// For each of [`LANGUAGES`], made when the first text of it is judged: few hosts see all of them, and none
    /// should wait for them at its start.
    pub(crate) phrases: [OnceLock<Phrases>; LANGUAGES.len()],
    /// What a deployment's files take the place of.
    pub(crate) notices: Vec<String>,
    pub(crate) revision: u64,
}

impl PartialEq for Vocabulary {
    /// Whether they are of the same files.
    fn eq(&self, other: &Self) -> bool {
        self.revision == other.revision
    }
}

impl Eq for Vocabulary {}

impl Vocabulary {
    /// A number that is another one for other files.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// What a deployment's files take the place of in those of the program, for the operator: a sentence each, with both
    /// places.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// The areas that classes belong to.
    pub fn areas(&self) -> &[Area] {
        &self.areas
    }

    /// The area of this id.
    pub fn area(&self, id: &str) -> Option<&Area> {
        self.areas.iter().find(|area| area.id == id)
    }

    /// All classes.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// The class of this id.
    pub fn class(&self, id: &str) -> Option<&Class> {
        self.class_ids.get(id).map(|at| &self.classes[*at])
    }

    /// The class that a phrase of any language names, in the singular or the plural.
    pub fn class_named(&self, phrase: &str) -> Option<&Class> {
        let named = LANGUAGES.iter().zip(&self.class_names);
        let mut found = named.filter_map(|(language, names)| names.get(&compared(phrase, language)));
        found.next().map(|at| &self.classes[*at])
    }

    /// All diets.
    pub fn diets(&self) -> &[Diet] {
        &self.diets
    }

    /// The diet of this id.
    pub fn diet(&self, id: &str) -> Option<&Diet> {
        self.diets.iter().find(|diet| diet.id == id)
    }

    /// The diet that a phrase of any language names, in any of the forms that adjectives have.
    pub fn diet_named(&self, phrase: &str) -> Option<&Diet> {
        let phrase = folded(phrase);
        let is = |name: &str| phrase == name || (phrase.starts_with(name) && phrase.len() < name.len() + 4);
        // The longest name, so that "low-carb" is not found by a shorter one that it begins with.
        let named =
            self.diets.iter().flat_map(|diet| diet.names.values().flatten().map(move |name| (diet, folded(name))));
        named.filter(|(_, name)| is(name)).max_by_key(|(_, name)| name.len()).map(|(diet, _)| diet)
    }

    /// The kind of things that a phrase of any language names.
    pub fn kind_named(&self, phrase: &str) -> Option<&ItemKind> {
        let named = LANGUAGES.iter().zip(&self.kind_names);
        let found = named.filter_map(|(language, names)| names.get(&compared(phrase, language)));
        // Where several languages have the word, the kind that was declared first.
        found.min().map(|at| &self.kinds[*at])
    }

    /// All kinds of things.
    pub fn kinds(&self) -> &[ItemKind] {
        &self.kinds
    }

    /// The property of this id.
    pub fn property(&self, id: &str) -> Option<&ItemProperty> {
        self.properties.iter().find(|property| property.id == id)
    }

    /// All properties.
    pub fn properties(&self) -> &[ItemProperty] {
        &self.properties
    }

    /// All values that people call otherwise than items do.
    pub fn values(&self) -> &[ItemValue] {
        &self.values
    }

    /// Other words for the same thing, in all languages. Empty when none is known.
    pub fn synonyms_of(&self, phrase: &str) -> Vec<&str> {
        let keys = (0..LANGUAGES.len()).filter_map(|language| Some((language, phrase_key(phrase, language)?)));
        let same = keys.flat_map(|(language, key)| self.synonyms.same(key, language));
        let same = same.flat_map(|synonym| synonym.parts);
        let own = folded(phrase);
        let mut words: Vec<&str> = same.filter(|word| folded(word) != own).collect();
        words.sort_unstable();
        words.dedup();
        words
    }

    /// What else a phrase of one language is called in each of [`LANGUAGES`], by its code.
    pub fn names_of(&self, phrase: &str, language: &str) -> Vec<(&'static str, &str)> {
        let Some(at) = LANGUAGES.iter().position(|code| *code == language) else { return Vec::new() };
        let same = phrase_key(phrase, at).map(|key| self.synonyms.same(key, at)).unwrap_or_default();
        let names = same.into_iter().filter(|synonym| synonym.parts.len() == 1);
        names.map(|synonym| (LANGUAGES[synonym.language], synonym.parts[0])).collect()
    }

    /// What words of a question name, in each language: the longest phrases, each with the other words for it. The
    /// words are in lower case and without accents. Looks up these words and nothing else.
    pub fn subjects_in(&self, words: &[&str]) -> Vec<NamedSubject<'_>> {
        self.synonyms.subjects_in(words)
    }

    /// What words of a question name, each with the words for the broader things that it is one of, one step up: pain, for
    /// a headache. Looks through all groups, so ask where nothing else is found.
    pub fn broader_in(&self, words: &[&str]) -> Vec<(Range<usize>, Vec<Synonym<'_>>)> {
        self.synonyms.broader_in(words)
    }

    /// That a thing is absent, in words: "no nuts", "ohne Nüsse". English for languages without words.
    pub fn said_without(&self, thing: &str, language: &str) -> String {
        let no = [language, "en"].into_iter().find_map(|code| self.without_words.get(code));
        no.map_or_else(|| thing.to_owned(), |no| format!("{no} {thing}"))
    }

    /// Whether words of a text say that what the one at a place names is not there, in any language: "no nuts", "ohne
    /// Zucker", "sugar free". They are in lower case and without accents.
    pub fn denies(&self, words: &[String], at: usize) -> bool {
        self.denials.has(words, at)
    }

    /// What a text says is not there, in any language, each thing as [`crate::thing_key`] has it: "ohne Parfüm",
    /// "sugar-free".
    pub fn absent_in(&self, text: &str) -> Vec<String> {
        self.absence_signs.things(text)
    }

    /// Words of a text that nobody has judged: of no class, no exception, and not known to say nothing.
    pub fn unknown_words(&self, text: &str, language: &str) -> Vec<String> {
        match self.phrases(language) {
            Some(phrases) => unknown_words(text, language, phrases),
            None => text.split_whitespace().map(str::to_owned).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_and_diets_are_named_in_several_languages() {
        let shipped = Vocabulary::shipped();
        let id = |name: &str| shipped.class_named(name).map(|class| class.id.clone());
        for (class, names) in [
            ("nuts", &["nut", "nuts", "Nüsse", "fruits à coque", "frutos secos"][..]),
            ("tree-nuts", &["tree nuts"]),
            ("peanuts", &["peanuts", "Erdnuss", "cacahuètes", "maní"]),
            ("dairy", &["dairy", "milk products", "Milchprodukte", "produits laitiers", "lácteos"]),
            ("lactose", &["lactose", "Laktose"]),
            ("gluten", &["gluten"]),
            ("wheat", &["wheat", "Weizen", "blé", "trigo"]),
            ("meat", &["meat", "Fleisch", "viande", "carne"]),
            ("pork", &["pork", "Schweinefleisch", "porc", "cerdo"]),
            ("shellfish", &["shellfish", "marisco", "fruits de mer"]),
            ("molluscs", &["molluscs", "Weichtiere"]),
            ("alcohol", &["alcohol", "Alkohol"]),
            ("soy", &["soy", "soya", "Soja"]),
            ("sesame", &["sesame", "Sesam"]),
            ("sulphites", &["sulphites", "sulfites"]),
            ("mushrooms", &["mushrooms", "Pilze", "setas"]),
            ("onions", &["onion", "Zwiebeln"]),
            ("spicy", &["spicy", "scharf", "picante"]),
            ("blue", &["blue", "blau"]),
        ] {
            names.iter().for_each(|name| assert_eq!(id(name).as_deref(), Some(class), "{name}"));
        }
        for name in ["vegetarian", "vegetarisches", "végétarienne", "vegetariana"] {
            assert_eq!(shipped.diet_named(name).map(|diet| diet.id.as_str()), Some("vegetarian"), "{name}");
        }
        assert_eq!(shipped.class("nuts").unwrap().name("de"), "nüsse");
        assert!(shipped.class_named("shear").is_none() && shipped.diet_named("vegetable").is_none());
        assert_eq!(shipped.kind_named("films").unwrap().types, ["Movie"]);
        let is_named = |property: &&ItemProperty| property.names("en").iter().any(|name| name == "cooking time");
        let cooking = shipped.properties().iter().find(is_named);
        assert_eq!(cooking.unwrap().paths, ["cookTime"]);
        assert!(shipped.synonyms_of("courgettes").contains(&"zucchini"));
        assert_eq!(shipped.said_without("Nüsse", "de"), "ohne Nüsse");
    }
}
