//! What a person should look at again, and what could not be carried over.

use super::words::line;
use crate::limits::{DETAILS_SHOWN_MAX, NOTE_CHARS_MAX, NOTES_MAX};

/// The cause for review where a schema was cut.
pub(crate) const LESS_CHECKED: &str = "less is checked than the document says";

/// The cause for review where a schema is too large to be kept whole.
pub(crate) const CUT: &str = "too large for a schema: what is cut takes any value";

/// The cause for review where a reference can't be followed.
pub(crate) const UNKNOWN_REFERENCE: &str = "what can't be looked up takes any value";

/// The part of an endpoint that a guess is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The method.
    Method,
    /// The path.
    Path,
    /// What a caller must hold.
    Scopes,
    /// The semantic block.
    Semantic,
    /// The input.
    Input,
    /// The output.
    Output,
    /// That it is on its way out.
    Deprecated,
    /// What answers it.
    Handler,
}

impl Part {
    /// The table or key of an endpoint's file that it is.
    pub fn name(self) -> &'static str {
        match self {
            Part::Method => "method",
            Part::Path => "path",
            Part::Scopes => "required_scopes",
            Part::Semantic => "semantic",
            Part::Input => "input_schema",
            Part::Output => "output_schema",
            Part::Deprecated => "deprecated",
            Part::Handler => "handler",
        }
    }
}

/// Why somebody has to look: what is said of every endpoint that it holds for, and what is said of this one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Doubt {
    cause: &'static str,
    detail: String,
}

impl Doubt {
    /// A cause with nothing more to say.
    pub(crate) fn new(cause: &'static str) -> Doubt {
        Doubt { cause, detail: String::new() }
    }

    /// A cause, and what of this endpoint it is about.
    pub(crate) fn about(cause: &'static str, detail: impl AsRef<str>) -> Doubt {
        Doubt { cause, detail: line(detail.as_ref(), NOTE_CHARS_MAX) }
    }
}

/// A guess that a person has to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// What it is about.
    pub part: Part,
    /// Why, in words that are the same for every endpoint that has this cause.
    pub cause: &'static str,
    /// What of the endpoint it is, each once. May be empty.
    pub details: Vec<String>,
}

impl Review {
    /// The cause with what it is about, in a line.
    pub fn text(&self) -> String {
        let shown: Vec<&str> = self.details.iter().take(DETAILS_SHOWN_MAX).map(String::as_str).collect();
        let more = match self.details.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        if shown.is_empty() { self.cause.to_owned() } else { format!("{}: {}{more}", self.cause, shown.join(", ")) }
    }
}

/// Notes about one operation, each said once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportNotes {
    /// Guesses, one for each cause and part.
    pub reviews: Vec<Review>,
    /// What the endpoint does not do though the operation does.
    pub losses: Vec<String>,
    /// What a reader may want to know and nobody has to decide, by what it is about.
    pub remarks: Vec<(Part, String)>,
    /// The scope that a caller must hold, when it was made up.
    pub made_up_scope: Option<String>,
}

impl ImportNotes {
    /// Marks a guess.
    pub(crate) fn review(&mut self, part: Part, doubt: Doubt) {
        let Doubt { cause, detail } = doubt;
        let known = self.reviews.iter().position(|review| review.part == part && review.cause == cause);
        let at = known.unwrap_or_else(|| {
            self.reviews.push(Review { part, cause, details: Vec::new() });
            self.reviews.len() - 1
        });
        // Documents repeat their faults.
        let details = &mut self.reviews[at].details;
        if !detail.is_empty() && details.len() < NOTES_MAX && !details.contains(&detail) {
            details.push(detail);
        }
    }

    /// Says what a reader may want to know.
    pub(crate) fn remark(&mut self, part: Part, remark: impl AsRef<str>) {
        let remark = (part, line(remark.as_ref(), NOTE_CHARS_MAX));
        if self.remarks.len() < NOTES_MAX && !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// Says what is lost.
    pub(crate) fn loss(&mut self, note: impl AsRef<str>) {
        let note = line(note.as_ref(), NOTE_CHARS_MAX);
        if self.losses.len() < NOTES_MAX && !self.losses.contains(&note) {
            self.losses.push(note);
        }
    }

    /// Takes in the notes about the rest of the same operation.
    pub(crate) fn extend(&mut self, more: &ImportNotes) {
        for Review { part, cause, details } in &more.reviews {
            self.review(*part, Doubt::new(cause));
            details.iter().for_each(|detail| self.review(*part, Doubt::about(cause, detail)));
        }
        more.losses.iter().for_each(|note| self.loss(note));
        more.remarks.iter().for_each(|(part, remark)| self.remark(*part, remark));
        self.made_up_scope = more.made_up_scope.clone().or_else(|| self.made_up_scope.take());
    }

    /// The guesses about a part.
    pub(crate) fn about(&self, part: Part) -> impl Iterator<Item = &Review> {
        self.reviews.iter().filter(move |review| review.part == part)
    }

    /// The remarks about a part.
    pub(crate) fn remarks_about(&self, part: Part) -> impl Iterator<Item = &str> {
        self.remarks.iter().filter(move |(about, _)| *about == part).map(|(_, remark)| remark.as_str())
    }
}

/// A cause for review, over all endpoints of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewCause {
    /// What it is about.
    pub part: Part,
    /// Why somebody has to look.
    pub cause: &'static str,
    /// How many endpoints it holds for.
    pub count: usize,
    /// The file in which it is marked: that of the first endpoint that has it.
    pub file: String,
}

/// The causes for review of an import, in the order of the files in which they are marked. A document has thousands of
/// places with one cause; people read what is marked once and says how often it holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReviewCauses(Vec<ReviewCause>);

impl ReviewCauses {
    /// Counts what is noted of an endpoint, whose file is called `file`.
    pub(crate) fn count(&mut self, file: &str, notes: &ImportNotes) {
        for review in &notes.reviews {
            match self.0.iter_mut().find(|known| known.part == review.part && known.cause == review.cause) {
                Some(known) => known.count += 1,
                None => {
                    self.0.push(ReviewCause { part: review.part, cause: review.cause, count: 1, file: file.to_owned() })
                }
            }
        }
    }

    /// A guess as a comment in a file: marked where its cause is met first, else with the name of that file.
    pub(crate) fn comment(&self, file: &str, review: &Review) -> String {
        let text = review.text();
        match self.0.iter().find(|known| known.part == review.part && known.cause == review.cause) {
            Some(known) if known.file != file => format!("# As marked in {}: {text}", known.file),
            Some(known) if known.count > 1 => format!("# REVIEW ({} endpoints): {text}", known.count),
            _ => format!("# REVIEW: {text}"),
        }
    }

    /// Whether a file has a mark.
    pub(crate) fn has_mark(&self, file: &str) -> bool {
        self.0.iter().any(|known| known.file == file)
    }

    /// All of them.
    pub(crate) fn into_all(self) -> Vec<ReviewCause> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAUSE: &str = "it is strange";

    #[test]
    fn a_note_is_short_and_said_once() {
        let mut notes = ImportNotes::default();
        for _ in 0..2 {
            notes.loss("a\nb");
            notes.review(Part::Path, Doubt::about(CAUSE, "x".repeat(NOTE_CHARS_MAX + 1)));
        }
        assert_eq!(notes.losses, ["a b"]);
        assert_eq!(notes.reviews[0].details[0].chars().count(), NOTE_CHARS_MAX + 1, "cut, with a mark");
        assert_eq!((notes.reviews.len(), notes.about(Part::Path).count()), (1, 1));
    }

    #[test]
    fn an_operation_has_at_most_so_many_notes() {
        let mut notes = ImportNotes::default();
        (0..=NOTES_MAX).for_each(|n| notes.loss(n.to_string()));
        (0..=NOTES_MAX).for_each(|n| notes.review(Part::Input, Doubt::about(CAUSE, n.to_string())));
        (0..=NOTES_MAX).for_each(|n| notes.remark(Part::Path, n.to_string()));
        let details = &notes.reviews[0].details;
        assert_eq!((notes.losses.len(), details.len(), notes.remarks.len()), (NOTES_MAX, NOTES_MAX, NOTES_MAX));
        assert_eq!(notes.reviews[0].text(), format!("it is strange: 0, 1, 2 and {} more", NOTES_MAX - 3));
    }

    #[test]
    fn a_cause_is_marked_once_with_a_count() {
        let (mut causes, mut notes) = (ReviewCauses::default(), ImportNotes::default());
        notes.review(Part::Input, Doubt::new(CAUSE));
        let review = notes.reviews[0].clone();
        causes.count("a.toml", &notes);
        assert_eq!(causes.comment("a.toml", &review), "# REVIEW: it is strange");
        causes.count("b.toml", &notes);
        assert_eq!(causes.comment("a.toml", &review), "# REVIEW (2 endpoints): it is strange");
        assert_eq!(causes.comment("b.toml", &review), "# As marked in a.toml: it is strange");
        assert!(causes.has_mark("a.toml") && !causes.has_mark("b.toml"));
    }
}
