//! Whether a value is what is needed: the same thing, entity and property, and never a name alone.

use super::host::TypedEndpoint;
use super::term::Source;
use crate::meaning::{Meaning, MeaningKind, TypedMember};
use crate::shape::Kinds;
use crate::wanted::WantedChange;

/// A value that something needs.
#[derive(Clone)]
pub(super) struct Need {
    pub(super) meaning: Meaning,
    pub(super) kinds: Kinds,
    /// Whether whoever needs it works with anything of that property, whatever it is of.
    pub(super) is_open: bool,
    /// Whether it is an input of the act.
    pub(super) of_act: bool,
}

/// Holds values against what a proposal says.
#[derive(Clone, Copy)]
pub(super) struct Needs<'w> {
    pub(super) wanted: &'w WantedChange<'w>,
}

impl Needs<'_> {
    /// The fields of the caller that are what is needed.
    pub(super) fn given<'a>(&self, need: &Need, is_list: bool) -> Vec<Source<'a>> {
        let fields = self.wanted.inputs.iter().filter(|field| {
            let of_kind = if is_list { Kinds::ARRAY } else { need.kinds };
            field.path.len() == 1 && field.kinds().meets(of_kind)
        });
        let fields: Vec<&TypedMember<'_>> = fields.filter(|field| self.is_given(field, need)).collect();
        let same_role = fields.iter().filter(|field| field.meaning.role == need.meaning.role);
        let same_role: Vec<&&TypedMember<'_>> = same_role.collect();
        let chosen = if same_role.is_empty() { fields.iter().collect() } else { same_role };
        chosen.into_iter().map(|field| Source::Caller(field.path[0].clone())).collect()
    }

    /// Whether the caller says which one of the entity is meant.
    pub(super) fn names_one(&self, need: &Need) -> bool {
        let mut fields = self.wanted.inputs.iter();
        fields.any(|field| field.meaning.is_id() && field.meaning.entity == need.meaning.entity)
    }

    fn is_given(&self, field: &TypedMember<'_>, need: &Need) -> bool {
        if need.meaning.is_id() || field.meaning.is_id() {
            return need.meaning.is_id() && field.meaning.is_id() && field.meaning.entity == need.meaning.entity;
        }
        if field.meaning.property != need.meaning.property && field.own != need.meaning.property {
            return false;
        }
        if need.is_open || field.meaning.entity == need.meaning.entity {
            return true;
        }
        let Some(entity) = need.meaning.entity.as_deref() else { return false };
        // Of a field that does not say itself what it is of, what is named may be its entity.
        !field.is_explicit
            && self.wanted.input_owner(field, entity)
            && (need.of_act || self.wanted.named.contains(entity))
            && !self.wanted.denied.contains(entity)
    }

    /// Whether a member is what is needed.
    pub(super) fn is_it(&self, typed: &TypedEndpoint<'_>, member: &TypedMember<'_>, need: &Need) -> bool {
        let given = &member.meaning;
        let chooses = given.chooses().is_none_or(|role| self.wanted.names_choice(role));
        let named = |entity: &Option<String>| entity.as_ref().is_some_and(|entity| self.wanted.named.contains(entity));
        let is_same = match (given.is_id(), need.meaning.is_id()) {
            (true, true) => given.entity == need.meaning.entity && self.is_in_role(given, &need.meaning),
            (false, false) if need.is_open => {
                let is_alike = given.property == need.meaning.property || member.own == need.meaning.property;
                let is_money = given.kind == MeaningKind::Money && need.meaning.kind == MeaningKind::Money;
                (is_alike || (is_money && self.wanted.words.contains(&member.own))) && named(&given.entity)
            }
            (false, false) => {
                let is_own = member.own == need.meaning.property && is_only(typed, member);
                let is_same_property = given.property == need.meaning.property || is_own;
                is_same_property && (given.entity == need.meaning.entity || typed.is_part_of(member, &need.meaning))
            }
            _ => false,
        };
        is_same && chooses && member.kinds().meets(need.kinds)
    }

    /// Whether an id stands in the role that is needed, or is said to.
    fn is_in_role(&self, given: &Meaning, needed: &Meaning) -> bool {
        let Some(role) = &needed.role else { return true };
        let entity = needed.entity.as_deref().unwrap_or_default();
        let own = given.role.as_deref();
        given.role == needed.role || (own.is_some() && self.wanted.says_role(role, entity, own))
    }
}

/// Whether no other member of the same entity has the same last name.
fn is_only(typed: &TypedEndpoint<'_>, member: &TypedMember<'_>) -> bool {
    let alike = typed.outputs.iter().filter(|other| {
        other.own == member.own && other.meaning.entity == member.meaning.entity && other.lists() == member.lists()
    });
    alike.count() == 1
}

/// What an input of an endpoint needs.
pub(super) fn need(typed: &TypedEndpoint<'_>, input: &TypedMember<'_>, of_act: bool) -> Need {
    let inner = typed
        .inputs
        .iter()
        .find(|member| member.lists() == 1 && member.path.len() == 2 && member.path[0] == input.path[0]);
    let of = inner.unwrap_or(input);
    // A path carries text, whatever it is read as behind it.
    let kinds = if typed.takes_in_path(input.name()) { Kinds::WORDS } else { of.kinds() };
    Need {
        meaning: of.meaning.clone(),
        kinds,
        is_open: typed.computes && !of.is_explicit && !of.meaning.is_id(),
        of_act,
    }
}
