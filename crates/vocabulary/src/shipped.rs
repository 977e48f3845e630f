//! What comes with the program, and the files of a deployment.
//!
//! The files in `data/` are read, checked and put together by a test, which writes down what they come to; a program
//! that starts reads that. After a change of the files: `WRITE_SHIPPED=1 cargo nextest run -p forecourt-vocabulary
//! shipped`.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use forecourt_settings::{Problems, files};
use serde::Deserialize;

use crate::build::Builder;
use crate::class::{Area, Class, Diet, ItemKind, ItemProperty, ItemValue, WordsByLanguage};
use crate::file::AbsenceTable;
use crate::limits::FILES_MAX;
use crate::vocabulary::Vocabulary;

/// What the files come to.
const SHIPPED: &str = include_str!("../data/shipped.json");

static SHIPPED_VOCABULARY: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| {
    // A test holds it against the files.
    Arc::new(shipped().build().unwrap_or_else(|problems| panic!("{problems}")))
});

/// The lists of a vocabulary, from which everything else is made.
#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct ShippedLists {
    areas: Vec<Area>,
    classes: Vec<Class>,
    diets: Vec<Diet>,
    kinds: Vec<ItemKind>,
    properties: Vec<ItemProperty>,
    values: Vec<ItemValue>,
    neutral: WordsByLanguage,
    absence: Vec<(String, AbsenceTable)>,
    revision: u64,
}

fn shipped() -> Builder {
    let lists: ShippedLists = serde_json::from_str(SHIPPED).unwrap_or_else(|error| panic!("vocabulary: {error}"));
    let ShippedLists { areas, classes, diets, kinds, properties, values, neutral, absence, revision } = lists;
    Builder::with(Vocabulary {
        areas,
        classes,
        diets,
        kinds,
        properties,
        values,
        neutral,
        absence,
        revision,
        ..Vocabulary::default()
    })
}

impl Vocabulary {
    /// The folder of a deployment's own files.
    pub const FOLDER: &'static str = "vocabulary";

    /// What comes with the program.
    pub fn shipped() -> Arc<Self> {
        Arc::clone(&SHIPPED_VOCABULARY)
    }

    /// What comes with the program, with what the files `vocabulary/*.toml` of a deployment add and override.
    ///
    /// # Errors
    /// Everything that is wrong in these files, with file and line.
    pub fn of_deployment(folder: &Path) -> Result<Arc<Self>, Problems> {
        let mut problems = Problems::new();
        let found = problems.absorb(files::files_in(&folder.join(Self::FOLDER), FILES_MAX)).unwrap_or_default();
        let texts: Vec<_> =
            found.iter().filter_map(|file| Some((file, problems.absorb(files::text_of(file))?))).collect();
        // The shared one: without files of its own a deployment needs no second copy.
        if problems.is_empty() && texts.is_empty() {
            return Ok(Self::shipped());
        }
        let mut builder = shipped();
        for (file, text) in &texts {
            builder.read(file, text);
        }
        let built = problems.absorb(builder.build());
        problems.into_result(built).map(|built| Arc::new(built.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde::Serialize;

    use super::*;
    use crate::conversation::{ConversationFile, WrittenPhrases};
    use crate::language::LanguageFile;
    use crate::synonym_table::tests::written;
    use crate::synonym_table::text_of;
    use crate::words::LANGUAGES;

    /// The files of the vocabulary, in the order in which they are read.
    const FILES: [&str; 11] = [
        "countries",
        "absence",
        "food-allergens",
        "food-drink",
        "food-meat",
        "food-plants",
        "food-neutral",
        "general",
        "products",
        "properties",
        "synonyms",
    ];

    fn data(file: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(file)
    }

    fn text(file: &str) -> String {
        std::fs::read_to_string(data(file)).unwrap()
    }

    /// Holds what is written down against what it should be, or writes it down.
    fn hold(file: &str, lists: &impl Serialize) {
        hold_bytes(file, format!("{}\n", serde_json::to_string(lists).unwrap()).as_bytes());
    }

    fn hold_bytes(file: &str, wanted: &[u8]) {
        if std::env::var_os("WRITE_SHIPPED").is_some() {
            std::fs::write(data(file), wanted).unwrap();
        } else {
            let is_same = std::fs::read(data(file)).unwrap() == wanted;
            assert!(is_same, "data/{file} is of other files: see the head of src/shipped.rs");
        }
    }

    /// The same of lines that are compressed: other versions of the library may do so otherwise.
    fn hold_lines(wanted: &str) {
        const LEVEL: i32 = 19;
        let file = data("shipped-synonyms.zst");
        if std::env::var_os("WRITE_SHIPPED").is_some() {
            std::fs::write(file, zstd::encode_all(wanted.as_bytes(), LEVEL).unwrap()).unwrap();
        } else {
            let is_same = text_of(&std::fs::read(file).unwrap()).as_deref() == Some(wanted);
            assert!(is_same, "data/shipped-synonyms.zst is of other files: see the head of src/shipped.rs");
        }
    }

    /// The files of synonyms by field, in their order.
    fn subject_files() -> Vec<String> {
        let folder = std::fs::read_dir(data("subjects")).unwrap();
        let mut names: Vec<String> = folder.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names.iter().map(|name| format!("subjects/{}", name.strip_suffix(".toml").unwrap())).collect()
    }

    #[test]
    fn what_is_shipped_is_what_the_files_come_to() {
        let mut builder = Builder::default();
        let mut groups = Vec::new();
        for name in FILES.map(str::to_owned).into_iter().chain(subject_files()) {
            builder.read(Path::new(&format!("shipped/{name}.toml")), &text(&format!("{name}.toml")));
            groups.extend(builder.synonyms.drain(..).map(|group| (name.clone(), group.value)));
        }
        let built = builder.build().unwrap_or_else(|problems| panic!("{problems}"));
        let Vocabulary { areas, classes, diets, kinds, properties, values, neutral, absence, revision, .. } = built;
        hold(
            "shipped.json",
            &ShippedLists { areas, classes, diets, kinds, properties, values, neutral, absence, revision },
        );
        let groups: Vec<_> = groups.iter().map(|(file, group)| (file.as_str(), group.clone())).collect();
        let (lines, keys) = written(&groups);
        hold_lines(&lines);
        hold_bytes("shipped-synonyms.keys", &keys);
    }

    #[test]
    fn the_words_of_questions_that_are_shipped_are_those_of_the_files() {
        let read = |code: &str| -> LanguageFile {
            toml::from_str(&text(&format!("languages/{code}.toml"))).unwrap_or_else(|error| panic!("{code}: {error}"))
        };
        hold("languages.json", &LANGUAGES.map(read));
    }

    #[test]
    fn the_phrases_of_conversations_that_are_shipped_are_those_of_the_files() {
        let read = |code: &str| -> ConversationFile {
            let name = format!("languages/{code}-conversation.toml");
            toml::from_str(&text(&name)).unwrap_or_else(|error| panic!("{name}: {error}"))
        };
        hold("conversation.json", &WrittenPhrases::of(LANGUAGES.map(read).into()));
    }
}
