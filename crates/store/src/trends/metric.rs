//! What is counted, and by which labels.

/// Upper bounds in seconds of the buckets of [`Metric::Latency`], as its labels spell them; behind the last one is
/// `+Inf`.
pub const LATENCY_BOUNDS: [&str; 9] =
    ["0.0005", "0.002", "0.008", "0.032", "0.128", "0.512", "2.048", "8.192", "32.768"];

/// Something that is counted over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Answers, by agent and protocol.
    Requests,
    /// Answers that were refusals, by agent and kind.
    Refusals,
    /// Answers that failed, by agent and cause.
    Failures,
    /// Requests by protocol and the bucket of how long it took until the answer began.
    Latency,
    /// Tasks that were begun, by agent.
    TasksBegun,
    /// Tasks that ended, by agent and how.
    TasksEnded,
    /// Tokens that models read, by agent and model.
    TokensRead,
    /// Tokens that models wrote, by agent and model.
    TokensWritten,
    /// What models cost, in millionths of the unit of their prices, by agent and model.
    Cost,
    /// Payments that were taken, by agent and currency.
    Payments,
    /// What they came to, in millionths, by agent and currency.
    Paid,
    /// Payments whose credit was given back, since their answers never came, by agent and currency.
    Returned,
    /// What was given back, in millionths, by agent and currency.
    GivenBack,
    /// Items that can be found, by agent: a level.
    Items,
    /// Seconds since the sources of content were read, by agent: a level.
    LoadAge,
    /// Questions that nothing was found for, by agent.
    Unfound,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Requests,
        Self::Refusals,
        Self::Failures,
        Self::Latency,
        Self::TasksBegun,
        Self::TasksEnded,
        Self::TokensRead,
        Self::TokensWritten,
        Self::Cost,
        Self::Payments,
        Self::Paid,
        Self::Returned,
        Self::GivenBack,
        Self::Items,
        Self::LoadAge,
        Self::Unfound,
    ];

    /// What it is called where it is kept and shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Refusals => "refusals",
            Self::Failures => "failures",
            Self::Latency => "latency",
            Self::TasksBegun => "tasks_begun",
            Self::TasksEnded => "tasks_ended",
            Self::TokensRead => "tokens_read",
            Self::TokensWritten => "tokens_written",
            Self::Cost => "cost",
            Self::Payments => "payments",
            Self::Paid => "paid",
            Self::Returned => "returned",
            Self::GivenBack => "given_back",
            Self::Items => "items",
            Self::LoadAge => "load_age",
            Self::Unfound => "unfound",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// The names of its two labels; empty where it has none.
    pub fn labels(self) -> [&'static str; 2] {
        match self {
            Self::Requests => ["agent", "protocol"],
            Self::Refusals => ["agent", "kind"],
            Self::Failures => ["agent", "cause"],
            Self::Latency => ["protocol", "seconds"],
            Self::TasksEnded => ["agent", "state"],
            Self::TokensRead | Self::TokensWritten | Self::Cost => ["agent", "model"],
            Self::Payments | Self::Paid | Self::Returned | Self::GivenBack => ["agent", "currency"],
            Self::TasksBegun | Self::Items | Self::LoadAge | Self::Unfound => ["agent", ""],
        }
    }

    /// Whether it is a level at a moment, which does not add up over time, nor over nodes.
    pub fn is_level(self) -> bool {
        matches!(self, Self::Items | Self::LoadAge)
    }

    /// The count of several agents together: ages don't add up.
    pub fn together(self, counts: impl Iterator<Item = u64>) -> u64 {
        match self {
            Self::LoadAge => counts.max().unwrap_or_default(),
            _ => counts.fold(0, u64::saturating_add),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_name_of_its_own() {
        for metric in Metric::ALL {
            assert_eq!(Metric::from_name(metric.name()), Some(metric));
        }
        assert_eq!(Metric::from_name("Requests"), None);
    }
}
