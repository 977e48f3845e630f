//! What compositions need of the endpoints that they are made of. Sections 12.1 and 13.2.

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
    /// its steps require that are known beforehand. Section 12.1.
    pub fn required_scopes(&self, endpoint: &Endpoint) -> Vec<Scope> {
        let mut scopes = endpoint.required_scopes.clone();
        let Binding::Composition { recipe, .. } = &endpoint.binding else { return scopes };
        let steps = self.recipes.get(recipe).into_iter().flat_map(|recipe| &recipe.steps);
        for registered in steps.filter_map(|step| self.known(&step.method, step.static_path()?)) {
            for scope in &registered.endpoint.required_scopes {
                if !scopes.contains(scope) {
                    scopes.push(scope.clone());
                }
            }
        }
        scopes
    }

    /// The steps of a recipe, by index, that go to a known path where nothing answers. Section 13.2.
    pub fn dangling_steps(&self, recipe: &str) -> Vec<usize> {
        let Some(recipe) = self.recipes.get(recipe) else { return Vec::new() };
        recipe.steps.iter().enumerate().filter(|(_, step)| self.dangles(step)).map(|(at, _)| at).collect()
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
