//! What a message may use up of what its caller has.

/// What may be used up in a sender's name, of credit and of consents and payments that were given and not used. It goes
/// along with the sender: what an agent asks of others to answer may use up no more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Allowance {
    /// Everything that its caller has.
    #[default]
    Whole,
    /// Everything but prepaid credit: another site may have caused the request, such as a link that a browser follows, and
    /// a visit must not cost anything.
    WithoutCredit,
    /// Nothing, and nothing is asked for either: an operator tries out what such a caller meets. It passes where rules
    /// want nothing, or what was granted for a time.
    TriedOut {
        /// Whether it passes as if every consent and every payment were there.
        as_if_met: bool,
    },
}

impl Allowance {
    /// Whether prepaid credit may be spent.
    pub fn has_credit(self) -> bool {
        self == Self::Whole
    }

    /// Whether it is tried out by an operator.
    pub fn is_tried_out(self) -> bool {
        matches!(self, Self::TriedOut { .. })
    }

    /// Whether it passes as if every consent and every payment were there.
    pub fn is_as_if_met(self) -> bool {
        self == Self::TriedOut { as_if_met: true }
    }
}
