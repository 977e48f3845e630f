//! Engines that are away, that are none, or that hold something else.

use std::sync::Arc;

use forecourt_egress::{Egress, EgressConfig};
use forecourt_engines::{OpenSearch, OpenSearchOptions, PostgresEngine};
use forecourt_retrieval::{RetrievalError, Retriever};
use forecourt_testkit::postgres::PostgresServer;
use forecourt_testkit::{HandClock, SearchEngine, free_port};
use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderValue};

use crate::suite::opensearch;

fn said(result: Result<impl std::fmt::Debug, RetrievalError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn an_engine_that_is_away_is_told_by_its_place() {
    let address = format!("127.0.0.1:{}", free_port());
    let error = opensearch(&format!("http://{address}"), "items").state().unwrap_err();
    assert!(error.is_passing() && error.to_string().contains(&address), "{error}");
    let error =
        PostgresEngine::new(&format!("postgres://me:secret@{address}/x"), "items").unwrap().state().unwrap_err();
    let text = error.to_string();
    assert!(error.is_passing() && text.contains(&address) && !text.contains("secret"), "{text}");
}

#[test]
fn an_index_of_somebody_else_is_left_alone() {
    let server = SearchEngine::start();
    let engine = opensearch(&server.url(), "logs");
    let ours = opensearch(&server.url(), "items");
    ours.prepare().unwrap();
    server.double.make("logs");
    for said in [said(engine.state()), said(engine.prepare())] {
        assert!(said.contains("an index `logs` that is not of Forecourt") && said.contains("`name`"), "{said}");
    }
}

#[test]
fn a_table_of_somebody_else_is_left_alone() {
    let Some(server) = PostgresServer::shared() else { return };
    let url = server.fresh();
    let database = url.rsplit('/').next().unwrap();
    for made in ["orders", "tags_words", "notes_meta"] {
        server.sql(database, &format!("CREATE TABLE {made} (id int, word text, name text, value text)"));
        let engine = PostgresEngine::new(&url, made.split('_').next().unwrap()).unwrap();
        for said in [said(engine.state()), said(engine.prepare())] {
            assert!(said.contains(&format!("a table `{made}` that is not of Forecourt")), "{said}");
        }
    }
    let others = PostgresEngine::new(&url, "tags").unwrap();
    assert_eq!(others.items().unwrap(), 0, "nothing was made beside it");
}

#[test]
fn credentials_that_do_not_do_are_told_and_never_shown() {
    let server = SearchEngine::start();
    "Basic c2VzYW1l".clone_into(&mut server.double.authorization.lock());
    let with = |value: &str| {
        let egress = Egress::builder(EgressConfig::default()).build().unwrap();
        let headers = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_str(value).unwrap())]);
        let (url, index, clock) = (server.url(), "items".to_owned(), Arc::new(HandClock::new()));
        OpenSearch::new(OpenSearchOptions { egress, url, index, headers, clock })
    };
    with("Basic c2VzYW1l").state().unwrap();
    let said = said(with("Basic d3Jvbmc=").state());
    assert!(said.contains("`Authorization`") && !said.contains("d3Jvbmc"), "{said}");
}
