//! From a request on the wire to what it says, in the contract layer's words: pure functions, which look
//! nobody up. Who calls, and where a target leads, is found out by `answer`. Base 2.1, 2.2, 2.4.

pub(crate) mod body;
mod fields;
mod target;

use forecourt_agtp_wire::message::Request;
use forecourt_agtp_wire::status::Status;

use crate::reply::Problem;

pub(crate) use fields::RequestFields;
pub(crate) use target::{AGENTS, AgentPath, GENESIS, TargetPath, target};

/// Refuses what this version of the protocol has and this server does not.
///
/// # Errors
/// 501 for chains of delegation.
pub(crate) fn supported(request: &Request) -> Result<(), Problem> {
    match request.field("Delegation-Chain") {
        None => Ok(()),
        Some(_) => {
            let message = "chains of delegation are not supported: leave `Delegation-Chain` out";
            Err(Problem::new(Status::NOT_IMPLEMENTED, "delegation-not-supported", message))
        }
    }
}
