//! The way to the authority, through `egress`, and the account there.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use bytes::Bytes;
use forecourt_egress::{Egress, Purpose, UpstreamRequest};
use http::header::{CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{Request, Response};
use http_body_util::BodyExt as _;
use instant_acme::{
    Account, AccountCredentials, BodyWrapper, BytesResponse, Error, ExternalAccountKey, HttpClient, NewAccount,
};
use jiff::Timestamp;
use parking_lot::Mutex;

use crate::error::{NoAnswer, OrderError};
use crate::settings::AcmeSettings;
use crate::storage::{AcmeStorage, named};

/// What the authority wants to be waited for, as it said last.
pub(crate) type AskedToWait = Arc<Mutex<Option<Duration>>>;

/// The HTTP client of the ACME library, which sends through `egress`.
struct Way {
    egress: Egress,
    asked_to_wait: AskedToWait,
}

impl HttpClient for Way {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let (egress, asked_to_wait) = (self.egress.clone(), self.asked_to_wait.clone());
        let sent = async move {
            let (head, body) = request.into_parts();
            let Ok(body) = body.collect().await;
            let mut headers = head.headers;
            // The way out names the program itself; two fields would be sent otherwise.
            headers.remove(USER_AGENT);
            let url = head.uri.to_string().into();
            let request = UpstreamRequest { method: head.method, url, headers, body: body.to_bytes(), deadlines: None };
            let no_answer = |reason: String| Error::Other(Box::new(NoAnswer(reason)));
            let answer = egress.send(Purpose::CertificateAuthority, request).await;
            let answer = answer.map_err(|error| no_answer(error.log_reason()))?;
            let (status, headers) = (answer.status, answer.headers);
            let body = answer.body.collect().await.map_err(|error| no_answer(error.log_reason()))?;
            if let Some(wait) = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok()) {
                // `Retry-After` on a success only paces polling.
                let is_refusal = status.is_client_error() || status.is_server_error();
                *asked_to_wait.lock() = is_refusal.then(|| Duration::from_secs(wait));
            }
            let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
            // A proxy's page of HTML: the library would report that it is no JSON, and the operator would look in the
            // wrong place.
            if !status.is_success() && !media_type.contains("json") {
                return Err(no_answer(format!("the authority answered {status}")));
            }
            let mut response = Response::new(BodyWrapper::from(body.to_vec()));
            (*response.status_mut(), *response.headers_mut()) = (status, headers);
            Ok(BytesResponse::from(response))
        };
        Box::pin(sent)
    }
}

/// The account that is kept, or a new one, which is kept from then on.
pub(crate) async fn account(
    settings: &AcmeSettings,
    egress: &Egress,
    storage: &dyn AcmeStorage,
    asked_to_wait: &AskedToWait,
    now: Timestamp,
) -> Result<Account, OrderError> {
    let builder =
        || Account::builder_with_http(Box::new(Way { egress: egress.clone(), asked_to_wait: asked_to_wait.clone() }));
    // The key of the storage is the directory, so that staging and production keep accounts of their own.
    let kept = storage.load(&key(settings), now).await?;
    if let Some(credentials) = kept.and_then(|kept| serde_json::from_value::<AccountCredentials>(kept).ok()) {
        return Ok(builder().from_credentials(credentials).await?);
    }
    let contact: Vec<String> = settings.email.iter().map(|email| format!("mailto:{email}")).collect();
    let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
    let wanted =
        NewAccount { contact: &contact, terms_of_service_agreed: settings.accept_terms, only_return_existing: false };
    let external = settings.external_account.as_ref().map(|external| {
        let key = BASE64_URL_SAFE_NO_PAD.decode(external.key.trim_end_matches('='));
        let wrong = |_| OrderError::Failed("`key` of `external_account` is not base64url".to_owned());
        key.map(|key| ExternalAccountKey::new(external.id.clone(), &key)).map_err(wrong)
    });
    let external = external.transpose()?;
    let made = builder().create(&wanted, settings.directory().to_owned(), external.as_ref()).await;
    let (account, credentials) = made?;
    let credentials = serde_json::to_value(&credentials).map_err(|error| OrderError::Failed(error.to_string()))?;
    storage.save(&key(settings), credentials, now, None).await?;
    tracing::info!(
        authority = settings.authority(),
        "an account was made; its terms of service were accepted (`accept_terms` in [tls.acme])"
    );
    Ok(account)
}

/// Forgets an account that the authority does not know any more.
pub(crate) async fn forget(
    settings: &AcmeSettings,
    storage: &dyn AcmeStorage,
    now: Timestamp,
) -> Result<(), OrderError> {
    Ok(storage.save(&key(settings), serde_json::Value::Null, now, None).await?)
}

fn key(settings: &AcmeSettings) -> String {
    named("account", settings.directory())
}
