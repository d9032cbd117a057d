//! Looks names up while a template is rendered. A name that does not exist is nil, not an error.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use liquid_core::model::{KString, KStringCow, KStringRef, ScalarCow, try_find};
use liquid_core::runtime::{PartialStore, Registers};
use liquid_core::{
    Error, Object, ObjectView, Renderable, Result, Runtime, Value, ValueCow, ValueView,
};

use super::budget::Budget;
use super::convert;
use crate::child_result;

/// The outermost names: those of the workflow, and those that the template assigned.
pub(super) struct Root<'g> {
    globals: &'g Object,
    assigned: RefCell<Object>,
    counters: RefCell<Object>,
    registers: Registers,
}

impl<'g> Root<'g> {
    pub(super) fn new(globals: &'g Object) -> Self {
        Self {
            globals,
            assigned: RefCell::default(),
            counters: RefCell::default(),
            registers: Registers::default(),
        }
    }

    /// Sets the budget of the rendering.
    pub(super) fn begin(&self, budget: Budget) {
        *self.registers.get_mut::<Budget>() = budget;
    }
}

impl Runtime for Root<'_> {
    fn partials(&self) -> &dyn PartialStore {
        &NoPartials
    }

    fn name(&self) -> Option<KStringRef<'_>> {
        None
    }

    fn roots(&self) -> BTreeSet<KStringCow<'_>> {
        let assigned = self.assigned.borrow();
        let assigned = assigned.keys().map(|key| KStringCow::from_string(key.to_string()));
        assigned.chain(ObjectView::keys(self.globals)).collect()
    }

    fn try_get(&self, path: &[ScalarCow<'_>]) -> Option<ValueCow<'_>> {
        let root = path.first()?.to_kstr();
        let assigned = self.assigned.borrow();
        if assigned.contains_key(root.as_str()) {
            let found = find(&*assigned, path)?;
            return Some(ValueCow::Owned(found.into_owned()));
        }
        if let Some(found) = find(self.globals, path) {
            return Some(found);
        }
        let counters = self.counters.borrow();
        let found = find(&*counters, path)?;
        Some(ValueCow::Owned(found.into_owned()))
    }

    fn get(&self, path: &[ScalarCow<'_>]) -> Result<ValueCow<'_>> {
        Ok(self.try_get(path).unwrap_or(ValueCow::Owned(Value::Nil)))
    }

    fn set_global(&self, name: KString, value: Value) -> Option<Value> {
        self.assigned.borrow_mut().insert(name, value)
    }

    fn set_index(&self, name: KString, value: Value) -> Option<Value> {
        self.counters.borrow_mut().insert(name, value)
    }

    fn get_index<'a>(&'a self, name: &str) -> Option<ValueCow<'a>> {
        self.counters.borrow().get(name).map(|value| ValueCow::Owned(value.clone()))
    }

    fn registers(&self) -> &Registers {
        &self.registers
    }
}

/// The names inside one round of a loop.
pub(super) struct Round<'a> {
    pub(super) outer: &'a dyn Runtime,
    pub(super) names: &'a Object,
}

impl Runtime for Round<'_> {
    fn partials(&self) -> &dyn PartialStore {
        self.outer.partials()
    }

    fn name(&self) -> Option<KStringRef<'_>> {
        self.outer.name()
    }

    fn roots(&self) -> BTreeSet<KStringCow<'_>> {
        let mut roots = self.outer.roots();
        roots.extend(ObjectView::keys(self.names));
        roots
    }

    fn try_get(&self, path: &[ScalarCow<'_>]) -> Option<ValueCow<'_>> {
        let root = path.first()?.to_kstr();
        if self.names.contains_key(root.as_str()) {
            find(self.names, path)
        } else {
            self.outer.try_get(path)
        }
    }

    fn get(&self, path: &[ScalarCow<'_>]) -> Result<ValueCow<'_>> {
        Ok(self.try_get(path).unwrap_or(ValueCow::Owned(Value::Nil)))
    }

    fn set_global(&self, name: KString, value: Value) -> Option<Value> {
        self.outer.set_global(name, value)
    }

    fn set_index(&self, name: KString, value: Value) -> Option<Value> {
        self.outer.set_index(name, value)
    }

    fn get_index<'a>(&'a self, name: &str) -> Option<ValueCow<'a>> {
        self.outer.get_index(name)
    }

    fn registers(&self) -> &Registers {
        self.outer.registers()
    }
}

/// The value at the end of a path.
fn find<'v>(value: &'v dyn ValueView, path: &[ScalarCow<'_>]) -> Option<ValueCow<'v>> {
    let found = match try_find(value, path) {
        Some(found) => found,
        None => try_find(value, &with_members(value, path)?)?,
    };
    let (last, parents) = path.split_last()?;
    if last.to_kstr() == "size"
        && let Some(parent) = try_find(value, parents)
        && let Some(object) = parent.as_view().as_object()
        && !object.contains_key("size")
    {
        let size = i64::try_from(convert::members(object).len()).unwrap_or(i64::MAX);
        return Some(ValueCow::Owned(Value::scalar(size)));
    }
    Some(found)
}

/// The path with the members of results of `ExecuteWorkflow` in the place of their names in .NET; none
/// if it has no such name.
fn with_members<'p>(
    value: &dyn ValueView,
    path: &'p [ScalarCow<'p>],
) -> Option<Vec<ScalarCow<'p>>> {
    let mut members: Vec<ScalarCow<'p>> = Vec::new();
    let mut is_changed = false;
    for name in path {
        let member = child_result::member(&name.to_kstr()).filter(|_| !members.is_empty());
        let member = member.filter(|_| {
            let parent = try_find(value, &members);
            parent.as_ref().and_then(|parent| parent.as_view().as_object()).is_some_and(|parent| {
                let count = convert::members(parent).len();
                child_result::has_its_members(count, |member| parent.contains_key(member))
            })
        });
        is_changed |= member.is_some();
        members.push(member.map_or_else(|| name.clone(), ScalarCow::new));
    }
    is_changed.then_some(members)
}

/// Refuses every include.
#[derive(Debug)]
struct NoPartials;

impl PartialStore for NoPartials {
    fn contains(&self, _name: &str) -> bool {
        false
    }

    fn names(&self) -> Vec<&str> {
        Vec::new()
    }

    fn try_get(&self, _name: &str) -> Option<Arc<dyn Renderable>> {
        None
    }

    fn get(&self, name: &str) -> Result<Arc<dyn Renderable>> {
        Err(Error::with_msg(format!("there is no template {name:?} to include")))
    }
}
