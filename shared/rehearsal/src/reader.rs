//! Reads the parts of a test file; mistakes are collected with their places.

use std::time::Duration;

use model::Map;
use serde_json::Value;
use shortform::{Flaw, Mark, Member, Tree};

use crate::form::Field;

/// The mistakes so far.
#[derive(Default)]
pub(crate) struct Reader {
    pub(crate) flaws: Vec<Flaw>,
}

impl Reader {
    pub(crate) fn flaw(&mut self, mark: Mark, message: impl Into<String>) {
        self.flaws.push(Flaw { mark, message: message.into() });
    }

    /// The members of an object, which may have these only.
    pub(crate) fn members<'t>(
        &mut self,
        tree: &'t Tree,
        fields: impl IntoIterator<Item = &'static Field>,
    ) -> &'t [Member] {
        let names: Vec<&str> = fields.into_iter().map(|field| field.name).collect();
        let Some(members) = tree.members() else {
            self.flaw(tree.mark, format!("write an object with {}", names.join(", ")));
            return &[];
        };
        for member in members {
            if !names.contains(&member.name.as_str()) {
                let message =
                    format!("{} means nothing here: use {}", member.name, names.join(", "));
                self.flaw(member.mark, message);
            }
        }
        members
    }

    /// Names and values.
    pub(crate) fn map(&mut self, tree: Option<&Tree>) -> Map {
        match tree.map(|tree| (tree.mark, tree.value())) {
            None | Some((_, Value::Null)) => Map::new(),
            Some((_, Value::Object(map))) => map,
            Some((mark, _)) => {
                self.flaw(mark, "write an object of names and values");
                Map::new()
            }
        }
    }

    pub(crate) fn text(&mut self, tree: Option<&Tree>) -> Option<String> {
        let tree = tree?;
        let text = tree.as_text().map(str::to_owned);
        if text.is_none() {
            self.flaw(tree.mark, "write a text");
        }
        text
    }

    pub(crate) fn span(&mut self, tree: Option<&Tree>) -> Option<Duration> {
        let tree = tree?;
        let text = self.text(Some(tree))?;
        match model::span::parse(&text) {
            Ok(span) => Some(span),
            Err(message) => {
                self.flaw(tree.mark, message);
                None
            }
        }
    }

    /// One of these words.
    pub(crate) fn word(&mut self, tree: &Tree, words: &[&str]) {
        if !tree.as_text().is_some_and(|text| words.contains(&text)) {
            self.flaw(tree.mark, format!("write {}", words.join(", ")));
        }
    }

    pub(crate) fn list<'t>(&mut self, tree: Option<&'t Tree>) -> &'t [Tree] {
        let Some(tree) = tree else { return &[] };
        tree.items().unwrap_or_else(|| {
            self.flaw(tree.mark, "write a list");
            &[]
        })
    }
}
