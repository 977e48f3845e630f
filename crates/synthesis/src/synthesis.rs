//! An endpoint that could be made. Section 10.7.

use std::sync::Arc;

use forecourt_contract::negotiation::RecipeLineage;
use forecourt_contract::registry::CallerNeeds;
use forecourt_contract::{Endpoint, Recipe};

use crate::explanation::Explanation;

/// An endpoint that could be made: what it promises, and the calls that keep the promise.
#[derive(Clone, Debug)]
pub struct Synthesis {
    /// What is promised. Its binding is a composition, it declares `composition_failed`, and its scopes are those
    /// that its steps need besides its own.
    pub endpoint: Arc<Endpoint>,
    /// The calls, by value: no later edition of a recipe changes them. Section 10.5.
    pub plan: Arc<Recipe>,
    /// Which edition of which recipe that is; none when it was put together from endpoints.
    pub lineage: Option<RecipeLineage>,
    /// What a caller needs for it.
    pub needs: CallerNeeds,
    /// How it was found, in a sentence each, for the caller.
    pub log: Vec<String>,
    /// The calls in words.
    pub explanation: Explanation,
}
