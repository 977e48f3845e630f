//! From what files declare to a vocabulary, with every problem between them.

use std::hash::{Hash, Hasher};
use std::path::Path;

use forecourt_settings::{Problem, Problems, Section, nearest};

use crate::class::{Class, ItemKind, ItemValue, WordsByLanguage};
use crate::file::{DeclaredTable, PropertyTable, SynonymGroup, ValueTable, VocabularyFile};
use crate::index::{close, index};
use crate::limits::{AREAS_MAX, CLASSES_MAX, KINDS_MAX, SYNONYMS_MAX, WORDS_MAX};
use crate::own_names::{OwnName, add_words, notice, own_names};
use crate::synonym::{OwnSynonyms, ReplacedList, replaced_lists};
use crate::vocabulary::Vocabulary;
use crate::words::compared;

/// Puts files together.
#[derive(Default)]
pub(crate) struct Builder {
    out: Vocabulary,
    /// Lists of ids of classes: where they stand, their key, and they.
    references: Vec<(Section, &'static str, Vec<String>)>,
    /// Where the area of a class is named.
    areas_named: Vec<(Section, String)>,
    /// What comes with the program, where files of a deployment are added to it.
    shipped: Option<ShippedCounts>,
    /// The names that these give.
    own_names: Vec<OwnName>,
    /// Groups of words that mean the same, and where they stand.
    pub(crate) synonyms: Vec<DeclaredTable<SynonymGroup>>,
    revision: RevisionHasher,
    problems: Problems,
}

/// How many kinds, properties and values come with the program.
struct ShippedCounts {
    kinds: usize,
    properties: usize,
    values: usize,
}

impl Builder {
    /// Begins with what was read before, whose revision is that of its files.
    pub(crate) fn with(read: Vocabulary) -> Self {
        let revision = RevisionHasher(read.revision);
        let shipped =
            ShippedCounts { kinds: read.kinds.len(), properties: read.properties.len(), values: read.values.len() };
        Self { out: read, revision, shipped: Some(shipped), ..Self::default() }
    }

    /// Reads one more file, whose words go before those of the files that were read already.
    pub(crate) fn read(&mut self, file: &Path, text: &str) {
        // Before reading: the revision is that of the text, so that any edit of a file has its items judged anew.
        text.hash(&mut self.revision);
        let Some(read) = VocabularyFile::read(file, text, &mut self.problems) else { return };
        let is_own = self.shipped.is_some();
        if is_own {
            self.own_names.extend(own_names(&read));
        }
        for DeclaredTable { section, value } in read.areas {
            if self.is_id(&section, &value.id) {
                let area = entry(&mut self.out.areas, |area| area.id == value.id);
                area.id = value.id;
                add_new(&mut area.stated_by, value.stated_by);
                add_new(&mut area.named_by, value.named_by);
                add_new(&mut area.also_read, value.also_read);
                add_new(&mut area.promised_by, value.promised_by);
            }
        }
        for class in read.classes {
            self.add_class(class);
        }
        for DeclaredTable { section, value } in read.diets {
            if !self.is_id(&section, &value.id) {
                continue;
            }
            let diet = entry(&mut self.out.diets, |diet| diet.id == value.id);
            diet.id = value.id;
            add_new(&mut diet.without, value.without.iter().cloned());
            add_new(&mut diet.stated_as, value.stated_as);
            for (code, words) in value.words {
                add_words(diet.names.entry(code.clone()).or_default(), words.names, is_own);
                add_new(diet.promises.entry(code).or_default(), words.promises);
            }
            self.references.push((section, "without", value.without));
        }
        for DeclaredTable { value, .. } in read.kinds {
            let kind = entry(&mut self.out.kinds, |kind: &ItemKind| kind.types == value.types);
            kind.types = value.types;
            for (code, words) in value.words {
                add_words(kind.names.entry(code).or_default(), words.names, is_own);
            }
        }
        self.add_stated(read.properties, read.values);
        self.synonyms.extend(read.synonyms);
        read.neutral.into_iter().for_each(|(code, words)| add_new(self.out.neutral.entry(code).or_default(), words));
        self.out.absence.extend(read.absence);
    }

    /// Adds what items state: properties, and values that people call otherwise.
    fn add_stated(&mut self, properties: Vec<DeclaredTable<PropertyTable>>, values: Vec<DeclaredTable<ValueTable>>) {
        let is_own = self.shipped.is_some();
        for DeclaredTable { section, value } in properties {
            if self.is_id(&section, &value.id) {
                let property = entry(&mut self.out.properties, |property| property.id == value.id);
                property.id = value.id;
                add_new(&mut property.paths, value.paths);
                property.rules_out |= value.rules_out;
                property.named_only |= value.named_only;
                property.more_will_do |= value.more_will_do;
                property.less_will_do |= value.less_will_do;
                property.stated_if_so |= value.stated_if_so;
                for (code, words) in value.words {
                    add_words(property.names.entry(code.clone()).or_default(), words.names, is_own);
                    add_new(property.least.entry(code.clone()).or_default(), words.least);
                    add_new(property.most.entry(code.clone()).or_default(), words.most);
                    add_new(property.less.entry(code.clone()).or_default(), words.less);
                    add_new(property.more.entry(code.clone()).or_default(), words.more);
                    add_new(property.absent.entry(code).or_default(), words.absent);
                }
            }
        }
        for DeclaredTable { section, value } in values {
            if self.is_id(&section, &value.id) {
                let known: &mut ItemValue = entry(&mut self.out.values, |known| known.id == value.id);
                known.id = value.id;
                known.ages = value.ages.or(known.ages);
                known.area = value.area.or(known.area);
                known.only_of = value.only_of.or(known.only_of.take());
                add_new(&mut known.values, value.values);
                add_new(&mut known.also, value.also);
                for (code, words) in value.words {
                    add_words(known.names.entry(code).or_default(), words.names, is_own);
                }
                // A file may add names to a value that is there; a new one says what it is.
                let fault = match (known.values.is_empty(), known.ages) {
                    (true, None) => Some("a `[[value]]` needs `values`, as items write it, or `ages`"),
                    (_, Some((from, to))) if from > to => Some("`ages` go from the younger to the older: `[16, 60]`"),
                    _ => None,
                };
                self.problems.extend(fault.map(|fault| section.problem(Some("id"), fault)));
            }
        }
    }

    /// Adds a class, or adds to one that is there: a member is no exception any more, and the other way round.
    fn add_class(&mut self, DeclaredTable { section, value }: DeclaredTable<crate::file::ClassTable>) {
        if !self.is_id(&section, &value.id) {
            return;
        }
        let is_own = self.shipped.is_some();
        let is_new = !self.out.classes.iter().any(|class| class.id == value.id);
        if is_new && value.area.is_none() {
            let message = format!("the class `{}` needs an `area`, or the file a `class_area`", value.id);
            self.problems.push(section.problem(Some("id"), message));
            return;
        }
        let class: &mut Class = entry(&mut self.out.classes, |class| class.id == value.id);
        class.id = value.id;
        if let (Some(area), true) = (value.area, is_new) {
            class.area.clone_from(&area);
            self.areas_named.push((section.clone(), area));
        }
        // A file can make a class narrow and not take that back: what it leaves out can't be told from `false`.
        class.is_narrow |= value.narrow;
        add_new(&mut class.includes, value.includes.iter().cloned());
        add_new(&mut class.all_of, value.all_of.iter().cloned());
        for (code, words) in value.words {
            // Both lists answer for one phrase, and the file that was read last decides which one.
            drop_from(class.exceptions.entry(code.clone()).or_default(), &words.members, &code);
            drop_from(class.exceptions.entry(code.clone()).or_default(), &words.usually, &code);
            drop_from(class.members.entry(code.clone()).or_default(), &words.exceptions, &code);
            drop_from(class.usually.entry(code.clone()).or_default(), &words.exceptions, &code);
            add_words(class.names.entry(code.clone()).or_default(), words.names, is_own);
            add_new(class.members.entry(code.clone()).or_default(), words.members);
            add_new(class.usually.entry(code.clone()).or_default(), words.usually);
            add_new(class.exceptions.entry(code).or_default(), words.exceptions);
        }
        self.references.push((section.clone(), "all_of", value.all_of));
        self.references.push((section, "includes", value.includes));
    }

    /// Everything together, ready to answer.
    pub(crate) fn build(mut self) -> Result<Vocabulary, Problems> {
        // Only now: a file may name a class of one that is read after it.
        self.check_references();
        self.check_bounds();
        if let Some(cycle) = close(&mut self.out) {
            let message = format!("the class `{cycle}` includes itself, by way of what it includes");
            // Where it stands, or, of one that comes with the program, what leads back to it.
            let own = self.references.iter().rev().find(|(section, _, _)| section.text("id") == Some(&cycle));
            let place = own.or_else(|| self.references.iter().rev().find(|(_, _, ids)| ids.contains(&cycle)));
            self.problems.push(match place {
                Some((section, key, _)) => section.problem(Some(key), message),
                None => Problem::of_file(Path::new(Vocabulary::FOLDER), message),
            });
        }
        self.problems.into_result(())?;
        let mut out = self.out;
        out.revision = self.revision.finish();
        if let Some(shipped) = self.shipped {
            let collisions = self.own_names.iter().filter_map(OwnName::collision);
            out.notices = collisions.chain(self.synonyms.iter().flat_map(replaced_words)).collect();
            // Where several fit, the first one counts: those of the deployment go before those of the program.
            out.kinds.rotate_left(shipped.kinds);
            out.properties.rotate_left(shipped.properties);
            out.values.rotate_left(shipped.values);
        }
        out.synonyms = OwnSynonyms::of(self.synonyms.into_iter().map(|group| group.value).collect());
        index(&mut out, &self.own_names);
        Ok(out)
    }

    fn check_references(&mut self) {
        let classes: Vec<String> = self.out.classes.iter().map(|class| class.id.clone()).collect();
        for (section, key, ids) in &self.references {
            for (at, id) in ids.iter().enumerate().filter(|(_, id)| !classes.contains(id)) {
                let problem = section.item_problem(key, at, format!("there is no class `{id}`"));
                self.problems.push(with_nearest(problem, id, &classes));
            }
        }
        let areas: Vec<String> = self.out.areas.iter().map(|area| area.id.clone()).collect();
        for (section, area) in self.areas_named.iter().filter(|(_, area)| !areas.contains(area)) {
            let problem = section.problem(Some("area"), format!("there is no area `{area}`"));
            self.problems.push(with_nearest(problem, area, &areas));
        }
    }

    fn check_bounds(&mut self) {
        let out = &self.out;
        let words = |words: &WordsByLanguage| words.values().map(Vec::len).sum::<usize>();
        let of_class = |class: &Class| {
            words(&class.names) + words(&class.members) + words(&class.usually) + words(&class.exceptions)
        };
        let all = out.classes.iter().map(of_class).sum::<usize>()
            + self.synonyms.iter().map(|group| words(&group.value.words)).sum::<usize>()
            + words(&out.neutral);
        for (what, count, most) in [
            ("classes", out.classes.len(), CLASSES_MAX),
            ("areas", out.areas.len(), AREAS_MAX),
            ("diets", out.diets.len(), AREAS_MAX),
            ("kinds", out.kinds.len(), KINDS_MAX),
            ("properties", out.properties.len(), KINDS_MAX),
            ("values", out.values.len(), KINDS_MAX),
            ("synonyms", self.synonyms.len(), SYNONYMS_MAX),
            ("words", all, WORDS_MAX),
        ] {
            if count > most {
                let message = format!("there are {count} {what} in all, with those of the program; {most} fit");
                self.problems.push(Problem::of_file(Path::new(Vocabulary::FOLDER), message));
            }
        }
    }

    /// Whether a text can be an id; says so when not.
    fn is_id(&mut self, section: &Section, id: &str) -> bool {
        let is_fine = (1..=32).contains(&id.len())
            && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if !is_fine {
            let message = format!("invalid id `{id}`: an id is up to 32 lower case letters, digits and hyphens");
            self.problems.push(section.problem(Some("id"), message));
        }
        is_fine
    }
}

/// For each word of a group of the deployment what no longer counts of the program's list, with both places.
fn replaced_words(group: &DeclaredTable<SynonymGroup>) -> Vec<String> {
    let tell = |list: ReplacedList| {
        let ReplacedList { language, word, file, lost } = list;
        let message = format!(
            "this `[[synonym]]` takes the place of the program's `{language}` words for `{word}` ({file}.toml): {} no \
             longer counts; add what should",
            lost.join(", ")
        );
        notice(&group.section.problem(Some(language), message))
    };
    replaced_lists(&group.value).into_iter().map(tell).collect()
}

fn with_nearest(problem: Problem, word: &str, known: &[String]) -> Problem {
    match nearest(word, known) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem.hint(format!("known ones are {}", known.join(", "))),
    }
}

/// The entry that fits, else a new one.
fn entry<T: Default>(all: &mut Vec<T>, fits: impl Fn(&T) -> bool) -> &mut T {
    let at = all.iter().position(fits).unwrap_or_else(|| {
        all.push(T::default());
        all.len() - 1
    });
    &mut all[at]
}

fn add_new(all: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}

fn drop_from(words: &mut Vec<String>, gone: &[String], language: &str) {
    if !words.is_empty() && !gone.is_empty() {
        let gone: Vec<String> = gone.iter().map(|word| compared(word, language)).collect();
        words.retain(|word| !gone.contains(&compared(word, language)));
    }
}

/// FNV-1a, which is the same in every process and version.
struct RevisionHasher(u64);

impl Default for RevisionHasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for RevisionHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
