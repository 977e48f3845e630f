//! What is on offer: the tools of the host and its agents, and what goes with them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use forecourt_contract::{Current, Schema};
use forecourt_core::Handle;
use forecourt_host::Host;
use forecourt_settings::{Problems, Section};
use forecourt_surface::Mount;
use forecourt_surface::tool::Tool;
use parking_lot::Mutex;
use rmcp::model::{MetaObject, RequestStateCodec, ToolAnnotations};
use serde_json::{Value, json};

use crate::content::object;
use crate::named::{self, Prompt};
use crate::partial::Partial;
use crate::resources::{self, OwnResource};
use crate::section::{AgentTools, McpSettings, Requirement};
use crate::{agents, task, widget};

/// The dialect of schemas in MCP. Tools, 2025-11-25.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Everything that the endpoints share.
pub(crate) struct Offer {
    pub(crate) host: Arc<Host>,
    pub(crate) settings: McpSettings,
    /// Prompts of the owner's naming.
    pub(crate) prompts: Vec<Prompt>,
    /// Resources of the owner's naming.
    pub(crate) resources: Vec<OwnResource>,
    /// What was said to some of the forms of tasks.
    pub(crate) partial: Arc<Partial>,
    /// Seals what calls remember while a person is asked. Of this run alone.
    pub(crate) seal: Arc<RequestStateCodec>,
    /// The host's tools, before those of all agents.
    hosts: Shelf,
    agents: HashMap<Handle, Shelf>,
}

/// Where a client's server finds what is on offer: after the deployment was replaced, that is another offer.
#[derive(Clone)]
pub(crate) struct OfferSource {
    current: Option<Current<Offer>>,
    /// What was found last: an idle client keeps it until its next request.
    last: Arc<Mutex<Arc<Offer>>>,
}

impl OfferSource {
    /// Begins with `offer`, and stays with it unless it can be replaced.
    pub(crate) fn new(offer: Arc<Offer>, current: Option<Current<Offer>>) -> Self {
        Self { current, last: Arc::new(Mutex::new(offer)) }
    }

    /// What is on offer now, for one request.
    pub(crate) fn load(&self) -> Arc<Offer> {
        let now = self.current.as_ref().and_then(Current::load);
        let mut last = self.last.lock();
        if let Some(now) = now {
            *last = now;
        }
        last.clone()
    }
}

/// A tool at an endpoint.
pub(crate) struct Offered {
    pub(crate) tool: Tool,
    /// What its results are held to, where that can be checked.
    pub(crate) output: Option<Schema>,
    /// The same as lists describe it.
    described: rmcp::model::Tool,
    /// Whether lists name it. One that they don't name may be called all the same.
    is_listed: bool,
}

/// The tools of an endpoint, in the order in which they are listed.
#[derive(Default)]
struct Shelf {
    tools: Vec<Offered>,
    places: HashMap<String, usize>,
}

impl Shelf {
    /// Of two with one name the first counts.
    fn put(&mut self, tool: &Tool, widget: bool, is_listed: bool) {
        if let Entry::Vacant(place) = self.places.entry(tool.name.clone()) {
            place.insert(self.tools.len());
            let output = tool.output.clone().and_then(|output| Schema::output(output, false).ok());
            let described = described(tool, widget);
            self.tools.push(Offered { tool: tool.clone(), output, described, is_listed });
        }
    }

    fn find(&self, name: &str) -> Option<&Offered> {
        self.places.get(name).and_then(|place| self.tools.get(*place))
    }
}

impl Offer {
    /// What `settings` offer on this host. Fails with everything in `section` that does not fit it.
    pub(crate) fn new(mount: &Mount, settings: McpSettings, section: &Section) -> Result<Self, Problems> {
        let prompts = named::prompts(&settings, section)?;
        let resources = resources::resources(&settings, section)?;
        let patience = Duration::from_secs(settings.call_timeout_seconds.get().into());
        let own = mount.host.directory().iter().map(|resident| agents::tool(&mount.host, &resident.card, patience));
        let awaiting = task::tool(&mount.host, patience);
        let named = named::tools(&mount.host, &settings, section, patience)?;
        let others: Vec<Tool> = mount.tools.iter().filter(|tool| tool.as_tool).cloned().collect();
        let of_others = others.len();
        let all: Vec<Tool> = others.into_iter().chain(own).chain(named).chain([awaiting.clone()]).collect();
        // Two tools that ask one agent are one too many for a model to choose from.
        let every = settings.agent_tools == AgentTools::All;
        let (mut hosts, mut agents) = (Shelf::default(), HashMap::<Handle, Shelf>::new());
        let (first, then): (Vec<_>, Vec<_>) = all.iter().enumerate().partition(|(_, tool)| tool.agent.is_none());
        first.into_iter().chain(then.iter().copied()).for_each(|(_, tool)| hosts.put(tool, settings.widget, true));
        for (at, tool) in then {
            if let Some(agent) = &tool.agent {
                let is_listed = every || at >= of_others;
                agents.entry(agent.clone()).or_default().put(tool, settings.widget, is_listed);
            }
        }
        agents.values_mut().for_each(|shelf| shelf.put(&awaiting, settings.widget, true));
        let seal = mount.services.keep(|| {
            let mut key = vec![0; RequestStateCodec::MIN_KEY_LENGTH];
            mount.host.entropy().fill(&mut key);
            RequestStateCodec::new_unchecked(key)
        });
        Ok(Self {
            host: mount.host.clone(),
            settings,
            prompts,
            resources,
            partial: mount.services.keep(Partial::default),
            seal,
            hosts,
            agents,
        })
    }

    /// The tools of an endpoint: an agent's own and the one for tasks, or everything at the host's. Of
    /// two with one name the first counts, the host's before an agent's.
    pub(crate) fn tools(&self, agent: Option<&Handle>) -> impl Iterator<Item = &Tool> {
        self.shelf(agent).into_iter().flat_map(|shelf| &shelf.tools).map(|offered| &offered.tool)
    }

    /// The tool of a name at an endpoint.
    pub(crate) fn find(&self, agent: Option<&Handle>, name: &str) -> Option<&Offered> {
        self.shelf(agent)?.find(name)
    }

    /// What a client must be able to do for the tool of a name.
    pub(crate) fn required(&self, name: &str) -> &[Requirement] {
        let named = self.settings.tools.iter().find(|tool| tool.name == name);
        named.map_or(&[], |tool| &tool.requires)
    }

    fn shelf(&self, agent: Option<&Handle>) -> Option<&Shelf> {
        match agent {
            None => Some(&self.hosts),
            Some(agent) => self.agents.get(agent),
        }
    }

    /// The tools of an endpoint as lists describe them.
    pub(crate) fn listed(&self, agent: Option<&Handle>) -> Vec<&rmcp::model::Tool> {
        let tools = self.shelf(agent).into_iter().flat_map(|shelf| &shelf.tools);
        tools.filter(|offered| offered.is_listed).map(|offered| &offered.described).collect()
    }

    /// The tool of a name as the host's list describes it.
    pub(crate) fn listing(&self, name: &str) -> Option<&rmcp::model::Tool> {
        self.hosts.find(name).map(|offered| &offered.described)
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

/// A schema without what some hosts stumble over: names of dialects that MCP does not begin with.
fn schema(mut schema: Value) -> Value {
    if let Some(fields) = schema.as_object_mut() {
        if fields.get("$schema").is_some_and(|dialect| dialect != DIALECT) {
            fields.remove("$schema");
        }
        fields.entry("type").or_insert_with(|| json!("object"));
    }
    schema
}
