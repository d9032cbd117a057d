//! What a container remembers, on its way to another version of its definition.

use serde_json::Value;

use crate::outline::{Node, NodeRef, Outline};

/// What one execution of a container remembers, on its way to another version.
pub struct Moving<'m> {
    pub(crate) before: (&'m Outline, &'m Node),
    pub(crate) after: (&'m Outline, &'m Node),
    /// The memory of the activity.
    pub memory: &'m mut Value,
    /// The tags of the children that run or are scheduled.
    pub tags: Vec<&'m mut Value>,
}

impl<'m> Moving<'m> {
    /// The data that the activity type prepared for the version before, and for the one after.
    #[must_use]
    pub fn plans<T: 'static>(&self) -> Option<(&'m T, &'m T)> {
        let of = |node: &'m Node| node.plan.as_ref()?.downcast_ref();
        Some((of(self.before.1)?, of(self.after.1)?))
    }

    /// The activities in a port, in the version before and in the one after.
    #[must_use]
    pub fn children(&self, port: &str) -> (&'m [NodeRef], &'m [NodeRef]) {
        let of = |node: &'m Node| node.children.get(port).map(Vec::as_slice).unwrap_or_default();
        (of(self.before.1), of(self.after.1))
    }

    /// Whether a node of the version before and a node of the one after are the same activity.
    #[must_use]
    pub fn is_same(&self, before: NodeRef, after: NodeRef) -> bool {
        self.before.0.node(before).key == self.after.0.node(after).key
    }

    /// Checks that the children are the same, in the same order, if the activity remembers anything
    /// about them.
    ///
    /// # Errors
    /// The reason why what it remembers has no meaning in the other version.
    pub fn needs_same_children(&self) -> Result<(), String> {
        if self.memory.is_null() && self.tags.iter().all(|tag| tag.is_null()) {
            return Ok(());
        }
        let keys = |(outline, node): (&'m Outline, &'m Node)| -> Vec<(&str, Vec<&str>)> {
            let key = |child: &NodeRef| outline.node(*child).key.as_str();
            let ports = node.children.iter();
            ports.map(|(port, children)| (*port, children.iter().map(key).collect())).collect()
        };
        if keys(self.before) == keys(self.after) {
            return Ok(());
        }
        Err(format!(
            "its activities are other ones there, and {} keeps track of them by their places",
            self.after.1.type_name()
        ))
    }
}
