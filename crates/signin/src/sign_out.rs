//! `/sign-out`. It changes something, so it takes a POST from a page of this host.

use forecourt_identity::sessions::{PLAIN_SESSION_COOKIE, SESSION_COOKIE, set_cookie};
use forecourt_pages::{AccountPage, SIGN_IN, SIGN_OUT};
use forecourt_surface::answer::HttpAnswer;
use http::StatusCode;

use crate::answer::page;
use crate::error::SignInError;
use crate::visit::Visit;

impl Visit<'_> {
    /// Ends the session of this browser, in every process at once.
    pub(crate) async fn sign_out(&self) -> Result<HttpAnswer, SignInError> {
        let (provider, sessions) = self.parts()?;
        let browser = self.browser();
        // A page of another site could else sign people out (CSRF).
        if !browser.is_own() {
            return Err(SignInError::Foreign);
        }
        let ended = match browser.session_token() {
            Some(token) => sessions.end(token, self.now()).await?,
            None => None,
        };
        let further = match &ended {
            Some(person) => provider.sign_out_url(person, &self.url("/"), self.now()).await,
            None => None,
        };
        let further = further.as_ref().map(url::Url::as_str);
        // Taken away without a session too: the cookie may be of one that has ended.
        let name = browser.cookie_name(SESSION_COOKIE, PLAIN_SESSION_COOKIE);
        let forget = set_cookie(name, "", None, browser.is_plain());
        let say = self.say();
        let (there, again, all) = (say.account_sign_out_there(), say.account_sign_in_again(), say.page_all_agents());
        let elsewhere = further.map(|url| (url, there.as_str()));
        let links: Vec<_> = elsewhere.into_iter().chain([(SIGN_IN, again.as_str()), ("/", all.as_str())]).collect();
        let shown = AccountPage {
            brand: self.brand(),
            host_name: &self.site().name,
            url: &self.url(SIGN_OUT),
            language: &self.language(),
            title: &say.account_signed_out(),
            message: &say.account_signed_out_here(),
            links: &links,
            posts: None,
            signs_out: false,
            goes_on_to: further,
        };
        Ok(page(StatusCode::OK, &shown, forget))
    }
}
