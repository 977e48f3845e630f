//! Plans out of sources: the act with what it needs, and a source for each member that is wanted out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use forecourt_contract::recipe::EACH;

use super::admission::AdmittedAct;
use super::assembly::{AssembledOutput, Assembly};
use super::derive::Derivation;
use super::host::{TypedEndpoint, has_property};
use super::need::Need;
use super::rank::{Rank, Ranking};
use super::term::{PlannedCall, Source};
use crate::limits::SEARCH_CHOICES_MAX;
use crate::meaning::{Meaning, TypedMember, is_generic};
use crate::shape::Kinds;
use crate::wanted::{OwnedMeaning, OwnerSource};

/// What plans are put together from.
pub(super) struct Assembler<'w, 'a> {
    pub(super) derivation: &'w Derivation<'w, 'a>,
    pub(super) endpoints: &'a [TypedEndpoint<'a>],
    pub(super) ranking: Ranking,
    pub(super) steps_max: usize,
}

impl<'w, 'a> Assembler<'w, 'a> {
    /// The best plans with this act, or with reads alone, for each reading of the proposal.
    pub(super) fn plans(&self, act: Option<AdmittedAct<'a>>) -> Vec<Assembly<'a>> {
        let Some(act) = act else { return self.with_outputs(None) };
        let ways = self.derivation.arguments(act.endpoint(), true, &[], self.steps_max.saturating_sub(1));
        ways.into_iter().flat_map(|way| self.with_outputs(Some(PlannedCall::act(act, way)))).collect()
    }

    fn with_outputs(&self, act: Option<Arc<PlannedCall<'a>>>) -> Vec<Assembly<'a>> {
        let wanted = self.derivation.wanted;
        if wanted.wants_list() {
            // The result of an act is one object.
            return if act.is_some() { Vec::new() } else { self.whole_lists() };
        }
        let mut plans = vec![Assembly { act, outputs: Vec::new() }];
        let members: Vec<&TypedMember<'_>> = wanted.outputs.iter().filter(|member| member.path.len() == 1).collect();
        // Without a required member, all that are declared are what is promised.
        let is_needed = |member: &TypedMember<'_>| member.is_sure || members.iter().all(|member| !member.is_sure);
        for member in members.iter().filter(|member| is_needed(member)) {
            let mut longer: Vec<(Rank, Assembly<'a>)> = Vec::new();
            for plan in &plans {
                for (owned, source) in self.sources(member, plan.act.as_ref()) {
                    let mut plan = plan.clone();
                    plan.outputs.push(AssembledOutput { name: member.path[0].clone(), source, owned });
                    longer.push((self.ranking.of(&plan, wanted), plan));
                }
            }
            longer.sort_by_key(|(rank, _)| *rank);
            longer.truncate(SEARCH_CHOICES_MAX);
            plans = longer.into_iter().map(|(_, plan)| plan).collect();
        }
        let further = members.iter().filter(|member| !is_needed(member));
        let further: Vec<&&TypedMember<'_>> = further.collect();
        plans.iter_mut().for_each(|plan| self.add_further(plan, &further));
        plans
    }

    /// Plans whose last result is the whole list that is wanted.
    fn whole_lists(&self) -> Vec<Assembly<'a>> {
        let wanted = self.derivation.wanted;
        let fields: Vec<&TypedMember<'_>> =
            wanted.outputs.iter().filter(|field| field.path.len() == 2 && field.path[0] == EACH).collect();
        let fields: Vec<&&TypedMember<'_>> = fields.iter().collect();
        let Some(first) = fields.first() else { return Vec::new() };
        let each = [EACH.to_owned()];
        let mut plans = Vec::new();
        for read in self.derivation.looked_at(&[]) {
            let typed = read.endpoint();
            if self.has_all(typed, &each, &fields) && self.is_of(typed, first, &fields) {
                for call in self.derivation.calls(read, &[], self.steps_max.saturating_sub(1)) {
                    let owned =
                        OwnedMeaning { meaning: first.meaning.clone(), source: OwnerSource::Path, chain: Vec::new() };
                    let output = AssembledOutput { name: String::new(), source: source(&call, Vec::new()), owned };
                    plans.push(Assembly { act: None, outputs: vec![output] });
                }
            }
        }
        plans
    }

    /// Members that need not be there, from calls that are made anyway.
    fn add_further(&self, plan: &mut Assembly<'a>, members: &[&&TypedMember<'_>]) {
        let made: Vec<String> = plan.calls().iter().map(|call| call.key.clone()).collect();
        for member in members {
            let here = self
                .sources(member, plan.act.as_ref())
                .into_iter()
                .find(|(_, source)| source.call().is_some_and(|call| made.contains(&call.key)));
            if let Some((owned, source)) = here {
                plan.outputs.push(AssembledOutput { name: member.path[0].clone(), source, owned });
            }
        }
    }

    /// Where a wanted member can come from, with what it is then read as.
    fn sources(&self, member: &TypedMember<'_>, act: Option<&Arc<PlannedCall<'a>>>) -> Vec<(OwnedMeaning, Source<'a>)> {
        let wanted = self.derivation.wanted;
        let of_act = act.and_then(|act| given_by(act, member));
        let has = |entity: &str, meaning: &Meaning| has_property(self.endpoints, entity, meaning);
        let act_entity = of_act.as_ref().and(act).and_then(|act| act.endpoint().entity.clone());
        let mut found = Vec::new();
        for owned in wanted.owners(member, &has, act_entity.as_deref(), &self.computed()) {
            let act_gives = of_act
                .as_ref()
                .filter(|(_, meaning)| owned.source == OwnerSource::Act || meaning.entity == owned.meaning.entity);
            if let Some((source, _)) = act_gives {
                found.push((owned.clone(), source.clone()));
                continue;
            }
            // What a read says of the thing that is acted on was true before the act.
            let is_acted_on = act.is_some_and(|act| act.endpoint().entity == owned.meaning.entity);
            if is_acted_on && !owned.meaning.is_id() {
                continue;
            }
            found.extend(self.read_sources(member, &owned.meaning).into_iter().map(|source| (owned.clone(), source)));
        }
        found
    }

    fn read_sources(&self, member: &TypedMember<'_>, meaning: &Meaning) -> Vec<Source<'a>> {
        let wanted = self.derivation.wanted;
        let inner: Vec<&TypedMember<'_>> =
            wanted.outputs.iter().filter(|other| other.path.len() > 1 && other.path[0] == member.path[0]).collect();
        let need = |kinds: Kinds| Need { meaning: meaning.clone(), kinds, is_open: false, of_act: false };
        let is_list = inner.iter().any(|member| member.path[1] == EACH);
        let depth = self.steps_max;
        match (is_list, inner.iter().any(|member| member.path.last().is_some_and(|last| last != EACH))) {
            (_, true) => self.objects(member, &inner, is_list),
            (true, false) => self.derivation.lists(&need(inner[0].kinds()), &[], depth),
            (false, false) => self.derivation.scalars(&need(member.kinds()), &[], depth),
        }
    }

    /// Objects with the members that are wanted, as a list or one: from where a result has them under the same names.
    fn objects(&self, member: &TypedMember<'_>, inner: &[&TypedMember<'_>], is_list: bool) -> Vec<Source<'a>> {
        let prefix = if is_list { 2 } else { 1 };
        let fields: Vec<&&TypedMember<'_>> = inner.iter().filter(|field| field.path.len() == prefix + 1).collect();
        let mut found = Vec::new();
        for read in self.derivation.looked_at(&[]) {
            let typed = read.endpoint();
            for place in self.places(typed, member, &fields, is_list) {
                let calls = self.derivation.calls(read, &[], self.steps_max.saturating_sub(1));
                found.extend(calls.iter().map(|call| source(call, place.clone())));
            }
            if is_list && self.has_all(typed, &[], &fields) && self.is_of(typed, member, &fields) {
                let calls = self.derivation.calls_for_each(read, &[], self.steps_max.saturating_sub(1));
                found.extend(calls.iter().map(|call| source(call, Vec::new())));
            }
        }
        found.truncate(SEARCH_CHOICES_MAX);
        found
    }

    /// Where a result has objects with all of these members, and they are what is wanted.
    fn places(
        &self,
        typed: &TypedEndpoint<'_>,
        member: &TypedMember<'_>,
        fields: &[&&TypedMember<'_>],
        is_list: bool,
    ) -> Vec<Vec<String>> {
        let mut places: Vec<Vec<String>> = Vec::new();
        for output in &typed.outputs {
            let Some((_, around)) = output.path.split_last() else { continue };
            let place = match (around.last().is_some_and(|last| last == EACH), is_list) {
                (true, true) => &around[..around.len() - 1],
                (false, false) => around,
                _ => continue,
            };
            if place.iter().any(|name| name == EACH) || places.iter().any(|known| known == place) {
                continue;
            }
            if self.has_all(typed, around, fields) && self.is_of(typed, member, fields) {
                places.push(place.to_vec());
            }
        }
        places
    }

    /// Whether a result has all fields under the same names at a place.
    fn has_all(&self, typed: &TypedEndpoint<'_>, around: &[String], fields: &[&&TypedMember<'_>]) -> bool {
        let has = |field: &&&TypedMember<'_>| {
            typed.outputs.iter().any(|output| {
                let is_here = output.path.len() == around.len() + 1 && output.path.starts_with(around);
                is_here && output.name() == field.name() && output.kinds().meets(field.kinds())
            })
        };
        !fields.is_empty() && fields.iter().all(has)
    }

    /// Whether the objects of a result are what a member is wanted of: by the name of the member, else by what owns
    /// its fields.
    fn is_of(&self, typed: &TypedEndpoint<'_>, member: &TypedMember<'_>, fields: &[&&TypedMember<'_>]) -> bool {
        let wanted = self.derivation.wanted;
        let has = |entity: &str, meaning: &Meaning| has_property(self.endpoints, entity, meaning);
        let computed = self.computed();
        // Names and states alone say nothing of what has them.
        if fields.iter().all(|field| is_generic(&field.own)) && !wanted.names(member, typed.entity.as_deref()) {
            return false;
        }
        let is_owned = |field: &TypedMember<'_>, output: &TypedMember<'_>| {
            let mut owners = wanted.owners(field, &has, None, &computed).into_iter();
            owners.any(|owned| owned.meaning.entity == output.meaning.entity)
        };
        fields.iter().all(|field| {
            let mut alike = typed.outputs.iter().filter(|output| output.name() == field.name());
            alike.any(|output| output.meaning.is_id() == field.meaning.is_id() && is_owned(field, output))
        })
    }

    /// A plan for each entity that a member could be of, where nothing says of which it is.
    pub(super) fn anyones(&self, member: &TypedMember<'_>) -> Vec<Assembly<'a>> {
        let outputs = self.endpoints.iter().flat_map(|typed| &typed.outputs);
        let alike = outputs.filter(|output| output.own == member.own && output.lists() == 0 && !output.meaning.is_id());
        let entities: BTreeSet<&String> = alike.filter_map(|output| output.meaning.entity.as_ref()).collect();
        let mut plans = Vec::new();
        for entity in entities {
            let meaning = Meaning { entity: Some(entity.clone()), ..member.meaning.clone() };
            let need = Need { meaning: meaning.clone(), kinds: member.kinds(), is_open: false, of_act: false };
            let Some(source) = self.derivation.scalars(&need, &[], self.steps_max).into_iter().next() else { continue };
            let owned = OwnedMeaning { meaning, source: OwnerSource::Named, chain: Vec::new() };
            let output = AssembledOutput { name: member.path[0].clone(), source, owned };
            plans.push(Assembly { act: None, outputs: vec![output] });
        }
        plans
    }

    /// What endpoints work out of whatever they are given.
    fn computed(&self) -> BTreeSet<&'a str> {
        self.endpoints.iter().filter(|typed| typed.computes).filter_map(|typed| typed.entity.as_deref()).collect()
    }

    /// Whether a member can come from anywhere at all.
    pub(super) fn is_derivable(&self, member: &TypedMember<'_>) -> bool {
        !self.sources(member, None).is_empty()
    }

    /// What each reading comes to, the best plan first.
    pub(super) fn by_reading(&self, plans: Vec<Assembly<'a>>) -> BTreeMap<Vec<String>, Vec<(Rank, Assembly<'a>)>> {
        let mut readings: BTreeMap<Vec<String>, Vec<(Rank, Assembly<'a>)>> = BTreeMap::new();
        for plan in plans {
            let rank = self.ranking.of(&plan, self.derivation.wanted);
            readings.entry(plan.reading()).or_default().push((rank, plan));
        }
        readings.values_mut().for_each(|plans| plans.sort_by_key(|(rank, _)| *rank));
        readings
    }
}

/// The member of the act's own result that has the same name, or is the same thing.
fn given_by<'a>(act: &Arc<PlannedCall<'a>>, member: &TypedMember<'_>) -> Option<(Source<'a>, Meaning)> {
    let outputs = || act.endpoint().outputs.iter().filter(|output| output.lists() == 0);
    let is_thing = |output: &&TypedMember<'_>| {
        member.is_explicit
            && output.meaning.entity == member.meaning.entity
            && output.meaning.property == member.meaning.property
    };
    let is_name = |output: &&TypedMember<'_>| !member.is_explicit && output.path.len() == 1 && output.own == member.own;
    let found = outputs().find(is_thing).or_else(|| outputs().find(is_name))?;
    let meaning = found.meaning.clone();
    found.kinds().meets(member.kinds()).then(|| (source(act, found.path.clone()), meaning))
}

fn source<'a>(call: &Arc<PlannedCall<'a>>, path: Vec<String>) -> Source<'a> {
    Source::Result { call: Arc::clone(call), path, element: None, meaning: None }
}
