//! The handler of the SDK: lists, calls, resources and prompts, for whoever a request comes from.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use futures::future::BoxFuture;
use http::request::Parts;
use parking_lot::Mutex;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, GetTaskParams,
    GetTaskResult, InitializeRequestParams, InitializeResult, InputRequiredResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceUpdatedNotificationParam,
    ServerConfig, SetLevelRequestMethod, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
    UpdateTaskParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use tracing::Instrument;

use crate::call::{self, Asking, Client};
use crate::caller::Caller;
use crate::elicit::{self, Modes};
use crate::finding::ToolRequest;
use crate::forward::{Reader, ServerSubscriptions, TellUpdate};
use crate::limits::{LIST_TTL, SUBSCRIPTIONS_MAX};
use crate::log::{self, Level, SetLevel};
use crate::offer::{Offer, OfferSource};
use crate::page::Page;
use crate::prompts::PromptReply;
use crate::resources::watch::Subscriptions;
use crate::servers::ListWatch;
use crate::{about, call_trace, forward, prompts, requirements, resources, tasks};

/// Methods with parameters that they must have.
const IN_BOTH: [&str; 4] = ["completion/complete", "prompts/get", "resources/read", "tools/call"];
/// Those that 2026-07-28 has no more.
const IN_SESSIONS: [&str; 3] = ["logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// The SDK's handler of one client: lists, calls, resources, prompts and tasks.
#[derive(Clone)]
pub(crate) struct Server {
    /// What is offered, of which a session sees whatever the deployment has by then.
    offer: OfferSource,
    /// Whoever is at the other end of a pipe; over HTTP each request says who it is.
    local: Option<Caller>,
    /// From which level on it is told what is logged, in a session.
    log: Arc<Mutex<Option<Level>>>,
    /// The resources that it wants to hear of.
    subscriptions: Arc<Subscriptions>,
    /// Tells it that lists have changed, in a session.
    lists: Arc<OnceLock<ListWatch>>,
    /// The resources of servers behind this host that it wants to hear of.
    followed: Arc<ServerSubscriptions>,
}

impl Server {
    /// The handler of a client over HTTP, whose requests bring their caller along.
    pub(crate) fn remote(offer: OfferSource) -> Self {
        Self {
            offer,
            local: None,
            log: Arc::default(),
            subscriptions: Arc::default(),
            lists: Arc::default(),
            followed: Arc::default(),
        }
    }

    /// For the one client at the other end of a pipe.
    pub(crate) fn local(offer: OfferSource) -> Self {
        Self { local: Some(Caller::local()), ..Self::remote(offer) }
    }

    /// What is offered by now, for one request.
    fn offer(&self) -> Arc<Offer> {
        self.offer.load()
    }

    fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let head = context.extensions.get::<Parts>();
        let found = head.and_then(|head| head.extensions.get::<Caller>().cloned()).or_else(|| self.local.clone());
        let found =
            found.ok_or_else(|| ErrorData::internal_error("the request came without its circumstances", None))?;
        Ok(Caller { log: context.meta.log_level().or(*self.log.lock()), ..found })
    }

    /// Has a client of 2026-07-28 hear of resources of servers behind the host, as long as what is given back is there.
    async fn follow(
        &self,
        offer: &Offer,
        context: &SubscriptionContext,
        addresses: &[&str],
    ) -> Result<ServerSubscriptions, ErrorData> {
        let followed = ServerSubscriptions::default();
        let request = context.request_context();
        let (caller, capabilities) = (self.caller(request)?, request.client_capabilities());
        let client = Client::in_session(request, capabilities.as_ref());
        let reader = Reader { offer, caller: &caller, client: &client };
        for address in addresses {
            let sink = context.sink().clone();
            let tell: TellUpdate = Arc::new(move |address| {
                let sink = sink.clone();
                Box::pin(async move { sink.notify_resource_updated(address).await.is_ok() })
            });
            reader.follow(&followed, address, tell).await.transpose()?;
        }
        Ok(followed)
    }

    /// Has the client hear of the resources that it subscribes to.
    fn watch(&self, peer: Peer<RoleServer>) {
        let tell = move |address: String| {
            let peer = peer.clone();
            let updated = ResourceUpdatedNotificationParam::new(address);
            Box::pin(async move { peer.notify_resource_updated(updated).await.is_ok() }) as BoxFuture<'static, bool>
        };
        self.subscriptions.watch(self.offer.clone(), Box::new(tell));
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        about::config(&self.offer(), None)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let caller = self.caller(&context)?;
        context.peer.set_peer_info(request.clone());
        let negotiated = self.negotiate_initialize(&request)?;
        Ok(about::config(&self.offer(), caller.agent.as_ref()).with_protocol_version(negotiated.protocol_version))
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let caller = self.caller(&context)?;
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, about::config(&self.offer(), caller.agent.as_ref())))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let offer = self.offer();
        if !offer.servers.is_empty() {
            self.lists.get_or_init(|| ListWatch::new(offer.servers.changes(), context.peer));
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = self.caller(&context)?;
        let page = self.offer().listed(caller.agent.as_ref(), request)?;
        let mut listed =
            ListToolsResult::with_all_items(page.items).with_ttl_ms(ttl()).with_cache_scope(CacheScope::Public);
        listed.next_cursor = page.next;
        Ok(listed)
    }

    /// What the SDK compares the fields of a call with. Only tools of the owner's naming mark arguments,
    /// and those have one name everywhere.
    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        self.offer().described(name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context)?;
        // While it is held, the way in waits before it sends a status; dropped, it ends that wait however the call
        // ends.
        let _pending = caller.verdict.pending();
        let offer = self.offer();
        let request = match offer.tool_request(&caller, request)? {
            ToolRequest::Call(request) => request,
            ToolRequest::Answered(result) => return Ok((*result).into()),
        };
        let capabilities = context.client_capabilities();
        let name = request.name.clone();
        if let Some(found) = offer.server_tool(caller.agent.as_ref(), &name) {
            let client = Client::in_session(&context, capabilities.as_ref());
            let span = call_trace::of_call(&context, &offer, &caller, &name);
            return forward::call(&offer, &found, &caller, request, &client).instrument(span).await;
        }
        let offered = call::callable(&offer, &caller, &request.name)?;
        requirements::check(offer.required(&request.name), capabilities.as_ref())?;
        let client = Client::in_session(&context, capabilities.as_ref());
        let span = call_trace::of_call(&context, &offer, &caller, &request.name);
        call::call(&offer, offered, &caller, request, &client).instrument(span).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let caller = self.caller(&context)?;
        let offer = self.offer();
        let mut all = resources::list(&offer, caller.agent.as_ref());
        let known: HashSet<String> = all.iter().map(|resource| resource.uri.clone()).collect();
        let others = offer.servers.resources(caller.agent.as_ref()).into_iter();
        all.extend(others.filter(|resource| !known.contains(&resource.uri)));
        let page = Page::of(all, request)?;
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
        // The SDK writes the code that the client's revision has for this.
        let missing =
            || ErrorData::resource_not_found("there is no such resource here", Some(json!({"uri": request.uri})));
        let offer = self.offer();
        let read = match resources::read(&offer, caller.agent.as_ref(), &request.uri).await {
            Some(read) => read,
            None => {
                let capabilities = context.client_capabilities();
                let client = Client::in_session(&context, capabilities.as_ref());
                let reader = Reader { offer: &offer, caller: &caller, client: &client };
                return reader.resource(&request).await.ok_or_else(missing)?;
            }
        };
        let contents = read.map_err(|words| ErrorData::internal_error(words, Some(json!({"uri": request.uri}))))?;
        let read = ReadResourceResult::new(vec![contents]);
        Ok(read.with_ttl_ms(ttl()).with_cache_scope(CacheScope::Public).into())
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let caller = self.caller(&context)?;
        let offer = self.offer();
        let mut all = resources::templates(&offer, caller.agent.as_ref());
        all.extend(offer.servers.templates(caller.agent.as_ref()));
        let page = Page::of(all, request)?;
        let listed = ListResourceTemplatesResult::with_all_items(page.items).with_ttl_ms(ttl());
        let mut listed = listed.with_cache_scope(CacheScope::Public);
        listed.next_cursor = page.next;
        Ok(listed)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.caller(&context)?;
        let offer = self.offer();
        if !resources::is_there(&offer, caller.agent.as_ref(), &request.uri) {
            let missing = || {
                let data = Some(json!({"uri": request.uri}));
                ErrorData::resource_not_found("there is no such resource here", data)
            };
            let capabilities = context.client_capabilities();
            let client = Client::in_session(&context, capabilities.as_ref());
            let peer = context.peer.clone();
            let tell: TellUpdate = Arc::new(move |address| {
                let (peer, updated) = (peer.clone(), ResourceUpdatedNotificationParam::new(address));
                Box::pin(async move { peer.notify_resource_updated(updated).await.is_ok() })
            });
            let reader = Reader { offer: &offer, caller: &caller, client: &client };
            return reader.follow(&self.followed, &request.uri, tell).await.ok_or_else(missing)?;
        }
        let added = self.subscriptions.add(&self.offer(), &request.uri).await;
        added.map_err(|words| ErrorData::invalid_request(words, None))?;
        self.watch(context.peer);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        self.followed.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let addresses = requested.resource_subscriptions.iter().flatten();
        let offer = self.offer();
        let is_known = |address: &&String| {
            resources::is_there(&offer, None, address) || offer.servers.of_resource(None, address).is_some()
        };
        let known = addresses.filter(is_known);
        let mut accepted = SubscriptionFilter::new();
        accepted.resource_subscriptions = Some(known.take(SUBSCRIPTIONS_MAX).cloned().collect());
        // The SDK takes away what was not asked for, and what is not told of here.
        (accepted.tools_list_changed, accepted.prompts_list_changed) = (Some(true), Some(true));
        accepted.resources_list_changed = Some(true);
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let subscriptions = Arc::new(Subscriptions::default());
        let (offer, sink) = (self.offer(), context.sink().clone());
        let mut of_servers = Vec::new();
        for address in context.accepted().resource_subscriptions.iter().flatten() {
            if !resources::is_there(&offer, None, address) {
                of_servers.push(address.as_str());
                continue;
            }
            let added = subscriptions.add(&offer, address).await;
            added.map_err(|words| ErrorData::invalid_request(words, None))?;
        }
        let _followed = self.follow(&offer, &context, &of_servers).await?;
        let tell = move |address: String| {
            let sink = sink.clone();
            Box::pin(async move { sink.notify_resource_updated(address).await.is_ok() }) as BoxFuture<'static, bool>
        };
        subscriptions.watch(self.offer.clone(), Box::new(tell));
        let mut changes = self.offer().servers.changes();
        let mut is_watched = true;
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = changes.changed(), if is_watched => is_watched = changed.is_ok(),
            }
            tell_of_lists(&context).await;
        }
    }

    /// What the library reads as none of the requests it knows: a method that there is not, or one of the protocol's with
    /// parameters that are not its own, such as a level that there is not.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        let is_known = IN_BOTH.contains(&method.as_str())
            || (IN_SESSIONS.contains(&method.as_str()) && !Asking::of(&context).in_rounds);
        match is_known {
            true => Err(ErrorData::invalid_params(format!("the parameters are not those of {method}"), None)),
            false => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)),
        }
    }

    async fn set_level(&self, request: SetLevel, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        if Asking::of(&context).in_rounds {
            // 2026-07-28 has no such method: each request names its level.
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        *self.log.lock() = Some(log::level(&request));
        Ok(())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let caller = self.caller(&context)?;
        let offer = self.offer();
        let mut all = prompts::list(&offer, caller.agent.as_ref());
        all.extend(offer.servers.prompts(caller.agent.as_ref()));
        let page = Page::of(all, request)?;
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
        let asking = Asking::of(&context);
        let asks = asking.in_rounds && asking.modes.form;
        let offer = self.offer();
        if !prompts::is_there(&offer, caller.agent.as_ref(), &request.name) {
            let capabilities = context.client_capabilities();
            let client = Client::in_session(&context, capabilities.as_ref());
            let reader = Reader { offer: &offer, caller: &caller, client: &client };
            if let Some(prompt) = reader.prompt(&request).await {
                return prompt;
            }
        }
        let asked = prompts::get(&offer, caller.agent.as_ref(), request, asks).await;
        Ok(match asked.map_err(|words| ErrorData::invalid_params(words, None))? {
            PromptReply::Filled(prompt) => prompt.into(),
            PromptReply::Lacks(forms) => InputRequiredResult::new(Some(elicit::requests(forms)), None).into(),
        })
    }

    /// Only servers behind this host complete anything: what is the host's own has no values to choose from.
    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let (caller, offer) = (self.caller(&context)?, self.offer());
        let capabilities = context.client_capabilities();
        let client = Client::in_session(&context, capabilities.as_ref());
        let reader = Reader { offer: &offer, caller: &caller, client: &client };
        reader.complete(&request).await.unwrap_or_else(|| Ok(CompleteResult::default()))
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let caller = self.caller(&context)?;
        let modes = Modes::of(context.client_capabilities().as_ref());
        tasks::read(&self.offer(), &caller, modes, &request.task_id).await.map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.caller(&context)?;
        tasks::update(&self.offer(), &caller, &request.task_id, &request.input_responses).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        tasks::cancel(&self.offer(), &self.caller(&context)?, &request.task_id).await
    }
}

/// Tells a client of 2026-07-28 that lists have changed, as far as it asked for that.
async fn tell_of_lists(context: &SubscriptionContext) {
    let (accepted, sink) = (context.accepted(), context.sink());
    // A client that is gone ends its subscription itself.
    if accepted.tools_list_changed == Some(true) {
        let _ = sink.notify_tool_list_changed().await;
    }
    if accepted.resources_list_changed == Some(true) {
        let _ = sink.notify_resource_list_changed().await;
    }
    if accepted.prompts_list_changed == Some(true) {
        let _ = sink.notify_prompt_list_changed().await;
    }
}

fn ttl() -> u64 {
    u64::try_from(LIST_TTL.as_millis()).unwrap_or(u64::MAX)
}
