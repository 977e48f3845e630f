//! Engines of a test, and the settings that name them.

use forecourt_testkit::postgres::PostgresServer;
use forecourt_testkit::{OsmemServer, SearchEngine};

/// An engine, with what keeps it running.
pub(crate) struct Running {
    pub(crate) name: &'static str,
    /// Its section of the settings.
    pub(crate) section: String,
    _server: Box<dyn Send + Sync>,
}

/// The settings of an agent, with a section about its engine or none.
pub(crate) fn settings(engine: &str) -> String {
    format!("[backend]\nkind = \"search\"\ncontent = [\"items.jsonl\"]\nresults = 10\n{engine}")
}

/// The section of an engine that speaks the search API. As few candidates as may be, so that it has to choose.
pub(crate) fn opensearch(url: &str) -> String {
    format!("[backend.engine]\nkind = \"opensearch\"\nurl = \"{url}\"\ncandidates = 100\n")
}

pub(crate) fn postgresql(url: &str) -> String {
    format!("[backend.engine]\nkind = \"postgresql\"\nurl = \"{url}\"\ncandidates = 100\n")
}

/// All engines that are installed, with nothing in them.
pub(crate) fn engines() -> Vec<Running> {
    let mut all = Vec::new();
    if let Some(server) = PostgresServer::shared() {
        all.push(Running { name: "PostgreSQL", section: postgresql(&server.fresh()), _server: Box::new(server) });
    }
    let double = SearchEngine::start();
    all.push(Running { name: "a double", section: opensearch(&double.url()), _server: Box::new(double) });
    if let Some(server) = OsmemServer::start() {
        all.push(Running { name: "osmem-server", section: opensearch(server.url()), _server: Box::new(server) });
    }
    all
}
