//! Reads YAML into a tree with places, and writes values as YAML.
//!
//! The scalars are those of JSON: `null`, `true`, `false` and numbers as JSON writes them, beside
//! `~` and nothing at all for null. Anything else is text, so `yes`, `007` and `1:30` are what they
//! look like. Anchors, aliases, tags and several documents in one text are refused.

mod write;

use std::collections::BTreeSet;

use granit_parser::{Event, Parser, ScalarStyle};
use model::limits;
use serde_json::Value;

use crate::tree::{Flaw, Mark, Member, Node, Tree, add};

pub use write::write;

/// Reads one YAML document.
///
/// # Errors
/// [`Flaw`] when the text is not YAML, is too deep, repeats a member of an object, or uses what is
/// refused.
pub(crate) fn read(text: &str) -> Result<Tree, Flaw> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let mark = Mark::new(error.marker().line().max(1), error.marker().col() + 1);
            mark.flaw(format!("this is not YAML: {}", error.info()))
        })?;
        builder.take(event, Mark::new(span.start.line().max(1), span.start.col() + 1))?;
    }
    builder.done.ok_or_else(|| Mark::new(1, 1).flaw("the text is empty: write a definition"))
}

/// A list or an object that is being read.
struct Open {
    tree: Tree,
    /// The name of the member that comes next.
    name: Option<(String, Mark)>,
    /// The names of the members before it.
    names: BTreeSet<String>,
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    done: Option<Tree>,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, mark: Mark) -> Result<(), Flaw> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                plain(anchor, tag.is_some(), mark)?;
                self.scalar(&text, style, mark)
            }
            Event::SequenceStart(_, anchor, tag) => {
                plain(anchor, tag.is_some(), mark)?;
                self.begin(Node::List(Vec::new()), mark)
            }
            Event::MappingStart(_, anchor, tag) => {
                plain(anchor, tag.is_some(), mark)?;
                self.begin(Node::Map(Vec::new()), mark)
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => self.put(open.tree),
                None => Ok(()),
            },
            Event::Alias(_) => Err(mark.flaw("aliases are not read: write the value again")),
            Event::DocumentStart(..) if self.done.is_some() => {
                Err(mark.flaw("there is a second document: write one definition in one file"))
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, node: Node, mark: Mark) -> Result<(), Flaw> {
        if self.open.len() >= limits::CARRIER_DEPTH_MAX {
            let max = limits::CARRIER_DEPTH_MAX;
            return Err(mark.flaw(format!("lists and objects are nested more than {max} deep")));
        }
        if self.expects_name() {
            return Err(mark.flaw("the name of a member has to be a text"));
        }
        self.open.push(Open { tree: Tree { mark, node }, name: None, names: BTreeSet::new() });
        Ok(())
    }

    fn expects_name(&self) -> bool {
        let open = self.open.last();
        open.is_some_and(|open| open.name.is_none() && matches!(open.tree.node, Node::Map(_)))
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, mark: Mark) -> Result<(), Flaw> {
        if let (true, Some(open)) = (self.expects_name(), self.open.last_mut()) {
            open.name = Some((text.to_owned(), mark));
            return Ok(());
        }
        let value = if style == ScalarStyle::Plain {
            resolved(text, mark)?
        } else {
            Value::String(text.to_owned())
        };
        self.put(Tree { mark, node: Node::Scalar(value) })
    }

    fn put(&mut self, value: Tree) -> Result<(), Flaw> {
        match self.open.last_mut() {
            None => self.done = Some(value),
            Some(Open { tree: Tree { node: Node::List(items), .. }, .. }) => items.push(value),
            Some(Open { tree: Tree { node: Node::Map(members), .. }, name, names }) => {
                let (name, mark) = name.take().unwrap_or_default();
                add(members, names, Member { name, mark, value })?;
            }
            Some(_) => {}
        }
        Ok(())
    }
}

fn plain(anchor: usize, is_tagged: bool, mark: Mark) -> Result<(), Flaw> {
    match (anchor, is_tagged) {
        (0, false) => Ok(()),
        (0, true) => Err(mark.flaw("tags are not read: remove it")),
        _ => Err(mark.flaw("anchors are not read: write the value where it is needed")),
    }
}

/// The value of a plain scalar.
fn resolved(text: &str, mark: Mark) -> Result<Value, Flaw> {
    match text {
        "" | "~" | "null" => return Ok(Value::Null),
        "true" => return Ok(Value::Bool(true)),
        "false" => return Ok(Value::Bool(false)),
        _ => {}
    }
    let is_number = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    if !is_number {
        return Ok(Value::String(text.to_owned()));
    }
    if let Err(flaw) = model::json::check_integers(text.as_bytes()) {
        return Err(mark.flaw(format!("{flaw}; in quotes it is a text")));
    }
    match serde_json::from_str::<Value>(text) {
        Ok(number) => Ok(number),
        Err(_) => Ok(Value::String(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scalars_are_those_of_json() {
        let check = |text: &str, expected: Value| assert_eq!(read(text).unwrap().value(), expected);
        check("[1, -2.5, 1e3, true, null, ~]", json!([1, -2.5, 1e3, true, null, null]));
        check("[yes, True, 007, 0x1F, 1:30, .inf]", {
            json!(["yes", "True", "007", "0x1F", "1:30", ".inf"])
        });
        check("a:\nb: '1'\nc: |\n  x\n  y\n", json!({"a": null, "b": "1", "c": "x\ny\n"}));
        check("1: x", json!({"1": "x"}));
    }

    #[test]
    fn every_part_has_its_place() {
        let tree = read("a:\n  - b: x\n    c: 1\n").unwrap();
        let item = &tree.get("a").unwrap().items().unwrap()[0];
        let c = item.member("c").unwrap();
        assert_eq!((item.mark, c.mark), (Mark::new(2, 5), Mark::new(3, 5)));
        assert_eq!(c.value.mark, Mark::new(3, 8));
    }

    #[test]
    fn what_is_not_read_is_refused_at_its_place() {
        let check = |text: &str, expected: &str| {
            let flaw = read(text).unwrap_err().to_string();
            assert!(flaw.starts_with(expected), "{flaw}");
        };
        check("a: &x 1\nb: *x", "1:7: anchors are not read");
        check("a: !!str 1", "1:10: tags are not read");
        check("a: 1\na: 2", "2:1: a is there twice");
        check("a: 1\n---\nb: 1", "2:1: there is a second document");
        check("? [a]\n: b", "1:3: the name of a member has to be a text");
        check("a: [1", "");
        check("a: 'x", "");
        check("", "1:1: the text is empty");
        check("a: 123456789012345678901234567890", "1:4: the value is an integer of more");
        let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
        check(&deep, "1:97: lists and objects are nested more than 96 deep");
        check(&"[".repeat(500), "1:256: this is not YAML");
    }
}
