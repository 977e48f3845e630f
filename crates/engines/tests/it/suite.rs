//! What every engine does, whichever it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use forecourt_egress::{Egress, EgressConfig};
use forecourt_engines::{OpenSearch, OpenSearchOptions, PostgresEngine};
use forecourt_retrieval::{Change, EngineDocument, Retriever};
use forecourt_testkit::postgres::PostgresServer;
use forecourt_testkit::{HandClock, OsmemServer, SearchEngine};
use http::HeaderMap;

/// An engine of a test, with what keeps it running.
pub(crate) struct Running {
    pub(crate) name: &'static str,
    pub(crate) engine: Box<dyn Retriever>,
    _server: Box<dyn Send + Sync>,
}

pub(crate) fn opensearch(url: &str, index: &str) -> OpenSearch {
    let egress = Egress::builder(EgressConfig::default()).build().unwrap();
    OpenSearch::new(OpenSearchOptions {
        egress,
        url: url.to_owned(),
        index: index.to_owned(),
        headers: HeaderMap::new(),
        clock: Arc::new(HandClock::new()),
    })
}

/// All engines that are installed, each with the documents.
pub(crate) fn filled(documents: &[EngineDocument]) -> Vec<Running> {
    let engines = running();
    for running in &engines {
        let engine = &running.engine;
        engine.prepare().unwrap();
        engine
            .write(&documents.iter().map(|document| Change::Put(Box::new(document.clone()))).collect::<Vec<_>>())
            .unwrap();
        assert!(engine.commit(None, "summary").unwrap());
    }
    engines
}

pub(crate) fn running() -> Vec<Running> {
    let mut all: Vec<Running> = Vec::new();
    if let Some(server) = PostgresServer::shared() {
        let engine = Box::new(PostgresEngine::new(&server.fresh(), "items").unwrap());
        all.push(Running { name: "PostgreSQL", engine, _server: Box::new(server) });
    }
    let double = Arc::new(SearchEngine::start());
    let engine = Box::new(opensearch(&double.url(), "items"));
    all.push(Running { name: "a double", engine, _server: Box::new(double) });
    if let Some(server) = OsmemServer::start() {
        let engine = Box::new(opensearch(server.url(), "items"));
        all.push(Running { name: "osmem-server", engine, _server: Box::new(server) });
    }
    all
}

/// A document of some words; its key is a number.
pub(crate) fn document(key: u64, words: &str, facts: &[&str], price: Option<f64>) -> EngineDocument {
    let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    EngineDocument {
        key,
        hash: key ^ u64::MAX,
        origin: 7,
        id: format!("https://shop.example/{key}"),
        pairs: words.windows(2).map(|pair| pair.join(" ")).collect(),
        spelled: words.clone(),
        words,
        facts: facts.iter().map(|fact| (*fact).to_owned()).collect(),
        numbers: price.map(|price| ("offers/price".to_owned(), vec![price])).into_iter().collect::<BTreeMap<_, _>>(),
        item: format!("{{\"name\":\"it's {key} \\u0000 \\\\ \"}}"),
    }
}
