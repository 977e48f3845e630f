//! Candidates. PostgreSQL has no BM25; what ranks them is near it: how rare each term is, how often a document has it and
//! how long it is. The order that counts is made of the candidates, elsewhere.

use forecourt_retrieval::{CandidateQuery, Candidates, Predicate, QuantityOrder, ScoredTerm, TermField};
use tokio_postgres::types::Type;

use super::statement::Statement;
use super::table::{Result, Table, candidate, column};
use super::terms::lexeme;
use crate::limits::{POSTGRES_COUNTED_MAX, POSTGRES_RANKED_MAX, POSTGRES_READINGS_MAX};

/// Items by whose length the average is judged.
const LENGTH_SAMPLE: usize = 1_000;
/// How alike two words are, 0 to 1, of which one may be meant by the other.
const SIMILARITY_MIN: f64 = 0.2;
/// What `ts_rank` gives where a term occurs once.
const RANK_OF_ONE: f64 = 0.61;

impl Table {
    pub(super) async fn find(&self, query: &CandidateQuery) -> Result<Candidates> {
        if !self.is_there().await? {
            return Ok(Candidates { frequencies: vec![0; query.terms.len()], ..Candidates::default() });
        }
        let frequencies = self.frequencies(&query.terms).await?;
        let items = self.counted_items().await?;
        let mut terms: Vec<RankedTerm> = query
            .terms
            .iter()
            .zip(&frequencies)
            .map(|(term, frequency)| RankedTerm::of(term, *frequency, items))
            .collect();
        let almost = if query.almost.is_empty() || !self.has_trigrams().await? { &[][..] } else { &query.almost };
        for word in almost {
            let readings = self.readings(word).await?;
            terms.extend(readings.iter().map(|word| RankedTerm {
                lexeme: lexeme(TermField::Spelled, word),
                weight: 1.0,
                frequency: 1,
            }));
        }
        let is_asked = !query.terms.is_empty() || !query.almost.is_empty();
        let terms = affordable(terms);
        if is_asked && terms.is_empty() {
            return Ok(Candidates { found: Vec::new(), frequencies });
        }
        let statement = self.selection(query, &terms);
        let rows = self.rows(&statement.sql, &statement.parameters()).await?;
        Ok(Candidates { found: rows.iter().map(candidate).collect::<Result<_>>()?, frequencies })
    }

    fn selection(&self, query: &CandidateQuery, terms: &[RankedTerm]) -> Statement {
        let mut statement = Statement::default();
        let limits = statement.condition(&query.limits);
        let (asked, order) = match (&query.order, terms) {
            (Some(order), _) => ("true".to_owned(), by_quantity(&mut statement, order)),
            (None, []) => ("true".to_owned(), "key".to_owned()),
            (None, terms) => {
                let all: Vec<&str> = terms.iter().map(|term| term.lexeme.as_str()).collect();
                let asked = statement.matches(all.join(" | "));
                let scores: Vec<String> = terms.iter().map(|term| score(&mut statement, term)).collect();
                (asked, format!("({}) DESC, key", scores.join(" + ")))
            }
        };
        statement.sql = format!(
            "SELECT key, hash, origin, length, pairs, id, item FROM (SELECT * FROM {0} WHERE {asked} AND {limits} \
             LIMIT {POSTGRES_RANKED_MAX}) found, \
             (SELECT greatest(avg(length), 1) AS average FROM (SELECT length FROM {0} ORDER BY key \
             LIMIT {LENGTH_SAMPLE}) few) lengths ORDER BY {order} LIMIT {1}",
            self.name, query.most
        );
        if query.order.is_some() || terms.is_empty() {
            // All of them are in the order, and not the first that were met.
            statement.sql = format!(
                "SELECT key, hash, origin, length, pairs, id, item FROM {} WHERE {asked} AND {limits} ORDER BY {order} LIMIT {}",
                self.name, query.most
            );
        }
        statement
    }

    /// How many documents have each of these terms: counted up to a bound, beyond it what the planner expects.
    async fn frequencies(&self, terms: &[ScoredTerm]) -> Result<Vec<u64>> {
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let mut statement = Statement::default();
        let conditions = terms.iter().map(|term| statement.matches(lexeme(term.field, &term.term)));
        // One after another, on one connection: a question takes none away from the others. Each on its own and not as
        // rows of a join, so that the planner knows which of them is frequent, and does not look up all that have it.
        let counts: Vec<String> =
            conditions.map(|condition| format!("({})", self.counting(&condition, POSTGRES_COUNTED_MAX + 1))).collect();
        let sql = format!("SELECT ARRAY[{}]", counts.join(", "));
        let rows = self.rows(&sql, &statement.parameters()).await?;
        let counted: Vec<i64> = rows.first().map_or(Ok(Vec::new()), |row| column(row, 0))?;
        let mut frequencies = Vec::with_capacity(terms.len());
        for (term, counted) in terms.iter().zip(counted) {
            let counted = counted.unsigned_abs();
            let is_frequent = counted > POSTGRES_COUNTED_MAX;
            frequencies.push(if is_frequent { self.expected(term).await?.max(counted) } else { counted });
        }
        Ok(frequencies)
    }

    /// How many documents the planner expects to have a term.
    async fn expected(&self, term: &ScoredTerm) -> Result<u64> {
        let mut statement = Statement::default();
        let condition = statement.matches(lexeme(term.field, &term.term));
        let sql = format!("EXPLAIN (FORMAT JSON) SELECT 1 FROM {} WHERE {condition}", self.name);
        let rows = self.rows(&sql, &statement.parameters()).await?;
        let plan: Option<serde_json::Value> = rows.first().map(|row| column(row, 0)).transpose()?;
        let expected = plan.and_then(|plan| plan[0]["Plan"]["Plan Rows"].as_f64()).unwrap_or_default();
        Ok(expected as u64)
    }

    /// SQL that counts what passes a condition, up to `most`.
    fn counting(&self, condition: &str, most: u64) -> String {
        format!("SELECT count(*) FROM (SELECT 1 FROM {} WHERE {condition} LIMIT {most}) few", self.name)
    }

    async fn counted(&self, condition: &str, statement: &Statement, most: u64) -> Result<u64> {
        let rows = self.rows(&self.counting(condition, most), &statement.parameters()).await?;
        rows.first().map_or(Ok(0), |row| Ok(column::<i64>(row, 0)?.unsigned_abs()))
    }

    pub(super) async fn count(&self, limits: &Predicate, most: usize) -> Result<u64> {
        if !self.is_there().await? {
            return Ok(0);
        }
        let mut statement = Statement::default();
        let condition = statement.condition(limits);
        self.counted(&condition, &statement, i64::try_from(most).unwrap_or(i64::MAX).unsigned_abs()).await
    }

    async fn has_trigrams(&self) -> Result<bool> {
        Ok(!self.rows("SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'", &[]).await?.is_empty())
    }

    /// Words that are spelled almost as one, or begin with it.
    async fn readings(&self, word: &str) -> Result<Vec<String>> {
        let word = word.replace('\0', "");
        // By distance and not by `%`, whose threshold is a setting that a typing error in the middle does not reach.
        let sql = format!(
            "(SELECT word FROM {0}_words WHERE similarity(word, $1) > {SIMILARITY_MIN} ORDER BY word <-> $1 LIMIT $3) \
             UNION (SELECT word FROM {0}_words WHERE word LIKE $2 LIMIT $3)",
            self.name
        );
        // Words are letters and digits: nothing in them means anything to LIKE.
        let beginning = format!("{word}%");
        let parameters =
            [(&word as _, Type::TEXT), (&beginning as _, Type::TEXT), (&POSTGRES_READINGS_MAX as _, Type::INT8)];
        self.rows(&sql, &parameters).await?.iter().map(|row| column(row, 0)).collect()
    }
}

/// A term and what it counts.
struct RankedTerm {
    lexeme: String,
    weight: f64,
    frequency: u64,
}

impl RankedTerm {
    fn of(term: &ScoredTerm, frequency: u64, items: u64) -> Self {
        let (with, all) = (frequency as f64, items as f64);
        let rarity = (1.0 + ((all - with).max(0.0) + 0.5) / (with + 0.5)).ln();
        Self { lexeme: lexeme(term.field, &term.term), weight: f64::from(term.boost) * rarity, frequency }
    }
}

/// The rarest terms, of which so many documents have one as can be ranked; always the rarest that there is.
fn affordable(mut terms: Vec<RankedTerm>) -> Vec<RankedTerm> {
    terms.retain(|term| term.frequency > 0);
    terms.sort_by_key(|term| term.frequency);
    let mut sum = 0;
    let mut at = 0;
    terms.retain(|term| {
        sum += term.frequency;
        at += 1;
        at == 1 || sum <= POSTGRES_RANKED_MAX
    });
    terms
}

/// What a document scores by one term: as BM25 does, with what `ts_rank` tells of how often it has it.
fn score(statement: &mut Statement, term: &RankedTerm) -> String {
    let query = statement.text(term.lexeme.clone());
    let weight = statement.number(term.weight);
    let rank = format!("ts_rank('{{1,1,1,1}}', terms, {query}::tsquery)");
    format!(
        "CASE WHEN terms @@ {query}::tsquery THEN {weight} * {rank} / \
         ({rank} + {RANK_OF_ONE} * 1.2 * (0.25 + 0.75 * length / average)) ELSE 0 END"
    )
}

fn by_quantity(statement: &mut Statement, order: &QuantityOrder) -> String {
    let path = statement.text(order.path.replace('\0', "\u{FFFD}"));
    let (best, direction) = if order.descending { ("max", "DESC") } else { ("min", "ASC") };
    format!(
        "(SELECT {best}(value::float8) FROM jsonb_array_elements_text(numbers -> {path}) AS quantity (value)) \
         {direction} NULLS LAST, key"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_take_too_long_is_left_to_the_rarest_words() {
        let term = |frequency: u64| RankedTerm { lexeme: frequency.to_string(), weight: 1.0, frequency };
        let kept = |all: &[u64]| {
            affordable(all.iter().copied().map(term).collect()).iter().map(|term| term.frequency).collect::<Vec<_>>()
        };
        assert_eq!(kept(&[POSTGRES_RANKED_MAX - 5, 5, 0]), [5, POSTGRES_RANKED_MAX - 5]);
        assert_eq!(kept(&[POSTGRES_RANKED_MAX - 4, 5]), [5]);
        assert_eq!(kept(&[POSTGRES_RANKED_MAX + 1]), [POSTGRES_RANKED_MAX + 1], "one is always left");
    }
}
