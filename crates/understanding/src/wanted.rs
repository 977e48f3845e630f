//! What has to be there: "with rice and beans", "containing", "must have", "not without nuts".

use forecourt_vocabulary::WordClass;

use crate::filter::{Filter, Test};
use crate::found::{FoundMeaning, Rank, UnderstoodPart};
use crate::reader::Reader;
use crate::things::{ListOf, Thing, ThingKind, Tie};

/// What is demanded or wished for from here on. Its words are searched for all the same.
pub(crate) fn read(reader: &Reader<'_>, at: usize, _: usize) -> Option<UnderstoodPart> {
    if let Some(behind) = reader.class(at, WordClass::MustHave) {
        return demand(reader, at, behind);
    }
    let behind = reader.class(at, WordClass::With)?;
    // `With or without nuts` limits nothing.
    let is_open = reader.class(behind, WordClass::Or).is_some();
    let (filters, end) = filters(reader, behind).filter(|_| !is_open)?;
    Some(UnderstoodPart::new(at..end, FoundMeaning::Wishes(filters)).keeping_words())
}

/// Things that have to be there.
pub(crate) fn demand(reader: &Reader<'_>, at: usize, behind: usize) -> Option<UnderstoodPart> {
    let (filters, end) = filters(reader, behind)?;
    Some(UnderstoodPart::new(at..end, FoundMeaning::Limits(Rank::Wanted, filters)).keeping_words())
}

/// The limits of a list of things that has an end there.
fn filters(reader: &Reader<'_>, behind: usize) -> Option<(Vec<Filter>, usize)> {
    let (things, tie) = reader.things(behind, ListOf::Wanted, 0);
    let known: Vec<&Thing> = things.iter().filter(|thing| is_stated(reader, thing)).collect();
    let end = known.last()?.tokens.end;
    let each = || known.iter().filter_map(|thing| has(reader, thing));
    let filters = if tie == Tie::Or { any_of(reader, &known).into_iter().collect() } else { each().collect() };
    Some((filters, end))
}

fn is_stated(reader: &Reader<'_>, thing: &Thing) -> bool {
    match &thing.kind {
        ThingKind::Class(id) => reader.aids.vocabulary.class(id).is_some_and(|class| reader.states(&class.area)),
        ThingKind::Words(_) => true,
        ThingKind::FreeOf(_) | ThingKind::SaidAbsent(_) | ThingKind::Unknown => false,
    }
}

fn name(reader: &Reader<'_>, thing: &Thing) -> String {
    match &thing.kind {
        ThingKind::Class(id) => reader.class_name(id, &reader.written(thing.tokens.clone()).to_lowercase()),
        ThingKind::Words(words) => words.clone(),
        ThingKind::FreeOf(_) | ThingKind::SaidAbsent(_) | ThingKind::Unknown => String::new(),
    }
}

fn has(reader: &Reader<'_>, thing: &Thing) -> Option<Filter> {
    let words = reader.say("with", &[&name(reader, thing)]);
    match &thing.kind {
        ThingKind::Class(id) => Some(Filter::of_class(&[id], words)),
        ThingKind::Words(text) => Some(Filter { fields: made_of(reader), test: Test::Mentions(text.clone()), words }),
        ThingKind::FreeOf(_) | ThingKind::SaidAbsent(_) | ThingKind::Unknown => None,
    }
}

/// What has one of several things.
fn any_of(reader: &Reader<'_>, things: &[&Thing]) -> Option<Filter> {
    let names: Vec<String> = things.iter().map(|thing| name(reader, thing)).collect();
    let joined = names.iter().skip(1).fold(names.first()?.clone(), |all, name| reader.say("or", &[&all, name]));
    let words = reader.say("with", &[&joined]);
    let ids: Option<Vec<&str>> = things
        .iter()
        .map(|thing| if let ThingKind::Class(id) = &thing.kind { Some(id.as_str()) } else { None })
        .collect();
    Some(match ids {
        Some(ids) => Filter::of_class(&ids, words),
        None => {
            let texts = things.iter().map(|thing| reader.written(thing.tokens.clone()).to_lowercase()).collect();
            Filter { fields: made_of(reader), test: Test::OneOf(texts), words }
        }
    })
}

fn made_of(reader: &Reader<'_>) -> Vec<String> {
    let known = reader.aids.known;
    reader.table.texts.made_of.iter().filter(|path| known.share(path) > 0.0).cloned().collect()
}
