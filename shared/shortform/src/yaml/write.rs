//! Writes values as YAML that people like to read.

use serde_json::Value;

/// A longer key needs a line of its own (YAML 1.2.2, section 7.4).
const KEY_CHARS_MAX: usize = 1_000;

/// Writes a value as a YAML document that [`crate::read`] reads as the same value.
#[must_use]
pub fn write(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => block(&mut out, value, 0, false),
        Value::Array(items) if !items.is_empty() => block(&mut out, value, 0, false),
        scalar => {
            out.push_str(&inline(scalar));
            out.push('\n');
        }
    }
    out
}

/// Writes the lines of a list or an object. The first line goes on after a dash if `is_begun`.
fn block(out: &mut String, value: &Value, indent: usize, is_begun: bool) {
    let pad = " ".repeat(indent);
    let mut is_begun = is_begun;
    let mut begin = |out: &mut String| {
        if !std::mem::take(&mut is_begun) {
            out.push_str(&pad);
        }
    };
    match value {
        Value::Object(map) => {
            for (name, member) in map {
                begin(out);
                let key = key(name);
                if key.chars().count() > KEY_CHARS_MAX {
                    out.push_str(&format!("? {key}\n{pad}:"));
                } else {
                    out.push_str(&format!("{key}:"));
                }
                after(out, member, indent);
            }
        }
        Value::Array(items) => {
            for item in items {
                begin(out);
                out.push('-');
                item_after(out, item, indent);
            }
        }
        scalar => out.push_str(&inline(scalar)),
    }
}

fn is_block(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}

/// Writes the value of a member behind its name.
fn after(out: &mut String, value: &Value, indent: usize) {
    if is_block(value) {
        out.push('\n');
        block(out, value, indent + 2, false);
    } else {
        scalar_after(out, value, indent);
    }
}

/// Writes an item of a list behind its dash.
fn item_after(out: &mut String, value: &Value, indent: usize) {
    if is_block(value) {
        out.push(' ');
        block(out, value, indent + 2, true);
    } else {
        scalar_after(out, value, indent);
    }
}

fn scalar_after(out: &mut String, value: &Value, indent: usize) {
    out.push(' ');
    if let Value::String(text) = value
        && is_literal(text)
    {
        let pad = " ".repeat(indent + 2);
        let (sign, body) = match text.strip_suffix('\n') {
            Some(body) => ("|", body),
            None => ("|-", text.as_str()),
        };
        out.push_str(sign);
        for line in body.split('\n') {
            out.push('\n');
            if !line.is_empty() {
                out.push_str(&pad);
                out.push_str(line);
            }
        }
    } else {
        out.push_str(&inline(value));
    }
    out.push('\n');
}

/// Several lines that a block can hold as they are.
fn is_literal(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let is_blank = |line: &str| !line.is_empty() && line.trim().is_empty();
    body.contains('\n')
        && !body.starts_with(char::is_whitespace)
        && !body.ends_with('\n')
        && !body.split('\n').any(is_blank)
        && body.chars().all(|c| c == '\n' || is_printable(c))
}

/// Neither a terminal nor a reader acts on it.
fn is_printable(c: char) -> bool {
    let reorders = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_line_end = matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    !c.is_control() && !reorders && !is_line_end
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        Value::String(text) => quoted(text),
        Value::Array(items) if items.is_empty() => "[]".to_owned(),
        Value::Object(map) if map.is_empty() => "{}".to_owned(),
        other => other.to_string(),
    }
}

fn key(name: &str) -> String {
    let is_simple = is_plain(name) && !name.contains([':', '?', '{', '[', '"', '\'']);
    if is_simple { name.to_owned() } else { quoted(name) }
}

/// Text that needs no quotes, for any reader of YAML.
fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    let begins_well = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    begins_well
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && text.chars().all(is_printable)
        && !WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
}

fn quoted(text: &str) -> String {
    let has_marks = text.contains(['"', '\\']);
    if has_marks && text.chars().all(is_printable) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_printable(c) => out.push(c),
            c => out.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Notation, read};

    #[test]
    fn it_is_read_as_it_was_written() {
        let check = |value: Value| {
            let text = write(&value);
            assert_eq!(read(&text, Notation::Yaml).unwrap().value(), value, "{text}");
        };
        check(json!({"a": [], "b": {}, "c": [[1, [2]], {"x": {"y": null}}], "d e": "f: g"}));
        check(json!([{"js": "a\n\n  b\n"}, "a\nb", "a\n", "\na", " a\nb", "a\n \nb", "a\n\n"]));
        check(json!("x"));
        check(json!({"": "", "1": "1", "null": "null", "- a": "- a", "a: b": "#"}));
    }

    #[test]
    fn any_text_survives() {
        let alphabet: Vec<char> =
            "ab 1:#-?'\"\\\n\t\r{}[],&*!|>%@`~=\u{0}\u{7f}\u{85}\u{a0}\u{2028}\u{feff}\u{202e}ü😀"
                .chars()
                .collect();
        let mut seed = 7_u64;
        let mut draw = |below: usize| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % below
        };
        for _ in 0..20_000 {
            let length = draw(12);
            let text: String = (0..length).map(|_| alphabet[draw(alphabet.len())]).collect();
            let value = json!({"k": text, "l": [text, {text.clone(): text}]});
            let written = write(&value);
            let back = read(&written, Notation::Yaml);
            assert_eq!(back.map(|tree| tree.value()), Ok(value), "{written}");
        }
    }

    #[test]
    fn a_long_name_of_a_member_survives() {
        for name in ["x".repeat(3_000), "\u{7f}".repeat(300)] {
            let members =
                json!({ name.clone(): 1, "after": {name.clone(): [1]}, "b": [{name: 2}] });
            let text = write(&members);
            let back = read(&text, Notation::Yaml).unwrap();
            assert_eq!(back.value(), members, "{text}");
        }
    }

    #[test]
    fn scripts_are_easy_to_read() {
        let value = json!({"flow": {"a": {"type": "WriteLine", "text": {"js": "`x`\nreturn \"y\""}}},
            "next": ["a -> b", "b.True -> c"], "count": 1, "w": "yes"});
        let expected = "flow:\n  a:\n    type: WriteLine\n    text:\n      js: |-\n        `x`\n        \
            return \"y\"\nnext:\n  - a -> b\n  - b.True -> c\ncount: 1\nw: \"yes\"\n";
        assert_eq!(write(&value), expected);
    }
}
