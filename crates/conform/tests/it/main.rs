//! The tester against servers that are scripted: those that keep the rules, and those that break one.
//!
//! | module | holds |
//! |---|---|
//! | `agtp_server` | a server of AGTP that keeps every rule, and can be told to break one |
//! | `agtp` | each broken rule is found by its check and by no other |
//! | `contracts` | the same of contracts that are negotiated |
//! | `web_server`, `web` | the same over HTTP |
//! | `offers` | hosts that offer little or nothing: no finding is of what they do not offer |
//! | `hostile` | servers that hang, flood and talk nonsense |
//! | `tls` | how servers encrypt |
//! | `reading` | what is read off the wire, whatever it is |

/// Each change of a server is found by these checks, and by no other.
macro_rules! finds {
    ($find:ident; $($id:literal $(, $more:literal)* => $change:expr;)+) => {
        $(assert_eq!($find($change), [$id $(, $more)*]);)+
    };
}

mod agtp;
mod agtp_server;
mod contracts;
mod hostile;
mod offers;
mod reading;
mod tls;
mod web;
mod web_server;

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forecourt_conform::report::{Finding, OfferStatus, Outcome, ProtocolReport};
use forecourt_conform::run::{Pace, Selection};
use forecourt_conform::suite::Suite;
use forecourt_conform::{agtp::Line, web::HostQuery};
use forecourt_core::AgentId;
use forecourt_egress::{Egress, EgressConfig};

/// How long a scripted server may take: far more than it does.
const PATIENCE: Duration = Duration::from_secs(20);
/// The agent in whose name is asked.
const AGENT: &str = "7182b906112628b6fe775c63f5db23f7b9662e5e95072bb56c82225df58a5f2b";
/// Another agent.
const OTHER: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(future)
}

fn egress() -> Egress {
    Egress::builder(EgressConfig::default()).base(Path::new(".")).build().unwrap()
}

fn agent() -> AgentId {
    AgentId::parse(AGENT).unwrap()
}

fn line(port: u16, patience: Duration) -> Line {
    Line { egress: egress(), tls: None, host: "127.0.0.1".to_owned(), port, patience }
}

/// Looks for each protocol and judges what is there, as a run does.
async fn judged<S: Send + Sync>(
    server: S,
    suites: &'static [Suite<S>],
    patience: Duration,
) -> (Vec<ProtocolReport>, Vec<Finding>) {
    let (server, mut pace) = (Arc::new(server), Pace::new(patience));
    let mut all = (Vec::new(), Vec::new());
    for suite in suites {
        if let Some((protocol, findings)) = suite.run(&mut pace, server.clone(), &Selection::default()).await {
            all.0.push(protocol);
            all.1.extend(findings);
        }
    }
    all
}

async fn findings<S: Send + Sync>(server: S, suites: &'static [Suite<S>], patience: Duration) -> Vec<Finding> {
    judged(server, suites, patience).await.1
}

/// The names of the protocols that were found.
fn offered(protocols: &[ProtocolReport]) -> Vec<&'static str> {
    let is_offered = |protocol: &&ProtocolReport| protocol.status == OfferStatus::Offered;
    protocols.iter().filter(is_offered).map(|protocol| protocol.name).collect()
}

/// The names of the checks that came to this.
fn ids(findings: &[Finding], outcome: Outcome) -> Vec<&'static str> {
    findings.iter().filter(|finding| finding.outcome == outcome).map(|finding| finding.id).collect()
}

/// Those that a broken server fails or is warned of.
fn broken(findings: &[Finding]) -> Vec<&'static str> {
    let is_found = |finding: &&Finding| matches!(finding.outcome, Outcome::Fail | Outcome::Warn);
    findings.iter().filter(is_found).map(|finding| finding.id).collect()
}

fn nobody() -> HostQuery {
    HostQuery::default()
}
