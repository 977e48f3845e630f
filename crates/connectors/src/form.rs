//! A form with a file in it. RFC 7578.

use aws_lc_rs::digest::{SHA256, digest};
use bytes::Bytes;

/// A form that is being written.
pub struct Form {
    boundary: String,
    body: Vec<u8>,
}

impl Form {
    /// A form for a file of these bytes: its boundary is their hash, which they do not hold.
    pub fn around(bytes: &[u8]) -> Self {
        let hash = digest(&SHA256, bytes);
        let boundary = hash.as_ref().iter().fold("form-".to_owned(), |text, byte| format!("{text}{byte:02x}"));
        Self { boundary, body: Vec::with_capacity(bytes.len() + 1_024) }
    }

    /// Its media type.
    pub fn media_type(&self) -> String {
        format!("multipart/form-data; boundary={}", self.boundary)
    }

    /// With a field.
    pub fn field(mut self, name: &str, value: &str) -> Self {
        let head = format!("--{}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n", self.boundary);
        self.body.extend_from_slice(head.as_bytes());
        self.body.extend_from_slice(value.as_bytes());
        self.body.extend_from_slice(b"\r\n");
        self
    }

    /// With the file, and its end.
    pub fn file(mut self, name: &str, file_name: &str, bytes: &[u8]) -> Bytes {
        // What could end the name, or begin another field, is not in it.
        let file_name: String = file_name.chars().map(|c| if "\"\\\r\n".contains(c) { '_' } else { c }).collect();
        let head = format!(
            "--{}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{file_name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n",
            self.boundary
        );
        self.body.extend_from_slice(head.as_bytes());
        self.body.extend_from_slice(bytes);
        self.body.extend_from_slice(format!("\r\n--{}--\r\n", self.boundary).as_bytes());
        Bytes::from(self.body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_its_fields_and_no_name_breaks_out_of_it() {
        let form = Form::around(b"soup");
        let boundary = form.media_type().split_once("boundary=").unwrap().1.to_owned();
        let body = form.field("chat_id", "5").file("document", "a\"\r\nb.txt", b"soup");
        let text = String::from_utf8(body.to_vec()).unwrap();
        assert!(text.contains("name=\"chat_id\"\r\n\r\n5\r\n") && text.contains("filename=\"a___b.txt\""), "{text}");
        assert!(text.ends_with(&format!("\r\n\r\nsoup\r\n--{boundary}--\r\n")), "{text}");
    }
}
