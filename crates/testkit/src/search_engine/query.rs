//! Searches of the double: what is no part of the query language is refused.

use axum::http::StatusCode;
use serde_json::{Map, Value, json};

use super::score::{Corpus, FoundDocument, numbers};

/// A status, the type of an error and its reason.
pub(super) type Refusal = (StatusCode, &'static str, String);

pub(super) fn refuse(kind: &'static str, reason: String) -> Refusal {
    (StatusCode::BAD_REQUEST, kind, reason)
}

/// Refuses a key that is none of these.
pub(super) fn known_keys(value: &Value, known: &[&str]) -> Result<(), Refusal> {
    let unknown = value.as_object().into_iter().flatten().find(|(key, _)| !known.contains(&key.as_str()));
    match unknown {
        Some((key, _)) => Err(refuse("parsing_exception", format!("unknown key [{key}]"))),
        None => Ok(()),
    }
}

/// The answer to a search.
pub(super) fn search(body: &Value, corpus: &Corpus, mappings: &Value, window: usize) -> Result<Value, Refusal> {
    known_keys(body, &["size", "query", "sort", "track_total_hits", "_source", "search_after"])?;
    let size = body["size"].as_u64().unwrap_or(10) as usize;
    if size > window {
        return Err(refuse("illegal_argument_exception", format!("Result window is too large: {size} > {window}")));
    }
    let searched = Searched { corpus, mappings };
    let mut hits: Vec<(f64, &Value)> = Vec::new();
    for document in &corpus.documents {
        if let Some(score) = searched.score(&body["query"], document)? {
            hits.push((score, &document.source));
        }
    }
    let total = hits.len();
    sort(&mut hits, &body["sort"])?;
    if let Some(after) = body["search_after"][0].as_str() {
        hits.retain(|(_, document)| document["key"].as_str().is_some_and(|key| key > after));
    }
    let wanted: Vec<&str> = body["_source"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let source = |document: &Value| -> Value {
        let fields = document.as_object().into_iter().flatten().filter(|(name, _)| wanted.contains(&name.as_str()));
        fields.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>().into()
    };
    let found: Vec<Value> =
        hits.iter().take(size).map(|(score, document)| json!({"_score": score, "_source": source(document)})).collect();
    let mut answer = json!({"timed_out": false, "_shards": {"total": 1, "failed": 0}, "hits": {"hits": found}});
    match &body["track_total_hits"] {
        Value::Bool(false) => {}
        Value::Bool(true) => answer["hits"]["total"] = json!({"value": total, "relation": "eq"}),
        most => {
            let most = most.as_u64().ok_or_else(|| refuse("parsing_exception", "track_total_hits".to_owned()))?;
            answer["hits"]["total"] = json!({"value": total.min(most as usize), "relation": "gte"});
        }
    }
    Ok(answer)
}

struct Searched<'a> {
    corpus: &'a Corpus,
    mappings: &'a Value,
}

impl Searched<'_> {
    /// What a document scores. `None`: it is not found.
    fn score(&self, query: &Value, document: &FoundDocument) -> Result<Option<f64>, Refusal> {
        let clause = query.as_object().filter(|clause| clause.len() == 1).and_then(|clause| clause.iter().next());
        let Some((kind, body)) = clause else {
            return Err(refuse("parsing_exception", format!("a query has one type: {query}")));
        };
        let one = |params: &[&str]| self.one_field(body, params);
        Ok(match kind.as_str() {
            "match_all" => Some(1.0),
            "match_none" => None,
            "term" => {
                let (field, params) = one(&["value", "boost"])?;
                let boost = params["boost"].as_f64().unwrap_or(1.0);
                self.corpus
                    .term(&field, params["value"].as_str().unwrap_or_default(), document)
                    .map(|score| score * boost)
            }
            "terms" => {
                let (field, terms) = one(&[])?;
                let mut terms = terms.as_array().into_iter().flatten().filter_map(Value::as_str);
                terms.any(|term| self.corpus.term(&field, term, document).is_some()).then_some(1.0)
            }
            "prefix" => {
                let (field, params) = one(&["value"])?;
                self.corpus.any(&field, document, |term| term.starts_with(params["value"].as_str().unwrap_or("\0")))
            }
            "fuzzy" => {
                let (field, params) = one(&["value", "fuzziness", "prefix_length"])?;
                let value = params["value"].as_str().unwrap_or_default();
                let most = match value.chars().count() {
                    0..5 => 0,
                    5..7 => 1,
                    _ => 2,
                };
                self.corpus.any(&field, document, |term| are_near(value, term, most))
            }
            "range" => {
                let (field, params) = one(&["gte", "lte"])?;
                let from = params["gte"].as_f64().unwrap_or(f64::MIN);
                let to = params["lte"].as_f64().unwrap_or(f64::MAX);
                numbers(&document.source, &field).iter().any(|number| (from..=to).contains(number)).then_some(1.0)
            }
            "exists" => {
                known_keys(body, &["field"])?;
                let field = body["field"].as_str().unwrap_or_default();
                let is_there = !document.source[field].is_null();
                (is_there || !numbers(&document.source, field).is_empty()).then_some(1.0)
            }
            "bool" => self.boolean(body, document)?,
            other => return Err(refuse("parsing_exception", format!("unknown query [{other}]"))),
        })
    }

    fn boolean(&self, body: &Value, document: &FoundDocument) -> Result<Option<f64>, Refusal> {
        known_keys(body, &["filter", "should", "must_not", "minimum_should_match"])?;
        let clauses = |name: &str| body[name].as_array().into_iter().flatten();
        for clause in clauses("filter") {
            if self.score(clause, document)?.is_none() {
                return Ok(None);
            }
        }
        for clause in clauses("must_not") {
            if self.score(clause, document)?.is_some() {
                return Ok(None);
            }
        }
        let (mut matched, mut sum) = (0, 0.0);
        for clause in clauses("should") {
            if let Some(score) = self.score(clause, document)? {
                matched += 1;
                sum += score;
            }
        }
        Ok((matched >= body["minimum_should_match"].as_u64().unwrap_or(0)).then_some(sum))
    }

    /// The field of a query of one, which the mapping has, and its parameters, which are none but these.
    fn one_field(&self, body: &Value, params: &[&str]) -> Result<(String, Value), Refusal> {
        let only = body.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.iter().next());
        let Some((field, value)) = only else { return Err(refuse("parsing_exception", format!("one field: {body}"))) };
        known_keys(value, params)?;
        let root = field.split('.').next().unwrap_or_default();
        let known = &self.mappings["properties"][root];
        if known.is_null() || known["index"] == false {
            return Err(refuse("query_shard_exception", format!("Cannot search on field [{field}]")));
        }
        Ok((field.clone(), value.clone()))
    }
}

/// Puts hits in the order of `sort`: a list of fields, each with its direction.
fn sort(hits: &mut [(f64, &Value)], by: &Value) -> Result<(), Refusal> {
    for level in by.as_array().into_iter().flatten().rev() {
        let only = level.as_object().and_then(|fields| fields.iter().next());
        let Some((field, params)) = only else { return Err(refuse("parsing_exception", "sort".to_owned())) };
        known_keys(params, &["order", "missing", "unmapped_type"])?;
        let descends = params["order"] == "desc";
        let sign = if descends { -1.0 } else { 1.0 };
        match field.as_str() {
            "_score" => hits.sort_by(|a, b| (sign * a.0).total_cmp(&(sign * b.0))),
            "key" => hits.sort_by(|a, b| a.1["key"].as_str().cmp(&b.1["key"].as_str())),
            path => {
                let value = |document: &Value| {
                    let all = numbers(document, path).into_iter().map(|number| sign * number);
                    all.reduce(f64::min).unwrap_or(f64::MAX)
                };
                hits.sort_by(|a, b| value(a.1).total_cmp(&value(b.1)));
            }
        }
    }
    Ok(())
}

/// Whether two words are at most so many errors apart: letters changed, added, left out, or two that changed places.
fn are_near(a: &str, b: &str, most: usize) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = match (i, j) {
                (0, _) | (_, 0) => i + j,
                _ => {
                    let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let least = changed.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    let swaps = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                    if swaps { least.min(rows[i - 2][j - 2] + 1) } else { least }
                }
            };
        }
    }
    rows[a.len()][b.len()] <= most
}
