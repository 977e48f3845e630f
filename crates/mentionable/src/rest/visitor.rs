//! The browser that sent a request, and who looks at what it is answered.

use forecourt_identity::Person;
use forecourt_identity::sessions::BrowserRequest;
use forecourt_pages::Account;
use forecourt_surface::BaseUrl;

use super::request::RequestHead;

/// What the cookies of a request say.
pub(crate) fn browser<'a>(request: &RequestHead<'a>) -> BrowserRequest<'a> {
    let origin = BaseUrl::of(request.site, &request.parts.extensions).origin();
    BrowserRequest { method: &request.parts.method, headers: &request.parts.headers, origin }
}

/// Who looks at an answer, which leads nobody to a sign-in.
pub(crate) fn seen_by<'a>(request: &RequestHead<'a>, person: Option<&'a Person>) -> Account<'a> {
    match person {
        Some(person) => Account::SignedIn(&person.name),
        None if browser(request).consent_token().is_some() => Account::Browser(None),
        None => Account::None,
    }
}
