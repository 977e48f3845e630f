//! The keys of a `search` backend, and those about content that other backends share.

use std::collections::BTreeMap;
use std::path::PathBuf;

use forecourt_content::{Options, Source};
use forecourt_core::Language;
use forecourt_settings::{Problems, Section};
use schemars::JsonSchema;
use serde::Deserialize;

use super::shelf::Shelf;
use crate::backend::Context;
use crate::limits::{CONTENT_SOURCES_MAX, RESULTS_MAX};
use crate::settings::count;

/// The section of a `search` backend.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchSettings {
    /// `"search"`.
    #[serde(rename = "kind")]
    _kind: String,
    /// Files and folders to answer from, relative to the deployment: JSON Lines, JSON, JSON-LD, CSV,
    /// RSS, Atom and Markdown. `builtin:manual` is the program's own manual.
    content: Vec<String>,
    /// The public URL of an entry of `content`, for items that have none of their own, such as
    /// `{ "content/docs" = "https://example.com/docs/" }`.
    #[serde(default)]
    urls: BTreeMap<String, String>,
    /// A folder with an embedding model, `tokenizer.json` and a `.safetensors` matrix: search then
    /// goes by meaning as well as by words.
    model_dir: Option<PathBuf>,
    /// The language of items and questions that do not say theirs. Without it, that of the agent.
    #[schemars(with = "Option<String>")]
    language: Option<Language>,
    /// What several items are called in answers.
    #[serde(default = "noun")]
    pub(super) noun: String,
    /// Items of one answer, 1 to 50.
    #[serde(default = "results")]
    pub(super) results: usize,
}

fn noun() -> String {
    "results".to_owned()
}

fn results() -> usize {
    10
}

/// Reads and checks the section. Whether the content is there is found out when it is indexed.
pub(super) fn read(section: &Section, context: &Context) -> Result<(SearchSettings, Shelf), Problems> {
    let settings: SearchSettings = section.read()?;
    let mut problems = Problems::new();
    count(section, "results", settings.results, 1, RESULTS_MAX, &mut problems);
    if settings.noun.trim().is_empty() || settings.noun.chars().any(char::is_control) {
        problems.push(section.problem(Some("noun"), "`noun` is a word or two, such as `recipes`"));
    }
    let language = settings.language.clone().unwrap_or_else(|| context.language.clone());
    let model = settings.model_dir.as_ref().map(|dir| context.resolve(dir));
    let sources = sources(section, &settings.content, &settings.urls, context, &mut problems);
    let shelf = Shelf::new(context, sources, Options { language: Some(language), model });
    problems.into_result((settings, shelf))
}

/// The sources that `content` and `urls` name.
pub(crate) fn sources(
    section: &Section,
    content: &[String],
    urls: &BTreeMap<String, String>,
    context: &Context,
    problems: &mut Problems,
) -> Vec<Source> {
    count(section, "content", content.len(), 1, CONTENT_SOURCES_MAX, problems);
    for (name, url) in urls {
        let message = if !content.contains(name) {
            format!("`urls` names `{name}`, which is not in `content`")
        } else if !url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https")) {
            format!("the URL of `{name}` must begin with https://")
        } else {
            continue;
        };
        problems.push(section.problem(Some("urls"), message));
    }
    content.iter().filter_map(|name| source(section, name, urls, context, problems)).collect()
}

fn source(
    section: &Section,
    name: &str,
    urls: &BTreeMap<String, String>,
    context: &Context,
    problems: &mut Problems,
) -> Option<Source> {
    let path = match name.strip_prefix("builtin:") {
        None => Some(context.resolve(name)),
        Some(builtin) => context.builtin.iter().find(|(name, _)| name == builtin).map(|(_, path)| path.clone()),
    };
    let Some(path) = path else {
        let known: Vec<String> = context.builtin.iter().map(|(name, _)| format!("builtin:{name}")).collect();
        let problem = section.problem(Some("content"), format!("there is no `{name}`"));
        problems.push(problem.hint(format!("built in: {}", known.join(", "))));
        return None;
    };
    Some(Source { path, url: urls.get(name).cloned() })
}
