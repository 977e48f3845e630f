//! This module finds out what compositions need of their callers, from the endpoints that their steps call. Sections
//! 12.1 and 13.2. It makes no calls.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Dispatcher;
use crate::call::Caller;
use crate::endpoint::{Binding, Endpoint};
use crate::method::Method;
use crate::policy::ResolvedMethod;
use crate::recipe::{Recipe, Step};
use crate::refusal::IdentityRefusal;
use crate::registry::{CallerNeeds, RegisteredEndpoint};
use crate::reserved;
use crate::scope::Scope;

/// The call of a step, as far as it is known before the recipe runs.
struct ForeseenCall {
    /// The method that the step names, and what it stands for.
    resolved: ResolvedMethod,
    /// The method after redirects.
    method: Method,
    /// What answers it; none for the host's own pairs, where nothing does, and while the path is not known.
    registered: Option<RegisteredEndpoint>,
    /// Whether the host answers it itself.
    is_native: bool,
}

impl Dispatcher {
    /// This dispatcher with the needs of each endpoint computed: a composition needs the scopes of all steps that are
    /// known beforehand, however deep they lie, and publishes them. Section 12.1. Done once, as no call changes it.
    #[must_use]
    pub fn sealed(mut self) -> Dispatcher {
        let needs: Vec<CallerNeeds> = self.registry.iter().map(|registered| self.needs(&registered.endpoint)).collect();
        self.registry.seal(needs);
        self
    }

    fn needs(&self, endpoint: &Endpoint) -> CallerNeeds {
        let mut scopes = endpoint.required_scopes.clone();
        let within = self.within(endpoint);
        for registered in within.iter().filter_map(|known| known.registered.as_ref()) {
            add(&mut scopes, &registered.endpoint.required_scopes);
        }
        let token = within.iter().any(|known| self.takes_token(&known.resolved, &known.method));
        CallerNeeds { scopes: scopes.into(), token }
    }

    /// What a caller lacks for a method at a path; nothing where no endpoint is.
    pub fn lacks_at(&self, method: &Method, path: &str, caller: &Caller) -> Vec<Scope> {
        let registered = self.known(method, Some(path)).and_then(|known| known.registered);
        let needed = registered.map(|registered| registered.needs.scopes);
        needed.map(|needed| caller.authority().in_use().missing(needed.iter())).unwrap_or_default()
    }

    /// Whether the caller showed what is asked to be shown for a method at a path, as it is found of a call.
    ///
    /// # Errors
    /// What is missing.
    pub fn proven_at(&self, method: &Method, path: &str, caller: &Caller) -> Result<(), IdentityRefusal> {
        match self.known(method, Some(path)) {
            Some(known) => self.showed(caller, &known.resolved, &known.method, known.registered.as_ref()),
            None => Ok(()),
        }
    }

    /// What a caller needs for a plan, with all that it is made of; of a step whose path is not known beforehand,
    /// what its calls need in general ([`Step::typical_path`]). Section 10.7.
    pub fn needs_of_plan(&self, plan: &Recipe) -> CallerNeeds {
        let first: Vec<ForeseenCall> = plan.steps.iter().filter_map(|step| self.planned(step)).collect();
        let (more, _) = self.reached(first.iter().filter_map(recipe_behind).collect());
        let mut scopes = Vec::new();
        for registered in first.iter().chain(&more).filter_map(|known| known.registered.as_ref()) {
            add(&mut scopes, &registered.endpoint.required_scopes);
        }
        let token = first.iter().chain(&more).any(|known| self.takes_token(&known.resolved, &known.method));
        CallerNeeds { scopes: scopes.into(), token }
    }

    /// What answers each step of a plan, as [`Step::typical_path`] tells it; nothing for what the host answers
    /// itself, and where nothing answers.
    pub fn endpoints_of_plan(&self, plan: &Recipe) -> Vec<Option<Arc<Endpoint>>> {
        plan.steps.iter().map(|step| Some(self.planned(step)?.registered?.endpoint)).collect()
    }

    /// The steps of a plan, by index, whose calls are answered by nothing, or are not let in.
    pub fn dangling_steps_of_plan(&self, plan: &Recipe) -> Vec<usize> {
        let is_answered = |step: &Step| {
            self.planned(step).is_some_and(|known| {
                let is_let_in = self.policy.admits(&known.resolved.requested, &known.resolved.method)
                    && self.policy.admits(&known.method, &known.method);
                is_let_in && (known.is_native || known.registered.is_some())
            })
        };
        plan.steps.iter().enumerate().filter(|(_, step)| !is_answered(step)).map(|(at, _)| at).collect()
    }

    /// What a caller of a plan did not show that its steps ask to be shown. Section 10.7.
    ///
    /// # Errors
    /// What is missing.
    pub fn proven_for_plan(&self, plan: &Recipe, caller: &Caller) -> Result<(), IdentityRefusal> {
        let mut planned = plan.steps.iter().filter_map(|step| self.planned(step));
        planned.try_for_each(|known| self.showed(caller, &known.resolved, &known.method, known.registered.as_ref()))
    }

    /// The steps of a recipe, by index, that go to a known path where nothing answers. Section 13.2.
    pub fn dangling_steps(&self, recipe: &str) -> Vec<usize> {
        let steps = self.recipes.get(recipe).map_or(&[][..], |recipe| &recipe.steps);
        steps.iter().enumerate().filter(|(_, step)| self.dangles(step)).map(|(at, _)| at).collect()
    }

    /// Whether the known steps of a recipe lead back to it, so that no run of it would end.
    pub fn is_circular(&self, recipe: &str) -> bool {
        self.reached(vec![recipe.to_owned()]).1.contains(recipe)
    }

    /// The calls that an endpoint is known to be made of; none unless it is a composition.
    fn within(&self, endpoint: &Endpoint) -> Vec<ForeseenCall> {
        recipe_of(endpoint).map(|recipe| self.reached(vec![recipe]).0).unwrap_or_default()
    }

    /// The known calls of the steps of `open` and of all recipes that those lead to, with the names of the
    /// latter. Each recipe is looked at once.
    fn reached(&self, mut open: Vec<String>) -> (Vec<ForeseenCall>, BTreeSet<String>) {
        let (mut calls, mut seen, mut led_to) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        while let Some(recipe) = open.pop() {
            // Recipes may lead back to one another, by endpoints that are compositions of them.
            if !seen.insert(recipe.clone()) {
                continue;
            }
            for known in self.known_steps(&recipe) {
                let next = recipe_behind(&known);
                led_to.extend(next.clone());
                open.extend(next);
                calls.push(known);
            }
        }
        (calls, led_to)
    }

    /// The calls of the steps of a recipe.
    fn known_steps(&self, recipe: &str) -> impl Iterator<Item = ForeseenCall> {
        self.known_calls(self.recipes.get(recipe).map_or(&[], |recipe| &recipe.steps))
    }

    fn known_calls(&self, steps: &[Step]) -> impl Iterator<Item = ForeseenCall> {
        steps.iter().filter_map(|step| self.known(&step.method, step.static_path()))
    }

    fn planned(&self, step: &Step) -> Option<ForeseenCall> {
        self.known(&step.method, Some(&step.typical_path()?))
    }

    fn dangles(&self, step: &Step) -> bool {
        let known = step.static_path().map(|path| self.known(&step.method, Some(path)));
        known.is_some_and(|known| known.is_none_or(|known| !known.is_native && known.registered.is_none()))
    }

    /// Where a call of a step goes; of one whose path is made of results, what its method alone says.
    /// `None`: nowhere, for its method or its path is none.
    fn known(&self, sent: &Method, path: Option<&str>) -> Option<ForeseenCall> {
        let resolved = self.policy.resolve(sent.as_str(), &self.catalog)?;
        let Some(path) = path else {
            let method = resolved.method.clone();
            return Some(ForeseenCall { resolved, method, registered: None, is_native: false });
        };
        let (method, path) = self.redirected(&resolved.method, self.path(&resolved.method, path).ok()?).ok()?;
        let registered = self.registry.find(&method, &path).map(|matched| matched.registered);
        // In the order of `Dispatcher::classify`: what is foreseen must be what the call will find.
        let is_native = registered.is_none() && reserved::is_native(&method, path.as_str());
        Some(ForeseenCall { resolved, method, registered, is_native })
    }
}

fn add(scopes: &mut Vec<Scope>, more: &[Scope]) {
    for scope in more {
        if !scopes.contains(scope) {
            scopes.push(scope.clone());
        }
    }
}

/// The recipe of what a call leads to.
fn recipe_behind(known: &ForeseenCall) -> Option<String> {
    known.registered.as_ref().and_then(|registered| recipe_of(&registered.endpoint))
}

/// The recipe of a composition.
fn recipe_of(endpoint: &Endpoint) -> Option<String> {
    match &endpoint.binding {
        Binding::Composition { recipe, .. } => Some(recipe.clone()),
        Binding::RegisteredFunction { .. } | Binding::ExternalService(_) => None,
    }
}
