//! From what an endpoint says about its handler to the handler.

use std::sync::Arc;

use forecourt_contract::endpoint::Binding;
use forecourt_contract::{Endpoint, Handler, RecipeBook};
use forecourt_settings::{Problem, Section};

use super::{Draft, Kinds};
use crate::composition::Composition;
use crate::external::External;
use crate::function::{FunctionError, FunctionSource};
use crate::unfit::HandlerProblem;

/// What handlers are made of.
pub(super) struct Makers<'a> {
    pub(super) kinds: &'a Kinds,
    pub(super) recipes: &'a RecipeBook,
}

/// An endpoint with what answers it.
pub(super) struct BoundEndpoint {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) handler: Arc<dyn Handler>,
    /// The table that it stands in.
    pub(super) table: Section,
}

/// Makes the handler of an endpoint.
///
/// # Errors
/// Nothing can answer it: section 13.2.
pub(super) fn bind(draft: Draft, makers: &Makers<'_>) -> Result<BoundEndpoint, Problem> {
    let Draft { endpoint, table } = draft;
    let handler = makers.handler(&endpoint).map_err(|unfit| table.problem(Some("handler"), unfit.to_string()))?;
    // What reads schemas has read them; a host has more endpoints than are ever called.
    let (input, output) = (endpoint.input.clone().packed(), endpoint.output.clone().packed());
    let endpoint = Endpoint { input, output, ..endpoint };
    Ok(BoundEndpoint { endpoint: Arc::new(endpoint), handler, table })
}

impl Makers<'_> {
    fn handler(&self, endpoint: &Endpoint) -> Result<Arc<dyn Handler>, HandlerProblem> {
        match &endpoint.binding {
            Binding::Composition { recipe, timeout } => {
                let found = self.recipes.get(recipe);
                let missing =
                    || HandlerProblem::new("recipe-not-found", format!("there is no recipe named `{recipe}`"));
                let recipe = Arc::clone(found.ok_or_else(missing)?);
                Ok(Arc::new(Composition::new(recipe, self.kinds.host.clone(), *timeout)))
            }
            Binding::RegisteredFunction { function, .. } => {
                self.kinds.functions.find(function).map_err(|fault| unfit(function, fault))
            }
            Binding::ExternalService(service) => {
                Ok(Arc::new(External::new(service, &endpoint.input, self.kinds.egress.clone())?))
            }
        }
    }
}

fn unfit(function: &str, fault: FunctionError) -> HandlerProblem {
    match fault {
        FunctionError::Unknown => {
            HandlerProblem::new("function-not-found", format!("there is no function named `{function}`"))
        }
        FunctionError::Broken(why) => {
            HandlerProblem::new("function-broken", format!("`{function}` can't be used: {why}"))
        }
    }
}
