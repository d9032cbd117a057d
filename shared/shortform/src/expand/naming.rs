//! The members at the top of a file under the names that they have here, as `engine::name_members` gives
//! them to a definition that was sent: names are read in any case.

use std::collections::BTreeMap;

use engine::{ARGUMENT_MEMBERS, DEFINITION_MEMBERS, OPTION_MEMBERS, VARIABLE_MEMBERS, known_name};

use super::Expansion;
use crate::tree::{Member, Node, Tree};

impl Expansion<'_> {
    /// A definition with these names, which may have other members too.
    pub(super) fn named_top(&mut self, tree: &Tree, others: &[&'static str]) -> Tree {
        match &tree.node {
            Node::Map(members) => {
                let node = Node::Map(self.named_members(members, others));
                Tree { mark: tree.mark, node }
            }
            _ => tree.clone(),
        }
    }

    /// The members of a definition with these names.
    pub(super) fn named_members(
        &mut self,
        members: &[Member],
        others: &[&'static str],
    ) -> Vec<Member> {
        let known = [&DEFINITION_MEMBERS[..], others].concat();
        let mut named = self.under_known_names(members, &known);
        for member in &mut named {
            let known = match member.name.as_str() {
                "variables" => &VARIABLE_MEMBERS[..],
                "inputs" | "outputs" => &ARGUMENT_MEMBERS,
                "options" => {
                    member.value = self.named_item(&member.value, &OPTION_MEMBERS);
                    continue;
                }
                _ => continue,
            };
            if let Node::List(items) = &mut member.value.node {
                for item in items {
                    *item = self.named_item(item, known);
                }
            }
        }
        named
    }

    /// An object whose members have the known names; anything else as it is.
    pub(super) fn named_item(&mut self, tree: &Tree, known: &[&'static str]) -> Tree {
        match &tree.node {
            Node::Map(members) => {
                Tree { mark: tree.mark, node: Node::Map(self.under_known_names(members, known)) }
            }
            _ => tree.clone(),
        }
    }

    /// The members, the known ones under their names. One whose name differs from that of an earlier one
    /// in case only is a flaw, and left out.
    pub(super) fn under_known_names(
        &mut self,
        members: &[Member],
        known: &[&'static str],
    ) -> Vec<Member> {
        if !self.is_file {
            return members.to_vec();
        }
        let mut firsts: BTreeMap<&str, &str> = BTreeMap::new();
        let mut named = Vec::new();
        for member in members {
            let Some(name) = known_name(&member.name, known) else {
                named.push(member.clone());
                continue;
            };
            match firsts.get(name) {
                None => {
                    firsts.insert(name, &member.name);
                    named.push(Member { name: name.to_owned(), ..member.clone() });
                }
                Some(first) => {
                    let second = &member.name;
                    let message = format!(
                        "{second} is {first} once more, as names are read in any case: remove one \
                         of them"
                    );
                    self.flaw(member.mark, message);
                }
            }
        }
        named
    }
}

#[cfg(test)]
mod tests {
    use engine::Engine;
    use serde_json::Value;

    use crate::{Notation, Vocabulary, read};

    /// The full form of a text, or the flaws.
    fn expanded(text: &str) -> Result<Value, String> {
        let engine = Engine::new(activities::all(), expressions::all());
        let vocabulary = Vocabulary::new(engine.descriptors());
        let full = vocabulary.expand(&read(text, Notation::Yaml).unwrap(), Some("file"));
        full.map(|tree| tree.value())
            .map_err(|flaws| flaws.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn names_are_read_in_any_case_in_either_form() {
        let camel = "definitionId: a\nname: A\nvariables:\n  Count: 3\n  Rate: {type: Decimal, value: 1}\n\
                     inputs:\n  In: {type: Int32, isRequired: true}\noutputs: {Out: String}\n\
                     options: {usableAsActivity: true}\nflow:\n  w: {type: WriteLine, text: hi}\n";
        let pascal = "DefinitionId: a\nNAME: A\nVariables:\n  Count: 3\n  Rate: {Type: Decimal, Value: 1}\n\
                      Inputs:\n  In: {Type: Int32, IsRequired: true}\nOutputs: {Out: String}\n\
                      Options: {UsableAsActivity: true}\nFlow:\n  w: {type: WriteLine, text: hi}\n";
        let expected = expanded(camel);
        assert!(expected.is_ok(), "{expected:?}");
        assert_eq!(expanded(pascal), expected);
        let camel = "definitionId: a\nvariables: [{id: v, name: V, typeName: String, Hint: 1}]\n\
                     inputs: [{name: I, type: String}]\nroot: {type: WriteLine, text: hi}\n";
        let pascal = "DefinitionId: a\nVariables: [{Id: v, Name: V, TypeName: String, Hint: 1}]\n\
                      Inputs: [{Name: I, Type: String}]\nRoot: {type: WriteLine, text: hi}\n";
        let expected = expanded(camel);
        assert!(expected.is_ok(), "{expected:?}");
        assert_eq!(expanded(pascal), expected);
        let inner = |text: &str| text.lines().map(|line| format!("  {line}\n")).collect::<String>();
        for around in ["full", "Model"] {
            let [camel, pascal] = [camel, pascal].map(|text| format!("{around}:\n{}", inner(text)));
            assert_eq!(expanded(&pascal), expanded(&camel), "{around}");
        }
        let camel = "variables:\n  V: {full: {id: v, name: V, typeName: String}}\nroot: []\n";
        let pascal = "Variables:\n  V: {full: {Id: v, Name: V, TypeName: String}}\nRoot: []\n";
        assert_eq!(expanded(pascal), expanded(camel));
        // A file that is one activity.
        let single = expanded("Type: WriteLine\nText: hi\n").unwrap();
        assert_eq!(single["root"]["Text"]["expression"]["value"], "hi", "{single:#}");
    }

    #[test]
    fn members_of_activities_are_read_in_any_case() {
        let full = |text: &str| {
            let mut value = expanded(text).unwrap();
            lowered(&mut value["root"]);
            value
        };
        for (camel, pascal) in [
            (
                "root:\n  type: Sequence\n  variables: {Count: 3, Rate: {type: Decimal, value: 1}}\n  \
                 activities: [{type: SetVariable, variable: Count, value: 4}]\n",
                "root:\n  Type: Sequence\n  Variables: {Count: 3, Rate: {Type: Decimal, Value: 1}}\n  \
                 Activities: [{Type: SetVariable, Variable: Count, Value: 4}]\n",
            ),
            (
                "root:\n  type: Switch\n  cases: [{label: a, condition: {js: 'true'}, \
                 activity: {type: WriteLine, text: hi}}]\n",
                "root:\n  Type: Switch\n  Cases: [{Label: a, Condition: {js: 'true'}, \
                 Activity: {Type: WriteLine, Text: hi}}]\n",
            ),
        ] {
            let expected = full(camel);
            assert!(expected["root"]["type"].as_str().unwrap().starts_with("Elsa."));
            assert_eq!(full(pascal), expected, "{pascal}");
        }
    }

    /// The names of members begin in lower case, as `engine::Engine::spell` gives them to a definition.
    fn lowered(value: &mut Value) {
        match value {
            Value::Object(members) => {
                *members = std::mem::take(members)
                    .into_iter()
                    .map(|(name, mut value)| {
                        lowered(&mut value);
                        (name[..1].to_lowercase() + &name[1..], value)
                    })
                    .collect();
            }
            Value::Array(items) => items.iter_mut().for_each(lowered),
            _ => {}
        }
    }

    #[test]
    fn two_members_of_one_name_are_refused_at_the_second() {
        let said = expanded("name: a\nName: b\nroot: []\n").unwrap_err();
        assert_eq!(
            said,
            "2:1: Name is name once more, as names are read in any case: remove one of them"
        );
        let said = expanded("Inputs:\n  A: {Type: String, type: Int32}\nroot: []\n").unwrap_err();
        assert!(said.starts_with("2:21: type is Type once more"), "{said}");
        let said = expanded("outputs: [{name: A}, {name: B, NAME: C}]\nroot: []\n").unwrap_err();
        assert!(said.starts_with("1:32: NAME is name once more"), "{said}");
    }
}
