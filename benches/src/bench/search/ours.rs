//! The search backend as the daemon builds it, asked without a protocol around it.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use forecourt_agents::siblings::Siblings;
use forecourt_agents::{BuiltAgent, Context, IndexedContent};
use forecourt_core::reply::collect;
use forecourt_core::{AgentCard, Handle, Language, Message, MessageId, Part, Policy, SystemClock, Timestamp};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_host::SystemEntropy;
use forecourt_settings::Section;
use forecourt_testkit::card;
use tokio::runtime::Runtime;

/// An agent that answers from the items of a folder.
pub(super) struct Ours {
    built: BuiltAgent,
    card: Arc<AgentCard>,
    runtime: Runtime,
}

impl Ours {
    /// Over `items.jsonl` in `folder`, where its index is too. Opens nothing yet.
    pub(super) fn new(folder: &Path) -> anyhow::Result<Self> {
        let settings = "[backend]\nkind = \"search\"\nitem_label = \"recipes\"\ncontent = [\"items.jsonl\"]\n";
        let mut root =
            Section::parse(&folder.join("agent.toml"), settings, &|_: &str| None).map_err(|e| anyhow!("{e}"))?;
        let section = root.take("backend").context("there is a backend")?;
        let built = forecourt_search::build(section, &context(folder)?).map_err(|e| anyhow!("{e}"))?;
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        Ok(Self { built, card: Arc::new(card("chef")), runtime })
    }

    /// What loads it.
    pub(super) fn indexing(&self) -> anyhow::Result<&dyn IndexedContent> {
        self.built.indexing.as_deref().context("a search has content")
    }

    /// Bytes of the answer to a question, as markdown.
    pub(super) fn ask(&self, question: &str) -> anyhow::Result<usize> {
        let answer = self.runtime.block_on(async {
            let admitted = Policy::new(Vec::new()).admit(self.card.clone(), message(question)?, &[]).await;
            let admitted = admitted.map_err(|_| anyhow!("a gate without rules lets everything pass"))?;
            anyhow::Ok(collect(self.built.agent.handle(admitted)).await)
        })?;
        Ok(answer.text().len())
    }
}

fn context(folder: &Path) -> anyhow::Result<Context> {
    Ok(Context {
        handle: Handle::parse("chef")?,
        host: "demo.localhost".to_owned(),
        language: Language::english(),
        folder: folder.to_owned(),
        data_dir: folder.join("ours"),
        clock: Arc::new(SystemClock),
        entropy: Arc::new(SystemEntropy),
        egress: Egress::builder(EgressConfig::default()).build()?,
        path_variable: None,
        variable: |_| None,
        budget: forecourt_agents::budget::BudgetSettings::default(),
        usage: Arc::new(forecourt_agents::usage::NoUsage),
        endpoints: Vec::new(),
        siblings: Siblings::default(),
        goes_on: false,
        builtin: Vec::new(),
    })
}

fn message(question: &str) -> anyhow::Result<Message> {
    Ok(Message::new(
        MessageId::mint(&SystemEntropy),
        Handle::parse("chef")?,
        vec![Part::text(question)],
        "bench",
        Timestamp::now(),
    ))
}
