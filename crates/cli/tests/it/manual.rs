//! The manual, the README and the examples, run as a reader would run them: each page from top to bottom in an
//! empty folder. What the blocks of a page are for is in `manual/block.rs`, how they are run in `manual/page.rs`.
//!
//! A page speaks to this test in HTML comments, which no reader sees: `<!-- not run: why -->` leaves the next
//! block out, `<!-- first: commands -->` runs commands that the reader needs not see, `<!-- with: python-1 -->`
//! names the client library of a program, `<!-- exits: 1 -->` the exit code of a block that fails on purpose, and
//! `<!-- output -->` says that the next block of JSON has the shape of what was printed last.

mod block;
mod page;
mod scratch;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use block::{Block, blocks};

/// How many blocks may be left out. Lower it when there are fewer; raise it for nothing.
const NOT_RUN_MAX: usize = 30;

macro_rules! pages {
    ($($name:ident => $file:literal,)*) => {
        /// Every page that is run, as a path from the root of the repository.
        const PAGES: &[&str] = &[$($file),*];
        $(#[test] fn $name() { page::run($file); })*
    };
}

pages! {
    readme => "README.md",
    contributing => "CONTRIBUTING.md",
    a2a => "docs/manual/a2a.md",
    agents => "docs/manual/agents.md",
    agtp => "docs/manual/agtp.md",
    conform => "docs/manual/conform.md",
    console => "docs/manual/console.md",
    content => "docs/manual/content.md",
    crawlers => "docs/manual/crawlers.md",
    discovery => "docs/manual/discovery.md",
    email => "docs/manual/email.md",
    embed_widget => "docs/manual/embed-widget.md",
    embedding => "docs/manual/embedding.md",
    endpoints => "docs/manual/endpoints.md",
    engines => "docs/manual/engines.md",
    evaluation => "docs/manual/evaluation.md",
    getting_started => "docs/manual/getting-started.md",
    identity => "docs/manual/identity.md",
    mcp => "docs/manual/mcp.md",
    hubs => "docs/manual/hubs.md",
    mcp_servers => "docs/manual/mcp-servers.md",
    nlweb => "docs/manual/nlweb.md",
    nodes => "docs/manual/nodes.md",
    negotiation => "docs/manual/negotiation.md",
    openapi => "docs/manual/openapi.md",
    installing => "docs/manual/installing.md",
    monitoring => "docs/manual/monitoring.md",
    operating => "docs/manual/operating.md",
    payment => "docs/manual/payment.md",
    policy => "docs/manual/policy.md",
    proxies => "docs/manual/proxies.md",
    python => "docs/manual/python.md",
    postgresql => "docs/manual/postgresql.md",
    talking => "docs/manual/talking.md",
    tasks => "docs/manual/tasks.md",
    testing => "docs/manual/testing.md",
    typescript => "docs/manual/typescript.md",
    vocabulary => "docs/manual/vocabulary.md",
    migration => "examples/migration/README.md",
    migration_wrap => "examples/migration/1-wrap-and-expose/README.md",
    migration_rehost => "examples/migration/2-translate-and-rehost/README.md",
    migration_coexist => "examples/migration/3-coexist-permanently/README.md",
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The blocks of a page.
fn of_page(file: &str) -> Vec<Block> {
    let text = std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    blocks(file, &text)
}

#[test]
fn every_page_is_run() {
    let mut there = BTreeSet::from(["README.md".to_owned(), "CONTRIBUTING.md".to_owned()]);
    for folder in ["docs", "examples/migration"] {
        for entry in walkdir::WalkDir::new(root().join(folder)).into_iter().map(Result::unwrap) {
            if entry.path().extension().is_some_and(|extension| extension == "md") {
                let file = entry.path().strip_prefix(root()).unwrap();
                there.insert(file.to_str().unwrap().to_owned());
            }
        }
    }
    // Both are written by the program itself; `operate.rs` and `errors.rs` compare them.
    there.retain(|file| !file.starts_with("docs/reference/"));
    // Reasons, and nothing to run.
    there.remove("docs/decisions.md");
    // The pages for contributors are tried by `contributing.rs`.
    there.retain(|file| !file.starts_with("docs/contributing/"));
    let run: BTreeSet<String> = PAGES.iter().map(|file| (*file).to_owned()).collect();
    assert_eq!(run, there, "each page needs a line in pages!");
}

#[test]
fn few_blocks_are_left_out_and_each_says_why() {
    let all: Vec<Block> = PAGES.iter().flat_map(|file| of_page(file)).collect();
    let left_out: Vec<String> = all
        .iter()
        .filter_map(|block| block.not_run.as_ref().map(|reason| format!("{}: {reason}", block.at())))
        .collect();
    assert!(left_out.iter().all(|line| line.len() > 20), "{left_out:#?}");
    assert!(left_out.len() <= NOT_RUN_MAX, "{} blocks are not run: {left_out:#?}", left_out.len());
    assert!(all.len() > 3 * left_out.len(), "{} of {} blocks are not run", left_out.len(), all.len());
}
