//! What the properties of an item say about it, as the areas of the vocabulary have it.

use std::collections::HashMap;

use crate::class::Area;
use crate::class_set::ClassSet;
use crate::limits::AREAS_MAX;

/// What the texts of a property say about an item, as an area has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextRole {
    pub(crate) kind: RoleKind,
    /// Classes of the areas that it is read for.
    pub(crate) classes: ClassSet,
    /// Places of these areas.
    pub(crate) areas: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoleKind {
    /// It states what the item is made of.
    Stated,
    /// It names the item; what it promises counts.
    Named,
    /// It is about the item.
    AlsoRead,
    /// It names diets that the item is fit for.
    Promised,
}

/// Roles of properties, by their dot path.
pub(crate) type TextRoles = HashMap<String, TextRole>;

/// The roles that areas give to properties. Of two, the stronger one counts.
pub(crate) fn text_roles(areas: &[Area], classes_of: impl Fn(&str) -> ClassSet) -> TextRoles {
    let mut roles = TextRoles::new();
    for (at, area) in areas.iter().enumerate().take(AREAS_MAX) {
        let lists = [
            (&area.stated_by, RoleKind::Stated),
            (&area.named_by, RoleKind::Named),
            (&area.also_read, RoleKind::AlsoRead),
            (&area.promised_by, RoleKind::Promised),
        ];
        for (paths, kind) in lists {
            for path in paths {
                let role =
                    // The lists are in the order of their strength, so the first role that a path gets within an area
                    // is the one to keep.
                    roles.entry(path.clone()).or_insert(TextRole { kind, classes: ClassSet::default(), areas: 0 });
                role.classes = role.classes.with(classes_of(&area.id));
                role.areas |= if kind == RoleKind::Stated { 1 << at } else { 0 };
            }
        }
    }
    roles
}
