//! The answers to calls, tasks and child workflows.

use std::sync::Arc;

use engine::{Call, Dispatch, Secrets};
use model::Map;
use serde_json::{Value, json};
use shortform::Tree;

use crate::form;
use crate::reader::Reader;
use crate::secret::Given;
use crate::stop::{Reason, Stop};

/// What a run answers to what it asks for.
#[derive(Clone, Debug, Default)]
pub struct Mocks {
    calls: Vec<CallMock>,
    tasks: Map,
    workflows: Map,
    secrets: Map,
}

/// The answers to calls of one method and pattern, in order; the last one repeats.
#[derive(Clone, Debug)]
struct CallMock {
    method: String,
    pattern: String,
    answers: Vec<Map>,
}

impl Mocks {
    /// Reads `calls`, `tasks`, `workflows` and `secrets`. Those of a test come before those of its file.
    pub(crate) fn read(reader: &mut Reader, tree: &Tree, around: Option<&Self>) -> Self {
        let mut mocks = Self {
            calls: tree.get("calls").map(|calls| read_calls(reader, calls)).unwrap_or_default(),
            tasks: reader.map(tree.get("tasks")),
            workflows: reader.map(tree.get("workflows")),
            secrets: reader.map(tree.get("secrets")),
        };
        for workflow in tree.get("workflows").and_then(Tree::members).unwrap_or_default() {
            reader.members(&workflow.value, form::WORKFLOW);
        }
        if let Some(around) = around.cloned() {
            mocks.calls.extend(around.calls);
            for (own, others) in [
                (&mut mocks.tasks, around.tasks),
                (&mut mocks.workflows, around.workflows),
                (&mut mocks.secrets, around.secrets),
            ] {
                for (name, value) in others {
                    own.entry(name).or_insert(value);
                }
            }
        }
        mocks
    }

    /// What scripts read as secrets.
    #[must_use]
    pub fn secrets(&self) -> Secrets {
        Secrets::of(Arc::new(Given(self.secrets.clone())))
    }

    /// The result of a call; `made` counts the calls that each mock has answered.
    ///
    /// # Errors
    /// When no mock fits.
    pub(crate) fn call(&self, call: &Call, made: &mut Vec<usize>) -> Result<Map, Stop> {
        let asked = call.operation.summary();
        let (verb, target) = asked.split_once(' ').unwrap_or((&asked, ""));
        made.resize(self.calls.len(), 0);
        let fits = |mock: &CallMock| {
            let is_verb = mock.method == "*" || mock.method.eq_ignore_ascii_case(verb);
            is_verb && matches(&mock.pattern, target)
        };
        let found = self.calls.iter().zip(made).find(|(mock, _)| fits(mock));
        let Some((mock, count)) = found else {
            let known: Vec<_> =
                self.calls.iter().map(|mock| format!("{} {}", mock.method, mock.pattern)).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let id = &call.activity_id;
            let message = format!(
                "activity {id} calls {asked}, and no answer fits: add one to calls (there are: {known})"
            );
            return Err(Stop::new(Reason::Unanswered, message).at(id));
        };
        let answer = mock.answers.get(*count).or(mock.answers.last()).cloned().unwrap_or_default();
        *count += 1;
        Ok(answer)
    }

    /// The result of a task, if the test has one.
    pub(crate) fn task(&self, name: &str) -> Option<&Value> {
        self.tasks.get(name)
    }

    /// The end of a child, as the input of its parent's resume.
    pub(crate) fn workflow(&self, dispatch: &Dispatch) -> Option<Map> {
        let mock = self.workflows.get(dispatch.definition_id.as_str())?;
        let status = mock.get("status").and_then(Value::as_str).unwrap_or("Finished");
        let output = mock.get("output").and_then(Value::as_object).cloned().unwrap_or_default();
        let end = json!({
            "workflowInstanceId": dispatch.instance_id, "status": "Finished", "subStatus": status
        });
        let mut input = output;
        input.insert("__Child".to_owned(), end);
        Some(input)
    }
}

fn read_calls(reader: &mut Reader, tree: &Tree) -> Vec<CallMock> {
    let Some(members) = tree.members() else {
        reader.flaw(tree.mark, "write an object: METHOD URL-pattern and the answer to it");
        return Vec::new();
    };
    let mut calls = Vec::new();
    for member in members {
        let Some((method, pattern)) = member.name.split_once(' ') else {
            let message =
                format!("{:?} names no call: write GET https://host/path, * for any", member.name);
            reader.flaw(member.mark, message);
            continue;
        };
        let answers = member.value.items().unwrap_or(std::slice::from_ref(&member.value));
        calls.push(CallMock {
            method: method.to_uppercase(),
            pattern: pattern.trim().to_owned(),
            answers: answers.iter().map(|answer| read_answer(reader, answer)).collect(),
        });
    }
    calls
}

/// `{status, headers, body}` or `{error, message}`, as the engine takes it.
fn read_answer(reader: &mut Reader, tree: &Tree) -> Map {
    reader.members(tree, form::ANSWER);
    if let Some(result) = tree.get("result") {
        return reader.map(Some(result));
    }
    let mut input = Map::new();
    if let Some(error) = reader.text(tree.get("error")) {
        if !form::ERRORS.contains(&error.as_str()) {
            reader.flaw(
                tree.mark,
                format!("{error:?} is no error: use timeout, connect, refused or failed"),
            );
        }
        let message = reader.text(tree.get("message")).unwrap_or_else(|| error.clone());
        input.insert("error".to_owned(), error.into());
        input.insert("message".to_owned(), message.into());
        return input;
    }
    let value = |name: &str| tree.get(name).map(Tree::value);
    input.insert("statusCode".to_owned(), value("status").unwrap_or_else(|| 200.into()));
    input.insert("headers".to_owned(), value("headers").unwrap_or_else(|| json!({})));
    input.insert("content".to_owned(), value("body").unwrap_or_default());
    input
}

/// Whether a text fits a pattern, in which `*` stands for any characters.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}
