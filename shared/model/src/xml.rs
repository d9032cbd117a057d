//! XML as values.
//!
//! `<order id="7"><item>a</item><item>b</item></order>` is `{"order": {"@id": "7", "item": ["a",
//! "b"]}}`: an element is an object of its attributes, each with an `@`, and of its children, in a
//! list where several have the same name. An element with nothing but text is this text; text beside
//! attributes or children is `#text`. Names are without their prefixes, which every sender chooses
//! for itself; comments and processing instructions are left out.

use roxmltree::{Document, Node, ParsingOptions};
use serde_json::Value;

use crate::{Map, limits};

/// The reason why a text cannot be read as XML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// It is not well-formed, has a document type, or has too many nodes.
    #[error("not XML that can be read: {0}")]
    Malformed(String),
    /// Its elements nest too deep.
    #[error(
        "XML with elements nested more than {max} deep: make it flatter",
        max = limits::XML_DEPTH_MAX
    )]
    TooDeep,
}

/// Whether a media type, without its parameters, is XML.
#[must_use]
pub fn is_type(media_type: &str) -> bool {
    let media_type = media_type.trim().to_ascii_lowercase();
    ["application/xml", "text/xml"].contains(&media_type.as_str()) || media_type.ends_with("+xml")
}

/// The value of an XML text: an object with one member, the root element. A document type is
/// refused, and so are entities of its own.
///
/// # Errors
/// [`Flaw`] when it is not well-formed, or above [`limits::XML_NODES_MAX`] or
/// [`limits::XML_DEPTH_MAX`].
pub fn value(text: &str) -> Result<Value, Flaw> {
    let options = ParsingOptions { nodes_limit: limits::XML_NODES_MAX, ..Default::default() };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document = Document::parse_with_options(text, options)
        .map_err(|error| Flaw::Malformed(error.to_string()))?;
    let root = document.root_element();
    let mut value = Map::new();
    value.insert(root.tag_name().name().to_owned(), element(root, 1)?);
    Ok(Value::Object(value))
}

fn element(node: Node<'_, '_>, depth: usize) -> Result<Value, Flaw> {
    if depth > limits::XML_DEPTH_MAX {
        return Err(Flaw::TooDeep);
    }
    let mut members = Map::new();
    for attribute in node.attributes() {
        add(&mut members, format!("@{}", attribute.name()), attribute.value().into());
    }
    let mut text = String::new();
    for child in node.children() {
        if child.is_element() {
            add(&mut members, child.tag_name().name().to_owned(), element(child, depth + 1)?);
        } else if child.is_text() {
            text.push_str(child.text().unwrap_or_default());
        }
    }
    if members.is_empty() {
        return Ok(Value::String(text));
    }
    if !text.trim().is_empty() {
        members.insert("#text".to_owned(), Value::String(text));
    }
    Ok(Value::Object(members))
}

/// Adds a member; a name that has a value already gets a list. A value is never a list itself.
fn add(members: &mut Map, name: String, value: Value) {
    match members.get_mut(&name) {
        None => {
            members.insert(name, value);
        }
        Some(Value::Array(list)) => list.push(value),
        Some(first) => *first = Value::Array(vec![first.take(), value]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn elements_are_members() {
        let check = |text: &str, expected: Value| assert_eq!(value(text), Ok(expected), "{text}");
        check("<a/>", json!({"a": ""}));
        check("<a> x </a>", json!({"a": " x "}));
        check("<a>1 &lt; <![CDATA[2 & 3]]></a>", json!({"a": "1 < 2 & 3"}));
        check(
            "\u{feff}<?xml version=\"1.0\"?>\n<!-- an order -->\n<order id=\"7\">\n\
             <item>a</item>\n<item>b</item>\n<to zip=\"1\">me</to></order>",
            json!({"order": {"@id": "7", "item": ["a", "b"], "to": {"@zip": "1", "#text": "me"}}}),
        );
        check(
            "<s:e xmlns:s=\"urn:s\" xmlns=\"urn:d\"><s:b s:x=\"1\"><b>2</b></s:b></s:e>",
            json!({"e": {"b": {"@x": "1", "b": "2"}}}),
        );
        check("<p>a <b>c</b> d</p>", json!({"p": {"#text": "a  d", "b": "c"}}));
    }

    #[test]
    fn what_is_not_xml_is_refused() {
        let check = |text: &str, said: &str| {
            let flaw = value(text).unwrap_err().to_string();
            assert!(flaw.contains(said), "{text}: {flaw}");
        };
        check("", "not XML");
        check("{}", "not XML");
        check("<a>\n<b></a>", "2:");
        check("<a>&mine;</a>", "not XML");
        check("<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", "DTD");
    }

    #[test]
    fn depth_and_size_are_bounded() {
        let nested = |depth: usize| format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
        let value_of_deepest = value(&nested(limits::XML_DEPTH_MAX)).unwrap();
        assert!(crate::depth::check(&value_of_deepest).is_ok());
        assert_eq!(value(&nested(limits::XML_DEPTH_MAX + 1)), Err(Flaw::TooDeep));
        assert_eq!(value(&nested(90_000)), Err(Flaw::TooDeep), "no stack is used up");
        let many = format!("<a>{}</a>", "<b/>".repeat(limits::XML_NODES_MAX as usize));
        assert!(value(&many).unwrap_err().to_string().contains("nodes limit"));
    }

    #[test]
    fn media_types_are_known() {
        for xml in ["application/xml", "Text/XML", "application/soap+xml"] {
            assert!(is_type(xml), "{xml}");
        }
        for other in ["application/json", "text/plain", "application/xmlish", ""] {
            assert!(!is_type(other), "{other}");
        }
    }
}
