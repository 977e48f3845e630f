//! What compositions need of the endpoints that they are made of. Sections 12.1 and 13.2.

use std::collections::BTreeSet;

use super::Dispatcher;
use crate::endpoint::{Binding, Endpoint};
use crate::method::Method;
use crate::path::RequestPath;
use crate::recipe::Step;
use crate::registry::Registered;
use crate::reserved;
use crate::scope::Scope;

impl Dispatcher {
    /// What a caller needs for an endpoint: what it requires, and for a composition what those of
    /// its steps require that are known beforehand, however deep they lie. Section 12.1.
    pub fn required_scopes(&self, endpoint: &Endpoint) -> Vec<Scope> {
        let mut scopes = endpoint.required_scopes.clone();
        let (mut seen, mut open) = (BTreeSet::new(), Vec::from_iter(recipe_of(endpoint)));
        while let Some(recipe) = open.pop() {
            if !seen.insert(recipe.clone()) {
                continue;
            }
            for step in self.known_steps(&recipe) {
                let more = step.endpoint.required_scopes.iter().filter(|scope| !scopes.contains(scope));
                scopes.extend(more.cloned().collect::<Vec<_>>());
                open.extend(recipe_of(&step.endpoint));
            }
        }
        scopes
    }

    /// What a caller needs for a method at a path; nothing where no endpoint is.
    pub fn required_at(&self, method: &Method, path: &str) -> Vec<Scope> {
        self.known(method, path).map(|registered| self.required_scopes(&registered.endpoint)).unwrap_or_default()
    }

    /// The steps of a recipe, by index, that go to a known path where nothing answers. Section 13.2.
    pub fn dangling_steps(&self, recipe: &str) -> Vec<usize> {
        let Some(recipe) = self.recipes.get(recipe) else { return Vec::new() };
        recipe.steps.iter().enumerate().filter(|(_, step)| self.dangles(step)).map(|(at, _)| at).collect()
    }

    /// Whether the known steps of a recipe lead back to it, so that no run of it would end.
    pub fn is_circular(&self, recipe: &str) -> bool {
        let (mut seen, mut open) = (BTreeSet::new(), vec![recipe.to_owned()]);
        while let Some(name) = open.pop() {
            for next in self.compositions_in(&name) {
                if next == recipe {
                    return true;
                }
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        false
    }

    /// The recipes of those known steps of a recipe that are compositions themselves.
    fn compositions_in(&self, recipe: &str) -> Vec<String> {
        self.known_steps(recipe).filter_map(|step| recipe_of(&step.endpoint)).collect()
    }

    /// The endpoints that those steps of a recipe call whose path is known.
    fn known_steps(&self, recipe: &str) -> impl Iterator<Item = Registered> {
        let steps = self.recipes.get(recipe).into_iter().flat_map(|recipe| &recipe.steps);
        steps.filter_map(|step| self.known(&step.method, step.static_path()?))
    }

    fn dangles(&self, step: &Step) -> bool {
        step.static_path().is_some_and(|path| {
            let is_native = reserved::is_native(&step.method, path);
            !is_native && self.known(&step.method, path).is_none()
        })
    }

    fn known(&self, method: &Method, path: &str) -> Option<Registered> {
        let path = RequestPath::parse(path, &self.catalog).ok()?;
        self.registry.find(method, &path).map(|matched| matched.registered)
    }
}

/// The recipe of a composition.
fn recipe_of(endpoint: &Endpoint) -> Option<String> {
    match &endpoint.binding {
        Binding::Composition { recipe, .. } => Some(recipe.clone()),
        Binding::RegisteredFunction { .. } | Binding::ExternalService(_) => None,
    }
}
