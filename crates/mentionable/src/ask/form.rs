//! A question as a multipart form. Mentionable REST 3.2.

use std::path::Path;

use forecourt_client::ask::attachment::{self, QUESTION_BYTES_MAX};
use forecourt_client::output::Failure;
use forecourt_core::{Entropy, ids};

/// A form in the making: parts in order, each of one name.
pub(super) struct Form {
    boundary: String,
    body: Vec<u8>,
}

impl Form {
    pub(super) fn new(entropy: &dyn Entropy) -> Self {
        // Random, so that nothing that is sent holds it by chance.
        Self { boundary: ids::mint(entropy), body: Vec::new() }
    }

    /// Adds a field of plain text.
    pub(super) fn text(&mut self, name: &str, text: &str) {
        self.part(&format!("name=\"{}\"", escaped(name)), "text/plain; charset=utf-8", text.as_bytes());
    }

    /// Adds a file as a field. Fails when it can't be read, or is larger than any agent takes.
    pub(super) fn file(&mut self, name: &str, path: &Path) -> Result<(), Failure> {
        let bytes = attachment::read(path)?;
        let own = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        self.part(&format!("name=\"{name}\"; filename=\"{}\"", escaped(&own)), attachment::media_type(path), &bytes);
        Ok(())
    }

    fn part(&mut self, disposition: &str, media_type: &str, bytes: &[u8]) {
        let head = format!(
            "--{}\r\nContent-Disposition: form-data; {disposition}\r\nContent-Type: {media_type}\r\n\r\n",
            self.boundary
        );
        self.body.extend_from_slice(head.as_bytes());
        self.body.extend_from_slice(bytes);
        self.body.extend_from_slice(b"\r\n");
    }

    /// The whole form: its media type and its bytes.
    pub(super) fn finish(mut self) -> Result<(String, Vec<u8>), Failure> {
        self.body.extend_from_slice(format!("--{}--\r\n", self.boundary).as_bytes());
        match self.body.len() {
            bytes if bytes > QUESTION_BYTES_MAX => {
                Err(attachment::too_large(&format!("the question has {bytes} bytes in all")))
            }
            _ => Ok((format!("multipart/form-data; boundary={}", self.boundary), self.body)),
        }
    }
}

/// A file name that can't end its field. WHATWG HTML, multipart/form-data encoding.
fn escaped(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use forecourt_testkit::CountedEntropy;

    use super::*;

    #[test]
    fn parts_stand_in_the_order_in_which_they_were_added() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a\"b.PNG");
        std::fs::write(&path, b"\x89PNG").unwrap();
        let mut form = Form::new(&CountedEntropy::default());
        form.text("session", "t");
        form.text("user", "soup\r\n?");
        form.file("user", &path).unwrap();
        let boundary = form.boundary.clone();
        let (media_type, body) = form.finish().unwrap();
        assert_eq!(media_type, format!("multipart/form-data; boundary={boundary}"));
        assert!(boundary.len() <= 70);
        let text = String::from_utf8_lossy(&body).replace(&boundary, "B").replace('\u{fffd}', "?");
        assert_eq!(
            text,
            "--B\r\nContent-Disposition: form-data; name=\"session\"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nt\r\n\
             --B\r\nContent-Disposition: form-data; name=\"user\"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nsoup\r\n?\r\n\
             --B\r\nContent-Disposition: form-data; name=\"user\"; filename=\"a%22b.PNG\"\r\nContent-Type: image/png\r\n\r\n?PNG\r\n\
             --B--\r\n"
        );
    }

    #[test]
    fn a_form_of_a_mebibyte_is_fine_and_one_byte_more_is_not() {
        let form = |bytes: usize| {
            let mut form = Form::new(&CountedEntropy::default());
            form.text("user", &"a".repeat(bytes));
            form.finish().map(|(_, body)| body.len())
        };
        let frame = form(0).unwrap();
        assert_eq!(form(QUESTION_BYTES_MAX - frame).unwrap(), QUESTION_BYTES_MAX);
        assert!(form(QUESTION_BYTES_MAX - frame + 1).is_err());
    }

    #[test]
    fn files_that_are_too_large_or_not_there_are_said() {
        let folder = tempfile::tempdir().unwrap();
        let mut form = Form::new(&CountedEntropy::default());
        assert!(form.file("user", &folder.path().join("none")).is_err());
        let large = folder.path().join("large");
        std::fs::File::create(&large).unwrap().set_len(QUESTION_BYTES_MAX as u64 + 1).unwrap();
        assert!(form.file("user", &large).is_err());
    }
}
