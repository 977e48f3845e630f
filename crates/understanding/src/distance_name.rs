//! Names of properties that are distances: "distance de la plage", "Strandentfernung".

use forecourt_vocabulary::folded;

/// Words by which the name of a property says that it is a distance, without accents.
const DISTANCES: &[&str] = &["distance", "distances", "entfernung", "abstand", "distancia", "eloignement"];
/// Words that stand between such a word, or an amount, and what is so far away, without accents.
pub(crate) const BETWEEN: &[&str] = &[
    "to", "from", "of", "the", "away", "next", "nearest", "walk", "de", "du", "des", "d", "la", "le", "les", "l", "a",
    "au", "aux", "zu", "zum", "zur", "vom", "von", "der", "dem", "den", "die", "bis", "entfernt", "weg", "del", "al",
    "el", "los", "las", "hasta",
];
/// Letters of the shortest thing that a compound has in front of "entfernung".
const THING_LETTERS_MIN: usize = 3;

/// What the name of a property says that it is the distance to: "plage" of "distance de la plage".
pub(crate) fn target(name: &str) -> Option<String> {
    let words: Vec<String> = name.split_whitespace().map(folded).collect();
    let compound = |word: &String| {
        let ends = DISTANCES.iter().filter_map(|distance| word.strip_suffix(distance));
        ends.max_by_key(|thing| thing.len()).map(str::to_owned)
    };
    let at = words.iter().position(|word| compound(word).is_some())?;
    let mut things: Vec<String> = compound(&words[at]).into_iter().collect();
    things.extend(words.iter().enumerate().filter(|(of, _)| *of != at).map(|(_, word)| word.clone()));
    things.retain(|word| word.chars().count() >= THING_LETTERS_MIN && !BETWEEN.contains(&word.as_str()));
    (!things.is_empty()).then(|| things.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_it_is_the_distance_to() {
        for (name, to) in [
            ("distance de la plage", Some("plage")),
            ("distance to nearest beach", Some("beach")),
            ("entfernung zum strand", Some("strand")),
            ("strandentfernung", Some("strand")),
            ("ski lift distance", Some("ski lift")),
            ("distancia a la playa", Some("playa")),
            ("distance", None),
            ("width", None),
        ] {
            assert_eq!(target(name).as_deref(), to, "{name}");
        }
    }
}
