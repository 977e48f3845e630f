//! A question as tokens, and what the words of each place mean. Every rule reads it; none changes it.

use std::cell::OnceCell;
use std::ops::Range;

use forecourt_vocabulary::{
    Class, PhraseMeaning, PropertyTable, Quantity, QuestionToken, RelativeDate, TextProperties, WordClass, folded,
    tokens,
};

use crate::exclusion::Exclusion;
use crate::filter::Filter;
use crate::learnt::{LearntMeaning, LearntProperty};
use crate::near;
use crate::paths::EVENT_DAYS;
use crate::scope::ReadingAids;
use crate::shelf;

/// A question while it is read.
pub(crate) struct Reader<'a> {
    pub(crate) text: &'a str,
    pub(crate) tokens: Vec<QuestionToken>,
    /// For each token, what the phrases mean that begin there, and how many tokens each takes.
    meanings: Vec<Vec<(&'a PhraseMeaning, usize)>>,
    /// For each token, what the phrases that begin there say of the items, each with the token behind it.
    learnt: Vec<Vec<(&'a LearntMeaning, usize)>>,
    pub(crate) aids: ReadingAids<'a>,
    pub(crate) table: &'static PropertyTable,
    states_facts: OnceCell<bool>,
    is_name: OnceCell<bool>,
    names_day: OnceCell<bool>,
    shelf: OnceCell<Option<Filter>>,
}

/// Where it lies when something begins that is no event.
const BEGIN_PATHS: [&str; 4] = ["jobStartDate", "courseStart", "hasCourseInstance.startDate", "availabilityStarts"];
/// Words that say that something begins, without accents.
const BEGINS: &[&str] = &[
    "start",
    "starts",
    "starting",
    "begin",
    "begins",
    "beginning",
    "beginnt",
    "beginnen",
    "anfangen",
    "anfangt",
    "startet",
    "starten",
    "losgeht",
    "losgehen",
    "commence",
    "commencent",
    "commencant",
    "debute",
    "debutent",
    "empieza",
    "empiezan",
    "comienza",
    "comienzan",
    "empezar",
    "comenzar",
    "inicia",
    "inician",
    "incorporacion",
];
/// When an event begins.
const EVENT_START: &str = "startDate";

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str, aids: ReadingAids<'a>) -> Self {
        let mut tokens = apart(text, tokens(text), aids);
        let mut learnt = aids.learnt.meanings(&tokens);
        for at in 0..tokens.len() {
            let family = related(&tokens[at..], &learnt[at], aids);
            learnt[at].extend(family.map(|meaning| (meaning, at + 1)));
            if let Some(meant) = almost(&tokens[at..], &learnt[at], aids) {
                tokens[at].word = meant;
            }
        }
        let meanings = (0..tokens.len()).map(|at| aids.lexicon.meanings(&tokens[at..])).collect();
        let [states_facts, is_name, names_day] = [const { OnceCell::new() }; 3];
        let (table, shelf) = (PropertyTable::shipped(), OnceCell::new());
        Self { text, tokens, meanings, learnt, aids, table, states_facts, is_name, names_day, shelf }
    }

    /// The limit to the shelf that the question names as what is wanted.
    pub(crate) fn shelf(&self) -> Option<&Filter> {
        self.shelf.get_or_init(|| shelf::widely(self.text, self.aids)).as_ref()
    }

    /// Whether a word is of what the shelf is called that the question names.
    pub(crate) fn names_shelf(&self, word: &str) -> bool {
        self.shelf().is_some_and(|shelf| shelf.words.to_lowercase().split(' ').any(|other| other == word))
    }

    /// The part of the items that state a property: of its types, or of the shelf that is asked for where more of that do.
    /// All televisions have a kind of display, and few things of a shop.
    pub(crate) fn share(&self, property: &LearntProperty) -> f64 {
        let path = property.stated.path.as_str();
        let among = self.shelf().map_or(0.0, |shelf| self.aids.known.share_among(path, shelf));
        property.stated.share.max(among)
    }

    /// The meanings of the phrases that begin at a token, each with the token behind it.
    pub(crate) fn meanings(&self, at: usize) -> impl Iterator<Item = (&'a PhraseMeaning, usize)> + '_ {
        let here = self.meanings.get(at).into_iter().flatten();
        here.map(move |(meaning, length)| (*meaning, at + length))
    }

    /// What the phrases that begin at a token say of the items, the longest first, each with the token behind it.
    pub(crate) fn learnt(&self, at: usize) -> impl Iterator<Item = (&'a LearntMeaning, usize)> + '_ {
        self.learnt.get(at).into_iter().flatten().copied()
    }

    /// Whether a word of the question is of people of some age: a child, my son.
    pub(crate) fn names_ages(&self) -> bool {
        self.learnt.iter().flatten().any(|(meaning, _)| matches!(meaning, LearntMeaning::Ages(..)))
    }

    /// The first token that begins at this byte or behind it.
    pub(crate) fn token_at(&self, byte: usize) -> usize {
        self.tokens.partition_point(|token| token.range.start < byte)
    }

    /// The first token of an amount that ends in front of a token: its number, with a sign of money.
    pub(crate) fn first_number(&self, from: usize, end: usize) -> usize {
        let is_number = |at: &usize| self.number(*at).is_some_and(|(.., is_article)| !is_article);
        let first = (from..end).find(|at| is_number(at) || self.is_mark(*at, '-'));
        first.or_else(|| (from..end).find(|at| self.number(*at).is_some())).unwrap_or(from)
    }

    /// Where the longest phrase of a class ends that begins here.
    pub(crate) fn class(&self, at: usize, class: WordClass) -> Option<usize> {
        self.longest(at, |meaning| (*meaning == PhraseMeaning::Word(class)).then_some(())).map(|((), end)| end)
    }

    /// The longest phrase here of which `take` makes something.
    pub(crate) fn longest<T>(&self, at: usize, take: impl Fn(&'a PhraseMeaning) -> Option<T>) -> Option<(T, usize)> {
        let found = self.meanings(at).filter_map(|(meaning, end)| Some((take(meaning)?, end)));
        found.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// What the longest phrase here stands for, of those of these classes, and the token behind it.
    pub(crate) fn longest_of<T: Clone>(&self, at: usize, classes: &[(WordClass, T)]) -> Option<(T, usize)> {
        let found = classes.iter().filter_map(|(class, said)| Some((said, self.class(at, *class)?)));
        let longest = found.reduce(|best, next| if next.1 > best.1 { next } else { best });
        longest.map(|(said, end)| (said.clone(), end))
    }

    /// Where the phrases of these classes end that begin here, one behind the other.
    pub(crate) fn skip(&self, mut at: usize, classes: &[WordClass]) -> usize {
        while let Some(end) = classes.iter().filter_map(|class| self.class(at, *class)).max() {
            at = end;
        }
        at
    }

    /// Where the words begin that go away with what begins at `start`; not before `floor`.
    pub(crate) fn absorb(&self, mut start: usize, class: WordClass, floor: usize) -> usize {
        while start > floor && self.is_single(start - 1, class) {
            start -= 1;
        }
        start
    }

    /// Whether a token is a word of this class by itself.
    pub(crate) fn is_single(&self, at: usize, class: WordClass) -> bool {
        self.meanings(at).any(|(meaning, end)| end == at + 1 && *meaning == PhraseMeaning::Word(class))
    }

    /// Whether the token before is of this class.
    pub(crate) fn is_behind(&self, at: usize, class: WordClass) -> bool {
        at > 0 && self.is_single(at - 1, class)
    }

    pub(crate) fn token(&self, at: usize) -> Option<&QuestionToken> {
        self.tokens.get(at)
    }

    pub(crate) fn is_mark(&self, at: usize, mark: char) -> bool {
        self.token(at).is_some_and(|token| token.is_mark(mark))
    }

    /// Whether a token is one of these words, which are in lower case and without accents, as tokens are.
    pub(crate) fn says(&self, at: usize, words: &[&str]) -> bool {
        self.token(at).is_some_and(|token| words.contains(&token.word.as_str()))
    }

    pub(crate) fn is_word(&self, at: usize) -> bool {
        self.token(at).is_some_and(QuestionToken::is_word)
    }

    /// Whether a clause ends here: with the text, a mark, or words that begin something else.
    pub(crate) fn ends_clause(&self, at: usize) -> bool {
        !self.is_word(at) && self.token(at).is_none_or(|token| token.number().is_none())
            || [WordClass::With, WordClass::Without, WordClass::Filler, WordClass::And, WordClass::Or]
                .iter()
                .any(|class| self.class(at, *class).is_some())
            || [WordClass::AtTime, WordClass::LimitLead, WordClass::WithoutLead]
                .iter()
                .any(|class| self.is_single(at, *class))
    }

    /// The bytes that tokens take.
    pub(crate) fn bytes(&self, tokens: Range<usize>) -> Range<usize> {
        let start = self.tokens.get(tokens.start).map_or(self.text.len(), |token| token.range.start);
        let end =
            tokens.end.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(start, |token| token.range.end);
        start..end.max(start)
    }

    /// Tokens as they are written.
    pub(crate) fn written(&self, tokens: Range<usize>) -> &'a str {
        &self.text[self.bytes(tokens)]
    }

    /// The property by which a quantity is known here.
    pub(crate) fn path(&self, quantity: Quantity) -> Option<&'static str> {
        let known = self.aids.known;
        let mut paths = self.table.paths(quantity).iter().map(String::as_str).filter(|path| known.has_number(path));
        match quantity {
            // Whoever names a day or a time of it asks what takes place.
            Quantity::Date if self.names_day() => Some(EVENT_START),
            // "Jobs that start in January" asks when they do, and not when they were posted.
            Quantity::Date if self.begin_asked().is_some() => self.begin_asked(),
            // Where items have several dates, most of them tell which one is meant.
            Quantity::Date => {
                let shares = paths.map(|path| (path, known.share(path)));
                shares.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(path, _)| path)
            }
            // The table has the paths of a quantity in the order in which they are preferred.
            _ => paths.next(),
        }
    }

    /// Where it lies when items begin, where the question says that it asks for that.
    fn begin_asked(&self) -> Option<&'static str> {
        // As it is written: what is spelled almost like a word of limits may be read as that.
        let says = |at: usize| BEGINS.contains(&folded(self.written(at..at + 1)).as_str());
        let path = BEGIN_PATHS.iter().copied().find(|path| self.aids.known.has_number(path))?;
        (0..self.tokens.len()).any(says).then_some(path)
    }

    /// Whether the question names a day near today or a time of one, where items take place.
    fn names_day(&self) -> bool {
        *self.names_day.get_or_init(|| {
            let known = self.aids.known;
            let is_event = known.has_number(EVENT_START) && EVENT_DAYS.iter().all(|path| known.has_number(path));
            let is_day = |meaning: &PhraseMeaning| match meaning {
                PhraseMeaning::Weekday(_) | PhraseMeaning::DayPart(..) => true,
                PhraseMeaning::Relative(date) => {
                    matches!(date, RelativeDate::Today | RelativeDate::Tomorrow | RelativeDate::ThisWeekend)
                }
                _ => false,
            };
            let says = |at: usize| self.meanings(at).any(|(meaning, _)| is_day(meaning));
            let is_made = |at: usize| self.class(at, WordClass::Made).is_some();
            is_event && (0..self.tokens.len()).any(says) && !(0..self.tokens.len()).any(is_made)
        })
    }

    /// Whether items have facts that limits are about, or are bare texts.
    pub(crate) fn states_facts(&self) -> bool {
        *self.states_facts.get_or_init(|| {
            let TextProperties { made_of, availability, .. } = &self.table.texts;
            // Nearly every text has a date; it does not make a collection of texts one of things with facts.
            let quantities = Quantity::ALL.into_iter().filter(|quantity| *quantity != Quantity::Date);
            let known = self.aids.known;
            quantities.flat_map(|quantity| self.table.paths(quantity)).any(|path| known.has_number(path))
                // Things that have measures, or properties of their own.
                || self.aids.learnt.all().any(|(_, property)| property.dimension.is_some() || property.is_feature)
                || near::are_placed(known)
                || made_of.iter().chain(availability).any(|path| known.share(path) > 0.0)
                || ["genre", "category", "startDate"].iter().any(|path| known.share(path) > 0.0)
        })
    }

    /// Whether the question is what an item is called.
    pub(crate) fn is_name(&self) -> bool {
        *self.is_name.get_or_init(|| self.aids.known.is_name(self.text))
    }

    /// Whether items state of which classes of an area they are.
    pub(crate) fn states(&self, area: &str) -> bool {
        self.aids.known.states(area)
    }

    /// Whether items can be held against what must not be of a class: they state what they are made of, or some promise to
    /// be free of it.
    pub(crate) fn can_lack(&self, class: &Class) -> bool {
        self.states(&class.area) || self.aids.known.promises(&class.id)
    }

    /// That items must be without what is of a class, where it can be known of them.
    pub(crate) fn without_class(&self, id: &str) -> Option<Filter> {
        let (vocabulary, language) = (self.aids.vocabulary, self.aids.answer_in.as_str());
        let class = vocabulary.class(id).filter(|class| self.can_lack(class))?;
        let exclusion = Exclusion { classes: vec![class.id.clone()], ..Exclusion::default() };
        let words = vocabulary.said_without(&self.class_name(id, ""), language);
        Some(Filter { words, ..exclusion.filter(vocabulary, language) })
    }

    /// Whether an item has a word in a list of what is in it.
    pub(crate) fn is_listed(&self, words: &str) -> bool {
        let learnt = self.aids.learnt.texts();
        self.table
            .texts
            .lists
            .iter()
            .map(String::as_str)
            .chain(learnt)
            .any(|path| self.aids.known.has_word(path, words))
    }

    /// What a class is called in the language of the answer: as it was written, if it is called so there.
    pub(crate) fn class_name(&self, id: &str, written: &str) -> String {
        let language = self.aids.answer_in.as_str();
        let Some(class) = self.aids.vocabulary.class(id) else { return id.to_owned() };
        let is_called =
            |name: &String| written.strip_prefix(name.as_str()).is_some_and(|rest| matches!(rest, "" | "s" | "es"));
        if class.names(language).iter().any(is_called) {
            return written.to_owned();
        }
        // Ids are English, in the plural where names are in the singular.
        let (name, plural) = (class.name(language), id.replace('-', " "));
        if language == "en" && plural.starts_with(name) { plural } else { name.to_owned() }
    }

    /// A wording in the language of the answer.
    pub(crate) fn say(&self, key: &str, values: &[&str]) -> String {
        self.aids.lexicon.say(self.aids.answer_in.as_str(), key, values)
    }

    /// A number in the language of the answer.
    pub(crate) fn spell(&self, number: f64) -> String {
        self.aids.spell(number)
    }

    /// A time in the language of the answer: `45 minutes`, `1.5 hours`.
    pub(crate) fn spell_minutes(&self, minutes: f64) -> String {
        let (value, one, many) =
            if minutes >= 60.0 { (minutes / 60.0, "hour", "hours") } else { (minutes, "minute", "minutes") };
        let value = (value * 100.0).round() / 100.0;
        format!("{} {}", self.spell(value), self.say(if value == 1.0 { one } else { many }, &[]))
    }
}

/// People for whom a German compound says that a thing is, without accents.
const FOR_PEOPLE: &[&str] = &["kinder", "damen", "herren", "baby", "madchen", "jungen", "jugend", "senioren"];
/// Letters of the thing.
const THING_LETTERS_MIN: usize = 3;

/// Tokens with "Kinderhelm" as two, where no item is called so and some is a helmet: what a compound is for is a limit.
fn apart(text: &str, tokens: Vec<QuestionToken>, aids: ReadingAids<'_>) -> Vec<QuestionToken> {
    let split = |token: &QuestionToken| -> Option<(&'static str, String)> {
        let people = FOR_PEOPLE.iter().find(|people| token.word.starts_with(**people))?;
        let thing = token.word.get(people.len()..).filter(|thing| thing.chars().count() >= THING_LETTERS_MIN)?;
        let is_thing = aids.known.has_written(thing) || !aids.vocabulary.subjects_in(&[thing]).is_empty();
        let is_known =
            |phrase: &&str| phrase.split(' ').all(|word| aids.known.has_written(word)) && aids.known.finds(phrase, &[]);
        let is_one =
            aids.known.has_written(&token.word) || aids.vocabulary.synonyms_of(&token.word).iter().any(is_known);
        (is_thing && !is_one && token.is_word()).then(|| (*people, thing.to_owned()))
    };
    let mut all = Vec::with_capacity(tokens.len());
    for token in tokens {
        // Letters with an accent are as many as those without.
        let cut = split(&token).and_then(|(people, thing)| {
            let (at, _) = text[token.range.clone()].char_indices().nth(people.len())?;
            Some((token.range.start + at, people, thing))
        });
        match cut {
            Some((at, people, thing)) => {
                let part = |word: String, range| QuestionToken { range, word, is_joined: false, ..token.clone() };
                all.push(QuestionToken {
                    is_joined: token.is_joined,
                    ..part(people.to_owned(), token.range.start..at)
                });
                all.push(part(thing, at..token.range.end));
            }
            None => all.push(token),
        }
    }
    all
}

/// The value of one family with the first token, where neither the rules nor any item have the word itself.
fn related<'a>(
    tokens: &[QuestionToken],
    learnt: &[(&LearntMeaning, usize)],
    aids: ReadingAids<'a>,
) -> Option<&'a LearntMeaning> {
    let word = &tokens.first().filter(|token| token.is_word() && learnt.is_empty())?.word;
    let related = aids.learnt.related(word)?;
    (aids.lexicon.meanings(tokens).is_empty() && !aids.known.has_written(word)).then_some(related)
}

/// The word of a limit that the first token is spelled almost like, where it says nothing itself: neither to the rules
/// nor to any item.
fn almost(tokens: &[QuestionToken], learnt: &[(&LearntMeaning, usize)], aids: ReadingAids<'_>) -> Option<String> {
    let word = &tokens.first().filter(|token| token.is_word())?.word;
    // Asked of every word of a question: what nearly all of them fail comes first.
    let meant = aids.lexicon.almost(word).filter(|_| !BEGINS.contains(&word.as_str()))?;
    let says_something = !learnt.is_empty()
        || !aids.lexicon.meanings(tokens).is_empty()
        || aids.known.has_written(word)
        || !aids.vocabulary.synonyms_of(word).is_empty();
    (!says_something).then(|| meant.to_owned())
}
