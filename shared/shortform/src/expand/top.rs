//! The members at the top of a file: none of them is ignored without a word. The engine warns of a member
//! that is similar to none of a definition.

use engine::near_members;

use super::{Expansion, SHORT};
use crate::tree::{Member, Node, Tree};

/// The member that names the definition.
const ID: &str = "definitionId";

impl Expansion<'_> {
    /// A definition from a file: it has this id if it has none. Misspelled members are flaws, and left
    /// out.
    pub(super) fn with_id(&mut self, mut full: Tree, id: Option<&str>) -> Tree {
        let mark = full.mark;
        let Some(id) = id else { return full };
        let Node::Map(members) = &mut full.node else { return full };
        members.retain(|member| {
            let near = near_members(&member.name, &SHORT);
            if !near.is_empty() {
                let (name, near) = (&member.name, near.join(" or "));
                self.flaw(
                    member.mark,
                    format!("a definition has no member {name}: did you mean {near}?"),
                );
            }
            near.is_empty()
        });
        let named = members.iter().find(|member| member.name == ID).map(|member| &member.value);
        // One that is no text stays, for whoever reads the definition to refuse it.
        if named.is_some_and(|id| !id.is_null() && id.as_text() != Some("")) {
            return full;
        }
        if let Some(version) = members.iter().find(|it| it.name.eq_ignore_ascii_case("id")) {
            let name = &version.name;
            let message = format!(
                "{name} is the id of a version, which the server gives: did you mean {ID}, which \
                 names the definition?"
            );
            self.flaw(version.mark, message);
        }
        members.retain(|member| member.name != ID);
        members.insert(0, Member::new(ID, mark, Tree::text(mark, id)));
        full
    }

    /// Refuses an id of the definition in a file that is a single activity.
    pub(super) fn check_activity(&mut self, members: &[Member]) {
        if let Some(named) = members.iter().find(|member| member.name.eq_ignore_ascii_case(ID)) {
            self.flaw(
                named.mark,
                "an activity has no definitionId: write the activity into the member root beside it",
            );
        }
    }

    /// Refuses members beside `model`, in a file with the body of a request to save a definition.
    pub(super) fn check_beside_model(&mut self, members: &[Member]) {
        let read = ["model", "publish", "$schema"];
        let is_read = |name: &str| read.iter().any(|it| it.eq_ignore_ascii_case(name));
        for member in members.iter().filter(|member| !is_read(&member.name)) {
            let name = &member.name;
            self.flaw(member.mark, format!("{name} beside model is not read: write it into model"));
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::Engine;
    use serde_json::Value;

    use crate::{Notation, Vocabulary, read};

    /// The id of the definition in a file named `file`, or the flaws.
    fn id(text: &str) -> Result<String, String> {
        let engine = Engine::new(activities::all(), expressions::all());
        let vocabulary = Vocabulary::new(engine.descriptors());
        let (full, flaws) =
            vocabulary.expand_all(&read(text, Notation::Yaml).unwrap(), Some("file"));
        match flaws.as_slice() {
            [] => match &full.value()["definitionId"] {
                Value::String(id) => Ok(id.clone()),
                other => Ok(format!("no text: {other}")),
            },
            flaws => Err(flaws.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
        }
    }

    #[test]
    fn only_definition_id_names_the_definition() {
        let root = "root: [{type: WriteLine, text: hi}]\n";
        assert_eq!(id(root).unwrap(), "file");
        assert_eq!(id(&format!("definitionId: order\n{root}")).unwrap(), "order");
        assert_eq!(id(&format!("definitionId: 42\n{root}")).unwrap(), "no text: 42");
        // Exports have the id of the version, too.
        assert_eq!(id(&format!("id: v1\ndefinitionId: order\n{root}")).unwrap(), "order");
        assert_eq!(id("{type: Sequence, id: a, activities: []}").unwrap(), "file");
        for name in ["id", "Id", "ID"] {
            for text in [format!("{name}: order\n{root}"), format!("full:\n  {name}: order\n")] {
                let said = id(&text).unwrap_err();
                assert!(said.contains("id is the id of a version"), "{said}");
                assert!(said.contains("did you mean definitionId, which names"), "{said}");
            }
        }
        let said = id(&format!("name: Order\nid: order\ndefinitionId: \"\"\n{root}")).unwrap_err();
        assert!(said.starts_with("2:1: id is the id of a version"), "{said}");
    }

    #[test]
    fn a_misspelled_member_at_the_top_is_refused() {
        for (wrong, right) in [
            ("definition_id", "definitionId"),
            ("input", "inputs"),
            ("optoins", "options"),
            ("flows", "flow"),
            ("Flows", "flow"),
        ] {
            let text = format!("{wrong}: x\nroot: [{{type: WriteLine, text: hi}}]\n");
            let expected =
                format!("1:1: a definition has no member {wrong}: did you mean {right}?");
            assert_eq!(id(&text), Err(expected));
        }
        // Names are read in any case, also where the definition is in its full form.
        assert_eq!(id("DefinitionId: x\nFlow: {a: {type: WriteLine}}\n").unwrap(), "x");
        let said = id("full:\n  Each: {}\n").unwrap_err();
        assert_eq!(said, "2:3: a definition has no member Each: did you mean each?");
        // What Elsa writes, and what is similar to nothing, of which the engine warns.
        for name in ["toolVersion", "links", "Metadata", "isLatest", "author"] {
            let text = format!("{name}: x\nroot: [{{type: WriteLine, text: hi}}]\n");
            assert_eq!(id(&text).unwrap(), "file");
        }
    }

    #[test]
    fn an_id_where_it_is_not_read_is_refused() {
        let said = id("definitionId: order\ntype: WriteLine\ntext: hi\n").unwrap_err();
        assert!(said.starts_with("1:1: an activity has no definitionId: write"), "{said}");
        let model = "model: {definitionId: a, root: [{type: WriteLine, text: hi}]}\n";
        assert_eq!(id(&format!("publish: true\n{model}")).unwrap(), "a");
        let said = id(&format!("{model}definitionId: order\n")).unwrap_err();
        assert_eq!(said, "2:1: definitionId beside model is not read: write it into model");
    }
}
