//! A client for the tools of any MCP server, on behalf of a person who waits for the answer.

use std::sync::Arc;
use std::time::Duration;

use forecourt_client::form::Form;
use forecourt_core::Progress;
use forecourt_egress::{Egress, EgressError, Purpose};
use futures::future::BoxFuture;
use http::HeaderMap;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ContentBlock, ElicitRequestParams, ElicitResult,
    ElicitationAction, Implementation, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, NotificationContext, RequestContext, RunningService,
    ServiceError,
};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use crate::client::{self, Connection, OutError};
use crate::form::read_schema;
use crate::limits::{TOOL_LISTING_TIME_MAX, TOOLS_NAMED_MAX};

/// Where a server is, and the way to it.
#[derive(Clone)]
pub(crate) struct ServerLocation {
    /// The way out.
    pub egress: Egress,
    /// On whose behalf it is connected to.
    pub purpose: Purpose,
    /// The endpoint.
    pub url: String,
    /// Fields for each request, such as who asks.
    pub headers: HeaderMap,
}

/// Who waits for the answer.
pub(crate) trait Person: Send + Sync + 'static {
    /// Is told how far the work has come.
    fn show_progress(&self, progress: Progress);

    /// Whether questions in the middle of a call can be answered.
    fn can_answer(&self) -> bool;

    /// Fills in a form: values by the names of its fields, `None` to decline.
    fn fill_in(&self, form: Form) -> BoxFuture<'_, Option<Map<String, Value>>>;

    /// Is sent to a page, and says whether it went there.
    fn open_page(&self, words: String, url: String) -> BoxFuture<'_, bool>;
}

/// What came of a call.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallReply {
    /// The answer for programs; `null` when there is none.
    pub(crate) structured: Value,
    /// The answer in words.
    pub text: String,
    /// Files and links beside it, by what can be said about them.
    pub more: Vec<String>,
    /// Whether the call failed.
    pub is_error: bool,
    /// The refusal behind a failure, as it came. Mentionable PolicyPart 4.1.
    pub refusal: Option<Value>,
    /// The whole result, as it came.
    pub raw: Value,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum VisitError {
    /// No connection, with the reason.
    Unconnected(String),
    /// The server answered 401: it wants a token.
    SignIn,
    /// There is no such tool; there are these.
    NoTool(Vec<String>),
    /// The server refused the request, in its own words.
    Refused(String),
    /// Nothing that speaks MCP answers there; the reason.
    NoMcp(String),
    /// The answer broke off, or makes no sense.
    Broken(String),
}

/// An open connection to a server.
pub(crate) struct Visit {
    service: RunningService<RoleClient, Visitor>,
}

impl Visit {
    /// Connects: in the newest revision, or with the handshake of older ones.
    pub(crate) fn begin(place: &ServerLocation, person: Arc<dyn Person>) -> BoxFuture<'_, Result<Self, VisitError>> {
        Box::pin(async move {
            let newest = ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::V_2025_11_25),
            };
            let begun = Visitor(person.clone()).serve_with_lifecycle(connection(place), newest).await;
            let begun = match begun.map_err(|error| init_error(&error)) {
                // Some older servers answer the probe with what is no answer at all.
                Err(VisitError::NoMcp(_)) => {
                    let older = ClientLifecycleMode::Initialize;
                    let begun = Visitor(person).serve_with_lifecycle(connection(place), older).await;
                    begun.map_err(|error| init_error(&error))
                }
                begun => begun,
            };
            Ok(Self { service: begun? })
        })
    }

    /// Calls a tool, and puts its questions to the person.
    pub(crate) fn call<'a>(&'a self, tool: &'a str, arguments: Value) -> BoxFuture<'a, Result<CallReply, VisitError>> {
        Box::pin(async move {
            let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(crate::content::object(arguments));
            let error = match self.service.call_tool(params).await {
                Ok(result) => return Ok(answer(serde_json::to_value(&result).unwrap_or_default(), result.content)),
                Err(error) => error,
            };
            match self.tools().await {
                Some(known) if !known.is_empty() && !known.iter().any(|name| name == tool) => {
                    Err(VisitError::NoTool(known))
                }
                _ => Err(call_error(&error)),
            }
        })
    }

    /// The names of the tools, as far as they are wanted in a message.
    async fn tools(&self) -> Option<Vec<String>> {
        let listed = timeout(TOOL_LISTING_TIME_MAX, self.service.list_tools(None)).await.ok()?.ok()?;
        Some(listed.tools.into_iter().take(TOOLS_NAMED_MAX).map(|tool| tool.name.into_owned()).collect())
    }

    /// Ends the connection, and what the server keeps for it.
    pub(crate) fn end(self) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            const FAREWELL: Duration = Duration::from_secs(2);
            // A server that doesn't listen any more has nothing to end.
            let _ = timeout(FAREWELL, self.service.cancel()).await;
        })
    }
}

fn connection(place: &ServerLocation) -> Connection {
    client::connection(place.egress.clone(), place.purpose, &place.url, place.headers.clone())
}

fn answer(raw: Value, content: Vec<ContentBlock>) -> CallReply {
    let mut words = Vec::new();
    let mut more = Vec::new();
    for block in content {
        match block {
            ContentBlock::Text(text) => words.push(text.text),
            ContentBlock::Image(image) => more.push(format!("({})", image.mime_type)),
            ContentBlock::Audio(audio) => more.push(format!("({})", audio.mime_type)),
            ContentBlock::ResourceLink(link) => {
                more.push(format!("[{}]({})", link.title.unwrap_or(link.name), link.uri));
            }
            _ => more.push("(a resource)".to_owned()),
        }
    }
    CallReply {
        structured: raw["structuredContent"].clone(),
        text: words.join("\n\n"),
        more,
        is_error: raw["isError"] == true,
        refusal: raw.pointer("/_meta/mentionable/policy/part").cloned(),
        raw,
    }
}

fn call_error(error: &ServiceError) -> VisitError {
    match error {
        ServiceError::McpError(error) => VisitError::Refused(error.message.to_string()),
        ServiceError::TransportSend(error) => transport_error(error),
        other => VisitError::Broken(other.to_string()),
    }
}

fn init_error(error: &ClientInitializeError) -> VisitError {
    match error {
        error if error.is_authorization_required() => VisitError::SignIn,
        ClientInitializeError::JsonRpcError(error) => VisitError::Refused(error.message.to_string()),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => init_error(fallback),
        ClientInitializeError::TransportError { error, .. } => match transport_error(error) {
            VisitError::Broken(reason) => VisitError::NoMcp(reason),
            error => error,
        },
        error => VisitError::NoMcp(error.to_string()),
    }
}

/// What is behind an error of the transport.
fn transport_error(error: &DynamicTransportError) -> VisitError {
    match client::http_error(error.error.as_ref()) {
        Some(StreamableHttpError::Client(OutError::Egress(EgressError::Unconnected(reason)))) => {
            VisitError::Unconnected(reason.clone())
        }
        Some(StreamableHttpError::Client(OutError::Egress(error))) => VisitError::Broken(error.log_reason()),
        Some(StreamableHttpError::Client(OutError::Declined { declined, message })) => match message.is_empty() {
            true => VisitError::Broken(format!("the server {declined}")),
            false => VisitError::Refused(message.clone()),
        },
        Some(StreamableHttpError::AuthRequired(_)) => VisitError::SignIn,
        Some(error) => VisitError::Broken(error.to_string()),
        None => VisitError::Broken("the connection is gone".to_owned()),
    }
}

/// The SDK's side of a person.
pub(crate) struct Visitor(pub(crate) Arc<dyn Person>);

impl ClientHandler for Visitor {
    fn get_info(&self) -> ClientConfig {
        let declared = if self.0.can_answer() { json!({"elicitation": {"form": {}, "url": {}}}) } else { json!({}) };
        let capabilities: ClientCapabilities = serde_json::from_value(declared).unwrap_or_default();
        ClientConfig::new(capabilities, Implementation::new("forecourt", env!("CARGO_PKG_VERSION")))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(match request {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                let schema = serde_json::to_value(&requested_schema).unwrap_or_default();
                let order = requested_schema.property_order.unwrap_or_default();
                match self.0.fill_in(read_schema(message, &schema, &order)).await {
                    Some(values) => ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(values)),
                    None => ElicitResult::new(ElicitationAction::Decline),
                }
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                match self.0.open_page(message, url).await {
                    true => ElicitResult::new(ElicitationAction::Accept),
                    false => ElicitResult::new(ElicitationAction::Decline),
                }
            }
            _ => ElicitResult::new(ElicitationAction::Decline),
        })
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let whole = progress.total.filter(|total| *total > 0.0);
        self.0
            .show_progress(Progress { fraction: whole.map(|total| progress.progress / total), note: progress.message });
    }
}
