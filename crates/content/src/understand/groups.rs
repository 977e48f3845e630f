//! What a word for a group of foods stands for. "No nuts" has to mean walnuts, too. Where a name
//! is ambiguous the list errs on the side of leaving out: somebody may be allergic.
//!
//! | file | holds |
//! |---|---|
//! | `en.rs`, `de.rs`, `fr.rs`, `es.rs` | the words of one language |

mod de;
mod en;
mod es;
mod fr;

use super::Known;
use crate::analysis::fold_text;

/// A group in one language: the words that ask for it, and the words in items that are of it.
struct Group {
    /// The same in all languages.
    concept: &'static str,
    asked: &'static [&'static str],
    members: &'static [&'static str],
}

/// The groups by the code of their language.
const LANGUAGES: &[(&str, &[Group])] =
    &[("en", en::GROUPS), ("de", de::GROUPS), ("fr", fr::GROUPS), ("es", es::GROUPS)];

/// The group that a word of any language asks for.
pub(super) fn concept(asked: &str) -> Option<&'static str> {
    let asked = fold_text(asked);
    let groups = LANGUAGES.iter().flat_map(|(_, groups)| *groups);
    groups.into_iter().find(|group| group.asked.iter().any(|word| fold_text(word) == asked)).map(|group| group.concept)
}

/// What a word stands for in the languages that items are in: the members of its group, or itself. Words of
/// other languages are left out, since they mean other things here: Spanish bread is an English pan.
pub(super) fn members(known: &dyn Known, asked: &str) -> Vec<String> {
    let Some(concept) = concept(asked) else { return vec![asked.to_owned()] };
    let spoken = LANGUAGES.iter().filter(|(code, _)| known.speaks(code)).flat_map(|(_, groups)| *groups);
    let members = spoken.filter(|group| group.concept == concept).flat_map(|group| group.members);
    members.map(|word| (*word).to_owned()).collect()
}

/// A way to eat, the groups that it leaves out, and the words of a name that promise as much.
pub(super) struct Diet {
    pub(super) name: &'static str,
    pub(super) without: &'static [&'static str],
    pub(super) promised_by: &'static [&'static str],
}

pub(super) const DIETS: &[Diet] = &[
    Diet {
        name: "vegetarian",
        without: &["meat", "fish"],
        promised_by: &["vegetarian", "vegan", "veggie", "meatless"],
    },
    Diet { name: "meatless", without: &["meat", "fish"], promised_by: &["vegetarian", "vegan", "veggie", "meatless"] },
    Diet { name: "vegan", without: &["meat", "fish", "dairy", "eggs", "honey"], promised_by: &["vegan"] },
    Diet { name: "pescatarian", without: &["meat"], promised_by: &["vegetarian", "vegan", "pescatarian"] },
];

/// The diet that a word of any language names.
pub(super) fn diet(asked: &str) -> Option<&'static Diet> {
    let asked = fold_text(asked);
    let name = match asked.as_str() {
        word if word.starts_with("vegetari") => "vegetarian",
        word if word.starts_with("vegan") => "vegan",
        word if word.starts_with("pesc") => "pescatarian",
        word => word,
    };
    DIETS.iter().find(|diet| diet.name == name)
}
