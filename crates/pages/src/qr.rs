//! An address as a QR code (ISO/IEC 18004), as SVG that stands in a page.

use std::fmt::Write;

use qrcodegen::{QrCode, QrCodeEcc};

/// Modules around the code that stay light, without which readers miss it.
const QUIET_ZONE: i32 = 4;

/// The code of `url`, black on white in every light, named `label`. `None` where it is longer than a code holds, about
/// two thousand bytes.
pub(crate) fn svg(url: &str, label: &str) -> Option<String> {
    let code = QrCode::encode_text(url, QrCodeEcc::Medium).ok()?;
    let side = code.size() + 2 * QUIET_ZONE;
    let mut path = String::new();
    for y in 0..code.size() {
        let mut x = 0;
        while x < code.size() {
            // What is dark beside each other is one rectangle.
            let length = (x..code.size()).take_while(|x| code.get_module(*x, y)).count();
            if length > 0 {
                // Writing to a string can't fail.
                let _ = write!(path, "M{} {}h{length}v1h-{length}z", x + QUIET_ZONE, y + QUIET_ZONE);
            }
            x += i32::try_from(length).unwrap_or_default() + 1;
        }
    }
    let label = crate::escape::text(label);
    Some(format!(
        "<svg class=\"qr\" role=\"img\" aria-label=\"{label}\" viewBox=\"0 0 {side} {side}\" \
         shape-rendering=\"crispEdges\"><path fill=\"#fff\" d=\"M0 0h{side}v{side}H0z\"/><path fill=\"#000\" d=\"{path}\"/></svg>"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_code_with_a_name_and_its_quiet_zone() {
        let svg = svg("https://demo.example/pay/abc", "\"><script>").unwrap();
        assert!(svg.contains("viewBox=\"0 0 37 37\"") && svg.contains("M4 4h7v1h-7z"), "{svg}");
        assert!(!svg.contains("<script"), "{svg}");
    }

    #[test]
    fn what_no_code_holds_has_none() {
        // Bytes of the largest code, version 40, with medium correction.
        assert!(svg(&"a".repeat(2_331), "x").is_some());
        assert_eq!(svg(&"a".repeat(2_332), "x"), None);
    }
}
