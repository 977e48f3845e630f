//! Responses, stamped with the time and the state of the server, and sealed.

use std::sync::Arc;

use forecourt_agtp_wire::message::{Request, Response};
use forecourt_contract::call::CallTrail;
use forecourt_core::ids::uuid7;

use super::seal::RecordSeal;
use crate::records::RecordFacts;
use crate::reply::{Problem, RequestOutcome};
use crate::to_wire::{ResponseDefaults, ResponseStamp};

/// Makes the responses of a server.
pub(crate) struct Responder<'a> {
    /// What every answer says.
    pub(super) defaults: &'a ResponseDefaults,
    /// The edition of the manifest that is in force.
    pub(super) api_version: Option<Arc<str>>,
    /// What each response leaves with.
    pub(super) seal: RecordSeal<'a>,
}

impl Responder<'_> {
    /// The response to a request that was understood, or to one that was not but has an end.
    pub(crate) async fn response(
        mut self,
        request: &Request,
        mut answered: RequestOutcome,
        is_first: bool,
    ) -> Response {
        let stamp = self.stamp(is_first);
        let (facts, trail) = (answered.facts.take(), answered.trail.clone());
        let mut response = self.defaults.response(request, answered, &stamp);
        // Without facts it is the refusal itself that no record can be kept of.
        let Some(facts) = facts else { return response };
        match self.seal.seal(Some(request), &mut response, (&facts, &trail), &stamp.response_id).await {
            Ok(()) => response,
            Err(problem) => {
                let answered = RequestOutcome { reply: problem.into(), trail, agent: facts.agent, facts: None };
                self.defaults.response(request, answered, &stamp)
            }
        }
    }

    /// The response to bytes that are not a request.
    pub(crate) async fn refusal(mut self, problem: Problem, is_first: bool) -> Response {
        let stamp = self.stamp(is_first);
        let mut response = self.defaults.refusal(problem, &stamp);
        let nobody = (&RecordFacts::default(), &CallTrail::default());
        match self.seal.seal(None, &mut response, nobody, &stamp.response_id).await {
            Ok(()) => response,
            Err(problem) => self.defaults.refusal(problem, &stamp),
        }
    }

    fn stamp(&mut self, is_first: bool) -> ResponseStamp {
        ResponseStamp {
            api_version: self.api_version.take(),
            response_id: uuid7(self.seal.clock.now(), self.seal.entropy),
            is_first,
        }
    }
}
