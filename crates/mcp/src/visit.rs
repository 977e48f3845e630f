//! The other side: calling the tools of any server, for a person who waits for the answer.

use std::sync::Arc;
use std::time::Duration;

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
use crate::form::Form;
use crate::limits::{TOOL_LISTING_TIME_MAX, TOOLS_NAMED_MAX};

/// Where a server is, and the way to it.
#[derive(Clone)]
pub struct ServerLocation {
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
pub trait Person: Send + Sync + 'static {
    /// Is told how far the work has come.
    fn told(&self, progress: Progress);

    /// Whether questions in the middle of a call can be answered.
    fn answers(&self) -> bool;

    /// Fills in a form: values by the names of its fields, `None` to decline.
    fn asked(&self, form: Form) -> BoxFuture<'_, Option<Map<String, Value>>>;

    /// Is sent to a page, and says whether it went there.
    fn sent(&self, words: String, url: String) -> BoxFuture<'_, bool>;
}

/// What came of a call.
#[derive(Debug, Clone, Default)]
pub struct CallReply {
    /// The answer for programs; `null` when there is none.
    pub structured: Value,
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
pub enum Trouble {
    /// No connection, with the reason.
    Unconnected(String),
    /// The server wants to know who asks.
    SignIn,
    /// There is no such tool; there are these.
    NoTool(Vec<String>),
    /// The server refused the request, in its own words.
    Refused(String),
    /// Whoever is there speaks no MCP.
    Speechless(String),
    /// The answer broke off, or makes no sense.
    Broken(String),
}

/// An open connection to a server.
pub struct Visit {
    service: RunningService<RoleClient, Visitor>,
}

impl Visit {
    /// Connects: in the newest revision, or with the handshake of older ones.
    pub fn begin(place: &ServerLocation, person: Arc<dyn Person>) -> BoxFuture<'_, Result<Self, Trouble>> {
        Box::pin(async move {
            let newest = ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::V_2025_11_25),
            };
            let begun = Visitor(person.clone()).serve_with_lifecycle(connection(place), newest).await;
            let begun = match begun.map_err(|error| trouble_of(&error)) {
                // Some older servers answer the probe with what is no answer at all.
                Err(Trouble::Speechless(_)) => {
                    let older = ClientLifecycleMode::Initialize;
                    let begun = Visitor(person).serve_with_lifecycle(connection(place), older).await;
                    begun.map_err(|error| trouble_of(&error))
                }
                begun => begun,
            };
            Ok(Self { service: begun? })
        })
    }

    /// Calls a tool, and puts its questions to the person.
    pub fn call<'a>(&'a self, tool: &'a str, arguments: Value) -> BoxFuture<'a, Result<CallReply, Trouble>> {
        Box::pin(async move {
            let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(crate::content::object(arguments));
            let error = match self.service.call_tool(params).await {
                Ok(result) => return Ok(answer(serde_json::to_value(&result).unwrap_or_default(), result.content)),
                Err(error) => error,
            };
            match self.tools().await {
                Some(known) if !known.is_empty() && !known.iter().any(|name| name == tool) => {
                    Err(Trouble::NoTool(known))
                }
                _ => Err(trouble(&error)),
            }
        })
    }

    /// The names of the tools, as far as they are wanted in a message.
    async fn tools(&self) -> Option<Vec<String>> {
        let listed = timeout(TOOL_LISTING_TIME_MAX, self.service.list_tools(None)).await.ok()?.ok()?;
        Some(listed.tools.into_iter().take(TOOLS_NAMED_MAX).map(|tool| tool.name.into_owned()).collect())
    }

    /// Ends the connection, and what the server keeps for it.
    pub fn end(self) -> BoxFuture<'static, ()> {
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

fn trouble(error: &ServiceError) -> Trouble {
    match error {
        ServiceError::McpError(said) => Trouble::Refused(said.message.to_string()),
        ServiceError::TransportSend(error) => below(error),
        other => Trouble::Broken(other.to_string()),
    }
}

fn trouble_of(error: &ClientInitializeError) -> Trouble {
    match error {
        error if error.is_authorization_required() => Trouble::SignIn,
        ClientInitializeError::JsonRpcError(said) => Trouble::Refused(said.message.to_string()),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => trouble_of(fallback),
        ClientInitializeError::TransportError { error, .. } => match below(error) {
            Trouble::Broken(reason) => Trouble::Speechless(reason),
            trouble => trouble,
        },
        error => Trouble::Speechless(error.to_string()),
    }
}

/// What is behind an error of the transport.
fn below(error: &DynamicTransportError) -> Trouble {
    match client::fault(error.error.as_ref()) {
        Some(StreamableHttpError::Client(OutError::Egress(EgressError::Unconnected(reason)))) => {
            Trouble::Unconnected(reason.clone())
        }
        Some(StreamableHttpError::Client(OutError::Egress(error))) => Trouble::Broken(error.log_reason()),
        Some(StreamableHttpError::Client(OutError::Declined { declined, message })) => match message.is_empty() {
            true => Trouble::Broken(format!("the server {declined}")),
            false => Trouble::Refused(message.clone()),
        },
        Some(StreamableHttpError::AuthRequired(_)) => Trouble::SignIn,
        Some(fault) => Trouble::Broken(fault.to_string()),
        None => Trouble::Broken("the connection is gone".to_owned()),
    }
}

/// The SDK's side of a person.
pub(crate) struct Visitor(pub(crate) Arc<dyn Person>);

impl ClientHandler for Visitor {
    fn get_info(&self) -> ClientConfig {
        let declared = if self.0.answers() { json!({"elicitation": {"form": {}, "url": {}}}) } else { json!({}) };
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
                match self.0.asked(Form::read(message, &schema, &order)).await {
                    Some(values) => ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(values)),
                    None => ElicitResult::new(ElicitationAction::Decline),
                }
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => match self.0.sent(message, url).await {
                true => ElicitResult::new(ElicitationAction::Accept),
                false => ElicitResult::new(ElicitationAction::Decline),
            },
            _ => ElicitResult::new(ElicitationAction::Decline),
        })
    }

    async fn on_progress(&self, told: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let whole = told.total.filter(|total| *total > 0.0);
        self.0.told(Progress { fraction: whole.map(|total| told.progress / total), note: told.message });
    }
}
