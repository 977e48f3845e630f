//! What a person wrote in a reply, without what the mail program put around it: the messages before, and the
//! signature. Text in, text out.

/// How mail programs introduce a quote, by language: what the line begins with, and what stands near its end.
const ATTRIBUTIONS: [(&str, &str); 18] = [
    ("on ", "wrote:"),
    ("am ", "schrieb"),
    ("am ", "geschrieben:"),
    ("le ", "a écrit"),
    ("el ", "escribió:"),
    ("il ", "ha scritto:"),
    ("em ", "escreveu:"),
    ("a ", "escreveu:"),
    ("op ", "schreef"),
    ("den ", "skrev"),
    ("den ", "skrev:"),
    ("w dniu ", "pisze:"),
    ("w dniu ", "napisał"),
    ("dne ", "napsal"),
    ("", "пишет:"),
    ("", "написал"),
    ("", "写道"),
    ("", "のメール"),
];
/// Lines before whole messages that were copied, without dashes and spaces around.
const SEPARATORS: [&str; 12] = [
    "original message",
    "ursprüngliche nachricht",
    "originalnachricht",
    "message d'origine",
    "message original",
    "mensaje original",
    "messaggio originale",
    "mensagem original",
    "oorspronkelijk bericht",
    "forwarded message",
    "weitergeleitete nachricht",
    "исходное сообщение",
];
/// How a copied head begins: `From:` and a line or two below one of the others.
const FROM: [&str; 9] = ["from:", "von:", "de :", "de:", "da:", "van:", "från:", "fra:", "от:"];
const SENT: [&str; 12] = [
    "sent:",
    "date:",
    "gesendet:",
    "datum:",
    "envoyé :",
    "envoyé:",
    "enviado:",
    "inviato:",
    "verzonden:",
    "skickat:",
    "sendt:",
    "дата:",
];
/// What programs write in a person's name.
const ADVERTISEMENTS: [&str; 8] = [
    "sent from my ",
    "get outlook for ",
    "von meinem ",
    "gesendet von ",
    "envoyé de mon ",
    "enviado desde mi ",
    "inviato da ",
    "verstuurd vanaf ",
];
/// Lines over which an attribution may be broken.
const ATTRIBUTION_LINES_MAX: usize = 3;
/// Bytes of one attribution.
const ATTRIBUTION_BYTES_MAX: usize = 400;

/// What was said in this message. May be empty.
pub fn own_words(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut kept: Vec<&str> = Vec::with_capacity(lines.len());
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let has_words = kept.iter().any(|line| !line.trim().is_empty());
        if is_signature(line) || (is_copy(&lines[at..]) && has_words) {
            break;
        }
        if let Some(count) = attribution(&lines[at..]) {
            let quotes_below =
                lines[at + count..].iter().find(|line| !line.is_empty()).is_some_and(|line| is_quoted(line));
            // A quote without marks has no end that could be seen.
            if has_words && !quotes_below {
                break;
            }
            at += count;
            continue;
        }
        if !is_quoted(line) && !is_advertisement(line) {
            kept.push(line);
        }
        at += 1;
    }
    kept.join("\n").trim().to_owned()
}

fn is_quoted(line: &str) -> bool {
    line.trim_start().starts_with('>')
}

/// RFC 3676 4.3; many leave the space out.
fn is_signature(line: &str) -> bool {
    line == "--" || line == "-- "
}

fn is_advertisement(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    line.len() < 100 && ADVERTISEMENTS.iter().any(|known| line.starts_with(known))
}

/// Whether a whole message is copied from here on.
fn is_copy(lines: &[&str]) -> bool {
    let bare = lines[0].trim().trim_matches(['-', '_', '*', ' ']).to_lowercase();
    if lines[0].trim().starts_with(['-', '_']) && SEPARATORS.contains(&bare.as_str()) {
        return true;
    }
    let begins = |line: &str, with: &[&str]| {
        let line = line.trim().trim_start_matches('*').to_lowercase();
        with.iter().any(|known| line.starts_with(known))
    };
    let from = lines.iter().take(3).position(|line| begins(line, &FROM));
    // Outlook draws a line before the head.
    let is_near = from.is_some_and(|at| lines[..at].iter().all(|line| line.trim_matches(['_', ' ']).is_empty()));
    is_near && from.is_some_and(|at| lines[at + 1..].iter().take(3).any(|line| begins(line, &SENT)))
}

/// How many lines introduce a quote here.
fn attribution(lines: &[&str]) -> Option<usize> {
    let mut joined = String::new();
    for (count, line) in lines.iter().take(ATTRIBUTION_LINES_MAX).enumerate() {
        if line.trim().is_empty() || joined.len() + line.len() > ATTRIBUTION_BYTES_MAX {
            return None;
        }
        joined.push_str(line.trim());
        joined.push(' ');
        if is_attribution(joined.trim_end()) {
            return Some(count + 1);
        }
    }
    None
}

/// A quote is introduced with a date or a mailbox, and a colon at the end of the line.
fn is_attribution(line: &str) -> bool {
    let line = line.to_lowercase();
    let ends = line.ends_with([':', '：']);
    let tells = line.contains(|c: char| c.is_ascii_digit()) || line.contains('@');
    ends && tells && ATTRIBUTIONS.iter().any(|(begin, end)| line.starts_with(begin) && line.contains(end))
}
