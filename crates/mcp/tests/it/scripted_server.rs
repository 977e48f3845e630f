//! A scripted server that stands behind a host, and a host before it.
#![expect(deprecated, reason = "older servers log, and are subscribed to by each resource")]

use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use forecourt_testhost::ServerBlueprint;
use forecourt_testkit::{ScriptedAgent, card};
use http::HeaderMap;
use parking_lot::Mutex;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, CompletionInfo,
    ContentBlock, ElicitRequest, ElicitRequestParams, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    Implementation, InputRequest, InputRequiredResult, ListPromptsResult, ListResourcesResult, ListToolsResult,
    LoggingLevel, LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam, Prompt,
    PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Reference, Resource,
    ResourceContents, ResourceUpdatedNotificationParam, Role, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, Tool,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use crate::support::{Place, Setup};

/// What a scripted server was asked, and by which fields.
#[derive(Clone, Default)]
pub(crate) struct Seen {
    pub(crate) calls: Arc<Mutex<Vec<CallToolRequestParams>>>,
    pub(crate) heads: Arc<Mutex<Vec<HeaderMap>>>,
    pub(crate) metas: Arc<Mutex<Vec<Value>>>,
    /// The session of each call.
    pub(crate) sessions: Arc<Mutex<Vec<String>>>,
}

/// A server of a few tools.
#[derive(Clone)]
struct Far(Seen);

impl ServerHandler for Far {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts();
        let capabilities = capabilities.enable_resources_subscribe().enable_logging().enable_completions().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("far", "7"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools: Vec<Tool> = serde_json::from_value(json!([
            {"name": "get", "title": "Get", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}},
                "required": ["n"]}, "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true},
                "_meta": {"ui": {"resourceUri": "ui://far/widget"}}},
            {"name": "drop", "inputSchema": {"type": "object"}},
            {"name": "ask", "inputSchema": {"type": "object"}},
            {"name": "steps", "inputSchema": {"type": "object"}},
        ]))
        .expect("tools");
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.0.calls.lock().push(request.clone());
        let head =
            context.extensions.get::<http::request::Parts>().map(|head| head.headers.clone()).unwrap_or_default();
        let session = head.get("mcp-session-id").and_then(|id| id.to_str().ok()).unwrap_or_default();
        self.0.sessions.lock().push(session.to_owned());
        self.0.metas.lock().push(serde_json::to_value(&context.meta).expect("JSON"));
        match &*request.name {
            "get" => {
                let mut result: CallToolResult = serde_json::from_value(json!({
                    "content": [{"type": "text", "text": "7"}, {"type": "image", "data": "cG5n", "mimeType": "image/png"}],
                    "structuredContent": {"n": 7}, "_meta": {"far/x": 1},
                }))
                .expect("a result");
                result.is_error = Some(false);
                Ok(result.into())
            }
            "ask" => {
                let schema = serde_json::from_value(json!({"type": "object", "properties": {"a": {"type": "string"}}}));
                let asked = ElicitRequestParams::FormElicitationParams {
                    meta: None,
                    message: "Which?".into(),
                    requested_schema: schema.expect("a schema"),
                };
                let is_modern = context.protocol_version().is_some_and(|version| version.as_str() >= "2026");
                let said = match (is_modern, request.input_responses) {
                    (false, _) => {
                        let answer = context.peer.create_elicitation(asked).await;
                        answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?
                    }
                    (true, None) => {
                        let asked = InputRequest::Elicitation(ElicitRequest::new(asked));
                        let asked = [("input".to_owned(), asked)].into();
                        return Ok(InputRequiredResult::new(Some(asked), Some("mine".into())).into());
                    }
                    (true, Some(said)) => {
                        assert_eq!(request.request_state.as_deref(), Some("mine"));
                        serde_json::from_value(said["input"].clone()).expect("an answer")
                    }
                };
                let words = json!({"action": said.action, "content": said.content}).to_string();
                Ok(CallToolResult::success(vec![ContentBlock::text(words)]).into())
            }
            "steps" => {
                let token = context.meta.get_progress_token().expect("a token");
                let told = ProgressNotificationParam::new(token, 2.0).with_total(4.0).with_message("half");
                context.peer.notify_progress(told).await.expect("told");
                let logged = LoggingMessageNotificationParam::new(LoggingLevel::Warning, json!("low"));
                context.peer.notify_logging_message(logged).await.expect("logged");
                Ok(CallToolResult::success(vec![ContentBlock::text("done")]).into())
            }
            other => Err(ErrorData::invalid_params(format!("no {other}"), Some(json!({"own": true})))),
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![Resource::new("far://one", "one")]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(ReadResourceResult::new(vec![ResourceContents::text("read", request.uri)]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let of = match &request.r#ref {
            Reference::Prompt(prompt) => prompt.name.clone(),
            Reference::Resource(resource) => resource.uri.clone(),
            _ => String::new(),
        };
        let values = vec![format!("{of} {}", request.argument.value)];
        Ok(CompleteResult::new(CompletionInfo::new(values).expect("few values")))
    }

    /// Tells at once that it has changed.
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let peer = context.peer.clone();
        tokio::spawn(
            async move { peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(request.uri)).await },
        );
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        for address in context.accepted().resource_subscriptions.iter().flatten() {
            let _ = context.sink().notify_resource_updated(address.clone()).await;
        }
        context.cancelled().await;
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(vec![Prompt::new("greet", Some("Greets"), None)]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, format!("hi from {}", request.name))]).into())
    }
}

/// A scripted server on a listener, for as long as the test goes on.
pub(crate) async fn far() -> (String, Seen) {
    let seen = Seen::default();
    let (served, heads) = (seen.clone(), seen.heads.clone());
    let config = StreamableHttpServerConfig::default();
    let service =
        StreamableHttpService::new(move || Ok(Far(served.clone())), Arc::<LocalSessionManager>::default(), config);
    let note = move |request: Request, next: Next| {
        heads.lock().push(request.headers().clone());
        next.run(request)
    };
    let router = axum::Router::new().fallback_service(service).layer(from_fn(note));
    (listen(router).await, seen)
}

pub(crate) async fn listen(router: axum::Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async { axum::serve(listener, router).await });
    url
}

pub(crate) fn server(url: &str, more: &str) -> ServerBlueprint {
    ServerBlueprint { name: "far".into(), section: format!("url = \"{url}\"\n{more}"), rules: Vec::new() }
}

/// A host with these servers behind it.
pub(crate) async fn host(servers: Vec<ServerBlueprint>) -> Place {
    let setup = Setup { servers, ..Setup::default() };
    setup.with(card("chef"), ScriptedAgent::saying(["soup"])).start().await
}

/// The names of the tools at an endpoint.
pub(crate) async fn tools(place: &Place, path: &str) -> Vec<String> {
    let listed = place.modern(path, "tools/list", json!({})).await;
    let tools = listed.last()["result"]["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

/// The same once the servers have told what they have.
pub(crate) async fn listed(place: &Place, name: &str) -> Vec<String> {
    let known = async {
        loop {
            let tools = tools(place, "/mcp").await;
            if tools.iter().any(|tool| tool == name) {
                return tools;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), known).await.expect("the server is asked what it has")
}
