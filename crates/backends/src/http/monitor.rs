//! A service that works on a message tells at an address of its own how that stands: it is asked there until there is an
//! answer. RFC 9110, 15.3.3.

use std::time::Duration;

use forecourt_agents::declined::RetryAfter;
use forecourt_agents::upstream::{self, TimedResponse};
use forecourt_core::{Ending, FailureCause};
use forecourt_egress::UpstreamRequest;
use forecourt_egress::limits::URL_BYTES_MAX;
use http::header::{ACCEPT, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use url::Url;

use super::{WHO, Webhook};
use crate::limits::{POLL_FAILURES_MAX, POLL_PAUSE_FIRST, POLL_PAUSE_MAX, POLL_REDIRECTS_MAX};

/// Where some services say it in place of `Location`.
const OPERATION_LOCATION: HeaderName = HeaderName::from_static("operation-location");

/// Where a service that took the message tells how it stands. `None` where it says nothing of the sort: then what it
/// said is its answer.
///
/// # Errors
/// The address is none of the service's: what is sent there is meant for the service alone.
pub(super) fn place_of(response: &TimedResponse, asked: &Url) -> Result<Option<Url>, Ending> {
    match response.status == StatusCode::ACCEPTED {
        true => location(&response.headers, asked),
        false => Ok(None),
    }
}

fn location(headers: &HeaderMap, base: &Url) -> Result<Option<Url>, Ending> {
    let Some(named) = headers.get(LOCATION).or_else(|| headers.get(OPERATION_LOCATION)) else { return Ok(None) };
    let place = named.to_str().ok().and_then(|text| base.join(text).ok());
    let place = place.filter(|place| place.origin() == base.origin() && place.as_str().len() <= URL_BYTES_MAX);
    match place {
        Some(place) => Ok(Some(place)),
        None => {
            tracing::warn!(
                ?named,
                "the service of an agent works at an address that is not of its origin, or too long"
            );
            Err(FailureCause::UpstreamRefused.ending(format!("{WHO} works on at an address that is none of its own.")))
        }
    }
}

/// When the service is asked next.
struct PollPace {
    pause: Duration,
    /// Questions that failed since the last one that did not.
    failures: u32,
}

impl PollPace {
    /// How long to wait, by what it said last; longer each time it does not say.
    fn wait(&mut self, said: Option<Duration>) -> Duration {
        let pause = self.pause;
        self.pause = (pause * 2).min(POLL_PAUSE_MAX);
        // Not at once, whatever it says.
        said.map_or(pause, |said| said.max(POLL_PAUSE_FIRST))
    }

    /// Whether a question that failed may be asked again.
    fn may_fail(&mut self) -> bool {
        self.failures += 1;
        self.failures <= POLL_FAILURES_MAX
    }
}

/// What a question came to.
enum PollOutcome {
    /// There is an answer.
    Answer(Box<TimedResponse>),
    /// It is not there yet; what is said of when to ask next.
    NotYet(Option<Duration>),
    /// It is somewhere else.
    Elsewhere(Url),
}

impl Webhook {
    /// Asks at `place` until there is an answer; `told` is the head of the response that named the place. Goes on until
    /// the stream is dropped: the host holds every agent to its time.
    ///
    /// # Errors
    /// The service does not know the place any more, can't be asked, or declines.
    pub(super) async fn monitored(
        &self,
        mut place: Url,
        told: Option<&HeaderMap>,
        headers: &HeaderMap,
    ) -> Result<TimedResponse, Ending> {
        let mut pace = PollPace { pause: POLL_PAUSE_FIRST, failures: 0 };
        let mut redirects = 0;
        let mut wait = told.map(|told| pace.wait(self.retry_after(told)));
        loop {
            if let Some(wait) = wait {
                tokio::time::sleep(wait).await;
            }
            match self.poll(&place, headers, &mut pace).await? {
                PollOutcome::Answer(response) => return Ok(*response),
                PollOutcome::NotYet(said) => wait = Some(pace.wait(said)),
                // Not noted: who goes on is led there again.
                PollOutcome::Elsewhere(next) if redirects < POLL_REDIRECTS_MAX => {
                    redirects += 1;
                    (place, wait) = (next, None);
                }
                PollOutcome::Elsewhere(_) => {
                    return Err(Ending::failed(format!("{WHO} leads from one place to the next for its answer.")));
                }
            }
        }
    }

    async fn poll(&self, place: &Url, headers: &HeaderMap, pace: &mut PollPace) -> Result<PollOutcome, Ending> {
        let mut request = UpstreamRequest { headers: headers.clone(), ..UpstreamRequest::get(place.as_str()) };
        let accepted = "text/event-stream, application/json, text/plain;q=0.5";
        request.headers.insert(ACCEPT, HeaderValue::from_static(accepted));
        let response = match upstream::send(&self.egress, request, self.timeouts, self.retries).await {
            Ok(response) => response,
            Err(_) if pace.may_fail() => return Ok(PollOutcome::NotYet(None)),
            Err(error) => return Err(error.ending(WHO)),
        };
        let said = self.retry_after(&response.headers);
        match response.status {
            StatusCode::ACCEPTED => {
                pace.failures = 0;
                Ok(PollOutcome::NotYet(said))
            }
            StatusCode::SEE_OTHER => match location(&response.headers, place)? {
                Some(next) => Ok(PollOutcome::Elsewhere(next)),
                None => Err(Ending::failed(format!("{WHO} does not say where its answer is."))),
            },
            StatusCode::NOT_FOUND | StatusCode::GONE => {
                Err(FailureCause::UpstreamRefused.ending(format!("{WHO} does not know of its work any more.")))
            }
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
                if pace.may_fail() =>
            {
                Ok(PollOutcome::NotYet(said))
            }
            _ => Ok(PollOutcome::Answer(Box::new(response))),
        }
    }

    fn retry_after(&self, headers: &HeaderMap) -> Option<Duration> {
        RetryAfter::read(headers).map(|after| Duration::from_secs(after.seconds(&*self.clock)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_asked_less_and_less_often_unless_it_says_when_and_never_at_once() {
        let mut pace = PollPace { pause: POLL_PAUSE_FIRST, failures: 0 };
        let seconds = |wait: Duration| wait.as_secs();
        let waits: Vec<_> = (0..6).map(|_| seconds(pace.wait(None))).collect();
        assert_eq!(waits, [1, 2, 4, 8, 15, 15]);
        assert_eq!(seconds(pace.wait(Some(Duration::ZERO))), 1);
        assert_eq!(seconds(pace.wait(Some(Duration::from_secs(600)))), 600);
    }

    #[test]
    fn as_many_questions_fail_as_may_and_one_more_is_the_end() {
        let mut pace = PollPace { pause: POLL_PAUSE_FIRST, failures: 0 };
        assert!((0..POLL_FAILURES_MAX).all(|_| pace.may_fail()));
        assert!(!pace.may_fail());
    }
}
