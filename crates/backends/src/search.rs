//! `search`: answers from indexed content. All of it is in the crate of that name, which the `model` backend searches
//! with too; here it is a backend like the others.

use forecourt_agents::Backend;

/// Answers from indexed content.
pub const BACKEND: Backend = Backend {
    kind: "search",
    about: "Answers from your own content: no model, no keys. Files are indexed at start, and again when they change.",
    schema: forecourt_search::schema,
    build: forecourt_search::build,
};
