//! The search through graphs, held against comparing every row.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::DocId;
use tantivy::columnar::ColumnValues;
use tantivy::directory::{MmapDirectory, OwnedBytes};
use tantivy::fastfield::AliveBitSet;

use super::Model;
use super::file::Rows;
use super::graph::{LINKS, TRIALS, Walk};
use super::links::Links as _;
use super::nearest::{FilteredVisit, Near};
use super::quantized::{QuantizedVector, Row};
use super::vectors::Vectors;
use super::write::RowsWriter;
use crate::columns::Columns;
use crate::item_texts::embeddable;
use forecourt_loaders::item::{Item, Place};

const WANTED: usize = 100;
const RECALL_MIN: f64 = 0.95;
/// So many rows are joined in these tests.
const JOINED_MIN: usize = 1_000;

/// Texts are about so many things.
const GROUPS: usize = 8;

/// Numbers without a pattern, the same in every run (SplitMix64), as normal as a sum of four is.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn vector(&mut self, dims: usize) -> Vec<f32> {
        (0..dims).map(|_| (0..4).map(|_| self.roll()).sum()).collect()
    }

    /// Around one of several middles.
    fn grouped(&mut self, count: usize, dims: usize) -> Vec<Vec<f32>> {
        let middles: Vec<Vec<f32>> = (0..GROUPS).map(|_| self.vector(dims)).collect();
        let near = |middle: &Vec<f32>, noise: Vec<f32>| middle.iter().zip(noise).map(|(m, n)| m + n * 0.6).collect();
        (0..count).map(|n| near(&middles[n % GROUPS], self.vector(dims))).collect()
    }
}

/// A column in memory.
struct Listed(Vec<u64>);

impl ColumnValues<u64> for Listed {
    fn get_val(&self, doc: DocId) -> u64 {
        self.0[doc as usize]
    }

    fn min_value(&self) -> u64 {
        0
    }

    fn max_value(&self) -> u64 {
        u64::MAX
    }

    fn num_vals(&self) -> u32 {
        self.0.len() as u32
    }
}

/// A segment of documents whose keys and content hashes are these.
fn segment(hashes: impl Iterator<Item = u64>, deleted: &[DocId]) -> Columns {
    let hashes: Vec<u64> = hashes.collect();
    // As tantivy writes them: how many, then a bit for each.
    let mut bytes = Vec::from((hashes.len() as u32).to_le_bytes());
    for word in 0..hashes.len().div_ceil(64) as u32 {
        let living = |bit: &u32| !deleted.contains(&(word * 64 + bit));
        bytes.extend((0..64).filter(living).fold(0_u64, |bits, bit| bits | 1 << bit).to_le_bytes());
    }
    let column: Arc<dyn ColumnValues<u64>> = Arc::new(Listed(hashes));
    let living = Some(AliveBitSet::open(OwnedBytes::new(bytes)));
    Columns { key: column.clone(), hash: column.clone(), origin: column, living }
}

/// A folder of vector files.
struct Files {
    dir: tempfile::TempDir,
    dims: usize,
}

impl Files {
    fn new(dims: usize) -> Self {
        Self { dir: tempfile::tempdir().unwrap(), dims }
    }

    fn write(&self, name: &str, first: u64, vectors: &[Vec<f32>]) {
        self.write_with(name, first, vectors, &[]);
    }

    /// Writes a file of rows with hashes from `first` on.
    fn write_with(&self, name: &str, first: u64, vectors: &[Vec<f32>], trials: &[Vec<f32>]) {
        let mut writer = RowsWriter::create(self.dir.path(), self.dims).unwrap();
        for (vector, hash) in vectors.iter().zip(first..) {
            writer.push(hash, &QuantizedVector::unit(vector).unwrap().to_bytes()).unwrap();
        }
        trials.iter().for_each(|trial| writer.try_with(QuantizedVector::of(trial)));
        writer.finish(name, JOINED_MIN, None).unwrap();
    }

    fn open(&self, name: &str) -> Option<Rows> {
        Rows::open(&MmapDirectory::open(self.dir.path()).unwrap(), Path::new(name), self.dims)
    }

    fn vectors(&self, columns: &[Columns]) -> Vectors {
        let mut names: Vec<PathBuf> =
            std::fs::read_dir(self.dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into()).collect();
        names.sort();
        let files = names.iter().map(|name| self.open(name.to_str().unwrap()).unwrap()).collect();
        Vectors::of(files, columns)
    }
}

/// Keys of what is found, closest first.
fn keys(vectors: &Vectors, columns: &[Columns], question: &[f32], passes: Option<&dyn Fn(u64) -> bool>) -> Vec<u64> {
    let mut filtered = |segment: usize, take: &mut dyn FnMut(DocId)| {
        let columns: &Columns = &columns[segment];
        let docs = (0..columns.key.num_vals()).filter(|doc| columns.is_living(*doc));
        docs.filter(|doc| passes.is_none_or(|passes| passes(columns.key.get_val(*doc)))).for_each(take);
        Ok(())
    };
    let filtered: Option<FilteredVisit<'_>> = if passes.is_some() { Some(&mut filtered) } else { None };
    let near: Vec<Near> = vectors.nearest(question, WANTED, f32::NEG_INFINITY, columns, filtered).unwrap();
    assert!(near.is_sorted_by(|a, b| a > b));
    near.iter().map(|near| near.key).collect()
}

/// How much of what every row was compared for is found.
fn recall(
    all: &[Vec<f32>],
    questions: &[Vec<f32>],
    passes: &dyn Fn(u64) -> bool,
    find: &dyn Fn(&[f32]) -> Vec<u64>,
) -> f64 {
    let rows: Vec<Vec<u8>> = all.iter().map(|row| QuantizedVector::unit(row).unwrap().to_bytes()).collect();
    let mut share = 0.0;
    for question in questions {
        let query = QuantizedVector::of(question);
        let cosines = rows.iter().map(|row| query.dot(Row::read(row))).zip(0_u64..);
        let mut best: Vec<(f32, u64)> = cosines.filter(|(_, key)| passes(*key)).collect();
        best.sort_by(|a, b| b.0.total_cmp(&a.0));
        best.truncate(WANTED);
        let last = best.last().unwrap().0;
        let found = find(question);
        // Those that are as close as the last one are as good as it.
        let good = found.iter().filter(|key| query.dot(Row::read(&rows[**key as usize])) >= last);
        share += good.count() as f64 / best.len() as f64;
    }
    share / questions.len() as f64
}

/// Holds one file of rows against all of them. Gives the effort of its graph.
fn check(files: &Files, all: &[Vec<f32>], questions: &[Vec<f32>]) -> usize {
    let half = all.len() as u64 / 2;
    let columns = [segment(0..half, &[]), segment(half..all.len() as u64, &[])];
    let vectors = files.vectors(&columns);
    let rows = files.open("1.vec").unwrap();
    println!("{} rows, effort {}", rows.len(), rows.effort());
    for (name, passes) in [
        ("no filter", None),
        ("a filter for all", Some(&(|_| true) as &dyn Fn(u64) -> bool)),
        ("half", Some(&|key| key % 2 == 0)),
        ("a tenth", Some(&|key| key % 10 == 3)),
        ("few", Some(&|key| key % 97 == 0)),
    ] {
        let among: &dyn Fn(u64) -> bool = passes.unwrap_or(&|_| true);
        let recall = recall(all, questions, among, &|question| keys(&vectors, &columns, question, passes));
        println!("  {name}: {recall:.4}");
        assert!(recall >= RECALL_MIN, "{name}: {recall}");
    }
    rows.effort()
}

#[test]
fn graphs_lead_to_nearly_all_of_what_is_near() {
    let mut dice = Dice(1);
    let all = dice.grouped(6_000, 16);
    let questions: Vec<Vec<f32>> =
        all.iter().step_by(211).map(|row| row.iter().map(|v| v + 0.5 * dice.roll()).collect()).collect();
    let files = Files::new(16);
    files.write("1.vec", 0, &all);
    let effort = check(&files, &all, &questions);
    let rows = files.open("1.vec").unwrap();
    let mut walk = Walk::through(rows.len());
    for question in &questions {
        walk.closest((&rows, rows.len()), &rows, &QuantizedVector::of(question), effort, |_| true);
    }
    let compared = walk.compared / questions.len() as u64;
    println!("  {compared} rows compared");
    assert!(compared < all.len() as u64 / 2, "{compared} of {} rows", all.len());
}

#[test]
fn vectors_without_any_order_are_found_too() {
    let mut dice = Dice(2);
    let all: Vec<Vec<f32>> = (0..2_000).map(|_| dice.vector(16)).collect();
    let questions: Vec<Vec<f32>> = (0..20).map(|_| dice.vector(16)).collect();
    let files = Files::new(16);
    files.write("1.vec", 0, &all);
    check(&files, &all, &questions);
}

#[test]
fn what_is_deleted_is_not_found_and_what_is_new_is() {
    let mut dice = Dice(3);
    let (old, new) = (dice.grouped(1_500, 16), dice.grouped(10, 16));
    let files = Files::new(16);
    files.write("1.vec", 0, &old);
    files.write("2.vec", 1_500, &new);
    let columns = [segment(0..1_500, &[700]), segment(1_500..1_510, &[3])];
    let vectors = files.vectors(&columns);
    assert_eq!((vectors.len(), vectors.found()), (1_510, 1_508));
    let first = |vector: &[f32]| keys(&vectors, &columns, vector, None)[0];
    assert_eq!((first(&old[701]), first(&new[4])), (701, 1_504));
    for gone in [&old[700], &new[3]] {
        let found = keys(&vectors, &columns, gone, None);
        assert!(!found.contains(&700) && !found.contains(&1_503));
    }
}

#[test]
fn documents_of_the_same_content_share_a_row() {
    let files = Files::new(4);
    files.write("1.vec", 7, &[vec![1.0, 0.0, 0.0, 0.0], vec![0.0, 1.0, 0.0, 0.0]]);
    let columns = [segment([8, 7].into_iter(), &[]), segment([7, 9].into_iter(), &[])];
    let near = files.vectors(&columns).nearest(&[1.0, 0.1, 0.0, 0.0], 3, 0.5, &columns, None).unwrap();
    let at: Vec<(u32, DocId)> = near.iter().map(|near| (near.address.segment_ord, near.address.doc_id)).collect();
    assert_eq!(at.len(), 2);
    assert!(at.contains(&(0, 1)) && at.contains(&(1, 0)));
}

#[test]
fn graphs_begin_at_the_bound_and_keep_every_row() {
    let all = Dice(4).grouped(JOINED_MIN, 4);
    let files = Files::new(4);
    files.write("1.vec", 0, &all[1..]);
    files.write("2.vec", 0, &all);
    let (small, large) = (files.open("1.vec").unwrap(), files.open("2.vec").unwrap());
    assert!(!small.has_graph());
    assert!(large.has_graph() && large.effort() > 0);
    for (at, hash) in large.hashes().enumerate() {
        assert_eq!(large.bytes(at), QuantizedVector::unit(&all[hash as usize]).unwrap().to_bytes());
        let links: Vec<u32> = large.of(at as u32).collect();
        assert!(!links.is_empty() && links.len() <= LINKS && !links.contains(&(at as u32)), "{at}: {links:?}");
    }
    assert!(large.hashes().eq(0..JOINED_MIN as u64));
    assert_eq!(std::fs::read_dir(files.dir.path()).unwrap().count(), 2);
}

#[test]
fn the_same_rows_make_the_same_file() {
    let all = Dice(5).grouped(JOINED_MIN + 200, 8);
    let made = |_| {
        let files = Files::new(8);
        files.write_with("1.vec", 0, &all, &all[..70]);
        assert!(files.open("1.vec").unwrap().is_whole());
        std::fs::read(files.dir.path().join("1.vec")).unwrap()
    };
    let [first, second] = [0, 1].map(made);
    assert!(first == second);
}

#[test]
fn a_graph_that_has_grown_leads_everywhere_too() {
    let mut dice = Dice(6);
    let all = dice.grouped(3_000, 16);
    let questions: Vec<Vec<f32>> =
        all.iter().step_by(101).map(|row| row.iter().map(|v| v + 0.5 * dice.roll()).collect()).collect();
    let files = Files::new(16);
    files.write("0.vec", 0, &all[..1_500]);
    let grown = files.open("0.vec").unwrap();
    let mut writer = RowsWriter::create(files.dir.path(), 16).unwrap();
    for (vector, hash) in all.iter().zip(0..) {
        writer.push(hash, &QuantizedVector::unit(vector).unwrap().to_bytes()).unwrap();
    }
    writer.finish("1.vec", JOINED_MIN, Some(&grown)).unwrap();
    std::fs::remove_file(files.dir.path().join("0.vec")).unwrap();
    check(&files, &all, &questions);
}

#[test]
fn trials_and_silent_contents_stay_with_the_rows() {
    let files = Files::new(4);
    let trial = QuantizedVector::of(&[0.5, 0.0, 0.0, 0.1]);
    let mut writer = RowsWriter::create(files.dir.path(), 4).unwrap();
    (0..=TRIALS).for_each(|_| writer.try_with(trial.clone()));
    writer.push(1, &trial.to_bytes()).unwrap();
    writer.note_silent(9);
    writer.finish("1.vec", 1, None).unwrap();
    let rows = files.open("1.vec").unwrap();
    assert_eq!(rows.trials().count(), TRIALS);
    assert!(rows.trials().all(|row| QuantizedVector::from(row) == trial));
    assert_eq!((rows.len(), rows.has_graph()), (1, true));
    let columns = [segment([9, 1, 2, 2, 3].into_iter(), &[4])];
    let vectors = files.vectors(&columns);
    assert_eq!((vectors.found(), vectors.missing()), (1, 2), "what is silent and what is deleted is not missing");
    let first: Vec<u64> = vectors.first_missing(&columns, 9).into_iter().map(|(hash, _)| hash).collect();
    assert_eq!(first, [2], "a content is embedded once");
}

/// Films of the test data, asked for by their titles. Without optimisation only some of them.
#[test]
fn real_texts_are_found_in_graphs() {
    const ITEMS: usize = if cfg!(debug_assertions) { 600 } else { usize::MAX };
    let (Some(model), Some(films)) =
        (std::env::var_os("FORECOURT_MODEL"), forecourt_testkit::data("movies/movies.jsonl"))
    else {
        return eprintln!("skipped: no data (FORECOURT_DATA) or no model (FORECOURT_MODEL)");
    };
    let text = std::fs::read_to_string(films).unwrap();
    let model = Model::load(Path::new(&model)).unwrap();
    let (mut all, mut titles) = (Vec::new(), Vec::new());
    for (n, line) in text.lines().take(ITEMS).enumerate() {
        let json: serde_json::Value = serde_json::from_str(line).unwrap();
        let place = Place { file: "movies.jsonl", line: 1 };
        let Some(item) = Item::read(&json, place) else { continue };
        let mut text = String::new();
        embeddable(&item, &mut text, 500);
        all.extend(model.embed(&text));
        if n % 20 == 0 {
            titles.extend(model.embed(item.name));
        }
    }
    let files = Files::new(model.dims());
    let (trials, questions) = titles.split_at(titles.len() / 2);
    files.write_with("1.vec", 0, &all, trials);
    check(&files, &all, questions);
}
