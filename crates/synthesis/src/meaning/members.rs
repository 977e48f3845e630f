//! All members of a schema with their meanings.

use forecourt_contract::path::Segment;
use forecourt_contract::recipe::EACH;
use forecourt_contract::{Schema, Template};

use super::fields::{declared, elements};
use super::infer::{Context, meaning};
use super::nouns::{Nouns, literals};
use super::words::{of_name, plain};
use super::{ID, Meaning};
use crate::limits::{MEMBER_DEPTH_MAX, MEMBERS_MAX};
use crate::shape::{Kinds, Shape};

/// A member, as deep as it lies.
#[derive(Clone)]
pub(crate) struct TypedMember<'a> {
    /// The members that lead to it, the outermost first; [`EACH`] for the elements of a list.
    pub(crate) path: Vec<String>,
    pub(crate) meaning: Meaning,
    /// The last word of its property by its own name, where members around it are a part of the property.
    pub(crate) own: String,
    /// Whether its own name or schema says of which entity it is.
    pub(crate) is_explicit: bool,
    /// What is said of its values.
    pub(crate) schemas: Vec<Shape<'a>>,
    /// Whether it is always there.
    pub(crate) is_sure: bool,
}

/// Where the members of a schema stand.
#[derive(Clone, Copy)]
pub(crate) struct Place<'n> {
    pub(crate) nouns: &'n Nouns,
    /// What its endpoint is about.
    pub(crate) entity: Option<&'n str>,
    /// The path whose parameters are among the members, for an input.
    pub(crate) path: Option<&'n Template>,
    /// Corrections of the operator: what a member means, by the members that lead to it.
    pub(crate) corrected: &'n dyn Fn(&[String]) -> Option<String>,
}

impl TypedMember<'_> {
    /// The kinds of its values.
    pub(crate) fn kinds(&self) -> Kinds {
        self.schemas.iter().map(|shape| shape.kinds()).fold(Kinds::ANY, |all, one| all & one)
    }

    /// How many lists lie around it.
    pub(crate) fn lists(&self) -> usize {
        self.path.iter().filter(|member| *member == EACH).count()
    }

    pub(crate) fn name(&self) -> &str {
        self.path.iter().rev().find(|member| *member != EACH).map_or("", String::as_str)
    }
}

/// All members of a schema, at most [`MEMBERS_MAX`] and as deep as [`MEMBER_DEPTH_MAX`].
pub(crate) fn typed<'a>(schema: &'a Schema, place: Place<'_>) -> Vec<TypedMember<'a>> {
    let mut found = Vec::new();
    let whole = vec![Shape::of(schema)];
    let (inside, lists) = elements(whole);
    let entity = titled(&inside, place.nouns).or_else(|| place.entity.map(str::to_owned));
    let context = Context { entity, around: Vec::new() };
    walk(&inside, &vec![EACH.to_owned(); lists], &context, true, place, &mut found);
    found
}

fn walk<'a>(
    shapes: &[Shape<'a>],
    path: &[String],
    context: &Context,
    is_sure: bool,
    place: Place<'_>,
    found: &mut Vec<TypedMember<'a>>,
) {
    let depth = path.iter().filter(|member| *member != EACH).count();
    for (name, schemas) in declared(shapes) {
        if found.len() == MEMBERS_MAX {
            return;
        }
        let is_sure = is_sure && shapes.iter().any(|shape| shape.requires(name));
        let mut path = path.to_vec();
        path.push(name.to_owned());
        let (inside, lists) = elements(schemas.clone());
        let of_path = (depth == 0).then(|| in_path(name, place)).flatten();
        let context = of_path.as_ref().unwrap_or(context);
        let of_one = if lists > 0 { &inside } else { &schemas };
        let (mut meaning, mut is_explicit) = meaning(place.nouns, context, name, of_one);
        // Objects that are named by an entity are that: `customers`, and what lies in them.
        if !is_explicit
            && of_one.iter().any(|shape| shape.unless_null().kinds() == Kinds::OBJECT)
            && let Some((role, entity)) = place.nouns.suffix(&plain(of_name(name)))
        {
            let property = entity.clone();
            (meaning, is_explicit) = (Meaning { entity: Some(entity), property, role, kind: meaning.kind }, true);
        }
        if let Some(said) = (place.corrected)(&path) {
            (meaning, is_explicit) = (super::infer::read(&said, &schemas), true);
        }
        let own = plain(of_name(name)).join("_");
        let own = if meaning.is_id() { ID.to_owned() } else { own };
        let is_list = lists > 0;
        found.push(TypedMember { path: path.clone(), meaning: meaning.clone(), own, is_explicit, schemas, is_sure });
        path.extend(std::iter::repeat_n(EACH.to_owned(), lists));
        if depth < MEMBER_DEPTH_MAX && inside.iter().any(|shape| shape.kinds().meets(Kinds::OBJECT)) {
            let within = within(name, &inside, context, place.nouns);
            walk(&inside, &path, &within, is_sure && !is_list, place, found);
        }
        if is_list && declared(&inside).is_empty() {
            // The elements themselves, such as ids in a list.
            let own = plain(of_name(name)).join("_");
            found.push(TypedMember { path, meaning, own, is_explicit, schemas: inside, is_sure: false });
        }
    }
}

/// Where a parameter of the path stands: in what the segment before it is named by.
fn in_path(name: &str, place: Place<'_>) -> Option<Context> {
    let path = place.path?;
    let at =
        path.segments().iter().position(|segment| matches!(segment, Segment::Parameter(found) if found == name))?;
    let before = literals(path).take_while(|(place, _)| *place < at).last();
    let entity =
        before.map(|(_, words)| place.nouns.suffix(&words).map_or_else(|| words.join("_"), |(_, entity)| entity));
    Some(Context { entity, around: Vec::new() })
}

/// Where the members of a member stand: in the entity that it is named by or titled, else further inside.
fn within(name: &str, inside: &[Shape<'_>], context: &Context, nouns: &Nouns) -> Context {
    let words = plain(of_name(name));
    let named = nouns.suffix(&words).map(|(_, entity)| entity);
    match named.or_else(|| titled(inside, nouns)) {
        Some(entity) => Context { entity: Some(entity), around: Vec::new() },
        None => {
            let around = context.around.iter().cloned().chain(words).collect();
            Context { entity: context.entity.clone(), around }
        }
    }
}

/// The entity that a schema is titled by, or by whose name it is referred to.
fn titled(shapes: &[Shape<'_>], nouns: &Nouns) -> Option<String> {
    let texts = shapes.iter().flat_map(|shape| shape.conjuncts()).flat_map(|shape| {
        let title = shape.keyword("title").and_then(|title| title.as_str());
        let referred = shape.keyword("$ref").and_then(|to| to.as_str()).and_then(|to| to.rsplit('/').next());
        [title, referred]
    });
    texts.flatten().find_map(|text| {
        let joined = plain(of_name(text)).join("_");
        nouns.has(&joined).then_some(joined)
    })
}
