//! One self-contained file: markup, style, program and data, under a policy that lets nothing else run or load.

use crate::page::Page;
use crate::visible::visible;
use base64::Engine;
use sha2::{Digest, Sha256};

const SCRIPT: &str = include_str!("../../../../viewer/dist/viewer.js");
const STYLE: &str = include_str!("../../../../viewer/dist/viewer.css");

/// The page as HTML.
pub fn render(page: &Page) -> String {
    let title = if page.reports.len() == 1 { &page.reports[0].title } else { &page.name };
    let data = serde_json::to_string(page).expect("plain data always serialises");
    // Whatever a report, a file name or an option says: no mark that turns text around gets onto the page.
    let (title, data) = (visible(title), visible(&data));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title} - Parallax</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <noscript><p>This page needs JavaScript: the report is laid out in the browser.</p></noscript>\n\
         <script type=\"application/json\" id=\"page\">{data}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        policy = policy(page.server.is_some()),
        title = escape(&title),
        data = inert(&data),
    )
}

/// What the page may do: run its own program, by hash, and show its own style. With a server, talk to that one.
pub fn policy(served: bool) -> String {
    let hash = |text: &str| {
        let digest = Sha256::digest(text.as_bytes());
        format!("'sha256-{}'", base64::engine::general_purpose::STANDARD.encode(digest))
    };
    let connect = if served { "'self'" } else { "'none'" };
    format!(
        "default-src 'none'; script-src {}; style-src {}; connect-src {connect}; img-src data:; \
         base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

/// Text for element content and attributes.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// JSON that cannot end the element it stands in, nor open a comment there.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_leave_its_element() {
        let json = inert(r#"{"a":"</script><!--<script>&"}"#);
        assert!(!json.contains(['<', '>', '&']));
        let back: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(back["a"], "</script><!--<script>&");
    }

    #[test]
    fn the_program_and_the_style_do_not_end_their_own_elements() {
        assert!(!SCRIPT.to_lowercase().contains("</script") && !SCRIPT.contains("<!--"));
        assert!(!STYLE.to_lowercase().contains("</style"));
    }
}
