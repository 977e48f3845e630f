//! Lists of things: "nuts, eggs and soy sauce". What each of them is: a class of the vocabulary, a word that
//! items have, or neither.

use std::ops::Range;

use forecourt_vocabulary::{LANGUAGES, WordClass, thing_key};

use crate::paths::{ABSENT, SHARE_MIN};
use crate::reader::Reader;
use crate::scope::ReadingAids;

/// Words of the longest name of a class.
const NAME_WORDS_MAX: usize = 4;
/// Things of one list.
pub(crate) const THINGS_MAX: usize = 8;

/// Words of the grammar, which no item is made of.
const GRAMMAR: &[WordClass] = &[
    WordClass::Article,
    WordClass::With,
    WordClass::Without,
    WordClass::Not,
    WordClass::And,
    WordClass::Or,
    WordClass::For,
    WordClass::AtTime,
    WordClass::AtLeast,
    WordClass::AtMost,
    WordClass::LessThan,
    WordClass::MoreThan,
    WordClass::Between,
    WordClass::To,
    WordClass::LimitLead,
    WordClass::WithoutLead,
    WordClass::Filler,
];

/// What a thing of a list was recognised as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ThingKind {
    /// A class of the vocabulary, by its id.
    Class(String),
    /// Words that items have.
    Words(String),
    /// What items say that they are free of, in the property at this place.
    FreeOf(usize),
    /// What some items say is not in them, as [`ABSENT`] has it.
    SaidAbsent(Vec<String>),
    /// A word that no class has and no item.
    Unknown,
}

/// One thing of a list.
#[derive(Debug, Clone)]
pub(crate) struct Thing {
    pub(crate) kind: ThingKind,
    pub(crate) tokens: Range<usize>,
}

impl Thing {
    pub(crate) fn is_known(&self) -> bool {
        self.kind != ThingKind::Unknown
    }
}

/// How the things of a list are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tie {
    And,
    Or,
    Comma,
}

/// How a list is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListOf {
    /// What must be absent.
    Absent,
    /// What somebody can't have: "allergies: nuts, milk".
    Refused,
    /// What has to be there.
    Wanted,
}

/// What a phrase names, as items say that it is not in them, by its own words and by others for the same. Empty: no item says
/// so.
pub(crate) fn said_absent(aids: ReadingAids<'_>, phrase: &str) -> Vec<String> {
    let class = aids.vocabulary.class_named(phrase);
    let names = class.into_iter().flat_map(|class| LANGUAGES.iter().flat_map(|code| class.names(code)));
    let all = aids.vocabulary.synonyms_of(phrase).into_iter().chain(names.map(String::as_str));
    let mut said: Vec<String> = Vec::new();
    for key in std::iter::once(phrase).chain(all).map(thing_key) {
        if !key.is_empty() && !said.contains(&key) && aids.known.has_value(ABSENT, &key) {
            said.push(key);
        }
    }
    said
}

impl Reader<'_> {
    /// The thing that begins here, behind articles. `None` where ways of doing are meant, or nothing.
    pub(crate) fn thing(&self, at: usize, list: ListOf) -> Option<Thing> {
        let at = self.skip(at, &[WordClass::Article]);
        if self.class(at, WordClass::How).is_some() || !self.is_word(at) {
            return None;
        }
        if list != ListOf::Wanted
            && let Some(thing) = self.stated_absent(at, SHARE_MIN)
        {
            return Some(thing);
        }
        let named = self.named_thing(at);
        // Where few items say what they are free of, the others are looked into. Where none says what is in it, those few
        // are all that can be proven.
        let is_closed = !self.can_be_looked_into(named.as_ref());
        // What no class names is in no list of what things are made of: "ohne Torf" is what is "torffrei".
        let stated = if is_closed || named.is_none() { self.stated_absent(at, 0.0) } else { None };
        if list != ListOf::Wanted
            && let Some(thing) = stated.or_else(|| if is_closed { self.said_absent(at) } else { None })
        {
            return Some(thing);
        }
        // Cream cheese is no cream: what has two words is what they say together.
        let longer = self
            .class(at + 1, WordClass::Head)
            .filter(|end| named.as_ref().is_none_or(|named| named.tokens.end < *end));
        let whole = longer.and_then(|end| self.listed_thing(at, list).filter(|thing| thing.tokens.end == end));
        whole.or(named).or_else(|| self.listed_thing(at, list)).or_else(|| {
            let is_content = self.token(at)?.word.chars().count() > 2 && !self.ends_clause(at);
            is_content.then(|| Thing { kind: ThingKind::Unknown, tokens: at..at + 1 })
        })
    }

    /// A class, by its longest name.
    pub(crate) fn named_thing(&self, at: usize) -> Option<Thing> {
        let words = (0..NAME_WORDS_MAX).take_while(|ahead| self.is_word(at + ahead)).count();
        // The longest name first: `soy sauce` before `soy`.
        (1..=words).rev().find_map(|words| {
            let class = self.aids.vocabulary.class_named(self.written(at..at + words))?;
            Some(Thing { kind: ThingKind::Class(class.id.clone()), tokens: at..at + words })
        })
    }

    /// Whether items state what they are made of, as far as a thing is concerned: in its area of the vocabulary, or at all.
    fn can_be_looked_into(&self, thing: Option<&Thing>) -> bool {
        match thing.map(|thing| &thing.kind) {
            Some(ThingKind::Class(id)) => self.aids.vocabulary.class(id).is_some_and(|class| self.states(&class.area)),
            _ => self.table.texts.made_of.iter().any(|path| self.aids.known.share(path) > 0.0),
        }
    }

    /// A thing that at least this share of the items say they are free of: sugar, where they have a property "sugar free".
    fn stated_absent(&self, at: usize, share: f64) -> Option<Thing> {
        let words = (0..NAME_WORDS_MAX).take_while(|ahead| self.is_word(at + ahead)).count();
        (1..=words).rev().find_map(|words| {
            let tokens = at..at + words;
            let property = self.aids.learnt.free_of(self.written(tokens.clone()), self.aids.vocabulary, share)?;
            Some(Thing { kind: ThingKind::FreeOf(property), tokens })
        })
    }

    /// A thing that some items say is not in them, by its longest name: "sulfites ajoutés".
    fn said_absent(&self, at: usize) -> Option<Thing> {
        let is_grammar = |at: usize| GRAMMAR.iter().any(|class| self.is_single(at, *class));
        let is_of = |ahead: &usize| self.is_word(at + ahead) && !is_grammar(at + ahead);
        let words = (0..NAME_WORDS_MAX).take_while(is_of).count();
        (1..=words).rev().find_map(|words| {
            let tokens = at..at + words;
            let said = said_absent(self.aids, self.written(tokens.clone()));
            (!said.is_empty()).then_some(Thing { kind: ThingKind::SaidAbsent(said), tokens })
        })
    }

    /// A word that items have, with the second word of things that have two.
    fn listed_thing(&self, at: usize, list: ListOf) -> Option<Thing> {
        // "With at", "with no": words of the grammar are no things.
        if list == ListOf::Wanted && GRAMMAR.iter().any(|class| self.is_single(at, *class)) {
            return None;
        }
        let is_listed = |words: &str| match list {
            ListOf::Wanted => self.table.texts.made_of.iter().any(|path| self.aids.known.has_word(path, words)),
            ListOf::Absent | ListOf::Refused => self.is_listed(words),
        };
        let whole = self.class(at + 1, WordClass::Head).map(|end| at..end);
        // Two words of no known thing are one only as a person's name, such as `without Bill Murray`.
        let two = (list != ListOf::Wanted && self.is_word(at + 1)).then_some(at..at + 2);
        let two = two.filter(|two| self.is_person(two));
        let ranges = [whole, two, Some(at..at + 1)];
        ranges.into_iter().flatten().find_map(|tokens| {
            let words = self.written(tokens.clone()).to_lowercase();
            is_listed(&words).then_some(Thing { kind: ThingKind::Words(words), tokens })
        })
    }

    /// Whether two words are somebody's name: "without Bill Murray".
    fn is_person(&self, tokens: &Range<usize>) -> bool {
        let name = self.written(tokens.clone());
        let mut paths = self.table.texts.lists.iter().filter(|path| path.ends_with(".name"));
        paths.any(|path| self.aids.known.has_value(path, name))
    }

    /// The things that are listed from here on, and how they are tied.
    pub(crate) fn things(&self, at: usize, list: ListOf, floor: usize) -> (Vec<Thing>, Tie) {
        let mut things: Vec<Thing> = self.thing(at, list).into_iter().collect();
        let mut tied = Tie::And;
        while let Some(last) = things.last().filter(|last| last.is_known())
            && things.len() < THINGS_MAX
        {
            let Some((tie, next)) = self.tie(last.tokens.end) else { break };
            // What is wished for ends where something is ruled out: "with rice, no pork".
            let again = if list == ListOf::Wanted { next } else { self.skip(next, &[WordClass::Again]) };
            let Some(thing) = self.thing(again, list).filter(Thing::is_known) else { break };
            if !self.goes_on(&thing, tie, again > next, list, floor, at) {
                break;
            }
            if tie == Tie::Or {
                tied = Tie::Or;
            }
            things.push(thing);
        }
        (things, tied)
    }

    /// What ties a list together here, and the token behind it.
    fn tie(&self, at: usize) -> Option<(Tie, usize)> {
        let behind_comma = if self.is_mark(at, ',') || self.is_mark(at, '/') { at + 1 } else { at };
        let word = |class| self.class(behind_comma, class);
        let or = word(WordClass::Or).map(|end| (Tie::Or, end));
        or.or_else(|| word(WordClass::And).map(|end| (Tie::And, end)))
            .or_else(|| (behind_comma > at).then_some((Tie::Comma, behind_comma)))
    }

    /// Whether a further thing belongs to the list, or is what is asked for: "no nuts, chocolate cake".
    fn goes_on(&self, thing: &Thing, tie: Tie, is_said_again: bool, list: ListOf, floor: usize, start: usize) -> bool {
        let stands_alone = self.ends_clause(thing.tokens.end) || self.is_mark(thing.tokens.end, ',');
        let is_class = matches!(thing.kind, ThingKind::Class(_));
        match tie {
            _ if is_said_again && tie != Tie::Comma => true,
            Tie::Or => true,
            Tie::And => is_class || stands_alone,
            Tie::Comma => {
                let is_led =
                    (list == ListOf::Refused && is_class) || self.has_tie_ahead(thing.tokens.end) || is_said_again;
                // `No nuts, chocolate cake`: at the beginning of a question, what comes behind the comma is what is
                // asked for.
                let is_behind_question = start > floor + 1 || floor > 0;
                stands_alone && (is_led || (is_behind_question && is_class))
            }
        }
    }

    /// Whether "and" or "or" comes within the rest of the list.
    fn has_tie_ahead(&self, mut at: usize) -> bool {
        for _ in 0..THINGS_MAX {
            match self.tie(at) {
                Some((Tie::Comma, next)) => {
                    let next = self.skip(next, &[WordClass::Again]);
                    let Some(thing) = self.thing(next, ListOf::Absent) else { return false };
                    at = thing.tokens.end;
                }
                other => return other.is_some(),
            }
        }
        false
    }
}
