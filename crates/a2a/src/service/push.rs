//! Push notifications: whom to tell about a task, and what they are told.

use forecourt_core::store::{IfTaskEnded, Webhook};
use forecourt_core::{Sender, Task, ids};
use forecourt_egress::WebhookPost;
use forecourt_egress::{Purpose, signature};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

use super::{Caller, Service, ServiceError};
use crate::NAME;
use crate::codec::{Dialect, DialectValue};
use crate::limits::PUSH_SECRET_BYTES_MAX;
use crate::model::{Item, OperationError, OperationOutcome, PushAuthentication, PushConfig, PushListing, Version};

static TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");
/// What a webhook of ours remembers beside its address.
const VERSION: &str = "version";
const AUTHENTICATION: &str = "authentication";
const ORIGIN: &str = "origin";
/// The id of a configuration that a client of 0.3 gave none.
const DEFAULT_ID: &str = "default";

impl Service {
    pub(super) async fn push_create(
        &self,
        caller: &Caller<'_>,
        sender: &Sender,
        config: PushConfig,
    ) -> Result<OperationOutcome, ServiceError> {
        let id = config.task.clone().ok_or_else(|| OperationError::param("taskId", "is missing"))?;
        let task = self.readable(caller, sender, &id).await?;
        let webhook = self.webhook(caller, config).await?;
        task.add_webhook(webhook.clone(), IfTaskEnded::Tell).await?;
        Ok(OperationOutcome::Push(config_of(&webhook, &id)))
    }

    pub(super) async fn push_get(
        &self,
        caller: &Caller<'_>,
        sender: &Sender,
        task: &str,
        id: Option<&str>,
    ) -> Result<OperationOutcome, ServiceError> {
        let webhooks = self.webhooks(caller, sender, task).await?;
        let found = webhooks.iter().find(|webhook| id.is_none_or(|id| webhook.id == id));
        let found = found.ok_or(OperationError::TaskNotFound)?;
        Ok(OperationOutcome::Push(config_of(found, task)))
    }

    pub(super) async fn push_list(
        &self,
        caller: &Caller<'_>,
        sender: &Sender,
        task: &str,
    ) -> Result<OperationOutcome, ServiceError> {
        let webhooks = self.webhooks(caller, sender, task).await?;
        let configs = webhooks.iter().map(|webhook| config_of(webhook, task)).collect();
        // A task takes so few that they are always one page.
        Ok(OperationOutcome::Pushes(PushListing { configs, next_page_token: String::new() }))
    }

    /// Removing what is not there is no fault.
    pub(super) async fn push_delete(
        &self,
        caller: &Caller<'_>,
        sender: &Sender,
        task: &str,
        id: &str,
    ) -> Result<OperationOutcome, ServiceError> {
        let task = self.readable(caller, sender, task).await?;
        task.remove_webhook(id).await?;
        Ok(OperationOutcome::Removed)
    }

    /// The webhooks of a task that were registered over this protocol.
    async fn webhooks(&self, caller: &Caller<'_>, sender: &Sender, task: &str) -> Result<Vec<Webhook>, ServiceError> {
        let task = self.readable(caller, sender, task).await?;
        let mut webhooks = task.webhooks().await?;
        // The task may have webhooks of other protocols, whose details mean nothing here.
        webhooks.retain(|webhook| webhook.protocol == NAME);
        Ok(webhooks)
    }

    /// A registration that may be made: its address is checked now, and again at each delivery.
    pub(super) async fn webhook(&self, caller: &Caller<'_>, config: PushConfig) -> Result<Webhook, ServiceError> {
        let PushConfig { id, url, token, authentication, .. } = config;
        if let Err(error) = self.egress.permits(Purpose::Webhook, &url).await {
            tracing::info!(reason = error.log_reason(), "a push address was not accepted");
            return Err(OperationError::param("url", "must be a public https: URL that is not on this host").into());
        }
        let credentials = authentication.as_ref().and_then(|auth| auth.credentials.as_deref());
        sendable("token", token.as_deref())?;
        sendable("authentication.credentials", credentials)?;
        let mut details = Map::new();
        details.insert(VERSION.to_owned(), json!(caller.version));
        details.insert(ORIGIN.to_owned(), self.host.site().base.as_str().into());
        if let Some(auth) = authentication {
            let written = json!({"schemes": auth.schemes, "credentials": auth.credentials});
            details.insert(AUTHENTICATION.to_owned(), written);
        }
        let id = id.filter(|id| !id.is_empty()).unwrap_or_else(|| match caller.version {
            // 0.3 reads a configuration back without its id: there is one that is meant.
            Version::V0_3 => DEFAULT_ID.to_owned(),
            Version::V1_0 => ids::mint(&**self.host.entropy()),
        });
        let retries = self.settings.push_retries;
        Ok(Webhook { id, protocol: NAME.to_owned(), url, secret: token, callback: false, retries, details })
    }
}

/// Checks what will stand in a header.
fn sendable(field: &'static str, value: Option<&str>) -> Result<(), OperationError> {
    let fits = value.is_none_or(|value| value.len() <= PUSH_SECRET_BYTES_MAX && HeaderValue::from_str(value).is_ok());
    let wrong = || {
        OperationError::param(field, format!("must be at most {PUSH_SECRET_BYTES_MAX} bytes that a header may hold"))
    };
    if fits { Ok(()) } else { Err(wrong()) }
}

/// A registration as it is shown, on every binding: its token and its credentials can be written and never
/// read, not even by who wrote them (design 34).
fn config_of(webhook: &Webhook, task: &str) -> PushConfig {
    let authentication = webhook.details.get(AUTHENTICATION).map(|auth| {
        let schemes = auth["schemes"].as_array().map(Vec::as_slice).unwrap_or_default();
        let schemes = schemes.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        PushAuthentication { schemes, credentials: None }
    });
    let (id, task) = (Some(webhook.id.clone()), Some(task.to_owned()));
    PushConfig { id, task, url: webhook.url.clone(), token: None, authentication }
}

/// The post that tells of a settled task, in the version of whoever registered it. Its body is
/// signed with the token, so that a receiver can tell it from a forged one.
pub(crate) fn post(task: &Task, webhook: &Webhook) -> WebhookPost {
    let text = |key: &str| webhook.details.get(key).cloned().unwrap_or_default();
    let version = serde_json::from_value(text(VERSION)).unwrap_or(Version::V0_3);
    let shown = crate::view::told(task, text(ORIGIN).as_str().unwrap_or_default());
    let (dialect, media_type) = match version {
        Version::V0_3 => (Dialect::Json03, "application/json"),
        Version::V1_0 => (Dialect::Json10, "application/a2a+json"),
    };
    let body = DialectValue(dialect, &Item::Task(shown)).to_bytes();
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    if let Some(token) = &webhook.secret {
        insert(&mut headers, TOKEN.clone(), token);
        insert(&mut headers, signature::HEADER, &signature::sign(token.as_bytes(), &body));
    }
    let auth = text(AUTHENTICATION);
    if let (Some(scheme), Some(credentials)) = (auth["schemes"][0].as_str(), auth["credentials"].as_str()) {
        insert(&mut headers, AUTHORIZATION, &format!("{scheme} {credentials}"));
    }
    WebhookPost { headers, body: body.into() }
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(mut value) = HeaderValue::from_str(value) {
        value.set_sensitive(true);
        headers.insert(name, value);
    }
}
