//! One file of vocabulary: what it declares, and where each of it stands.

use std::path::Path;

use forecourt_settings::{Problem, Problems, Section, nearest};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::class::{ValueArea, WordsByLanguage};
use crate::limits::{LIST_WORDS_MAX, PHRASE_CHARS_MAX, PHRASE_WORDS_MAX};
use crate::words::{LANGUAGES, compared};

/// A table of a file, and its place.
pub(crate) struct DeclaredTable<T> {
    pub(crate) section: Section,
    pub(crate) value: T,
}

/// The tables that one file declares, each with its place for messages.
pub(crate) struct VocabularyFile {
    pub(crate) areas: Vec<DeclaredTable<AreaTable>>,
    pub(crate) classes: Vec<DeclaredTable<ClassTable>>,
    pub(crate) diets: Vec<DeclaredTable<DietTable>>,
    pub(crate) kinds: Vec<DeclaredTable<KindTable>>,
    pub(crate) properties: Vec<DeclaredTable<PropertyTable>>,
    pub(crate) values: Vec<DeclaredTable<ValueTable>>,
    pub(crate) synonyms: Vec<DeclaredTable<SynonymGroup>>,
    pub(crate) neutral: WordsByLanguage,
    pub(crate) absence: Vec<(String, AbsenceTable)>,
}

/// The keys of the file itself.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileTable {
    /// What it is about, for people.
    #[serde(rename = "about")]
    _about: Option<String>,
    /// The area of its classes that name none.
    class_area: Option<String>,
}

/// `[[area]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AreaTable {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) stated_by: Vec<String>,
    #[serde(default)]
    pub(crate) named_by: Vec<String>,
    #[serde(default)]
    pub(crate) also_read: Vec<String>,
    #[serde(default)]
    pub(crate) promised_by: Vec<String>,
}

/// `[[class]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClassTable {
    pub(crate) id: String,
    pub(crate) area: Option<String>,
    #[serde(default)]
    pub(crate) includes: Vec<String>,
    #[serde(default)]
    pub(crate) all_of: Vec<String>,
    #[serde(default)]
    pub(crate) narrow: bool,
    #[serde(skip)]
    pub(crate) words: Vec<(String, ClassWords)>,
}

/// The words of a class in one language.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClassWords {
    #[serde(default)]
    pub(crate) names: Vec<String>,
    #[serde(default)]
    pub(crate) members: Vec<String>,
    /// What mostly is of the class, where it is part of an item.
    #[serde(default)]
    pub(crate) usually: Vec<String>,
    #[serde(default)]
    pub(crate) exceptions: Vec<String>,
}

/// `[[diet]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DietTable {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) without: Vec<String>,
    #[serde(default)]
    pub(crate) stated_as: Vec<String>,
    #[serde(skip)]
    pub(crate) words: Vec<(String, DietWords)>,
}

/// The words of a diet in one language.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DietWords {
    #[serde(default)]
    pub(crate) names: Vec<String>,
    #[serde(default)]
    pub(crate) promises: Vec<String>,
}

/// `[[kind]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KindTable {
    pub(crate) types: Vec<String>,
    #[serde(skip)]
    pub(crate) words: Vec<(String, NameWords)>,
}

/// `[[property]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PropertyTable {
    pub(crate) id: String,
    pub(crate) paths: Vec<String>,
    #[serde(default)]
    pub(crate) rules_out: bool,
    #[serde(default)]
    pub(crate) named_only: bool,
    #[serde(default)]
    pub(crate) more_will_do: bool,
    #[serde(default)]
    pub(crate) less_will_do: bool,
    #[serde(default)]
    pub(crate) stated_if_so: bool,
    #[serde(skip)]
    pub(crate) words: Vec<(String, PropertyWords)>,
}

/// `[[value]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ValueTable {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) values: Vec<String>,
    #[serde(default)]
    pub(crate) also: Vec<String>,
    pub(crate) ages: Option<(u8, u8)>,
    pub(crate) area: Option<ValueArea>,
    pub(crate) only_of: Option<String>,
    #[serde(skip)]
    pub(crate) words: Vec<(String, NameWords)>,
}

/// The words of a property in one language.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PropertyWords {
    #[serde(default)]
    pub(crate) names: Vec<String>,
    #[serde(default)]
    pub(crate) least: Vec<String>,
    #[serde(default)]
    pub(crate) most: Vec<String>,
    #[serde(default)]
    pub(crate) less: Vec<String>,
    #[serde(default)]
    pub(crate) more: Vec<String>,
    #[serde(default)]
    pub(crate) absent: Vec<String>,
}

/// The names of something in one language.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NameWords {
    #[serde(default)]
    pub(crate) names: Vec<String>,
}

/// `[absence.en]`: how a language says that something is not there.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
pub(crate) struct AbsenceTable {
    /// The word by which absence is said back: "no".
    pub(crate) said: Option<String>,
    /// Words in front of what is absent: "without".
    #[serde(default)]
    pub(crate) before: Vec<String>,
    /// More words in front of a thing by which a text denies it, and which say nothing of what an item is made of:
    /// "never".
    #[serde(default)]
    pub(crate) denies: Vec<String>,
    /// Words that may stand between: "any".
    #[serde(default)]
    pub(crate) between: Vec<String>,
    /// Words behind it: "free".
    #[serde(default)]
    pub(crate) after: Vec<String>,
    /// Ends of words that say it: "less", "frei".
    #[serde(default)]
    pub(crate) endings: Vec<String>,
    /// Words by which several things are absent: "nor".
    #[serde(default)]
    pub(crate) joining: Vec<String>,
    /// Phrases that only look as if they said it: "free range".
    #[serde(default)]
    pub(crate) unless: Vec<String>,
    /// Words beside it by which it is only offered: "gluten-free options".
    #[serde(default)]
    pub(crate) offered: Vec<String>,
}

/// A group of words that mean the same, as a file declares it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SynonymGroup {
    pub(crate) words: WordsByLanguage,
    /// English words of wider groups: whoever asks for a jacket finds rain jackets.
    pub(crate) broader: Vec<String>,
}

impl VocabularyFile {
    /// Reads a file whose name is for messages. Every problem in it is added to `problems`, and what is wrong is
    /// left out.
    pub(crate) fn read(file: &Path, text: &str, problems: &mut Problems) -> Option<Self> {
        let mut root = problems.absorb(Section::parse(file, text, &|_: &str| None))?;
        let areas = root.take_list("area");
        let classes = root.take_list("class");
        let diets = root.take_list("diet");
        let kinds = root.take_list("kind");
        let properties = root.take_list("property");
        let values = root.take_list("value");
        let synonyms = root.take_list("synonym");
        let (neutral, absence) = (root.take("neutral"), root.take("absence"));
        let own: FileTable = problems.absorb(root.read())?;
        let mut read = Self {
            areas: tables(areas, problems),
            classes: with_words(classes, problems, |class: &mut ClassTable, words| class.words = words),
            diets: with_words(diets, problems, |diet: &mut DietTable, words| diet.words = words),
            kinds: with_words(kinds, problems, |kind: &mut KindTable, words| kind.words = words),
            properties: with_words(properties, problems, |property: &mut PropertyTable, words| property.words = words),
            values: with_words(values, problems, |value: &mut ValueTable, words| value.words = words),
            synonyms: synonyms.into_iter().filter_map(|section| synonym(section, problems)).collect(),
            neutral: neutral.map(|section| word_lists(&section, &[], problems)).unwrap_or_default(),
            absence: absence.map(|section| absences(section, problems)).unwrap_or_default(),
        };
        for class in &mut read.classes {
            class.value.area = class.value.area.take().or_else(|| own.class_area.clone());
            check_contradictions(class, problems);
        }
        Some(read)
    }
}

fn tables<T: DeserializeOwned>(sections: Vec<Section>, problems: &mut Problems) -> Vec<DeclaredTable<T>> {
    let read = sections.into_iter().filter_map(|section| {
        let value = problems.absorb(section.read())?;
        Some(DeclaredTable { section, value })
    });
    read.collect()
}

/// The tables of a list that have a table of words for each language.
fn with_words<T: DeserializeOwned, W: DeserializeOwned>(
    sections: Vec<Section>,
    problems: &mut Problems,
    put: impl Fn(&mut T, Vec<(String, W)>),
) -> Vec<DeclaredTable<T>> {
    let read = sections.into_iter().filter_map(|mut section| {
        let words = by_language(&mut section, problems);
        let mut value: T = problems.absorb(section.read())?;
        put(&mut value, words);
        Some(DeclaredTable { section, value })
    });
    read.collect()
}

/// Takes the tables whose keys are languages out of a section. A key that is no key of the section and looks
/// like a language is told from a mistyped one by its length.
fn by_language<W: DeserializeOwned>(section: &mut Section, problems: &mut Problems) -> Vec<(String, W)> {
    let codes: Vec<String> = section.keys().filter(|key| key.len() <= 3 && *key != "id").map(str::to_owned).collect();
    let mut out = Vec::new();
    for code in codes {
        if !LANGUAGES.contains(&code.as_str()) {
            problems.push(unknown_language(section, &code));
            section.take(&code);
            continue;
        }
        let Some(table) = section.take(&code) else { continue };
        check_lists(&table, &code, problems);
        out.extend(problems.absorb(table.read()).map(|words| (code, words)));
    }
    out
}

fn unknown_language(section: &Section, code: &str) -> Problem {
    let problem = section.problem(Some(code), format!("unknown language `{code}`"));
    let known: Vec<String> = LANGUAGES.iter().map(|code| (*code).to_owned()).collect();
    match nearest(code, &known) {
        Some(near) => problem.hint(format!("did you mean `{near}`? Known languages are {}", known.join(", "))),
        None => problem.hint(format!("known languages are {}", known.join(", "))),
    }
}

/// A group of words that mean the same, by language, and words of wider groups.
fn synonym(section: Section, problems: &mut Problems) -> Option<DeclaredTable<SynonymGroup>> {
    check_list(&section, BROADER, "en", problems);
    let mut words = word_lists(&section, &[BROADER], problems);
    let broader = words.remove(BROADER).unwrap_or_default();
    let count = words.values().map(Vec::len).sum::<usize>();
    if count + broader.len() < 2 || count == 0 {
        let message = "a `[[synonym]]` has two words at least, such as `en = [\"sofa\", \"couch\"]`";
        problems.push(section.problem(None, message));
        return None;
    }
    Some(DeclaredTable { section, value: SynonymGroup { words, broader } })
}

/// The key of the English words of groups that are wider than one.
const BROADER: &str = "broader";

/// A table of lists of words, a list for each language and for each of some other keys.
fn word_lists(section: &Section, others: &[&str], problems: &mut Problems) -> WordsByLanguage {
    let is_known = |key: &&str| LANGUAGES.contains(key) || others.contains(key);
    let unknown: Vec<String> = section.keys().filter(|key| !is_known(key)).map(str::to_owned).collect();
    unknown.iter().for_each(|code| problems.push(unknown_language(section, code)));
    for code in LANGUAGES {
        check_list(section, code, code, problems);
    }
    match unknown.is_empty() {
        true => problems.absorb(section.read()).unwrap_or_default(),
        false => WordsByLanguage::new(),
    }
}

fn absences(mut section: Section, problems: &mut Problems) -> Vec<(String, AbsenceTable)> {
    let found = by_language(&mut section, problems);
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}
    problems.absorb(section.read::<Nothing>());
    found
}

/// Every list of a table of words.
fn check_lists(table: &Section, language: &str, problems: &mut Problems) {
    let keys: Vec<String> = table.keys().map(str::to_owned).collect();
    keys.iter().for_each(|key| check_list(table, key, language, problems));
}

/// Whether the words of a list can be compared, and none is there twice.
fn check_list(table: &Section, key: &str, language: &str, problems: &mut Problems) {
    let Some(words) = table.texts(key) else { return };
    if words.len() > LIST_WORDS_MAX {
        problems.push(table.problem(Some(key), format!("`{key}` has more than {LIST_WORDS_MAX} words")));
        return;
    }
    let mut seen = std::collections::HashMap::new();
    for (at, word) in words.iter().enumerate() {
        let plain = compared(word, language);
        let count = plain.split(' ').count();
        let fault = match () {
            // Without letters there is nothing that it could be compared by.
            () if plain.is_empty() => Some(format!("`{word}` has no letters")),
            () if word.chars().count() > PHRASE_CHARS_MAX => {
                Some(format!("a phrase has at most {PHRASE_CHARS_MAX} characters"))
            }
            () if count > PHRASE_WORDS_MAX => Some(format!("a phrase has at most {PHRASE_WORDS_MAX} words")),
            () => {
                let before: Option<&str> = seen.insert(plain, word);
                before.map(|before| match before == *word {
                    true => format!("`{word}` is there twice"),
                    false => format!("`{word}` and `{before}` count as the same word: one of them is enough"),
                })
            }
        };
        if let Some(message) = fault {
            problems.push(table.item_problem(key, at, message));
        }
    }
}

/// No phrase is a member of a class and an exception from it.
fn check_contradictions(class: &DeclaredTable<ClassTable>, problems: &mut Problems) {
    for (code, words) in &class.value.words {
        let members: std::collections::HashSet<String> =
            words.members.iter().chain(&words.usually).chain(&words.names).map(|word| compared(word, code)).collect();
        for word in words.exceptions.iter().filter(|word| members.contains(&compared(word, code))) {
            let message =
                format!("`{word}` is a member of the class `{}` and an exception from it ({code})", class.value.id);
            problems.push(class.section.problem(None, message));
        }
    }
}
