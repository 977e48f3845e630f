//! This module finds names that are spelled like another: what somebody meant who wrote one that is not there.

use std::collections::HashSet;

/// How much of two names is the same at least, from 0 to 1, for one to be meant by the other.
const ALIKE_MIN: f32 = 0.35;

/// The places of the names that are most like `wanted`, the most like first; of equals the earlier ones.
pub(crate) fn nearest<'a>(names: impl Iterator<Item = &'a str>, wanted: &str, limit: usize) -> Vec<usize> {
    let wanted = pairs(wanted);
    let alike = names.enumerate().map(|(at, name)| (likeness(&wanted, &pairs(name)), at));
    let mut alike: Vec<(f32, usize)> = alike.filter(|(likeness, _)| *likeness >= ALIKE_MIN).collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    alike.into_iter().take(limit).map(|(_, at)| at).collect()
}

/// The pairs of neighbours among the letters and digits of a name.
fn pairs(name: &str) -> HashSet<(char, char)> {
    let plain: Vec<char> = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    plain.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// How much of two sets is in both (Dice's coefficient).
fn likeness(a: &HashSet<(char, char)>, b: &HashSet<(char, char)>) -> f32 {
    let both = a.intersection(b).count();
    let all = a.len() + b.len();
    if all == 0 { 0.0 } else { 2.0 * both as f32 / all as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spelled_alike_is_near() {
        let names = ["list_bikes", "create_bike", "weather_forecast"];
        assert_eq!(nearest(names.into_iter(), "listBike", 3), [0, 1]);
        assert_eq!(nearest(names.into_iter(), "forecast", 3), [2]);
        assert_eq!(nearest(names.into_iter(), "listBike", 1), [0]);
        assert!(nearest(names.into_iter(), "zzz", 3).is_empty() && nearest(names.into_iter(), "", 3).is_empty());
    }
}
