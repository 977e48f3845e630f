//! Questions and their judgements, read from a folder.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::limits::{FILE_BYTES_MAX, PROBLEMS_MAX, QUESTIONS_MAX};
use crate::problem::FileProblem;

/// Grades by the ids of documents. A document with a grade above 0 is relevant, one without a grade is not.
pub type Grades = HashMap<String, f64>;

/// A question that somebody judged answers to.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedQuestion {
    /// Its id in the files.
    pub id: String,
    /// What was asked.
    pub text: String,
    /// At least one is above 0.
    pub grades: Grades,
}

/// A judged set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JudgedSet {
    /// The documents. `None`: they are not in the folder.
    pub corpus: Option<PathBuf>,
    /// The questions with a relevant document, in the order of their file.
    pub questions: Vec<JudgedQuestion>,
    /// Questions that nobody judged, or without a relevant document: they can't be scored.
    pub unjudged: usize,
}

impl JudgedSet {
    /// Reads the questions and judgements of a folder.
    ///
    /// # Errors
    /// A file is missing, too large or not in shape: what is wrong, with file and line, the first
    /// [`PROBLEMS_MAX`] problems of each file.
    pub fn read(folder: &Path) -> Result<Self, Vec<FileProblem>> {
        let corpus = Some(folder.join("corpus.jsonl")).filter(|corpus| corpus.is_file());
        let tables = [folder.join("qrels.tsv"), folder.join("qrels").join("test.tsv")];
        let Some(table) = tables.iter().find(|table| table.is_file()) else {
            let reason = "no judgements: `qrels.tsv` or `qrels/test.tsv` with a query, a document and a grade a line";
            return Err(vec![FileProblem::of(folder, reason)]);
        };
        let queries = folder.join("queries.jsonl");
        match (
            text(table).and_then(|text| grades(table, &text)),
            text(&queries).and_then(|text| questions(&queries, &text)),
        ) {
            (Ok(grades), Ok(questions)) => Ok(Self::of(corpus, questions, grades)),
            // The problems of both files at once.
            (grades, questions) => Err([grades.err(), questions.err()].into_iter().flatten().flatten().collect()),
        }
    }

    fn of(corpus: Option<PathBuf>, all: Vec<(String, String)>, mut grades: HashMap<String, Grades>) -> Self {
        let count = all.len();
        let is_relevant = |grades: &Grades| grades.values().any(|grade| *grade > 0.0);
        let judged = all.into_iter().filter_map(|(id, text)| {
            // Without a relevant document every ranking scores 0, and the mean would say nothing.
            let grades = grades.remove(&id).filter(is_relevant)?;
            Some(JudgedQuestion { id, text, grades })
        });
        let questions: Vec<JudgedQuestion> = judged.collect();
        Self { corpus, unjudged: count - questions.len(), questions }
    }
}

fn text(file: &Path) -> Result<String, Vec<FileProblem>> {
    let failed = |error: std::io::Error| vec![FileProblem::of(file, error.to_string())];
    if fs::metadata(file).map_err(failed)?.len() > FILE_BYTES_MAX {
        return Err(vec![FileProblem::of(file, format!("it has more than {FILE_BYTES_MAX} bytes"))]);
    }
    fs::read_to_string(file).map_err(failed)
}

/// Collects problems up to their bound.
fn all<T>(file: &Path, lines: impl Iterator<Item = (usize, Result<T, String>)>) -> Result<Vec<T>, Vec<FileProblem>> {
    let (mut read, mut problems) = (Vec::new(), Vec::new());
    for (line, one) in lines {
        match one {
            Ok(one) => read.push(one),
            Err(reason) if problems.len() < PROBLEMS_MAX => problems.push(FileProblem::at(file, line, reason)),
            Err(_) => break,
        }
    }
    if problems.is_empty() { Ok(read) } else { Err(problems) }
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty())
}

fn questions(file: &Path, text: &str) -> Result<Vec<(String, String)>, Vec<FileProblem>> {
    let mut seen = HashMap::new();
    let one = |(at, line): (usize, &str)| {
        let read = question(line).and_then(|(id, text)| match seen.insert(id.clone(), at) {
            None if seen.len() > QUESTIONS_MAX => Err(format!("more than {QUESTIONS_MAX} questions")),
            None => Ok((id, text)),
            Some(first) => Err(format!("the question {id:?} is on line {first} already")),
        });
        (at, read)
    };
    all(file, lines(text).map(one))
}

fn question(line: &str) -> Result<(String, String), String> {
    let value: Value = serde_json::from_str(line).map_err(|error| format!("not a line of JSON: {error}"))?;
    let id = id_of(&value).ok_or("a question needs an `_id`")?;
    match value["text"].as_str().map(str::trim).filter(|text| !text.is_empty()) {
        Some(text) => Ok((id, text.to_owned())),
        None => Err(format!("the question {id:?} has no `text`")),
    }
}

/// An `_id`, also where it is a number.
pub(crate) fn id_of(value: &Value) -> Option<String> {
    match &value["_id"] {
        Value::String(id) if !id.is_empty() => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

fn grades(file: &Path, text: &str) -> Result<HashMap<String, Grades>, Vec<FileProblem>> {
    let mut is_first = true;
    let rows = lines(text).filter_map(|(at, line)| {
        let row = row(line);
        // BEIR's tables have a header and TREC's have none: a first line without a grade is one.
        let is_header = std::mem::take(&mut is_first) && row.is_err();
        (!is_header).then_some((at, row))
    });
    let mut grades: HashMap<String, Grades> = HashMap::new();
    for (query, document, grade) in all(file, rows)? {
        grades.entry(query).or_default().insert(document, grade);
    }
    Ok(grades)
}

/// Query, document and grade; TREC's second column of four says nothing.
fn row(line: &str) -> Result<(String, String, f64), String> {
    // Tabs where there are any: ids of documents may have spaces in them.
    let separator = |c: char| if line.contains('\t') { c == '\t' } else { c.is_whitespace() };
    let columns: Vec<&str> = line.split(separator).map(str::trim).filter(|column| !column.is_empty()).collect();
    let (query, document, grade) = match *columns {
        [query, document, grade] | [query, _, document, grade] => (query, document, grade),
        _ => return Err(format!("{} columns, where a query, a document and a grade are wanted", columns.len())),
    };
    match grade.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((query.to_owned(), document.to_owned(), number)),
        _ => Err(format!("the grade {grade:?} is not a number")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn folder(queries: &str, table: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("queries.jsonl"), queries).unwrap();
        fs::write(folder.path().join("qrels.tsv"), table).unwrap();
        folder
    }

    fn problems(queries: &str, table: &str) -> Vec<String> {
        let folder = folder(queries, table);
        let problems = JudgedSet::read(folder.path()).unwrap_err();
        problems
            .iter()
            .map(|problem| problem.to_string().replace(&format!("{}/", folder.path().display()), ""))
            .collect()
    }

    const QUERIES: &str = "{\"_id\": \"1\", \"text\": \"soup\"}\n\n{\"_id\": 2, \"text\": \"cake\"}\n";

    #[test]
    fn tables_are_read_with_and_without_a_header_and_in_trecs_columns() {
        for table in ["query-id\tcorpus-id\tscore\n1\ta b\t2\n1\tc\t0\n2\td\t0\n", "1\ta b\t2\n1\tc\t0\n"] {
            let set = JudgedSet::read(folder(QUERIES, table).path()).unwrap();
            assert_eq!((set.questions.len(), set.unjudged, set.corpus), (1, 1, None));
            assert_eq!(set.questions[0].grades, Grades::from([("a b".to_owned(), 2.0), ("c".to_owned(), 0.0)]));
        }
        let set = JudgedSet::read(folder(QUERIES, "1 0 a 1\n2 0 b 3\n").path()).unwrap();
        assert_eq!(set.questions[1].grades["b"], 3.0);
    }

    #[test]
    fn every_problem_names_its_file_and_line() {
        assert_eq!(
            problems(QUERIES, "q\td\ts\n1\ta\tgood\n1\ta\n"),
            [
                "qrels.tsv:2: the grade \"good\" is not a number",
                "qrels.tsv:3: 2 columns, where a query, a document and a grade are wanted",
            ]
        );
        let found = problems(
            "{}\n[\n{\"_id\": \"1\"}\n{\"_id\":\"2\",\"text\":\"a\"}\n{\"_id\":\"2\",\"text\":\"b\"}",
            "1\ta\t1\n",
        );
        assert_eq!(found[0], "queries.jsonl:1: a question needs an `_id`");
        assert!(found[1].starts_with("queries.jsonl:2: not a line of JSON"), "{found:?}");
        assert_eq!(found[2], "queries.jsonl:3: the question \"1\" has no `text`");
        assert_eq!(found[3], "queries.jsonl:5: the question \"2\" is on line 4 already");
        let nothing = tempfile::tempdir().unwrap();
        assert!(JudgedSet::read(nothing.path()).unwrap_err()[0].reason.starts_with("no judgements"));
        assert_eq!(problems(&"x\n".repeat(PROBLEMS_MAX + 1), "1\ta\t1\n").len(), PROBLEMS_MAX);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(queries in ".{0,200}", table in "[0-9a-z\\t\\n. ]{0,200}") {
            let _ = JudgedSet::read(folder(&queries, &table).path());
        }
    }
}
