//! Constraints in a question, found without a language model: limits of time, price, rating, date, size and the
//! like, things that must be absent or there, orders and counts, people, places, and kinds of items. English,
//! German, French and Spanish: what words mean is data of the vocabulary.
//!
//! [`understand`] takes a question apart into [`Filter`]s, an order, a count and the text that is left;
//! [`named`] reads constraints that a caller gives by name. What items can be asked about is known to a
//! [`QuestionScope`], which an index implements.
//!
//! Careful on purpose. A rule speaks up only when the scope has facts that it could ask about; what is understood
//! leaves the text and becomes a filter with its own wording, so that an answer can say what it did. What looks
//! like a limit and can't be checked is told as it was written. A limit is a limit: items that do not state the
//! fact are left out, and a note says so.
//!
//! Searches nothing, and asks no model.
//!
//! Begin at `question.rs`, which names the rules in their order.
//!
//! | module | holds |
//! |---|---|
//! | `filter`, `exclusion` | constraints on items, and an order of them |
//! | [`measure`] | texts that are quantities, in items and in questions |
//! | `scope` | what there is to ask about |
//! | `shelf`, `shelves` | which shelf of the items a question is about, and what shelves are called |
//! | `parsed_question` | what a question comes to |
//! | `question` | a question read rule by rule |
//! | `reader` | a question as tokens, and what they mean |
//! | `reading` | what became of each word |
//! | `amount`, `quantity` | numbers with units, and what is compared with them |
//! | `moment`, `plain_date`, `named_date`, `date_part`, `date_list`, `date`, `date_ends` | dates |
//! | [`months`] | months that items name, such as a season |
//! | `clock`, `weekly` | times of day, days that come back, what is open |
//! | `learnt`, [`mod@unit`] | what the items state of themselves, and the words for it |
//! | `stated`, `stated_amount`, `stated_limit` | limits of that, of amounts: how they are said, written and checked |
//! | `stated_value`, `phrase_limit`, `stated_end` | limits of its values; the least and the most |
//! | `pay`, `yearly_pay`, [`period`] | money for an hour up to a year |
//! | `hours` | hours of work a week |
//! | `offered` | for rent, or for sale |
//! | `near`, `distance`, `stated_distance`, `distance_name` | how far away something may be, and what says so |
//! | `paths` | properties that several rules know |
//! | `things`, `without`, `wanted` | lists of things that must be absent, or there |
//! | `event_status` | what was cancelled, or moved |
//! | `level`, `graded` | little or much, where nothing else is said |
//! | `order`, `stock` | superlatives, counts, availability, sizes |
//! | `found`, `draft` | what rules find, and what becomes of the question |
//! | `contradiction` | limits that no item can keep together |
//! | `elsewhere` | places that are ruled out |
//! | `people`, `maker`, `place`, `country`, `value`, `kind` | what the data has a value for |
//! | `named` | constraints that a caller gives by name |
//! | [`limits`] | every bound, with its unit |

mod ages;
mod amount;
mod clock;
mod contradiction;
mod country;
mod date;
mod date_ends;
mod date_list;
mod date_part;
mod distance;
mod distance_name;
mod draft;
mod elsewhere;
mod event_status;
mod exclusion;
mod filter;
mod found;
mod graded;
mod hours;
#[cfg(test)]
mod inversions;
mod kind;
mod learnt;
mod left_over;
mod level;
pub mod limits;
mod maker;
pub mod measure;
mod moment;
pub mod months;
mod named;
mod named_date;
mod near;
mod offered;
mod order;
#[cfg(test)]
mod other_readings;
#[cfg(test)]
mod paraphrases;
mod parsed_question;
mod paths;
mod pattern;
mod pay;
mod people;
pub mod period;
mod phrase_limit;
mod place;
mod plain_date;
mod quantity;
mod question;
mod reader;
mod reading;
mod scope;
mod shelf;
mod shelves;
mod stated;
mod stated_amount;
mod stated_distance;
mod stated_end;
mod stated_limit;
mod stated_value;
mod stock;
#[cfg(test)]
mod tests;
mod things;
pub mod unit;
mod value;
mod wanted;
mod weekly;
mod without;
mod yearly_pay;

pub use contradiction::{Contradiction, QuestionReading};
pub use exclusion::Exclusion;
pub use filter::{ClassLimit, Filter, SortOrder, Test};
pub use learnt::{LearntProperties, StatedProperty, StatedValues, UnnamedProperty, name_in_words, unnamed};
pub use named::named;
pub use offered::HOMES;
pub use parsed_question::ParsedQuestion;
pub use paths::{
    ABSENT, AGES, CALENDAR_MONTH, CANCELLED_DAY, DAY_MINUTES, EVENT_BEGINS, EVENT_DAYS, EVENT_EVERY, EVENT_SERIES,
    EVENT_STATUS, EVENT_WEEKDAYS, FOOD, FOR_RENT, FOR_SALE, FORBIDDING, HOURLY_PRICE, LAST_DAY, MONTHLY_PRICE, OFFERED,
    OPEN_SPANS_MAX, OPENING_TIMES, PERMITTING, PLACE_PATHS, PRICE_LEVEL, RANGE_ENDS, WORK_HOURS, YEARLY_PAY, open_span,
};
pub use question::understand;
pub use reading::{PartRole, ReadPart};
pub use scope::{QuestionScope, ReadingAids};
pub use shelf::limit as shelf_limit;
pub use shelves::Shelves;
