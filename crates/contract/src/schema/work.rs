//! This module bounds the work of checking a value, before the value is checked.
//!
//! Alternatives and references multiply: a short schema can ask for 2^24 looks at one value, and a
//! recursive one for twice as many at every level. So for each level of nesting the most checks that
//! one value there can take are counted when a schema is compiled, and before a value is checked its
//! parts are counted level by level.

use forecourt_core::limits::JSON_DEPTH_MAX;
use serde_json::Value;

use super::graph::{Graph, Node};
use super::{SchemaError, Violation};
use crate::limits::{CHECKS_MAX, CHECKS_PER_VALUE_MAX};

/// Levels at which no schema needs many checks, however recursive.
const SHALLOW_LEVELS: usize = 3;

/// The most checks that one value takes, by the level it lies at; below the last level, as many as there.
#[derive(Clone)]
pub(super) struct Work {
    per_value: Box<[u64]>,
}

impl Work {
    pub(super) fn of(graph: &Graph) -> Result<Work, SchemaError> {
        let mut per_value = Vec::with_capacity(JSON_DEPTH_MAX + 1);
        let mut outer: Option<Vec<u64>> = None;
        for _ in 0..=JSON_DEPTH_MAX {
            let level = level(graph, outer.as_deref());
            per_value.push(level[0]);
            outer = Some(level);
        }
        match per_value.iter().take(SHALLOW_LEVELS).all(|checks| *checks <= CHECKS_PER_VALUE_MAX) {
            true => {
                // Few schemas go on beyond some levels, and each of them is held as long as its endpoint.
                while matches!(per_value[..], [.., before, last] if before == last) {
                    per_value.pop();
                }
                Ok(Work { per_value: per_value.into() })
            }
            false => Err(SchemaError::TooMuchWork),
        }
    }

    /// Refuses a value that would take more than [`CHECKS_MAX`] checks, or lies deeper than JSON may.
    pub(super) fn allows(&self, value: &Value) -> Result<(), Violation> {
        let mut checks = 0_u64;
        self.count(value, 0, &mut checks)
    }

    fn count(&self, value: &Value, level: usize, checks: &mut u64) -> Result<(), Violation> {
        if level > JSON_DEPTH_MAX {
            return Err(Violation::new("", format!("nested more than {JSON_DEPTH_MAX} levels deep")));
        }
        let here = self.per_value.get(level).or(self.per_value.last()).copied().unwrap_or_default();
        // Saturating: numbers of checks reach 2^64 within a few levels, and a wrapped one would be small.
        *checks = checks.saturating_add(here);
        if *checks > CHECKS_MAX {
            return Err(Violation::new("", "too large, or nested too deeply, to be checked against its schema"));
        }
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.count(item, level + 1, checks)),
            Value::Object(fields) => fields.values().try_for_each(|field| self.count(field, level + 1, checks)),
            _ => Ok(()),
        }
    }
}

/// The checks that each schema of the graph causes on one value so many levels below the value that
/// it is checked against; `outer` is the same for one level less, `None` for the value itself.
fn level(graph: &Graph, outer: Option<&[u64]>) -> Vec<u64> {
    let mut checks = vec![0_u64; graph.nodes.len()];
    for &at in &graph.order {
        let node = &graph.nodes[at];
        let own = outer.map_or(1, |outer| inside(node, outer));
        let in_place = node.in_place.iter().fold(0_u64, |sum, &next| sum.saturating_add(checks[next]));
        // `unevaluated…` runs the schemas beside it a second time, to learn which properties they have evaluated.
        let looks = if node.looks_twice { 2 } else { 1 };
        checks[at] = own.saturating_add(in_place.saturating_mul(looks));
    }
    checks
}

fn inside(node: &Node, outer: &[u64]) -> u64 {
    let one_each = node.one_each.iter().map(|&next| outer[next]).max().unwrap_or(0);
    node.inside.iter().fold(one_each, |sum, &next| sum.saturating_add(outer[next]))
}
