//! Files of answers behind links: a note has none of its own, and whoever has the link of one gets its bytes.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use forecourt_core::{ClientAddr, Error};
use forecourt_correspondence::{FileLinks, LinkedFile};
use forecourt_surface::answer::HttpAnswer;
use forecourt_surface::disposition::download;
use http::request::Parts;
use http::{Method, StatusCode};

use super::{On, put_off, refusal};
use crate::NAME;
use crate::kept::KeptNotes;
use crate::service::Service;

/// The bytes that a link leads to.
pub(super) async fn on_file(State(shared): On, Path(token): Path<String>, head: Parts) -> Response {
    match head.method {
        Method::GET | Method::HEAD => {}
        Method::OPTIONS => return HttpAnswer::options("GET, HEAD, OPTIONS").into_response(),
        _ => return refusal(StatusCode::METHOD_NOT_ALLOWED, "a file is read"),
    }
    let service = &shared.service;
    if let Err(part) = service.host().meter(head.extensions.get::<ClientAddr>().map(|client| client.0)) {
        return put_off(StatusCode::TOO_MANY_REQUESTS, &part.message, part.kind.retry_after_seconds());
    }
    match find(service, &token).await {
        Ok(Some(LinkedFile { file, .. })) => download(&file.mime, file.name.as_deref(), file.bytes).into_response(),
        Ok(None) => refusal(StatusCode::NOT_FOUND, "there is no such file, or its time is over"),
        Err(error) => {
            tracing::warn!(%error, "a file behind a link could not be read");
            put_off(StatusCode::SERVICE_UNAVAILABLE, "the file can't be read now", None)
        }
    }
}

/// The file of a link, unless its question was deleted.
async fn find(service: &Service, token: &str) -> Result<Option<LinkedFile>, Error> {
    let Some(found) = FileLinks::of(service.host(), NAME).find(token).await? else { return Ok(None) };
    let is_withdrawn = KeptNotes::of(service.host()).is_withdrawn(&found.origin).await?;
    Ok(Some(found).filter(|_| !is_withdrawn))
}
