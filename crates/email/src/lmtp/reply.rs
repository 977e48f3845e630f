//! What a client is told: a code, an enhanced code and a line of words. RFC 5321 4.2, RFC 3463.

/// Characters of the words of a reply.
const WORDS_MAX: usize = 200;

/// One reply of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmtpReply {
    /// Three digits.
    pub code: u16,
    /// Such as `5.1.1`.
    pub enhanced: &'static str,
    /// What happened, for whoever reads the log of the mail server or the bounce. One line of printable ASCII.
    pub words: String,
}

impl SmtpReply {
    /// A reply. Whatever is not printable ASCII becomes a space or a question mark, and long words are cut.
    pub fn new(code: u16, enhanced: &'static str, words: impl AsRef<str>) -> Self {
        let plain = |c: char| match c {
            ' '..='~' => c,
            c if c.is_whitespace() || c.is_control() => ' ',
            _ => '?',
        };
        Self { code, enhanced, words: words.as_ref().chars().take(WORDS_MAX).map(plain).collect() }
    }

    /// It is taken, and what comes of it is the receiver's affair from here on.
    pub fn taken() -> Self {
        Self::new(250, "2.0.0", "OK")
    }

    /// It can't be taken now; the mail server keeps it and tries again.
    pub fn later(enhanced: &'static str, words: impl AsRef<str>) -> Self {
        Self::new(451, enhanced, words)
    }

    /// It will not be taken; the mail server tells the sender, if anybody.
    pub fn refused(enhanced: &'static str, words: impl AsRef<str>) -> Self {
        Self::new(550, enhanced, words)
    }

    /// The line, with its end.
    pub fn to_line(&self) -> String {
        format!("{} {} {}\r\n", self.code, self.enhanced, self.words)
    }
}
