//! The scenarios of activities that make calls to mail servers, databases and files.

use serde_json::{Value, json};

use crate::activity::line;
use crate::play::{Row, Table, row};

pub(crate) fn tables() -> Vec<Table> {
    let mut all = statements();
    all.extend(files());
    all.push(mail());
    all
}

fn statements() -> Vec<Table> {
    let sql = |text: &str| json!({"expression": {"type": "Sql", "value": text}});
    let rows = |ty: &str, property: &str, result: Value| -> Vec<Row> {
        let given = |more: Value| {
            let mut given = json!({"client": "shop", "timeout": "00:00:05"});
            for (name, value) in more.as_object().into_iter().flatten() {
                given[name] = value.clone();
            }
            given
        };
        let statement = || given(json!({ property: sql("select 1") }));
        vec![
            row("The call is made.", statement()),
            row("Its answer is the result.", statement()).then(result),
            row(
                "The connection may be named here as well.",
                json!({"connectionString": "shop", property: sql("select 1")}),
            ),
            row(
                "Values are parameters, never part of the text.",
                json!({
                "variables": [{"id": "n", "name": "Name", "value": "O'Hara"}],
                "root": {"type": "Sequence", "activities": [
                    {"type": ty, "id": "subject", "client": "shop",
                        property: sql("select {{Variable.Name}}")}]}}),
            ),
            row("The call fails.", statement())
                .then(json!({"error": "connect", "message": "no route to the database"})),
            row(
                "A statement that a script makes.",
                given(json!({ property: {"js": "'select 1'"} })),
            ),
            row("No statement.", given(json!({}))),
            row("No connection.", json!({ property: sql("select 1") })),
        ]
    };
    vec![
        Table::new(
            "Elsa.SqlQuery",
            rows("SqlQuery", "query", json!({"rows": [{"a": 1}, {"a": 2}]})),
        ),
        Table::new("Elsa.SqlSingleValue", rows("SqlSingleValue", "query", json!({"value": 7}))),
        Table::new("Elsa.SqlCommand", rows("SqlCommand", "command", json!({"affected": 3}))),
    ]
}

fn files() -> Vec<Table> {
    let failed = || json!({"error": "refused", "message": "there is no such file"});
    vec![
        Table::new(
            "Elsa.OpenFile",
            vec![
                row("The call is made.", json!({"path": "in/orders.csv"})),
                row("The file is the result.", json!({"path": "in/orders.csv"}))
                    .then(json!({"fileName": "orders.csv", "size": 1, "content": "YQ=="})),
                row("There is no file.", json!({"path": "gone"})).then(failed()),
                row("No path.", json!({})),
            ],
        ),
        Table::new(
            "Elsa.SaveFile",
            vec![
                row("The call is made.", json!({"path": "out.txt", "data": "hello"})),
                row("It is done.", json!({"path": "out.txt", "data": {"a": 1}, "append": true}))
                    .then(json!({"path": "out.txt"})),
                row("It fails.", json!({"path": "out.txt", "data": "x"})).then(failed()),
                row("No path.", json!({"data": "x"})),
            ],
        ),
    ]
}

fn mail() -> Table {
    let whole = json!({"from": "shop@example.com", "to": ["ada@example.com"],
        "cc": ["bob@example.com"], "bcc": ["log@example.com"], "subject": "Paid", "body": "<b>7</b>",
        "attachments": {"fileName": "a.txt", "content": "YQ=="}, "error": line("not sent")});
    let short = json!({"to": ["ada@example.com"], "subject": "Paid"});
    let failed = || json!({"error": "refused", "message": "no such receiver"});
    Table::new(
        "Elsa.SendEmail",
        vec![
            row("The call is made.", whole.clone()),
            row("It is sent.", whole.clone()).then(json!({"messageId": "<m@shop>"})),
            row("It fails: the activity for errors runs.", whole).then(failed()),
            row("It fails, and there is no such activity.", short).then(failed()),
            row("No receiver.", json!({"subject": "Paid"})),
            row("What is no address.", json!({"to": ["ada"]})),
        ],
    )
}
