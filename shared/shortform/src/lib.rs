//! The short form of definitions: YAML and JSON with plain values, for people who write by hand.
//!
//! [`read()`] reads a text into a [`Tree`], which knows the line and the column of each of its parts.
//! [`Vocabulary::expand`] turns the short form into the full form, the one that Elsa writes, and
//! [`Vocabulary::shorten`] goes back. The full form is a part of the short form, so a file may use
//! both. Neither way loses anything: what has no short form stays as it is.
//!
//! Pure: it reads no file. `docs/short-form.md` describes the form for its users.

mod elsa;
mod expand;
mod json;
mod locate;
mod schema;
mod scope;
mod shorten;
mod tree;
mod vocabulary;
mod yaml;

pub use locate::Places;
pub use schema::{full as full_schema, short as short_schema, short_with as short_schema_with};
pub use tree::{Flaw, Mark, Member, Node, Tree};
pub use vocabulary::Vocabulary;
pub use yaml::write;

/// The notation of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// JSON.
    Json,
    /// YAML 1.2, without anchors, aliases and tags.
    Yaml,
}

/// Reads a text, perhaps with a byte order mark before it.
///
/// # Errors
/// [`Flaw`] names the place at which the text is not JSON or YAML.
pub fn read(text: &str, notation: Notation) -> Result<Tree, Flaw> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match notation {
        Notation::Json => json::read(text),
        Notation::Yaml => yaml::read(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_before_the_text_has_no_place() {
        for (text, notation) in [("{\"a\": 1}", Notation::Json), ("a: 1\n", Notation::Yaml)] {
            let marked = read(&format!("\u{feff}{text}"), notation).unwrap();
            assert_eq!(marked, read(text, notation).unwrap(), "{notation:?}");
        }
    }
}
