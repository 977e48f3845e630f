//! Statements that are put together from tests of documents. What comes from a question is a parameter, never SQL.

use forecourt_retrieval::{Predicate, TermField};
use forecourt_store::SqlParameter;
use tokio_postgres::types::Type;

use super::terms::lexeme;

/// SQL and its parameters.
#[derive(Debug, Default)]
pub(super) struct Statement {
    pub(super) sql: String,
    parameters: Vec<Parameter>,
}

#[derive(Debug)]
enum Parameter {
    Text(String),
    Key(i64),
    Number(f64),
}

impl Parameter {
    fn typed(&self) -> SqlParameter<'_> {
        match self {
            Self::Text(text) => (text, Type::TEXT),
            Self::Key(key) => (key, Type::INT8),
            Self::Number(number) => (number, Type::FLOAT8),
        }
    }
}

/// A key as PostgreSQL's signed integers have it, in the same order.
pub(super) fn signed(key: u64) -> i64 {
    key.cast_signed() ^ i64::MIN
}

/// The key of such an integer.
pub(super) fn unsigned(key: i64) -> u64 {
    (key ^ i64::MIN).cast_unsigned()
}

impl Statement {
    /// Adds a parameter and says how it is written.
    pub(super) fn text(&mut self, text: String) -> String {
        self.add(Parameter::Text(text))
    }

    /// The same for a number.
    pub(super) fn number(&mut self, number: f64) -> String {
        self.add(Parameter::Number(number))
    }

    /// The same for a key, which is another one as it is stored.
    pub(super) fn key(&mut self, key: u64) -> String {
        self.add(Parameter::Key(signed(key)))
    }

    fn add(&mut self, parameter: Parameter) -> String {
        self.parameters.push(parameter);
        format!("${}", self.parameters.len())
    }

    /// The parameters in their order.
    pub(super) fn parameters(&self) -> Vec<SqlParameter<'_>> {
        self.parameters.iter().map(Parameter::typed).collect()
    }

    /// That a document has one of these terms, as `tsquery` writes it.
    pub(super) fn matches(&mut self, tsquery: String) -> String {
        let place = self.text(tsquery);
        format!("terms @@ {place}::tsquery")
    }

    /// A test of a document as a condition.
    pub(super) fn condition(&mut self, predicate: &Predicate) -> String {
        match predicate {
            Predicate::All(all) => self.joined(all, "AND", "true"),
            Predicate::Any(any) => match terms_of(any) {
                // One look into the index for all of them.
                Some(terms) if terms.len() > 1 => self.matches(terms.join(" | ")),
                _ => self.joined(any, "OR", "false"),
            },
            Predicate::Not(not) => format!("NOT {}", self.condition(not)),
            Predicate::Term(field, term) => self.matches(lexeme(*field, term)),
            Predicate::FactBegins(beginning) => self.matches(format!("{}:*", lexeme(TermField::Facts, beginning))),
            Predicate::Key(key) => {
                let place = self.key(*key);
                format!("key = {place}")
            }
            Predicate::Within { path, from, to } => self.within(path, *from, *to),
        }
    }

    fn joined(&mut self, all: &[Predicate], by: &str, none: &str) -> String {
        let conditions: Vec<String> = all.iter().map(|one| self.condition(one)).collect();
        if conditions.is_empty() { none.to_owned() } else { format!("({})", conditions.join(&format!(" {by} "))) }
    }

    fn within(&mut self, path: &str, from: Option<f64>, to: Option<f64>) -> String {
        let path = self.text(json_path(path));
        let from = self.number(from.unwrap_or(f64::MIN));
        let to = self.number(to.unwrap_or(f64::MAX));
        format!("jsonb_path_exists(numbers, {path}::jsonpath, jsonb_build_object('from', {from}, 'to', {to}))")
    }
}

/// The lexemes of tests that ask for one each. `None`: one of them asks for something else.
fn terms_of(predicates: &[Predicate]) -> Option<Vec<String>> {
    let term = |predicate: &Predicate| match predicate {
        Predicate::Term(field, term) => Some(lexeme(*field, term)),
        _ => None,
    };
    predicates.iter().map(term).collect()
}

/// A path of JSON to the numbers of a property between `$from` and `$to`.
fn json_path(path: &str) -> String {
    // A JSON string is one of a JSON path as well.
    format!("$.{}[*] ? (@ >= $from && @ <= $to)", serde_json::Value::from(path.replace('\0', "\u{FFFD}")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_keep_their_order() {
        let keys = [0, 1, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX];
        assert!(keys.windows(2).all(|two| signed(two[0]) < signed(two[1])));
        assert!(keys.iter().all(|key| unsigned(signed(*key)) == *key));
    }

    proptest! {
        #[test]
        fn what_is_asked_is_never_a_part_of_the_statement(term in ".{0,40}", path in ".{0,40}") {
            let of = |term: &str, path: &str| {
                let mut statement = Statement::default();
                let all = Predicate::All(vec![
                    Predicate::Term(TermField::Words, term.to_owned()).negated(),
                    Predicate::Any(vec![Predicate::FactBegins(term.to_owned()), Predicate::Key(1)]),
                    Predicate::Within { path: path.to_owned(), from: Some(1.0), to: None },
                ]);
                let condition = statement.condition(&all);
                (condition, statement.parameters.len())
            };
            prop_assert_eq!(of(&term, &path), of("x", "y"));
        }
    }
}
