//! The handler of the SDK: lists, calls, resources and prompts, for whoever a request comes from.

use std::sync::Arc;

use forecourt_core::Handle;
use forecourt_core::limits::HOPS_MAX;
use http::request::Parts;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, DiscoverResult, GetPromptRequestParams,
    GetPromptResponse, GetTaskParams, GetTaskResult, Implementation, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;

use crate::call;
use crate::caller::Caller;
use crate::elicit::Modes;
use crate::limits::LIST_TTL;
use crate::offer::Offer;
use crate::page::Page;
use crate::{prompts, resources, tasks, widget};

/// What answers one client.
#[derive(Clone)]
pub(crate) struct Server {
    offer: Arc<Offer>,
    /// Whoever is at the other end of a pipe; over HTTP each request says who it is.
    local: Option<Caller>,
}

impl Server {
    /// For clients over HTTP.
    pub(crate) fn remote(offer: Arc<Offer>) -> Self {
        Self { offer, local: None }
    }

    /// For the one client at the other end of a pipe.
    pub(crate) fn local(offer: Arc<Offer>) -> Self {
        Self { offer, local: Some(Caller::local()) }
    }

    fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let head = context.extensions.get::<Parts>();
        let found = head.and_then(|head| head.extensions.get::<Caller>().cloned()).or_else(|| self.local.clone());
        found.ok_or_else(|| ErrorData::internal_error("the request came without its circumstances", None))
    }

    fn info(&self, agent: Option<&Handle>) -> ServerConfig {
        let host = &self.offer.host;
        let resident = agent.and_then(|agent| host.directory().find(agent));
        let site = host.site();
        let (name, title, version) = match resident {
            Some(resident) => {
                let card = &resident.card;
                (card.address.to_string(), card.name.clone(), card.version.clone())
            }
            None => (site.domain.to_string(), site.name.clone(), env!("CARGO_PKG_VERSION").to_owned()),
        };
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts();
        let mut capabilities = capabilities.enable_tasks().build();
        if self.offer.settings.widget {
            capabilities.extensions.get_or_insert_default().extend(widget::extension());
        }
        let implementation = Implementation::new(name, version).with_title(title);
        ServerConfig::new(capabilities).with_server_info(implementation).with_instructions(self.instructions(agent))
    }

    fn instructions(&self, agent: Option<&Handle>) -> String {
        if let (None, Some(words)) = (agent, &self.offer.settings.instructions) {
            return words.clone();
        }
        let directory = self.offer.host.directory();
        let all = directory.iter().filter(|resident| agent.is_none_or(|agent| resident.card.handle() == agent));
        let lines = all
            .take(20)
            .map(|r| format!("- {}: {} {}", crate::agents::name(r.card.handle()), r.card.name, r.card.description));
        let lines = lines.collect::<Vec<_>>().join("\n");
        format!(
            "Tools that answer questions for {}:\n{lines}\nAnswers in the state `working` go on: call await_task.",
            self.offer.host.site().name
        )
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        self.info(None)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let caller = self.caller(&context)?;
        context.peer.set_peer_info(request.clone());
        let negotiated = self.negotiate_initialize(&request)?;
        Ok(self.info(caller.agent.as_ref()).with_protocol_version(negotiated.protocol_version))
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let caller = self.caller(&context)?;
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.info(caller.agent.as_ref())))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = self.caller(&context)?;
        let page = Page::of(self.offer.listed(caller.agent.as_ref()).iter().collect(), request)?;
        let tools = page.items.into_iter().cloned().collect();
        let mut listed = ListToolsResult::with_all_items(tools).with_ttl_ms(ttl()).with_cache_scope(CacheScope::Public);
        listed.next_cursor = page.next;
        Ok(listed)
    }

    /// What the SDK compares the fields of a call with. Only tools of the owner's naming mark arguments,
    /// and those have one name everywhere.
    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        self.offer.listing(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context)?;
        if caller.hop >= HOPS_MAX {
            let words = format!("at most {HOPS_MAX} agents may call each other in a row");
            return Err(ErrorData::invalid_request(words, None));
        }
        let Some(tool) = self.offer.find(caller.agent.as_ref(), &request.name) else {
            let words = "there is no tool of this name here; tools/list names them";
            return Err(ErrorData::invalid_params(words, None));
        };
        let tool = tool.clone();
        call::call(&self.offer, &tool, &caller, request, &context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let caller = self.caller(&context)?;
        let page = Page::of(resources::list(&self.offer, caller.agent.as_ref()), request)?;
        let listed = ListResourcesResult::with_all_items(page.items).with_ttl_ms(ttl());
        let mut listed = listed.with_cache_scope(CacheScope::Public);
        listed.next_cursor = page.next;
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = self.caller(&context)?;
        let read = resources::read(&self.offer, caller.agent.as_ref(), &request.uri);
        // The SDK writes the code that the client's revision has for this.
        let missing =
            || ErrorData::resource_not_found("there is no such resource here", Some(json!({"uri": request.uri})));
        let read = read.ok_or_else(missing)?;
        Ok(read.with_ttl_ms(ttl()).with_cache_scope(CacheScope::Public).into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let caller = self.caller(&context)?;
        let page = Page::of(prompts::list(&self.offer, caller.agent.as_ref()), request)?;
        let listed = ListPromptsResult::with_all_items(page.items).with_ttl_ms(ttl());
        let mut listed = listed.with_cache_scope(CacheScope::Public);
        listed.next_cursor = page.next;
        Ok(listed)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let caller = self.caller(&context)?;
        let arguments = request.arguments.unwrap_or_default();
        let prompt = prompts::get(&self.offer, caller.agent.as_ref(), &request.name, &arguments);
        Ok(prompt.map_err(|words| ErrorData::invalid_params(words, None))?.into())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let caller = self.caller(&context)?;
        let modes = Modes::of(context.client_capabilities().as_ref());
        tasks::read(&self.offer, &caller, modes, &request.task_id).await.map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.caller(&context)?;
        tasks::update(&self.offer, &caller, &request.task_id, &request.input_responses).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        tasks::cancel(&self.offer, &self.caller(&context)?, &request.task_id).await
    }
}

fn ttl() -> u64 {
    u64::try_from(LIST_TTL.as_millis()).unwrap_or(u64::MAX)
}
