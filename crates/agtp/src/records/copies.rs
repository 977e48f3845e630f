//! The second place for the heads of the log, as the operator names it.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use forecourt_attribution::copies::{FileCopy, HeadCopy};
use forecourt_egress::{Egress, Purpose};
use futures::future::BoxFuture;
use http::{HeaderMap, HeaderValue, header};

use crate::settings::{AuditSettings, HeadCopyPlace};

/// What a head is, to whoever takes it: a compact JWS. RFC 7515 9.2.1.
const JOSE: &str = "application/jose";

/// An address that takes heads.
struct PostCopy {
    url: String,
    egress: Arc<Egress>,
}

/// The second place; `None`: the operator names none.
pub(super) fn copy(settings: &AuditSettings, egress: &Arc<Egress>) -> Option<Arc<dyn HeadCopy>> {
    Some(match settings.head_copy()? {
        HeadCopyPlace::File(path) => Arc::new(FileCopy::new(&path)),
        HeadCopyPlace::Url(url) => Arc::new(PostCopy { url, egress: Arc::clone(egress) }),
    })
}

impl HeadCopy for PostCopy {
    fn take(&self, head: String) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move {
            let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(JOSE))]);
            let posted = self.egress.post(Purpose::Upstream, &self.url, headers, Bytes::from(head)).await;
            let answer = posted.map_err(|error| error.to_string())?;
            match answer.is_success() {
                true => Ok(()),
                false => Err(format!("it answered {}", answer.status)),
            }
        })
    }

    /// What was posted is not read back: whoever took it holds the records against it.
    fn last(&self, _node: Option<&str>) -> io::Result<Option<String>> {
        Ok(None)
    }
}
