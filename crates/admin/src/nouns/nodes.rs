//! Nodes: the runs of the program that share the store.

use schemars::JsonSchema;
use serde::Serialize;

use crate::api_error::ApiError;
use crate::desk::Ask;
use crate::secret::hashed;

/// Characters of a node's name.
const MARK_CHARS: usize = 8;

/// The nodes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Nodes {
    /// In the order of their names.
    pub nodes: Vec<Node>,
}

/// A run of the program that was begun and not ended.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Node {
    /// What it is called here. Another one after each start.
    pub node: String,
    /// Whether it is the one that answers this.
    pub is_this: bool,
    /// How often it has said that it is alive. One whose number does not rise has died, and is about to be ended.
    pub beats: u64,
    /// Tasks that it works on.
    pub tasks: u64,
}

pub(crate) async fn list(ask: Ask) -> Result<Nodes, ApiError> {
    let runs = ask.desk.reads.runs().await?;
    let held = ask.desk.reads.overview(ask.now()).await?.held;
    let mut nodes: Vec<Node> = runs
        .into_iter()
        .map(|run| Node {
            node: mark(&run.run),
            is_this: ask.house.host.is_own_run(&run.run),
            beats: run.beat,
            tasks: held.iter().find(|(of, _)| *of == run.run).map_or(0, |(_, count)| *count),
        })
        .collect();
    nodes.sort_by(|a, b| a.node.cmp(&b.node));
    Ok(Nodes { nodes })
}

/// What a run is called where people read it: the beginning of its hash, since its own name is what holds tasks.
pub fn mark(run: &str) -> String {
    hashed(run).chars().take(MARK_CHARS).collect()
}
