//! PDF. Nobody can say what a stranger's PDF makes a reader do, so it is read in a process of its own, with
//! bounds on time and memory, wherever the program has offered itself for that ([`read_pdf_if_asked`]).

mod apart;
mod text;

pub use apart::read_pdf_if_asked;

use serde::{Deserialize, Serialize};

use super::outline::{Anchor, Outline};
use super::whole::whole_bytes;
use super::{Input, Reason, Sink, Stop};
use crate::limits::PACKED_FILE_BYTES_MAX;

/// The text of a document.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Document {
    title: Option<String>,
    pages: Vec<Vec<Paragraph>>,
    /// Why there is no more of it.
    cut: Option<String>,
}

/// Lines that belong together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Paragraph {
    text: String,
    /// Of a heading.
    level: Option<u8>,
}

/// Why a document cannot be read.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Unreadable {
    Encrypted,
    Broken,
    Other(String),
}

pub(super) fn load(input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let bytes = whole_bytes(input, PACKED_FILE_BYTES_MAX)?;
    let document = apart::read(bytes).map_err(|why| Stop::Broken {
        line: 1,
        reason: match why {
            Unreadable::Encrypted => Reason::Encrypted,
            Unreadable::Broken => Reason::Rest("it is no PDF that can be read".to_owned()),
            Unreadable::Other(why) => Reason::Rest(why),
        },
    })?;
    let mut outline = Outline::new(input, input.at().bytes);
    outline.titled(document.title.as_deref().unwrap_or_default());
    let paragraphs = || document.pages.iter().flatten();
    if paragraphs().next().is_none() && document.cut.is_none() {
        let reason = Reason::Rest("there is no text in it: its pages are pictures".to_owned());
        return Err(Stop::Broken { line: 1, reason });
    }
    let has_headings = paragraphs().any(|paragraph| paragraph.level.is_some());
    for (page, number) in document.pages.iter().zip(1_u64..) {
        let anchor = || Anchor::Other(format!("page={number}"));
        // Without headings, pages are the sections: links can lead to a page.
        if !has_headings && document.pages.len() > 1 && !page.is_empty() {
            outline.heading(1, &format!("p. {number}"), anchor(), number, sink)?;
        }
        for Paragraph { text, level } in page {
            match level {
                Some(level) => outline.heading(*level, text, anchor(), number, sink)?,
                None => outline.block(text, text, number, sink)?,
            }
        }
    }
    // What was read counts, and only then the rest is told as missing.
    outline.finish(sink)?;
    match document.cut {
        Some(why) => Err(Stop::Broken { line: document.pages.len() as u64, reason: Reason::Rest(why) }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::{Heap, load_bytes, names};
    use super::*;
    use crate::item::SECTION;
    use proptest::prelude::*;

    /// A PDF whose pages are drawn by these instructions.
    fn pdf(pages: &[&str], trailer: &str) -> Vec<u8> {
        let kids: Vec<String> = (0..pages.len()).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
        let mut objects = vec![
            "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
            format!("<</Type/Pages/Kids[{}]/Count {}>>", kids.join(" "), pages.len()),
            "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_owned(),
        ];
        for (page, at) in pages.iter().zip(0..) {
            objects.push(format!(
                "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {} 0 R/Resources<</Font<</F 3 0 R>>>>>>",
                5 + 2 * at
            ));
            objects.push(format!("<</Length {}>>stream\n{page}\nendstream", page.len()));
        }
        let (mut out, mut places) = (b"%PDF-1.7\n".to_vec(), Vec::new());
        for (object, number) in objects.iter().zip(1..) {
            places.push(out.len());
            out.extend(format!("{number} 0 obj\n{object}\nendobj\n").bytes());
        }
        let start = out.len();
        out.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
        places.iter().for_each(|at| out.extend(format!("{at:010} 00000 n \n").bytes()));
        out.extend(
            format!("trailer<</Size {}/Root 1 0 R{trailer}>>\nstartxref\n{start}\n%%EOF", objects.len() + 1).bytes(),
        );
        out
    }

    #[test]
    fn headings_paragraphs_and_pages_are_found() {
        let one = "BT /F 24 Tf 50 700 Td (House rules) Tj /F 12 Tf 0 -40 Td (Be kind to every guest that you) Tj 0 -14 Td (meet, and do not smo-) Tj 0 -14 Td (ke inside.) Tj 0 -40 Td (Second paragraph.) Tj ET";
        let two = "BT /F 18 Tf 50 700 Td (Pets) Tj /F 12 Tf 0 -30 Td [(Dogs)-300(are)-300(welcome.)] TJ ET";
        let mut heap = Heap::default();
        let bytes = pdf(&[one, two], "");
        let mut input = Input::new(&bytes[..], "rules.pdf", Some("https://e.org/"));
        load(&mut input, &mut heap).unwrap();
        assert_eq!(names(&heap), ["House rules", "House rules › Pets"]);
        assert_eq!(
            heap.items[0]["text"],
            "Be kind to every guest that you meet, and do not smoke inside.\nSecond paragraph."
        );
        assert_eq!(heap.items[1]["text"], "Dogs are welcome.");
        assert_eq!(heap.items[1]["url"], "https://e.org/rules.pdf#page=2");
        assert_eq!(heap.items[1]["@id"], "https://e.org/rules.pdf#pets");
    }

    #[test]
    fn without_headings_every_page_is_a_section() {
        let page = |text: &str| format!("BT /F 12 Tf 50 700 Td ({text}) Tj ET");
        let (one, two) = (page("First page of it."), page("Second page of it."));
        let heap = load_bytes(Format::Pdf, &pdf(&[&one, &two], ""));
        assert_eq!(names(&heap), ["p. 1", "p. 2"]);
        assert_eq!(heap.items[1][SECTION]["markdown"], "Second page of it.");
        let single = load_bytes(Format::Pdf, &pdf(&[&one], ""));
        assert_eq!(names(&single), ["file"]);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let reason = |bytes: &[u8]| {
            load_bytes(Format::Pdf, bytes).skipped.pop().map(|(_, reason)| reason.to_string()).unwrap_or_default()
        };
        assert!(reason(b"not a pdf").contains("no PDF"));
        assert!(reason(&pdf(&["0 0 m"], "")).contains("no text"));
        let secret = "/ID[<00><00>]/Encrypt<</Filter/Standard/V 2/R 3/Length 128/P -4/O<00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff>/U<00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff>>>";
        assert_eq!(reason(&pdf(&["BT ET"], secret)), Reason::Encrypted.to_string());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
        #[test]
        fn any_damage_is_survived(changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..20)) {
            let mut bytes = pdf(&["BT /F 12 Tf 50 700 Td (Text) Tj ET"], "");
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            load_bytes(Format::Pdf, &bytes);
        }
    }
}
