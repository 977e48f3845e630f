//! What a proposal asks for, before anything is looked for: the change that it names, of what, and what shall come
//! out. These are conditions that a plan must keep, and nothing outweighs them.
//!
//! | file | holds |
//! |---|---|
//! | `verbs.rs` | what methods do by their names, and which are one |
//! | `sentences.rs`, `phrases.rs` | what is written of it: denials, what stays, whose a property is |
//! | `owners.rs` | of what entity each member of the output is wanted |

mod owners;
mod phrases;
mod sentences;
pub(crate) mod verbs;

use std::collections::{BTreeMap, BTreeSet};

use forecourt_contract::catalog::LEGACY;
use forecourt_contract::recipe::EACH;
use forecourt_contract::semantic::Impact;
use forecourt_contract::{Catalog, Method, Schema, Semantic, Template};

use crate::meaning::words::{of_name, plain, stem};
use crate::meaning::{Nouns, Place, TypedMember, literals, typed};
pub(crate) use owners::{OwnedMeaning, OwnerSource};
use sentences::{SaidThings, Sentence};
use verbs::{MethodClass, class};

/// What is proposed, as it is read.
pub(crate) struct ProposalTerms<'a> {
    pub(crate) method: &'a Method,
    pub(crate) path: &'a Template,
    pub(crate) sentences: Vec<&'a str>,
    pub(crate) semantic: &'a Semantic,
    pub(crate) input: &'a Schema,
    pub(crate) output: &'a Schema,
}

/// What a proposal asks for.
pub(crate) struct WantedChange<'a> {
    pub(crate) method: &'a Method,
    pub(crate) class: MethodClass,
    pub(crate) impact: Impact,
    pub(crate) is_idempotent: bool,
    pub(crate) nouns: &'a Nouns,
    /// What its path ends in, where the host knows it.
    pub(crate) target: Option<String>,
    /// What the verb is done to, by its path and its sentences.
    pub(crate) objects: BTreeSet<String>,
    /// All that it names.
    pub(crate) named: BTreeSet<String>,
    /// What it says is not meant.
    pub(crate) denied: BTreeSet<String>,
    /// What it says stays as it is.
    pub(crate) kept: BTreeSet<String>,
    /// What it denies, each part of a sentence by itself: words by their stems.
    pub(crate) denied_parts: Vec<BTreeMap<String, String>>,
    /// Changes that it orders, by the stems of their verbs, with whether each is the first.
    pub(crate) orders: Vec<(String, bool)>,
    /// All words that it has.
    pub(crate) words: BTreeSet<String>,
    pub(crate) inputs: Vec<TypedMember<'a>>,
    pub(crate) outputs: Vec<TypedMember<'a>>,
    /// Whether its input requires a member.
    pub(crate) requires: BTreeSet<&'a str>,
    /// Words of its sentences and of its output.
    pub(crate) spoken: BTreeSet<String>,
    /// Stems of the words for its method.
    verbs: Vec<String>,
    /// What its verbs are done to, outwards.
    chains: Vec<Vec<String>>,
    sentences: Vec<Sentence>,
    /// What sentences say owns each property, from its owner outwards.
    said: BTreeMap<String, Vec<Vec<String>>>,
}

impl<'a> WantedChange<'a> {
    /// Reads a proposal against what a host knows.
    pub(crate) fn read(proposed: &ProposalTerms<'a>, nouns: &'a Nouns, catalog: &Catalog) -> WantedChange<'a> {
        let ProposalTerms { method, path, semantic, input, output, .. } = *proposed;
        let in_path: Vec<Vec<String>> = literals(path)
            .map(|(_, words)| nouns.named(&words).into_iter().map(|(.., entity)| entity).collect())
            .collect();
        // What a segment is named by last: the contacts of a supplier are no supplier.
        let target = literals(path).last().and_then(|(_, words)| nouns.suffix(&words)).map(|(_, entity)| entity);
        let nothing = |_: &[String]| None;
        let place = Place { nouns, entity: target.as_deref(), path: None, corrected: &nothing };
        let sentences: Vec<Sentence> = proposed.sentences.iter().map(|text| Sentence::read(text)).collect();
        let mut wanted = WantedChange {
            method,
            class: class(method.as_str(), catalog),
            impact: semantic.impact,
            is_idempotent: semantic.is_idempotent,
            nouns,
            objects: target.iter().cloned().collect(),
            named: in_path.into_iter().flatten().collect(),
            denied: BTreeSet::new(),
            kept: BTreeSet::new(),
            denied_parts: Vec::new(),
            orders: Vec::new(),
            words: literals(path).flat_map(|(_, words)| words).collect(),
            inputs: typed(input, Place { path: Some(path), ..place }),
            outputs: typed(output, place),
            requires: crate::shape::Shape::of(input).required().into_iter().collect(),
            target,
            spoken: BTreeSet::new(),
            verbs: verb_stems(method.as_str(), catalog),
            chains: Vec::new(),
            sentences,
            said: BTreeMap::new(),
        };
        wanted.read_sentences();
        wanted.read_members();
        wanted.read_owners();
        wanted.read_bare_ids();
        wanted
    }

    /// What an input named `id` alone is the id of: of what sentences go out from (the customer of an appointment is
    /// found by the appointment), else of what stands before it in the path.
    fn read_bare_ids(&mut self) {
        let properties = self.properties();
        let members = self.outputs.iter().filter(|member| !member.meaning.is_id());
        let owned: BTreeSet<&String> = members.map(|member| &member.own).collect();
        let owners = owned.into_iter().flat_map(|own| self.sentences.iter().map(move |sentence| (own, sentence)));
        let owners = owners.flat_map(|(own, sentence)| sentence.owners(own, &properties, self.nouns));
        let chains: Vec<Vec<String>> = self.chains.iter().cloned().chain(owners).collect();
        let given: BTreeSet<&String> = self
            .inputs
            .iter()
            .filter(|field| field.is_explicit)
            .filter_map(|field| field.meaning.entity.as_ref())
            .collect();
        let outermost = chains.iter().filter_map(|chain| chain.iter().rev().find(|entity| !given.contains(entity)));
        let outermost: BTreeSet<String> = outermost.cloned().collect();
        let said = match outermost.len() {
            0 => return,
            // Where sentences go out from several things, nothing says which it is.
            1 => outermost.into_iter().next(),
            _ => None,
        };
        for field in self.inputs.iter_mut().filter(|field| field.meaning.is_id() && !field.is_explicit) {
            field.meaning.entity.clone_from(&said);
        }
    }

    fn read_sentences(&mut self) {
        for (nth, sentence) in self.sentences.iter().enumerate() {
            for (entity, is_denied, is_kept) in sentence.named(self.nouns) {
                match (is_denied, is_kept) {
                    (true, _) => self.denied.insert(entity),
                    (false, true) => self.kept.insert(entity),
                    (false, false) => self.named.insert(entity),
                };
            }
            let words = sentence.words.iter().filter(|word| !word.is_denied).map(|word| word.text.clone());
            self.spoken.extend(words);
            self.denied_parts.extend(sentence.denied_parts());
            // What is true afterwards is no order.
            if nth < 2 {
                let orders = sentence.orders().into_iter();
                self.orders.extend(orders.enumerate().map(|(nth, stem)| (stem, nth == 0)));
                let chain = sentence.objects(&self.verbs, self.nouns);
                self.objects.extend(chain.first().cloned());
                self.chains.extend((!chain.is_empty()).then_some(chain));
            }
        }
        // What is named anywhere as meant is not denied as a whole.
        let named = &self.named;
        self.denied.retain(|entity| !named.contains(entity));
    }

    fn read_members(&mut self) {
        for member in self.inputs.iter().chain(&self.outputs) {
            if member.is_explicit {
                self.named.extend(member.meaning.entity.clone());
            }
            self.words.extend(plain(of_name(member.name())));
        }
        self.spoken.extend(self.outputs.iter().flat_map(|member| of_name(member.name())));
        self.words.extend(self.spoken.iter().cloned());
    }

    /// Reads whose each property is, once for all that asks for it.
    fn read_owners(&mut self) {
        let properties = self.properties();
        let members = self.inputs.iter().chain(&self.outputs).filter(|member| !member.meaning.is_id());
        let owned: BTreeSet<&String> = members.map(|member| &member.own).collect();
        let said = owned.into_iter().map(|own| {
            let chains = self.sentences.iter().map(|sentence| sentence.owners(own, &properties, self.nouns));
            // What the first sentence says is said; later ones only repeat it in other words.
            (own.clone(), chains.into_iter().find(|chains| !chains.is_empty()).unwrap_or_default())
        });
        self.said = said.collect();
    }

    /// The words of all members that it wants out.
    fn properties(&self) -> BTreeSet<String> {
        self.outputs.iter().flat_map(|member| plain(of_name(member.name()))).collect()
    }

    /// Whether it changes anything.
    pub(crate) fn is_change(&self) -> bool {
        self.impact != Impact::Informational
    }

    /// What the verbs of sentences are done to.
    pub(crate) fn objects_of(&self, texts: [&str; 2]) -> BTreeSet<String> {
        let said = |text: &str| Sentence::read(text).objects(&self.verbs, self.nouns).into_iter().next();
        texts.into_iter().filter_map(said).collect()
    }

    /// What texts on an endpoint say is done or touched. `changes`: verbs that change something, by their stems.
    pub(crate) fn affirmed(&self, texts: &[&str], changes: &BTreeMap<String, String>) -> SaidThings {
        let mut all = SaidThings::default();
        for text in texts {
            let SaidThings { entities, stems } = Sentence::read(text).affirmed(changes, self.nouns);
            all.entities.extend(entities);
            all.stems.extend(stems);
        }
        all
    }

    /// Whether a word names something that the host knows.
    pub(crate) fn names_entity(&self, word: &str) -> bool {
        self.nouns.suffix(&[word.to_owned()]).is_some()
    }

    /// Whether it wants a list, and no object around it.
    pub(crate) fn wants_list(&self) -> bool {
        self.outputs.iter().any(|member| member.path.first().is_some_and(|first| first == EACH))
    }

    /// Whether a name of it says that a member of its output is of what an endpoint is about.
    pub(crate) fn names(&self, member: &TypedMember<'_>, entity: Option<&str>) -> bool {
        let words = plain(of_name(member.name()));
        let own = self.nouns.suffix(&words).map(|(_, entity)| entity);
        entity.is_some_and(|entity| own.as_deref() == Some(entity) || self.named.contains(entity))
    }

    /// Whether an input may be of an entity, by what its sentences say of it.
    pub(crate) fn input_owner(&self, field: &TypedMember<'_>, entity: &str) -> bool {
        let said = self.said_owners(field);
        said.is_empty() || said.iter().any(|chain| chain.first().is_some_and(|head| head == entity))
    }

    /// Whether it names a role, such as the family doctor's.
    pub(crate) fn names_role(&self, word: &str) -> bool {
        // Words that stand between any two nouns name a role only where they are a part of a name.
        const BETWEEN: [&str; 6] = ["from", "to", "by", "for", "of", "in"];
        let is_in_name = |member: &TypedMember<'_>| of_name(member.name()).iter().any(|found| found == word);
        match BETWEEN.contains(&word) {
            true => self.outputs.iter().any(is_in_name) || self.says_role(word, "", None),
            false => self.names_choice(word),
        }
    }

    /// Whether its sentences say that somebody stands in a role: to the family doctor.
    pub(crate) fn says_role(&self, role: &str, entity: &str, own: Option<&str>) -> bool {
        self.sentences.iter().any(|sentence| sentence.says_role(role, entity, own, self.nouns))
    }

    /// Whether it names a role that chooses one among many, such as the latest.
    pub(crate) fn names_choice(&self, role: &str) -> bool {
        const LAST: [&str; 5] = ["latest", "last", "newest", "recent", "recently"];
        let is_last = LAST.contains(&role);
        self.words.contains(role) || (is_last && LAST.iter().any(|word| self.words.contains(*word)))
    }
}

/// The stems of the words for a method: its own, and that of the HTTP method which it stands for.
fn verb_stems(method: &str, catalog: &Catalog) -> Vec<String> {
    let legacy = LEGACY.iter().filter(|name| catalog.legacy(name).is_some_and(|verb| verb.preferred == method));
    std::iter::once(method).chain(legacy.copied()).map(stem).collect()
}
