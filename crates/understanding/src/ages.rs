//! Limits of the ages that items are for.

use crate::filter::{Filter, Test};
use crate::paths::{AGES, SHARE_MIN};
use crate::reader::Reader;

/// The age from which on somebody is no child. Who asks for children is answered with what says that it is for them.
pub(crate) const ADULT: f64 = 18.0;
/// The age from which on people are asked for as seniors.
const SENIOR: f64 = 55.0;

/// What is for people of these ages. Where few items say so, what is for adults need not, but must not be for children.
pub(crate) fn ages(reader: &Reader<'_>, from: f64, to: f64, written: &str) -> Filter {
    let fields = AGES.iter().map(|path| (*path).to_owned()).collect();
    let is_rare = reader.aids.known.share(AGES[0]) < SHARE_MIN;
    // What is for older people says so.
    let is_for_seniors = from >= SENIOR && to > from;
    let or_unstated = from >= ADULT - 2.0 && is_rare && !is_for_seniors;
    let test = Test::Overlaps { from: Some(from), to: Some(to), or_unstated };
    Filter { fields, test, words: reader.say("age_for", &[written]) }
}
