//! What a server is shown in the name of a caller: a token, and once a new one in its place.

use forecourt_agents::declined::UpstreamError;
use http::HeaderValue;

use super::upstream::{Asker, Upstream};
use crate::upstream::call_error::CallError;

/// The token of one request, if it has any.
pub(crate) struct Credentials<'a> {
    upstream: &'a Upstream,
    asker: &'a Asker,
    shown: Option<HeaderValue>,
    is_renewed: bool,
}

impl<'a> Credentials<'a> {
    /// Those of `asker`.
    ///
    /// # Errors
    /// There is no token for this caller.
    pub(crate) async fn of(upstream: &'a Upstream, asker: &'a Asker) -> Result<Self, CallError> {
        Ok(Self { upstream, asker, shown: upstream.authorization(asker).await?, is_renewed: false })
    }

    /// What the server is shown. `None`: it is asked in the name of this host.
    pub(crate) fn shown(&self) -> Option<HeaderValue> {
        self.shown.clone()
    }

    /// Whether the server did not take a token that a sign-in here gave. It did nothing then.
    pub(crate) fn are_refused<T>(&self, outcome: &Result<T, CallError>) -> bool {
        let declined = matches!(outcome, Err(CallError::Declined { declined: UpstreamError::Credentials, .. }));
        declined && self.shown.is_some() && self.upstream.broker().is_some()
    }

    /// The server has taken what it is shown: when it does not any more, there may be a new one.
    pub(crate) fn were_taken(&mut self) {
        self.is_renewed = false;
    }

    /// Another token in the place of one that the server did not take.
    ///
    /// # Errors
    /// There is none at the moment, or the person has to sign in anew: a server that does not take the new one either
    /// would not take the next.
    pub(crate) async fn renew(&mut self) -> Result<(), CallError> {
        let (Some(broker), Some(refused)) = (self.upstream.broker(), &self.shown) else { return Ok(()) };
        if self.is_renewed {
            return Err(broker.unusable(&self.asker.who, refused).await);
        }
        self.shown = Some(broker.instead_of(&self.asker.who, refused).await?);
        self.is_renewed = true;
        Ok(())
    }
}
