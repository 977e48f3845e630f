//! Markdown for the eyes: headings, lists, emphasis, code and links as a terminal shows them, while the words come.
//!
//! It is no parser of documents. A line is read as it arrives and is never taken back, so only what can be told from
//! the beginning of a line, or from a few characters that are held back, is rendered. Everything else is shown as it was
//! written, which is what markdown is good at.

mod marks;

use marks::{Block, bare, block, fence, is_divider, link_of, may_be_mark};

/// Characters that are held back at most until it is known what they are: a link and its address, or a fence with the
/// name of a language.
const HELD_CHARS_MAX: usize = 2_000;
/// Columns of a line that divides.
const DIVIDER_COLUMNS: usize = 40;

/// A style of a terminal, with the codes that begin and end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// Looks as bold does, and goes on where bold words in a heading end.
    Heading,
    Bold,
    Emphasis,
    Code,
    Address,
    Name,
}

impl Style {
    fn codes(self) -> (&'static str, &'static str) {
        match self {
            Self::Heading | Self::Bold => ("\u{1b}[1m", "\u{1b}[22m"),
            Self::Emphasis => ("\u{1b}[3m", "\u{1b}[23m"),
            Self::Code => ("\u{1b}[36m", "\u{1b}[39m"),
            Self::Address => ("\u{1b}[2m", "\u{1b}[22m"),
            Self::Name => ("\u{1b}[4m", "\u{1b}[24m"),
        }
    }
}

/// Where in a line it is.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// At its beginning, where a mark may stand.
    Start,
    /// Behind it.
    Words,
    /// In a block of code, which ends with a fence of this many marks.
    Code(char, usize),
}

/// Turns pieces of markdown into text for a terminal. What strangers wrote must be printable before it comes here.
#[derive(Debug)]
pub(crate) struct Rendering {
    place: Place,
    /// What is not known yet.
    held: String,
    /// The styles that are on, the outer one first.
    on: Vec<Style>,
    /// The last character that was shown, for what may begin or end a word.
    last: char,
    has_styles: bool,
}

impl Rendering {
    /// Nothing was written yet. Without styles, marks are taken away all the same.
    pub(crate) fn new(has_styles: bool) -> Self {
        Self { place: Place::Start, held: String::new(), on: Vec::new(), last: '\n', has_styles }
    }

    /// The text for a piece, as far as it is known.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len());
        for c in piece.chars() {
            self.take(c, &mut out);
        }
        out
    }

    fn take(&mut self, c: char, out: &mut String) {
        match self.place {
            Place::Start => self.start(c, out),
            Place::Words => self.word(c, out),
            Place::Code(mark, length) => self.code(c, mark, length, out),
        }
    }

    /// A character at the beginning of a line.
    fn start(&mut self, c: char, out: &mut String) {
        if c != '\n' {
            self.held.push(c);
            if may_be_mark(&self.held) {
                return;
            }
        }
        let line = std::mem::take(&mut self.held);
        let (indent, rest) = line.split_at(line.len() - line.trim_start_matches(' ').len());
        if c == '\n' {
            if is_divider(rest) {
                out.push_str(&"─".repeat(DIVIDER_COLUMNS));
                return self.end_line(out);
            }
            if let Some((mark, length, _)) = fence(rest) {
                self.place = Place::Code(mark, length);
                return;
            }
            self.words(&line, out);
            // Marks may be held still.
            return self.word(c, out);
        }
        // A fence with the name of a language behind it is known at the end of its line.
        if line.len() <= HELD_CHARS_MAX && fence(rest).is_some() {
            self.held = line;
            return;
        }
        self.place = Place::Words;
        match block(rest) {
            Some((Block::Heading, rest)) => {
                self.switch(Style::Heading, out);
                self.words(rest, out);
            }
            Some((Block::Item, rest)) => {
                out.push_str(indent);
                out.push_str("• ");
                self.last = ' ';
                self.words(rest, out);
            }
            Some((Block::Quote, rest)) => {
                out.push_str("│ ");
                self.last = ' ';
                self.words(rest, out);
            }
            None => self.words(&line, out),
        }
    }

    /// Characters that are no marks of blocks.
    fn words(&mut self, text: &str, out: &mut String) {
        text.chars().for_each(|c| self.word(c, out));
    }

    /// A character of a code block: lines go through whole, but for the fence that ends it.
    fn code(&mut self, c: char, mark: char, length: usize, out: &mut String) {
        if c != '\n' {
            return self.held.push(c);
        }
        let line = std::mem::take(&mut self.held);
        let ends = |(other, long, behind): (char, usize, &str)| other == mark && long >= length && behind.is_empty();
        if fence(line.trim()).is_some_and(ends) {
            self.place = Place::Start;
            return;
        }
        self.switch(Style::Code, out);
        out.push_str("  ");
        out.push_str(&line);
        self.switch(Style::Code, out);
        out.push('\n');
    }

    /// A character within a line.
    fn word(&mut self, c: char, out: &mut String) {
        if c == '\n' {
            // What is held at the end of a line may end what its beginning began.
            if let Some(mark @ ('*' | '_')) = self.held.chars().next() {
                return self.emphasis(mark, c, out);
            }
            let held = std::mem::take(&mut self.held);
            self.show(&held, out);
            return self.end_line(out);
        }
        if self.is_on(Style::Code) {
            return if c == '`' { self.switch(Style::Code, out) } else { self.show_one(c, out) };
        }
        match self.held.chars().next() {
            None => match c {
                '`' => self.switch(Style::Code, out),
                '*' | '_' | '[' | '!' | '\\' => self.held.push(c),
                _ => self.show_one(c, out),
            },
            Some('[') => self.link(c, out),
            Some('!') if c == '[' => {
                self.held.clear();
                self.held.push('[');
            }
            Some('\\') if c.is_ascii_punctuation() => {
                self.held.clear();
                self.show_one(c, out);
            }
            Some(mark @ ('*' | '_')) if self.held.len() == 1 && c == mark => self.held.push(c),
            Some(mark @ ('*' | '_')) => self.emphasis(mark, c, out),
            Some(_) => {
                let held = std::mem::take(&mut self.held);
                self.show(&held, out);
                self.word(c, out);
            }
        }
    }

    /// One or two marks are held, and `c` comes behind them.
    fn emphasis(&mut self, mark: char, c: char, out: &mut String) {
        let held = std::mem::take(&mut self.held);
        let style = if held.len() == 2 { Style::Bold } else { Style::Emphasis };
        let within_word = mark == '_' && self.last.is_alphanumeric() && c.is_alphanumeric();
        let begins = !self.is_on(style) && !c.is_whitespace() && !self.last.is_alphanumeric();
        let ends = self.is_on(style) && !self.last.is_whitespace();
        match !within_word && (begins || ends) {
            true => self.switch(style, out),
            false => self.show(&held, out),
        }
        self.word(c, out);
    }

    /// A character of what may be a link.
    fn link(&mut self, c: char, out: &mut String) {
        let is_named = self.held.ends_with(']') && !self.held.contains("](");
        self.held.push(c);
        if is_named && c != '(' || self.held.chars().count() > HELD_CHARS_MAX {
            let held = std::mem::take(&mut self.held);
            return self.show(&held, out);
        }
        let Some((name, address)) = link_of(&self.held) else { return };
        let (name, address) = (bare(name), address.to_owned());
        self.held.clear();
        self.switch(Style::Name, out);
        self.show(&name, out);
        self.switch(Style::Name, out);
        if !address.is_empty() && address != name {
            out.push(' ');
            self.switch(Style::Address, out);
            self.show(&format!("({address})"), out);
            self.switch(Style::Address, out);
        }
    }

    fn end_line(&mut self, out: &mut String) {
        for style in std::mem::take(&mut self.on).into_iter().rev() {
            self.write(style.codes().1, out);
        }
        self.place = Place::Start;
        self.show_one('\n', out);
    }

    fn is_on(&self, style: Style) -> bool {
        self.on.contains(&style)
    }

    /// Turns a style on, or off when it is on.
    fn switch(&mut self, style: Style, out: &mut String) {
        let (begin, end) = style.codes();
        if !self.is_on(style) {
            self.on.push(style);
            return self.write(begin, out);
        }
        self.on.retain(|other| *other != style);
        self.write(end, out);
        // Faint, bold and headings end with the same code.
        for other in self.on.clone().into_iter().filter(|other| other.codes().1 == end) {
            self.write(other.codes().0, out);
        }
    }

    fn write(&self, code: &str, out: &mut String) {
        if self.has_styles {
            out.push_str(code);
        }
    }

    fn show(&mut self, text: &str, out: &mut String) {
        text.chars().for_each(|c| self.show_one(c, out));
    }

    fn show_one(&mut self, c: char, out: &mut String) {
        self.last = c;
        out.push(c);
    }
}

#[cfg(test)]
mod tests;
