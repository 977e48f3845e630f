//! What is on offer: the tools of the host and its agents, and what goes with them.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Handle;
use forecourt_host::Host;
use forecourt_surface::Mount;
use forecourt_surface::tool::Tool;
use rmcp::model::{MetaObject, RequestStateCodec, ToolAnnotations};
use serde_json::{Value, json};

use crate::content::object;
use crate::section::Settings;
use crate::{agents, task, widget};

/// Everything that the endpoints share.
pub(crate) struct Offer {
    pub(crate) host: Arc<Host>,
    pub(crate) settings: Settings,
    /// Seals what calls remember while a person is asked. Of this run alone.
    pub(crate) seal: RequestStateCodec,
    /// In the order in which they are listed: those of other protocols, the agents', then our own.
    tools: Vec<Tool>,
}

impl Offer {
    pub(crate) fn new(mount: &Mount, settings: Settings) -> Self {
        let patience = Duration::from_secs(settings.patience_seconds.get().into());
        let own = mount.host.directory().iter().map(|resident| agents::tool(&mount.host, &resident.card, patience));
        let tools = mount.tools.iter().cloned().chain(own).chain([task::tool(&mount.host, patience)]).collect();
        let mut key = vec![0; RequestStateCodec::MIN_KEY_LENGTH];
        mount.host.entropy().fill(&mut key);
        Self { host: mount.host.clone(), settings, seal: RequestStateCodec::new_unchecked(key), tools }
    }

    /// The tools of an endpoint: an agent's own and the one for tasks, or everything at the host's. Of
    /// two with one name the first counts, the host's before an agent's.
    pub(crate) fn tools(&self, agent: Option<&Handle>) -> Vec<&Tool> {
        let (hosts, agents): (Vec<&Tool>, Vec<&Tool>) = self.tools.iter().partition(|tool| tool.agent.is_none());
        let (first, then): (Vec<&Tool>, Vec<&Tool>) = match agent {
            None => (hosts, agents),
            Some(agent) => (
                agents.into_iter().filter(|tool| tool.agent.as_ref() == Some(agent)).collect(),
                hosts.into_iter().filter(|tool| tool.name == task::AWAIT).collect(),
            ),
        };
        let mut names = HashSet::new();
        first.into_iter().chain(then).filter(|tool| names.insert(tool.name.as_str())).collect()
    }

    /// The tool of a name at an endpoint.
    pub(crate) fn find(&self, agent: Option<&Handle>, name: &str) -> Option<&Tool> {
        self.tools(agent).into_iter().find(|tool| tool.name == name)
    }

    /// A tool as lists describe it.
    pub(crate) fn described(&self, tool: &Tool) -> rmcp::model::Tool {
        let annotations = ToolAnnotations::with_title(&tool.title).read_only(tool.reads_only);
        // What changes nothing destroys nothing; of the rest nothing is promised.
        let annotations = if tool.reads_only { annotations.destructive(false) } else { annotations };
        let mut listed = rmcp::model::Tool::new(
            tool.name.clone(),
            tool.description.clone(),
            Arc::new(object(schema(tool.input.clone()))),
        )
        .with_title(&tool.title)
        .with_annotations(annotations);
        if let Some(output) = &tool.output {
            listed = listed.with_raw_output_schema(Arc::new(object(schema(output.clone()))));
        }
        if self.settings.widget && tool.name != task::AWAIT {
            listed = listed.with_meta(MetaObject(object(widget::of_tool())));
        }
        listed
    }
}

/// A schema without what some hosts stumble over: names of dialects that they don't know.
fn schema(mut schema: Value) -> Value {
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("$schema");
        fields.entry("type").or_insert_with(|| json!("object"));
    }
    schema
}
