//! Names and sentences as words: `ServiceSid`, `service_sid` and "the service's SID" have the same ones.

/// Last words of names that say: this tells which one it is.
const IDENTIFYING: [&str; 5] = ["id", "sid", "uuid", "guid", "identifier"];

/// Two words that are one thing.
const PAIRS: [(&str, &str, &str); 6] = [
    ("email", "address", "email"),
    ("e", "mail", "email"),
    ("mail", "address", "email"),
    ("phone", "number", "phone"),
    ("telephone", "number", "phone"),
    ("web", "site", "website"),
];

/// Nouns whose plural is no rule's.
const IRREGULAR: [(&str, &str); 5] =
    [("people", "person"), ("children", "child"), ("men", "man"), ("women", "woman"), ("ids", "id")];

/// The words of a name, in lower case: parts between `_`, `-`, `.` and capitals.
pub(crate) fn of_name(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for c in name.chars() {
        let begins = c.is_uppercase() && was_lower;
        if (begins || !c.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase() || c.is_ascii_digit();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// A noun in the singular.
pub(crate) fn singular(word: &str) -> String {
    if let Some((_, one)) = IRREGULAR.iter().find(|(many, _)| *many == word) {
        return (*one).to_owned();
    }
    let ends = |ending: &str| word.len() > ending.len() + 1 && word.ends_with(ending);
    if ends("ies") && word.len() > 4 {
        return format!("{}y", &word[..word.len() - 3]);
    }
    let is_status = ends("uses") && !["houses", "auses", "cuses"].iter().any(|ending| word.ends_with(ending));
    if is_status || ["sses", "shes", "ches", "xes", "zes"].iter().any(|ending| ends(ending)) {
        return word[..word.len() - 2].to_owned();
    }
    match ends("s") && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending)) {
        true => word[..word.len() - 1].to_owned(),
        false => word.to_owned(),
    }
}

/// Words with their last one in the singular, and what two words say as one.
pub(crate) fn plain(mut words: Vec<String>) -> Vec<String> {
    if let Some(last) = words.last_mut() {
        *last = singular(last);
    }
    let mut joined: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        let pair = joined.last().and_then(|before| {
            PAIRS.iter().find(|(first, second, _)| before == first && *second == word).map(|(.., one)| *one)
        });
        match (pair, joined.last_mut()) {
            (Some(one), Some(before)) => *before = one.to_owned(),
            _ if word == "telephone" => joined.push("phone".to_owned()),
            _ => joined.push(word),
        }
    }
    joined
}

/// Whether the last word of a name says which one something is.
pub(crate) fn is_identifying(word: &str) -> bool {
    IDENTIFYING.contains(&word)
}

/// What the forms of a verb have in common: `cancels`, `cancelled` and `cancelling` are `cancel`.
pub(crate) fn stem(word: &str) -> String {
    let word = word.to_lowercase();
    let cut = |ending: &str, least: usize| word.strip_suffix(ending).filter(|rest| rest.len() >= least);
    let mut stem = if let Some(rest) = cut("ied", 2).or_else(|| cut("ies", 2)) {
        format!("{rest}y")
    } else {
        let rest = cut("ing", 3).or_else(|| cut("ed", 3)).or_else(|| cut("s", 3).filter(|rest| !rest.ends_with('s')));
        rest.unwrap_or(&word).to_owned()
    };
    let mut last = stem.chars().rev();
    if let (Some(one), Some(two)) = (last.next(), last.next())
        && one == two
        && stem.len() > 3
        && !"aeiou".contains(one)
    {
        stem.pop();
    }
    if stem.len() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    stem
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_has_the_same_words_however_it_is_spelled() {
        for name in ["service_sid", "ServiceSid", "serviceSid", "service-sid", "service.sid"] {
            assert_eq!(of_name(name), ["service", "sid"], "{name}");
        }
        assert_eq!(of_name("DateSent<"), ["date", "sent"]);
        assert_eq!(of_name("k10"), ["k10"]);
    }

    #[test]
    fn many_are_one() {
        for (many, one) in [
            ("orders", "order"),
            ("entities", "entity"),
            ("addresses", "address"),
            ("matches", "match"),
            ("boxes", "box"),
            ("status", "status"),
            ("purchases", "purchase"),
            ("analysis", "analysis"),
            ("ids", "id"),
            ("glass", "glass"),
            ("warehouses", "warehouse"),
            ("statuses", "status"),
        ] {
            assert_eq!(singular(many), one);
        }
    }

    #[test]
    fn the_forms_of_a_verb_are_one() {
        for forms in [
            ["cancel", "cancels", "cancelled", "cancelling"],
            ["remove", "removes", "removed", "removing"],
            ["ship", "ships", "shipped", "shipping"],
            ["notify", "notifies", "notified", "notifying"],
            ["charge", "charges", "charged", "charging"],
        ] {
            assert!(forms.iter().all(|form| stem(form) == stem(forms[0])), "{forms:?}");
        }
        assert_eq!(plain(of_name("email_addresses")), ["email"]);
        assert_eq!(plain(of_name("telephone")), ["phone"]);
    }

    proptest! {
        #[test]
        fn any_text_has_words(text in ".{0,80}") {
            let words = of_name(&text);
            prop_assert!(words.iter().all(|word| !word.is_empty()));
            words.iter().for_each(|word| { singular(word); stem(word); });
            plain(words);
        }
    }
}
