//! The members that schemas declare, through references and lists.

use forecourt_contract::Schema;

use crate::limits::{MEMBER_DEPTH_MAX, MEMBERS_MAX};
use crate::shape::{Kinds, Member, Shape};

/// The names of all members, as deep as is looked.
pub(super) fn names(schema: &Schema) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open = vec![(vec![Shape::of(schema)], 0)];
    while let Some((shapes, depth)) = open.pop() {
        for (name, inside) in declared(&shapes) {
            if found.len() == MEMBERS_MAX {
                return found;
            }
            found.push(name);
            let (inside, _) = elements(inside);
            if depth < MEMBER_DEPTH_MAX {
                open.push((inside, depth + 1));
            }
        }
    }
    found
}

/// The declared members of all of these schemas together.
pub(super) fn declared<'a>(shapes: &[Shape<'a>]) -> Vec<(&'a str, Vec<Shape<'a>>)> {
    let mut found: Vec<(&str, Vec<Shape<'_>>)> = Vec::new();
    for shape in shapes.iter().map(|shape| shape.unless_null()) {
        for name in shape.declared() {
            let Member::Known(schemas, _) = shape.member(name) else { continue };
            match found.iter_mut().find(|(known, _)| *known == name) {
                Some((_, all)) => all.extend(schemas),
                None => found.push((name, schemas)),
            }
        }
    }
    found
}

/// What lies inside the lists that schemas are of, and how many lists that are.
pub(super) fn elements(mut shapes: Vec<Shape<'_>>) -> (Vec<Shape<'_>>, usize) {
    let mut lists = 0;
    while lists < MEMBER_DEPTH_MAX {
        let plain: Vec<Shape<'_>> = shapes.iter().map(|shape| shape.unless_null()).collect();
        let items: Vec<Shape<'_>> = plain.iter().flat_map(|shape| shape.items()).collect();
        let is_list =
            plain.iter().any(|shape| !shape.kinds().meets(Kinds::OBJECT) && shape.kinds().meets(Kinds::ARRAY));
        if !is_list {
            return (plain, lists);
        }
        shapes = items;
        lists += 1;
    }
    (shapes, lists)
}
