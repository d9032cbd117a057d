//! Media types of bodies: which of them are text, and the text that their bytes are.
//!
//! A body is text by its media type, never by what its bytes look like. Its charset is the one that a
//! byte order mark, the parameter `charset` or the declaration of XML names, in this order, or else
//! UTF-8. Bytes that are no text in this charset are a flaw: nothing is replaced.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::xml;

/// The reason why a body that should be text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// Its charset has no name that is known.
    #[error("text in the charset {0:?}, which is not known: use UTF-8")]
    Unknown(String),
    /// Its bytes are not text in its charset.
    #[error("not text in {0}: its Content-Type has to name the charset that it is in")]
    Malformed(&'static str),
    /// The charset is read, and not written.
    #[error("text is not sent in {0}: use UTF-8")]
    Unsent(&'static str),
    /// A character is not in the charset.
    #[error("a character is not in {0}: use UTF-8")]
    Unmapped(&'static str),
}

/// The charset of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset(&'static Encoding);

impl Charset {
    /// The charset of a body: by its Content-Type, by its declaration if it is XML, or else UTF-8.
    ///
    /// # Errors
    /// [`Flaw::Unknown`]
    pub fn of(content_type: &str, bytes: &[u8]) -> Result<Self, Flaw> {
        if let Some(label) = parameter(content_type, "charset").filter(|label| !label.is_empty()) {
            return named(&label);
        }
        match essence(content_type).filter(|media_type| xml::is_type(media_type)) {
            Some(_) => declared(bytes).map_or(Ok(Self(UTF_8)), |label| {
                let charset = named(&label)?;
                // A declaration that can be read byte by byte is not in UTF-16.
                let is_wide = [UTF_16BE, UTF_16LE].contains(&charset.0);
                Ok(if is_wide { Self(UTF_8) } else { charset })
            }),
            None => Ok(Self(UTF_8)),
        }
    }

    /// The text that these bytes are, without its byte order mark.
    ///
    /// # Errors
    /// [`Flaw::Malformed`]
    pub fn decode(self, bytes: &[u8]) -> Result<Cow<'_, str>, Flaw> {
        let (encoding, length) = Encoding::for_bom(bytes).unwrap_or((self.0, 0));
        let text = bytes.get(length..).unwrap_or_default();
        encoding
            .decode_without_bom_handling_and_without_replacement(text)
            .ok_or(Flaw::Malformed(encoding.name()))
    }
}

fn named(label: &str) -> Result<Charset, Flaw> {
    let found = Encoding::for_label_no_replacement(label.as_bytes());
    found.map(Charset).ok_or_else(|| Flaw::Unknown(label.to_owned()))
}

/// The charset that an XML declaration names.
fn declared(bytes: &[u8]) -> Option<String> {
    const BYTES_MAX: usize = 256;
    let head = bytes.strip_prefix(b"<?xml")?;
    let head = head.get(..BYTES_MAX).unwrap_or(head);
    let end = head.windows(2).position(|two| two == b"?>")?;
    let head = std::str::from_utf8(head.get(..end)?).ok()?;
    let (_, rest) = head.split_once("encoding")?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|first| ['"', '\''].contains(first))?;
    rest.strip_prefix(quote)?.split(quote).next().map(str::to_owned)
}

/// The text of a body; none if it is bytes. Without a media type, it is text if it is UTF-8.
///
/// # Errors
/// [`Flaw`] when it should be text and is none.
pub fn text<'b>(content_type: Option<&str>, bytes: &'b [u8]) -> Result<Option<Cow<'b, str>>, Flaw> {
    let content_type = content_type.unwrap_or_default();
    match essence(content_type) {
        None => Ok(std::str::from_utf8(bytes).ok().map(|text| {
            let text = text.strip_prefix('\u{feff}').unwrap_or(text);
            Cow::Borrowed(text)
        })),
        Some(media_type) if is_text(&media_type) => {
            Charset::of(content_type, bytes)?.decode(bytes).map(Some)
        }
        Some(_) => Ok(None),
    }
}

/// The bytes of a text, in the charset that its Content-Type names, or else in UTF-8.
///
/// # Errors
/// [`Flaw`] when the text cannot be written in it.
pub fn bytes<'t>(content_type: Option<&str>, text: &'t str) -> Result<Cow<'t, [u8]>, Flaw> {
    let label = content_type.and_then(|kind| parameter(kind, "charset"));
    let Some(label) = label.filter(|label| !label.is_empty()) else {
        return Ok(Cow::Borrowed(text.as_bytes()));
    };
    let Charset(encoding) = named(&label)?;
    if encoding.output_encoding() != encoding {
        return Err(Flaw::Unsent(encoding.name()));
    }
    match encoding.encode(text) {
        (_, _, true) => Err(Flaw::Unmapped(encoding.name())),
        (bytes, _, false) => Ok(bytes),
    }
}

/// A Content-Type without its parameters, in lower case; none if nothing is left.
#[must_use]
pub fn essence(content_type: &str) -> Option<String> {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    (!essence.is_empty()).then(|| essence.to_ascii_lowercase())
}

/// A parameter of a header value, such as `name="x"`.
#[must_use]
pub fn parameter(value: &str, wanted: &str) -> Option<String> {
    value.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim();
        let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value);
        name.trim().eq_ignore_ascii_case(wanted).then(|| value.to_owned())
    })
}

/// Whether a media type, as [`essence`] gives it, is JSON.
#[must_use]
pub fn is_json(media_type: &str) -> bool {
    ["application/json", "text/json"].contains(&media_type) || media_type.ends_with("+json")
}

/// Whether a media type, as [`essence`] gives it, is text.
#[must_use]
pub fn is_text(media_type: &str) -> bool {
    const APPLICATIONS: [&str; 15] = [
        "ecmascript",
        "graphql",
        "javascript",
        "json-seq",
        "jsonl",
        "jsonlines",
        "ndjson",
        "sql",
        "toml",
        "x-javascript",
        "x-json",
        "x-ndjson",
        "x-www-form-urlencoded",
        "x-yaml",
        "yaml",
    ];
    let is_application = |name: &str| APPLICATIONS.contains(&name);
    media_type.starts_with("text/")
        || is_json(media_type)
        || xml::is_type(media_type)
        || media_type.ends_with("+yaml")
        || media_type.strip_prefix("application/").is_some_and(is_application)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_written_in_its_charset() {
        let written = |kind: &str, text: &str| bytes(Some(kind), text).map(Cow::into_owned);
        assert_eq!(written("text/plain; charset=iso-8859-1", "é"), Ok(vec![0xe9]));
        assert_eq!(written("text/plain; charset=utf-8", "é"), Ok("é".into()));
        assert_eq!(written("text/plain", "é"), Ok("é".into()));
        assert_eq!(bytes(None, "é"), Ok(Cow::Borrowed("é".as_bytes())));
        let refused = |kind: &str| written(kind, "日").unwrap_err().to_string();
        assert_eq!(refused("x/y; charset=latin1"), "a character is not in windows-1252: use UTF-8");
        assert_eq!(refused("x/y; charset=utf-16"), "text is not sent in UTF-16LE: use UTF-8");
        assert!(refused("x/y; charset=klingon").contains("\"klingon\", which is not known"));
    }

    fn read(content_type: &str, bytes: &[u8]) -> Result<Option<String>, Flaw> {
        text(Some(content_type), bytes).map(|found| found.map(Cow::into_owned))
    }

    #[test]
    fn the_media_type_tells_text_from_bytes() {
        for name in [
            "text/plain",
            "Text/CSV; header=present",
            "application/json",
            "application/problem+json; charset=utf-8",
            "application/xml",
            "image/svg+xml",
            "application/x-www-form-urlencoded",
            "application/javascript",
            "application/x-ndjson",
            "application/yaml",
        ] {
            assert_eq!(read(name, b"hi"), Ok(Some("hi".to_owned())), "{name}");
        }
        for name in [
            "application/octet-stream",
            "application/pdf; charset=utf-8",
            "image/png",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "multipart/mixed; boundary=x",
        ] {
            assert_eq!(read(name, b"hi"), Ok(None), "{name}");
        }
    }

    #[test]
    fn without_a_media_type_text_is_what_is_utf8() {
        for absent in [None, Some(""), Some(" ; charset=utf-16")] {
            assert_eq!(text(absent, b"hi"), Ok(Some("hi".into())), "{absent:?}");
            assert_eq!(text(absent, b"\xff"), Ok(None), "{absent:?}");
        }
        assert_eq!(text(None, "\u{feff}hi".as_bytes()), Ok(Some("hi".into())));
    }

    #[test]
    fn text_is_read_in_its_charset() {
        let check = |content_type: &str, bytes: &[u8], expected: &str| {
            assert_eq!(read(content_type, bytes), Ok(Some(expected.to_owned())), "{content_type}");
        };
        check("text/plain", "é".as_bytes(), "é");
        check("text/plain; charset=iso-8859-1", b"caf\xe9", "café");
        check("text/plain; x=y; Charset=\"Windows-1252\"", b"\x80 5", "€ 5");
        check("text/plain; charset=shift_jis", b"\x93\xfa\x96\x7b", "日本");
        check("text/plain; charset=utf-16", b"h\0i\0", "hi");
        check("text/plain; charset=utf-16be", b"\0h\0i", "hi");
        check("text/plain; charset=us-ascii", b"hi", "hi");
        check("application/json;charset=latin1", b"\"\xe9\"", "\"é\"");
        // A byte order mark is right, and no part of the text.
        check("text/plain; charset=iso-8859-1", "\u{feff}é".as_bytes(), "é");
        check("text/plain", b"\xff\xfeh\0i\0", "hi");
    }

    #[test]
    fn xml_may_declare_its_charset() {
        let check = |content_type: &str, bytes: &[u8], expected: &str| {
            let text = read(content_type, bytes).unwrap().unwrap();
            assert!(text.ends_with(expected), "{content_type}: {text}");
        };
        let latin = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>";
        check("application/xml", latin, "<a>é</a>");
        check("application/soap+xml", b"<?xml encoding = 'iso-8859-15' ?><a>\xa4</a>", "<a>€</a>");
        check("text/xml; charset=windows-1251", b"<?xml encoding='utf-8'?>\xe9", "й");
        check("text/xml", "<?xml encoding='utf-16'?><a>é</a>".as_bytes(), "<a>é</a>");
        assert_eq!(read("text/plain", latin), Err(Flaw::Malformed("UTF-8")), "no XML");
    }

    #[test]
    fn what_cannot_be_read_is_a_flaw() {
        let check = |content_type: &str, bytes: &[u8], expected: &str| {
            let flaw = read(content_type, bytes).unwrap_err().to_string();
            assert!(flaw.contains(expected), "{content_type}: {flaw}");
        };
        check("text/plain; charset=klingon", b"hi", "\"klingon\", which is not known");
        check("text/plain; charset=utf-7", b"hi", "not known");
        check("text/xml", b"<?xml encoding='klingon'?><a/>", "not known");
        check("text/plain", b"caf\xe9", "not text in UTF-8");
        check("text/plain; charset=utf-16", b"odd", "not text in UTF-16LE");
    }
}
