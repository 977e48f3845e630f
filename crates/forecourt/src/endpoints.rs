//! The endpoints of a deployment: loaded before there is a host, and tools of its agents once there is.

use std::sync::Arc;

use forecourt_agents::tool::{EndpointTool, Tool, ToolResult};
use forecourt_contract::endpoint::EndpointOffer;
use forecourt_contract::semantic::Impact;
use forecourt_contract::{Dispatcher, Endpoint, Handler, HostHandle};
use forecourt_core::Message;
use forecourt_egress::Egress;
use forecourt_endpoints::{EndpointPolicy, FunctionError, FunctionSource, Kinds, Python, load};
use forecourt_host::Host;
use forecourt_settings::{Problems, ProcessEnvironment};
use forecourt_surface::endpoint;
use forecourt_surface::tool::ToolCall;
use futures::future::BoxFuture;
use serde_json::Value;

use crate::deployment::Deployment;
use crate::registry::{ServerFunctionError, ServerFunctions};

/// What answers calls, with what was refused of the files.
pub(crate) struct Endpoints {
    /// Every endpoint that keeps all rules.
    pub contract: Arc<Dispatcher>,
    /// What is wrong with the others.
    pub refused: Problems,
    /// What has no effect, in a sentence each.
    pub doubtful: Vec<String>,
    /// The host in which they are called, once it runs.
    pub host: HostHandle,
}

impl Endpoints {
    /// Loads what can be loaded. Fails when the settings can't be read, or when the operator wants all
    /// endpoints or none and one is refused.
    pub(crate) fn load(deployment: &Deployment, egress: &Egress) -> Result<Self, Problems> {
        let EndpointPolicy { terms, must_be_whole } = EndpointPolicy::read(&deployment.endpoints)?;
        let notices = deployment.wires.notices();
        let python = Python::new(deployment.functions.clone());
        let host = HostHandle::default();
        let names = deployment.servers.iter().map(|server| server.name.clone());
        let tools = ServerFunctionSource(ServerFunctions::new(names, host.clone()));
        let functions = deployment.own_functions.clone().then(Arc::new(tools)).then(Arc::new(python));
        let kinds = Kinds { egress: egress.clone(), functions, host: host.clone() };
        let found = load(&deployment.dir, terms, &ProcessEnvironment, &kinds);
        found.warn();
        match must_be_whole && !found.refused.is_empty() {
            true => Err(found.refused),
            false => {
                let doubtful = notices.into_iter().chain(doubtful(&found)).collect();
                Ok(Self { contract: found.dispatcher, refused: found.refused, doubtful, host })
            }
        }
    }

    /// Those that models may be given as tools.
    pub(crate) fn tools(&self) -> Vec<EndpointTool> {
        let offered = endpoint::offered(&self.contract).into_iter();
        let tools = offered.filter(|(_, endpoint)| endpoint.is_offered_as(EndpointOffer::Tool));
        tools.map(|(name, endpoint)| tool(name, endpoint, self.host.clone())).collect()
    }
}

fn tool(name: String, endpoint: Arc<Endpoint>, host: HostHandle) -> EndpointTool {
    let pair = format!("{} {}", endpoint.method, endpoint.path);
    let description = endpoint::description(&endpoint);
    EndpointTool { pair, tool: Arc::new(OfEndpoint { name, description, endpoint, host }) }
}

/// What the method policy says in vain, and the endpoints that it lets nobody call. Section 9.4.
fn doubtful(found: &forecourt_endpoints::LoadReport) -> Vec<String> {
    let Dispatcher { policy, registry, .. } = &*found.dispatcher;
    let skipped = found.skipped.iter().map(|skipped| format!("the method policy: {skipped}"));
    let all = registry.iter().map(|registered| &registered.endpoint);
    let shut = all.filter(|endpoint| !policy.admits(&endpoint.method, &endpoint.method));
    let shut = shut.map(|one| format!("{} {}: the method policy lets nobody call it", one.method, one.path));
    skipped.chain(shut).collect()
}

/// The tools of servers behind the deployment, as functions.
struct ServerFunctionSource(ServerFunctions);

impl FunctionSource for ServerFunctionSource {
    fn find(&self, dotted: &str) -> Result<Arc<dyn Handler>, FunctionError> {
        self.0.find(dotted).map_err(|error| match error {
            ServerFunctionError::Other => FunctionError::Unknown,
            ServerFunctionError::Unknown(words) => FunctionError::Broken(words),
        })
    }
}

/// An endpoint as a tool of models.
struct OfEndpoint {
    name: String,
    description: String,
    endpoint: Arc<Endpoint>,
    host: HostHandle,
}

impl Tool for OfEndpoint {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn parameters(&self) -> Value {
        self.endpoint.input.source().clone()
    }

    /// As its file says: what only tells something does nothing twice either.
    fn is_idempotent(&self) -> bool {
        let semantic = &self.endpoint.semantic;
        semantic.is_idempotent || semantic.impact == Impact::Informational
    }

    fn call<'a>(&'a self, arguments: Value, message: &'a Message) -> BoxFuture<'a, ToolResult> {
        let given = ToolCall {
            arguments,
            sender: message.sender.clone(),
            // Endpoints may lead back to agents: the chain counts on, so that it ends.
            hop: message.hop.saturating_add(1),
            language: message.language.clone(),
            via: message.received_via,
            gives_tasks: false,
            answered: None,
            visited: None,
            payment: None,
        };
        Box::pin(async move {
            let host = self.host.service::<Host>().ok_or("there is no way to it at the moment")?;
            let called = endpoint::call(&host, &self.endpoint, given).await;
            if called.is_error { Err(called.text.join("\n").into()) } else { Ok(called.structured) }
        })
    }
}
