//! Responses, stamped with the time and the state of the server.

use forecourt_core::ids::uuid7;

use crate::reply::{Answered, Problem};
use crate::service::Service;
use crate::to_wire::ResponseStamp;
use crate::wire::{Request, Response};

impl Service {
    /// The response to a request that was understood, or to one that was not but has an end.
    pub(crate) fn response(&self, request: &Request, answered: Answered, is_first: bool) -> Response {
        self.response_defaults.response(request, answered, &self.stamp(is_first))
    }

    /// The response to bytes that are not a request.
    pub(crate) fn refusal(&self, problem: Problem, is_first: bool) -> Response {
        self.response_defaults.refusal(problem, &self.stamp(is_first))
    }

    fn stamp(&self, is_first: bool) -> ResponseStamp {
        ResponseStamp {
            api_version: self.discovery.api_version(),
            response_id: uuid7(self.host.clock().now(), self.host.entropy().as_ref()),
            is_first,
        }
    }
}
