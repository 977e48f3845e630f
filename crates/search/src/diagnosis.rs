//! Why an item is found for a question, or is not, and what a question would have to be to find it.

use forecourt_agents::backend::{DiagnosedItem, FoundItem, ItemDiagnosis, LimitCheck, QuestionWay};
use forecourt_index::{Diagnosis, Error, Library, LimitVerdict, Query};
use forecourt_loaders::SourceFile;
use serde_json::Value;

use crate::limits::{DIAGNOSED_FIRST, DIAGNOSED_NEAREST};

/// What a question comes to for what goes by `name`. `query`: the question as it is asked of the index; `files`: what
/// the index is made from.
pub(super) fn diagnose(
    library: &Library,
    query: &Query,
    name: &str,
    files: &[SourceFile],
) -> Result<ItemDiagnosis, Error> {
    let first = library.search(&Query { limit: DIAGNOSED_FIRST, items_only: true, ..query.clone() })?;
    let first = first.into_iter().map(|hit| FoundItem { id: hit.id, name: hit.name, score: hit.score }).collect();
    let (id, nearest) = named(library, name)?;
    let item = match id {
        Some(id) => library.diagnose(query, &id)?.map(|found| item(library, query, id, found, files)).transpose()?,
        None => None,
    };
    Ok(ItemDiagnosis { text: query.text.clone(), nearest, first, item, ..ItemDiagnosis::default() })
}

/// What goes by a name: its id, else ids and names of what is called almost so.
type NamedItem = (Option<String>, Vec<(String, String)>);

/// The id of what goes by a name: an id, a link, or what it is called; else what is called almost so.
fn named(library: &Library, name: &str) -> Result<NamedItem, Error> {
    if let Some(id) = library.named_ids(&[name.to_owned()])?.ids.into_iter().next() {
        return Ok((Some(id), Vec::new()));
    }
    let hits = library.search(&Query { limit: DIAGNOSED_NEAREST, items_only: true, ..Query::new(name) })?;
    let wanted = name.trim().to_lowercase();
    let is_it = |hit: &&forecourt_index::Hit| {
        hit.name.trim().to_lowercase() == wanted || hit.url.as_deref() == Some(name.trim())
    };
    match hits.iter().find(is_it) {
        Some(hit) => Ok((Some(hit.id.clone()), Vec::new())),
        None => Ok((None, hits.into_iter().map(|hit| (hit.id, hit.name)).collect())),
    }
}

fn item(
    library: &Library,
    query: &Query,
    id: String,
    found: Diagnosis,
    files: &[SourceFile],
) -> Result<DiagnosedItem, Error> {
    let file = files.iter().find(|file| file.origin() == found.origin);
    let mut said = String::new();
    texts(&found.item, &mut said);
    let coverage = library.word_coverage(&query.text, &found.name, &said);
    let lacks = coverage.into_iter().filter(|word| !word.in_heading && !word.in_text).map(|word| word.word).collect();
    let ways = ways(library, query, &id, &found)?;
    let check = |limit: LimitVerdict| LimitCheck {
        limit: limit.words,
        properties: limit.fields,
        values: limit.values,
        passes: limit.passes,
    };
    Ok(DiagnosedItem {
        id,
        name: found.name,
        url: found.url,
        source: file.map(|file| file.path.display().to_string()),
        written_at: file.map(SourceFile::written_at),
        limits: found.limits.into_iter().map(check).collect(),
        matched: found.terms,
        lacks,
        rank: found.rank,
        score: found.score,
        ways,
    })
}

/// The place of an item for questions that ask a little less, or for nothing but it.
fn ways(library: &Library, query: &Query, id: &str, found: &Diagnosis) -> Result<Vec<QuestionWay>, Error> {
    let way = |asks: String, query: Query| -> Result<QuestionWay, Error> {
        Ok(QuestionWay { asks, rank: library.diagnose(&query, id)?.and_then(|found| found.rank) })
    };
    let mut all = Vec::new();
    let broken: Vec<usize> = (0..found.limits.len()).filter(|at| !found.limits[*at].passes).collect();
    if let [at] = broken[..] {
        let mut filters = query.filters.clone();
        filters.remove(at);
        all.push(way(format!("without “{}”", found.limits[at].words), Query { filters, ..query.clone() })?);
    }
    if broken.len() > 1 {
        let kept = query.filters.iter().zip(&found.limits).filter(|(_, limit)| limit.passes);
        let filters = kept.map(|(filter, _)| filter.clone()).collect();
        all.push(way("without the limits that it breaks".to_owned(), Query { filters, ..query.clone() })?);
    }
    if !query.filters.is_empty() && !query.text.trim().is_empty() {
        all.push(way("by the limits alone".to_owned(), Query { text: String::new(), ..query.clone() })?);
        all.push(way(format!("“{}” alone", query.text.trim()), Query { filters: Vec::new(), ..query.clone() })?);
    }
    let name = found.name.clone();
    all.push(way(
        format!("its name, “{name}”"),
        Query { text: name, filters: Vec::new(), order: None, ..query.clone() },
    )?);
    Ok(all)
}

/// All texts of an item, one after another.
fn texts(value: &Value, into: &mut String) {
    match value {
        Value::String(text) => {
            into.push_str(text);
            into.push(' ');
        }
        Value::Array(all) => all.iter().for_each(|one| texts(one, into)),
        Value::Object(all) => all.values().for_each(|one| texts(one, into)),
        _ => {}
    }
}
