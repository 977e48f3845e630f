//! The widget that shows results as cards, for clients with MCP Apps and for ChatGPT.

use rmcp::model::{ExtensionCapabilities, MetaObject, Resource, ResourceContents};
use serde_json::{Value, json};

use crate::content::object;

/// The address of the widget.
pub(crate) const URI: &str = "ui://forecourt/results.html";
/// The media type of MCP Apps.
const MIME: &str = "text/html;profile=mcp-app";
/// The extension, as clients and servers declare it.
const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// One page: markup, style and script, nothing from elsewhere.
const PAGE: &str = include_str!("widget/results.html");

/// What a tool says about the widget, in the words of MCP Apps, of its draft and of ChatGPT.
pub(crate) fn of_tool() -> Value {
    json!({
        "ui": {"resourceUri": URI, "visibility": ["model", "app"]},
        "ui/resourceUri": URI,
        "openai/outputTemplate": URI,
        "openai/widgetAccessible": true,
        "openai/toolInvocation/invoking": "Asking…",
        "openai/toolInvocation/invoked": "Answered",
    })
}

/// The widget as lists show it.
pub(crate) fn resource() -> Resource {
    Resource::new(URI, "results")
        .with_title("Results")
        .with_description("Shows the results of a tool as cards.")
        .with_mime_type(MIME)
        .with_meta(MetaObject(object(meta())))
}

/// The HTML of the widget as a resource, with its content security policy.
pub(crate) fn contents() -> ResourceContents {
    ResourceContents::TextResourceContents {
        uri: URI.to_owned(),
        mime_type: Some(MIME.to_owned()),
        text: PAGE.to_owned(),
        meta: Some(MetaObject(object(meta()))),
    }
}

/// Pictures of results may come from anywhere by https; nothing else comes from outside.
fn meta() -> Value {
    json!({
        "ui": {
            "csp": {"connectDomains": [], "resourceDomains": ["https:"], "frameDomains": [], "baseUriDomains": []},
            "prefersBorder": true,
        },
        "openai/widgetDescription": "Shows the results as cards with pictures and links.",
        "openai/widgetPrefersBorder": true,
        "openai/widgetCSP": {"connect_domains": [], "resource_domains": ["https:"]},
    })
}

/// The extension among the server's capabilities.
pub(crate) fn extension() -> ExtensionCapabilities {
    ExtensionCapabilities::from([(EXTENSION.to_owned(), object(json!({"mimeTypes": [MIME]})))])
}
