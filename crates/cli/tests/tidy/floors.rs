//! The picture of the floors, `docs/floors.svg`: drawn from the layers and from what each `Cargo.toml` uses, so that it
//! can't tell of another house. `WRITE_FLOORS=1` writes it anew.

use std::fmt::Write as _;
use std::fs;

use super::{LAYERS, PROTOCOLS, dependencies, root};

const FILE: &str = "docs/floors.svg";
/// What is done on each floor, the lowest first.
pub(super) const ABOUT: &[&str] = &[
    "one set of features",
    "nouns, settings, traces",
    "one job each, no agent known",
    "what stands on those",
    "content, to be searched",
    "callers, agents, the verbs",
    "shared by protocols, and proofs",
    "shared by chats",
    "a protocol is one crate",
    "the operator, and backends",
    "one daemon",
    "one program",
];
const WIDTH: usize = 1000;
/// Where boxes begin, right of what a floor is about.
const LEFT: usize = 230;
const BOX: usize = 118;
const GAP: usize = 8;
const ROW: usize = 40;
const PER_ROW: usize = (WIDTH - LEFT) / (BOX + GAP);

/// The top floor first, each crate with how many others of the workspace it uses and how many use it.
fn drawn() -> String {
    let all: Vec<&str> = LAYERS.iter().flat_map(|layer| layer.iter().copied()).collect();
    let uses: Vec<(&str, Vec<String>)> =
        all.iter().map(|name| (*name, dependencies(name).into_iter().filter(|of| of != name).collect())).collect();
    let (mut body, mut top) = (String::new(), GAP);
    for (at, layer) in LAYERS.iter().enumerate().rev() {
        let rows = layer.len().div_ceil(PER_ROW);
        let height = rows * (ROW + GAP) + GAP;
        let middle = top + height / 2 + 4;
        writeln!(body, r#"<rect class="floor" x="4" y="{top}" width="{}" height="{height}" rx="6"/>"#, WIDTH - 8)
            .unwrap();
        writeln!(body, r#"<text class="about" x="16" y="{middle}">{}</text>"#, ABOUT[at]).unwrap();
        for (place, name) in layer.iter().enumerate() {
            let (x, y) = (LEFT + place % PER_ROW * (BOX + GAP), top + GAP + place / PER_ROW * (ROW + GAP));
            let own = uses.iter().find(|(of, _)| of == name).map_or(0, |(_, used)| used.len());
            let users = uses.iter().filter(|(_, used)| used.iter().any(|used| used == name)).count();
            let class = if PROTOCOLS.contains(name) { "wire" } else { "crate" };
            let center = x + BOX / 2;
            writeln!(body, r#"<rect class="{class}" x="{x}" y="{y}" width="{BOX}" height="{ROW}" rx="4"/>"#).unwrap();
            writeln!(body, r#"<text x="{center}" y="{}">{name}</text>"#, y + 18).unwrap();
            writeln!(body, r#"<text class="count" x="{center}" y="{}">uses {own}, used by {users}</text>"#, y + 32)
                .unwrap();
        }
        top += height + GAP;
    }
    let style = "text{font:13px sans-serif;text-anchor:middle;fill:#1c2024}.about{text-anchor:start;fill:#4b5563}\
                 .count{font-size:9px;fill:#4b5563}.floor{fill:#f3f4f6}.crate{fill:#fff;stroke:#9ca3af}\
                 .wire{fill:#e0f2fe;stroke:#0369a1}";
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {top}\" role=\"img\" \
         aria-label=\"The crates by floor: each uses only floors below it\">\n<style>{style}</style>\n\
         <rect width=\"{WIDTH}\" height=\"{top}\" fill=\"#fff\"/>\n{body}</svg>\n"
    )
}

#[test]
fn the_picture_of_the_floors_is_what_the_crates_are() {
    assert_eq!(ABOUT.len(), LAYERS.len());
    let (file, drawn) = (root().join(FILE), drawn());
    if std::env::var_os("WRITE_FLOORS").is_some() {
        fs::write(&file, &drawn).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == drawn, "{FILE} tells of another house: WRITE_FLOORS=1 cargo test --test tidy floors");
}
