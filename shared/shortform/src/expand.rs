//! From the short form to the full form.

mod activity;
mod flow;
mod naming;
mod top;
mod value;
mod variable;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::limits;

pub(crate) use flow::{ARROW, DONE};
pub(crate) use variable::type_of;

use crate::elsa;
use crate::scope::Scope;
use crate::tree::{Flaw, Mark, Member, Node, Tree};
use crate::vocabulary::Vocabulary;

/// The path of a workflow's root begins with this.
pub(crate) const WORKFLOW: &str = "Workflow1";
/// The members of a definition that the full form has not.
const SHORT: [&str; 2] = ["flow", EACH];
/// The only member of an object that is in the full form, whatever it looks like.
pub(crate) const FULL: &str = "full";
/// The members that every activity has unless it says otherwise.
pub(crate) const EACH: &str = "each";
/// The value of `nodeId` in [`EACH`]: the ids from the root, where each activity on the way has one.
pub(crate) const PATH: &str = "path";

/// The path of an activity: the ids from the root. Empty where an activity on the way has no id: the server
/// gives it one.
pub(crate) fn path_of(owner_path: &str, id: Option<&str>) -> String {
    match id.filter(|id| !id.trim().is_empty() && !owner_path.is_empty()) {
        Some(id) => format!("{owner_path}:{id}"),
        None => String::new(),
    }
}

/// Members that every activity has unless it says otherwise, with their bytes.
pub(crate) type Defaults = Arc<Vec<(Member, usize)>>;

impl Vocabulary {
    /// The full form of a definition. A definition without an id gets the given one.
    ///
    /// # Errors
    /// Every [`Flaw`] there is, not only the first.
    pub fn expand(&self, tree: &Tree, id: Option<&str>) -> Result<Tree, Vec<Flaw>> {
        let (full, flaws) = self.expand_all(tree, id);
        if flaws.is_empty() { Ok(full) } else { Err(flaws) }
    }

    /// As [`Vocabulary::expand`], and where there are flaws also the full form of the rest, in which
    /// other mistakes can be found.
    #[must_use]
    pub fn expand_all(&self, tree: &Tree, id: Option<&str>) -> (Tree, Vec<Flaw>) {
        let mut expansion = Expansion::new(self);
        expansion.is_file = id.is_some();
        ids(tree, &mut expansion.taken);
        let full = expansion.document(tree, id);
        (full, expansion.flaws)
    }
}

/// An expansion in progress.
pub(crate) struct Expansion<'v> {
    pub(crate) vocabulary: &'v Vocabulary,
    pub(crate) each: Defaults,
    pub(crate) scope: Scope,
    pub(crate) flaws: Vec<Flaw>,
    /// The names of members at the top, and of what is declared, are read in any case.
    pub(crate) is_file: bool,
    taken: BTreeSet<String>,
    numbers: BTreeMap<String, usize>,
    /// The bytes that copies may still add; none once they were to add more.
    copies_left: Option<usize>,
}

impl<'v> Expansion<'v> {
    pub(crate) fn new(vocabulary: &'v Vocabulary) -> Self {
        Self {
            vocabulary,
            each: Defaults::default(),
            scope: Scope::default(),
            flaws: Vec::new(),
            is_file: false,
            taken: BTreeSet::new(),
            numbers: BTreeMap::new(),
            copies_left: Some(limits::DEFINITION_BYTES_MAX),
        }
    }

    fn flaw(&mut self, mark: Mark, message: impl Into<String>) {
        self.flaws.push(mark.flaw(message));
    }

    /// Whether so many bytes may be copied to another place of the definition. Without a limit, a short
    /// text could mean a definition of any size.
    fn may_copy(&mut self, mark: Mark, bytes: usize) -> bool {
        let Some(left) = self.copies_left else { return false };
        self.copies_left = left.checked_sub(bytes);
        if self.copies_left.is_none() {
            let max = limits::DEFINITION_BYTES_MAX;
            self.flaw(
                mark,
                format!(
                    "what each and variables add to the activities has more than {max} bytes: write \
                     less into each, and shorter values of variables"
                ),
            );
        }
        self.copies_left.is_some()
    }

    /// A variable as it is written where it is named.
    fn variable_named(&mut self, mark: Mark, name: &str) -> Tree {
        let bytes = self.scope.named(name).map_or(0, |found| found.bytes);
        match self.may_copy(mark, bytes) {
            true => elsa::variable(mark, name, &self.scope),
            false => Tree::text(mark, name),
        }
    }

    fn document(&mut self, tree: &Tree, id: Option<&str>) -> Tree {
        if let Some(full) = verbatim(tree) {
            let full = self.named_top(full, &[]);
            return self.with_id(full, id);
        }
        let full = match &tree.node {
            Node::List(_) => self.members(&[Member::new("root", tree.mark, tree.clone())]),
            Node::Map(members) => {
                let has = |name: &str| tree.get(name).is_some();
                if let (Some(model), false) = (tree.get("model"), has("root")) {
                    self.check_beside_model(members);
                    return self.document(model, id);
                }
                if has("root") || has("flow") && !has("type") || !has("type") {
                    self.members(members)
                } else {
                    self.check_activity(members);
                    self.members(&[Member::new("root", tree.mark, tree.clone())])
                }
            }
            Node::Scalar(_) => {
                self.flaw(
                    tree.mark,
                    "this is no definition: write an object with a root, or a list of activities",
                );
                return tree.clone();
            }
        };
        self.with_id(Tree { mark: tree.mark, node: Node::Map(full) }, id)
    }

    /// The members of a definition in the full form.
    fn members(&mut self, members: &[Member]) -> Vec<Member> {
        let members = self.named_members(members, &SHORT);
        if let Some(each) = members.iter().find(|member| member.name == EACH) {
            match &each.value.node {
                Node::Map(members) => self.each = defaults(members.iter().cloned()),
                _ => self.flaw(each.value.mark, "each is an object: write members of activities"),
            }
        }
        let mut full: Vec<Member> = Vec::new();
        for member in members.iter().filter(|member| member.name != EACH) {
            let value = match member.name.as_str() {
                "variables" => self.variables(&member.value),
                "inputs" | "outputs" => self.arguments(&member.value),
                _ => member.value.clone(),
            };
            full.push(Member { value, ..member.clone() });
        }
        let declared = full.iter().find(|member| member.name == "variables");
        self.scope.enter(declared.map(|member| &member.value));
        let has_root = full.iter().any(|member| member.name == "root");
        for member in &mut full {
            match member.name.as_str() {
                "root" => member.value = self.activity(&member.value, WORKFLOW),
                "flow" if has_root => {
                    self.flaw(member.mark, "there is a root beside flow: remove one of them");
                }
                "flow" => {
                    let flow = Member { value: member.value.clone(), ..member.clone() };
                    let root = Tree { mark: member.value.mark, node: Node::Map(vec![flow]) };
                    member.value = self.activity(&root, WORKFLOW);
                    "root".clone_into(&mut member.name);
                }
                _ => {}
            }
        }
        full
    }
}

/// The members with their bytes.
pub(crate) fn defaults(members: impl Iterator<Item = Member>) -> Defaults {
    let sized = members.map(|member| {
        let bytes = member.bytes();
        (member, bytes)
    });
    Arc::new(sized.collect())
}

/// The value in `{full: …}`.
pub(crate) fn verbatim(tree: &Tree) -> Option<&Tree> {
    match tree.members() {
        Some([one]) if one.name == FULL => Some(&one.value),
        _ => None,
    }
}

/// Adds every id in a definition, in either form.
fn ids(tree: &Tree, taken: &mut BTreeSet<String>) {
    match &tree.node {
        Node::Scalar(_) => {}
        Node::List(items) => items.iter().for_each(|item| ids(item, taken)),
        Node::Map(members) => {
            for member in members {
                let is = |name: &str| member.name.eq_ignore_ascii_case(name);
                if let (true, Some(id)) = (is("id"), member.value.as_text()) {
                    taken.insert(id.to_owned());
                }
                if let (true, Some(flow)) = (is("flow"), member.value.members()) {
                    taken.extend(flow.iter().map(|activity| activity.name.clone()));
                }
                ids(&member.value, taken);
            }
        }
    }
}
