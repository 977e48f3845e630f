//! A bucket, reached over our own way out: one HTTP client in the house.

use std::time::Duration;

use async_trait::async_trait;
use forecourt_egress::{Deadlines, Egress, EgressError, Purpose, RequestUrl, UpstreamRequest};
use futures::TryStreamExt;
use http_body_util::{BodyExt, StreamBody};
use object_store::ClientConfigKey;
use object_store::ClientOptions;
use object_store::aws::AmazonS3Builder;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};

/// How long one exchange with a bucket may take: a statement, or a part of an archive.
const EXCHANGE_TIME_MAX: Duration = Duration::from_secs(30);

/// The bucket that a URL names; where it is and the keys to it are among `variables`.
///
/// # Errors
/// A variable means nothing.
pub(super) fn bucket(
    url: &url::Url,
    variables: impl Iterator<Item = (String, String)>,
    egress: &Egress,
) -> object_store::Result<object_store::aws::AmazonS3> {
    let builder = AmazonS3Builder::new().with_url(url.as_str()).with_http_connector(Connector(egress.clone()));
    let builder = variables.fold(builder, |builder, (name, value)| match name.parse() {
        Ok(key) => builder.with_config(key, value),
        // Of tools that do something else.
        Err(_) => builder,
    });
    builder.build()
}

#[derive(Debug)]
struct Connector(Egress);

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let may_be_plain = options.get_config_value(&ClientConfigKey::AllowHttp).is_some_and(|value| value == "true");
        Ok(HttpClient::new(Exchange { egress: self.0.clone(), may_be_plain }))
    }
}

#[derive(Debug)]
struct Exchange {
    egress: Egress,
    may_be_plain: bool,
}

#[async_trait]
impl HttpService for Exchange {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (head, body) = request.into_parts();
        // object_store checks this in its own client, which is not used here.
        if head.uri.scheme_str() != Some("https") && !self.may_be_plain {
            return Err(HttpError::new(HttpErrorKind::Unknown, Plain));
        }
        // The operator has named the place, so that no address is refused, and an archive may have any length.
        let bounds = Purpose::Upstream.deadlines(self.egress.config());
        let bounds = Deadlines { first_byte: EXCHANGE_TIME_MAX, total: EXCHANGE_TIME_MAX, ..bounds };
        let request = UpstreamRequest {
            method: head.method,
            url: RequestUrl::Text(head.uri.to_string()),
            headers: head.headers,
            body: body.collect().await?.to_bytes(),
            deadlines: Some(Deadlines { body_bytes_max: usize::MAX, ..bounds }),
        };
        let answer = self.egress.send_upstream(request).await.map_err(failure)?;
        let body = answer.body.map_ok(http_body::Frame::data).map_err(failure);
        let mut response = HttpResponse::new(HttpResponseBody::new(StreamBody::new(body)));
        (*response.status_mut(), *response.headers_mut()) = (answer.status, answer.headers);
        Ok(response)
    }
}

/// The bucket is at an address without TLS, and nobody opened that.
#[derive(Debug, thiserror::Error)]
#[error("plain http is not open: AWS_ALLOW_HTTP=true opens it")]
struct Plain;

/// Why nothing came, for our log: the operator named the place, and is the one who reads it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct BucketUnreachable(String);

/// What went wrong, in the words that say whether another try may do.
fn failure(error: EgressError) -> HttpError {
    let kind = match &error {
        EgressError::Unconnected(_) | EgressError::Busy => HttpErrorKind::Connect,
        EgressError::Failed(_) => HttpErrorKind::Interrupted,
        EgressError::Refused(_) | EgressError::Status(_) | EgressError::TooLarge { .. } => HttpErrorKind::Unknown,
    };
    HttpError::new(kind, BucketUnreachable(error.log_reason()))
}
