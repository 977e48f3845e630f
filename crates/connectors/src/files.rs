//! The path of files that were too large for a platform: whoever has the link of one gets its bytes, and nothing else.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawPathParams, State};
use axum::response::{IntoResponse, Response};
use forecourt_core::{ClientAddr, Error};
use forecourt_correspondence::{FileLinks, LinkedFile};
use forecourt_surface::answer::HttpAnswer;
use forecourt_surface::disposition::download;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Request, StatusCode};

use crate::intake::Intake;
use crate::platform::Platform;
use crate::records::{Records, is_over};

/// The bytes that a link leads to.
pub(crate) async fn on_file<P: Platform>(
    State(intake): State<Arc<Intake<P>>>,
    path: RawPathParams,
    request: Request<Body>,
) -> Response {
    let peer = request.extensions().get::<ClientAddr>().map(|client| client.0);
    if let Err(part) = intake.host.meter(peer) {
        let mut head = HeaderMap::new();
        if let Some(seconds) = part.kind.retry_after_seconds() {
            head.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        return words(StatusCode::TOO_MANY_REQUESTS, head, &part.message);
    }
    let token = path.iter().find(|(key, _)| *key == "token").map_or("", |(_, value)| value);
    match find(&intake, token).await {
        Ok(Some(LinkedFile { file, .. })) => download(&file.mime, file.name.as_deref(), file.bytes).into_response(),
        Ok(None) => words(StatusCode::NOT_FOUND, HeaderMap::new(), "there is no such file, or its time is over"),
        Err(error) => {
            tracing::warn!(%error, "a file behind a link could not be read");
            words(StatusCode::SERVICE_UNAVAILABLE, HeaderMap::new(), "the file can't be read now: try again later")
        }
    }
}

/// The file of a link, unless its question was deleted, or edited: a deletion after that is that of the edit.
async fn find<P: Platform>(intake: &Intake<P>, token: &str) -> Result<Option<LinkedFile>, Error> {
    let Some(found) = FileLinks::of(&intake.host, P::KIND).find(token).await? else { return Ok(None) };
    let sent = Records::of(&intake.host, P::KIND).sent(&found.origin).await?;
    Ok(Some(found).filter(|_| !is_over(&sent)))
}

fn words(status: StatusCode, mut head: HeaderMap, words: &str) -> Response {
    head.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    head.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    HttpAnswer::whole(status, head, format!("{words}\n")).into_response()
}
