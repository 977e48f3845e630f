//! A proposal, held against what there is. Section 10.6, in its order.

use std::collections::BTreeSet;
use std::sync::Arc;

use forecourt_contract::endpoint::COMPOSITION_ERROR;
use forecourt_contract::registry::CallerNeeds;
use forecourt_contract::reserved::shadowed;
use forecourt_contract::scope::Scope;
use forecourt_contract::{Caller, Dispatcher, Endpoint, Method, RequestPath, Semantic, Template};
use serde_json::{Value, json};

use super::definition::Definition;
use super::{Proposal, ProposalRefusal, RejectionReason};
use crate::Synthesis;
use crate::explanation::Explanation;
use crate::meaning::KEYWORD;
use crate::nearby::counter_proposal;
use crate::plan::{self, Effect, FoundPlan, NoPlan, PlanRequest, Steps};
use crate::settings::SynthesisSettings;

impl Proposal {
    /// Holds the proposal against what there is: the seven evaluations in their order. Whether proposals are
    /// looked at at all is for whoever calls this: [`ProposalRefusal::disabled`].
    ///
    /// # Errors
    /// The first that fails. Where nothing can be put together and the operator would not permit it either, the
    /// latter is told: no recipe would change it.
    pub fn evaluate(
        &self,
        dispatcher: &Dispatcher,
        settings: &SynthesisSettings,
        steps_max: usize,
        caller: &Caller,
    ) -> Result<Synthesis, ProposalRefusal> {
        let definition = self.definition(dispatcher)?;
        self.authorised(&definition, caller)?;
        let rejected = |NoPlan { reason, explanation, readings }: NoPlan| {
            let Definition { method, path, semantic, .. } = &definition;
            let counter_proposal = match readings.is_empty() {
                true => counter_proposal(dispatcher, method.as_str(), path.as_str(), Some(semantic)),
                false => definition.as_each(&readings),
            };
            ProposalRefusal::Rejected { reason, explanation, counter_proposal }
        };
        // Looked at here and told after the plan: evaluation 6 comes before 7, but where both fail the policy's word is
        // the more useful.
        let refused =
            refused_by_policy(&definition, dispatcher).map(|why| NoPlan::because(RejectionReason::PolicyRefused, why));
        let asked = definition.asked(self);
        let found = match plan::find(dispatcher, settings, steps_max, &asked, caller) {
            Ok(found) => found,
            Err(nothing) => return Err(rejected(refused.unwrap_or(nothing))),
        };
        let needs = plan::authorised(dispatcher, &found.plan, caller)?;
        if let Some(refused) = refused {
            return Err(rejected(refused));
        }
        let impossible = || NoPlan::impossible("its schemas are too large".to_owned());
        definition.synthesis(found, needs, dispatcher).ok_or_else(|| rejected(impossible()))
    }

    /// Section 10.6, 5: what the proposal itself says that it needs. What its steps need follows when they are
    /// known.
    fn authorised(&self, definition: &Definition, caller: &Caller) -> Result<(), ProposalRefusal> {
        let wanted = definition.required_scopes.iter().chain(&self.scopes);
        let missing = caller.authority().in_use().missing(wanted);
        if missing.is_empty() { Ok(()) } else { Err(ProposalRefusal::Scope { missing }) }
    }
}

impl Definition {
    /// What a plan is looked for.
    fn asked<'a>(&'a self, proposal: &'a Proposal) -> PlanRequest<'a> {
        let input = self.input.as_ref().and_then(|input| input.properties());
        let legacy = proposal.definition.get("parameters").filter(|_| proposal.is_legacy);
        let legacy = legacy.and_then(|parameters| parameters.as_object());
        let names: BTreeSet<String> = input.into_iter().chain(legacy).flat_map(|named| named.keys().cloned()).collect();
        PlanRequest {
            method: &self.method,
            path: self.path.as_str(),
            parameters: names.into_iter().collect(),
            input: self.input.as_ref(),
            output: self.output.as_ref(),
            semantic: Some(&self.semantic),
            template: Some(&self.path),
            sentences: {
                let name = proposal.definition.get("name").and_then(Value::as_str).filter(|_| proposal.is_legacy);
                let Semantic { intent, outcome, .. } = &self.semantic;
                [self.description.as_str(), intent, outcome].into_iter().chain(name).collect()
            },
        }
    }

    /// The proposal once more as each of its readings. `None`: nothing in its output would tell them apart.
    fn as_each(&self, readings: &[Explanation]) -> Option<Value> {
        let proposals: Vec<Value> = readings.iter().map(|reading| self.as_read(reading)).collect::<Option<_>>()?;
        let outputs: BTreeSet<String> =
            proposals.iter().map(|proposal| proposal["output_schema"].to_string()).collect();
        (outputs.len() == proposals.len()).then_some(Value::Array(proposals))
    }

    /// The proposal once more, as one of its readings: whoever proposes this is understood. `None`: a member of its
    /// output is declared where no type can be written to it.
    fn as_read(&self, reading: &Explanation) -> Option<Value> {
        let mut output = self.output.as_ref()?.source().clone();
        for (name, meaning) in &reading.meanings {
            let member = output.get_mut("properties").and_then(|all| all.get_mut(name));
            member?.as_object_mut()?.insert(KEYWORD.to_owned(), json!(meaning));
        }
        Some(json!({
            "method": self.method,
            "path": self.path.as_str(),
            "description": self.description,
            "output_schema": output,
            "plan": reading,
        }))
    }

    /// The endpoint as it is made: what was proposed, as far as the steps keep it. `None`: what they take or give
    /// can't be described.
    fn synthesis(&self, found: FoundPlan, needs: CallerNeeds, dispatcher: &Dispatcher) -> Option<Synthesis> {
        let FoundPlan { plan, lineage, mut log, explanation } = found;
        log.push(plan::calls(&plan));
        let steps = Steps::of(&plan, dispatcher);
        let semantic = honest(self.semantic.clone(), steps.effect(), &mut log);
        let (input, output) = match (self.input.clone(), self.output.clone()) {
            (Some(input), Some(output)) => (input, output),
            (input, output) => {
                log.push("The schemas that it left out are those of its steps.".to_owned());
                let (described_input, described_output) = plan::described(&steps)?;
                (input.unwrap_or(described_input), output.unwrap_or(described_output))
            }
        };
        // What was left to the steps must still take what the path has. Section 5.3.
        if self.path.parameters().any(|name| !input.declares(name)) {
            return None;
        }
        let mut errors = self.errors.clone();
        if !errors.iter().any(|name| name == COMPOSITION_ERROR) {
            errors.push(COMPOSITION_ERROR.to_owned());
        }
        let own = self.required_scopes.clone();
        let more: Vec<Scope> = needs.scopes.iter().filter(|scope| !own.contains(scope)).cloned().collect();
        if !more.is_empty() {
            let names: Vec<&str> = more.iter().map(Scope::as_str).collect();
            log.push(format!("Its steps need {}.", names.join(", ")));
        }
        let required_scopes: Vec<Scope> = own.into_iter().chain(more).collect();
        let needs = CallerNeeds { scopes: required_scopes.clone().into(), token: needs.token };
        let endpoint = Endpoint {
            method: self.method.clone(),
            path: self.path.clone(),
            description: self.description.clone(),
            namespace: self.namespace.clone(),
            semantic,
            input,
            output,
            errors,
            required_scopes,
            deprecated: None,
            offers: Vec::new(),
            binding: plan::binding(&plan.name),
        };
        Some(Synthesis { endpoint: Arc::new(endpoint), plan, lineage, needs, log, explanation })
    }
}

/// Section 16.2: what is declared is what is done. Nothing is declared weaker than its steps are.
fn honest(proposed: Semantic, effect: Effect, log: &mut Vec<String>) -> Semantic {
    let mut semantic = proposed;
    if effect.impact > semantic.impact {
        let (declared, real) = (word(semantic.impact), word(effect.impact));
        log.push(format!("It was proposed as {declared}, and is {real}: its steps are."));
        semantic.impact = effect.impact;
    }
    if semantic.is_idempotent && !effect.is_idempotent {
        log.push("It was proposed as idempotent, and is not: its steps are not.".to_owned());
        semantic.is_idempotent = false;
    }
    if effect.confidence < semantic.confidence {
        let real = effect.confidence;
        log.push(format!("Its confidence is {real}: that of all its steps together."));
        semantic.confidence = real;
    }
    semantic
}

fn word(impact: forecourt_contract::semantic::Impact) -> &'static str {
    use forecourt_contract::semantic::Impact;
    match impact {
        Impact::Informational => "informational",
        Impact::Reversible => "reversible",
        Impact::Irreversible => "irreversible",
    }
}

/// Section 10.6, 7: why the pair is not to be made, if so.
fn refused_by_policy(definition: &Definition, dispatcher: &Dispatcher) -> Option<String> {
    let Definition { method, path, .. } = definition;
    if let Some(taken) = shadowed(method, path) {
        return Some(format!("{method} {path} is not to be made: {taken} belongs to the host"));
    }
    let resolved = dispatcher.policy.resolve(method.as_str(), &dispatcher.catalog)?;
    if resolved.method != *method {
        let meant = &resolved.method;
        return Some(format!("{method} is taken for {meant} here: propose {meant} {path}, or call it"));
    }
    if !dispatcher.policy.admits(method, method) {
        return Some(format!("the operator does not let {method} in: propose another method"));
    }
    if let Some((to_method, to_path)) = dispatcher.policy.redirect(method, path.as_str()) {
        return Some(format!("calls of {method} {path} go to {to_method} {to_path}: call that"));
    }
    is_registered(method, path, dispatcher).then(|| format!("{method} {path} is registered already: call it"))
}

/// Whether every call of a pair is for an endpoint that is registered, so that no contract would ever serve one.
fn is_registered(method: &Method, path: &Template, dispatcher: &Dispatcher) -> bool {
    // A value that no literal segment of a registered path is likely to be, so that only parameters match it.
    let typical = path.fill(|_| Some("~".to_owned()));
    let typical = typical.and_then(|path| RequestPath::parse(&path, &dispatcher.catalog).ok());
    typical.is_some_and(|path| dispatcher.registry.find(method, &path).is_some())
}
