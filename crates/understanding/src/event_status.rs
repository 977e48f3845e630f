//! "Cancelled", "moved to another date": what became of what takes place, by schema.org's `eventStatus`.

use forecourt_vocabulary::WordClass;

use crate::filter::{Filter, Test};
use crate::found::{FoundMeaning, Rank, UnderstoodPart};
use crate::paths::EVENT_STATUS;
use crate::reader::Reader;

/// The value of what does not take place.
const CANCELLED: &str = "EventCancelled";
/// What denies what stands behind it.
const DENIALS: [WordClass; 2] = [WordClass::Not, WordClass::AuxiliaryNot];
/// What words say of an event, and the values of `eventStatus` that say so.
const STATES: [(WordClass, &[&str]); 2] =
    [(WordClass::Cancelled, &[CANCELLED]), (WordClass::Rescheduled, &["EventRescheduled", "EventPostponed"])];
/// What stands around a participle and says nothing, without accents: "have been moved", "verlegt worden".
const BEEN: &[&str] = &[
    "has", "have", "had", "been", "was", "were", "is", "are", "got", "wurde", "wurden", "ist", "sind", "worden",
    "werden", "wird", "est", "sont", "a", "ont", "ete", "ha", "han", "sido", "fue", "fueron", "esta", "estan", "se",
];

/// What stands in front of a participle that says what may become of something: "can be cancelled", "peut être annulé".
const BE: &[&str] = &["be", "etre", "ser"];
/// What says so with "werden", before it or behind it, without accents: "kann storniert werden".
const MAY: &[&str] = &["kann", "konnen", "konnte", "konnten", "darf", "durfen"];
/// What denies two things: "neither cancelled nor moved".
const NEITHER: &[&str] = &["neither", "nor", "ni", "weder"];
/// What does so behind the first of these alone: in front of one thing it says "still".
const NOR: [&str; 2] = ["weder", "noch"];

/// Whether the words around a participle say what may become of something, or deny it beside something else.
fn is_no_state(reader: &Reader<'_>, first: usize, end: usize) -> bool {
    let anywhere = |words: &[&str]| (0..reader.tokens.len()).any(|at| reader.says(at, words));
    let is_before = |words: &[&str]| first.checked_sub(1).is_some_and(|before| reader.says(before, words));
    let [neither, nor] = NOR;
    is_before(BE)
        || is_before(NEITHER)
        || (is_before(&[nor]) && anywhere(&[neither]))
        || (reader.says(end, &["werden"]) && anywhere(MAY))
}

/// What was cancelled, or moved, where items say what became of them.
pub(crate) fn read(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    if reader.aids.known.share(EVENT_STATUS) <= 0.0 || reader.is_name() {
        return None;
    }
    let is_been = |at: usize| reader.says(at, BEEN);
    let first = (floor..at).rev().take_while(|at| is_been(*at)).last().unwrap_or(at);
    // "Not taking place" is a state itself.
    let is_state = state(reader, at).is_some();
    let denied = DENIALS.iter().filter(|_| !is_state).filter_map(|class| reader.class(at, *class)).max();
    if let Some(behind) = denied {
        let (values, end) = states(reader, behind_been(reader, behind))?;
        // "Not cancelled" is what takes place, which is asked of everything.
        let takes_place = values.iter().all(|value| *value == CANCELLED);
        let meaning = if takes_place { FoundMeaning::Filler } else { FoundMeaning::NotUnderstood };
        return Some(UnderstoodPart::new(first..behind_been(reader, end), meaning));
    }
    let (values, end) = states(reader, at)?;
    let is_denied = DENIALS.iter().any(|class| reader.is_behind(first, *class));
    if is_denied || is_no_state(reader, first, end) {
        return None;
    }
    let words = reader.written(at..end).to_lowercase();
    let test = Test::OneOf(values.into_iter().map(str::to_owned).collect());
    let filter = Filter { fields: vec![EVENT_STATUS.to_owned()], test, words };
    Some(UnderstoodPart::limit(first..behind_been(reader, end), Rank::Stated, filter))
}

/// What became of something by the words from here on, and the token behind them. "Cancelled or moved": either.
fn states(reader: &Reader<'_>, at: usize) -> Option<(Vec<&'static str>, usize)> {
    let (mut values, mut end) = state(reader, at)?;
    let tie = |at: usize| [WordClass::Or, WordClass::And].iter().find_map(|class| reader.class(at, *class));
    while let Some((more, behind)) = tie(end).and_then(|next| state(reader, behind_been(reader, next))) {
        values.extend(more);
        end = behind;
    }
    Some((values, end))
}

fn state(reader: &Reader<'_>, at: usize) -> Option<(Vec<&'static str>, usize)> {
    reader.longest_of(at, &STATES).map(|(values, end)| (values.to_vec(), end))
}

fn behind_been(reader: &Reader<'_>, at: usize) -> usize {
    (at..reader.tokens.len()).find(|at| !reader.says(*at, BEEN)).unwrap_or(reader.tokens.len())
}

#[cfg(test)]
mod tests {
    use crate::filter::Test;
    use crate::paths::EVENT_STATUS;
    use crate::tests::{Everything, understood};

    #[test]
    fn what_became_of_events_is_a_limit_of_their_status() {
        let cancelled = &["EventCancelled"][..];
        let moved = &["EventRescheduled", "EventPostponed"][..];
        let both = &["EventCancelled", "EventRescheduled", "EventPostponed"][..];
        for (text, wanted) in [
            ("matches that were cancelled", cancelled),
            ("which tours have been called off?", cancelled),
            ("tours not taking place", cancelled),
            ("abgesagte Spiele", cancelled),
            ("Welche Kurse sind ausgefallen?", cancelled),
            ("visites annulées", cancelled),
            ("talleres cancelados", cancelled),
            ("shows moved to another date", moved),
            ("Welche Lesungen wurden verschoben?", moved),
            ("conciertos aplazados", moved),
            ("concerts reportés", moved),
            ("which shows have been cancelled or moved to another date?", both),
            ("Was wurde abgesagt oder verlegt?", both),
        ] {
            let found = understood(text, &Everything);
            let all: Vec<&Test> = found.filters.iter().map(|filter| &filter.test).collect();
            let test = Test::OneOf(wanted.iter().map(|value| (*value).to_owned()).collect());
            assert!(all.contains(&&test), "{text}: {found:?}");
            assert!(found.not_understood.is_empty(), "{text}: {found:?}");
        }
        for text in [
            "shows that are not cancelled",
            "which shows aren't cancelled or moved?",
            "workshops that were not moved",
            "Kurse, die nicht verschoben wurden",
            "tours that can be cancelled free of charge",
            "visites qui peuvent être annulées",
            "talleres que pueden ser cancelados",
            "Kurse, die storniert werden können",
            "Welche Kurse können abgesagt werden?",
            "Kurse, weder abgesagt noch verschoben",
            "workshops neither cancelled nor moved",
        ] {
            let found = understood(text, &Everything);
            let is_status = |field: &String| field == EVENT_STATUS;
            assert!(!found.filters.iter().flat_map(|filter| &filter.fields).any(is_status), "{text}: {found:?}");
            // What is not moved is asked of nothing else.
            let is_told = !found.not_understood.is_empty();
            assert!(is_told || !text.contains("not moved"), "{text}: {found:?}");
        }
    }
}
