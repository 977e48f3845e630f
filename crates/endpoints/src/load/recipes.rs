//! Reads the one file that holds a deployment's recipes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_contract::{RecipeBook, recipe};
use forecourt_settings::{Environment, Problem, Problems, Section, files};

use super::{FOLDER, RegistrationTerms};

/// What the file may be called.
const NAMES: [&str; 2] = ["recipes.toml", "agtp-recipes.toml"];

/// Whether a file among the endpoints is the one of recipes.
pub(super) fn is_named_so(file: &Path) -> bool {
    NAMES.iter().any(|name| file.file_name().is_some_and(|found| found == *name))
}

/// Reads the recipes that are fine. Of several files the first counts: two would hide which of their
/// recipes answers first.
pub(super) fn load(
    folder: &Path,
    terms: &RegistrationTerms,
    environment: &dyn Environment,
    refused: &mut Problems,
) -> Arc<RecipeBook> {
    let mut there = places(folder).into_iter().filter(|file| file.exists());
    let Some(file) = there.next() else { return Arc::default() };
    refused.extend(there.map(|other| {
        let message = format!("recipes-twice: the recipes are read from {}", file.display());
        Problem::of_file(&other, message).hint("put all recipes into one file")
    }));
    let section = files::text_of(&file).map_err(Problems::from);
    let section = section.and_then(|text| Section::parse(&file, &text, environment));
    let Some(section) = refused.absorb(section) else { return Arc::default() };
    let (book, problems) = recipe::read(section, &terms.catalog, &terms.policy);
    refused.extend(problems);
    Arc::new(book)
}

fn places(folder: &Path) -> [PathBuf; 4] {
    let [plain, prefixed] = NAMES;
    let inside = folder.join(FOLDER);
    [folder.join(plain), inside.join(plain), folder.join(prefixed), inside.join(prefixed)]
}
