//! A plan as it is put together: its act, and where each member of its result comes from.

use std::sync::Arc;

use super::term::{PlannedCall, Source, add, calls_of, used};
use crate::wanted::OwnedMeaning;

/// A plan: the act, if there is one, and where each member of the result comes from.
#[derive(Clone)]
pub(super) struct Assembly<'a> {
    pub(super) act: Option<Arc<PlannedCall<'a>>>,
    pub(super) outputs: Vec<AssembledOutput<'a>>,
}

/// Where a member of the result comes from, and what it was read as.
#[derive(Clone)]
pub(super) struct AssembledOutput<'a> {
    pub(super) name: String,
    pub(super) source: Source<'a>,
    pub(super) owned: OwnedMeaning,
}

impl<'a> Assembly<'a> {
    /// All calls, each once, what is taken from before what takes it, and the act last.
    pub(super) fn calls(&self) -> Vec<Arc<PlannedCall<'a>>> {
        let act = self.act.as_ref().map(|act| act.key.as_str());
        let mut calls = calls_of(
            self.outputs
                .iter()
                .map(|output| &output.source)
                .filter(|source| source.call().is_none_or(|call| Some(call.key.as_str()) != act)),
        );
        if let Some(act) = &self.act {
            add(act, &mut calls);
        }
        calls
    }

    /// The fields of the caller that it uses.
    pub(super) fn used(&self) -> Vec<String> {
        let mut names = used(self.outputs.iter().map(|output| &output.source));
        for call in self.calls() {
            names.extend(used(call.sources()));
        }
        names
    }

    /// What it says that the proposal means: its act, and of what each member is.
    pub(super) fn reading(&self) -> Vec<String> {
        let act = self.act.iter().map(|act| act.endpoint().title());
        let outputs = self.outputs.iter().map(|output| format!("{}={}", output.name, output.owned.meaning));
        act.chain(outputs).collect()
    }
}
