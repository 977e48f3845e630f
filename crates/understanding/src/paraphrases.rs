//! One limit in many sentences: whatever stands around it and however it is worded, it comes to one and the same
//! predicate: property, comparison, value and polarity. The sentences are made of the frames and wordings in
//! `tests/data/paraphrases`, over items of five trades; `predicates.txt` there has what each limit must come to.
//!
//! Each wording is tried in one of the frames, which take turns; with `FORECOURT_PARAPHRASES=all` in each of them.

mod trades;

use std::collections::BTreeMap;

use crate::filter::{Filter, Test};
use crate::parsed_question::ParsedQuestion;
use crate::tests::understood_with;
use trades::Trade;

const ENGLISH: &str = include_str!("../tests/data/paraphrases/en.txt");
const PREDICATES: &str = include_str!("../tests/data/paraphrases/predicates.txt");
/// Frames of each language, with their endings.
const FRAMES_MIN: usize = 200;
/// Frames between one wording and the next: prime to their number, so that all are used.
const STEP: usize = 7;
/// Sentences that are shown when some are read otherwise.
const SHOWN: usize = 40;

/// What a file says.
#[derive(Default)]
struct Paraphrases<'t> {
    frames: Vec<&'t str>,
    kitchen_frames: Vec<&'t str>,
    endings: Vec<&'t str>,
    trades: Vec<TradeLimits<'t>>,
}

/// The limits of a trade, and what is asked for there.
struct TradeLimits<'t> {
    trade: &'t str,
    subject: &'t str,
    /// Each with its wordings.
    limits: Vec<(&'t str, Vec<&'t str>)>,
}

/// One limit of a trade in a sentence.
struct Sentence<'t> {
    trade: &'t str,
    limit: &'t str,
    subject: &'t str,
    text: String,
}

impl<'t> Paraphrases<'t> {
    fn read(text: &'t str) -> Self {
        let mut read = Self::default();
        let mut section = "";
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some((name, subject)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
                section = name;
                if !subject.is_empty() {
                    read.trades.push(TradeLimits { trade: name, subject: subject.trim(), limits: Vec::new() });
                }
                continue;
            }
            match section {
                "frames" => read.frames.push(line),
                "frames of the kitchen" => read.kitchen_frames.push(line),
                "endings" => read.endings.push(line.trim_matches('"')),
                _ => {
                    let (name, wordings) = line.split_once(": ").expect("a limit with its wordings");
                    let trade = read.trades.last_mut().expect("a trade");
                    trade.limits.push((name, wordings.split(" | ").collect()));
                }
            }
        }
        read
    }

    /// The frames of a trade: those that end with a limit, with each ending.
    fn frames(&self, trade: &str) -> Vec<String> {
        let of_kitchen = self.kitchen_frames.iter().filter(|_| trade == "kitchen");
        let all = self.frames.iter().chain(of_kitchen);
        let ended = |frame: &&'t str| -> Vec<String> {
            match frame.ends_with("{l}") {
                true => self.endings.iter().map(|ending| format!("{frame}{ending}")).collect(),
                false => vec![(*frame).to_owned()],
            }
        };
        all.flat_map(ended).collect()
    }

    /// Each wording of each limit in each frame, or in one frame, which take turns.
    fn sentences(&self, in_each_frame: bool) -> Vec<Sentence<'t>> {
        let (mut all, mut turn) = (Vec::new(), 0);
        for TradeLimits { trade, subject, limits } in &self.trades {
            let frames = self.frames(trade);
            for (limit, wordings) in limits {
                for wording in wordings {
                    turn += STEP;
                    let count = if in_each_frame { frames.len() } else { 1 };
                    all.extend(frames.iter().cycle().skip(turn % frames.len()).take(count).map(|frame| {
                        let text = frame.replace("{s}", subject).replace("{l}", wording);
                        Sentence { trade, limit, subject, text }
                    }));
                }
            }
        }
        all
    }
}

/// A predicate as `predicates.txt` writes it.
fn spelled(filter: &Filter) -> String {
    let end = |end: &Option<f64>| end.map(|end| format!("{}", (end * 1e4).round() / 1e4)).unwrap_or_default();
    let mut fields = filter.fields.clone();
    fields.sort_unstable();
    let fields = fields.join("|");
    match &filter.test {
        Test::Within { from, to } => format!("{fields} {}..{}", end(from), end(to)),
        Test::Overlaps { from, to, .. } => format!("{fields} overlaps {}..{}", end(from), end(to)),
        Test::Is(value) => format!("{fields} is {}", value.to_lowercase()),
        Test::IsOneOf { values, .. } => format!("{fields} is {}", values.join("/")),
        Test::OneOf(values) => format!("{fields} mentions {}", values.join("/")),
        Test::NoneOf(values) => format!("{fields} is not {}", values.first().map_or("", String::as_str)),
        Test::Mentions(value) => format!("{fields} mentions {value}"),
        Test::Without { classes, words } => {
            let classes = classes.iter().map(|limit| limit.class.as_str());
            format!("without {}", classes.chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join("/"))
        }
        Test::Near { latitude, longitude, km } => format!("{fields} within {km} km of {latitude}, {longitude}"),
        Test::AnyOf(all) => all.iter().map(spelled).collect::<Vec<_>>().join(" or "),
        Test::OfClass(classes) => format!("of {}", classes.join("/")),
        Test::Permits => format!("{fields} permits"),
        Test::Unstated(_) => format!("{fields} unstated"),
    }
}

/// The predicates of a sentence, if they are all that was understood of it and the subject is looked for.
fn predicate(found: &ParsedQuestion, subject: &str) -> Option<String> {
    let is_whole = found.not_understood.is_empty() && found.order.is_none() && found.text.contains(subject);
    let all: Vec<String> = found.filters.iter().map(spelled).collect();
    (is_whole && !all.is_empty()).then(|| all.join("; "))
}

/// A word of a sentence that no part of its reading takes.
fn unread(text: &str, found: &ParsedQuestion) -> Option<String> {
    let mut left = text.to_owned();
    for part in found.reading.iter().rev() {
        left.replace_range(part.bytes.clone(), " ");
    }
    left.contains(char::is_alphanumeric).then_some(left)
}

/// The predicate of each limit.
fn predicates() -> BTreeMap<&'static str, &'static str> {
    let lines = PREDICATES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(": ").expect("a limit with its predicate")).collect()
}

fn assert_read_alike(language: &str, text: &str) {
    let (paraphrases, wanted) = (Paraphrases::read(text), predicates());
    assert!(paraphrases.frames("shop").len() >= FRAMES_MIN, "{language}: {}", paraphrases.frames("shop").len());
    let trades: BTreeMap<&str, Trade> = trades::all().into_iter().collect();
    let (mut count, mut wrong) = (0, Vec::new());
    let in_each_frame = std::env::var("FORECOURT_PARAPHRASES").is_ok_and(|wanted| wanted == "all");
    for Sentence { trade, limit, subject, text } in paraphrases.sentences(in_each_frame) {
        count += 1;
        let trade = &trades[trade];
        let found = understood_with(&text, trade.known(), &trade.learnt);
        let read = predicate(&found, subject);
        assert_eq!(unread(&text, &found), None, "{text}: {:?}", found.reading);
        if read.as_deref() != wanted.get(limit).copied() {
            let all: Vec<String> = found.filters.iter().map(spelled).collect();
            let told = &found.not_understood;
            wrong.push(format!("{limit}: {text:?} is {all:?}, not understood {told:?}, left {:?}", found.text));
        }
    }
    let shown = wrong.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {count} sentences are read otherwise:\n{shown}", wrong.len());
}

#[test]
fn a_limit_is_one_predicate_in_every_english_sentence() {
    assert_read_alike("en", ENGLISH);
}

#[test]
fn a_limit_is_one_predicate_in_every_german_sentence() {
    assert_read_alike("de", include_str!("../tests/data/paraphrases/de.txt"));
}

#[test]
fn a_limit_is_one_predicate_in_every_french_sentence() {
    assert_read_alike("fr", include_str!("../tests/data/paraphrases/fr.txt"));
}

#[test]
fn a_limit_is_one_predicate_in_every_spanish_sentence() {
    assert_read_alike("es", include_str!("../tests/data/paraphrases/es.txt"));
}

#[test]
fn every_limit_is_said_in_every_language_and_has_a_predicate() {
    let wanted = predicates();
    let files = [
        ENGLISH,
        include_str!("../tests/data/paraphrases/de.txt"),
        include_str!("../tests/data/paraphrases/fr.txt"),
        include_str!("../tests/data/paraphrases/es.txt"),
    ];
    for text in files {
        let read = Paraphrases::read(text);
        let said: Vec<&str> = read.trades.iter().flat_map(|trade| trade.limits.iter().map(|(name, _)| *name)).collect();
        for limit in wanted.keys() {
            assert!(said.contains(limit), "{limit}");
        }
    }
}
