//! Calls in an order, and where each takes its input from.

use std::collections::{BTreeMap, BTreeSet};

use forecourt_contract::recipe::{Aggregation, InputSource, Recipe, ResultReference, Step};

use super::super::shape::Kinds;
use super::super::steps::title;
use super::Goal;
use super::candidates::PlanCandidate;

/// The beginning of a plan, in which every call has what it needs.
#[derive(Clone, Default)]
pub(super) struct Draft<'c> {
    calls: Vec<DraftCall<'c>>,
}

#[derive(Clone)]
struct DraftCall<'c> {
    /// Its place among the candidates.
    at: usize,
    candidate: &'c PlanCandidate,
    /// For each of its needs, the earlier call whose result has it, by its place in the draft; none for the caller.
    from: Vec<Option<usize>>,
}

/// Where the result comes from.
enum Ending<'g> {
    /// The last call alone.
    Last,
    /// Members of the results of calls, by their places.
    Members(BTreeMap<&'g str, usize>),
}

impl<'c> Draft<'c> {
    /// The candidates that are called, in the order of the registry.
    pub(super) fn calls(&self) -> Vec<usize> {
        let mut calls: Vec<usize> = self.calls.iter().map(|call| call.at).collect();
        calls.sort_unstable();
        calls
    }

    /// The same with one call more. `None`: it is there already, or something that it needs is not.
    pub(super) fn with(&self, at: usize, candidates: &'c [PlanCandidate]) -> Option<Draft<'c>> {
        let candidate = candidates.get(at).filter(|_| self.calls.iter().all(|call| call.at != at))?;
        // The caller before earlier calls, and these in their order.
        let from = candidate.needs.iter().map(|need| match need.by_caller {
            true => Some(None),
            false => self.calls.iter().position(|call| need.makers.contains(&call.at)).map(Some),
        });
        let from = from.collect::<Option<Vec<_>>>()?;
        let mut longer = self.clone();
        longer.calls.push(DraftCall { at, candidate, from });
        Some(longer)
    }

    /// Whether it comes to what is wanted, uses everything that the caller must give, and calls nothing in vain.
    pub(super) fn is_whole(&self, goal: &Goal<'_>) -> bool {
        let Some(ending) = self.ending(goal) else { return false };
        let given: BTreeSet<&str> = self.calls.iter().flat_map(DraftCall::given_by_caller).collect();
        self.used(&ending).len() == self.calls.len() && goal.input.required().iter().all(|name| given.contains(name))
    }

    /// Where the result comes from, if it is there.
    fn ending<'g>(&self, goal: &Goal<'g>) -> Option<Ending<'g>> {
        if self.calls.last()?.candidate.is_an_end {
            return Some(Ending::Last);
        }
        if goal.output.kinds() != Kinds::OBJECT {
            return None;
        }
        let mut members: BTreeMap<&str, usize> = BTreeMap::new();
        for name in goal.output.declared().into_iter().chain(goal.wanted()) {
            let gives = |call: &DraftCall<'_>| call.candidate.gives.iter().any(|given| given == name);
            // The last call that has the member, as where results are merged.
            match self.calls.iter().rposition(gives) {
                Some(at) => drop(members.insert(name, at)),
                None if goal.output.requires(name) => return None,
                None => {}
            }
        }
        Some(Ending::Members(members))
    }

    /// The calls that something comes of.
    fn used(&self, ending: &Ending<'_>) -> BTreeSet<usize> {
        let mut open: Vec<usize> = match ending {
            Ending::Last => self.calls.len().checked_sub(1).into_iter().collect(),
            Ending::Members(members) => members.values().copied().collect(),
        };
        let mut used = BTreeSet::new();
        while let Some(at) = open.pop() {
            if used.insert(at) {
                open.extend(self.calls[at].from.iter().flatten());
            }
        }
        used
    }

    /// The plan, and what is to be said of it. `None`: it does not come to what is wanted.
    pub(super) fn plan(&self, goal: &Goal<'_>, name: &str) -> Option<(Recipe, Vec<String>)> {
        let ending = self.ending(goal)?;
        let steps: Vec<Step> = self.calls.iter().enumerate().map(|(at, call)| call.step(at)).collect();
        let log = self.log(&steps);
        let aggregation = match ending {
            Ending::Last => Aggregation::Last,
            Ending::Members(members) => {
                Aggregation::Fields(members.into_iter().map(|(name, at)| (name.to_owned(), member(at, name))).collect())
            }
        };
        let (version, description) = ("1".to_owned(), String::new());
        Some((Recipe { name: name.to_owned(), version, description, pattern: None, steps, aggregation }, log))
    }

    /// What goes from where to where.
    fn log(&self, steps: &[Step]) -> Vec<String> {
        let mut log = vec!["It is put together from registered endpoints, by their schemas.".to_owned()];
        for (call, step) in self.calls.iter().zip(steps) {
            for (need, from) in call.candidate.needs.iter().zip(&call.from) {
                let maker = from.and_then(|from| steps.get(from));
                log.extend(maker.map(|maker| format!("{} takes `{}` from {}.", title(step), need.name, title(maker))));
            }
        }
        log
    }
}

impl<'c> DraftCall<'c> {
    /// The inputs that it takes of the caller.
    fn given_by_caller(&self) -> impl Iterator<Item = &'c str> {
        let needs = self.candidate.needs.iter().zip(&self.from).filter(|(_, from)| from.is_none());
        let needed: Vec<&'c str> = needs.map(|(need, _)| need.name.as_str()).collect();
        needed.into_iter().chain(self.candidate.optional.iter().map(String::as_str))
    }

    /// The call as the step at a place.
    fn step(&self, at: usize) -> Step {
        let needs = self.candidate.needs.iter().zip(&self.from).map(|(need, from)| {
            let source = match from {
                None => InputSource::Proposal(need.name.clone()),
                Some(earlier) => InputSource::PreviousStep(member(*earlier, &need.name)),
            };
            (need.name.clone(), source)
        });
        let optional = self.candidate.optional.iter().map(|name| (name.clone(), InputSource::Proposal(name.clone())));
        Step {
            method: self.candidate.endpoint.method.clone(),
            path: Some(self.candidate.endpoint.path.clone()),
            capture_as: Some(capture(at)),
            parameters: needs.chain(optional).collect(),
        }
    }
}

/// The name that the result of the step at a place is captured under.
fn capture(at: usize) -> String {
    format!("step{at}")
}

fn member(at: usize, name: &str) -> ResultReference {
    ResultReference { capture: capture(at), members: vec![name.to_owned()] }
}
