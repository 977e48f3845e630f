//! The way to the operator's listener of a daemon: where it is, and what opens it.

use std::path::Path;

use forecourt::deployment::FILE;
use forecourt_client::serving::Serving;
use forecourt_egress::{Egress, EgressConfig, RequestUrl, UpstreamRequest};
use forecourt_settings::{ProcessEnvironment, Section};
use http::{HeaderMap, HeaderValue, Method, header};
use serde_json::Value;

use crate::args::Admin;
use crate::output::Failure;

/// Where the API is.
const BASE: &str = "/api/v1";
/// Where the listener is when nothing says so.
const USUAL: &str = "http://127.0.0.1:9080";

/// The way there.
pub(super) struct Way {
    egress: Egress,
    origin: String,
    token: String,
}

impl Way {
    /// The way that was named, else that of the deployment in the folder.
    pub(super) fn to(admin: &Admin) -> Result<Self, Failure> {
        let data = admin.data.clone().unwrap_or_else(|| admin.dir.join(forecourt::deployment::DATA));
        let origin = match &admin.url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => match Serving::of_data(&data).and_then(|serving| serving.admin) {
                Some(address) => format!("http://{address}"),
                None => settings(&admin.dir)?
                    .and_then(|root| root.listen)
                    .map_or_else(|| USUAL.to_owned(), |listen| format!("http://{listen}")),
            },
        };
        let token = match &admin.token {
            Some(token) => token.clone(),
            None => settings(&admin.dir)?.and_then(|settings| settings.token).ok_or_else(|| {
                Failure::yours("there is no admin token").hint(
                    "set `token` under [admin] in forecourt.toml, or FORECOURT_ADMIN_TOKEN, or name it with --token",
                )
            })?,
        };
        let egress = Egress::builder(EgressConfig::default()).build();
        let egress = egress.map_err(|error| Failure::ours(error.to_string()))?;
        Ok(Self { egress, origin, token })
    }

    /// Reads something.
    pub(super) async fn get(&self, path: &str) -> Result<Value, Failure> {
        self.ask(Method::GET, path, None).await
    }

    /// Does something.
    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.ask(Method::POST, path, Some(body)).await
    }

    async fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let away = |reason: String| {
            Failure::unreachable(format!("nobody answers at {}: {reason}", self.origin)).hint(
                "`forecourt serve` prints where its operator's listener is; name it with --url, or the folder with --dir",
            )
        };
        let mut headers = HeaderMap::new();
        let bearer = HeaderValue::from_str(&format!("Bearer {}", self.token));
        let bearer = bearer.map_err(|_| Failure::usage("a token has no spaces or line ends in it"))?;
        headers.insert(header::AUTHORIZATION, bearer);
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        if body.is_some() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let body = body.map(Value::to_string).unwrap_or_default().into();
        let url = RequestUrl::Text(format!("{}{BASE}{path}", self.origin));
        let request = UpstreamRequest { method, url, headers, body, deadlines: None };
        // As to a service that the operator names: loopback and private networks are where the listener is.
        let answer = self.egress.send_upstream(request).await.map_err(|error| away(error.log_reason()))?;
        let status = answer.status;
        let bytes = answer.body.collect().await.map_err(|error| away(error.log_reason()))?;
        let told: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if status.is_success() {
            return Ok(told);
        }
        let error = told["error"].as_str().map_or_else(|| format!("it answered {status}"), str::to_owned);
        let failure = match status.as_u16() {
            500..600 => Failure::unreachable(error),
            // The API answers its own 404 in JSON; one without comes from something else.
            404 if told.is_null() => {
                Failure::unreachable("this is not an operator's listener, or one of an earlier release")
            }
            _ => Failure::yours(error),
        };
        Err(match told["hint"].as_str() {
            Some(hint) => failure.hint(hint),
            None => failure,
        })
    }
}

/// What the file of a deployment says about its operator's listener.
struct AdminListener {
    token: Option<String>,
    listen: Option<String>,
}

/// `None` where there is no such file.
fn settings(folder: &Path) -> Result<Option<AdminListener>, Failure> {
    let file = folder.join(FILE);
    let Ok(text) = std::fs::read_to_string(&file) else { return Ok(None) };
    let mut root = Section::parse(&file, &text, &ProcessEnvironment)?;
    let token = root.take("admin").and_then(|admin| admin.text("token").map(str::to_owned));
    let listen = root.take("listen").and_then(|listen| listen.text("admin").map(str::to_owned));
    Ok(Some(AdminListener { token, listen }))
}
