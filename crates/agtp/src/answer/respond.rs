//! Responses, stamped with the time and the state of the server, and sealed.

use forecourt_contract::call::CallTrail;
use forecourt_core::ids::uuid7;

use crate::records::RecordFacts;
use crate::reply::{Problem, RequestOutcome};
use crate::service::Service;
use crate::to_wire::ResponseStamp;
use crate::wire::{Request, Response};

impl Service {
    /// The response to a request that was understood, or to one that was not but has an end.
    pub(crate) async fn response(&self, request: &Request, mut answered: RequestOutcome, is_first: bool) -> Response {
        let stamp = self.stamp(is_first);
        let (facts, trail) = (answered.facts.take(), answered.trail.clone());
        let mut response = self.response_defaults.response(request, answered, &stamp);
        // Without facts it is the refusal itself that no record can be kept of.
        let Some(facts) = facts else { return response };
        match self.seal(Some(request), &mut response, (&facts, &trail), &stamp.response_id).await {
            Ok(()) => response,
            Err(problem) => {
                let answered = RequestOutcome { reply: problem.into(), trail, agent: facts.agent, facts: None };
                self.response_defaults.response(request, answered, &stamp)
            }
        }
    }

    /// The response to bytes that are not a request.
    pub(crate) async fn refusal(&self, problem: Problem, is_first: bool) -> Response {
        let stamp = self.stamp(is_first);
        let mut response = self.response_defaults.refusal(problem, &stamp);
        let nobody = (&RecordFacts::default(), &CallTrail::default());
        match self.seal(None, &mut response, nobody, &stamp.response_id).await {
            Ok(()) => response,
            Err(problem) => self.response_defaults.refusal(problem, &stamp),
        }
    }

    fn stamp(&self, is_first: bool) -> ResponseStamp {
        ResponseStamp {
            api_version: self.discovery.api_version(),
            response_id: uuid7(self.host.clock().now(), self.host.entropy().as_ref()),
            is_first,
        }
    }
}
