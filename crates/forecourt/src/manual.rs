//! The manual that the program carries in itself, so that it can explain itself anywhere.

use std::io;
use std::path::{Path, PathBuf};

/// A subject, and its pages: name and text.
type Group = (&'static str, &'static [(&'static str, &'static str)]);

/// Pages of `docs/manual`, by the names of their files.
macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../docs/manual/", $name, ".md")))),*]
    };
}

/// Its pages by subject, in the order in which they are read: learn it, choose, do one thing, look it up.
const GROUPS: &[Group] = &[
    (
        "Tutorials",
        pages![
            "getting-started",
            "tutorial-shop",
            "tutorial-docs-chat",
            "tutorial-expert",
            "tutorial-mcp-gateway",
            "tutorial-crm-api",
            "agents",
            "content",
            "embed-widget",
            "python",
            "typescript",
            "development",
            "testing",
        ],
    ),
    ("Why, and what to choose", pages!["which-backend", "which-wire", "request"]),
    (
        "How to answer: backends",
        pages![
            "models",
            "model-costs",
            "agents-ask-agents",
            "http-backend",
            "command-backend",
            "a2a-backend",
            "mcp-backend",
            "hubs",
            "tasks",
            "embedding",
        ],
    ),
    (
        "How to have content found",
        pages![
            "content-tables",
            "content-web",
            "content-push",
            "filters",
            "search-answers",
            "ranking",
            "search-models",
            "vocabulary",
            "evaluation",
            "engines",
        ],
    ),
    (
        "How to ask, over each protocol",
        pages![
            "talking",
            "talking-browser",
            "ask",
            "discovery",
            "a2a",
            "a2a-payment",
            "mcp",
            "mcp-tools",
            "mcp-servers",
            "mcp-servers-calls",
            "mcp-servers-sign-in",
            "nlweb",
            "email",
            "activitypub",
            "slack",
            "telegram",
            "matrix",
            "discord",
            "conform",
        ],
    ),
    (
        "How to use AGTP",
        pages![
            "agtp",
            "agtp-serving",
            "agtp-manifest",
            "agtp-methods",
            "agtp-records",
            "identity",
            "agent-certificates",
        ],
    ),
    (
        "How to decide who may ask, and who pays",
        pages![
            "authentication",
            "sign-in",
            "policy",
            "rate-limits",
            "guardrails",
            "refusals",
            "audit",
            "crawlers",
            "payment",
            "payment-cards",
            "payment-ap2",
            "payment-charges",
        ],
    ),
    (
        "How to offer endpoints",
        pages![
            "endpoints",
            "endpoints-python",
            "endpoints-service",
            "endpoints-composition",
            "negotiation",
            "negotiation-contracts",
            "openapi",
            "openapi-review",
        ],
    ),
    (
        "How to run it",
        pages![
            "installing",
            "operating",
            "tls",
            "secrets",
            "reload",
            "upgrade",
            "backup",
            "data-folder",
            "domains",
            "connections",
            "operator-questions",
            "troubleshooting",
            "proxies",
        ],
    ),
    ("How to run several nodes", pages!["nodes", "nodes-failures", "postgresql"]),
    (
        "How to watch and manage it",
        pages!["monitoring", "alerts", "traces", "console", "console-login", "console-actions",],
    ),
    (
        "Reference",
        &[
            ("configuration", include_str!("../../../docs/reference/config.md")),
            ("errors", include_str!("../../../docs/reference/errors.md")),
            ("metrics", include_str!("../../../docs/reference/metrics.md")),
            ("worker", include_str!("../../../docs/reference/worker.md")),
            ("vocabulary-keys", include_str!("../../../docs/reference/vocabulary-keys.md")),
            ("openapi-mapping", include_str!("../../../docs/reference/openapi-mapping.md")),
            ("nodes-state", include_str!("../../../docs/reference/nodes-state.md")),
            ("engine-figures", include_str!("../../../docs/reference/engine-figures.md")),
        ],
    ),
];

/// Drawings that pages show: the name of the file, and what it holds (SVG).
const DRAWINGS: &[(&str, &str)] = &[
    ("which-backend.svg", include_str!("../../../docs/manual/which-backend.svg")),
    ("which-wire.svg", include_str!("../../../docs/manual/which-wire.svg")),
    ("request.svg", include_str!("../../../docs/manual/request.svg")),
    ("first-minute.svg", include_str!("../../../docs/pictures/first-minute.svg")),
];

/// What a search backend calls it: `content = ["builtin:manual"]`.
pub(crate) const NAME: &str = "manual";

/// One page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ManualPageText {
    /// Its name without an ending, such as `operating`.
    pub(crate) name: &'static str,
    /// Its first heading.
    pub(crate) title: &'static str,
    /// All of it, in markdown.
    pub(crate) text: &'static str,
}

/// The pages, in their order.
pub(crate) fn pages() -> impl Iterator<Item = ManualPageText> {
    groups().flat_map(|(_, pages)| pages)
}

/// The pages by subject.
pub(crate) fn groups() -> impl Iterator<Item = (&'static str, impl Iterator<Item = ManualPageText>)> {
    GROUPS.iter().map(|(subject, pages)| (*subject, pages.iter().map(page)))
}

fn page((name, text): &(&'static str, &'static str)) -> ManualPageText {
    let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(name);
    ManualPageText { name, title, text }
}

/// The drawing of this name, such as `request.svg`.
pub(crate) fn drawing(name: &str) -> Option<&'static str> {
    DRAWINGS.iter().find(|(file, _)| *file == name).map(|(_, text)| *text)
}

/// Where it is unpacked.
pub(crate) fn folder(data: &Path) -> PathBuf {
    data.join("manual")
}

/// Puts the manual into `data` for the search backend, rewriting only what has changed.
pub(crate) fn unpack(data: &Path) -> io::Result<()> {
    let folder = folder(data);
    std::fs::create_dir_all(&folder)?;
    for (name, text) in GROUPS.iter().flat_map(|(_, pages)| *pages) {
        let file = folder.join(format!("{name}.md"));
        // A page that is written again would look changed, and be indexed again at each start.
        if std::fs::read_to_string(&file).ok().as_deref() != Some(*text) {
            std::fs::write(&file, text)?;
        }
    }
    Ok(())
}
