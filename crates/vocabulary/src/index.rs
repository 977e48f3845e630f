//! The ways by which a vocabulary is asked: names, synonyms and phrases, by language.

use std::collections::HashMap;

use crate::absent::AbsenceSigns;
use crate::class::{Class, WordsByLanguage};
use crate::class_set::ClassSet;
use crate::denial::Denials;
use crate::file::AbsenceTable;
use crate::own_names::{NameKind, OwnName};
use crate::phrases::{Phrases, Sign};
use crate::roles::text_roles;
use crate::vocabulary::Vocabulary;
use crate::words::{LANGUAGES, compared};

/// Finds out which classes are of which. The id of a class that includes itself, if there is one.
pub(crate) fn close(out: &mut Vocabulary) -> Option<String> {
    let classes = &out.classes;
    out.class_ids = classes.iter().enumerate().map(|(at, class)| (class.id.clone(), at)).collect();
    let includes: Vec<Vec<usize>> = classes
        .iter()
        .map(|class| class.includes.iter().filter_map(|id| out.class_ids.get(id).copied()).collect())
        .collect();
    let mut within = vec![None; classes.len()];
    for (at, class) in classes.iter().enumerate() {
        if descend(at, &includes, &mut within, &mut Vec::new()).is_none() {
            return Some(class.id.clone());
        }
    }
    let within: Vec<ClassSet> = within.into_iter().map(Option::unwrap_or_default).collect();
    let holders = |class: usize| (0..classes.len()).filter(|holder| within[*holder].has(class)).collect::<Vec<_>>();
    let set = |all: Vec<usize>| all.into_iter().fold(ClassSet::default(), |set, class| set.with(ClassSet::of(class)));
    out.is_also = (0..classes.len()).map(|class| set(holders(class))).collect();
    // A class that is narrow says nothing of those that it includes: lactose-free cheese is still dairy.
    let absent = |(at, class): (usize, &Class)| if class.is_narrow { ClassSet::of(at) } else { within[at] };
    out.absent_with = classes.iter().enumerate().map(absent).collect();
    None
}

/// All classes of a class, itself among them. `None`: they lead back to it.
fn descend(
    class: usize,
    includes: &[Vec<usize>],
    within: &mut [Option<ClassSet>],
    path: &mut Vec<usize>,
) -> Option<ClassSet> {
    if path.contains(&class) {
        return None;
    }
    if let Some(known) = within[class] {
        return Some(known);
    }
    path.push(class);
    let mut all = ClassSet::of(class);
    for inner in &includes[class] {
        all = all.with(descend(*inner, includes, within, path)?);
    }
    path.pop();
    within[class] = Some(all);
    Some(all)
}

/// Makes the indexes of a vocabulary whose lists are complete, but for its phrases, which are made when a text asks for
/// them. Names of a deployment go before those of the program.
pub(crate) fn index(out: &mut Vocabulary, own: &[OwnName]) {
    let of_area = |area: &str| {
        let own = out.classes.iter().enumerate().filter(|(_, class)| class.area == area);
        own.fold(ClassSet::default(), |set, (at, _)| set.with(ClassSet::of(at)))
    };
    let said = out.absence.iter().filter_map(|(code, table)| Some((code.clone(), table.said.clone()?)));
    out.without_words = said.collect();
    out.denials = Denials::of(&out.absence);
    out.absence_signs = AbsenceSigns::of(&out.absence);
    out.text_roles = text_roles(&out.areas, of_area);
    for language in LANGUAGES {
        let mut names = HashMap::new();
        for own in own.iter().filter(|own| own.kind == NameKind::Class && own.language == language) {
            if let Some(at) = out.class_ids.get(&own.id) {
                names.entry(compared(&own.name, language)).or_insert(*at);
            }
        }
        for (at, class) in out.classes.iter().enumerate() {
            for name in class.names(language) {
                // The first class keeps a name that several have.
                names.entry(compared(name, language)).or_insert(at);
            }
        }
        out.class_names.push(names);
        let mut names = HashMap::new();
        for (at, kind) in out.kinds.iter().enumerate() {
            for name in kind.names(language) {
                names.entry(compared(name, language)).or_insert(at);
            }
        }
        out.kind_names.push(names);
    }
}

impl Vocabulary {
    /// The phrases of a language, if any of it are known.
    pub(crate) fn phrases(&self, language: &str) -> Option<&Phrases> {
        let at = LANGUAGES.iter().position(|code| *code == language)?;
        Some(self.phrases[at].get_or_init(|| phrases(self, LANGUAGES[at]))).filter(|phrases| !phrases.is_empty())
    }
}

/// What the phrases of a language say, by an indexed vocabulary.
fn phrases(of: &Vocabulary, language: &str) -> Phrases {
    let mut phrases = Phrases::default();
    add_classes(of, language, &mut phrases);
    add_promises(of, language, &mut phrases);
    for word in of.neutral.get(language).into_iter().flatten() {
        phrases.add(word, language, |meaning| meaning.is_neutral = true);
    }
    let absence = of.absence.iter().filter(|(code, _)| code == language);
    absence.for_each(|(_, table)| add_signs(table, language, &mut phrases));
    phrases
}

fn add_classes(out: &Vocabulary, language: &str, phrases: &mut Phrases) {
    for (at, class) in out.classes.iter().enumerate() {
        for name in words(&class.names, language) {
            phrases.add(name, language, |meaning| {
                meaning.of.add(at);
                meaning.named = meaning.named.with(out.absent_with[at]);
            });
        }
        for member in words(&class.usually, language) {
            phrases.add(member, language, |meaning| meaning.usually.add(at));
        }
        for member in words(&class.members, language) {
            phrases.add(member, language, |meaning| meaning.of.add(at));
        }
    }
    // What is no dairy is no butter either.
    for (at, class) in out.classes.iter().enumerate() {
        let inside = (0..out.classes.len()).filter(|inner| out.is_also[*inner].has(at));
        let inside = inside.fold(ClassSet::default(), |set, inner| set.with(ClassSet::of(inner)));
        for exception in class.exceptions.get(language).into_iter().flatten() {
            phrases.add(exception, language, |meaning| meaning.not = meaning.not.with(inside));
        }
    }
}

fn words<'w>(words: &'w WordsByLanguage, language: &str) -> &'w [String] {
    words.get(language).map_or(&[], Vec::as_slice)
}

fn add_promises(out: &Vocabulary, language: &str, phrases: &mut Phrases) {
    for diet in &out.diets {
        let classes = diet.without.iter().filter_map(|id| out.class_ids.get(id));
        let promised = classes.fold(ClassSet::default(), |set, at| set.with(out.absent_with[*at]));
        for word in diet.promises.get(language).into_iter().flatten() {
            phrases.add(word, language, |meaning| meaning.promised = meaning.promised.with(promised));
        }
    }
}

fn add_signs(table: &AbsenceTable, language: &str, phrases: &mut Phrases) {
    let lists = [
        (&table.before, Sign::Before),
        (&table.between, Sign::Between),
        (&table.after, Sign::After),
        (&table.joining, Sign::Joining),
        (&table.unless, Sign::Nothing),
    ];
    for (words, sign) in lists {
        words.iter().for_each(|word| phrases.add(word, language, |meaning| meaning.sign = Some(sign)));
    }
    table.endings.iter().for_each(|ending| phrases.add_ending(ending, language));
}
