//! Every bound of questions and their constraints, with its unit.

/// Bytes of a query that are read.
pub const QUERY_BYTES_MAX: usize = 8 * 1024;
/// Distances of one question whose places are looked up: each takes a look into the index.
pub(crate) const DISTANCES_READ_MAX: usize = 4;
/// Words of a query that are searched for.
pub const QUERY_WORDS_MAX: usize = 64;
/// Filters of one query.
pub const FILTERS_MAX: usize = 64;
/// Values of one filter of which any may hold.
pub const FILTER_VALUES_MAX: usize = 16;
/// Constraints of which one has to be kept, such as the weekends of a quarter of a year: further ones are left out.
pub const ALTERNATIVES_MAX: usize = 42;
/// Dates of one list: "on the 3rd, the 10th or the 17th".
pub(crate) const LISTED_DATES_MAX: usize = 12;
/// Objects inside of one another in the value of a filter.
pub const FILTER_LEVELS_MAX: usize = 4;
/// Items that a question can ask for: "three soups".
pub const ITEMS_ASKED_MAX: usize = 100;
/// Properties of the items of one index whose words are learnt.
pub const LEARNT_PROPERTIES_MAX: usize = 256;
/// Words of the longest phrase for one of them, or for one of its values.
pub const LEARNT_WORDS_MAX: usize = 4;
/// Names of shelves that are learnt, as many as a property of a sample has.
pub const SHELVES_MAX: usize = 1_000;
/// Words of the longest name of a shelf that is read in a question.
pub(crate) const SHELF_WORDS_MAX: usize = 4;
/// Shelves and names that one question may mean: what means more means none.
pub(crate) const SHELVES_MEANT_MAX: usize = ALTERNATIVES_MAX;
/// Limits of one question that are named as not understood; the others stay text.
pub const NOT_UNDERSTOOD_MAX: usize = 16;
