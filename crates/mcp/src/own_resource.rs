//! Resources of the owner's naming: texts, files, and texts for every address of a form.

mod address;
mod file;

use std::collections::HashSet;

use forecourt_settings::{Problems, Section};
use forecourt_surface::template::Text;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};
use url::Url;

use crate::limits::{FILE_BYTES_MAX, NAMED_MAX};
use crate::section::{McpSettings, ResourceSettings};

use address::AddressTemplate;

pub(crate) use file::{OwnFile, Stamp};

/// A resource of the deployment, with its address and its template parsed and its file checked.
pub(crate) struct OwnResource {
    settings: ResourceSettings,
    content: Content,
}

enum Content {
    Text(String),
    File(OwnFile),
    /// The text for an address of the form, by the values in it.
    Form(AddressTemplate, Text),
}

/// The resources of a section. Fails with all that is wrong with them.
pub(crate) fn resources(settings: &McpSettings, section: &Section) -> Result<Vec<OwnResource>, Problems> {
    let mut seen = HashSet::new();
    let mut problems = Problems::new();
    let mut all = Vec::new();
    for settings in &settings.resources {
        let twice = || format!("two resources have the address `{}`", settings.uri);
        let known = if seen.insert(&settings.uri) { Ok(()) } else { Err(twice()) };
        match known.and_then(|()| read(settings, section)) {
            Ok(resource) => all.push(resource),
            Err(words) => problems.push(section.problem(Some("resources"), words)),
        }
    }
    if all.len() > NAMED_MAX {
        problems.push(section.problem(Some("resources"), format!("there are at most {NAMED_MAX} resources")));
    }
    problems.into_result(all)
}

fn read(settings: &ResourceSettings, section: &Section) -> Result<OwnResource, String> {
    let named = |words: String| format!("the resource `{}` {words}", settings.uri);
    let form = AddressTemplate::read(&settings.uri).map_err(named)?;
    let plain = settings.uri.replace(['{', '}'], "");
    let scheme = Url::parse(&plain).map(|url| url.scheme().to_owned());
    match scheme.as_deref() {
        Err(_) => return Err(named("has no valid address, such as menu://today".to_owned())),
        Ok("agent" | "ui") => {
            return Err(named("has an address that is taken: agent: and ui: are the host's".to_owned()));
        }
        Ok(_) => {}
    }
    let content = match (form, &settings.text, &settings.file) {
        (Some(form), Some(text), None) => {
            let text = Text::read(text).map_err(|words| named(format!("has a `text` that {words}")))?;
            let unknown = text.names().find(|name| !form.names().any(|known| known == *name)).map(str::to_owned);
            match unknown {
                Some(name) => {
                    return Err(named(format!("has `{{{name}}}` in its `text`, which is not in its address")));
                }
                None => Content::Form(form, text),
            }
        }
        (Some(_), _, Some(_)) => {
            return Err(named("has an address with places, and a file has one address".to_owned()));
        }
        (None, Some(text), None) => Content::Text(text.clone()),
        (None, None, Some(path)) => {
            let file = OwnFile::new(section.resolve_path(path), settings.mime_type.as_deref(), FILE_BYTES_MAX);
            Content::File(file.map_err(|words| named(format!("can't be read: {words}")))?)
        }
        _ => return Err(named("needs a `text` or a `file`, and one of them is enough".to_owned())),
    };
    Ok(OwnResource { settings: settings.clone(), content })
}

impl OwnResource {
    fn mime(&self) -> &str {
        match &self.content {
            Content::File(file) => file.mime(),
            Content::Text(_) | Content::Form(..) => self.settings.mime_type.as_deref().unwrap_or("text/plain"),
        }
    }

    fn name(&self) -> &str {
        self.settings.name.as_deref().unwrap_or(&self.settings.uri)
    }

    fn title(&self) -> &str {
        self.settings.title.as_deref().unwrap_or_else(|| self.name())
    }

    /// As lists show it; `None` for a form, which has a list of its own.
    pub(crate) fn listed(&self) -> Option<Resource> {
        if matches!(self.content, Content::Form(..)) {
            return None;
        }
        let mut listed =
            Resource::new(&self.settings.uri, self.name()).with_title(self.title()).with_mime_type(self.mime());
        listed.description.clone_from(&self.settings.description);
        Some(listed)
    }

    /// A form as lists show it.
    pub(crate) fn template(&self) -> Option<ResourceTemplate> {
        if !matches!(self.content, Content::Form(..)) {
            return None;
        }
        let mut listed =
            ResourceTemplate::new(&self.settings.uri, self.name()).with_title(self.title()).with_mime_type(self.mime());
        listed.description.clone_from(&self.settings.description);
        Some(listed)
    }

    /// Whether an address is its own, or of its form.
    pub(crate) fn is_at(&self, address: &str) -> bool {
        match &self.content {
            Content::Text(_) | Content::File(_) => self.settings.uri == address,
            Content::Form(form, _) => form.values(address).is_some(),
        }
    }

    /// What is at an address of its own. Fails when a file can't be read any more.
    pub(crate) async fn contents(&self, address: &str) -> Result<ResourceContents, String> {
        let text = match &self.content {
            Content::File(file) => return file.contents(address).await,
            Content::Text(text) => text.clone(),
            Content::Form(form, text) => {
                let values = Value::Object(form.values(address).unwrap_or_default());
                // A value of an address is a stranger's: it must not end the string of JSON that it stands in.
                let written = if self.mime().contains("json") { within_json } else { str::to_owned };
                text.fill(&values, written).ok_or("the address is too long")?
            }
        };
        let contents = json!({"uri": address, "mimeType": self.mime(), "text": text});
        serde_json::from_value(contents).map_err(|error| error.to_string())
    }

    /// How it stands now: what stands still has always the same.
    pub(crate) async fn stamp(&self) -> Stamp {
        match &self.content {
            Content::File(file) => file.stamp().await,
            Content::Text(_) | Content::Form(..) => None,
        }
    }
}

/// A value inside a string of JSON.
fn within_json(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
