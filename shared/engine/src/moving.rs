//! What a container remembers, on its way to another version of its definition.

use serde_json::Value;

use crate::mapping::Mapping;
use crate::outline::{Node, NodeRef};

/// What one execution of a container remembers, on its way to another version.
pub struct Moving<'m> {
    pub(crate) mapping: &'m Mapping<'m>,
    pub(crate) before: &'m Node,
    pub(crate) after: &'m Node,
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
        Some((of(self.before)?, of(self.after)?))
    }

    /// The activities in a port, in the version before and in the one after.
    #[must_use]
    pub fn children(&self, port: &str) -> (&'m [NodeRef], &'m [NodeRef]) {
        let of = |node: &'m Node| node.children.get(port).map(Vec::as_slice).unwrap_or_default();
        (of(self.before), of(self.after))
    }

    /// The place of an activity in the version after: where its key is, or where the operator said. Of
    /// several with one place, only the one that runs has it.
    #[must_use]
    pub fn place(&self, before: NodeRef) -> Option<NodeRef> {
        self.mapping.place_held(before)
    }

    /// Whether a node of the version before goes on as a node of the one after.
    #[must_use]
    pub fn is_same(&self, before: NodeRef, after: NodeRef) -> bool {
        self.place(before) == Some(after)
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
        let (before, after) = (&self.before.children, &self.after.children);
        let same = |(was, is): (&NodeRef, &NodeRef)| self.is_same(*was, *is);
        let are_same =
            |was: &[NodeRef], is: &[NodeRef]| was.len() == is.len() && was.iter().zip(is).all(same);
        let mut ports = before.iter().zip(after);
        if before.len() == after.len()
            && ports.all(|((was, before), (is, after))| was == is && are_same(before, after))
        {
            return Ok(());
        }
        Err(format!(
            "its activities are other ones there, and {} keeps track of them by their places",
            self.after.type_name()
        ))
    }
}
