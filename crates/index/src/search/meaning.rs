//! The text of a query as a vector, and what is near it.

use forecourt_embed::Kind;
use tantivy::{DocAddress, DocId};

use super::plan::Plan;
use crate::dense::{FilteredVisit, Model, Near, Vectors};
use crate::error::Result;
use crate::index::Snapshot;

/// Below this, two texts have nothing to say to each other, and nearest is only least far.
const COSINE_MIN: f32 = 0.2;

/// The vector of a query, for comparing documents with it.
pub(super) struct Meaning<'s> {
    snapshot: &'s Snapshot,
    vectors: &'s Vectors,
    vector: Vec<f32>,
    pub(super) kind: Kind,
}

impl<'s> Meaning<'s> {
    /// Embeds a text. `None` without a model, or when the model knows nothing of the text.
    pub(super) fn of(snapshot: &'s Snapshot, model: Option<&Model>, text: &str, plan: &Plan) -> Option<Self> {
        let (model, vectors) = (model.filter(|_| plan.has_text())?, snapshot.vectors.as_ref()?);
        Some(Self { snapshot, vectors, vector: model.embed(text)?, kind: model.kind() })
    }

    /// The `wanted` documents of a plan that are nearest, nearest first.
    pub(super) fn nearest(&self, plan: &Plan, wanted: usize) -> Result<Vec<Near>> {
        let mut allowed = |segment, take: &mut dyn FnMut(DocId)| plan.allowed(self.snapshot, segment, take);
        let filtered: Option<FilteredVisit<'_>> = if plan.is_filtered() { Some(&mut allowed) } else { None };
        self.vectors.nearest(&self.vector, wanted, COSINE_MIN, &self.snapshot.columns, filtered)
    }

    /// How near a document is, from -1 to 1; 0 for one without a vector.
    pub(super) fn cosine(&self, address: DocAddress) -> f32 {
        self.vectors.cosine(&self.vector, address).unwrap_or_default()
    }
}
