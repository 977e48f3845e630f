//! The benches, a file each.

mod a2a;
mod agents;
mod agtp;
mod ask;
mod contracts;
mod idle;
mod jwt;
mod mcp;
mod nodes;
mod rest;
mod retrieval;
mod rules;
pub(crate) mod search;
mod sse;
mod start;
mod tasks;
mod tasks_postgres;
mod traces;

use crate::run::Run;

/// A bench: prints what it finds.
type Bench = fn(&Run) -> anyhow::Result<()>;

/// All of them, by name.
pub(crate) const ALL: &[(&str, Bench)] = &[
    ("rest", rest::run),
    ("search", search::small),
    ("search-million", search::large),
    ("retrieval", retrieval::run),
    ("loading", search::loading),
    ("ask", ask::small),
    ("ask-million", ask::large),
    ("sse", sse::run),
    ("idle", idle::run),
    ("tasks", tasks::run),
    ("tasks-postgres", tasks_postgres::run),
    ("nodes", nodes::run),
    ("traces", traces::run),
    ("start", start::run),
    ("agents-10000", agents::run),
    ("jwt", jwt::run),
    ("rules", rules::run),
    ("contracts", contracts::run),
    ("contract-call", agtp::contract::run),
    ("a2a", a2a::send::run),
    ("a2a-proxy", a2a::proxy::run),
    ("a2a-many", a2a::many::run),
    ("a2a-streams", a2a::streams::run),
    ("a2a-push", a2a::push::run),
    ("mcp", mcp::run),
    ("mcp-proxy", mcp::proxy::run),
    ("agtp", agtp::query::open),
    ("agtp-new", agtp::query::new),
    ("agtp-plain", agtp::query::plain),
    ("agtp-dispatch", agtp::dispatch::run),
    ("agtp-manifest", agtp::manifest::run),
    ("agtp-idle", agtp::idle::run),
    ("records", agtp::records::run),
];
