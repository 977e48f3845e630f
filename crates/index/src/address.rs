//! Addresses that are one text, taken apart: `Kastanienallee 5, 10435 Berlin` is in Berlin.

/// Parts of one address that are looked at.
const PARTS_MAX: usize = 8;
/// Properties whose texts are addresses or end with one.
const ADDRESSES: [&str; 5] = ["address", "location", "jobLocation", "availableAtOrFrom", "areaServed"];

/// The names in a text that stands under a property of places: its parts between commas and lines, without what has a
/// digit, such as numbers of houses and postal codes. None where the text is one name as it is, and under other
/// properties.
pub(crate) fn names(path: &str, text: &str) -> Vec<String> {
    let leaf = path.rsplit('.').next().unwrap_or(path);
    if !ADDRESSES.contains(&leaf) {
        return Vec::new();
    }
    let parts = text.split([',', ';', '\n']).take(PARTS_MAX).map(|part| {
        let words = part.split_whitespace().filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
        words.collect::<Vec<_>>().join(" ")
    });
    let mut names: Vec<String> = parts.filter(|name| name.chars().any(char::is_alphabetic) && *name != text).collect();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn towns_are_found_in_addresses() {
        assert_eq!(names("location.address", "Kastanienallee 5, 10435 Berlin"), ["Kastanienallee", "Berlin"]);
        assert_eq!(names("address", "10 Downing St\nLondon SW1A 2AA\nUK"), ["Downing St", "London", "UK"]);
        assert_eq!(names("location", "Club X, Berlin"), ["Club X", "Berlin"]);
        assert_eq!(names("address", "D-10115 Berlin"), ["Berlin"]);
        assert!(names("address", "Berlin").is_empty(), "that is a fact already");
        assert!(names("description", "a, b").is_empty() && names("address", "1, 2").is_empty());
        assert_eq!(names("address", &"a,".repeat(PARTS_MAX + 5)).len(), 1);
        let many: Vec<String> = (0..PARTS_MAX + 1).map(|n| char::from(b'a' + n as u8).to_string()).collect();
        assert_eq!(names("address", &many.join(",")).len(), PARTS_MAX);
    }

    proptest! {
        #[test]
        fn any_address_is_taken_apart(text in any::<String>()) {
            names("address", &text);
        }
    }
}
