//! PROPOSE: endpoints made while serving, which this host does not do. AGTP-API 8.7, 10.

use super::Floor;
use crate::reply::{Problem, Reply};
use crate::status::Status;

/// The media type of an endpoint that was made. AGTP-API 17.2.
pub(crate) const ENDPOINT_TYPE: &str = "application/vnd.agtp.endpoint+json";

impl Floor<'_> {
    /// Says so, whatever is proposed.
    pub(super) fn propose(&self) -> Result<Reply, Problem> {
        let explanation =
            "this server makes no endpoints while it serves: DISCOVER /methods lists those that there are";
        Err(Problem::new(Status::PROPOSAL_REJECTED, "proposal-rejected", explanation)
            .with("reason", "synthesis-disabled")
            .with("explanation", explanation))
    }
}
