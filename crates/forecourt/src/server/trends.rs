//! What is counted, kept over time: once a minute the operator's metrics are read back from the text in which they are
//! exposed, and what was added since the last time goes into the store. Whoever is answered adds to counters that were
//! there before, and waits for none of this.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use forecourt_admin::nouns::nodes::mark;
use forecourt_core::policy::RefusalKind;
use forecourt_core::{Clock, Ending, StoreError, Timestamp};
use forecourt_server::Metrics;
use forecourt_store::trends::{Counts, Metric, Resolution, Series, TrendKeeper};
use prometheus_client::registry::Registry;
use tokio::sync::Mutex;

use crate::live::LiveHouse;
use crate::openmetrics::{FamilyText, SampleText, read};
use crate::running::Running;

/// How long the store may take at the end of a domain before the last minute is let go of.
const LAST_WRITE_MAX: Duration = Duration::from_secs(5);
/// Millionths in a unit of money.
const MICROS: f64 = 1e6;

/// Reads what is counted, and keeps what was added.
pub(super) struct TrendSampler {
    keeper: TrendKeeper,
    live: Arc<LiveHouse>,
    clock: Arc<dyn Clock>,
    domain: String,
    /// The requests of all domains, which the registry of the first one alone has.
    requests: Arc<Registry>,
    sampled: Mutex<Sample>,
}

/// What was counted when it was written last.
struct Sample {
    totals: Totals,
    at: Timestamp,
}

impl TrendSampler {
    /// Nothing is counted so far.
    pub(super) fn new(running: &Running, metrics: &Metrics) -> Self {
        let host = running.host();
        let mut requests = Registry::with_prefix("forecourt");
        metrics.register(&mut requests);
        let at = host.clock().now();
        Self {
            keeper: TrendKeeper::new(running.reads().clone()),
            live: running.live().clone(),
            clock: host.clock().clone(),
            domain: host.site().domain.to_string(),
            requests: Arc::new(requests),
            sampled: Mutex::new(Sample { totals: Totals::default(), at }),
        }
    }

    /// Waits until the next minute begins.
    pub(super) async fn next_minute(&self) {
        let now = self.clock.now();
        let next = Resolution::Minute.floor(now).checked_add(Resolution::Minute.step()).unwrap_or(now);
        let wait = next.duration_since(now).unsigned_abs();
        tokio::time::sleep(wait.min(Resolution::Minute.step())).await;
    }

    /// Writes what was added since the last time, and rolls up what is over. What could not be written is a part of
    /// the next time.
    pub(super) async fn keep(&self, registry: Arc<Registry>, is_end: bool) {
        let kept = self.try_keep(registry, is_end);
        let kept = match is_end {
            true => tokio::time::timeout(LAST_WRITE_MAX, kept).await.unwrap_or(Ok(())),
            false => kept.await,
        };
        if let Err(error) = kept {
            tracing::warn!(%error, "what was counted is not kept yet");
        }
    }

    async fn try_keep(&self, registry: Arc<Registry>, is_end: bool) -> Result<(), StoreError> {
        let Some(house) = self.live.now() else { return Ok(()) };
        let node = mark(&house.host.run());
        drop(house);
        let (requests, domain) = (self.requests.clone(), self.domain.clone());
        // Encoding looks at disks, where content is counted.
        let read = tokio::task::spawn_blocking(move || Totals::of(&[&registry, &requests], &domain)).await;
        let Ok(totals) = read else { return Ok(()) };
        let mut sampled = self.sampled.lock().await;
        let now = self.clock.now();
        self.keeper.write(&node, totals.since(&sampled.totals), sampled.at, now).await?;
        *sampled = Sample { totals, at: now };
        self.keeper.roll_up(now, is_end).await
    }
}

/// What was counted since the process began.
#[derive(Debug, Default, PartialEq)]
struct Totals(BTreeMap<Series, f64>);

impl Totals {
    fn of(registries: &[&Registry], domain: &str) -> Self {
        let mut totals = Self::default();
        for (place, registry) in registries.iter().enumerate() {
            let mut text = String::new();
            if prometheus_client::encoding::text::encode(&mut text, registry).is_err() {
                continue;
            }
            // What only the first registry of several domains has is read from the other one.
            let is_requests = place > 0;
            for family in read(&text).iter().filter(|family| is_of_requests(&family.name) == is_requests) {
                totals.take(family, domain);
            }
        }
        totals
    }

    fn take(&mut self, family: &FamilyText, domain: &str) {
        let samples = family.samples.iter();
        match family.name.as_str() {
            "forecourt_replies" => samples.for_each(|sample| self.take_reply(sample)),
            "forecourt_http_request_seconds" => {
                self.take_buckets(samples.filter(|sample| sample.label("domain") == domain));
            }
            "forecourt_stream_request_seconds" => self.take_buckets(samples),
            "forecourt_model_tokens" => {
                for sample in samples {
                    let metric = match sample.label("kind") {
                        "input" => Metric::TokensRead,
                        "output" => Metric::TokensWritten,
                        _ => continue,
                    };
                    self.add(metric, sample, ["agent", "model"], 1.0);
                }
            }
            name => {
                let Some((metric, labels, factor)) = plain(name) else { return };
                let waits =
                    |sample: &&SampleText| metric == Metric::TasksEnded && WAITING.contains(&sample.label("ending"));
                samples.filter(|sample| !waits(sample)).for_each(|sample| self.add(metric, sample, labels, factor));
            }
        }
    }

    fn add(&mut self, metric: Metric, sample: &SampleText, labels: [&str; 2], factor: f64) {
        let labels = labels.map(|name| sample.label(name));
        *self.0.entry(Series::new(metric, labels)).or_default() += sample.value * factor;
    }

    fn take_reply(&mut self, sample: &SampleText) {
        self.add(Metric::Requests, sample, ["agent", "via"], 1.0);
        let ending = sample.label("ending");
        if ending == "failed" {
            self.add(Metric::Failures, sample, ["agent", "cause"], 1.0);
        } else if RefusalKind::NAMES.contains(&ending) {
            self.add(Metric::Refusals, sample, ["agent", "ending"], 1.0);
        }
    }

    /// Buckets are told with all below them, in their order: each by itself is kept.
    fn take_buckets<'a>(&mut self, samples: impl Iterator<Item = &'a SampleText>) {
        let mut below = 0.0;
        for sample in samples {
            if sample.suffix != "_bucket" {
                below = 0.0;
                continue;
            }
            let own = SampleText { value: sample.value - below, ..sample.clone() };
            below = sample.value;
            self.add(Metric::Latency, &own, ["protocol", "le"], 1.0);
        }
    }

    /// What was added since `before`; levels as they are.
    fn since(&self, before: &Self) -> Counts {
        let mut counts = Counts::default();
        for (series, total) in &self.0 {
            let count = match series.metric.is_level() {
                true => whole(*total),
                // Rounded before they are compared: what is cut off now must not be lost for good.
                false => whole(*total).saturating_sub(before.0.get(series).map_or(0, |total| whole(*total))),
            };
            if count > 0 || series.metric.is_level() {
                counts.add(series.clone(), count);
            }
        }
        counts
    }
}

fn is_of_requests(family: &str) -> bool {
    family.starts_with("forecourt_http_") || family.starts_with("forecourt_stream_")
}

/// Endings with which a task waits for its caller: it has not ended.
const WAITING: [&str; 2] = ["question", Ending::SIGN_IN];

/// Families whose samples are counted as they are: what of, by which labels, and by which factor.
fn plain(family: &str) -> Option<(Metric, [&'static str; 2], f64)> {
    let of_money = ["agent", "currency"];
    Some(match family {
        "forecourt_tasks_begun" => (Metric::TasksBegun, ["agent", ""], 1.0),
        "forecourt_tasks_ended" => (Metric::TasksEnded, ["agent", "ending"], 1.0),
        "forecourt_model_cost" => (Metric::Cost, ["agent", "model"], MICROS),
        "forecourt_payments" => (Metric::Payments, of_money, 1.0),
        "forecourt_payments_paid" => (Metric::Paid, of_money, MICROS),
        "forecourt_payments_returned" => (Metric::Returned, of_money, 1.0),
        "forecourt_payments_given_back" => (Metric::GivenBack, of_money, MICROS),
        "forecourt_content_items" => (Metric::Items, ["agent", ""], 1.0),
        "forecourt_content_read_age_seconds" => (Metric::LoadAge, ["agent", ""], 1.0),
        "forecourt_questions_unfound" => (Metric::Unfound, ["agent", ""], 1.0),
        _ => return None,
    })
}

fn whole(total: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float that is cast saturates")]
    let whole = total.round() as u64;
    whole
}

#[cfg(test)]
mod tests {
    use prometheus_client::metrics::counter::Counter;
    use prometheus_client::metrics::family::Family;
    use prometheus_client::metrics::histogram::Histogram;

    use super::*;

    type Labels = Vec<(&'static str, &'static str)>;

    fn told(counts: &Counts) -> Vec<(Metric, String, u64)> {
        counts.iter().map(|(series, count)| (series.metric, series.labels.join(" "), count)).collect()
    }

    #[test]
    fn what_was_added_is_told_by_metric_and_label() {
        let mut registry = Registry::with_prefix("forecourt");
        let replies = Family::<Labels, Counter>::default();
        registry.register("replies", "", replies.clone());
        let reply = |ending, cause| {
            replies.get_or_create(&vec![("agent", "chef"), ("via", "a2a"), ("ending", ending), ("cause", cause)]).inc()
        };
        for (ending, cause) in
            [("complete", ""), ("complete", ""), ("failed", "timed-out"), ("too_many_requests", ""), ("question", "")]
        {
            reply(ending, cause);
        }
        let first = Totals::of(&[&registry], "demo.localhost");
        let of = |metric, labels: &str, count| (metric, labels.to_owned(), count);
        let all = [
            of(Metric::Requests, "chef a2a", 5),
            of(Metric::Refusals, "chef too_many_requests", 1),
            of(Metric::Failures, "chef timed-out", 1),
        ];
        assert_eq!(told(&first.since(&Totals::default())), all);
        reply("complete", "");
        let second = Totals::of(&[&registry], "demo.localhost");
        assert_eq!(told(&second.since(&first)), [of(Metric::Requests, "chef a2a", 1)]);
        assert!(second.since(&second).is_empty());
    }

    #[test]
    fn buckets_are_those_of_the_domain_each_by_itself() {
        let mut registry = Registry::with_prefix("forecourt");
        let seconds = Family::<Labels, Histogram>::new_with_constructor(|| Histogram::new([0.5, 2.0]));
        registry.register("http_request_seconds", "", seconds.clone());
        let observe = |route, domain, seconds_taken: f64| {
            let labels = vec![("protocol", "a2a"), ("route", route), ("domain", domain)];
            seconds.get_or_create(&labels).observe(seconds_taken);
        };
        [("a", 0.1), ("a", 1.0), ("b", 0.2), ("b", 9.0)].iter().for_each(|(route, at)| observe(route, "own", *at));
        observe("a", "none", 1.0);
        let totals = Totals::of(&[&Registry::default(), &registry], "own");
        let of = |bound: &str, count| (Metric::Latency, format!("a2a {bound}"), count);
        assert_eq!(told(&totals.since(&Totals::default())), [of("+Inf", 1), of("0.5", 2), of("2.0", 1)]);
        assert_eq!(Totals::of(&[&registry], "own"), Totals::default(), "requests are read in one place");
    }

    #[test]
    fn money_is_whole_in_millionths_however_small_its_steps() {
        let series = Series::new(Metric::Cost, ["chef", "tiny"]);
        let at = |total: f64| Totals([(series.clone(), total)].into());
        let steps: u64 = (0..10)
            .map(|n| f64::from(n) * 0.3)
            .map(|from| at(from + 0.3).since(&at(from)).iter().map(|(_, count)| count).sum::<u64>())
            .sum();
        assert_eq!(steps, 3);
    }
}
