//! One limit in many sentences: whatever stands around it and however it is worded, it comes to one and the same
//! predicate. The sentences are made of frames and wordings in `tests/data/paraphrases`.

use std::collections::BTreeMap;

use crate::filter::Test;
use crate::parsed_question::ParsedQuestion;
use crate::tests::{Everything, understood};

/// The files, by language.
const FILES: [(&str, &str); 4] = [
    ("en", include_str!("../tests/data/paraphrases/en.txt")),
    ("de", include_str!("../tests/data/paraphrases/de.txt")),
    ("fr", include_str!("../tests/data/paraphrases/fr.txt")),
    ("es", include_str!("../tests/data/paraphrases/es.txt")),
];
/// Frames in which every wording is tried.
const FIRST: usize = 3;
/// Sentences that are shown when some are read otherwise.
const SHOWN: usize = 40;

/// What a file says.
struct Paraphrases<'t> {
    subject: &'t str,
    frames: Vec<&'t str>,
    /// The wordings of each limit.
    limits: Vec<(&'t str, Vec<&'t str>)>,
}

impl<'t> Paraphrases<'t> {
    fn read(text: &'t str) -> Self {
        let mut lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let subject = lines.next().and_then(|line| line.strip_prefix("subject: ")).expect("a subject");
        let lines: Vec<&str> = lines.collect();
        let at = lines.iter().position(|line| *line == "limits").expect("limits");
        let limit = |line: &&'t str| {
            let (name, wordings) = line.split_once(": ").expect("a limit with its wordings");
            (name, wordings.split(" | ").collect())
        };
        Self { subject, frames: lines[1..at].to_vec(), limits: lines[at + 1..].iter().map(limit).collect() }
    }

    /// Each frame with each limit, whose wordings take turns, and each wording in the first few frames.
    fn sentences(&self) -> impl Iterator<Item = (&'t str, String)> + '_ {
        self.limits.iter().flat_map(move |(name, wordings)| {
            let each = self.frames.iter().enumerate().map(|(at, frame)| (wordings[at % wordings.len()], *frame));
            let first =
                wordings.iter().flat_map(|wording| self.frames.iter().take(FIRST).map(|frame| (*wording, *frame)));
            let worded = each.chain(first);
            worded.map(|(wording, frame)| (*name, frame.replace("{s}", self.subject).replace("{l}", wording)))
        })
    }
}

/// The one predicate of a sentence, if it is all that was understood of it and the subject is looked for.
fn predicate(found: &ParsedQuestion, subject: &str) -> Option<(Vec<String>, Test)> {
    let only = found.filters.first().filter(|_| found.filters.len() == 1)?;
    let is_whole = found.not_understood.is_empty() && found.order.is_none() && found.text.contains(subject);
    is_whole.then(|| (only.fields.clone(), only.test.clone()))
}

#[test]
fn a_limit_is_one_predicate_in_every_sentence_and_language() {
    let mut wanted: BTreeMap<&str, (Vec<String>, Test)> = BTreeMap::new();
    let (mut count, mut wrong) = (0, Vec::new());
    for (language, text) in FILES {
        let paraphrases = Paraphrases::read(text);
        assert!(paraphrases.frames.len() >= 50, "{language}: {}", paraphrases.frames.len());
        for (limit, sentence) in paraphrases.sentences() {
            count += 1;
            let found = understood(&sentence, &Everything);
            let read = predicate(&found, paraphrases.subject);
            let first =
                wanted.entry(limit).or_insert_with(|| read.clone().unwrap_or_else(|| panic!("{sentence}: {found:?}")));
            if read.as_ref() != Some(first) {
                let words: Vec<&str> = found.filters.iter().map(|filter| filter.words.as_str()).collect();
                wrong.push(format!(
                    "{limit}: {sentence:?} is {words:?}, not understood {:?}, left {:?}",
                    found.not_understood, found.text
                ));
            }
        }
    }
    let shown = wrong.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {count} sentences are read otherwise:\n{shown}", wrong.len());
}
