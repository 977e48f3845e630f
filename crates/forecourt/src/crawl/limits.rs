//! Bounds of what crawlers are told, with their units.

/// Groups of `robots.txt` beside the one for everybody.
pub(super) const ROBOTS_GROUPS_MAX: usize = 200;
