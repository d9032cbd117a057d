//! The scenarios of activities that do one thing.

use serde_json::json;

use crate::activity::{line, says, sequence, waits, whole};
use crate::play::{Table, row};

pub(crate) fn tables() -> Vec<Table> {
    let mut all = lines();
    all.extend(values());
    all.extend(times());
    all.extend(ends());
    all
}

fn lines() -> Vec<Table> {
    vec![
        Table::new(
            "Elsa.WriteLine",
            vec![
                row("A text is a line.", json!({"text": "hello"})),
                row("Any value is one.", json!({"text": {"js": "({ a: [1, true] })"}})),
                row("No text is an empty line.", json!({})),
                row("A script that fails is an incident.", json!({"text": {"js": "nothing.a"}})),
                row("A script that cannot be parsed.", json!({"text": {"js": "1 +"}})),
            ],
        ),
        Table::new(
            "Elsa.ReadLine",
            vec![
                row("It waits.", json!({})),
                row("The line is the result.", json!({})).then(json!({"Line": "yes"})),
                row("A number becomes a text.", json!({})).then(json!({"Line": 7})),
                row("There is no line.", json!({})).then(json!({"Lines": "yes"})),
                row("The line is no text.", json!({})).then(json!({"Line": ["yes"]})),
            ],
        ),
        Table::new(
            "Elsa.Log",
            vec![
                row("A message.", json!({"message": "paid"})),
                row(
                    "Arguments by name.",
                    json!({"message": "{Name} paid {Sum}", "arguments": {"Name": "Ada", "Sum": 7},
                        "level": "Warning", "category": "Shop", "attributes": {"order": 1}}),
                ),
                row("Arguments in order.", json!({"message": "{A} {B}", "arguments": [1, 2]})),
                row("A level that there is not.", json!({"message": "x", "level": "Loud"})),
            ],
        )
        .idle(&["sinkNames"]),
        Table::new(
            "Elsa.RunJavaScript",
            vec![
                row("The value is the result.", json!({"script": "6 * 7"})),
                row(
                    "The script chooses the outcome.",
                    json!({"script": "setOutcome('Yes')", "possibleOutcomes": ["Yes", "No"]}),
                ),
                row("Several outcomes.", json!({"script": "setOutcomes(['A', 'B']); 1"})),
                row("No script.", json!({})),
                row("It throws.", json!({"script": "throw new Error('no stock')"})),
                row("It cannot be parsed.", json!({"script": "let = 1 +"})),
            ],
        ),
    ]
}

fn values() -> Vec<Table> {
    let variable = |ty: &str, value: serde_json::Value| {
        json!({"variables": [{"id": "v", "name": "V", "typeName": ty}],
            "root": {"type": "SetVariable", "id": "subject", "variable": {"id": "v", "name": "V"},
                "value": value}})
    };
    vec![
        Table::new(
            "Elsa.SetVariable",
            vec![
                row("The value becomes one of the type.", variable("Int32", json!("7"))),
                row("An object.", variable("Object", json!({"js": "({ a: 1 })"}))),
                row("A value that does not fit.", variable("Int32", json!("many"))),
                row("No variable.", json!({"value": 1})),
            ],
        ),
        Table::new(
            "Elsa.SetOutput",
            vec![
                row("The output has the value.", json!({"outputName": "Total", "outputValue": 7})),
                row("No value is null.", json!({"outputName": "Total"})),
                row("No name.", json!({"outputValue": 7})),
            ],
        ),
        Table::new(
            "Elsa.SetName",
            vec![
                row("The instance has the name.", json!({"value": "Order 7"})),
                row("A number becomes a text.", json!({"value": {"js": "7"}})),
                row("No value.", json!({})),
            ],
        ),
        Table::new(
            "Elsa.Correlate",
            vec![
                row("The instance has the id.", json!({"correlationId": "c-1"})),
                row("A number becomes a text.", json!({"correlationId": 7})),
                row("No id.", json!({})),
            ],
        ),
        Table::new(
            "Elsa.ReadCsv",
            vec![
                row("The first record names the columns.", json!({"csvData": "a,b\n1,2\n3,4"})),
                row(
                    "Without a header, columns have numbers.",
                    json!({"csvData": "1;2", "hasHeaderRecord": false, "delimiter": ";"}),
                ),
                row(
                    "A file.",
                    json!({"csvData": {"fileName": "x.csv", "content": "YSxiCjEsMg=="}}),
                ),
                row("A record with another number of fields.", json!({"csvData": "a,b\n1"})),
                row("Two columns of one name.", json!({"csvData": "a,b,a\n1,2,3"})),
                row("A delimiter of two characters.", json!({"csvData": "a", "delimiter": "::"})),
                row("No text.", json!({})),
            ],
        )
        .idle(&["recordType"]),
        Table::new(
            "Elsa.CreateZipArchive",
            vec![
                row(
                    "A file.",
                    json!({"entries": {"fileName": "a.txt", "content": "YQ=="}, "compressionLevel": "NoCompression"}),
                ),
                row("What is no file.", json!({"entries": [7]})),
                row("Nothing.", json!({})),
                row(
                    "A level that there is not.",
                    json!({"entries": [], "compressionLevel": "Most"}),
                ),
            ],
        ),
    ]
}

fn times() -> Vec<Table> {
    vec![
        Table::new(
            "Elsa.Delay",
            vec![
                row("It waits for the time.", json!({"timeSpan": "00:00:05"})),
                row("It goes on after it.", json!({"timeSpan": "PT0.25S"})).then(json!(null)),
                row("A minute, if nothing is given.", json!({})),
                row("No time at all.", json!({"timeSpan": "00:00:00"})),
                row("What is no time.", json!({"timeSpan": "soon"})),
                row("What is no time, by a script.", json!({"timeSpan": {"js": "'soon'"}})),
            ],
        ),
        Table::new(
            "Elsa.Timer",
            vec![
                row("Within a workflow it waits once.", json!({"interval": "00:00:10"})),
                row("Then it goes on.", json!({"interval": "00:00:10"})).then(json!(null)),
                row(
                    "What to do with starts that were missed.",
                    json!({"interval": "00:00:10", "misfire": "FireAll", "misfireMax": 5}),
                ),
                row("A rule that there is not.", json!({"misfire": "Perhaps"})),
                row("What is no time.", json!({"interval": "soon"})),
            ],
        ),
        Table::new(
            "Elsa.StartAt",
            vec![
                row("It waits for the instant.", json!({"dateTime": "2026-01-01T00:00:05Z"})),
                row("Then it goes on.", json!({"dateTime": "2026-01-01T00:00:05Z"}))
                    .then(json!(null)),
                row("The instant is over.", json!({"dateTime": "2020-01-01T00:00:00Z"})),
                row("No instant.", json!({})),
                row("What is no instant.", json!({"dateTime": "soon"})),
            ],
        ),
        Table::new(
            "Elsa.Cron",
            vec![
                row("It waits for the next time.", json!({"cronExpression": "0 6 * * *"})),
                row("Then it goes on.", json!({"cronExpression": "*/10 * * * * *"}))
                    .then(json!(null)),
                row(
                    "In a time zone.",
                    json!({"cronExpression": "0 6 * * *", "timeZone": "Europe/Berlin"}),
                ),
                row(
                    "What to do with starts that were missed.",
                    json!({"cronExpression": "0 6 * * *", "misfire": "Skip", "misfireMax": 5}),
                ),
                row(
                    "A zone that there is not.",
                    json!({"cronExpression": "0 6 * * *", "timeZone": "Mars"}),
                ),
                row("A time that never comes.", json!({"cronExpression": "0 0 30 2 *"})),
                row("What is no expression.", json!({"cronExpression": "soon"})),
                row("No expression.", json!({})),
            ],
        ),
    ]
}

fn ends() -> Vec<Table> {
    let before = |end: serde_json::Value| whole(&sequence(&[end, line("never")]));
    vec![
        Table::new(
            "Elsa.Fault",
            vec![
                row(
                    "The incident has what is given.",
                    json!({"code": "42", "category": "Business", "faultType": "Order", "message": "no stock"}),
                ),
                row("Nothing is given.", json!({})),
            ],
        ),
        Table::new(
            "Elsa.Finish",
            vec![row(
                "Everything ends with it.",
                json!({"root": {"type": "Parallel", "activities": [
                    waits(), {"type": "Finish", "id": "subject"}, line("never")]}}),
            )],
        ),
        Table::new(
            "Elsa.End",
            vec![
                row(
                    "What comes after it in the sequence does not run.",
                    before(json!({"type": "End"})),
                ),
                row(
                    "Only the nearest one ends.",
                    whole(&sequence(&[
                        sequence(&[json!({"type": "End"}), line("never")]),
                        line("after"),
                    ])),
                ),
            ],
        ),
        Table::new(
            "Elsa.Break",
            vec![
                row(
                    "The nearest loop ends.",
                    whole(&sequence(&[
                        json!({"type": "ForEach", "items": [1, 2],
                            "body": sequence(&[says("getCurrentValue()"), json!({"type": "Break"}), line("never")])}),
                        line("after"),
                    ])),
                ),
                row("Without a loop, its container ends.", before(json!({"type": "Break"}))),
            ],
        ),
        Table::new(
            "Elsa.Complete",
            vec![
                row("The workflow ends.", before(json!({"type": "Complete"}))),
                row(
                    "It has the outcomes.",
                    json!({"root": {"type": "Sequence", "id": "subject", "activities": [
                        {"type": "Complete", "outcomes": ["A", "B"]}, line("never")]}}),
                ),
                row(
                    "It has one.",
                    json!({"root": {"type": "Sequence", "id": "subject",
                        "activities": [{"type": "Complete", "outcomes": "Yes"}]}}),
                ),
            ],
        ),
        Table::new("Elsa.Start", vec![row("It has no effect.", json!({}))]),
    ]
}
