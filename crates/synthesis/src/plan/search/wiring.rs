//! Which things the values of a plan are of, whatever way leads to them: a cart's order is not a return's, and an order
//! that is read by its id is the order that the id is of.

use forecourt_contract::recipe::EACH;

use super::assembly::Assembly;
use super::term::{PlannedCall, Source};
use crate::meaning::Meaning;

/// What all values that a plan gives its act, and gives out, are of. Two plans with the same do the same.
pub(super) fn wiring(plan: &Assembly<'_>) -> Vec<String> {
    let act = plan.act.iter().flat_map(|act| arguments(act));
    act.chain(plan.outputs.iter().map(|output| format!("{}={}", output.name, value(&output.source, None)))).collect()
}

fn arguments(call: &PlannedCall<'_>) -> Vec<String> {
    let value = |(name, source): &(String, Source<'_>)| format!("{name}={}", value(source, call.for_each.as_ref()));
    call.arguments.iter().map(value).collect()
}

/// What a value is. `each`: the list that its call is made for.
fn value(source: &Source<'_>, each: Option<&Source<'_>>) -> String {
    match source {
        Source::Caller(field) => format!("<{field}"),
        Source::Result { element: Some(element), meaning, .. } => {
            let entity = meaning.as_ref().and_then(|meaning| meaning.entity.as_deref()).unwrap_or_default();
            format!("{entity}@<{}.{}", element.field, element.then.join("."))
        }
        Source::Element(_) | Source::Result { .. } => match GivenValue::of(source, each) {
            Some(given) => given.value(),
            None => source.key(),
        },
    }
}

/// What a call gives at a place.
struct GivenValue<'g, 'a> {
    call: &'g PlannedCall<'a>,
    /// The members that lead to it, [`EACH`] for each element of a list.
    path: Vec<&'g str>,
    meaning: Option<&'g Meaning>,
}

impl<'g, 'a> GivenValue<'g, 'a> {
    /// What a source gives. `None`: it is no call's, or one that is picked out of a list.
    fn of(source: &'g Source<'a>, each: Option<&'g Source<'a>>) -> Option<GivenValue<'g, 'a>> {
        let (list, inside): (_, &[String]) = match source {
            Source::Element(inside) => (each?, inside),
            other => (other, &[]),
        };
        let Source::Result { call, path, element: None, meaning } = list else { return None };
        let is_each = matches!(source, Source::Element(_));
        let path = path.iter().map(String::as_str).chain(is_each.then_some(EACH));
        let path = path.chain(inside.iter().map(String::as_str)).collect();
        Some(GivenValue { call, path, meaning: meaning.as_ref() })
    }

    fn value(&self) -> String {
        let thing = self.thing();
        match self.meaning {
            Some(meaning) if meaning.is_id() => thing,
            Some(meaning) => format!("{thing}.{}", meaning.property),
            // Objects, or what an act gives.
            None => thing,
        }
    }

    /// The thing that it is a property of, or the id of: one that its call was told to look at, the one that its
    /// call is about, or one that belongs to that in a role.
    fn thing(&self) -> String {
        let Some(meaning) = self.meaning else { return self.own(self.place()) };
        let twin = self.twin().map(|place| format!("@{}", place.join(".")));
        if meaning.role.is_none() && twin.is_none() {
            let is_one = self.lists() == 0;
            if let Some(taken) = self.taken(meaning.entity.as_deref()).filter(|_| is_one) {
                return taken;
            }
            if meaning.entity == self.call.endpoint().entity {
                return self.own(self.around());
            }
        }
        let (role, entity) = (meaning.role.as_deref(), meaning.entity.as_deref());
        let (role, entity) = (role.unwrap_or_default(), entity.unwrap_or_default());
        format!("{role}_{entity}{} of {}", twin.unwrap_or_default(), self.own(self.list()))
    }

    /// The thing that its call is about, or that stands at a place of its result.
    fn own(&self, place: Vec<&str>) -> String {
        let endpoint = self.call.endpoint();
        let taken = self.taken(endpoint.entity.as_deref()).filter(|_| self.lists() == 0);
        let inside: String = place.iter().map(|name| format!(".{name}")).collect();
        match taken {
            Some(taken) if self.meaning.is_some() => taken,
            Some(taken) => format!("{taken}{inside}"),
            None => {
                let entity = endpoint.entity.as_deref().unwrap_or_default();
                format!("{entity}@{}({}){inside}", endpoint.title(), arguments(self.call).join(","))
            }
        }
    }

    /// The thing that its call is told to look at, where that is of the same entity.
    fn taken(&self, entity: Option<&str>) -> Option<String> {
        let each = self.call.for_each.as_ref();
        self.call.arguments.iter().find_map(|(name, source)| {
            let input = &self.call.endpoint().input(name)?.meaning;
            if entity.is_none() || input.entity.as_deref() != entity || input.role.is_some() {
                return None;
            }
            if input.is_id() {
                return Some(value(source, each));
            }
            let given = GivenValue::of(source, each)?;
            given.meaning.filter(|meaning| meaning.entity.as_deref() == entity).map(|_| given.thing())
        })
    }

    /// Where it stands, where its call gives another of the same meaning beside it.
    fn twin(&self) -> Option<Vec<&str>> {
        let meaning = self.meaning?;
        let own = self.relative();
        let alike = |path: &[&str]| path.iter().filter(|name| **name == EACH).count() == self.lists();
        let is_twin = self.call.endpoint().outputs.iter().any(|output| {
            let path: Vec<&str> = output.path.iter().map(String::as_str).collect();
            let is_same = output.meaning.entity == meaning.entity
                && output.meaning.property == meaning.property
                && output.meaning.role == meaning.role;
            is_same && alike(&path) && path != own
        });
        is_twin.then(|| self.place())
    }

    /// Its path within one result.
    fn relative(&self) -> Vec<&str> {
        self.path[usize::from(self.call.for_each.is_some() && self.path.first() == Some(&EACH))..].to_vec()
    }

    /// The members that lead to it, whatever lists lie between.
    fn place(&self) -> Vec<&str> {
        self.path.iter().copied().filter(|name| *name != EACH).collect()
    }

    /// The members that lead to the object that has it.
    fn around(&self) -> Vec<&str> {
        let mut place = self.place();
        place.pop();
        place
    }

    /// The members that lead to the list whose elements have it; none where no list has it.
    fn list(&self) -> Vec<&str> {
        let end = self.path.iter().rposition(|name| *name == EACH).unwrap_or_default();
        self.path[..end].iter().copied().filter(|name| *name != EACH).collect()
    }

    /// The lists around it in one result.
    fn lists(&self) -> usize {
        self.relative().iter().filter(|name| **name == EACH).count()
    }
}
