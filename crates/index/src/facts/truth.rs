//! Texts that say yes or no: sites write their truths in their own language, and some say more than that.

use super::OWN_LISTS;

/// Texts that say yes, and that say no, in lower case: sites write their truths in their own language.
pub(super) const YES: [&str; 14] = [
    "yes",
    "true",
    "ja",
    "oui",
    "sí",
    "included",
    "inklusive",
    "enthalten",
    "inclus",
    "incluse",
    "incluido",
    "incluida",
    "incluidos",
    "incluidas",
];
pub(super) const NO: [&str; 14] = [
    "no",
    "false",
    "nein",
    "non",
    "nee",
    "not included",
    "nicht inklusive",
    "nicht enthalten",
    "non inclus",
    "non incluse",
    "no incluido",
    "no incluida",
    "no incluidos",
    "no incluidas",
];
/// Texts that say beside their own words that something is so, in lower case.
const NEEDED: [&str; 14] = [
    "required",
    "needed",
    "necessary",
    "erforderlich",
    "nötig",
    "notwendig",
    "requis",
    "requise",
    "obligatoire",
    "nécessaire",
    "necesario",
    "necesaria",
    "obligatorio",
    "obligatoria",
];
/// The same of what is not so.
const NOT_NEEDED: [&str; 27] = [
    "none",
    "not required",
    "not needed",
    "not necessary",
    "not available",
    "not allowed",
    "keine",
    "keiner",
    "keines",
    "nicht erforderlich",
    "nicht nötig",
    "nicht notwendig",
    "nicht vorhanden",
    "aucun",
    "aucune",
    "non requis",
    "non requise",
    "pas nécessaire",
    "non nécessaire",
    "ninguno",
    "ninguna",
    "no necesario",
    "no necesaria",
    "no hace falta",
    "no es necesario",
    "no es necesaria",
    "no requiere",
];
/// Marks behind a yes or a no that goes on: "yes, on request".
const GOES_ON: [char; 5] = [',', ';', ':', '(', '–'];
/// What the names of properties contain whose values are codes: `no` is Norwegian, and Norway.
const CODES: [&str; 3] = ["language", "country", "code"];

/// The truth that a text says which is no more than yes or no: `true`, `false`.
pub(super) fn whole(path: &str, text: &str) -> Option<&'static str> {
    of(text, &YES, &NO).filter(|_| may_say(path))
}

/// The truth that a text says beside more: the yes that it begins with, or that nothing of the kind is there.
pub(super) fn beginning(text: &str) -> Option<&'static str> {
    let begun = || text.split_once(GOES_ON).and_then(|(begin, _)| of(begin.trim_end(), &YES, &NO));
    of(text, &NEEDED, &NOT_NEEDED).or_else(begun)
}

fn of(text: &str, yes: &[&str], no: &[&str]) -> Option<&'static str> {
    // Asked of every text of every item.
    let said = |words: &[&str]| {
        let is = |word: &&str| {
            word.len() == text.len() && (text.eq_ignore_ascii_case(word) || text.to_lowercase() == **word)
        };
        words.iter().any(is)
    };
    if said(yes) { Some("true") } else { said(no).then_some("false") }
}

/// Whether a property may say yes or no: a code of a language or a country does not.
pub(super) fn may_say(path: &str) -> bool {
    let own = OWN_LISTS.iter().find_map(|list| path.strip_prefix(list)).unwrap_or(path);
    !own.contains('.') && !CODES.iter().any(|code| own.to_lowercase().contains(code))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_says_yes_or_no_in_any_language_and_may_say_more() {
        for (text, said) in [("Ja", Some("true")), ("sí", Some("true")), ("NON", Some("false")), ("Yes, free", None)] {
            assert_eq!(whole("additionalProperty.Pool", text), said, "{text}");
        }
        for (text, said) in [
            ("Yes, on request", Some("true")),
            ("oui, 12 € par nuit", Some("true")),
            ("ja (gegen Gebühr)", Some("true")),
            ("no: solo perros guía", Some("false")),
            ("no hace falta", Some("false")),
            ("Erforderlich", Some("true")),
            ("none", Some("false")),
            ("No. 7", None),
            ("yes we can", None),
            ("Nonstop", None),
            (", yes", None),
        ] {
            assert_eq!(beginning(text), said, "{text}");
        }
        assert!(may_say("petsAllowed") && !may_say("inLanguage") && !may_say("a.b"));
    }

    proptest! {
        #[test]
        fn any_text_says_so_or_not(text in any::<String>(), lead in "(yes|no|oui|ja)[,;:( –]{0,3}") {
            beginning(&text);
            let said = beginning(&[lead.as_str(), &text].concat());
            prop_assert!(said.is_none_or(|said| said == "true" || said == "false"));
        }
    }
}
