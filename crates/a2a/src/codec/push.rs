//! Push configurations: flat in 1.0, nested below their task in 0.3, and there named by paths in the
//! protocol buffers.

use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use super::Dialect;
use super::limits::{CLIENT_ID_BYTES_MAX, SCHEMES_MAX, SECRET_BYTES_MAX, URL_BYTES_MAX};
use super::read::ObjectReader;
use super::write::{DialectValue, ObjectWriter};
use crate::model::{PushAuthentication, PushConfig};

/// A task and perhaps one of its configurations, as `tasks/{task}/pushNotificationConfigs/{id}` names them.
#[derive(Default)]
pub(super) struct PushName {
    pub(super) task: Option<String>,
    pub(super) id: Option<String>,
}

/// Bytes of a name: two ids and the words between them.
const NAME_BYTES_MAX: usize = 2 * CLIENT_ID_BYTES_MAX + 64;

/// Reads such a name; an absent one names nothing.
pub(super) fn read_name(fields: &mut ObjectReader<'_>, field: &'static str) -> PushName {
    let Some(text) = fields.text(field, NAME_BYTES_MAX) else { return PushName::default() };
    let name = parse_name(&text);
    if name.is_none() {
        fields.odd(field, "must be tasks/{id} or tasks/{id}/pushNotificationConfigs/{id}");
    }
    name.unwrap_or_default()
}

fn parse_name(name: &str) -> Option<PushName> {
    let fits = |id: &str| (1..=CLIENT_ID_BYTES_MAX).contains(&id.len()).then(|| id.to_owned());
    let path = name.strip_prefix("tasks/")?;
    Some(match path.split_once("/pushNotificationConfigs/") {
        Some((task, id)) => PushName { task: Some(fits(task)?), id: Some(fits(id)?) },
        None => PushName { task: Some(fits(path)?), id: None },
    })
}

/// The path of a task, or of one of its configurations.
pub(super) fn name(task: &str, id: Option<&str>) -> String {
    match id {
        Some(id) => format!("tasks/{task}/pushNotificationConfigs/{id}"),
        None => format!("tasks/{task}"),
    }
}

/// Reads a configuration that stands alone and therefore names its task, as it is registered or read back.
/// Of several names the plain id counts: over REST it comes from the path.
pub(super) fn read_registration(fields: &mut ObjectReader<'_>) -> Option<PushConfig> {
    let parent = read_name(fields, "parent");
    let id = fields.id("configId");
    let config = match fields.dialect() {
        Dialect::Proto03 if fields.has("config") => {
            let task = fields.id("taskId").or(parent.task);
            let config = fields.required("config", |mut fields| read_named(&mut fields))?;
            PushConfig { task: task.or(config.task), ..config }
        }
        _ => {
            let config = read_named(fields)?;
            PushConfig { task: config.task.or(parent.task), ..config }
        }
    };
    Some(PushConfig { id: config.id.or(id), ..config })
}

/// A configuration below its task's id or below its own name; drafts of 1.0 had it so too.
fn read_named(fields: &mut ObjectReader<'_>) -> Option<PushConfig> {
    let nested = fields.dialect() != Dialect::Json10 || fields.has("pushNotificationConfig");
    if !nested {
        return read(fields);
    }
    let name = read_name(fields, "name");
    let task = fields.id("taskId").or(name.task);
    let config = match fields.dialect() {
        Dialect::Proto03 if !fields.has("pushNotificationConfig") => read(fields),
        _ => fields.required("pushNotificationConfig", |mut fields| read(&mut fields)),
    }?;
    Some(PushConfig { task: task.or(config.task), id: config.id.or(name.id), ..config })
}

/// Reads a configuration by itself.
pub(super) fn read(fields: &mut ObjectReader<'_>) -> Option<PushConfig> {
    let id = fields.id("id");
    let task = fields.id("taskId");
    let url = fields.demand("url").and_then(|url| read_url(fields, url));
    let token = secret(fields, "token");
    let authentication = fields.object("authentication", read_authentication);
    Some(PushConfig { id, task, url: url?, token, authentication })
}

fn read_url(fields: &ObjectReader<'_>, url: Value) -> Option<String> {
    match url {
        Value::String(url) if (1..=URL_BYTES_MAX).contains(&url.len()) => Some(url),
        _ => {
            fields.wrong("url", &format!("must be a URL of at most {URL_BYTES_MAX} bytes"));
            None
        }
    }
}

/// One scheme in 1.0, a list in 0.3; either is taken in both.
fn read_authentication(mut fields: ObjectReader<'_>) -> Option<PushAuthentication> {
    let scheme = secret(&mut fields, "scheme");
    let schemes = fields.texts("schemes", SCHEMES_MAX, SECRET_BYTES_MAX);
    if !schemes.iter().all(|scheme| is_header_text(scheme)) {
        fields.odd("schemes", "must be names of authentication schemes");
    }
    let schemes = scheme.into_iter().chain(schemes).collect::<Vec<_>>();
    if schemes.is_empty() && fields.dialect() == Dialect::Json10 {
        fields.odd("scheme", "is required");
    }
    let credentials = secret(&mut fields, "credentials");
    Some(PushAuthentication { schemes, credentials })
}

/// A text that ends up in a header of each post.
fn secret(fields: &mut ObjectReader<'_>, name: &'static str) -> Option<String> {
    let text = fields.text(name, SECRET_BYTES_MAX)?;
    // A line break would begin a header of the caller's own in every post.
    if !is_header_text(&text) {
        fields.odd(name, "must be visible ASCII characters and spaces");
    }
    Some(text)
}

fn is_header_text(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// A configuration that stands alone.
pub(super) struct Registration<'a>(pub(super) &'a PushConfig);

impl Serialize for DialectValue<'_, Registration<'_>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(dialect, Registration(config)) = *self;
        let inner = DialectValue(dialect, *config);
        let task = config.task.as_deref();
        if dialect == Dialect::Json10 {
            return inner.serialize(serializer);
        }
        let mut object = ObjectWriter::begin(serializer)?;
        if let (Dialect::Proto03, Some(task)) = (dialect, task) {
            object.member("name", &name(task, config.id.as_deref()))?;
        }
        object.member("pushNotificationConfig", &inner)?;
        object.some("taskId", task.filter(|_| dialect == Dialect::Json03))?;
        object.end()
    }
}

/// A configuration by itself.
impl Serialize for DialectValue<'_, PushConfig> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(dialect, config) = *self;
        let mut object = ObjectWriter::begin(serializer)?;
        object.some("authentication", config.authentication.as_ref().map(|how| DialectValue(dialect, how)))?;
        object.some("id", config.id.as_deref())?;
        object.some("taskId", config.task.as_deref().filter(|_| dialect == Dialect::Json10))?;
        object.some("token", config.token.as_deref())?;
        object.member("url", &config.url)?;
        object.end()
    }
}

impl Serialize for DialectValue<'_, PushAuthentication> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(dialect, how) = *self;
        let mut object = ObjectWriter::begin(serializer)?;
        object.some("credentials", how.credentials.as_deref())?;
        match dialect {
            Dialect::Json10 => object.some("scheme", how.schemes.first())?,
            Dialect::Json03 => object.member("schemes", &how.schemes)?,
            Dialect::Proto03 => object.texts("schemes", &how.schemes)?,
        }
        object.end()
    }
}
