//! A value whose parts know their places in a text.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

/// A place in a text. Both numbers are 0 where no text is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// 1, 2, 3 …
    pub line: usize,
    /// 1, 2, 3 …, in characters.
    pub column: usize,
}

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The beginning of the value.
    pub mark: Mark,
    /// The value.
    pub node: Node,
}

/// The value of a [`Tree`].
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Null, true, false, a number or a text.
    Scalar(Value),
    /// A list.
    List(Vec<Tree>),
    /// An object, with its members in their order.
    Map(Vec<Member>),
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// The place of the name.
    pub mark: Mark,
    /// Its value.
    pub value: Tree,
}

/// A mistake in a text, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The place.
    pub mark: Mark,
    /// The mistake and its correction.
    pub message: String,
}

impl Mark {
    /// A place.
    #[must_use]
    pub fn new(line: usize, column: usize) -> Self {
        Self { line, column }
    }

    pub(crate) fn flaw(self, message: impl Into<String>) -> Flaw {
        Flaw { mark: self, message: message.into() }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.mark, self.message)
    }
}

impl std::error::Error for Flaw {}

impl Tree {
    pub(crate) fn text(mark: Mark, text: impl Into<String>) -> Self {
        Self { mark, node: Node::Scalar(Value::String(text.into())) }
    }

    pub(crate) fn map(mark: Mark, members: Vec<(&str, Self)>) -> Self {
        let member = |(name, value): (&str, Self)| Member::new(name, mark, value);
        Self { mark, node: Node::Map(members.into_iter().map(member).collect()) }
    }

    /// A value without places.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        Self::at(Mark::default(), value)
    }

    /// A value that is at one place.
    pub(crate) fn at(mark: Mark, value: &Value) -> Self {
        let node = match value {
            Value::Array(items) => Node::List(items.iter().map(|it| Self::at(mark, it)).collect()),
            Value::Object(map) => Node::Map(
                map.iter().map(|(name, it)| Member::new(name, mark, Self::at(mark, it))).collect(),
            ),
            scalar => Node::Scalar(scalar.clone()),
        };
        Self { mark, node }
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> Value {
        match &self.node {
            Node::Scalar(value) => value.clone(),
            Node::List(items) => items.iter().map(Self::value).collect(),
            Node::Map(members) => {
                members.iter().map(|it| (it.name.clone(), it.value.value())).collect()
            }
        }
    }

    /// About the bytes of the value as JSON.
    pub(crate) fn bytes(&self) -> usize {
        match &self.node {
            Node::Scalar(Value::String(text)) => text.len() + 2,
            Node::Scalar(other) => other.to_string().len(),
            Node::List(items) => 2 + items.iter().map(|item| item.bytes() + 1).sum::<usize>(),
            Node::Map(members) => 2 + members.iter().map(Member::bytes).sum::<usize>(),
        }
    }

    /// A member of an object: an exact match first, else in any case.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Member> {
        let Node::Map(members) = &self.node else { return None };
        let exact = members.iter().find(|member| member.name == name);
        exact.or_else(|| members.iter().find(|member| member.name.eq_ignore_ascii_case(name)))
    }

    /// The value of a member.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.member(name).map(|member| &member.value)
    }

    /// The items of a list.
    #[must_use]
    pub fn items(&self) -> Option<&[Self]> {
        if let Node::List(items) = &self.node { Some(items) } else { None }
    }

    /// The members of an object.
    #[must_use]
    pub fn members(&self) -> Option<&[Member]> {
        if let Node::Map(members) = &self.node { Some(members) } else { None }
    }

    /// The text, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Node::Scalar(Value::String(text)) = &self.node { Some(text) } else { None }
    }

    /// Null, or nothing at all.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.node == Node::Scalar(Value::Null)
    }
}

impl Member {
    pub(crate) fn new(name: &str, mark: Mark, value: Tree) -> Self {
        Self { name: name.to_owned(), mark, value }
    }

    /// About the bytes of the member as JSON.
    pub(crate) fn bytes(&self) -> usize {
        self.name.len() + self.value.bytes() + 4
    }
}

/// Adds a member to an object under construction, whose members have these names.
///
/// # Errors
/// [`Flaw`] when the object has a member of this name already.
pub(crate) fn add(
    members: &mut Vec<Member>,
    names: &mut BTreeSet<String>,
    member: Member,
) -> Result<(), Flaw> {
    if !names.insert(member.name.clone()) {
        return Err(member.mark.flaw(format!("{} is there twice: remove one", member.name)));
    }
    members.push(member);
    Ok(())
}
