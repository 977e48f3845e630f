//! Links whose words hide where they lead.

/// Whether a label names a host that its link does not lead to: who reads `bank.example` must see where it goes.
pub fn names_another_host(label: &str, url: &str) -> bool {
    let mut named = label.split_whitespace().map(|word| host(word.trim_matches(|c: char| !c.is_alphanumeric())));
    let ends_like_one = |name: &str| name.rsplit_once('.').is_some_and(|(_, end)| end.chars().all(char::is_alphabetic));
    named.any(|name| ends_like_one(name) && !name.eq_ignore_ascii_case(host(url)))
}

/// What stands before the path of an address, with or without its scheme.
fn host(address: &str) -> &str {
    let bare = ["https://", "http://", "mailto:"].into_iter().find_map(|scheme| address.strip_prefix(scheme));
    bare.unwrap_or(address).split(['/', '?', '#']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_that_names_another_host_is_found() {
        for (label, url, hides) in [
            ("https://bank.example/login", "https://evil.example/x", true),
            ("see bank.example, now", "https://evil.example/x", true),
            ("bank.example", "https://bank.example@evil.example", true),
            ("A.Example", "https://a.example/x", false),
            ("Soup. 2.1", "https://a.example/x", false),
            ("a@b.example", "mailto:a@b.example", false),
        ] {
            assert_eq!(names_another_host(label, url), hides, "{label} {url}");
        }
    }
}
