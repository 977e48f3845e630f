//! From what is needed to where it can come from: of the caller, else of a read whose own inputs can come from
//! somewhere. A value is taken only as the thing that it is: entity and property, never a name alone.

use std::cell::Cell;
use std::sync::Arc;

use forecourt_contract::recipe::{EACH, ElementMatch};

use super::admission::AdmittedRead;
use super::host::TypedEndpoint;
use super::need::{Need, Needs, need};
use super::term::{PlannedCall, Source, calls_of};
use crate::limits::{SEARCH_CHOICES_MAX, SEARCH_NODES_MAX};
use crate::meaning::{Meaning, TypedMember};
use crate::shape::Kinds;
use crate::wanted::WantedChange;

/// Finds sources.
pub(super) struct Derivation<'w, 'a> {
    pub(super) wanted: &'w WantedChange<'w>,
    reads: &'w [AdmittedRead<'a>],
    needs: Needs<'w>,
    nodes: Cell<usize>,
}

impl<'w, 'a> Derivation<'w, 'a> {
    pub(super) fn new(wanted: &'w WantedChange<'w>, reads: &'w [AdmittedRead<'a>]) -> Derivation<'w, 'a> {
        Derivation { wanted, reads, needs: Needs { wanted }, nodes: Cell::new(0) }
    }

    /// Whether so much was looked at that the rest was left.
    pub(super) fn is_cut_short(&self) -> bool {
        self.nodes.get() > SEARCH_NODES_MAX
    }

    /// The sources of one value: of the caller where it gives it, else of chains of at most `depth` reads.
    pub(super) fn scalars(&self, need: &Need, visited: &[usize], depth: usize) -> Vec<Source<'a>> {
        let given = self.needs.given(need, false);
        if !given.is_empty() || depth == 0 {
            return given;
        }
        self.nearest(depth, |depth| self.scalars_of_reads(need, visited, depth))
    }

    /// What is found at the least depth at which anything is, and one further: a longer way can be the one that is said.
    fn nearest(&self, depth: usize, find: impl Fn(usize) -> Vec<Source<'a>>) -> Vec<Source<'a>> {
        for least in 1..=depth {
            if find(least).is_empty() {
                continue;
            }
            let mut found = find(depth.min(least + 1));
            found.sort_by_key(|source| calls_of(std::iter::once(source)).len());
            found.truncate(SEARCH_CHOICES_MAX);
            return found;
        }
        Vec::new()
    }

    /// The reads that a value could come of, each counted as it is looked at, until so many were.
    pub(super) fn looked_at(&self, visited: &[usize]) -> impl Iterator<Item = AdmittedRead<'a>> {
        let open = self.reads.iter().copied().filter(|read| !visited.contains(&read.endpoint().at));
        open.take_while(|_| {
            self.nodes.set(self.nodes.get() + 1);
            !self.is_cut_short()
        })
    }

    fn scalars_of_reads(&self, need: &Need, visited: &[usize], depth: usize) -> Vec<Source<'a>> {
        let mut found = Vec::new();
        for read in self.looked_at(visited) {
            let typed = read.endpoint();
            let plain =
                typed.outputs.iter().filter(|member| member.lists() == 0 && self.needs.is_it(typed, member, need));
            let plain: Vec<&TypedMember<'_>> = plain.collect();
            if !plain.is_empty() {
                for call in self.calls(read, visited, depth - 1) {
                    found.extend(plain.iter().map(|member| result(&call, &member.path, None, &member.meaning)));
                }
            }
            found.extend(self.elements(read, need, visited, depth));
        }
        found
    }

    /// The sources of a list of values, one for each element of something.
    pub(super) fn lists(&self, need: &Need, visited: &[usize], depth: usize) -> Vec<Source<'a>> {
        let given = self.needs.given(need, true);
        if !given.is_empty() || depth == 0 {
            return given;
        }
        self.nearest(depth, |depth| self.lists_of_reads(need, visited, depth))
    }

    fn lists_of_reads(&self, need: &Need, visited: &[usize], depth: usize) -> Vec<Source<'a>> {
        let mut found = Vec::new();
        for read in self.looked_at(visited) {
            let typed = read.endpoint();
            let of_one = |member: &&TypedMember<'_>| self.needs.is_it(typed, member, need);
            let listed: Vec<&TypedMember<'_>> =
                typed.outputs.iter().filter(|member| member.lists() == 1).filter(of_one).collect();
            if listed.iter().any(|member| !member.kinds().meets(Kinds::ARRAY) || member.path.contains(&EACH.to_owned()))
            {
                for call in self.calls(read, visited, depth - 1) {
                    found.extend(listed.iter().map(|member| result(&call, &member.path, None, &member.meaning)));
                }
            }
            let plain: Vec<&TypedMember<'_>> =
                typed.outputs.iter().filter(|member| member.lists() == 0).filter(of_one).collect();
            if !plain.is_empty() {
                for call in self.calls_for_each(read, visited, depth - 1) {
                    let each = |member: &&TypedMember<'_>| {
                        let path: Vec<String> = std::iter::once(EACH.to_owned()).chain(member.path.clone()).collect();
                        result(&call, &path, None, &member.meaning)
                    };
                    found.extend(plain.iter().map(each));
                }
            }
        }
        found
    }

    /// One element of a list, where the caller gives what tells which.
    fn elements(&self, read: AdmittedRead<'a>, need: &Need, visited: &[usize], depth: usize) -> Vec<Source<'a>> {
        let typed = read.endpoint();
        let mut found = Vec::new();
        for member in typed.outputs.iter().filter(|member| member.lists() == 1 && self.needs.is_it(typed, member, need))
        {
            let Some(at) = member.path.iter().position(|name| name == EACH) else { continue };
            let (list, then) = (&member.path[..at], &member.path[at + 1..]);
            let keys = typed.outputs.iter().filter(|key| {
                key.path.len() == at + 2 && key.path[..=at] == member.path[..=at] && key.path != member.path
            });
            for key in keys.filter(|key| key.meaning.is_id() && key.meaning.entity == member.meaning.entity) {
                let of_key = Need { meaning: key.meaning.clone(), kinds: key.kinds(), is_open: false, of_act: false };
                let takes_it = typed.needs.iter().any(|name| {
                    typed
                        .input(name)
                        .is_some_and(|input| input.meaning.is_id() && input.meaning.entity == key.meaning.entity)
                });
                let Some(Source::Caller(field)) = self.needs.given(&of_key, false).into_iter().next() else { continue };
                if takes_it || then.is_empty() {
                    continue;
                }
                let element =
                    ElementMatch { member: key.path[at + 1].clone(), field: field.clone(), then: then.to_vec() };
                for call in self.calls(read, visited, depth - 1) {
                    found.push(result(&call, list, Some(element.clone()), &member.meaning));
                }
            }
        }
        found
    }

    /// The calls of a read, with each way to give it what it needs.
    pub(super) fn calls(&self, read: AdmittedRead<'a>, visited: &[usize], depth: usize) -> Vec<Arc<PlannedCall<'a>>> {
        self.arguments(read.endpoint(), false, visited, depth)
            .into_iter()
            .map(|arguments| PlannedCall::read(read, arguments, None))
            .collect()
    }

    /// Each way to give an endpoint what it needs.
    pub(super) fn arguments(
        &self,
        typed: &'a TypedEndpoint<'a>,
        of_act: bool,
        visited: &[usize],
        depth: usize,
    ) -> Vec<Vec<(String, Source<'a>)>> {
        if self.is_cut_short() {
            return Vec::new();
        }
        let visited: Vec<usize> = visited.iter().copied().chain([typed.at]).collect();
        let mut ways: Vec<Vec<(String, Source<'a>)>> = vec![Vec::new()];
        for name in &typed.needs {
            let Some(input) = typed.input(name) else { return Vec::new() };
            let need = need(typed, input, of_act);
            // What is new has nothing yet, and another of its kind is not it: only the caller can say what it is to
            // have, or which one it is to be like.
            let is_new = of_act && typed.is_new(input) && !self.needs.names_one(&need);
            let depth = if is_new { 0 } else { depth };
            let sources = match input.kinds().meets(Kinds::ARRAY) && !input.kinds().meets(Kinds::STRING) {
                true => self.lists(&need, &visited, depth),
                false => self.scalars(&need, &visited, depth),
            };
            ways = product(&ways, name, &sources);
            if ways.is_empty() {
                return ways;
            }
        }
        let given = self.optional(typed, of_act, &ways[0]);
        ways.iter_mut().for_each(|way| way.extend(given.clone()));
        ways
    }

    /// The inputs that an endpoint can do without and the caller gives.
    fn optional(
        &self,
        typed: &TypedEndpoint<'a>,
        of_act: bool,
        way: &[(String, Source<'a>)],
    ) -> Vec<(String, Source<'a>)> {
        let used: Vec<&String> = way
            .iter()
            .filter_map(|(_, source)| if let Source::Caller(name) = source { Some(name) } else { None })
            .collect();
        let open = typed.inputs.iter().filter(|input| input.path.len() == 1 && !typed.needs.contains(input.name()));
        let given = open.filter_map(|input| {
            let is_list = input.kinds().meets(Kinds::ARRAY) && !input.kinds().meets(Kinds::STRING);
            let mut sources = self.needs.given(&need(typed, input, of_act), is_list);
            match (sources.pop(), sources.is_empty()) {
                (Some(Source::Caller(field)), true) if !used.contains(&&field) => {
                    Some((input.name().to_owned(), Source::Caller(field)))
                }
                _ => None,
            }
        });
        given.collect()
    }

    /// The calls of a read for each element of a list that gives the one thing that the caller can't.
    pub(super) fn calls_for_each(
        &self,
        read: AdmittedRead<'a>,
        visited: &[usize],
        depth: usize,
    ) -> Vec<Arc<PlannedCall<'a>>> {
        let typed = read.endpoint();
        let inner: Vec<usize> = visited.iter().copied().chain([typed.at]).collect();
        let mut found = Vec::new();
        if self.is_cut_short() || depth == 0 {
            return found;
        }
        for name in &typed.needs {
            let Some(input) = typed.input(name).filter(|input| input.lists() == 0) else { continue };
            let of_input = need(typed, input, false);
            // What comes as one value is not gone through.
            if !self.needs.given(&of_input, false).is_empty() {
                continue;
            }
            let lists = self.lists(&of_input, &inner, depth);
            let lists = lists.into_iter().filter_map(element);
            let lists: Vec<(Source<'a>, Vec<String>)> = lists.collect();
            if lists.is_empty() {
                continue;
            }
            let mut others: Vec<Vec<(String, Source<'a>)>> = vec![Vec::new()];
            for other in typed.needs.iter().filter(|other| *other != name) {
                let Some(input) = typed.input(other) else { continue };
                others = product(&others, other, &self.needs.given(&need(typed, input, false), false));
            }
            for (list, inside) in &lists {
                for way in &others {
                    let mut arguments = way.clone();
                    arguments.push(((*name).to_owned(), Source::Element(inside.clone())));
                    found.push(PlannedCall::read(read, arguments, Some(list.clone())));
                }
            }
        }
        found
    }
}

fn result<'a>(
    call: &Arc<PlannedCall<'a>>,
    path: &[String],
    element: Option<ElementMatch>,
    meaning: &Meaning,
) -> Source<'a> {
    Source::Result { call: Arc::clone(call), path: path.to_vec(), element, meaning: Some(meaning.clone()) }
}

/// A list to go through, and what is taken of each of its elements. `None`: it is not of a result.
fn element(list: Source<'_>) -> Option<(Source<'_>, Vec<String>)> {
    let Source::Result { call, path, element: None, meaning } = list else { return None };
    let at = path.iter().position(|name| name == EACH)?;
    let (list, inside) = (path[..at].to_vec(), path[at + 1..].to_vec());
    Some((Source::Result { call, path: list, element: None, meaning }, inside))
}

/// Each way with each source of one input more, within the bound.
fn product<'a>(
    ways: &[Vec<(String, Source<'a>)>],
    name: &str,
    sources: &[Source<'a>],
) -> Vec<Vec<(String, Source<'a>)>> {
    let with = |way: &Vec<(String, Source<'a>)>, source: &Source<'a>| {
        let mut way = way.clone();
        way.push((name.to_owned(), source.clone()));
        way
    };
    let all = ways.iter().flat_map(|way| sources.iter().map(move |source| with(way, source)));
    all.take(SEARCH_CHOICES_MAX).collect()
}
