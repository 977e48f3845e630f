//! Modules that import each other in a circle. What is above another module in the tree may use it and be
//! used by it; beside each other, imports go one way. A module's children count as part of it: whoever uses
//! `a::x` uses `a`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use walkdir::WalkDir;

/// A module by its names from the crate's root, which has none.
type Module = Vec<String>;

/// The circles between modules of a crate whose sources are in `src`, each as the modules in it, sorted.
pub(crate) fn circles(src: &Path) -> Vec<String> {
    let files = modules(src);
    let mut uses: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, text) in &files {
        for used in paths(&code(text)).iter().filter_map(|path| resolve(path, module, &files)) {
            let common = module.iter().zip(&used).take_while(|(a, b)| a == b).count();
            // One is above the other, or both are the same.
            if common == module.len() || common == used.len() {
                continue;
            }
            uses.entry(module[..=common].to_vec()).or_default().insert(used[..=common].to_vec());
        }
    }
    in_circles(&uses)
}

/// The modules of a crate that have files of their own, with their text. Tests may import what they like.
fn modules(src: &Path) -> BTreeMap<Module, String> {
    let mut found = BTreeMap::new();
    for entry in WalkDir::new(src).into_iter().filter_map(Result::ok) {
        if entry.path().extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let path = entry.path().strip_prefix(src).unwrap().with_extension("");
        let mut module: Module = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if module.last().is_some_and(|last| last == "mod") || module == ["lib"] || module == ["main"] {
            module.pop();
        }
        if !module.iter().any(|part| part == "tests") {
            found.insert(module, fs::read_to_string(entry.path()).unwrap());
        }
    }
    found
}

/// A source text without comments, strings and its tests.
fn code(text: &str) -> String {
    static NOISE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r##"(?s)//[^\n]*|/\*.*?\*/|r#".*?"#|"(?:\\.|[^"\\])*""##).unwrap());
    let text = NOISE.replace_all(text, "").into_owned();
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned()
}

/// Every path that begins at `crate`, `super` or `self`, groups taken apart.
fn paths(code: &str) -> Vec<Vec<String>> {
    static START: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b(crate|super|self)\s*::").unwrap());
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = START.captures_at(code, at) {
        let whole = start.get(0).unwrap();
        at = whole.end();
        // `foo::self::` and `$crate` are no beginnings.
        if !code[..whole.start()].ends_with([':', '$']) {
            at = path(code, at, vec![start[1].to_owned()], &mut found);
        }
    }
    found
}

/// Reads what follows a `::`, and gives where it ends.
fn path(code: &str, at: usize, before: Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    let rest = &code[at..];
    let at = at + rest.len() - rest.trim_start().len();
    if code[at..].starts_with('{') {
        return group(code, at + 1, &before, found);
    }
    let name: String = code[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let end = at + name.len();
    let mut here = before;
    if !name.is_empty() {
        here.push(name);
    }
    match code[end..].strip_prefix("::") {
        Some(_) => path(code, end + 2, here, found),
        None => {
            found.push(here);
            end
        }
    }
}

/// Reads the paths between braces, and gives where the group ends.
fn group(code: &str, mut at: usize, before: &[String], found: &mut Vec<Vec<String>>) -> usize {
    while at < code.len() && !code[at..].starts_with('}') {
        let end = path(code, at, before.to_vec(), found);
        // What is renamed or a glob is passed over.
        let rest = code[end..].find([',', '}']).map_or(code.len(), |more| end + more);
        at = if code[rest..].starts_with(',') { rest + 1 } else { rest };
        at += code[at..].len() - code[at..].trim_start().len();
    }
    (at + 1).min(code.len())
}

/// The module that a path of `module` leads to. Names behind it are of what is in that module.
fn resolve(path: &[String], module: &Module, files: &BTreeMap<Module, String>) -> Option<Module> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    let mut found = match path[0].as_str() {
        "crate" => Vec::new(),
        _ => module[..module.len().checked_sub(ups)?].to_vec(),
    };
    for name in &path[ups.max(1)..] {
        found.push(name.clone());
        if !files.contains_key(&found) {
            found.pop();
            break;
        }
    }
    Some(found)
}

/// Whatever reaches itself, grouped with whatever it reaches and is reached by.
fn in_circles(uses: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<String> {
    let reach: BTreeMap<&Module, BTreeSet<&Module>> = uses.keys().map(|from| (from, reached(from, uses))).collect();
    let meet = |a: &Module, b: &Module| reach.get(a).is_some_and(|all| all.contains(b));
    let circles: BTreeSet<String> = reach
        .keys()
        .filter(|module| meet(module, module))
        .map(|module| {
            let names = reach.keys().filter(|other| meet(module, other) && meet(other, module));
            names.map(|other| other.join("::")).collect::<Vec<_>>().join(", ")
        })
        .collect();
    circles.into_iter().collect()
}

fn reached<'a>(from: &Module, uses: &'a BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<&'a Module> {
    let (mut found, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(module) = left.pop() {
        for used in uses.get(module).into_iter().flatten() {
            if found.insert(used) {
                left.push(used);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        circles(folder.path())
    }

    #[test]
    fn a_circle_is_found_however_it_is_spelled() {
        let lib = ("lib.rs", "mod a;\nmod b;\nmod c;");
        let a = ("a.rs", "use crate::{\n    b::{self, X as Y},\n};");
        let b = ("b.rs", "mod inner;");
        let inner = ("b/inner.rs", "fn f() { super::super::c::g(); }");
        let c = ("c.rs", "use crate::a::*;");
        assert_eq!(circles_of(&[lib, a, b, inner, c]), ["a, b, c"]);
    }

    #[test]
    fn parents_children_tests_and_words_are_no_circle() {
        let lib = ("lib.rs", "mod a;\nmod b;\nuse a::X;\npub struct Y;");
        let a = ("a.rs", "//! See crate::b::X.\nmod inner;\nuse crate::{Y, b::X};\npub use inner::Z;");
        let inner = ("a/inner.rs", "use super::X;\nuse crate::Y;");
        let b = ("b.rs", "const S: &str = \"crate::a\";\n#[cfg(test)]\nmod tests {\n    use crate::a::X;\n}");
        let tests = ("b/tests.rs", "use crate::a::X;");
        assert_eq!(circles_of(&[lib, a, inner, b, tests]), Vec::<String>::new());
    }
}
