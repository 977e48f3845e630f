//! This module asks an agent over Mentionable REST.
//!
//! | file | holds |
//! |---|---|
//! | `endpoint.rs` | where the agent is asked |
//! | `requests.rs` | checks of requests: sections 2, 3, 5.4 to 5.6 |
//! | `answers.rs` | checks of answers: sections 4, 5.1 to 5.3 and 8 |

mod answers;
mod endpoint;
mod requests;

use std::sync::Arc;

use futures::future::BoxFuture;

use super::target::WebTarget;
use crate::check::Check;
use crate::offer::{Absence, OfferedProtocol};

pub(super) use endpoint::Rest;

impl OfferedProtocol for Rest {
    type Target = WebTarget;
    const NAME: &'static str = "Mentionable REST";
    const CHECKS: &'static [&'static [Check<Self>]] = &[requests::CHECKS, answers::CHECKS];

    fn find(host: Arc<WebTarget>) -> BoxFuture<'static, Result<Self, Absence>> {
        Box::pin(Self::look(host))
    }
}
