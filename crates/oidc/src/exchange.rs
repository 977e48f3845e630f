//! Requests to the provider, through the guarded way out. No redirect is followed.

use std::sync::Arc;

use bytes::Bytes;
use forecourt_egress::{Deadlines, Egress, EgressError, Purpose, UpstreamRequest};
use futures::future::BoxFuture;
use http::StatusCode;
use http::header::CONTENT_TYPE;

use crate::limits::PROVIDER_TIME_MAX;

/// The way to the provider.
pub(crate) struct Exchange(pub(crate) Arc<Egress>);

/// What the provider answered, whole, whatever its status.
pub(crate) struct Answer {
    status: StatusCode,
    /// The media type in small letters, without parameters; `None` when it is not said.
    media_type: Option<String>,
    pub(crate) body: Bytes,
}

impl Exchange {
    /// Sends a request and reads the answer, within [`PROVIDER_TIME_MAX`].
    pub(crate) fn ask(&self, request: UpstreamRequest) -> BoxFuture<'_, Result<Answer, EgressError>> {
        let bounds = Purpose::SignIn.deadlines(self.0.config());
        // A person waits in front of a browser, so the provider gets less time than other documents do.
        let request = request.within(Deadlines { total: bounds.total.min(PROVIDER_TIME_MAX), ..bounds });
        Box::pin(async move {
            let answer = self.0.send(Purpose::SignIn, request).await?;
            let media_type = answer.headers.get(CONTENT_TYPE).map(|value| essence(value.to_str().unwrap_or_default()));
            Ok(Answer { status: answer.status, media_type, body: answer.body.collect().await? })
        })
    }
}

impl Answer {
    /// Whether the provider gave what it was asked for.
    pub(crate) fn is_ok(&self) -> bool {
        self.status == StatusCode::OK
    }

    /// Whether it is of one of these media types, or does not say of which.
    pub(crate) fn may_be(&self, types: &[&str]) -> bool {
        self.media_type.as_deref().is_none_or(|own| types.contains(&own))
    }

    /// Whether it says that it is of this media type.
    pub(crate) fn is(&self, media_type: &str) -> bool {
        self.media_type.as_deref() == Some(media_type)
    }

    /// Its status, for our log.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }
}

/// A media type without its parameters.
fn essence(text: &str) -> String {
    text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
