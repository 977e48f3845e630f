//! Crawlers: what the rules say to them, told where they look for it, and held at the pages of this host.
//!
//! | file | holds |
//! |---|---|
//! | `terms.rs` | what the rules mean for a crawler at a path: the one source of everything that is told |
//! | `preferences.rs` | the same as preferences and licences: `Content-Usage`, RSL |
//! | `layer.rs` | what stands before the routes: who comes, what is counted, what is added to answers |
//! | `gate.rs` | the rules before pages, and what a crawler is told that does not pass |

mod gate;
mod layer;
mod limits;
mod preferences;
mod terms;

use std::sync::Arc;

use forecourt_admin::crawlers::CrawlerLog;
use forecourt_core::{AgentCard, Clock, Store};
use forecourt_host::{ServerGate, ServerRule};
use forecourt_payments::crawl::DebtLedger;
use forecourt_surface::{HttpRoutes, Mount};

pub(crate) use preferences::{LICENSE_PATH, LICENSE_TYPE, license};
pub(crate) use terms::{CrawlTerms, Place, RobotsGroup, TermVerdict, robots_pattern};

use self::layer::CrawlLayer;

/// What rules say to crawlers, and the gate before pages.
#[derive(Default)]
pub(crate) struct Crawl {
    pub(crate) terms: CrawlTerms,
    /// `None` where no rule stands before pages.
    gate: Option<ServerGate>,
}

impl Crawl {
    /// With these rules before pages, in their order; what they ask for is issued for `card`.
    pub(crate) fn new(terms: CrawlTerms, rules: Vec<ServerRule>, card: AgentCard) -> Self {
        let gate = (!rules.is_empty()).then(|| ServerGate::new(Arc::new(card), rules));
        Self { terms, gate }
    }
}

/// What crawlers did, and what they owe: both last from one house to the next.
#[derive(Clone)]
pub(crate) struct CrawlBooks {
    pub(crate) log: Arc<CrawlerLog>,
    pub(crate) debts: Arc<DebtLedger>,
}

impl CrawlBooks {
    /// Those in `store`.
    pub(crate) fn new(store: &Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { log: Arc::default(), debts: Arc::new(DebtLedger::new(store.clone(), clock)) }
    }
}

/// These routes, behind what stands before crawlers.
pub(crate) fn before(routes: HttpRoutes, mount: &Mount) -> HttpRoutes {
    match CrawlLayer::new(mount) {
        Some(layer) => HttpRoutes { router: routes.router.layer(layer), ..routes },
        None => routes,
    }
}
