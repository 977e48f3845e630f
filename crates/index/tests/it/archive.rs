//! A built index is taken out of one folder and put into another.

use std::path::Path;

use forecourt_index::{Error, Library, Options, Query, unpack};

use crate::common::Shelf;

fn shelf() -> Shelf {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("content")).unwrap();
    let library = Library::open(&dir.path().join("index"), Options::default()).unwrap();
    Shelf { library, dir }
}

fn packed() -> Vec<u8> {
    let shelf = shelf();
    shelf.put(
        "a.jsonl",
        "{\"@id\":\"urn:soup\",\"name\":\"pea soup\"}\n{\"@id\":\"urn:stew\",\"name\":\"bean stew\"}\n",
    );
    shelf.index();
    let mut bytes = Vec::new();
    shelf.library.pack(&mut bytes).unwrap();
    bytes
}

fn files(folder: &Path) -> usize {
    walkdir::WalkDir::new(folder).into_iter().filter(|entry| entry.as_ref().unwrap().file_type().is_file()).count()
}

#[test]
fn an_index_that_was_packed_answers_at_once_and_a_run_writes_only_what_differs() {
    let bytes = packed();
    let other = tempfile::tempdir().unwrap();
    let index = other.path().join("index");
    unpack(&mut bytes.as_slice(), &index).unwrap();
    std::fs::create_dir(other.path().join("content")).unwrap();
    let library = Library::open(&index, Options::default()).unwrap();
    assert_eq!(library.len(), 2);
    let query = Query { text: "stew".into(), limit: 5, ..Query::default() };
    assert_eq!(library.search(&query).unwrap().len(), 1);
    let there = Shelf { library, dir: other };
    there.put("a.jsonl", "{\"@id\":\"urn:soup\",\"name\":\"pea soup\"}\n{\"@id\":\"urn:pie\",\"name\":\"plum pie\"}\n");
    let report = there.index();
    // The soup is the same, in a folder of another name.
    assert_eq!((report.updated, report.loaded, report.removed), (1, 1, 1));
    assert!(matches!(unpack(&mut bytes.as_slice(), &there.dir.path().join("index")), Err(Error::InUse(_))));
}

#[test]
fn of_an_archive_that_is_cut_off_changed_or_foreign_nothing_is_left() {
    let bytes = packed();
    let mut flipped = bytes.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    let foreign = |path: &str| {
        let mut archive = tar::Builder::new(zstd::Encoder::new(Vec::new(), 1).unwrap());
        let mut header = tar::Header::new_gnu();
        // As a hostile one would: the crate's own way refuses such names.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_size(1);
        header.set_cksum();
        archive.append(&header, &b"x"[..]).unwrap();
        archive.into_inner().unwrap().finish().unwrap()
    };
    let empty = zstd::encode_all(&[0_u8; 1024][..], 1).unwrap();
    let hostile = ["../x", "words/../../x", "/tmp/x", "other/x", "words", "words/a/b", "words/x.lock"];
    let all = [bytes[..middle].to_vec(), flipped, b"nonsense".to_vec(), Vec::new(), empty];
    for wrong in all.into_iter().chain(hostile.map(foreign)) {
        let place = tempfile::tempdir().unwrap();
        let index = place.path().join("index");
        assert!(unpack(&mut wrong.as_slice(), &index).is_err());
        assert_eq!(files(place.path()), 0);
        unpack(&mut bytes.as_slice(), &index).unwrap();
    }
}
