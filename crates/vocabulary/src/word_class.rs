//! What single words of questions do: units, dates that are told from today, comparisons, negations and the like.

use serde::Deserialize;

/// What a unit measures in: the keys of `[units]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "units")]
pub enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Night,
    Week,
    Month,
    Money,
    Cent,
    Star,
    Person,
    Part,
    Calorie,
    Year,
    YearOfAge,
    Gram,
    Kilogram,
    Meter,
    Kilometer,
    Degree,
    Watt,
    Gigabyte,
    Inch,
}

/// A day or a span of days that is told from today: the keys of `[dates]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "what they are called")]
pub enum RelativeDate {
    Today,
    Tomorrow,
    Yesterday,
    ThisWeekend,
    NextWeekend,
    ThisWeek,
    NextWeek,
    LastWeek,
    ThisMonth,
    NextMonth,
    LastMonth,
    ThisYear,
    NextYear,
    LastYear,
    /// The ten years up to today.
    LastDecade,
    /// A number of days, weeks or months from today follows.
    Next,
    /// A number of days, weeks or months up to today follows.
    Last,
    /// From today on.
    Upcoming,
    /// Of what takes place, today: "on now". Of other things it says nothing.
    Now,
    /// What has not begun yet.
    NotBegun,
}

/// What a word does in a question: the keys of `[words]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(rename_all = "snake_case")]
pub enum WordClass {
    /// "At most", in front of a quantity.
    AtMost,
    /// "Less than".
    LessThan,
    /// "Or less", behind a quantity.
    OrLess,
    /// "At least".
    AtLeast,
    /// "More than".
    MoreThan,
    /// "Or more".
    OrMore,
    /// In front of a span.
    Between,
    /// Between the ends of a span.
    To,
    /// "About".
    Around,
    /// In front of the last date that is too early.
    After,
    /// In front of the first date.
    Since,
    /// Behind the first date.
    OrLater,
    /// In front of the first date that is too late.
    Before,
    /// In front of the last date.
    Until,
    /// Behind the last date.
    OrEarlier,
    /// In front of a date.
    AtTime,
    /// What items were at a date.
    Made,
    /// Words that make a date the time of a story, or of a life.
    Story,
    /// In front of what must be absent.
    Without,
    /// "Not".
    Not,
    /// "Doesn't", in front of [`Self::Verb`].
    AuxiliaryNot,
    /// What can be negated.
    Verb,
    /// "Hate", in front of what must be absent.
    Refuse,
    /// "Allergy", "is out", behind what must be absent.
    Intolerant,
    /// "Free", behind what must be absent.
    Free,
    /// In front of what is wished for.
    With,
    /// In front of what has to be there.
    MustHave,
    /// Between things of which all count.
    And,
    /// Between things of which any counts.
    Or,
    /// What may be said again in front of each thing of a list.
    Again,
    /// In front of a thing.
    Article,
    /// What goes away with a limit behind it.
    LimitLead,
    /// What goes away with a negation behind it.
    WithoutLead,
    /// What says nothing.
    Filler,
    /// What is done, not what is in it: "no bake".
    How,
    /// The second word of a thing that has two: "soy sauce".
    Head,
    /// What stands for another thing.
    Substitute,
    /// What can be had.
    Available,
    /// What can't.
    Unavailable,
    /// What does not take place after all.
    Cancelled,
    /// What takes place at another time than was said.
    Rescheduled,
    /// The greatest, in front of what it is of or behind it: "the longest range".
    Most,
    /// The least.
    Least,
    /// More of what is named behind it: "the one with the longer range".
    Greater,
    /// Less of that.
    Lesser,
    /// "Not needed", behind what somebody can do without.
    NotNeeded,
    /// What costs nothing.
    FreeOfCharge,
    /// What costs something.
    Paid,
    /// What somebody rents.
    ToRent,
    /// What somebody buys.
    ForSale,
    /// In front of a size.
    Size,
    /// Beside a colour.
    Colour,
    /// In front of a place.
    Near,
    /// In front of how many items are wanted.
    Asks,
    /// In front of how many of the best are wanted.
    Top,
    /// What items are called.
    Kind,
    /// What begins a question about how things are.
    Question,
    /// Ways to eat, and the like, that are no diet of the vocabulary.
    DietLike,
    /// Where words of limits mean something else.
    Exception,
    /// In front of how many people it is for.
    Serves,
    /// In front of a rating.
    Rated,
    /// In front of a price.
    Costs,
    /// In front of for whom it is.
    For,
    /// Behind the number of a decade: "90s".
    DecadeEnding,
    /// In front of it: "années 90".
    DecadeLead,
    /// Behind the number of a day: "1st".
    OrdinalEnding,
}
