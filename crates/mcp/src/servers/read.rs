//! What clients read and look up at a server: resources, prompts and completions, each behind the gate. Addresses are
//! the server's own at every endpoint; names of prompts have its prefix at the host's.

use std::collections::BTreeMap;

use forecourt_core::policy::RefusalKind;
use forecourt_core::{Ending, Glob, Handle, Message, MessageId, PolicyPart};
use forecourt_host::{ForwardPermit, Target};
use rmcp::ErrorData;
use rmcp::model::{
    ClientRequest, CompleteRequest, CompleteRequestParams, CompleteResult, GetPromptRequest, GetPromptRequestParams,
    GetPromptResponse, InputResponses, Prompt, ReadResourceRequest, ReadResourceRequestParams, ReadResourceResponse,
    Reference, Resource, ResourceTemplate, ResultType, ServerResult, Tool,
};
use serde_json::{Value, json};

use super::call::{CallFailure, CallStep, MakeRequest, ServerCall};
use super::tool_call::{asker, own_meta};
use super::{Server, Servers, ShownAt};
use crate::call::Client;
use crate::caller::Caller;
use crate::elicit::Modes;
use crate::limits::ANSWER_TIME_MAX;
use crate::offer::Offer;
use crate::upstream::call_error::CallError;
use crate::{NAME, answer, content, log};

/// Where in the metadata of a tool a widget is named that shows its results.
const WIDGETS: [&str; 3] = ["/ui/resourceUri", "/ui~1resourceUri", "/openai~1outputTemplate"];

impl Servers {
    /// The resources of an endpoint. Of two with one address the first counts.
    pub(crate) fn resources(&self, endpoint: Option<&Handle>) -> Vec<Resource> {
        let (servers, _) = self.shown(endpoint);
        servers.flat_map(|server| server.upstream.shelf().catalog.resources.clone()).collect()
    }

    /// The forms of addresses of an endpoint.
    pub(crate) fn templates(&self, endpoint: Option<&Handle>) -> Vec<ResourceTemplate> {
        let (servers, _) = self.shown(endpoint);
        servers.flat_map(|server| server.upstream.shelf().catalog.templates.clone()).collect()
    }

    /// The prompts of an endpoint, as it calls them.
    pub(crate) fn prompts(&self, endpoint: Option<&Handle>) -> Vec<Prompt> {
        let (servers, at) = self.shown(endpoint);
        let of_server = |server: &Server| {
            let named = |prompt: &super::shelf::ServerPrompt| {
                let mut shown = prompt.prompt.clone();
                if at == ShownAt::Host {
                    shown.name.clone_from(&prompt.host_name);
                }
                shown
            };
            server.upstream.shelf().prompts.iter().map(named).collect::<Vec<_>>()
        };
        servers.flat_map(of_server).collect()
    }

    /// The server that has the resource of an address: the first that lists it, that names it as a widget, or that has
    /// a form for it. At a server's own endpoint it is that server, which may have more than it lists.
    pub(crate) fn of_resource(&self, endpoint: Option<&Handle>, address: &str) -> Option<&Server> {
        if let Some(name) = endpoint {
            return self.find(name);
        }
        let all = || self.all.iter();
        let lists = |server: &&Server| {
            let shelf = server.upstream.shelf();
            shelf.catalog.resources.iter().any(|one| one.uri == address)
                || shelf.tools.iter().any(|tool| names_widget(&tool.tool, address))
        };
        let has_form = |server: &&Server| {
            server.upstream.shelf().catalog.templates.iter().any(|form| is_of_form(&form.uri_template, address))
        };
        all().find(lists).or_else(|| all().find(has_form))
    }

    /// The prompt of a name at an endpoint: its server, and the server's own name for it.
    fn prompt(&self, endpoint: Option<&Handle>, name: &str) -> Option<(&Server, String)> {
        let (mut servers, at) = self.shown(endpoint);
        servers.find_map(|server| {
            let shelf = server.upstream.shelf();
            let is_named = |prompt: &&super::shelf::ServerPrompt| match at {
                ShownAt::Host => prompt.host_name == name,
                ShownAt::Server => prompt.prompt.name == name,
            };
            let own = shelf.prompts.iter().find(is_named)?.prompt.name.clone();
            Some((server, own))
        })
    }
}

/// Whether a tool's results are shown by the widget at an address.
fn names_widget(tool: &Tool, address: &str) -> bool {
    let Some(meta) = &tool.meta else { return false };
    let meta = Value::Object(meta.0.clone());
    WIDGETS.iter().any(|place| meta.pointer(place).and_then(Value::as_str) == Some(address))
}

/// Whether an address is of a form, RFC 6570, whatever its values.
fn is_of_form(form: &str, address: &str) -> bool {
    let mut pattern = String::new();
    let mut rest = form;
    while let Some((literal, after)) = rest.split_once('{') {
        let Some((_, behind)) = after.split_once('}') else { return false };
        pattern.push_str(literal);
        pattern.push('*');
        rest = behind;
    }
    pattern.push_str(rest);
    Glob::try_from(pattern).is_ok_and(|pattern| pattern.matches(address))
}

/// Somebody who reads at a server.
pub(crate) struct Reader<'a> {
    pub(crate) offer: &'a Offer,
    pub(crate) caller: &'a Caller,
    pub(crate) client: &'a Client<'a>,
}

impl Reader<'_> {
    /// Reads a resource. `None` where no server has one of this address.
    pub(crate) async fn resource(
        &self,
        params: &ReadResourceRequestParams,
    ) -> Option<Result<ReadResourceResponse, ErrorData>> {
        let server = self.offer.servers.of_resource(self.caller.agent.as_ref(), &params.uri)?;
        let (address, meta) = (params.uri.clone(), own_meta(self.caller, self.client.meta()));
        let make = move |responses: Option<InputResponses>, state: Option<String>| {
            let mut params = ReadResourceRequestParams::new(address.clone());
            (params.input_responses, params.request_state) = (responses, state);
            params.meta = Some(meta.clone());
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
        };
        Some(self.ask(server, Box::new(make)).await.and_then(|result| match result {
            ServerResult::ReadResourceResult(mut read) => {
                read.result_type = Some(ResultType::COMPLETE);
                Ok(read.into())
            }
            _ => Err(unreadable()),
        }))
    }

    /// Gets a prompt. `None` where no server has one of this name.
    pub(crate) async fn prompt(&self, params: &GetPromptRequestParams) -> Option<Result<GetPromptResponse, ErrorData>> {
        let (server, name) = self.offer.servers.prompt(self.caller.agent.as_ref(), &params.name)?;
        let (arguments, meta) = (params.arguments.clone(), own_meta(self.caller, self.client.meta()));
        let make = move |responses: Option<InputResponses>, state: Option<String>| {
            let mut params = GetPromptRequestParams::new(name.clone());
            params.arguments.clone_from(&arguments);
            (params.input_responses, params.request_state) = (responses, state);
            params.meta = Some(meta.clone());
            ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
        };
        Some(self.ask(server, Box::new(make)).await.and_then(|result| match result {
            ServerResult::GetPromptResult(mut prompt) => {
                prompt.result_type = Some(ResultType::COMPLETE);
                Ok(prompt.into())
            }
            _ => Err(unreadable()),
        }))
    }

    /// Completes an argument. `None` where no server has what it is an argument of.
    pub(crate) async fn complete(&self, params: &CompleteRequestParams) -> Option<Result<CompleteResult, ErrorData>> {
        let endpoint = self.caller.agent.as_ref();
        let mut own = params.clone();
        let server = match &mut own.r#ref {
            Reference::Prompt(prompt) => {
                let (server, name) = self.offer.servers.prompt(endpoint, &prompt.name)?;
                prompt.name = name;
                server
            }
            Reference::Resource(resource) => self.offer.servers.of_resource(endpoint, &resource.uri)?,
            _ => return None,
        };
        own.meta = Some(own_meta(self.caller, self.client.meta()));
        let make = move |_, _| ClientRequest::CompleteRequest(CompleteRequest::new(own.clone()));
        Some(self.ask(server, Box::new(make)).await.and_then(|result| match result {
            ServerResult::CompleteResult(mut completed) => {
                completed.result_type = Some(ResultType::COMPLETE);
                Ok(completed)
            }
            _ => Err(unreadable()),
        }))
    }

    /// Leave to ask a server something that does nothing there.
    pub(super) async fn pass(&self, server: &Server) -> Result<ForwardPermit, ErrorData> {
        let host = &self.offer.host;
        let message = Message {
            sender: self.caller.sender.clone(),
            hop: self.caller.hop,
            language: self.caller.language.clone(),
            ..Message::new(
                MessageId::mint(&**host.entropy()),
                server.upstream.name.clone(),
                Vec::new(),
                NAME,
                host.clock().now(),
            )
        };
        match host.forward(&server.gate, Target::Other, message).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(refusal)) => Err(self.refused(&refusal.part)),
            Err(error) => Err(ErrorData::invalid_request(answer::error_output(&error).text.join(" "), None)),
        }
    }

    async fn ask(&self, server: &Server, make: MakeRequest) -> Result<ServerResult, ErrorData> {
        let permit = self.pass(server).await?;
        // What is read is read in one go by clients that would have to be asked in rounds.
        let modes = match self.client.asking.in_rounds {
            true => Modes { form: false, url: false },
            false => self.client.asking.modes,
        };
        let asker = asker(self.caller, modes, self.client.session());
        let mut call = ServerCall::new(server.upstream.clone(), permit, asker, make);
        loop {
            let step = match self.client.context {
                Some(context) => tokio::select! {
                    step = call.step() => step,
                    () = context.ct.cancelled() => return Err(ErrorData::internal_error("the request was cancelled", None)),
                },
                None => call.step().await,
            };
            match step {
                CallStep::Told(mut told) => {
                    let Some(context) = self.client.context else { continue };
                    let Some(token) = context.meta.get_progress_token() else { continue };
                    told.progress_token = token;
                    let _ = context.peer.notify_progress(told).await;
                }
                CallStep::Logged(message) => {
                    let Some(context) = self.client.context else { continue };
                    log::pass_on(message, server.upstream.name.as_str(), self.caller.log, context).await;
                }
                CallStep::Asks(asked) => {
                    let Some(context) = self.client.context else { continue };
                    let mut answers = BTreeMap::new();
                    for (key, request) in &asked.requests {
                        let time_max = Some(ANSWER_TIME_MAX);
                        let answer = context.peer.create_elicitation_with_timeout(request.clone(), time_max).await;
                        answers.extend(answer.ok().map(|answer| (key.clone(), answer)));
                    }
                    asked.answered(answers);
                }
                CallStep::Ended(result) => return result.map_err(|failure| self.failed(failure)),
            }
        }
    }

    fn failed(&self, failure: CallFailure) -> ErrorData {
        match failure {
            CallFailure { error: CallError::Said(said), .. } => said,
            CallFailure { ending: Ending::Refused(part), .. } => self.refused(&part),
            CallFailure { ending, .. } => {
                let data = json!({"code": ending.code()});
                ErrorData::internal_error(ending.reason().unwrap_or_default().into_owned(), Some(data))
            }
        }
    }

    /// A refusal of what is no call of a tool: its words, with the part for programs.
    fn refused(&self, part: &PolicyPart) -> ErrorData {
        let words = content::words(part, self.caller.language.as_ref());
        let mut data = json!({"code": part.kind(), "policy": part});
        if let RefusalKind::ServiceUnavailable { retry_after_seconds: Some(seconds) } = part.kind {
            data["retryAfterSeconds"] = seconds.into();
        }
        ErrorData::invalid_request(words, Some(data))
    }
}

fn unreadable() -> ErrorData {
    ErrorData::internal_error("the server behind this host answered something else than it was asked", None)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_are_of_a_form_whatever_their_values() {
        assert!(is_of_form("file:///{+path}", "file:///a/b") && is_of_form("a://{x}/b{?q}", "a://1/b"));
        assert!(!is_of_form("a://{x}/b", "a://1/c") && !is_of_form("a://{x", "a://1"));
    }

    proptest! {
        #[test]
        fn forms_of_servers_can_be_anything(form in ".{0,300}", address in ".{0,40}") {
            is_of_form(&form, &address);
        }
    }
}
