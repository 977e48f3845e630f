//! To the provider, and back.

use forecourt_core::CallerKey;
use forecourt_core::network::Network;
use forecourt_identity::sessions::{Sessions, session_cookie};
use forecourt_oidc::SignInPrompt;
use forecourt_oidc::limits::PARAMETER_BYTES_MAX;
use forecourt_pages::{AccountPage, SIGN_IN, sign_in_path};
use forecourt_surface::answer::HttpAnswer;
use http::StatusCode;
use url::form_urlencoded;

use crate::answer::{lead, page};
use crate::attempt::{self, Attempt};
use crate::error::SignInError;
use crate::provider::PeopleProvider;
use crate::return_to::ReturnTo;
use crate::visit::Visit;

/// Where the provider sends browsers back to.
pub(crate) const CALLBACK: &str = "/sign-in/callback";

impl Visit<'_> {
    /// `/sign-in`: to the provider; back at once who is signed in already; and without a way back, who that is.
    pub(crate) async fn sign_in(&self) -> Result<HttpAnswer, SignInError> {
        let (provider, sessions) = self.parts()?;
        let asked = self.parameter("return_to");
        let return_to = match &asked {
            Some(text) => ReturnTo::parse(text).ok_or(SignInError::ReturnTo)?,
            None => ReturnTo::account(),
        };
        if let Some(person) = self.person().await? {
            return Ok(match asked {
                Some(_) if return_to != ReturnTo::account() => lead(&self.url(return_to.as_str()), person.cookie),
                _ => self.whoever(&person.name, person.cookie),
            });
        }
        // A sign-in is kept on the account of the caller's network: beginning many of them fills its bound and nobody
        // else's.
        let account = CallerKey::of(None, None, self.peer().map(Network::of)).account();
        let (begun, cookie) = attempt::begin(sessions, self.browser(), &return_to, account, self.ambient()).await?;
        let url = provider.way().sign_in_url(&begun, &self.url(CALLBACK), SignInPrompt::Usual, self.now()).await?;
        Ok(lead(url.as_str(), cookie))
    }

    /// `/sign-in/callback`: back from the provider. Whatever comes of it, the state is used up.
    pub(crate) async fn callback(&self) -> HttpAnswer {
        let Ok((provider, sessions)) = self.parts() else { return self.failed(&SignInError::NotOffered, None) };
        let state = self.parameter("state").unwrap_or_default();
        let forget = attempt::forget(self.browser(), &state);
        let attempt = match attempt::take(sessions, self.browser(), &state, self.now()).await {
            Ok(attempt) => attempt,
            Err(error) => return self.failed(&error, None),
        };
        let return_to = attempt.return_to();
        let mut answer = match self.signed_in(provider, sessions, &attempt).await {
            Ok(answer) => answer,
            Err(error) => self.failed(&error, Some(&return_to)),
        };
        answer.head.extend(forget.map(|cookie| (http::header::SET_COOKIE, cookie)));
        answer
    }

    async fn signed_in(
        &self,
        provider: &PeopleProvider,
        sessions: &Sessions,
        attempt: &Attempt,
    ) -> Result<HttpAnswer, SignInError> {
        // RFC 9207, before the code is used: it must not be sent to another provider than the one that gave it.
        if !provider.way().is_of_issuer(self.parameter("iss").as_deref(), self.now()).await? {
            tracing::warn!("a sign-in came back from another issuer");
            return Err(SignInError::Invalid);
        }
        if let Some(error) = self.parameter("error") {
            // One of OpenID Connect Core 3.1.2.6, such as `access_denied`; anything else is not worth a line.
            let known = error.len() <= 64 && error.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            tracing::info!(error = if known { &error } else { "other" }, "the provider did not sign somebody in");
            return Err(match error.as_str() {
                "temporarily_unavailable" | "server_error" => SignInError::Unavailable,
                _ => SignInError::Declined,
            });
        }
        let code = self.parameter("code").ok_or(SignInError::Invalid)?;
        let person = provider.person(code, (&attempt.flow, &self.url(CALLBACK)), self.now()).await?;
        // The session before ends and is not gone on with: its cookie may have been planted by somebody else.
        if let Some(earlier) = self.browser().session_token() {
            sessions.end(earlier, self.now()).await?;
        }
        let (now, entropy) = self.ambient();
        let token = sessions.begin(person, now, entropy).await?;
        let until = now.checked_add(sessions.lifetime()).unwrap_or(now);
        let cookie = session_cookie(&token, until, now, self.browser().is_plain());
        Ok(lead(&self.url(attempt.return_to().as_str()), cookie))
    }

    /// Says who is signed in.
    fn whoever(&self, name: &str, cookie: Option<http::HeaderValue>) -> HttpAnswer {
        let say = self.say();
        let message = say.decision_signed_in_as(name);
        let shown = AccountPage {
            brand: self.brand(),
            host_name: &self.site().name,
            url: &self.url(SIGN_IN),
            language: &self.language(),
            title: &say.account_signed_in(),
            message: &message,
            links: &[("/", &say.page_all_agents())],
            posts: None,
            signs_out: true,
            goes_on_to: None,
        };
        page(StatusCode::OK, &shown, cookie)
    }

    /// Says what went wrong, and where to try again.
    pub(crate) fn failed(&self, error: &SignInError, return_to: Option<&ReturnTo>) -> HttpAnswer {
        let again = match return_to {
            Some(return_to) => sign_in_path(return_to.as_str()),
            None => SIGN_IN.to_owned(),
        };
        let say = self.say();
        let (try_again, all) = (say.page_try_again(), say.page_all_agents());
        let retry = error.may_retry().then_some((again.as_str(), try_again.as_str()));
        let links: Vec<_> = retry.into_iter().chain([("/", all.as_str())]).collect();
        let shown = AccountPage {
            brand: self.brand(),
            host_name: &self.site().name,
            url: &self.url(SIGN_IN),
            language: &self.language(),
            title: &error.title(say),
            message: &error.said(say),
            links: &links,
            posts: None,
            signs_out: false,
            goes_on_to: None,
        };
        page(error.status(), &shown, None)
    }

    /// What went wrong before the browser left: it is to come back where it wanted to.
    pub(crate) fn failed_at_asked(&self, error: &SignInError) -> HttpAnswer {
        let return_to = self.parameter("return_to").and_then(|text| ReturnTo::parse(&text));
        self.failed(error, return_to.as_ref())
    }

    /// A parameter of the query, if it is there once and within its bound.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        let query = self.head.uri.query().unwrap_or_default();
        let mut values = form_urlencoded::parse(query.as_bytes()).filter(|(known, _)| known == name);
        let value = values.next()?.1;
        // `ReturnTo::parse` has a bound of its own, and an error that says so.
        let bytes_max = if name == "return_to" { usize::MAX } else { PARAMETER_BYTES_MAX };
        // A parameter that is there twice is refused: two readers may take different ones.
        let fits = values.next().is_none() && value.len() <= bytes_max;
        // One that can't be read is not the same as none.
        Some(if fits { value.into_owned() } else { String::new() })
    }
}
