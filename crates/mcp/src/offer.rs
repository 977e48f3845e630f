//! What is on offer: the tools of the host and its agents, and what goes with them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Handle;
use forecourt_host::Host;
use forecourt_settings::Problems;
use forecourt_surface::Mount;
use forecourt_surface::tool::Tool;
use rmcp::model::{MetaObject, RequestStateCodec, ToolAnnotations};
use serde_json::{Value, json};

use crate::content::object;
use crate::named::{self, Prompt};
use crate::section::Settings;
use crate::{agents, task, widget};

/// Everything that the endpoints share.
pub(crate) struct Offer {
    pub(crate) host: Arc<Host>,
    pub(crate) settings: Settings,
    /// Prompts of the owner's naming.
    pub(crate) prompts: Vec<Prompt>,
    /// Seals what calls remember while a person is asked. Of this run alone.
    pub(crate) seal: RequestStateCodec,
    /// The host's tools, before those of all agents.
    hosts: Shelf,
    agents: HashMap<Handle, Shelf>,
}

/// The tools of an endpoint, in the order in which they are listed.
#[derive(Default)]
struct Shelf {
    tools: Vec<Tool>,
    /// The same, as lists describe them.
    listed: Vec<rmcp::model::Tool>,
    places: HashMap<String, usize>,
}

impl Shelf {
    /// Of two with one name the first counts.
    fn put(&mut self, tool: &Tool, widget: bool) {
        if let Entry::Vacant(place) = self.places.entry(tool.name.clone()) {
            place.insert(self.tools.len());
            self.tools.push(tool.clone());
            self.listed.push(described(tool, widget));
        }
    }
}

impl Offer {
    /// Reads the section of `mount`. Fails with everything that is wrong there.
    pub(crate) fn new(mount: &Mount) -> Result<Self, Problems> {
        let settings = Settings::read(&mount.section)?;
        let prompts = named::prompts(&settings, &mount.section)?;
        let patience = Duration::from_secs(settings.patience_seconds.get().into());
        let own = mount.host.directory().iter().map(|resident| agents::tool(&mount.host, &resident.card, patience));
        let awaiting = task::tool(&mount.host, patience);
        let named = named::tools(&mount.host, &settings, &mount.section, patience)?;
        let all: Vec<Tool> = mount
            .tools
            .iter()
            .filter(|tool| tool.as_tool)
            .cloned()
            .chain(own)
            .chain(named)
            .chain([awaiting.clone()])
            .collect();
        let (mut hosts, mut agents) = (Shelf::default(), HashMap::<Handle, Shelf>::new());
        let (first, then): (Vec<&Tool>, Vec<&Tool>) = all.iter().partition(|tool| tool.agent.is_none());
        first.into_iter().chain(then.iter().copied()).for_each(|tool| hosts.put(tool, settings.widget));
        for tool in then {
            if let Some(agent) = &tool.agent {
                agents.entry(agent.clone()).or_default().put(tool, settings.widget);
            }
        }
        agents.values_mut().for_each(|shelf| shelf.put(&awaiting, settings.widget));
        let mut key = vec![0; RequestStateCodec::MIN_KEY_LENGTH];
        mount.host.entropy().fill(&mut key);
        let seal = RequestStateCodec::new_unchecked(key);
        Ok(Self { host: mount.host.clone(), settings, prompts, seal, hosts, agents })
    }

    /// The tools of an endpoint: an agent's own and the one for tasks, or everything at the host's. Of
    /// two with one name the first counts, the host's before an agent's.
    pub(crate) fn tools(&self, agent: Option<&Handle>) -> &[Tool] {
        self.shelf(agent).map_or(&[], |shelf| &shelf.tools)
    }

    /// The tool of a name at an endpoint.
    pub(crate) fn find(&self, agent: Option<&Handle>, name: &str) -> Option<&Tool> {
        let shelf = self.shelf(agent)?;
        shelf.places.get(name).and_then(|place| shelf.tools.get(*place))
    }

    fn shelf(&self, agent: Option<&Handle>) -> Option<&Shelf> {
        match agent {
            None => Some(&self.hosts),
            Some(agent) => self.agents.get(agent),
        }
    }

    /// The tools of an endpoint as lists describe them.
    pub(crate) fn listed(&self, agent: Option<&Handle>) -> &[rmcp::model::Tool] {
        self.shelf(agent).map_or(&[], |shelf| &shelf.listed)
    }

    /// The tool of a name as the host's list describes it.
    pub(crate) fn listing(&self, name: &str) -> Option<&rmcp::model::Tool> {
        self.hosts.places.get(name).and_then(|place| self.hosts.listed.get(*place))
    }
}

/// A tool as lists describe it, with the widget that shows its results where there is one.
fn described(tool: &Tool, widget: bool) -> rmcp::model::Tool {
    let annotations = ToolAnnotations::with_title(&tool.title).read_only(tool.reads_only);
    // What changes nothing destroys nothing; of the rest nothing is promised.
    let annotations = if tool.reads_only { annotations.destructive(false) } else { annotations };
    let annotations = if tool.is_idempotent { annotations.idempotent(true) } else { annotations };
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
    if widget && tool.name != task::AWAIT {
        listed = listed.with_meta(MetaObject(object(widget::of_tool())));
    }
    listed
}

/// A schema without what some hosts stumble over: names of dialects that they don't know.
fn schema(mut schema: Value) -> Value {
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("$schema");
        fields.entry("type").or_insert_with(|| json!("object"));
    }
    schema
}
