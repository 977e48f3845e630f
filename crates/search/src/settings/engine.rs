//! The engine outside that keeps the items of an agent.

use std::collections::BTreeMap;
use std::sync::Arc;

use forecourt_agents::backend::Context;
use forecourt_agents::settings::{count, fields, upstream_url};
use forecourt_engines::{OpenSearch, OpenSearchOptions, PostgresEngine, is_table_name};
use forecourt_index::EngineOptions;
use forecourt_retrieval::Retriever;
use forecourt_retrieval::limits::{CANDIDATES, CANDIDATES_MAX, CANDIDATES_MIN};
use forecourt_settings::{Problems, Section};
use schemars::JsonSchema;
use serde::Deserialize;

/// An engine outside that keeps the items and gives candidates for each question; limits, order and answers are made here
/// all the same.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EngineSettings {
    /// What it is.
    kind: EngineKind,
    /// Where it is: for PostgreSQL `postgres://USER:PASSWORD@HOST:5432/DATABASE?sslmode=verify-full`, for the others an
    /// `https://` URL without a password.
    url: String,
    /// The table, or the index: small letters, digits and `_`, at most 40 of them, a letter first. Tables beside it begin
    /// with the same. Without it, `forecourt_` and the handle of the agent.
    name: Option<String>,
    /// Fields of each request to OpenSearch or Elasticsearch, such as `Authorization`.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Candidates that are asked for, 100 to 1,000.
    #[serde(default = "candidates")]
    candidates: usize,
}

/// What keeps the items.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum EngineKind {
    /// PostgreSQL 15 or later, with its own text search and, for misspelled words, the extension `pg_trgm`.
    Postgresql,
    /// OpenSearch 1 or later, or Elasticsearch 7 or later.
    Opensearch,
}

fn candidates() -> usize {
    CANDIDATES
}

/// Reads and checks the section `[backend.engine]`. Asks nobody.
///
/// # Errors
/// What is wrong in it, with the line of each.
pub(crate) fn read(section: &Section, context: &Context) -> Result<EngineOptions, Problems> {
    let settings: EngineSettings = section.read()?;
    let mut problems = Problems::new();
    count(section, "candidates", settings.candidates, CANDIDATES_MIN, CANDIDATES_MAX, &mut problems);
    let name = settings.name.unwrap_or_else(|| usual_name(context.handle.as_str()));
    if !is_table_name(&name) {
        let message =
            format!("`{name}` is no name of a table or an index: small letters, digits and `_`, a letter first");
        problems.push(section.problem(Some("name"), message));
    }
    let engine: Option<(Arc<dyn Retriever>, String)> = match settings.kind {
        EngineKind::Postgresql => {
            if !settings.headers.is_empty() {
                let problem = section.problem(Some("headers"), "PostgreSQL takes no `headers`");
                problems.push(problem.hint("the name and the password are part of `url`, as in \"${SEARCH_URL}\""));
            }
            match PostgresEngine::new(&settings.url, &name) {
                Ok(engine) => {
                    let place = engine.place();
                    Some((Arc::new(engine), place))
                }
                Err(error) => {
                    problems.push(section.problem(Some("url"), error.to_string()));
                    None
                }
            }
        }
        EngineKind::Opensearch => {
            upstream_url(section, "url", &settings.url, &mut problems);
            let headers = fields(section, &settings.headers, &mut problems);
            let (egress, clock, url) = (context.egress.clone(), context.clock.clone(), settings.url);
            let engine = OpenSearch::new(OpenSearchOptions { egress, url, index: name, headers, clock });
            let place = engine.place();
            Some((Arc::new(engine), place))
        }
    };
    let candidates = settings.candidates;
    problems.into_result(())?;
    match engine {
        Some((retriever, place)) => Ok(EngineOptions { retriever, place, candidates, clock: context.clock.clone() }),
        None => Err(Problems::new()),
    }
}

/// The name of the table or the index of an agent of which none is said.
fn usual_name(handle: &str) -> String {
    let fine = |character: char| if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '_' };
    let name: String = "forecourt_".chars().chain(handle.chars().map(fine)).collect();
    name.chars().take(forecourt_engines::limits::NAME_BYTES_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_handle_makes_a_name() {
        for handle in ["shop", "shop-2.de", &"a".repeat(64)] {
            assert!(is_table_name(&usual_name(handle)), "{}", usual_name(handle));
        }
        assert_eq!(usual_name("shop-2"), "forecourt_shop_2");
    }
}
