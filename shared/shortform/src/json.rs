//! Reads JSON into a tree with places. The parser of values is `serde_json`; this file only adds
//! the places.

use std::collections::BTreeSet;

use model::{depth, json};
use serde_json::Value;

use crate::tree::{Flaw, Mark, Member, Node, Tree, add};

/// Reads one JSON value.
///
/// # Errors
/// [`Flaw`] when the text is not JSON, is too deep, or repeats a member of an object.
pub(crate) fn read(text: &str) -> Result<Tree, Flaw> {
    let top = Mark::new(1, 1);
    depth::check_json_carrier(text.as_bytes()).map_err(|flaw| top.flaw(flaw.to_string()))?;
    json::check_integers(text.as_bytes()).map_err(|flaw| top.flaw(flaw.to_string()))?;
    if let Err(error) = serde_json::from_str::<Value>(text) {
        let said = error.to_string();
        let said = said.split(" at line ").next().unwrap_or_default();
        let mark = Mark::new(error.line().max(1), error.column().max(1));
        return Err(mark.flaw(format!("this is not JSON: {said}")));
    }
    Reader { text, at: 0, mark: top }.value()
}

/// A position in a text that is known to be JSON.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    mark: Mark,
}

impl Reader<'_> {
    fn value(&mut self) -> Result<Tree, Flaw> {
        self.skip_spaces();
        let mark = self.mark;
        let node = match self.peek() {
            '{' => Node::Map(self.members()?),
            '[' => Node::List(self.items()?),
            _ => Node::Scalar(self.scalar()?),
        };
        Ok(Tree { mark, node })
    }

    fn members(&mut self) -> Result<Vec<Member>, Flaw> {
        let (mut members, mut names) = (Vec::new(), BTreeSet::new());
        self.step();
        while self.goes_on('}') {
            let mark = self.mark;
            let name = self.scalar()?.as_str().unwrap_or_default().to_owned();
            self.skip_spaces();
            self.step();
            let value = self.value()?;
            add(&mut members, &mut names, Member { name, mark, value })?;
        }
        Ok(members)
    }

    fn items(&mut self) -> Result<Vec<Tree>, Flaw> {
        let mut items = Vec::new();
        self.step();
        while self.goes_on(']') {
            items.push(self.value()?);
        }
        Ok(items)
    }

    /// Whether another item follows; steps over the comma before it, or over the end.
    fn goes_on(&mut self, end: char) -> bool {
        self.skip_spaces();
        if self.peek() == ',' {
            self.step();
            self.skip_spaces();
        }
        if self.peek() == end || self.at >= self.text.len() {
            self.step();
            return false;
        }
        true
    }

    fn scalar(&mut self) -> Result<Value, Flaw> {
        let (begin, mark) = (self.at, self.mark);
        if self.peek() == '"' {
            self.step();
            while self.at < self.text.len() && self.peek() != '"' {
                if self.peek() == '\\' {
                    self.step();
                }
                self.step();
            }
            self.step();
        } else {
            while self.at < self.text.len() && !" \t\r\n,]}:".contains(self.peek()) {
                self.step();
            }
        }
        let text = self.text.get(begin..self.at).unwrap_or_default();
        serde_json::from_str(text).map_err(|error| mark.flaw(format!("this is not JSON: {error}")))
    }

    fn skip_spaces(&mut self) {
        while self.at < self.text.len() && " \t\r\n".contains(self.peek()) {
            self.step();
        }
    }

    fn peek(&self) -> char {
        self.text.get(self.at..).and_then(|rest| rest.chars().next()).unwrap_or('\0')
    }

    fn step(&mut self) {
        let c = self.peek();
        if self.at < self.text.len() {
            self.at += c.len_utf8();
        }
        if c == '\n' {
            self.mark = Mark::new(self.mark.line + 1, 1);
        } else {
            self.mark.column += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_its_place() {
        let tree = read("{\n  \"a\": [1, \"x\\\"]\"],\n  \"b\": {\"ü\": null}\n}").unwrap();
        let b = tree.member("b").unwrap();
        assert_eq!((b.mark, b.value.mark), (Mark::new(3, 3), Mark::new(3, 8)));
        assert_eq!(tree.get("a").unwrap().items().unwrap()[1].mark, Mark::new(2, 12));
        assert_eq!(tree.value(), serde_json::json!({"a": [1, "x\"]"], "b": {"ü": null}}));
    }

    #[test]
    fn mistakes_have_a_place() {
        let check = |text: &str, expected: &str| {
            let flaw = read(text).unwrap_err().to_string();
            assert!(flaw.starts_with(expected), "{flaw}");
        };
        check("{\"a\": 1,\n \"a\": 2}", "2:2: a is there twice");
        check("{\"a\": ]}", "1:7: this is not JSON");
        check("{} x", "1:4: this is not JSON");
        check("", "1:1: this is not JSON");
        check(&"[".repeat(200), "1:1: the JSON has lists and objects nested more than");
        check("{\"a\": 123456789012345678901234567890}", "1:1: a is an integer of more than");
    }
}
