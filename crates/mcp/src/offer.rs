//! What is on offer: the tools of the host and its agents, and what goes with them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use forecourt_contract::Current;
use forecourt_core::Handle;
use forecourt_host::Host;
use forecourt_settings::{Problems, Section};
use forecourt_surface::Mount;
use forecourt_surface::tool::{Tool, ToolOutput};
use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, MetaObject, PaginatedRequestParams, RequestStateCodec, ToolAnnotations};
use serde_json::Value;

use crate::caller::Caller;
use crate::content::{note, object};
use crate::finding::{self, CALL, LEADS_COUNT, ListedTool, Listing, Listings, Pin, ToolRequest};
use crate::named::{self, Prompt};
use crate::own_resource::{self, OwnResource};
use crate::page::Page;
use crate::partial::Partial;
use crate::schemas::{Schemas, SharedSchema};
use crate::section::{AgentTools, McpSettings, Requirement};
use crate::servers::{CheckedServer, FoundTool, Servers};
use crate::{agents, task, widget};

/// What the endpoints of one deployment offer: tools, prompts and resources, made once.
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
    hosts: HostShelf,
    agents: HashMap<Handle, Shelf>,
    /// The servers behind this host.
    pub(crate) servers: Servers,
    listings: Listings,
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

/// A tool, with what the endpoints that have it share.
pub(crate) struct OfferedTool {
    pub(crate) tool: Tool,
    input: Arc<SharedSchema>,
    output: Option<Arc<SharedSchema>>,
    /// Whether lists say which widget shows its results.
    has_widget: bool,
    /// Whether short lists have it.
    pin: Pin,
}

impl OfferedTool {
    fn new(tool: Tool, schemas: &mut Schemas, widget: bool, pin: Pin) -> Self {
        let input = schemas.share_input(&tool.input);
        let output = tool.output.as_ref().map(|output| schemas.share(output));
        let has_widget = widget && tool.name != task::AWAIT;
        Self { tool, input, output, has_widget, pin }
    }

    /// Whether a structured result is what the tool promises. One whose promise can't be checked holds nothing.
    fn holds(&self, structured: &Value) -> bool {
        let compiled = self.output.as_ref().and_then(|output| output.compiled());
        compiled.is_some_and(|output| output.check(structured).is_ok())
    }

    /// A result without a structure that contradicts what the tool promises of its results: clients hold those of
    /// failures to it, too, and throw. What it says of the failure goes beside the result.
    pub(crate) fn conforming(&self, mut output: ToolOutput) -> ToolOutput {
        let failed = output.is_error || output.refusal.is_some();
        if failed && self.tool.output.is_some() && !output.structured.is_null() && !self.holds(&output.structured) {
            let error = match output.structured.take() {
                Value::Object(mut fields) if fields.len() == 1 => fields.remove("error").unwrap_or(fields.into()),
                other => other,
            };
            note(&mut output.meta, "error", error);
        }
        output
    }

    /// Whether some of its arguments are to be named in headers of a call.
    pub(crate) fn has_header_arguments(&self) -> bool {
        self.input.names_headers
    }
}

impl ListedTool for OfferedTool {
    fn name(&self) -> &str {
        &self.tool.name
    }

    /// Made when a list is asked for: its schemas are shared, and the words are few beside those of thousands of
    /// agents.
    fn described(&self) -> rmcp::model::Tool {
        let tool = &self.tool;
        let annotations = ToolAnnotations::with_title(&tool.title).read_only(tool.reads_only);
        // What changes nothing destroys nothing; of the rest nothing is promised.
        let annotations = if tool.reads_only { annotations.destructive(false) } else { annotations };
        let annotations = if tool.is_idempotent { annotations.idempotent(true) } else { annotations };
        let described =
            rmcp::model::Tool::new(tool.name.clone(), tool.description.clone(), Arc::clone(self.input.listed()));
        let mut described = described.with_title(&tool.title).with_annotations(annotations);
        if let Some(output) = &self.output {
            described = described.with_raw_output_schema(Arc::clone(output.listed()));
        }
        if self.has_widget {
            described = described.with_meta(MetaObject(object(widget::of_tool())));
        }
        described
    }

    fn pin(&self) -> Pin {
        self.pin
    }
}

/// A tool on the shelf of one endpoint.
struct ShelfItem {
    offered: Arc<OfferedTool>,
    /// Whether lists name it. One that they don't name may be called all the same.
    is_listed: bool,
}

/// The tools of an endpoint, in the order in which they are listed.
#[derive(Default)]
struct Shelf {
    items: Vec<ShelfItem>,
}

impl Shelf {
    /// Of two with one name the first counts.
    fn put(&mut self, offered: &Arc<OfferedTool>, is_listed: bool) {
        if self.find(&offered.tool.name).is_none() {
            self.items.push(ShelfItem { offered: Arc::clone(offered), is_listed });
        }
    }

    /// The few tools of one agent are looked through faster than a name is hashed.
    fn find(&self, name: &str) -> Option<&Arc<OfferedTool>> {
        self.items.iter().map(|item| &item.offered).find(|offered| offered.tool.name == name)
    }
}

/// The tools of the host and all of its agents, by name too: there may be thousands.
#[derive(Default)]
struct HostShelf {
    tools: Vec<Arc<OfferedTool>>,
    places: HashMap<String, usize>,
}

impl HostShelf {
    /// Of two with one name the first counts.
    fn put(&mut self, offered: &Arc<OfferedTool>) {
        if let Entry::Vacant(place) = self.places.entry(offered.tool.name.clone()) {
            place.insert(self.tools.len());
            self.tools.push(Arc::clone(offered));
        }
    }

    fn find(&self, name: &str) -> Option<&Arc<OfferedTool>> {
        self.places.get(name).and_then(|place| self.tools.get(*place))
    }
}

impl Offer {
    /// What `settings` offer on this host. Fails with everything in `section` that does not fit it.
    pub(crate) fn new(
        mount: &Mount,
        settings: McpSettings,
        section: &Section,
        servers: &[CheckedServer],
    ) -> Result<Self, Problems> {
        let prompts = named::prompts(&settings, section)?;
        let resources = own_resource::resources(&settings, section)?;
        let patience = Duration::from_secs(settings.call_timeout_seconds.get().into());
        let own = mount.host.directory().iter().map(|resident| agents::tool(&mount.host, &resident.card, patience));
        let awaiting = task::tool(&mount.host, patience);
        let named = named::tools(&mount.host, &settings, section, patience)?;
        let others: Vec<Tool> = mount.tools.iter().filter(|tool| tool.as_tool).cloned().collect();
        let of_others = others.len();
        let mut schemas = Schemas::default();
        let mut offered = |(tool, pin)| Arc::new(OfferedTool::new(tool, &mut schemas, settings.widget, pin));
        // Endpoints belong to nobody in particular: they are what there may be many of.
        let others = others.into_iter().map(|tool| (if tool.agent.is_some() { Pin::Agent } else { Pin::Never }, tool));
        let own = own.map(|tool| (Pin::Agent, tool)).chain(named.into_iter().map(|tool| (Pin::Named, tool)));
        let all: Vec<Arc<OfferedTool>> = others.chain(own).map(|(pin, tool)| offered((tool, pin))).collect();
        // Whatever is called may become a task.
        let awaiting = offered((awaiting, Pin::Always));
        // Two tools that ask one agent are one too many for a model to choose from.
        let every = settings.agent_tools == AgentTools::All;
        let (mut hosts, mut agents) = (HostShelf::default(), HashMap::<Handle, Shelf>::new());
        let is_hosts = |offered: &&Arc<OfferedTool>| offered.tool.agent.is_none();
        all.iter().filter(is_hosts).chain([&awaiting]).for_each(|offered| hosts.put(offered));
        for (at, offered) in all.iter().enumerate() {
            let Some(agent) = &offered.tool.agent else { continue };
            hosts.put(offered);
            agents.entry(agent.clone()).or_default().put(offered, every || at >= of_others);
        }
        agents.values_mut().for_each(|shelf| shelf.put(&awaiting, true));
        // What one node sealed, another opens.
        let secret = mount.keys.load().secret("mcp request state");
        let seal = mount.services.keep(|| RequestStateCodec::new_unchecked(secret.to_vec()));
        Ok(Self {
            host: mount.host.clone(),
            settings,
            prompts,
            resources,
            partial: mount.services.keep(Partial::default),
            seal,
            hosts,
            agents,
            servers: Servers::new(mount, servers),
            listings: Listings::default(),
        })
    }

    /// The tools of the host itself, which belong to no agent.
    pub(crate) fn tools_of_host(&self) -> impl Iterator<Item = &Tool> {
        self.hosts.tools.iter().map(|offered| &offered.tool).filter(|tool| tool.agent.is_none())
    }

    /// The tool of a name at an endpoint: an agent's own and the one for tasks, or everything at the host's. Of
    /// two with one name the first counts, the host's before an agent's.
    pub(crate) fn find(&self, agent: Option<&Handle>, name: &str) -> Option<&Arc<OfferedTool>> {
        match agent {
            None => self.hosts.find(name),
            Some(agent) => self.agents.get(agent)?.find(name),
        }
    }

    /// The tool of a server behind this host at an endpoint, unless the endpoint has one of its own by that name.
    pub(crate) fn server_tool<'a>(&'a self, agent: Option<&Handle>, name: &'a str) -> Option<FoundTool<'a>> {
        if self.servers.is_empty() || self.find(agent, name).is_some() {
            return None;
        }
        self.servers.tool(agent, name)
    }

    /// What a client must be able to do for the tool of a name.
    pub(crate) fn required(&self, name: &str) -> &[Requirement] {
        let named = self.settings.tools.iter().find(|tool| tool.name == name);
        named.map_or(&[], |tool| &tool.requires)
    }

    /// A page of the tools of an endpoint, as lists describe them.
    pub(crate) fn listed(
        &self,
        agent: Option<&Handle>,
        request: Option<PaginatedRequestParams>,
    ) -> Result<Page<rmcp::model::Tool>, ErrorData> {
        Page::of(finding::shown(&self.listing(agent)), request)
    }

    /// The tools of an endpoint, listed or to be found.
    pub(crate) fn listing(&self, agent: Option<&Handle>) -> Arc<Listing> {
        let McpSettings { pinned, tools_listed_max, .. } = &self.settings;
        let version = self.servers.version();
        self.listings.get(agent, version, || Listing::new(self.tools_at(agent), pinned, *tools_listed_max, LEADS_COUNT))
    }

    /// What a request to call a tool at an endpoint is: the call of one, or a question about all.
    pub(crate) fn tool_request(
        &self,
        caller: &Caller,
        request: CallToolRequestParams,
    ) -> Result<ToolRequest, ErrorData> {
        let agent = caller.agent.as_ref();
        let is_there = |name: &str| self.find(agent, name).is_some() || self.server_tool(agent, name).is_some();
        let is_led = request.name == CALL;
        let read = finding::read(|| self.listing(agent), is_there, caller.language.as_ref(), request)?;
        if let ToolRequest::Call(call) = &read
            && is_led
            && self.has_header_arguments(agent, &call.name)
        {
            // The headers of this request name another tool: whoever goes by them would see nothing of the call.
            let words = format!("arguments of `{}` stand in headers: call it by its own name", call.name);
            return Err(ErrorData::invalid_params(words, None));
        }
        Ok(read)
    }

    /// Whether some of the arguments of a tool are to be named in headers of its call.
    pub(crate) fn has_header_arguments(&self, agent: Option<&Handle>, name: &str) -> bool {
        match self.find(agent, name) {
            Some(offered) => offered.has_header_arguments(),
            None => self.server_tool(agent, name).is_some_and(|found| found.tool.names_headers),
        }
    }

    /// Every tool that an endpoint lists, in its order.
    fn tools_at(&self, agent: Option<&Handle>) -> Vec<Arc<dyn ListedTool>> {
        let listed = |offered: &Arc<OfferedTool>| Arc::clone(offered) as Arc<dyn ListedTool>;
        let mut all: Vec<Arc<dyn ListedTool>> = match agent {
            None => self.hosts.tools.iter().map(listed).collect(),
            Some(agent) => {
                let items = self.agents.get(agent).into_iter().flat_map(|shelf| &shelf.items);
                items.filter(|item| item.is_listed).map(|item| listed(&item.offered)).collect()
            }
        };
        // Of two with one name the host's own counts.
        let others = self.servers.tools(agent).into_iter();
        all.extend(others.filter(|tool| self.find(agent, tool.name()).is_none()));
        all
    }

    /// The tool of a name as lists describe it, for whoever holds header fields against its arguments and does not know
    /// of endpoints.
    pub(crate) fn described(&self, name: &str) -> Option<rmcp::model::Tool> {
        self.hosts.find(name).map(|offered| offered.described()).or_else(|| self.servers.described(name))
    }
}
