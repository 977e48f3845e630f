//! The manual, the README and the examples, run as a reader would run them: each page from top to bottom in an
//! empty folder. What the blocks of a page are for is in `manual/block.rs`, how they are run in `manual/page.rs`, what
//! holds for the examples in `manual/gallery.rs`.
//!
//! A page speaks to this test in HTML comments, which no reader sees: `<!-- not run: why -->` leaves the next
//! block out, `<!-- first: commands -->` runs commands that the reader needs not see, `<!-- with: python-1 -->`
//! names the client library of a program, `<!-- exits: 1 -->` the exit code of a block that fails on purpose, and
//! `<!-- output -->` says that the next block of JSON has the shape of what was printed last.

mod block;
mod gallery;
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
    a2a_backend => "docs/manual/a2a-backend.md",
    a2a_payment => "docs/manual/a2a-payment.md",
    activitypub => "docs/manual/activitypub.md",
    agent_certificates => "docs/manual/agent-certificates.md",
    agents => "docs/manual/agents.md",
    agents_ask_agents => "docs/manual/agents-ask-agents.md",
    agtp => "docs/manual/agtp.md",
    agtp_manifest => "docs/manual/agtp-manifest.md",
    agtp_methods => "docs/manual/agtp-methods.md",
    agtp_records => "docs/manual/agtp-records.md",
    agtp_serving => "docs/manual/agtp-serving.md",
    alerts => "docs/manual/alerts.md",
    ask => "docs/manual/ask.md",
    audit => "docs/manual/audit.md",
    authentication => "docs/manual/authentication.md",
    backup => "docs/manual/backup.md",
    command_backend => "docs/manual/command-backend.md",
    conform => "docs/manual/conform.md",
    connections => "docs/manual/connections.md",
    console => "docs/manual/console.md",
    console_actions => "docs/manual/console-actions.md",
    console_login => "docs/manual/console-login.md",
    content => "docs/manual/content.md",
    content_push => "docs/manual/content-push.md",
    content_tables => "docs/manual/content-tables.md",
    content_web => "docs/manual/content-web.md",
    crawlers => "docs/manual/crawlers.md",
    data_folder => "docs/manual/data-folder.md",
    development => "docs/manual/development.md",
    discord => "docs/manual/discord.md",
    discovery => "docs/manual/discovery.md",
    domains => "docs/manual/domains.md",
    email => "docs/manual/email.md",
    embed_widget => "docs/manual/embed-widget.md",
    embedding => "docs/manual/embedding.md",
    endpoints => "docs/manual/endpoints.md",
    endpoints_composition => "docs/manual/endpoints-composition.md",
    endpoints_python => "docs/manual/endpoints-python.md",
    endpoints_service => "docs/manual/endpoints-service.md",
    engines => "docs/manual/engines.md",
    evaluation => "docs/manual/evaluation.md",
    filters => "docs/manual/filters.md",
    getting_started => "docs/manual/getting-started.md",
    guardrails => "docs/manual/guardrails.md",
    http_backend => "docs/manual/http-backend.md",
    hubs => "docs/manual/hubs.md",
    identity => "docs/manual/identity.md",
    installing => "docs/manual/installing.md",
    matrix => "docs/manual/matrix.md",
    mcp => "docs/manual/mcp.md",
    mcp_backend => "docs/manual/mcp-backend.md",
    mcp_servers => "docs/manual/mcp-servers.md",
    mcp_servers_calls => "docs/manual/mcp-servers-calls.md",
    mcp_servers_sign_in => "docs/manual/mcp-servers-sign-in.md",
    mcp_tools => "docs/manual/mcp-tools.md",
    model_costs => "docs/manual/model-costs.md",
    models => "docs/manual/models.md",
    monitoring => "docs/manual/monitoring.md",
    negotiation => "docs/manual/negotiation.md",
    negotiation_contracts => "docs/manual/negotiation-contracts.md",
    nlweb => "docs/manual/nlweb.md",
    nodes => "docs/manual/nodes.md",
    nodes_failures => "docs/manual/nodes-failures.md",
    openapi => "docs/manual/openapi.md",
    openapi_review => "docs/manual/openapi-review.md",
    operating => "docs/manual/operating.md",
    operator_questions => "docs/manual/operator-questions.md",
    payment => "docs/manual/payment.md",
    payment_ap2 => "docs/manual/payment-ap2.md",
    payment_cards => "docs/manual/payment-cards.md",
    payment_charges => "docs/manual/payment-charges.md",
    policy => "docs/manual/policy.md",
    postgresql => "docs/manual/postgresql.md",
    proxies => "docs/manual/proxies.md",
    python => "docs/manual/python.md",
    ranking => "docs/manual/ranking.md",
    rate_limits => "docs/manual/rate-limits.md",
    refusals => "docs/manual/refusals.md",
    reload => "docs/manual/reload.md",
    request => "docs/manual/request.md",
    search_answers => "docs/manual/search-answers.md",
    search_models => "docs/manual/search-models.md",
    secrets => "docs/manual/secrets.md",
    sign_in => "docs/manual/sign-in.md",
    slack => "docs/manual/slack.md",
    talking => "docs/manual/talking.md",
    talking_browser => "docs/manual/talking-browser.md",
    tasks => "docs/manual/tasks.md",
    telegram => "docs/manual/telegram.md",
    testing => "docs/manual/testing.md",
    tls => "docs/manual/tls.md",
    traces => "docs/manual/traces.md",
    troubleshooting => "docs/manual/troubleshooting.md",
    tutorial_crm_api => "docs/manual/tutorial-crm-api.md",
    tutorial_docs_chat => "docs/manual/tutorial-docs-chat.md",
    tutorial_expert => "docs/manual/tutorial-expert.md",
    tutorial_mcp_gateway => "docs/manual/tutorial-mcp-gateway.md",
    tutorial_shop => "docs/manual/tutorial-shop.md",
    typescript => "docs/manual/typescript.md",
    upgrade => "docs/manual/upgrade.md",
    vocabulary => "docs/manual/vocabulary.md",
    which_backend => "docs/manual/which-backend.md",
    which_wire => "docs/manual/which-wire.md",
    gallery_booking => "examples/booking/README.md",
    gallery_crm_api => "examples/crm-api/README.md",
    gallery_docs_chat => "examples/docs-chat/README.md",
    gallery_expert => "examples/expert/README.md",
    gallery_helpdesk => "examples/helpdesk/README.md",
    gallery_hotel => "examples/hotel/README.md",
    gallery_hub_of_two => "examples/hub-of-two/README.md",
    gallery_kitchen => "examples/kitchen/README.md",
    gallery_mcp_gateway => "examples/mcp-gateway/README.md",
    gallery_newsroom => "examples/newsroom/README.md",
    gallery_shop => "examples/shop/README.md",
    gallery_town => "examples/town/README.md",
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
    for folder in ["docs", "examples"] {
        let walk = walkdir::WalkDir::new(root().join(folder)).into_iter();
        // What a daemon keeps in an example that was served has the manual in it.
        for entry in walk.filter_entry(|entry| entry.file_name() != ".forecourt").map(Result::unwrap) {
            // Other markdown of an example is what its agents answer from.
            let is_page = match folder {
                "docs" => entry.path().extension().is_some_and(|extension| extension == "md"),
                _ => entry.file_name() == "README.md",
            };
            if is_page {
                let file = entry.path().strip_prefix(root()).unwrap();
                there.insert(file.to_str().unwrap().to_owned());
            }
        }
    }
    // Tables to look things up in. What the program writes itself is compared by `operate.rs` and `errors.rs`, metrics
    // by `monitoring.rs`.
    there.retain(|file| !file.starts_with("docs/reference/"));
    // Reasons, and nothing to run.
    there.remove("docs/decisions.md");
    there.retain(|file| !file.starts_with("docs/design/"));
    // How pictures are made, which needs a browser.
    there.remove("docs/pictures/README.md");
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
