//! Many tools: where an endpoint has more than a list may have, clients list three that lead to all others.
//!
//! | file | holds |
//! |---|---|
//! | `listing.rs` | the tools of an endpoint, and those that its list shows |
//! | `kept.rs` | listings that were made before |
//! | `lead.rs` | `find_tools`, `describe_tool` and `call_tool`, and what the first two answer |
//!
//! `call_tool` is no tool of its own: it is read as the call that it names, before anything else looks at the request.
//! So it goes through the same gate, tells the same progress and ends the same.

mod kept;
mod lead;
mod listing;

use std::sync::Arc;

use forecourt_core::Language;
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResult, Tool};
use serde_json::Value;

use crate::content::result;
use crate::limits::TOOLS_FOUND_NEAR;

pub(crate) use kept::Listings;
use lead::DESCRIBE;
pub(crate) use lead::{CALL, FIND, LEADS_COUNT};
pub(crate) use listing::{ListedTool, Listing, Pin};

/// What a request to call a tool is.
pub(crate) enum ToolRequest {
    /// The call of a tool of the endpoint.
    Call(CallToolRequestParams),
    /// A question about the tools, with its answer.
    Answered(Box<CallToolResult>),
}

/// Reads a request to call a tool at an endpoint with this listing; `is_there` knows what may be called there, listed or
/// not.
///
/// # Errors
/// `call_tool` names a tool that is not there: the error names those that are spelled alike.
pub(crate) fn read(
    listing: impl FnOnce() -> Arc<Listing>,
    is_there: impl Fn(&str) -> bool,
    language: Option<&Language>,
    request: CallToolRequestParams,
) -> Result<ToolRequest, ErrorData> {
    if ![FIND, DESCRIBE, CALL].contains(&&*request.name) {
        return Ok(ToolRequest::Call(request));
    }
    let listing = listing();
    // A tool that is really called so is reached by its name as long as nothing else is listed under that.
    if !listing.is_cut && is_there(&request.name) {
        return Ok(ToolRequest::Call(request));
    }
    if request.name == CALL {
        let call = lead::named_call(request)?;
        // What lists leave out on purpose may be called all the same.
        return match listing.has(&call.name) || is_there(&call.name) {
            true => Ok(ToolRequest::Call(call)),
            false => Err(missing(&listing, &call.name)),
        };
    }
    let arguments = request.arguments.unwrap_or_default();
    let output = match &*request.name {
        DESCRIBE => lead::describe(&listing, &arguments),
        _ => lead::find(&listing, &arguments),
    };
    Ok(ToolRequest::Answered(Box::new(result(output, language))))
}

/// The tools that a list shows: all, or those that lead to the others and the pinned ones.
pub(crate) fn shown(listing: &Listing) -> Vec<Tool> {
    let leads = if listing.is_cut { lead::leads(listing.len()) } else { Vec::new() };
    leads.into_iter().chain(listing.shown()).collect()
}

/// That there is no tool of a name, and what may have been meant.
fn missing(listing: &Listing, name: &str) -> ErrorData {
    let near = listing.nearest(name, TOOLS_FOUND_NEAR);
    ErrorData::invalid_params(lead::missing_words(name, &near), Some(Value::from(near)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from)
        ];
        leaf.prop_recursive(2, 8, 3, |inner| prop::collection::vec(inner, 0..3).prop_map(Value::from))
    }

    proptest! {
        #[test]
        fn any_arguments_are_answered_or_refused(
            lead in prop::sample::select(vec![FIND, DESCRIBE, CALL]),
            key in prop::sample::select(vec!["query", "limit", "name", "arguments", "other"]),
            value in values(),
            more in values(),
        ) {
            let mut request = CallToolRequestParams::new(lead);
            request.arguments = json!({"name": more, key: value}).as_object().cloned();
            let listing = || Arc::new(Listing::new(Vec::new(), &[], 4, LEADS_COUNT));
            match read(listing, |_| false, None, request) {
                Ok(ToolRequest::Call(_)) => prop_assert!(false, "there is no tool to call"),
                Ok(ToolRequest::Answered(_)) => prop_assert!(lead != CALL),
                Err(_) => prop_assert!(lead == CALL),
            }
        }
    }
}
