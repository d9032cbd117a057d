//! The activity types that the two forms know.

use std::collections::BTreeMap;

use engine::{Descriptor, InputDescriptor, OutputDescriptor, Port, PortKind};

/// The activity types, by their names. It decides what is an activity, an input or an output.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    types: BTreeMap<&'static str, Descriptor>,
}

/// The role of a member of an activity.
pub(crate) enum Role<'v> {
    /// Activities.
    Port(&'v Port),
    /// A value that may be an expression.
    Input(&'v InputDescriptor),
    /// The name of the variable that gets a result.
    Output(&'v OutputDescriptor),
    /// Anything else.
    Plain,
}

impl Vocabulary {
    /// A vocabulary of these types.
    #[must_use]
    pub fn new<'d>(descriptors: impl IntoIterator<Item = &'d Descriptor>) -> Self {
        let types = descriptors.into_iter().map(|it| (it.type_name, it.clone())).collect();
        Self { types }
    }

    /// The descriptions of the types, by name.
    pub fn descriptors(&self) -> impl Iterator<Item = &Descriptor> {
        self.types.values()
    }

    /// The type of this name; `WriteLine` means `Elsa.WriteLine`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Descriptor> {
        let full = || self.types.get(format!("Elsa.{name}").as_str());
        self.types.get(name).or_else(|| if name.contains('.') { None } else { full() })
    }

    /// The short name of a type, if it has one.
    pub(crate) fn short<'n>(&self, name: &'n str) -> &'n str {
        match name.strip_prefix("Elsa.") {
            Some(short) if self.get(short).is_some_and(|found| found.type_name == name) => short,
            _ => name,
        }
    }
}

/// The role of a member of an activity of this type.
pub(crate) fn role<'v>(descriptor: &'v Descriptor, member: &str) -> Role<'v> {
    let is_it = |name: &str| name.eq_ignore_ascii_case(member);
    if let Some(port) = descriptor.ports.iter().find(|port| is_it(port.name))
        && port.kind != PortKind::Flow
    {
        return Role::Port(port);
    }
    if let Some(input) = descriptor.inputs.iter().find(|input| is_it(input.name)) {
        return if input.is_wrapped { Role::Input(input) } else { Role::Plain };
    }
    match descriptor.outputs.iter().find(|output| is_it(output.name)) {
        Some(output) => Role::Output(output),
        None => Role::Plain,
    }
}
