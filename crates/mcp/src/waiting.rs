//! A call that waits for a person: what it remembers, sealed for its caller alone, and how it goes on.

use std::collections::BTreeMap;

use forecourt_core::reply::Question;
use forecourt_surface::tool::{ElicitedAnswer, ToolOutput};
use rmcp::ErrorData;
use rmcp::model::{ElicitResult, InputResponses};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::caller::Caller;
use crate::elicit;
use crate::forms::{Form, forms};
use crate::limits::{ANSWER_TIME_MAX, STATE_BYTES_MAX};
use crate::offer::Offer;

/// What a call remembers while a person is asked.
#[derive(Serialize, Deserialize)]
pub(crate) struct Waiting {
    question: Option<Question>,
    earlier: Value,
    /// How often the call has asked.
    pub(crate) round: usize,
    /// What was said already, by the form.
    #[serde(default)]
    pub(crate) answers: BTreeMap<String, Map<String, Value>>,
}

/// How a call goes on.
pub(crate) enum Next {
    /// The call goes on with these answers; with none after a page was visited.
    Goes(Option<ElicitedAnswer>),
    /// Answers to these forms are missing.
    Lacks(Waiting, Vec<Form>),
    /// The person declined, and the call ends.
    Declined,
}

impl Waiting {
    /// What a call that asks for something remembers: what it came to, or what an earlier round came to that has led
    /// to nothing yet.
    pub(crate) fn for_answers(called: &ToolOutput, earlier: Option<Value>, round: usize) -> Self {
        let question = called.question.clone();
        let earlier = earlier.unwrap_or_else(|| called.structured.clone());
        Self { question, earlier, round, answers: BTreeMap::new() }
    }

    /// The forms that the person was given. The one page has no question.
    pub(crate) fn forms(&self) -> Vec<Form> {
        match &self.question {
            Some(question) => forms(question).unwrap_or_default(),
            None => vec![elicit::visited()],
        }
    }

    /// What the refused call came to, where a page is to be visited and nothing is to be answered.
    pub(crate) fn visited(&self) -> Option<Value> {
        self.question.is_none().then(|| self.earlier.clone())
    }

    /// Takes the answers to `forms` out of what a client sent; the rest of that is none of ours.
    pub(crate) fn take(mut self, forms: Vec<Form>, responses: &mut InputResponses) -> Result<Next, ErrorData> {
        let mut lacks = Vec::new();
        for form in forms.into_iter().filter(|form| !self.answers.contains_key(&form.key)).collect::<Vec<_>>() {
            let Some(response) = responses.remove(&form.key) else {
                lacks.push(form);
                continue;
            };
            let wrong = |_| ErrorData::invalid_params(format!("inputResponses.{} must be an answer", form.key), None);
            let response: ElicitResult = serde_json::from_value(response).map_err(wrong)?;
            match elicit::accepted(response) {
                Some(said) => drop(self.answers.insert(form.key.clone(), form.answers(said))),
                None => return Ok(Next::Declined),
            }
        }
        Ok(if lacks.is_empty() { Next::Goes(self.answered()) } else { Next::Lacks(self, lacks) })
    }

    /// The answer to a question. A page that was visited answers nothing: the call is made once more.
    pub(crate) fn answered(self) -> Option<ElicitedAnswer> {
        let answers = self.answers.into_values().flatten().collect();
        self.question.map(|question| ElicitedAnswer { question, answers, earlier: self.earlier })
    }
}

/// Seals what a call remembers, for this caller, tool and arguments alone.
pub(crate) struct Seal<'a> {
    offer: &'a Offer,
    bound_to: Vec<u8>,
}

impl<'a> Seal<'a> {
    /// The seal of one call.
    pub(crate) fn new(offer: &'a Offer, tool: &str, caller: &Caller, arguments: &Value) -> Self {
        // `requestState` comes back from the client, who may have it from somebody else or change it: it holds for this
        // tool, caller and arguments alone, and for a while.
        let owner = caller.sender.owner().unwrap_or_default();
        let bound_to = serde_json::json!([tool, owner, forecourt_core::json::canonical(arguments)]).to_string();
        Self { offer, bound_to: bound_to.into_bytes() }
    }

    /// `None` when there is too much to remember.
    pub(crate) fn close<T: Serialize>(&self, waiting: &T) -> Option<String> {
        let options = rmcp::model::SealOptions::new().associated_data(&self.bound_to).ttl(ANSWER_TIME_MAX);
        let sealed = self.offer.seal.seal_json_with(waiting, &options).ok()?;
        (sealed.len() <= STATE_BYTES_MAX).then_some(sealed)
    }

    /// Fails for what is not of this call and caller, or too old.
    pub(crate) fn open<T: DeserializeOwned>(&self, state: &str) -> Result<T, ErrorData> {
        let wrong = |words: &'static str| ErrorData::invalid_params(words, None);
        if state.len() > STATE_BYTES_MAX {
            return Err(wrong("requestState is not one of this server"));
        }
        self.offer.seal.open_json_with(state, &self.bound_to).map_err(|error| {
            tracing::info!(%error, "a request state did not hold");
            wrong("requestState does not hold: it is of another call, or too old. Call again without it")
        })
    }
}
