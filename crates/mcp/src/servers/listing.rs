//! What servers offer beside tools, and which of them has what a client names. Addresses are the server's own at every
//! endpoint; names of prompts have its prefix at the host's.

use forecourt_core::{Glob, Handle};
use rmcp::model::{Prompt, Resource, ResourceTemplate, Tool};
use serde_json::Value;

use super::shelf::{ServerPrompt, ShownAt};
use super::{Server, Servers};

/// Where in the metadata of a tool a widget is named that shows its results.
const WIDGETS: [&str; 3] = ["/ui/resourceUri", "/ui~1resourceUri", "/openai~1outputTemplate"];

impl Servers {
    /// The resources of an endpoint. Of two with one address the first counts.
    pub(crate) fn resources(&self, endpoint: Option<&Handle>) -> Vec<Resource> {
        let (servers, _) = self.shown(endpoint);
        servers.flat_map(|server| server.upstream.shelf().catalog.resources.clone()).collect()
    }

    /// The forms of addresses of an endpoint.
    pub(crate) fn templates(&self, endpoint: Option<&Handle>) -> Vec<ResourceTemplate> {
        let (servers, _) = self.shown(endpoint);
        servers.flat_map(|server| server.upstream.shelf().catalog.templates.clone()).collect()
    }

    /// The prompts of an endpoint, as it calls them.
    pub(crate) fn prompts(&self, endpoint: Option<&Handle>) -> Vec<Prompt> {
        let (servers, at) = self.shown(endpoint);
        let of_server = |server: &Server| {
            let named = |prompt: &ServerPrompt| {
                let mut shown = prompt.prompt.clone();
                if at == ShownAt::Host {
                    shown.name.clone_from(&prompt.host_name);
                }
                shown
            };
            server.upstream.shelf().prompts.iter().map(named).collect::<Vec<_>>()
        };
        servers.flat_map(of_server).collect()
    }

    /// The server that has the resource of an address: the first that lists it, that names it as a widget, or that has
    /// a form for it. At a server's own endpoint it is that server, which may have more than it lists.
    pub(crate) fn of_resource(&self, endpoint: Option<&Handle>, address: &str) -> Option<&Server> {
        if let Some(name) = endpoint {
            return self.find(name);
        }
        let all = || self.all.iter();
        let lists = |server: &&Server| {
            let shelf = server.upstream.shelf();
            shelf.catalog.resources.iter().any(|one| one.uri == address)
                || shelf.tools.iter().any(|tool| names_widget(&tool.tool, address))
        };
        let has_form = |server: &&Server| {
            server.upstream.shelf().catalog.templates.iter().any(|form| is_of_form(&form.uri_template, address))
        };
        all().find(lists).or_else(|| all().find(has_form))
    }

    /// The prompt of a name at an endpoint: its server, and the server's own name for it.
    pub(crate) fn prompt(&self, endpoint: Option<&Handle>, name: &str) -> Option<(&Server, String)> {
        let (mut servers, at) = self.shown(endpoint);
        servers.find_map(|server| {
            let shelf = server.upstream.shelf();
            let is_named = |prompt: &&ServerPrompt| match at {
                ShownAt::Host => prompt.host_name == name,
                ShownAt::Server => prompt.prompt.name == name,
            };
            let own = shelf.prompts.iter().find(is_named)?.prompt.name.clone();
            Some((server, own))
        })
    }
}

/// Whether a tool's results are shown by the widget at an address.
fn names_widget(tool: &Tool, address: &str) -> bool {
    let Some(meta) = &tool.meta else { return false };
    let meta = Value::Object(meta.0.clone());
    WIDGETS.iter().any(|place| meta.pointer(place).and_then(Value::as_str) == Some(address))
}

/// Whether an address is of a form, RFC 6570, whatever its values.
fn is_of_form(form: &str, address: &str) -> bool {
    let mut pattern = String::new();
    let mut rest = form;
    while let Some((literal, after)) = rest.split_once('{') {
        let Some((_, behind)) = after.split_once('}') else { return false };
        pattern.push_str(literal);
        pattern.push('*');
        rest = behind;
    }
    pattern.push_str(rest);
    Glob::try_from(pattern).is_ok_and(|pattern| pattern.matches(address))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_are_of_a_form_whatever_their_values() {
        assert!(is_of_form("file:///{+path}", "file:///a/b") && is_of_form("a://{x}/b{?q}", "a://1/b"));
        assert!(!is_of_form("a://{x}/b", "a://1/c") && !is_of_form("a://{x", "a://1"));
    }

    proptest! {
        #[test]
        fn forms_of_servers_can_be_anything(form in ".{0,300}", address in ".{0,40}") {
            is_of_form(&form, &address);
        }
    }
}
