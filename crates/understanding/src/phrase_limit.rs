//! What a phrase says of the items: values, a yes or a no, ages or colours, and the limits that these are.

use forecourt_vocabulary::{WordClass, folded};

use crate::ages::{self, ADULT};
use crate::exclusion::Exclusion;
use crate::filter::{Filter, Test};
use crate::learnt::{LearntMeaning, LearntProperty, StatedValues, is_of_language};
use crate::level;
use crate::paths::{AGES, SHARE_MIN};
use crate::reader::Reader;
use crate::unit;

/// The area of the vocabulary whose classes are colours.
const COLOURS: &str = "color";
/// The property that items are sorted by.
const CATEGORY: &str = "category";

/// What a phrase says of the items.
pub(crate) struct PhraseLimit<'a> {
    pub(crate) values: Option<StatedIn<'a>>,
    /// A property by the names that items have for it, and whether it has to say yes.
    pub(crate) truth: Option<(Vec<&'a LearntProperty>, bool)>,
    /// Whether the truth is one that nothing leads to: "hardy", and the "garden" of "garden chairs".
    pub(crate) is_bare: bool,
    /// Whether the truth is an adjective in front of a noun: "immergrüne".
    pub(crate) agrees: bool,
    pub(crate) ages: Option<(f64, f64)>,
    pub(crate) colours: Vec<String>,
    pub(crate) written: String,
    pub(crate) end: usize,
}

/// Values, and the properties in which items state them: one says what it is `about`, and another of which `sport` it is.
pub(crate) struct StatedIn<'a> {
    pub(crate) properties: Vec<&'a LearntProperty>,
    /// Where items say in other words how difficult they are, if that is meant.
    pub(crate) other_paths: Vec<String>,
    pub(crate) values: Vec<String>,
}

impl StatedIn<'_> {
    fn paths(&self) -> Vec<String> {
        let own = self.properties.iter().map(|property| &property.stated.path);
        own.chain(&self.other_paths).cloned().collect()
    }
}

impl<'a> PhraseLimit<'a> {
    /// What the longest phrase here says. One word alone says that an item has a feature only where something leads
    /// to it: a garden is a feature of a home, and "garden chairs" are none.
    pub(crate) fn read(reader: &Reader<'a>, at: usize, is_led: bool) -> Option<Self> {
        let longest = reader
            .learnt(at)
            .filter(|(meaning, _)| !matches!(meaning, LearntMeaning::End(..)))
            .map(|(_, end)| end)
            .max();
        let colour = colour(reader, at).filter(|(_, end)| longest.is_none_or(|longest| *end >= longest));
        let end = colour.as_ref().map(|(_, end)| *end).or(longest)?;
        let mut said = Self {
            values: values(reader, at, end, is_led),
            truth: None,
            is_bare: false,
            agrees: false,
            ages: None,
            colours: colour.into_iter().map(|(id, _)| id).collect(),
            written: reader.written(at..end).to_lowercase(),
            end,
        };
        if !said.colours.is_empty() {
            said.values = None;
            return (!reader.is_name()).then_some(said);
        }
        for (meaning, _) in reader.learnt(at).filter(|(_, behind)| *behind == end) {
            match meaning {
                LearntMeaning::Name(property) => {
                    said.add_truth(reader.aids.learnt.get(*property), !is_led && end == at + 1);
                }
                LearntMeaning::Absent(property) => {
                    let property = reader.aids.learnt.get(*property);
                    match &mut said.truth {
                        Some((named, false)) if property.is_truth() => named.push(property),
                        None if property.is_truth() => said.truth = Some((vec![property], false)),
                        _ => {}
                    }
                }
                LearntMeaning::Ages(from, to) if AGES.iter().all(|path| reader.aids.known.has_number(path)) => {
                    said.ages = Some((*from, *to));
                }
                _ => {}
            }
        }
        // The freezer of a "fridge freezer" is what it is, and no feature of it; a rose is no colour.
        if (said.is_bare || said.values.is_some()) && reader.names_shelf(&said.written) {
            (said.truth, said.values) = (None, None);
        }
        let says = said.values.is_some() || said.truth.is_some() || said.ages.is_some();
        // "Part time" alone is what items state, though some are called so, too.
        let is_whole = at == 0
            && end == reader.tokens.len()
            && said.values.as_ref().is_some_and(|stated| stated.properties[0].id.is_some());
        (says && (is_whole || !reader.is_name())).then_some(said)
    }

    /// Adds a property that is named, where items say yes or no of it. `is_alone`: in one word, to which nothing leads.
    fn add_truth(&mut self, property: &'a LearntProperty, is_alone: bool) {
        match &mut self.truth {
            Some((named, true)) if property.is_truth() && named.iter().all(|one| one.is_truth()) => {
                named.push(property);
            }
            None if property.is_truth() || property.is_warning() => {
                self.truth = Some((vec![property], true));
                let is_bare = property.is_feature && is_alone;
                self.agrees = is_bare && agrees(property, &self.written);
                self.is_bare = is_bare && !self.agrees;
            }
            _ => {}
        }
    }

    /// Takes the name of the property that a value is of, which stands beside it and says nothing more: "low intensity",
    /// "intensidad baja". The token where the whole begins.
    pub(crate) fn take_name(&mut self, reader: &Reader<'_>, at: usize, floor: usize) -> usize {
        let Some(stated) = &self.values else { return at };
        let is_it = |meaning: &LearntMeaning| match meaning {
            LearntMeaning::Name(property) => {
                let path = &reader.aids.learnt.get(*property).stated.path;
                stated.properties.iter().any(|one| one.stated.path == *path)
            }
            _ => false,
        };
        let named = |at: usize| reader.learnt(at).find(|(meaning, _)| is_it(meaning)).map(|(_, end)| end);
        if let Some(end) = named(self.end) {
            self.end = end;
            return at;
        }
        let before = at.checked_sub(1).filter(|before| *before >= floor && named(*before) == Some(at));
        before.unwrap_or(at)
    }

    /// Takes another value of the same property. `false`: it is of another one.
    pub(crate) fn join(&mut self, other: Self) -> bool {
        let is_same = match (&mut self.values, other.values) {
            (Some(one), Some(next)) if one.paths().iter().any(|path| next.paths().contains(path)) => {
                let known = one.paths();
                one.properties.extend(next.properties.into_iter().filter(|next| !known.contains(&next.stated.path)));
                one.values.extend(next.values);
                true
            }
            (None, None) if !self.colours.is_empty() && !other.colours.is_empty() => {
                self.colours.extend(other.colours);
                true
            }
            _ => false,
        };
        if is_same {
            self.written = format!("{} / {}", self.written, other.written);
            self.end = other.end;
        }
        is_same
    }

    pub(crate) fn filters(&self, reader: &Reader<'_>) -> Vec<Filter> {
        let language = reader.aids.answer_in.as_str();
        let mut filters = Vec::new();
        if let Some(stated) = self.values.as_ref().filter(|stated| stated.properties[0].rules_out) {
            let name = stated.properties[0].name(language);
            let words = format!("{name}: {}", reader.say("stated_not", &[&self.written]));
            return vec![Filter { fields: stated.paths(), test: Test::NoneOf(stated.values.clone()), words }];
        }
        if !self.colours.is_empty() {
            let ids: Vec<&str> = self.colours.iter().map(String::as_str).collect();
            let words = reader.say("of_colour", &[&self.written]);
            let own = own_colour(reader, &self.colours, &words);
            let of_class = Filter::of_class(&ids, words.clone());
            filters.push(Filter::any_of(std::iter::once(of_class).chain(own).collect(), words));
        }
        if let Some(stated) = &self.values {
            let or_sorted_as = said_as(&self.written).chain(stated.values.iter().cloned()).collect();
            let test = Test::IsOneOf { values: stated.values.clone(), or_sorted_as };
            let words = reader.say("stated_is", &[stated.properties[0].name(language), &self.written]);
            filters.push(Filter { fields: stated.paths(), test, words });
        } else if let Some((properties, is_so)) = &self.truth {
            match properties.first().filter(|first| first.is_warning()) {
                Some(first) => {
                    let fields = vec![first.stated.path.clone()];
                    filters.push(Filter { fields, test: Test::Permits, words: self.written.clone() });
                }
                None => filters.push(truth(reader, properties, *is_so, self.written.clone())),
            }
        }
        // "For women" says whom it is for in two ways: as one limit.
        let said = filters.first().map(|first| first.words.clone());
        let ages = self.ages.map(|(from, to)| ages::ages(reader, from, to, &self.written));
        filters.extend(ages.map(|ages| Filter { words: said.unwrap_or_else(|| ages.words.clone()), ..ages }));
        filters
    }

    /// What states none of some values, or promises to be free of what they name: bread that suits a diet without gluten
    /// need not list its allergens.
    fn or_promised(&self, reader: &Reader<'_>, none_of: Filter) -> Filter {
        let named = |words: &str| reader.aids.vocabulary.class_named(words);
        let class = named(&self.written).or_else(|| named(&folded(&self.written)));
        let class = class.filter(|class| !reader.states(&class.area) && reader.aids.known.promises(&class.id));
        let promised = class.and_then(|class| reader.without_class(&class.id));
        // A diet is no word on traces: where what promises to be free of something states it all the same, only what is
        // stated counts.
        let stating = |values: &Vec<String>| Filter { test: Test::OneOf(values.clone()), ..none_of.clone() };
        let is_contradicted = |promised: &Filter| match &none_of.test {
            Test::NoneOf(values) => reader.aids.known.finds("", &[promised.clone(), stating(values)]),
            _ => false,
        };
        let promised = promised.filter(|promised| !is_contradicted(promised));
        let words = none_of.words.clone();
        Filter::any_of(std::iter::once(none_of).chain(promised).collect(), words)
    }

    /// The limits that it is not so. `None`: another rule knows better.
    pub(crate) fn negated(&self, reader: &Reader<'_>) -> Option<Vec<Filter>> {
        let words = reader.say("stated_not", &[&self.written]);
        if let Some(own) = own_colour(reader, &self.colours, &words).filter(|_| !reader.states(COLOURS)) {
            let test = if let Test::OneOf(values) = own.test { Test::NoneOf(values) } else { own.test };
            return Some(vec![Filter { test, ..own }]);
        }
        if !self.colours.is_empty() {
            let exclusion = Exclusion { classes: self.colours.clone(), ..Exclusion::default() };
            let language = reader.aids.answer_in.as_str();
            return Some(vec![Filter { words, ..exclusion.filter(reader.aids.vocabulary, language) }]);
        }
        if let Some(stated) = &self.values {
            let none_of = Filter { fields: stated.paths(), test: Test::NoneOf(stated.values.clone()), words };
            return Some(vec![self.or_promised(reader, none_of)]);
        }
        if let Some((properties, is_so)) = &self.truth
            && properties.iter().all(|property| property.is_truth())
        {
            return Some(vec![truth(reader, properties, !is_so, words)]);
        }
        // For no children is for adults.
        let is_for_children = self.ages.is_some_and(|(_, to)| to < ADULT);
        is_for_children.then(|| vec![ages::ages(reader, ADULT, f64::from(u8::MAX), &words)])
    }
}

/// Whether a German word is the name of a property as an adjective in front of a noun: "immergrüne".
fn agrees(property: &LearntProperty, written: &str) -> bool {
    let own = property.stated.path.rsplit('.').next().unwrap_or_default().to_lowercase();
    written.strip_prefix(own.as_str()).is_some_and(|ending| ENDINGS.contains(&ending))
}

/// The limit that a property says yes, in its name, or no, in these words: whichever name it has.
fn truth(reader: &Reader<'_>, properties: &[&LearntProperty], is_so: bool, denied: String) -> Filter {
    let name = properties.first().map(|property| property.name(reader.aids.answer_in.as_str()).to_owned());
    let words = name.filter(|_| is_so).unwrap_or(denied);
    let is = |property: &&LearntProperty| Filter {
        words: words.clone(),
        ..Filter::is(&property.stated.path, if is_so { "true" } else { "false" })
    };
    Filter::any_of(properties.iter().map(is).collect(), words.clone())
}

/// How the names of properties end that are colours of something, folded.
const COLOUR_NAMES: [&str; 5] = ["colour", "color", "farbe", "couleur", "colores"];

/// The properties of a site's own that are colours, with their values.
fn own_colours<'a>(reader: &Reader<'a>) -> impl Iterator<Item = (&'a LearntProperty, &'a Vec<String>)> {
    let is_colour = |path: &str| COLOUR_NAMES.iter().any(|name| path.to_lowercase().ends_with(name));
    reader.aids.learnt.all().filter_map(move |(_, property)| match &property.stated.values {
        StatedValues::Texts(values) if is_colour(&property.stated.path) => Some((property, values)),
        _ => None,
    })
}

/// That an item states one of these colours in a property of its own: the colour of its flowers.
fn own_colour(reader: &Reader<'_>, colours: &[String], words: &str) -> Option<Filter> {
    let is_one = |value: &String| {
        let class = reader.aids.vocabulary.class_named(value).filter(|class| class.area == COLOURS);
        class.is_some_and(|class| colours.contains(&class.id))
    };
    let (mut fields, mut of): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for (property, values) in own_colours(reader) {
        let own: Vec<&String> = values.iter().filter(|value| is_one(value)).collect();
        if !own.is_empty() && !fields.contains(&property.stated.path) {
            fields.push(property.stated.path.clone());
            let new: Vec<String> = own.into_iter().filter(|value| !of.contains(value)).cloned().collect();
            of.extend(new);
        }
    }
    (!of.is_empty()).then(|| Filter { fields, test: Test::OneOf(of), words: words.to_owned() })
}

/// Words that tie or deny others, and are no values by themselves.
const GRAMMAR: [WordClass; 7] = [
    WordClass::Not,
    WordClass::Without,
    WordClass::With,
    WordClass::And,
    WordClass::Or,
    WordClass::For,
    WordClass::Article,
];

/// The values that a phrase names, and where items state them. What rules items out stands alone.
fn values<'a>(reader: &Reader<'a>, at: usize, end: usize, is_led: bool) -> Option<StatedIn<'a>> {
    // A 5 year old is nobody's warranty of 5 years.
    if reader.span(at).is_some_and(|span| ages::of_span(reader, &span).is_some()) {
        return None;
    }
    // "Not" is no category of notes, whatever some language calls one of them.
    if end == at + 1 && GRAMMAR.iter().any(|class| reader.is_single(at, *class)) {
        return None;
    }
    let learnt = reader.aids.learnt;
    let here = reader.learnt(at).filter(|(_, behind)| *behind == end);
    let named = here.filter_map(|(meaning, _)| match meaning {
        LearntMeaning::Values(property, values) => Some((learnt.get(*property), values)),
        _ => None,
    });
    let named: Vec<(&LearntProperty, &Vec<String>)> = named.collect();
    // The names of languages have the word in them that leads to them: "in German" says nothing else.
    let is_in_language = |property: &LearntProperty| {
        is_of_language(&property.stated.path) && property.stated.share >= LANGUAGE_SHARE_MIN
    };
    // "IP67", "USB-C 3": a code says nothing else, whatever stands in front of it.
    let written = reader.written(at..end);
    let is_measure = unit::measured(written).is_some();
    let is_code = written.contains(char::is_numeric) && written.contains(char::is_alphabetic) && !is_measure;
    // "Sin experiencia" is what items state, and no ban of the word.
    let says_no = reader.class(at, WordClass::Without).is_some_and(|behind| behind < end);
    let is_limit = |property: &LearntProperty| {
        property.stated.share >= SHARE_MIN
            || property.stated_if_so
            || (property.is_feature && (is_led || is_code))
            || is_in_language(property)
            || says_no
            || reader.share(property) >= SHARE_MIN
    };
    let first = named.iter().find(|(property, _)| is_limit(property))?.0;
    let mut stated = StatedIn { properties: vec![first], other_paths: Vec::new(), values: Vec::new() };
    for (property, values) in named {
        let is_first = property.stated.path == first.stated.path;
        if !is_first && (first.rules_out || property.rules_out) {
            continue;
        }
        if stated.properties.iter().all(|known| known.stated.path != property.stated.path) {
            stated.properties.push(property);
        }
        stated.values.extend(values.iter().filter(|value| !stated.values.contains(value)).cloned().collect::<Vec<_>>());
    }
    // Some items say whose they are in a text, and others in a thing that has a name.
    let with_name = stated.properties.iter().map(|property| format!("{}.name", property.stated.path));
    let has_value = |path: &String| stated.values.iter().any(|value| reader.aids.known.has_value(path, value));
    stated.other_paths = with_name.filter(has_value).collect();
    // "Easy" and "for beginners" are one level, whichever of them items say.
    if let Some((fields, words)) = level::difficulty_in_words(reader, at, end) {
        let known = stated.paths();
        stated.other_paths.extend(fields.into_iter().filter(|path| !known.contains(path)));
        stated.values.extend(words.iter().filter(|word| !stated.values.contains(word)).cloned().collect::<Vec<_>>());
    }
    Some(stated)
}

/// The part of the items of its types that state their language, for one to be a limit.
const LANGUAGE_SHARE_MIN: f64 = 0.2;

/// The names of a phrase of values: "gel / cream" are two.
fn said_as(written: &str) -> impl Iterator<Item = String> {
    written.split(" / ").map(str::to_owned)
}

/// Endings of German adjectives.
const ENDINGS: &[&str] = &["en", "er", "es", "em", "e"];
/// Endings of Spanish and French adjectives, each with the one that colours are named by.
const FORMS: &[(&str, &str)] = &[("a", "o"), ("os", "o"), ("as", "o"), ("s", ""), ("es", "")];

/// Whether items are sorted by a word, or by another one for the same: "vin rouge" lies with the red wines.
fn is_sorted_by(reader: &Reader<'_>, word: &str) -> bool {
    let known = reader.aids.known;
    known.has_word(CATEGORY, word)
        || reader.aids.vocabulary.synonyms_of(word).iter().any(|other| known.has_word(CATEGORY, other))
}

/// A colour that a phrase names, and the token behind it.
fn colour(reader: &Reader<'_>, at: usize) -> Option<(String, usize)> {
    // A word that items are sorted by is no colour: roses are sold in all of them, and "rose" is pink in French.
    let sorts = |at: usize| is_sorted_by(reader, &reader.written(at..at + 1).to_lowercase());
    let is_stated = reader.states(COLOURS) || own_colours(reader).next().is_some();
    if !is_stated || !reader.is_word(at) || sorts(at) {
        return None;
    }
    let vocabulary = reader.aids.vocabulary;
    let ends = (at + 1..=at + 2).rev().filter(|end| (at..*end).all(|token| reader.is_word(token)));
    ends.into_iter().find_map(|end| {
        let written = reader.written(at..end).to_lowercase();
        // "Die schwarzen": German colours agree with what they describe.
        let forms = ENDINGS.iter().filter_map(|ending| written.strip_suffix(ending)).filter(|stem| stem.len() > 2);
        let agreeing =
            FORMS.iter().filter_map(|(ending, base)| Some(format!("{}{base}", written.strip_suffix(ending)?)));
        let forms = std::iter::once(written.clone()).chain(forms.map(str::to_owned)).chain(agreeing);
        let class = forms
            .filter(|form| form.chars().count() > 2)
            .find_map(|form| vocabulary.class_named(&form).filter(|class| class.area == COLOURS))?;
        Some((class.id.clone(), end))
    })
}
