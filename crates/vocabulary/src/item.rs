//! Of which classes an item is, judged text by text.

use crate::class_set::ClassSet;
use crate::judge::{ClassJudgement, JudgeBuffers, PromiseReach, judge};
use crate::roles::{RoleKind, TextRole};
use crate::vocabulary::Vocabulary;

/// Of which classes one phrase is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PhraseClasses {
    /// Ids of the classes that it is of.
    pub of: Vec<String>,
    /// Ids of the classes that it promises not to be of.
    pub free_of: Vec<String>,
}

/// Of which classes an item is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ItemClasses {
    /// Ids of the areas in which it states what it is made of.
    pub stated: Vec<String>,
    /// Ids of the classes that it is of.
    pub of: Vec<String>,
    /// Ids of the classes that it promises not to be of, where nothing that it says contradicts it.
    pub free_of: Vec<String>,
}

/// Judges items one after the other.
#[derive(Debug, Default)]
pub struct ClassJudge {
    buffers: JudgeBuffers,
}

impl ClassJudge {
    /// Of which classes an item in this language is that has these texts.
    pub fn judge(&mut self, vocabulary: &Vocabulary, language: &str, texts: &[(TextRole, &str)]) -> ItemClasses {
        let mut promised = ClassSet::default();
        let promises = texts.iter().filter(|(role, _)| role.kind == RoleKind::Promised);
        promises.for_each(|(_, text)| promised = promised.with(vocabulary.promised_by(text)));
        let Some(phrases) = vocabulary.phrases(language) else {
            return vocabulary.named_classes(0, ClassJudgement { of: ClassSet::default(), free: promised });
        };
        let stated = texts.iter().filter(|(role, _)| role.kind == RoleKind::Stated);
        let stated = stated.fold(0, |areas, (role, _)| areas | role.areas);
        let mut found = ClassJudgement { of: ClassSet::default(), free: promised };
        for (role, text) in texts {
            let reach = match role.kind {
                RoleKind::Named => PromiseReach::Text,
                RoleKind::Stated => PromiseReach::Words,
                // Prose is read for items that state what they are made of, which it can contradict.
                RoleKind::AlsoRead if stated != 0 => PromiseReach::Words,
                RoleKind::AlsoRead | RoleKind::Promised => continue,
            };
            let judged = judge(text, language, phrases, reach, &mut self.buffers);
            // Only classes of the areas for which this property is read: a word may name things of several.
            found.of = found.of.with(vocabulary.with_holders(judged.of).only(role.classes));
            // What a list of parts promises is about the part: "gluten-free oats" makes no cake gluten-free.
            if role.kind == RoleKind::Named {
                found.free = found.free.with(judged.free.only(role.classes));
            }
        }
        vocabulary.named_classes(stated, found)
    }
}

impl Vocabulary {
    /// Of which classes a phrase is, such as one of a list of ingredients. Empty in languages without words.
    pub fn classes_in(&self, phrase: &str, language: &str) -> PhraseClasses {
        let phrases = self.phrases(language);
        let mut buffers = JudgeBuffers::default();
        let judged = phrases.map(|phrases| judge(phrase, language, phrases, PromiseReach::Words, &mut buffers));
        let judged = judged.unwrap_or_default();
        let of = self.with_holders(judged.of);
        PhraseClasses { of: self.ids(of), free_of: self.ids(judged.free.without(of)) }
    }

    /// What the texts of the property at a dot path say of an item's classes. `None`: they are not read.
    pub fn text_role(&self, path: &str) -> Option<TextRole> {
        self.text_roles.get(path).copied()
    }

    /// Whether items of a language can be judged.
    pub fn speaks(&self, language: &str) -> bool {
        self.phrases(language).is_some()
    }

    /// What a value of a property such as `suitableForDiet` promises.
    fn promised_by(&self, value: &str) -> ClassSet {
        let value = value.trim().rsplit(['/', '#', ':']).next().unwrap_or_default();
        let diets = self.diets.iter().filter(|diet| diet.stated_as.iter().any(|name| name.eq_ignore_ascii_case(value)));
        let classes = diets.flat_map(|diet| &diet.without).filter_map(|id| self.class_ids.get(id));
        classes.fold(ClassSet::default(), |set, at| set.with(self.absent_with[*at]))
    }

    fn named_classes(&self, stated: u64, mut found: ClassJudgement) -> ItemClasses {
        for (at, class) in self.classes.iter().enumerate().filter(|(_, class)| !class.all_of.is_empty()) {
            let parts = || class.all_of.iter().filter_map(|id| self.class_ids.get(id));
            if parts().all(|part| found.of.has(*part)) {
                found.of.add(at);
            } else if parts().any(|part| found.free.has(*part)) {
                found.free.add(at);
            }
        }
        let stated = self.areas.iter().enumerate().filter(|(at, _)| stated >> at & 1 == 1);
        ItemClasses {
            stated: stated.map(|(_, area)| area.id.clone()).collect(),
            of: self.ids(found.of),
            // A promise that the item itself contradicts is not believed: "vegan" beside butter among the ingredients.
            free_of: self.ids(found.free.without(found.of)),
        }
    }

    /// The classes with those that include them.
    fn with_holders(&self, classes: ClassSet) -> ClassSet {
        if classes.is_empty() {
            classes
        } else {
            classes.iter().fold(classes, |all, class| all.with(self.is_also[class]))
        }
    }

    fn ids(&self, classes: ClassSet) -> Vec<String> {
        if classes.is_empty() {
            return Vec::new();
        }
        classes.iter().filter_map(|at| self.classes.get(at)).map(|class| class.id.clone()).collect()
    }
}
