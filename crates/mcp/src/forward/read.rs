//! What clients read and look up at a server: resources, prompts and completions, each behind the gate.

use std::collections::BTreeMap;

use forecourt_core::policy::RefusalKind;
use forecourt_core::{Ending, Message, MessageId, PolicyPart};
use forecourt_host::{ForwardPermit, Target};
use rmcp::ErrorData;
use rmcp::model::{
    ClientRequest, CompleteRequest, CompleteRequestParams, CompleteResult, GetPromptRequest, GetPromptRequestParams,
    GetPromptResponse, InputResponses, ReadResourceRequest, ReadResourceRequestParams, ReadResourceResponse, Reference,
    ResultType, ServerResult,
};
use serde_json::{Value, json};

use super::tool_call::{asker, own_meta, said_to_server};
use crate::call::Client;
use crate::caller::Caller;
use crate::elicit::Modes;
use crate::limits::ANSWER_TIME_MAX;
use crate::offer::Offer;
use crate::servers::Server;
use crate::servers::call::{CallFailure, CallStep, MakeRequest, ServerCall, ServerRequest};
use crate::upstream::call_error::CallError;
use crate::{NAME, answer, content, log};

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
        let asked = json!({"resource": params.uri});
        let (address, meta) = (params.uri.clone(), own_meta(self.caller, Some(self.client.meta)));
        let make = move |responses: Option<InputResponses>, state: Option<String>| {
            let mut params = ReadResourceRequestParams::new(address.clone());
            (params.input_responses, params.request_state) = (responses, state);
            params.meta = Some(meta.clone());
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
        };
        Some(self.ask(server, asked, Box::new(make)).await.and_then(|result| match result {
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
        let asked = json!({"prompt": name, "arguments": params.arguments});
        let (arguments, meta) = (params.arguments.clone(), own_meta(self.caller, Some(self.client.meta)));
        let make = move |responses: Option<InputResponses>, state: Option<String>| {
            let mut params = GetPromptRequestParams::new(name.clone());
            params.arguments.clone_from(&arguments);
            (params.input_responses, params.request_state) = (responses, state);
            params.meta = Some(meta.clone());
            ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
        };
        Some(self.ask(server, asked, Box::new(make)).await.and_then(|result| match result {
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
        let asked = json!({"ref": own.r#ref, "argument": params.argument, "context": params.context});
        own.meta = Some(own_meta(self.caller, Some(self.client.meta)));
        let make = move |_, _| ClientRequest::CompleteRequest(CompleteRequest::new(own.clone()));
        Some(self.ask(server, asked, Box::new(make)).await.and_then(|result| match result {
            ServerResult::CompleteResult(mut completed) => {
                completed.result_type = Some(ResultType::COMPLETE);
                Ok(completed)
            }
            _ => Err(unreadable()),
        }))
    }

    /// Leave to ask a server something that does nothing there: `asked`, for those who judge what is asked.
    pub(super) async fn pass(&self, server: &Server, asked: Value) -> Result<ForwardPermit, ErrorData> {
        let host = &self.offer.host;
        let message = Message {
            sender: self.caller.sender.clone(),
            hop: self.caller.hop,
            language: self.caller.language.clone(),
            ..Message::new(
                MessageId::mint(&**host.entropy()),
                server.upstream.name.clone(),
                vec![said_to_server(asked, self.client.meta)],
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

    async fn ask(&self, server: &Server, asked: Value, make: MakeRequest) -> Result<ServerResult, ErrorData> {
        let permit = self.pass(server, asked).await?;
        // What is read is read in one go by clients that would have to be asked in rounds.
        let modes = match self.client.asking.in_rounds {
            true => Modes { form: false, url: false },
            false => self.client.asking.modes,
        };
        let asker = asker(self.caller, modes, self.client.session());
        let request = ServerRequest { make, is_plain: false };
        let mut call = ServerCall::new(server.upstream.clone(), permit, asker, request);
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

    pub(super) fn failed(&self, failure: CallFailure) -> ErrorData {
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
