//! Documents that are packed into a zip: DOCX, ODT and EPUB.

mod epub;
mod odt;
mod word;

use std::io::{Cursor, Read};

use zip::ZipArchive;

use super::outline::Outline;
use super::whole::whole_bytes;
use super::{At, Input, Reason, Sink, Stop};
use crate::limits::{PACKED_FILE_BYTES_MAX, PART_BYTES_MAX, PARTS_MAX, UNPACKED_FILE_BYTES_MAX};

/// A file that is packed.
pub(super) struct PackedFile {
    archive: ZipArchive<Cursor<Vec<u8>>>,
    /// Bytes of parts that may still be unpacked.
    room: u64,
}

impl PackedFile {
    fn open(input: &mut Input<'_>) -> Result<Self, Stop> {
        let bytes = whole_bytes(input, PACKED_FILE_BYTES_MAX)?;
        // The magic of an OLE file: Office programs put an encrypted document into one instead of a zip.
        if bytes.starts_with(&[0xD0, 0xCF, 0x11, 0xE0]) {
            return Err(refused(Reason::Encrypted));
        }
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| Stop::rest(1, error))?;
        match archive.len() > PARTS_MAX {
            true => Err(Stop::rest(1, format!("more than {PARTS_MAX} parts"))),
            false => Ok(Self { archive, room: UNPACKED_FILE_BYTES_MAX }),
        }
    }

    /// A part as text. `None` when there is none of that name. Fails when it is longer than [`PART_BYTES_MAX`],
    /// whatever it says of itself.
    pub(super) fn part(&mut self, name: &str) -> Result<Option<String>, Stop> {
        let Some(index) = self.archive.index_for_name(name) else { return Ok(None) };
        let part = self.archive.by_index(index).map_err(|error| match error {
            zip::result::ZipError::UnsupportedArchive(zip::result::ZipError::PASSWORD_REQUIRED) => {
                refused(Reason::Encrypted)
            }
            error => Stop::rest(1, format!("{name}: {error}")),
        })?;
        let mut bytes = Vec::new();
        // Counted as it is unpacked: the size in the directory of a zip is the word of whoever made it (zip bombs).
        part.take(PART_BYTES_MAX + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| Stop::rest(1, format!("{name}: {error}")))?;
        let length = bytes.len() as u64;
        self.room = self.room.saturating_sub(length);
        if length > PART_BYTES_MAX || self.room == 0 {
            return Err(Stop::rest(
                1,
                format!(
                    "{name} has too many bytes when unpacked: {PART_BYTES_MAX} at most, and {UNPACKED_FILE_BYTES_MAX} with the others"
                ),
            ));
        }
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}

fn refused(reason: Reason) -> Stop {
    Stop::Broken { line: 1, reason }
}

fn missing(name: &str) -> Stop {
    Stop::rest(1, format!("there is no {name} in it"))
}

/// A document of Word.
pub(super) fn load_docx(input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let mut packed = PackedFile::open(input)?;
    let mut outline = Outline::new(input, input.at().bytes);
    let body = packed.part("word/document.xml")?.ok_or_else(|| missing("word/document.xml"))?;
    let styles = packed.part("word/styles.xml")?.unwrap_or_default();
    let links = packed.part("word/_rels/document.xml.rels")?.unwrap_or_default();
    if let Some(about) = packed.part("docProps/core.xml")? {
        outline.titled(&word::title(&about));
    }
    word::read(&body, &word::Names::of(&styles, &links), outline, sink)
}

/// A document of OpenOffice and LibreOffice.
pub(super) fn load_odt(input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let mut packed = PackedFile::open(input)?;
    let mut outline = Outline::new(input, input.at().bytes);
    if packed.part("META-INF/manifest.xml")?.is_some_and(|manifest| manifest.contains("encryption-data")) {
        return Err(refused(Reason::Encrypted));
    }
    let body = packed.part("content.xml")?.ok_or_else(|| missing("content.xml"))?;
    if let Some(about) = packed.part("meta.xml")? {
        outline.titled(&word::title(&about));
    }
    odt::read(&body, outline, sink)
}

/// A book.
pub(super) fn load_epub(input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let mut packed = PackedFile::open(input)?;
    let at = At { line: 1, bytes: input.at().bytes };
    epub::read(&mut packed, input, at, sink)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::Format;
    use super::super::tests::{load_bytes, names};
    use super::*;
    use crate::item::SECTION;
    use proptest::prelude::*;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    fn packed(parts: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in parts {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    const W: &str = r#"xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="r""#;

    fn paragraph(style: &str, text: &str) -> String {
        format!(r#"<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"#)
    }

    #[test]
    fn a_word_document_has_sections_lists_tables_and_links() {
        let styles = format!(
            r#"<w:styles {W}><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="H2"><w:name w:val="Own"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style></w:styles>"#
        );
        let cell = |text: &str| format!("<w:tc>{}</w:tc>", paragraph("", text));
        let item = r#"<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>nested</w:t></w:r></w:p>"#;
        let body = format!(
            r#"<w:document {W}><w:body>{}<w:p><w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">Bold </w:t></w:r><w:r><w:t>and </w:t></w:r><w:hyperlink r:id="rId1"><w:r><w:t>link</w:t></w:r></w:hyperlink><w:r><w:delText>gone</w:delText></w:r></w:p>{item}{}<w:tbl><w:tr>{}{}</w:tr><w:tr>{}{}</w:tr></w:tbl></w:body></w:document>"#,
            paragraph("berschrift1", "Returns"),
            paragraph("H2", "Fees"),
            cell("Country"),
            cell("Fee"),
            cell("DE"),
            cell("0")
        );
        let rels = r#"<Relationships><Relationship Id="rId1" Target="https://e.org/x"/></Relationships>"#;
        let core = r#"<cp:coreProperties xmlns:dc="d"><dc:title>Handbook</dc:title></cp:coreProperties>"#;
        let file = packed(&[
            ("word/document.xml", body.as_bytes()),
            ("word/styles.xml", styles.as_bytes()),
            ("word/_rels/document.xml.rels", rels.as_bytes()),
            ("docProps/core.xml", core.as_bytes()),
        ]);
        let heap = load_bytes(Format::Docx, &file);
        assert_eq!(names(&heap), ["Returns", "Returns › Fees"], "{:?}", heap.skipped);
        assert_eq!(heap.items[0]["text"], "Bold and link\nnested");
        assert_eq!(heap.items[0][SECTION]["markdown"], "**Bold** and [link](https://e.org/x)\n\n  - nested");
        assert_eq!(heap.items[1][SECTION]["markdown"], "| Country | Fee |\n|---|---|\n| DE | 0 |");
        assert_eq!(heap.items[0][SECTION]["page"], "Handbook");
    }

    #[test]
    fn an_open_document_has_sections_and_lists() {
        let body = br#"<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b"><office:body><office:text>
            <text:h text:outline-level="1">Rules</text:h><text:p>Be<text:s text:c="1"/>kind.<text:line-break/>Always.</text:p>
            <text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>
            <table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row></table:table>
            </office:text></office:body></office:document-content>"#;
        let heap = load_bytes(Format::Odt, &packed(&[("content.xml", body)]));
        assert_eq!(names(&heap), ["Rules"], "{:?}", heap.skipped);
        assert_eq!(heap.items[0]["text"], "Be kind. Always.\none\na");
        assert_eq!(heap.items[0][SECTION]["markdown"], "Be kind. Always.\n\n- one\n\n| a |\n|---|");
    }

    #[test]
    fn a_book_is_read_chapter_by_chapter() {
        let container = br#"<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>"#;
        let opf = br#"<package><metadata><dc:title xmlns:dc="d">Book</dc:title></metadata><manifest><item id="b" href="two.xhtml"/><item id="a" href="a%20b/one.xhtml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/><itemref idref="c"/></spine></package>"#;
        let file = packed(&[
            ("META-INF/container.xml", container),
            ("OEBPS/book.opf", opf),
            ("OEBPS/a b/one.xhtml", b"<html><body><h1>One</h1><p>First.</p></body></html>"),
            ("OEBPS/two.xhtml", b"<html><body><h1>One</h1><p>Second.</p></body></html>"),
        ]);
        let heap = load_bytes(Format::Epub, &file);
        assert_eq!(names(&heap), ["One", "One"]);
        assert_eq!((&heap.items[0]["@id"], &heap.items[1]["@id"]), (&"file#one".into(), &"file#one-1".into()));
        assert_eq!(heap.items[1][SECTION]["page"], "Book");
    }

    #[test]
    fn bombs_and_broken_files_are_named() {
        let reason = |format: Format, bytes: &[u8]| {
            load_bytes(format, bytes).skipped.pop().map(|(_, reason)| reason.to_string()).unwrap_or_default()
        };
        let zeros = vec![b' '; PART_BYTES_MAX as usize + 1];
        assert!(reason(Format::Docx, &packed(&[("word/document.xml", &zeros)])).contains("when unpacked"));
        assert!(reason(Format::Docx, &packed(&[("x", b"")])).contains("no word/document.xml"));
        assert!(reason(Format::Epub, b"not a zip").contains("the rest of the file"));
        assert_eq!(reason(Format::Docx, &[0xD0, 0xCF, 0x11, 0xE0, 0]), Reason::Encrypted.to_string());
        let deep = format!("<w:document {W}>{}", "<w:p>".repeat(100_000));
        assert!(
            reason(Format::Docx, &packed(&[("word/document.xml", deep.as_bytes())])).contains("inside of each other")
        );
        let secret = br#"<manifest:manifest><manifest:encryption-data/></manifest:manifest>"#;
        assert_eq!(reason(Format::Odt, &packed(&[("META-INF/manifest.xml", secret)])), Reason::Encrypted.to_string());
    }

    proptest! {
        #[test]
        fn any_part_is_read(xml in "(<w:p>|</w:p>|<w:t>|</w:t>|<w:tbl>|<w:tr>|<w:tc>|</w:tbl>|<text:h>|<text:p>|</text:p>|<table:table>|<|>|x|&amp;|&)*") {
            load_bytes(Format::Docx, &packed(&[("word/document.xml", xml.as_bytes())]));
            load_bytes(Format::Odt, &packed(&[("content.xml", xml.as_bytes())]));
        }

        #[test]
        fn any_damage_is_survived(at in 0_usize..400, byte in any::<u8>()) {
            let mut file = packed(&[("word/document.xml", paragraph("x", "y").as_bytes()), ("content.xml", b"<text:p>x</text:p>")]);
            let at = at % file.len();
            file[at] = byte;
            for format in [Format::Docx, Format::Odt, Format::Epub] {
                load_bytes(format, &file);
            }
        }
    }
}
