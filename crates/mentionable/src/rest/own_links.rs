//! Links of refusals to this host, as they are on the origin at which a page was asked for.

use forecourt_core::{Ending, Site};
use forecourt_surface::BaseUrl;
use forecourt_surface::base_url::PlainOrigin;

use super::responder::Responder;

/// Leads to the plain origin of development where a page was asked for there, for answers that outlive their request.
#[derive(Clone)]
pub(crate) struct OwnLinks(Option<(Site, PlainOrigin)>);

impl OwnLinks {
    /// The links of answers to the request of `responder`.
    pub(crate) fn of(responder: &Responder<'_>) -> Self {
        let plain = responder.request.base().plain();
        Self(plain.map(|plain| (responder.request.site.clone(), plain.clone())))
    }

    /// The same ending, whose refusal leads to where the page was asked for.
    pub(crate) fn ending(&self, ending: Ending) -> Ending {
        match (ending, &self.0) {
            (Ending::Refused(part), Some((site, plain))) => {
                Ending::Refused(Box::new(BaseUrl::at(site, Some(plain)).refusal(&part)))
            }
            (ending, _) => ending,
        }
    }
}
