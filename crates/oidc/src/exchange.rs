//! The library's requests through the guarded way out: it opens no connection itself.

use std::sync::Arc;

use forecourt_egress::{Deadlines, Egress, EgressError, Purpose, RequestUrl, UpstreamRequest};
use futures::future::BoxFuture;
use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse};

use crate::limits::PROVIDER_TIME_MAX;

/// An HTTP client of [`openidconnect`] that goes out through [`Egress`]. It follows no redirect.
pub(crate) struct Exchange(pub(crate) Arc<Egress>);

impl<'c> AsyncHttpClient<'c> for Exchange {
    type Error = EgressError;
    type Future = BoxFuture<'c, Result<HttpResponse, EgressError>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let bounds = Purpose::SignIn.deadlines(self.0.config());
            let request = UpstreamRequest {
                method: head.method,
                url: RequestUrl::Text(head.uri.to_string()),
                headers: head.headers,
                body: body.into(),
                deadlines: Some(Deadlines { total: bounds.total.min(PROVIDER_TIME_MAX), ..bounds }),
            };
            let answer = self.0.send(Purpose::SignIn, request).await?;
            let mut response = HttpResponse::new(Vec::new());
            (*response.status_mut(), *response.headers_mut()) = (answer.status, answer.headers);
            *response.body_mut() = answer.body.collect().await?.to_vec();
            Ok(response)
        })
    }
}
