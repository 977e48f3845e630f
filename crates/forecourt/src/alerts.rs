//! Alerts: rules over the operator's metrics, evaluated once a minute on each node. Those that are shipped are the rules
//! of Prometheus too, which are written from them.
//!
//! | file | holds |
//! |---|---|
//! | `rule.rs` | a rule as settings say it, checked |
//! | `selector.rs` | which samples of a metric are meant |
//! | `shipped.rs`, `shipped.toml` | the rules that hold where nothing else is said |
//! | `check.rs` | the rules that a deployment goes by |
//! | `history.rs` | what was counted in the last minutes |
//! | `measure.rs` | from samples to values |
//! | `evaluator.rs` | from values to what is firing |
//! | `words.rs` | an alert in words |
//! | `posts.rs` | from what is firing to what the operator is told |
//! | `prometheus.rs` | the same rules for Prometheus |

mod check;
mod evaluator;
mod history;
mod measure;
mod posts;
mod prometheus;
mod rule;
mod selector;
mod shipped;
mod words;

pub(crate) use check::{AlertProblem, check_all};
pub(crate) use evaluator::{AlertChange, AlertEvaluator};
pub(crate) use posts::AlertPosts;
pub use prometheus::prometheus_rules;
pub(crate) use rule::AlertRule;
pub use rule::{AlertSettings, Measure, Severity};

use forecourt_admin::report::{AlertRuleInfo, AlertRules};
use forecourt_host::OperatorWebhook;

/// What alerts go by in a deployment.
#[derive(Debug, Default)]
pub(crate) struct AlertPlan {
    /// The rules.
    pub(crate) rules: Vec<AlertRule>,
    /// Where the operator is told of what begins and ends.
    pub(crate) webhook: Option<OperatorWebhook>,
}

impl AlertPlan {
    /// The rules as the operator is shown them: those of one name are one.
    pub(crate) fn told(&self) -> AlertRules {
        let one = |rules: &[AlertRule]| {
            let rule = rules.first()?;
            Some(AlertRuleInfo {
                rule: rule.name.clone(),
                severity: rule.severity.name().to_owned(),
                condition: prometheus::condition(rules),
                for_seconds: rule.held_for.as_secs(),
            })
        };
        AlertRules(self.rules.chunk_by(|a, b| a.name == b.name).filter_map(one).collect())
    }
}
