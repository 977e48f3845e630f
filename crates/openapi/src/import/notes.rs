//! What a person should look at again, and what could not be carried over.

use super::words::line;
use crate::limits::{NOTE_CHARS_MAX, NOTES_MAX};

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

/// Notes about one operation, each said once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportNotes {
    /// Guesses, by what they are about.
    pub reviews: Vec<(Part, String)>,
    /// What the endpoint does not do though the operation does.
    pub losses: Vec<String>,
    /// What a reader may want to know and nobody has to decide, by what it is about.
    pub remarks: Vec<(Part, String)>,
    /// The scope that a caller must hold, when it was made up.
    pub made_up_scope: Option<String>,
}

impl ImportNotes {
    /// Marks a guess.
    pub(crate) fn review(&mut self, part: Part, note: impl AsRef<str>) {
        let note = (part, line(note.as_ref(), NOTE_CHARS_MAX));
        // Documents repeat their faults; a file with a thousand marks would be reviewed by nobody.
        if self.reviews.len() < NOTES_MAX && !self.reviews.contains(&note) {
            self.reviews.push(note);
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
        more.reviews.iter().for_each(|(part, note)| self.review(*part, note));
        more.losses.iter().for_each(|note| self.loss(note));
        more.remarks.iter().for_each(|(part, remark)| self.remark(*part, remark));
        self.made_up_scope = more.made_up_scope.clone().or_else(|| self.made_up_scope.take());
    }

    /// The guesses about a part.
    pub(crate) fn about(&self, part: Part) -> impl Iterator<Item = &str> {
        self.reviews.iter().filter(move |(about, _)| *about == part).map(|(_, note)| note.as_str())
    }

    /// The remarks about a part.
    pub(crate) fn remarks_about(&self, part: Part) -> impl Iterator<Item = &str> {
        self.remarks.iter().filter(move |(about, _)| *about == part).map(|(_, remark)| remark.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_short_and_said_once() {
        let mut notes = ImportNotes::default();
        for _ in 0..2 {
            notes.loss("a\nb");
            notes.review(Part::Path, "x".repeat(NOTE_CHARS_MAX + 1));
        }
        assert_eq!(notes.losses, ["a b"]);
        assert_eq!(notes.reviews[0].1.chars().count(), NOTE_CHARS_MAX + 1, "cut, with a mark");
        assert_eq!((notes.reviews.len(), notes.about(Part::Path).count()), (1, 1));
    }

    #[test]
    fn an_operation_has_at_most_so_many_notes() {
        let mut notes = ImportNotes::default();
        (0..=NOTES_MAX).for_each(|n| notes.loss(n.to_string()));
        (0..=NOTES_MAX).for_each(|n| notes.review(Part::Input, n.to_string()));
        (0..=NOTES_MAX).for_each(|n| notes.remark(Part::Path, n.to_string()));
        assert_eq!((notes.losses.len(), notes.reviews.len(), notes.remarks.len()), (NOTES_MAX, NOTES_MAX, NOTES_MAX));
    }
}
