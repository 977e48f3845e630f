//! The index of one agent in the engine.

use forecourt_retrieval::limits::ENTRIES_READ;
use forecourt_retrieval::{
    Candidate, CandidateQuery, Candidates, Change, EngineState, Predicate, RetrievalError, ScoredTerm, StoredEntry,
};
use futures::future::try_join;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::attempts::Attempts;
use super::bulk;
use super::exchange::{Body, Exchange};
use super::frequencies::{Frequencies, counted, searches};
use super::query::{counting, items, key_text, search};
use crate::limits::INDEX_FIELDS_MAX;

/// Raised whenever the mapping changes.
const MAPPING_VERSION: u64 = 1;
/// The oldest versions that are known to do.
const ELASTICSEARCH_MIN: u64 = 7;
const OPENSEARCH_MIN: u64 = 1;

type Result<T> = std::result::Result<T, RetrievalError>;

/// The id of the document that has the summary in place of an item. It has no `key`, by which questions pass it over.
const SUMMARY: &str = "summary";

/// The summary, and the version of its document.
struct KeptSummary {
    text: String,
    sequence: u64,
    term: u64,
}

/// An index, by its name.
pub(super) struct SearchIndex {
    pub(super) exchange: Exchange,
    pub(super) name: String,
    pub(super) frequencies: Frequencies,
}

impl SearchIndex {
    async fn ask(&self, method: Method, path: &str, body: Body<'_>) -> Result<Value> {
        self.exchange.send(method, path, body).await?.success()
    }

    /// What it is, and whether it will do.
    pub(super) async fn state(&self) -> Result<EngineState> {
        let about = self.ask(Method::GET, "/", Body::None).await?;
        let version = &about["version"];
        let Some(number) = version["number"].as_str() else {
            return Err(RetrievalError::Refused(
                "what answers there is no search engine: it tells no version".to_owned(),
            ));
        };
        let is_opensearch = version["distribution"] == "opensearch";
        let (name, least) =
            if is_opensearch { ("OpenSearch", OPENSEARCH_MIN) } else { ("Elasticsearch", ELASTICSEARCH_MIN) };
        let major: u64 = number.split('.').next().and_then(|major| major.parse().ok()).unwrap_or_default();
        if major < least {
            return Err(RetrievalError::Refused(format!(
                "it is {name} {number}, and {least} is the oldest that will do"
            )));
        }
        self.meta().await?;
        Ok(EngineState { name: format!("{name} {number}"), notices: Vec::new() })
    }

    /// Makes the index where there is none.
    pub(super) async fn prepare(&self) -> Result<()> {
        if self.meta().await?.is_some() {
            return Ok(());
        }
        let body = definition();
        let answer = self.exchange.send(Method::PUT, &format!("/{}", self.name), Body::Json(&body)).await?;
        // Of two nodes that make it at once, the second finds it made.
        if answer.status == StatusCode::BAD_REQUEST && self.meta().await?.is_some() {
            return Ok(());
        }
        answer.success().map(drop)
    }

    /// What we said of the index. `None`: there is no index.
    async fn meta(&self) -> Result<Option<Value>> {
        let answer = self.exchange.send(Method::GET, &format!("/{}/_mapping", self.name), Body::None).await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let mut body = answer.success()?;
        // By the name of the index, which is another one than ours where ours is an alias.
        let mapping = body.as_object_mut().and_then(|indexes| indexes.values_mut().next()).map(Value::take);
        let meta = mapping.unwrap_or_default()["mappings"]["_meta"].take();
        match meta["forecourt"].as_u64() {
            Some(MAPPING_VERSION) => Ok(Some(meta)),
            Some(_) => Err(RetrievalError::Refused(format!(
                "the index `{}` is of another version of Forecourt; name a new one in `name` of `[backend.engine]`, which is then filled",
                self.name
            ))),
            None => Err(RetrievalError::Refused(format!(
                "there is an index `{}` that is not of Forecourt; name another one in `name` of `[backend.engine]`",
                self.name
            ))),
        }
    }

    pub(super) async fn summary(&self) -> Result<Option<String>> {
        Ok(self.kept_summary().await?.map(|kept| kept.text))
    }

    /// The summary as it is now, and which version of its document that is.
    async fn kept_summary(&self) -> Result<Option<KeptSummary>> {
        let answer = self.exchange.send(Method::GET, &format!("/{}/_doc/{SUMMARY}", self.name), Body::None).await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let body = answer.success()?;
        let number = |name: &str| body[name].as_u64().ok_or_else(|| unreadable(&format!("a document has no `{name}`")));
        let text = body["_source"]["item"].as_str().unwrap_or_default().to_owned();
        Ok(Some(KeptSummary { text, sequence: number("_seq_no")?, term: number("_primary_term")? }))
    }

    pub(super) async fn write(&self, changes: &[Change]) -> Result<()> {
        bulk::write(&self.exchange, &self.name, changes).await
    }

    pub(super) async fn commit(&self, before: Option<&str>, summary: &str) -> Result<bool> {
        let kept = self.kept_summary().await?;
        if kept.as_ref().map(|kept| kept.text.as_str()) != before {
            return Ok(false);
        }
        // Only over the version that was looked at: another node may write one in between.
        let path = match kept {
            Some(KeptSummary { sequence, term, .. }) => {
                format!("/{}/_doc/{SUMMARY}?if_seq_no={sequence}&if_primary_term={term}", self.name)
            }
            None => format!("/{}/_create/{SUMMARY}", self.name),
        };
        let body = json!({"item": summary});
        let answer = self.exchange.send(Method::PUT, &path, Body::Json(&body)).await?;
        if answer.status == StatusCode::CONFLICT {
            return Ok(false);
        }
        answer.success()?;
        self.ask(Method::POST, &format!("/{}/_refresh", self.name), Body::None).await?;
        self.frequencies.forget();
        Ok(true)
    }

    /// Asks for documents. `None`: there is no index.
    async fn search(&self, body: &Value) -> Result<Option<Value>> {
        let path = format!("/{}/_search", self.name);
        let answer = self.exchange.send(Method::POST, &path, Body::Json(body)).await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let body = answer.success()?;
        // Half of an answer looks as if there were no more.
        if body["timed_out"] == true || body["_shards"]["failed"].as_u64().unwrap_or_default() > 0 {
            return Err(RetrievalError::Unavailable("a part of the index gave no answer".to_owned()));
        }
        Ok(Some(body))
    }

    pub(super) async fn find(&self, query: &CandidateQuery) -> Result<Candidates> {
        let body = search(query);
        let frequencies = self.frequencies.of(&query.terms, |unknown| self.counted(unknown));
        let (answer, frequencies) = try_join(self.search(&body), frequencies).await?;
        let Some(answer) = answer else { return Ok(Candidates { found: Vec::new(), frequencies }) };
        Ok(Candidates { found: sources(&answer)?.map(candidate).collect::<Result<_>>()?, frequencies })
    }

    /// In how many of all documents each of these terms is.
    async fn counted(&self, terms: Vec<&ScoredTerm>) -> Result<Vec<u64>> {
        let (path, body) = (format!("/{}/_msearch", self.name), searches(&terms));
        let mut attempts = Attempts::of_question();
        loop {
            let answer = self.exchange.send_within(&mut attempts, Method::POST, &path, Body::Lines(&body)).await?;
            if answer.status == StatusCode::NOT_FOUND {
                return Ok(vec![0; terms.len()]);
            }
            match counted(&answer.success()?, terms.len()) {
                // The engine may be too busy for one of them alone.
                Err(error) if error.is_passing() && attempts.wait(None).await => {}
                other => return other,
            }
        }
    }

    pub(super) async fn count(&self, limits: &Predicate, most: usize) -> Result<u64> {
        let Some(answer) = self.search(&counting(limits, most)).await? else { return Ok(0) };
        let total = answer["hits"]["total"]["value"].as_u64().ok_or_else(|| unreadable("it counts no documents"))?;
        Ok(total.min(most as u64))
    }

    pub(super) async fn entries(&self, after: Option<u64>) -> Result<Vec<StoredEntry>> {
        let mut body = json!({
            "size": ENTRIES_READ, "query": items(&Predicate::everything()), "sort": [{"key": {"order": "asc"}}],
            "track_total_hits": false, "_source": ["key", "hash", "origin", "lengths"],
        });
        if let Some(after) = after {
            body["search_after"] = json!([key_text(after)]);
        }
        let Some(answer) = self.search(&body).await? else { return Ok(Vec::new()) };
        sources(&answer)?.map(entry).collect()
    }

    pub(super) async fn by_key(&self, keys: &[u64]) -> Result<Vec<Candidate>> {
        let ids: Vec<String> = keys.iter().copied().map(key_text).collect();
        let path = format!("/{}/_mget", self.name);
        let answer = self.exchange.send(Method::POST, &path, Body::Json(&json!({"ids": ids}))).await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(Vec::new());
        }
        let answer = answer.success()?;
        let documents = answer["docs"].as_array().ok_or_else(|| unreadable("it tells no documents"))?;
        let found = documents.iter().filter(|document| document["found"] == true);
        found.map(|document| candidate(&document["_source"])).collect()
    }
}

/// The settings and the mapping of an index. Strict: what is no field of ours is refused.
fn definition() -> Value {
    let list = || json!({"type": "keyword", "norms": false});
    let kept = || json!({"type": "keyword", "index": false, "doc_values": false});
    json!({
        "settings": {
            "index": {"mapping": {"total_fields": {"limit": INDEX_FIELDS_MAX}}, "max_result_window": ENTRIES_READ},
            "analysis": {"analyzer": {"terms": {"type": "custom", "tokenizer": "whitespace"}}},
        },
        "mappings": {
            "_meta": {"forecourt": MAPPING_VERSION},
            "dynamic": "strict",
            "dynamic_templates": [{"numbers": {"path_match": "numbers.*", "mapping": {"type": "double"}}}],
            "properties": {
                "key": {"type": "keyword"}, "hash": kept(), "origin": kept(), "id": kept(), "item": kept(),
                "lengths": {"type": "integer", "index": false, "doc_values": false},
                "words": {"type": "text", "analyzer": "terms"},
                "pairs": list(), "spelled": list(), "facts": list(),
                "numbers": {"type": "object", "dynamic": true},
            },
        },
    })
}

fn sources(answer: &Value) -> Result<impl Iterator<Item = &Value>> {
    let hits = answer["hits"]["hits"].as_array().ok_or_else(|| unreadable("it tells no hits"))?;
    Ok(hits.iter().map(|hit| &hit["_source"]))
}

fn entry(source: &Value) -> Result<StoredEntry> {
    let number = |name: &str| {
        let number = source[name].as_str().and_then(|text| text.parse().ok());
        number.ok_or_else(|| unreadable(&format!("a document has no `{name}`")))
    };
    let length = |at: usize| source["lengths"][at].as_u64().and_then(|length| u32::try_from(length).ok());
    let (Some(words), Some(pairs)) = (length(0), length(1)) else {
        return Err(unreadable("a document has no `lengths`"));
    };
    Ok(StoredEntry { key: number("key")?, hash: number("hash")?, origin: number("origin")?, words, pairs })
}

fn candidate(source: &Value) -> Result<Candidate> {
    let text = |name: &str| {
        let text = source[name].as_str().map(str::to_owned);
        text.ok_or_else(|| unreadable(&format!("a document has no `{name}`")))
    };
    Ok(Candidate { entry: entry(source)?, id: text("id")?, item: text("item")? })
}

fn unreadable(why: &str) -> RetrievalError {
    RetrievalError::Unreadable(why.to_owned())
}
