//! The manual that the program carries in itself, so that it can explain itself anywhere.

use std::io;
use std::path::{Path, PathBuf};

/// A subject, and its pages: name and text.
type Group = (&'static str, &'static [(&'static str, &'static str)]);

/// Its pages by subject, in the order in which they are read.
const GROUPS: &[Group] = &[
    (
        "First steps",
        &[
            ("getting-started.md", include_str!("../../../docs/manual/getting-started.md")),
            ("agents.md", include_str!("../../../docs/manual/agents.md")),
            ("python.md", include_str!("../../../docs/manual/python.md")),
            ("typescript.md", include_str!("../../../docs/manual/typescript.md")),
            ("content.md", include_str!("../../../docs/manual/content.md")),
            ("talking.md", include_str!("../../../docs/manual/talking.md")),
            ("embed-widget.md", include_str!("../../../docs/manual/embed-widget.md")),
        ],
    ),
    (
        "Protocols",
        &[
            ("discovery.md", include_str!("../../../docs/manual/discovery.md")),
            ("a2a.md", include_str!("../../../docs/manual/a2a.md")),
            ("mcp.md", include_str!("../../../docs/manual/mcp.md")),
            ("mcp-servers.md", include_str!("../../../docs/manual/mcp-servers.md")),
            ("hubs.md", include_str!("../../../docs/manual/hubs.md")),
            ("agtp.md", include_str!("../../../docs/manual/agtp.md")),
            ("nlweb.md", include_str!("../../../docs/manual/nlweb.md")),
            ("email.md", include_str!("../../../docs/manual/email.md")),
        ],
    ),
    (
        "Rules and identity",
        &[
            ("policy.md", include_str!("../../../docs/manual/policy.md")),
            ("payment.md", include_str!("../../../docs/manual/payment.md")),
            ("crawlers.md", include_str!("../../../docs/manual/crawlers.md")),
            ("identity.md", include_str!("../../../docs/manual/identity.md")),
        ],
    ),
    (
        "Endpoints",
        &[
            ("endpoints.md", include_str!("../../../docs/manual/endpoints.md")),
            ("negotiation.md", include_str!("../../../docs/manual/negotiation.md")),
            ("openapi.md", include_str!("../../../docs/manual/openapi.md")),
        ],
    ),
    (
        "Operation",
        &[
            ("installing.md", include_str!("../../../docs/manual/installing.md")),
            ("operating.md", include_str!("../../../docs/manual/operating.md")),
            ("proxies.md", include_str!("../../../docs/manual/proxies.md")),
            ("nodes.md", include_str!("../../../docs/manual/nodes.md")),
            ("postgresql.md", include_str!("../../../docs/manual/postgresql.md")),
            ("engines.md", include_str!("../../../docs/manual/engines.md")),
            ("monitoring.md", include_str!("../../../docs/manual/monitoring.md")),
            ("console.md", include_str!("../../../docs/manual/console.md")),
            ("tasks.md", include_str!("../../../docs/manual/tasks.md")),
        ],
    ),
    (
        "Quality",
        &[
            ("vocabulary.md", include_str!("../../../docs/manual/vocabulary.md")),
            ("evaluation.md", include_str!("../../../docs/manual/evaluation.md")),
            ("testing.md", include_str!("../../../docs/manual/testing.md")),
            ("conform.md", include_str!("../../../docs/manual/conform.md")),
        ],
    ),
    (
        "Reference",
        &[
            ("embedding.md", include_str!("../../../docs/manual/embedding.md")),
            ("configuration.md", include_str!("../../../docs/reference/config.md")),
            ("errors.md", include_str!("../../../docs/reference/errors.md")),
            ("worker.md", include_str!("../../../docs/reference/worker.md")),
        ],
    ),
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

fn page((file, text): &(&'static str, &'static str)) -> ManualPageText {
    let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(file);
    ManualPageText { name: file.trim_end_matches(".md"), title, text }
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
        let file = folder.join(name);
        // A page that is written again would look changed, and be indexed again at each start.
        if std::fs::read_to_string(&file).ok().as_deref() != Some(*text) {
            std::fs::write(&file, text)?;
        }
    }
    Ok(())
}
