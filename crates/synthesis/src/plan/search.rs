//! Plans out of registered endpoints alone. Section 10.7; off unless the operator lists `schemas`.
//!
//! What a proposal says is read first, as conditions: which change it names and of what, and of what entity each
//! member of its output is. Only endpoints that keep these are admitted, and only what is the same thing, entity and
//! property, flows from one to another. What is left is ranked; where two readings of the proposal are left, both are
//! named, and none is chosen.
//!
//! | file | holds |
//! |---|---|
//! | `host.rs` | the endpoints with what their members mean |
//! | `admission.rs` | which of them a plan may call: reads, and the one act |
//! | `contradiction.rs` | what the proposal says that an act would break |
//! | `need.rs` | whether a value is what is needed |
//! | `derive.rs`, `term.rs` | where values come from |
//! | `assembly.rs`, `assemble.rs`, `rank.rs` | plans, and which is the best |
//! | `wiring.rs` | which things the values of a plan are of |
//! | `recipe.rs` | a plan as a recipe, and in words |

mod admission;
mod assemble;
mod assembly;
mod contradiction;
mod derive;
mod host;
mod need;
mod rank;
mod recipe;
mod term;
mod wiring;

use std::collections::BTreeSet;
use std::sync::Arc;

use forecourt_contract::{Caller, Dispatcher};

use super::{FoundPlan, NoPlan, PlanRequest};
use crate::explanation::Explanation;
use crate::limits::REJECTED_TOLD_MAX;
use crate::meaning::words::{of_name, plain};
use crate::meaning::{Nouns, TypedMember};
use crate::nearby::{words, words_of};
use crate::refusal::RejectionReason;
use crate::wanted::verbs::MethodClass;
use crate::wanted::{ProposalTerms, WantedChange};
use admission::Admission;
use assemble::Assembler;
use assembly::Assembly;
use derive::Derivation;
use host::TypedEndpoint;
use rank::{Rank, Ranking};
use wiring::wiring;

/// What a plan made of schemas is called where recipes have their names.
const NAME: &str = "schemas";

/// Words that make something else of what they stand with, so that a plan must have them too.
const MAKING_OTHER: [&str; 22] = [
    "average",
    "mean",
    "median",
    "sum",
    "maximum",
    "minimum",
    "highest",
    "lowest",
    "cheapest",
    "most",
    "least",
    "largest",
    "smallest",
    "oldest",
    "first",
    "next",
    "previous",
    "former",
    "percentage",
    "latest",
    "last",
    "newest",
];

/// The plan that keeps the promise best.
///
/// # Errors
/// Why there is none, or more than one; nothing when nothing was proposed that a plan could be held to.
pub(super) fn find(
    dispatcher: &Dispatcher,
    steps_max: usize,
    asked: &PlanRequest<'_>,
    caller: &Caller,
) -> Result<FoundPlan, Option<NoPlan>> {
    let (Some(input), Some(output), Some(semantic), Some(path)) =
        (asked.input, asked.output, asked.semantic, asked.template)
    else {
        return Err(None);
    };
    let nouns = Nouns::of(dispatcher);
    let sentences = asked.sentences.clone();
    let proposed = ProposalTerms { method: asked.method, path, sentences, semantic, input, output };
    let wanted = WantedChange::read(&proposed, &nouns, &dispatcher.catalog);
    let registered = host::endpoints(dispatcher);
    let endpoints = host::typed_endpoints(&registered, dispatcher, &nouns, caller);
    let mut about = words(asked.path);
    about.extend(words_of(semantic));
    Search { wanted: &wanted, dispatcher, endpoints: &endpoints, about, steps_max }.find().map_err(Some)
}

/// A search for one proposal.
struct Search<'a> {
    wanted: &'a WantedChange<'a>,
    dispatcher: &'a Dispatcher,
    endpoints: &'a [TypedEndpoint<'a>],
    about: BTreeSet<String>,
    steps_max: usize,
}

impl<'a> Search<'a> {
    fn find(&self) -> Result<FoundPlan, NoPlan> {
        let admission = self.admit()?;
        let derivation = Derivation::new(self.wanted, &admission.reads);
        let ranking = Ranking { words: self.about.clone() };
        let assembler =
            Assembler { derivation: &derivation, endpoints: self.endpoints, ranking, steps_max: self.steps_max };
        let mut plans = match admission.acts.is_empty() {
            true => assembler.plans(None),
            false => admission.acts.iter().flat_map(|act| assembler.plans(Some(*act))).collect(),
        };
        if derivation.is_cut_short() {
            // Nothing rather than what was found so far: a better plan may lie in what was not looked at.
            return Err(impossible("too many registered endpoints could lead to the proposed output to look at all"));
        }
        let found = plans.len();
        plans.retain(|plan| self.uses_all(plan) && plan.calls().len() <= self.steps_max);
        if let Some(other) = self.makes_other(&plans) {
            return Err(impossible(&format!("nothing here tells what it asks for as `{other}`")));
        }
        let best = self.best(&assembler, plans).ok_or_else(|| self.nothing(&assembler, &admission, found > 0))?;
        let plan = best?;
        let whole = self.wanted.wants_list();
        let mut explanation = recipe::explanation(&plan);
        explanation.rejected = rejected(&admission);
        let log =
            std::iter::once("It is put together from registered endpoints, by what their members mean.".to_owned());
        let log = log.chain(explanation.lines()).collect();
        let plan = Arc::new(recipe::recipe(&plan, NAME, whole));
        Ok(FoundPlan { plan, lineage: None, log, explanation })
    }

    /// What may be called, where the proposal is one that a plan can be for at all.
    fn admit(&self) -> Result<Admission<'a>, NoPlan> {
        let (wanted, catalog) = (self.wanted, &self.dispatcher.catalog);
        if !wanted.is_change() {
            if wanted.class == MethodClass::Changes {
                let method = wanted.method;
                return Err(impossible(&format!("to {method} changes something, and it is proposed as informational")));
            }
            if let Some(why) = contradiction::ordered(wanted, catalog) {
                return Err(impossible(&why));
            }
        }
        let admission = Admission::of(wanted, self.endpoints, catalog);
        if wanted.is_change() && wanted.class != MethodClass::Reads && admission.acts.is_empty() {
            let method = wanted.method;
            let why = match rejected(&admission).as_slice() {
                [] => format!("no endpoint here is there to {method} what it is about"),
                rejected => format!("no endpoint here is there to {method} what it is about: {}", rejected.join("; ")),
            };
            return Err(impossible(&why));
        }
        if admission.acts.is_empty() && wanted.outputs.is_empty() {
            let why = "the proposed output declares nothing, so that nothing tells which endpoints would give it";
            return Err(impossible(why));
        }
        Ok(admission)
    }

    /// Whether a plan uses everything that the caller must give.
    fn uses_all(&self, plan: &Assembly<'_>) -> bool {
        let used = plan.used();
        self.wanted.requires.iter().all(|name| used.iter().any(|used| used == name))
    }

    /// A word of the proposal that makes something else of what is wanted, and that no endpoint of any plan has.
    fn makes_other(&self, plans: &[Assembly<'_>]) -> Option<String> {
        const LAST: [&str; 3] = ["latest", "last", "newest"];
        let asked = MAKING_OTHER.iter().filter(|word| self.wanted.spoken.contains(**word));
        let mut known: BTreeSet<String> = BTreeSet::new();
        for call in plans.iter().flat_map(Assembly::calls) {
            let typed = call.endpoint();
            let semantic = &typed.endpoint.semantic;
            for text in [typed.endpoint.path.as_str(), &semantic.intent, &semantic.outcome] {
                known.extend(plain(of_name(text)));
            }
            known.extend(typed.outputs.iter().flat_map(|member| of_name(member.name())));
        }
        let is_known = |word: &str| {
            known.contains(word) || (LAST.contains(&word) && LAST.iter().any(|last| known.contains(*last)))
        };
        let mut other = asked.filter(|word| !plans.is_empty() && !is_known(word));
        other.next().map(|word| (*word).to_owned())
    }

    /// The best plan. `None`: there is none; an error: there is more than one.
    fn best(&self, assembler: &Assembler<'_, 'a>, plans: Vec<Assembly<'a>>) -> Option<Result<Assembly<'a>, NoPlan>> {
        let mut readings: Vec<Vec<(Rank, Assembly<'a>)>> = assembler.by_reading(plans).into_values().collect();
        readings.sort_by_key(|plans| plans.first().map(|(rank, _)| *rank));
        let least = readings.first()?.first()?.0.byways;
        readings.retain(|plans| plans.first().is_some_and(|(rank, _)| rank.byways == least));
        let mut readings = readings.into_iter();
        let mut plans = readings.next()?.into_iter();
        let (rank, best) = plans.next()?;
        let other = readings.next().and_then(|plans| plans.into_iter().next()).map(|(_, plan)| plan);
        // The same reading in two ways of which nothing says which is meant: how sure or how short each is does not.
        let known = wiring(&best);
        let other = other.or_else(|| {
            let mut others = plans.filter(|(other, plan)| other.meant() == rank.meant() && wiring(plan) != known);
            others.next().map(|(_, plan)| plan)
        });
        Some(match other {
            Some(other) => Err(self.ambiguous(&best, &other)),
            None => Ok(best),
        })
    }

    fn ambiguous(&self, one: &Assembly<'_>, other: &Assembly<'_>) -> NoPlan {
        let (read, other_read) = (recipe::explanation(one), recipe::explanation(other));
        let hint = match read.meanings == other_read.meanings {
            true => "say in its description which is meant, or take of the caller what only one of them takes",
            false => "propose what tells them apart, such as `x-semantic-type` at the members of the output",
        };
        let (one, other) = (told(one, &read, &other_read), told(other, &other_read, &read));
        let explanation = format!("two plans fit equally well: {one}; or {other}: {hint}");
        NoPlan { reason: RejectionReason::Ambiguous, explanation, readings: vec![read, other_read] }
    }

    /// Why there is no plan.
    fn nothing(&self, assembler: &Assembler<'_, '_>, admission: &Admission<'_>, is_unused: bool) -> NoPlan {
        if is_unused {
            let names: Vec<&str> = self.wanted.requires.iter().copied().collect();
            let why = "no plan uses all that it requires of its caller";
            return impossible(&format!("{why} ({})", names.join(", ")));
        }
        let members = self.wanted.outputs.iter().filter(|member| member.path.len() == 1);
        let missing: Vec<&TypedMember<'_>> =
            members.filter(|member| member.is_sure && !assembler.is_derivable(member)).collect();
        if let [member] = missing.as_slice()
            && admission.acts.is_empty()
        {
            let anyones: Vec<Assembly<'_>> = assembler.anyones(member);
            if let [one, other, ..] = anyones.as_slice() {
                return self.ambiguous(one, other);
            }
        }
        let missing: Vec<String> = missing.iter().map(|member| format!("`{}`", member.name())).collect();
        let mut why = "no registered endpoints lead from the proposed input to the proposed output".to_owned();
        if !missing.is_empty() && admission.acts.is_empty() {
            why.push_str(&format!(": nothing here gives {} of what it names", missing.join(", ")));
        }
        impossible(&why)
    }
}

/// A plan in one line: its calls, what its result is, and what its calls take that those of another don't.
fn told(plan: &Assembly<'_>, read: &Explanation, other: &Explanation) -> String {
    let calls: Vec<String> = plan.calls().iter().map(|call| call.endpoint().title()).collect();
    let outputs = plan.outputs.iter().map(|output| format!("`{}` is {}", output.name, output.owned.meaning));
    let others: BTreeSet<&String> = other.steps.iter().flat_map(|step| &step.takes).collect();
    let takes = read.steps.iter().flat_map(|step| &step.takes).filter(|taken| !others.contains(taken)).cloned();
    let said: Vec<String> = outputs.chain(takes).collect();
    format!("{} ({})", calls.join(", then "), said.join(", "))
}

fn impossible(why: &str) -> NoPlan {
    NoPlan { reason: RejectionReason::CompositionImpossible, explanation: why.to_owned(), readings: Vec::new() }
}

/// What comes near the act and is none, in sentences.
fn rejected(admission: &Admission<'_>) -> Vec<String> {
    let told = admission.rejected.iter().map(|(typed, why)| format!("{}, since {why}", typed.title()));
    told.take(REJECTED_TOLD_MAX).collect()
}
