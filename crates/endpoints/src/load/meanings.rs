//! Reads the one file that holds a deployment's corrections of meanings.

use std::path::Path;
use std::sync::Arc;

use forecourt_contract::{Meanings, meaning};
use forecourt_settings::{Environment, Problems, Section, files};

/// What the file is called.
const NAME: &str = "meanings.toml";

/// Reads the corrections that are fine.
pub(super) fn load(folder: &Path, environment: &dyn Environment, refused: &mut Problems) -> Arc<Meanings> {
    let file = folder.join(NAME);
    if !file.exists() {
        return Arc::default();
    }
    let section = files::text_of(&file).map_err(Problems::from);
    let section = section.and_then(|text| Section::parse(&file, &text, environment));
    let Some(section) = refused.absorb(section) else { return Arc::default() };
    let (meanings, problems) = meaning::read(section);
    refused.extend(problems);
    Arc::new(meanings)
}
