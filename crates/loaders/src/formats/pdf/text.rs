//! Glyphs to lines, lines to paragraphs, and the larger ones of these to headings.

use std::time::Instant;

use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps, InterpreterCache,
    InterpreterSettings, SoftMask, interpret_page,
};

use super::{Document, Paragraph, Unreadable};
use crate::limits::{HEADING_BYTES_MAX, PDF_PAGE_CHARS_MAX, PDF_PAGES_MAX};

/// Units of a font.
const EM: f64 = 1_000.0;
/// A gap between glyphs that is a space, of the size of the text.
const SPACE: f64 = 0.15;
/// The distance of lines from which on they are two paragraphs, of the size of the text.
const PARAGRAPH: f64 = 1.8;
/// How much larger than the rest a heading is.
const HEADING: f64 = 1.15;
/// Bytes of a heading.
const HEADING_BYTES: usize = 200;
/// Levels of headings.
const LEVELS: usize = 3;

/// The text of a document, as far as it is read before `deadline`.
pub(super) fn read(bytes: Vec<u8>, deadline: Instant) -> Result<Document, Unreadable> {
    let pdf = Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => Unreadable::Encrypted,
        LoadPdfError::Decryption(_) => Unreadable::Encrypted,
        LoadPdfError::Invalid => Unreadable::Broken,
    })?;
    let cache = InterpreterCache::new();
    let mut document = Document { title: title(&pdf), ..Document::default() };
    let mut pages = Vec::new();
    for page in pdf.pages().iter() {
        if pages.len() >= PDF_PAGES_MAX {
            document.cut = Some(format!("more than {PDF_PAGES_MAX} pages"));
            break;
        }
        if Instant::now() >= deadline {
            document.cut = Some("it takes too long to read".to_owned());
            break;
        }
        let mut context = Context::new(
            Affine::IDENTITY,
            Rect::new(0.0, 0.0, 1.0, 1.0),
            &cache,
            pdf.xref(),
            InterpreterSettings::default(),
        );
        let mut lines = Lines::default();
        interpret_page(page, &mut context, &mut lines);
        lines.end_line();
        pages.push(lines.done);
    }
    let sizes = Sizes::of(&pages);
    document.pages = pages.iter().map(|lines| paragraphs(lines, &sizes)).collect();
    Ok(document)
}

/// The title that a document gives itself, in one of the two ways that texts are written in a PDF.
fn title(pdf: &Pdf) -> Option<String> {
    let bytes = pdf.metadata().title.as_deref()?;
    let text = match bytes {
        [0xFE, 0xFF, rest @ ..] => encoding_rs::UTF_16BE.decode_without_bom_handling(rest).0.into_owned(),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned(),
    };
    let text = text.replace(char::is_control, "");
    Some(text.trim().chars().take(HEADING_BYTES_MAX).collect()).filter(|text: &String| !text.is_empty())
}

/// A line of a page.
struct Line {
    text: String,
    y: f64,
    size: f64,
    /// Where its last glyph ends.
    end: f64,
}

/// The lines of a page, as they are drawn.
#[derive(Default)]
struct Lines {
    done: Vec<Line>,
    open: Option<Line>,
    chars: usize,
}

impl Lines {
    fn glyph(&mut self, text: &str, place: Affine, advance: f64) {
        let (from, to) = (place * Point::ZERO, place * Point::new(advance, 0.0));
        let size = (place * Point::new(0.0, EM)).distance(from);
        self.chars += text.chars().count();
        // Matrices in a PDF may come to infinity, and nothing would ever be on the same line.
        if self.chars > PDF_PAGE_CHARS_MAX || !size.is_finite() || !from.y.is_finite() || !from.x.is_finite() {
            return;
        }
        let is_same = |line: &Line| {
            let nearness = size.max(line.size) * 0.5;
            (line.y - from.y).abs() < nearness && from.x > line.end - line.size * 2.0
        };
        if !self.open.as_ref().is_some_and(is_same) {
            self.end_line();
        }
        let line = self.open.get_or_insert_with(|| Line { text: String::new(), y: from.y, size, end: from.x });
        let is_space = from.x - line.end > size * SPACE;
        if is_space && !line.text.is_empty() && !line.text.ends_with(' ') && !text.starts_with(' ') {
            line.text.push(' ');
        }
        line.text.extend(text.chars().map(|c| if c.is_control() || c == '\u{A0}' { ' ' } else { c }));
        line.size = line.size.max(size);
        line.end = to.x;
    }

    fn end_line(&mut self) {
        if let Some(mut line) = self.open.take() {
            line.text = line.text.split_whitespace().collect::<Vec<_>>().join(" ");
            if !line.text.is_empty() {
                self.done.push(line);
            }
        }
    }
}

impl Device<'_> for Lines {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        for glyph in run.glyphs() {
            let advance = match &**glyph {
                Glyph::Outline(outline) => outline.advance_width().map_or(EM / 2.0, f64::from),
                Glyph::Type3(_) => EM / 2.0,
            };
            let place = props.transform * glyph.transform();
            match glyph.as_unicode() {
                Some(BfString::Char(c)) => self.glyph(c.encode_utf8(&mut [0; 4]), place, advance),
                Some(BfString::String(text)) => self.glyph(&text, place, advance),
                None => {}
            }
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}

/// The sizes of a document's texts.
struct Sizes {
    /// Of most of it.
    body: f64,
    /// Of headings, the largest first.
    headings: Vec<i64>,
}

impl Sizes {
    fn of(pages: &[Vec<Line>]) -> Self {
        let lines = || pages.iter().flatten();
        let mut chars: std::collections::BTreeMap<i64, usize> = std::collections::BTreeMap::new();
        lines().for_each(|line| *chars.entry(half_points(line.size)).or_default() += line.text.len());
        let body = chars.iter().max_by_key(|(_, count)| **count).map_or(0, |(size, _)| *size);
        let is_heading = |size: &i64| *size as f64 >= body as f64 * HEADING;
        let headings: Vec<i64> = chars.keys().copied().rev().filter(is_heading).collect();
        Self { body: body as f64 / 2.0, headings }
    }

    fn level(&self, line: &Line) -> Option<u8> {
        let at = self.headings.iter().position(|size| *size == half_points(line.size))?;
        u8::try_from(at.min(LEVELS - 1) + 1).ok().filter(|_| self.body > 0.0)
    }
}

fn half_points(size: f64) -> i64 {
    // Rounded, since sizes come out of products of matrices and equal ones differ a little.
    (size * 2.0).round() as i64
}

/// Lines as paragraphs, with words that were cut at the end of a line whole again.
fn paragraphs(lines: &[Line], sizes: &Sizes) -> Vec<Paragraph> {
    let mut out: Vec<Paragraph> = Vec::new();
    let mut before: Option<&Line> = None;
    for line in lines {
        let level = sizes.level(line).filter(|_| line.text.len() <= HEADING_BYTES);
        let goes_on = before.is_some_and(|before| {
            let down = before.y - line.y;
            let near = down.abs() < line.size.max(before.size) * PARAGRAPH;
            near && half_points(before.size) == half_points(line.size)
        });
        match out.last_mut().filter(|last| goes_on && last.level == level) {
            Some(last) => {
                // A hyphen in front of a small letter is taken to cut a word; in front of a capital it is part of a
                // name.
                let is_cut = last.text.ends_with('-') && line.text.starts_with(char::is_lowercase);
                let is_word = last.text.chars().rev().nth(1).is_some_and(char::is_alphabetic);
                match is_cut && is_word {
                    true => drop(last.text.pop()),
                    false => last.text.push(' '),
                }
                last.text.push_str(&line.text);
            }
            None => out.push(Paragraph { text: line.text.clone(), level }),
        }
        before = Some(line);
    }
    // A long one is no heading, and neither is a number by itself.
    for paragraph in &mut out {
        let has_words = paragraph.text.chars().any(char::is_alphabetic);
        paragraph.level = paragraph.level.filter(|_| has_words && paragraph.text.len() <= HEADING_BYTES);
    }
    out
}
