//! From the full form to the short form. Each part is shortened only if its expansion is equal to
//! it; a part that is not stays as it is.

mod activity;
mod flow;
mod value;

use std::collections::BTreeMap;
use std::sync::Arc;

use model::Map;
use serde_json::{Value, json};

use crate::expand::{Defaults, EACH, Expansion, FULL, PATH, WORKFLOW, defaults};
use crate::scope::Scope;
use crate::tree::{Mark, Member, Tree};
use crate::vocabulary::Vocabulary;

/// Members of activities that `each` may give.
const COMMON: [&str; 9] = [
    "nodeId",
    "version",
    "metadata",
    "customProperties",
    "canStartWorkflow",
    "runAsynchronously",
    "source",
    "line",
    "name",
];

impl Vocabulary {
    /// The short form of a definition in the full form. Its expansion is equal to the definition.
    #[must_use]
    pub fn shorten(&self, definition: &Value) -> Value {
        let full = || json!({FULL: definition});
        let Value::Object(members) = definition else { return full() };
        let short = Shortening::new(self).document(members);
        match self.expand(&Tree::of(&short), None) {
            Ok(tree) if tree.value() == *definition => short,
            _ => full(),
        }
    }
}

struct Shortening<'v> {
    vocabulary: &'v Vocabulary,
    each: Map,
    /// The same as members of activities.
    defaults: Defaults,
    scope: Scope,
}

impl<'v> Shortening<'v> {
    fn new(vocabulary: &'v Vocabulary) -> Self {
        let (each, defaults, scope) = (Map::new(), Defaults::default(), Scope::default());
        Self { vocabulary, each, defaults, scope }
    }

    /// An expansion in the same place of the definition.
    fn expansion(&self) -> Expansion<'v> {
        let mut expansion = Expansion::new(self.vocabulary);
        expansion.each = Arc::clone(&self.defaults);
        expansion.scope = self.scope.clone();
        // The text is read as a file.
        expansion.is_file = true;
        expansion
    }

    fn document(&mut self, members: &Map) -> Value {
        if let Some(root) = members.get("root") {
            self.each = self.common(root);
            let each = self.each.iter();
            self.defaults =
                defaults(each.map(|(name, it)| Member::new(name, Mark::default(), Tree::of(it))));
        }
        let declared = members.get("variables").map(Tree::of);
        self.scope.enter(declared.as_ref());
        let mut short = Map::new();
        for (name, value) in members {
            match name.as_str() {
                "variables" => short.insert(name.clone(), self.variables(value)),
                "inputs" | "outputs" => short.insert(name.clone(), self.arguments(value)),
                "root" => {
                    if !self.each.is_empty() {
                        short.insert(EACH.to_owned(), self.each.clone().into());
                    }
                    let root = self.activity(value, WORKFLOW);
                    match root.as_object() {
                        // A flow is the root if there is nothing else in it.
                        Some(only) if only.len() == 1 && only.contains_key("flow") => {
                            short.extend(only.clone())
                        }
                        _ => short.extend([(name.clone(), root)]),
                    };
                    None
                }
                _ => short.insert(name.clone(), value.clone()),
            };
        }
        Value::Object(short)
    }

    /// The members that every activity has, each with the value that most of them have.
    fn common(&self, root: &Value) -> Map {
        let full = Tree::of(&json!({"root": root}));
        let all: Vec<Value> =
            self.vocabulary.activities(&full).into_values().map(Tree::value).collect();
        let mut each = Map::new();
        for name in COMMON {
            let values: Vec<&Value> =
                all.iter().filter_map(|activity| activity.get(name)).collect();
            if values.len() < all.len() || all.len() < 2 {
                continue;
            }
            if name == "nodeId" {
                each.insert(name.to_owned(), PATH.into());
                continue;
            }
            let mut counts: BTreeMap<String, (usize, &Value)> = BTreeMap::new();
            for value in values {
                counts.entry(value.to_string()).or_insert((0, value)).0 += 1;
            }
            let most = counts.into_values().max_by_key(|(count, _)| *count);
            if let Some((_, value)) = most.filter(|(count, _)| count * 2 >= all.len()) {
                each.insert(name.to_owned(), value.clone());
            }
        }
        each
    }
}
