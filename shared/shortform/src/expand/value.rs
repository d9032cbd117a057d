//! Values of inputs.

use engine::{near_language, short_language};
use serde_json::Value;

use super::Expansion;
use crate::elsa;
use crate::tree::{Member, Node, Tree};

/// An expression in the full form: its type and its value.
type Expressed = (&'static str, Tree);

impl Expansion<'_> {
    /// A value of an input of this type: `{"typeName": …, "expression": …}`.
    pub(crate) fn value(&mut self, tree: &Tree, type_name: &str) -> Tree {
        match self.expressed(tree) {
            Some((kind, value)) => elsa::wrapped(tree.mark, type_name, kind, value),
            None => tree.clone(),
        }
    }

    /// A condition: `{"type": …, "value": …}`.
    pub(crate) fn typed(&mut self, tree: &Tree) -> Tree {
        match self.expressed(tree) {
            Some((kind, value)) => elsa::typed(tree.mark, kind, value),
            None => tree.clone(),
        }
    }

    /// A member of an activity whose type is not known here: only a short expression is expanded.
    pub(crate) fn guessed(&mut self, tree: &Tree) -> Tree {
        let is_short = |one: &Member| {
            short_language(&one.name).is_some()
                || matches!(one.name.as_str(), "variable" | "input")
                || is_secret(one)
        };
        match tree.members() {
            Some([one]) if is_short(one) => self.value(tree, "Object"),
            _ => tree.clone(),
        }
    }

    /// The expression that a short value means; none if it is in the full form already.
    fn expressed(&mut self, tree: &Tree) -> Option<Expressed> {
        let data = |tree: &Tree| ("Object", Tree::text(tree.mark, tree.value().to_string()));
        match &tree.node {
            Node::Scalar(Value::Null) => None,
            Node::Scalar(_) => Some(("Literal", tree.clone())),
            Node::List(_) => Some(data(tree)),
            Node::Map(members) => {
                let is_full = |member: &Member| {
                    let names = ["typeName", "expression", "memoryReference"];
                    names.iter().any(|name| name.eq_ignore_ascii_case(&member.name))
                };
                let is_typed = tree.get("type").is_some() && members.len() <= 2;
                if members.iter().any(is_full) || is_typed {
                    return None;
                }
                match members.as_slice() {
                    [one] => Some(self.single(one).unwrap_or_else(|| data(tree))),
                    _ => Some(data(tree)),
                }
            }
        }
    }

    /// `{js: …}`, `{liquid: …}`, `{sql: …}`, `{variable: …}`, `{input: …}`, `{secret: …}`,
    /// `{literal: …}`, `{object: …}`
    fn single(&mut self, one: &Member) -> Option<Expressed> {
        let (value, mark) = (&one.value, one.value.mark);
        let kind = match one.name.as_str() {
            "literal" => return Some(("Literal", value.clone())),
            "object" => "Object",
            "variable" => {
                let named = value.as_text().map(|name| self.variable_named(mark, name));
                return Some(("Variable", named.unwrap_or_else(|| value.clone())));
            }
            "input" => {
                let named = value.as_text();
                let named = named.map(|_| Tree::map(mark, vec![("name", value.clone())]));
                return Some(("Input", named.unwrap_or_else(|| value.clone())));
            }
            "secret" if is_secret(one) => return Some(("Secret", value.clone())),
            name => match short_language(name) {
                Some(language) => language,
                None => {
                    self.misspelled(one);
                    return None;
                }
            },
        };
        if value.as_text().is_none() {
            self.flaw(mark, format!("{} is no text: write the expression as a text", one.name));
        }
        Some((kind, value.clone()))
    }

    /// Data that looks like a script in a language whose name is misspelled.
    fn misspelled(&mut self, one: &Member) {
        let near = near_language(&one.name).filter(|_| one.value.as_text().is_some());
        if let Some(near) = near {
            let message = format!(
                "there is no language {}: did you mean {near}? Data is written as {{object: …}}",
                one.name
            );
            self.flaw(one.mark, message);
        }
    }
}

/// `{secret: pay.token}`, or with `{name: pay.token}`; any other value of a member `secret` is data.
fn is_secret(one: &Member) -> bool {
    let name = match one.value.members() {
        Some([only]) if only.name == "name" => &only.value,
        _ => &one.value,
    };
    one.name == "secret" && name.as_text().is_some()
}

#[cfg(test)]
mod tests {
    use engine::Engine;

    use crate::{Notation, Vocabulary, read};

    /// The text of a WriteLine in the full form, or the flaws.
    fn text(written: &str) -> Result<String, String> {
        let engine = Engine::new(activities::all(), expressions::all());
        let vocabulary = Vocabulary::new(engine.descriptors());
        let tree = read(&format!("[{{type: WriteLine, text: {written}}}]"), Notation::Yaml);
        let full = vocabulary.expand(&tree.unwrap(), None);
        let full =
            full.map_err(|flaws| flaws.iter().map(ToString::to_string).collect::<String>())?;
        let full = full.value();
        Ok(full["root"]["activities"][0]["text"]["expression"].to_string())
    }

    #[test]
    fn a_language_is_known_in_every_case_and_when_it_is_not_run_here() {
        let check = |written: &str, kind: &str| {
            let expected = format!(r#"{{"type":"{kind}","value":"x"}}"#);
            assert_eq!(text(written), Ok(expected), "{written}");
        };
        for (name, kind) in [
            ("js", "JavaScript"),
            ("JS", "JavaScript"),
            ("JavaScript", "JavaScript"),
            ("Liquid", "Liquid"),
            ("sql", "Sql"),
            ("python", "Python"),
            ("csharp", "CSharp"),
            ("secret", "Secret"),
        ] {
            check(&format!("{{{name}: x}}"), kind);
        }
    }

    #[test]
    fn a_misspelled_language_is_named() {
        let check = |name: &str, near: &str| {
            let found = text(&format!("{{{name}: x}}")).unwrap_err();
            let expected = format!("1:27: there is no language {name}: did you mean {near}?");
            assert!(found.starts_with(&expected), "{found}");
        };
        check("javascrpt", "js");
        check("ts", "js");
        check("liqiud", "liquid");
        check("pyton", "python");
        // Data stays data.
        for data in [
            "{a: x}",
            "{liqiud: 1}",
            "{secret: 5}",
            "{secret: {a: x}}",
            "{code: x}",
            "{object: '{\"liqiud\":\"x\"}'}",
        ] {
            let found = text(data).unwrap();
            assert!(found.starts_with(r#"{"type":"Object","#), "{found}");
        }
    }
}
