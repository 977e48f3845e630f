//! The limits of a question, held against one variant of an item after the other.

use forecourt_understanding::{ClassLimit, Filter, Test};
use tantivy::DocAddress;

use crate::analysis::{LanguageAnalyzer, Words, fact_word, whole_fact};
use crate::classes::{CLASS, FREE_OF, STATED};
use crate::index::Snapshot;
use crate::limits::WHOLE_FACT_BYTES_MAX;
use crate::variants::{number_key, parts, term_key, text_key};

/// What all limits of a question ask of one variant.
#[derive(Debug, Clone, Default)]
pub(super) struct VariantTests(Vec<VariantTest>);

/// What one limit asks of it.
#[derive(Debug, Clone)]
enum VariantTest {
    /// One of these properties has all terms of one of these lists.
    Terms { keys: Vec<u64>, any: Vec<Vec<u64>> },
    /// It states one of these properties, and none of these values of it.
    NoneOf { keys: Vec<u64>, values: Vec<u64> },
    /// One of these properties is a quantity within.
    Within { keys: Vec<u64>, from: f64, to: f64 },
    /// It is of one of these classes.
    OfClass(Vec<u64>),
    /// It passes one of these.
    Any(Vec<Self>),
    /// It says of each class that it is not of it.
    Without(Vec<UnwantedClass>),
}

/// The terms by which a variant says something of a class.
#[derive(Debug, Clone)]
struct UnwantedClass {
    of: u64,
    free_of: u64,
    /// It states what there is of the area of this class.
    stated: u64,
}

impl VariantTests {
    /// The tests of some limits. Those that no single variant can keep, such as an id, are none of them.
    pub(super) fn of(filters: &[Filter], tongues: &[LanguageAnalyzer]) -> Self {
        Self(filters.iter().filter_map(|filter| VariantTest::of(filter, tongues)).collect())
    }

    /// Whether what passes each limit may still pass them with no single variant.
    pub(super) fn are_needed(&self) -> bool {
        self.0.len() > 1
            || self.0.iter().any(|test| matches!(test, VariantTest::Without(_) | VariantTest::NoneOf { .. }))
    }

    /// The variants of a column that pass all of it, by their places. `None`: nothing is asked that differs between
    /// them, or there are none.
    pub(super) fn passing(&self, column: &[u64]) -> Option<Vec<usize>> {
        let all = parts(column);
        let (shared, variants) = all.split_first()?;
        let mut passing: Vec<bool> = vec![true; variants.len()];
        let mut is_asked = false;
        for test in &self.0 {
            let said: Vec<Option<bool>> = variants.iter().map(|variant| test.passes(variant, shared)).collect();
            // What no variant states, and not the item in their stead, is said of the item as a whole.
            if said.iter().all(Option::is_none) {
                continue;
            }
            is_asked = true;
            passing.iter_mut().zip(said).for_each(|(passing, said)| *passing &= said == Some(true));
        }
        let places = passing.iter().enumerate().filter(|(_, passing)| **passing).map(|(place, _)| place);
        (is_asked && !variants.is_empty()).then(|| places.collect())
    }

    /// The quantities of a property that the variants have which pass. `None`: as [`VariantTests::passing`].
    pub(super) fn quantities(&self, column: &[u64], path: &str) -> Option<Vec<f64>> {
        let passing = self.passing(column)?;
        let (key, all) = (number_key(path), parts(column));
        let (shared, variants) = all.split_first()?;
        let of = |part: &&[u64]| -> Vec<f64> {
            pairs(part).filter(|(found, _)| *found == key).map(|(_, bits)| f64::from_bits(bits)).collect()
        };
        let each = passing.iter().filter_map(|place| variants.get(*place)).flat_map(|variant| {
            let own = of(variant);
            if own.is_empty() { of(shared) } else { own }
        });
        Some(each.collect())
    }
}

/// The column of a document; empty for one without variants.
pub(super) fn column(snapshot: &Snapshot, address: DocAddress) -> Vec<u64> {
    snapshot.variants[address.segment_ord as usize].values_for_doc(address.doc_id).collect()
}

impl VariantTest {
    fn of(filter: &Filter, tongues: &[LanguageAnalyzer]) -> Option<Self> {
        // An id and a link are those of the item as a whole.
        if filter.fields.iter().any(|field| matches!(field.as_str(), "@id" | "url")) {
            return None;
        }
        let texts = || filter.fields.iter().map(|field| text_key(field)).collect();
        Some(match &filter.test {
            Test::Is(value) if value.len() <= WHOLE_FACT_BYTES_MAX => {
                let any = filter.fields.iter().map(|field| vec![term_key(&whole_fact(field, value))]);
                Self::Terms { keys: texts(), any: any.collect() }
            }
            Test::Is(words) | Test::Mentions(words) => {
                Self::Terms { keys: texts(), any: mentions(&filter.fields, std::slice::from_ref(words), tongues) }
            }
            Test::OneOf(each) | Test::IsOneOf { values: each, .. } => {
                Self::Terms { keys: texts(), any: mentions(&filter.fields, each, tongues) }
            }
            Test::Within { from, to } => Self::Within {
                keys: filter.fields.iter().map(|field| number_key(field)).collect(),
                from: from.unwrap_or(f64::NEG_INFINITY),
                to: to.unwrap_or(f64::INFINITY),
            },
            Test::OfClass(classes) => Self::OfClass(classes.iter().map(|class| mark(CLASS, class)).collect()),
            Test::Without { classes, .. } if !classes.is_empty() => {
                let unwanted = |limit: &ClassLimit| UnwantedClass {
                    of: mark(CLASS, &limit.class),
                    free_of: mark(FREE_OF, &limit.class),
                    stated: mark(STATED, &limit.area),
                };
                Self::Without(classes.iter().map(unwanted).collect())
            }
            // "Under 50" of what is paid or earned: what one alternative asks of variants is asked of each of them.
            Test::AnyOf(all) => {
                let any: Vec<Self> = all.iter().filter_map(|one| Self::of(one, tongues)).collect();
                (any.len() == all.len()).then_some(Self::Any(any))?
            }
            Test::NoneOf(values) => {
                let fields = filter.fields.iter();
                let terms =
                    fields.flat_map(|field| values.iter().map(move |value| term_key(&whole_fact(field, value))));
                Self::NoneOf { keys: texts(), values: terms.collect() }
            }
            // Warnings, ages, days and where it is are those of the item as a whole.
            Test::Without { .. } | Test::Unstated(_) | Test::Overlaps { .. } | Test::Near { .. } | Test::Permits => {
                return None;
            }
        })
    }

    /// Whether a variant passes. `None`: neither it nor what all share says anything of it.
    fn passes(&self, variant: &[u64], shared: &[u64]) -> Option<bool> {
        match self {
            Self::Terms { keys, any } => {
                let said = stating(keys, variant, shared)?;
                Some(any.iter().any(|all| all.iter().all(|term| pairs(said).any(|(_, value)| value == *term))))
            }
            Self::NoneOf { keys, values } => {
                let said = stating(keys, variant, shared)?;
                Some(!pairs(said).any(|(_, value)| values.contains(&value)))
            }
            Self::Within { keys, from, to } => {
                let said = stating(keys, variant, shared)?;
                let is_within = |value: f64| (*from..=*to).contains(&value);
                Some(pairs(said).any(|(key, bits)| keys.contains(&key) && is_within(f64::from_bits(bits))))
            }
            Self::Any(tests) => {
                tests.iter().filter_map(|test| test.passes(variant, shared)).reduce(|any, passes| any || passes)
            }
            // A name of all ("Red shoe") holds for each of them.
            Self::OfClass(classes) => {
                let of_class = text_key(CLASS);
                let is_said = [variant, shared].into_iter().flat_map(pairs).any(|(key, _)| key == of_class);
                is_said.then(|| classes.iter().any(|class| has(variant, *class) || has(shared, *class)))
            }
            Self::Without(classes) => Some(classes.iter().all(|class| {
                // What it is made of itself counts more than what its group says of all.
                if has(variant, class.stated) {
                    return !has(variant, class.of);
                }
                let either = |term: u64| has(variant, term) || has(shared, term);
                !either(class.of) && (either(class.stated) || either(class.free_of))
            })),
        }
    }
}

fn mark(path: &str, id: &str) -> u64 {
    term_key(&whole_fact(path, id))
}

fn mentions(fields: &[String], texts: &[String], tongues: &[LanguageAnalyzer]) -> Vec<Vec<u64>> {
    let each = fields.iter().flat_map(|field| texts.iter().map(move |text| (field, text)));
    let each = each.flat_map(|(field, text)| tongues.iter().map(move |tongue| (field, text, *tongue)));
    let terms = each.map(|(field, text, tongue)| -> Vec<u64> {
        Words::of(text, tongue).iter().map(|word| term_key(&fact_word(field, word))).collect()
    });
    terms.filter(|terms| !terms.is_empty()).collect()
}

fn pairs(part: &[u64]) -> impl Iterator<Item = (u64, u64)> + '_ {
    part.chunks_exact(2).map(|pair| (pair[0], pair[1]))
}

fn has(part: &[u64], term: u64) -> bool {
    pairs(part).any(|(_, value)| value == term)
}

/// The part that states one of these properties: the variant's own before what all share.
fn stating<'p>(keys: &[u64], variant: &'p [u64], shared: &'p [u64]) -> Option<&'p [u64]> {
    [variant, shared].into_iter().find(|part| pairs(part).any(|(key, _)| keys.contains(&key)))
}
