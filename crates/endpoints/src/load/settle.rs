//! What only all endpoints together decide: that no two are in each other's way, and that compositions
//! are made of endpoints that are there. Sections 5.4, 12.1 and 13.2.

use std::sync::Arc;

use forecourt_contract::endpoint::Binding;
use forecourt_contract::registry::RegistryError;
use forecourt_contract::{Dispatcher, Registry};
use forecourt_settings::{Problem, Problems};

use super::bind::BoundEndpoint;

/// Puts all that can stay into the dispatcher. An endpoint that goes may be what a composition is made
/// of, which then goes too.
pub(super) fn settle(mut dispatcher: Dispatcher, bound: Vec<BoundEndpoint>, refused: &mut Problems) -> Dispatcher {
    let mut staying = unrivalled(bound, refused);
    loop {
        dispatcher.registry = registry(&staying);
        let gone: Vec<Option<Problem>> = staying.iter().map(|bound| unmade(&dispatcher, bound)).collect();
        if gone.iter().all(Option::is_none) {
            return dispatcher.sealed();
        }
        let mut stays = gone.iter().map(Option::is_none);
        // Once more from the beginning: an endpoint that went may have been a step of one that was fine until now.
        staying.retain(|_| stays.next().unwrap_or(true));
        refused.extend(gone.into_iter().flatten());
    }
}

/// Those that no earlier one is in the way of.
fn unrivalled(bound: Vec<BoundEndpoint>, refused: &mut Problems) -> Vec<BoundEndpoint> {
    let mut registry = Registry::default();
    let mut add = |bound: BoundEndpoint| {
        let added = registry.insert(Arc::clone(&bound.endpoint), Arc::clone(&bound.handler));
        let wrong = |fault: RegistryError| bound.table.problem(Some("path"), fault.to_string());
        refused.absorb(added.map_err(wrong)).map(|()| bound)
    };
    bound.into_iter().filter_map(&mut add).collect()
}

fn registry(bound: &[BoundEndpoint]) -> Registry {
    let mut registry = Registry::default();
    for BoundEndpoint { endpoint, handler, .. } in bound {
        // They were together in a registry before.
        let _ = registry.insert(Arc::clone(endpoint), Arc::clone(handler));
    }
    registry
}

/// Why a composition can't be made of what is there.
fn unmade(dispatcher: &Dispatcher, bound: &BoundEndpoint) -> Option<Problem> {
    let Binding::Composition { recipe, .. } = &bound.endpoint.binding else { return None };
    let problem = |message: String| Some(bound.table.problem(Some("handler"), message));
    if dispatcher.is_circular(recipe) {
        return problem(format!("recipe-circular: the steps of `{recipe}` lead back to it"));
    }
    let at = dispatcher.dangling_steps(recipe).into_iter().next()?;
    let step = dispatcher.recipes.get(recipe)?.steps.get(at)?;
    let (method, path) = (&step.method, step.static_path().unwrap_or("/"));
    problem(format!("recipe-step-missing: step {at} of `{recipe}` calls {method} {path}, where nothing answers"))
}
