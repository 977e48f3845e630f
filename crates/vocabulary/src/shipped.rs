//! The files that come with the program, and those of a deployment.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use forecourt_settings::{Problems, files};

use crate::build::Builder;
use crate::limits::FILES_MAX;
use crate::vocabulary::Vocabulary;

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$((concat!("shipped/", $name), include_str!(concat!("../data/", $name)))),*]
    };
}

/// Their names, for messages, and their texts.
const SHIPPED: &[(&str, &str)] = files![
    "absence.toml",
    "food-allergens.toml",
    "food-drink.toml",
    "food-meat.toml",
    "food-plants.toml",
    "food-neutral.toml",
    "general.toml",
    "products.toml",
    "synonyms.toml",
];

static SHIPPED_VOCABULARY: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| {
    let mut builder = Builder::default();
    add_shipped(&mut builder);
    let built = builder.build();
    // The tests read every file that is shipped.
    Arc::new(built.unwrap_or_else(|problems| panic!("{problems}")))
});

fn add_shipped(builder: &mut Builder) {
    SHIPPED.iter().for_each(|(name, text)| builder.read(Path::new(name), text));
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
        if problems.is_empty() && texts.is_empty() {
            return Ok(Self::shipped());
        }
        let mut builder = Builder::default();
        add_shipped(&mut builder);
        for (file, text) in &texts {
            builder.read(file, text);
        }
        let built = problems.absorb(builder.build());
        problems.into_result(built).map(|built| Arc::new(built.unwrap_or_default()))
    }
}
