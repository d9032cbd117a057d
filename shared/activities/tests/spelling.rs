//! The members of activities are read in any case, and have one name afterwards. Data stays as it is.

use engine::Engine;
use model::Definition;
use serde_json::{Value, json};

fn spelled(root: &Value) -> Value {
    let engine = Engine::new(activities::all(), expressions::all());
    let mut definition = Definition { root: root.clone(), ..Definition::default() };
    engine.spell(&mut definition);
    definition.root
}

#[test]
fn members_of_activities_have_the_names_of_the_catalogue() {
    let data = || json!({"Id": 1, "Type": "t", "Expression": "e"});
    let root = json!({"Id": "flow", "Type": "Elsa.Flowchart", "VERSION": 1,
        "Metadata": {"Designer": {"Id": 1}}, "CustomProperties": {"Type": 1, "CanStartWorkflow": true},
        "Variables": [{"Id": "v", "Name": "V", "TypeName": "Object", "Value": data()}],
        "Connections": [{"Source": {"Activity": "if", "Port": "Done"}, "Target": {"Activity": "w"},
            "Vertices": [{"X": 1, "Y": 2.5}, {"x": 3, "Z": 4}]}],
        "Activities": [
            {"Id": "if", "Type": "If", "Condition": {"TypeName": "Boolean",
                "Expression": {"Type": "JavaScript", "Value": "true"}},
                "Then": {"Type": "WriteLine", "Text": "a", "DisplayName": "A"}},
            {"Id": "w", "Type": "Elsa.WriteHttpResponse", "Content": data(), "Mine": {"Id": 1},
                "StatusCode": {"typeName": "Int32", "MemoryReference": {"Id": "m"}}},
            {"Id": "s", "Type": "Switch", "Cases": [{"Label": "l", "Condition": data(), "Own": 1,
                "Activity": {"Type": "WriteLine", "Id": "l"}}]},
            {"Id": "u", "Type": "Acme.Unknown", "Name": "U", "Text": data(), "Activities": [{"Id": 1}]}]});
    let expected = json!({"id": "flow", "type": "Elsa.Flowchart", "version": 1,
        "metadata": {"Designer": {"Id": 1}}, "customProperties": {"Type": 1, "CanStartWorkflow": true},
        "variables": [{"id": "v", "name": "V", "typeName": "Object", "value": data()}],
        "connections": [{"source": {"activity": "if", "port": "Done"}, "target": {"activity": "w"},
            "vertices": [{"x": 1, "y": 2.5}, {"x": 3, "Z": 4}]}],
        "activities": [
            {"id": "if", "type": "If", "condition": {"typeName": "Boolean",
                "expression": {"type": "JavaScript", "value": "true"}},
                "then": {"type": "WriteLine", "text": "a", "displayName": "A"}},
            {"id": "w", "type": "Elsa.WriteHttpResponse", "content": data(), "Mine": {"Id": 1},
                "statusCode": {"typeName": "Int32", "memoryReference": {"id": "m"}}},
            {"id": "s", "type": "Switch", "cases": [{"label": "l", "condition": data(), "Own": 1,
                "activity": {"type": "WriteLine", "id": "l"}}]},
            {"id": "u", "type": "Acme.Unknown", "name": "U", "Text": data(), "Activities": [{"Id": 1}]}]});
    // As text: the members keep their order.
    assert_eq!(spelled(&root).to_string(), expected.to_string());
    assert_eq!(spelled(&expected).to_string(), expected.to_string());
}

#[test]
fn conditions_of_cases_are_read_whatever_stands_around_them() {
    let case = |names: [&str; 3], condition: Value| json!({names[0]: "l", names[1]: condition, names[2]: 1});
    let (sent, kept) = (["Label", "Condition", "Own"], ["label", "condition", "Own"]);
    for name in ["Switch", "Elsa.FlowSwitch"] {
        let root = json!({"type": name, "Cases": [
            case(sent, json!({"Type": "JavaScript", "Value": "true"})),
            case(sent, json!({"Expression": {"Type": "JavaScript", "Value": "true"}})),
            case(sent, json!({"Type": "t", "Value": 1, "More": 2}))]});
        let expected = json!({"type": name, "cases": [
            case(kept, json!({"type": "JavaScript", "value": "true"})),
            case(kept, json!({"expression": {"type": "JavaScript", "value": "true"}})),
            case(kept, json!({"Type": "t", "Value": 1, "More": 2}))]});
        assert_eq!(spelled(&root).to_string(), expected.to_string());
    }
}

#[test]
fn variables_and_inputs_that_are_named_have_the_names_of_declared_ones() {
    let data = || json!({"Id": 1, "Name": "n"});
    let root = json!({"type": "Sequence", "Activities": [
        {"type": "Elsa.SetVariable", "Variable": {"Id": "v", "Name": "V", "TypeName": "Object",
            "IsArray": false, "Value": data(), "StorageDriverTypeName": null, "Own": 1},
            "Value": {"Expression": {"Type": "Variable", "Value": {"Id": "w", "Name": "W"}}}},
        {"type": "SetVariable", "Variable": "V",
            "Value": {"Expression": {"Type": "Input", "Value": {"Name": "A", "Type": "String"}}}},
        {"type": "WriteLine", "Text": {"Expression": {"Type": "Object", "Value": data()}},
            "Variable": data()}]});
    let expected = json!({"type": "Sequence", "activities": [
        {"type": "Elsa.SetVariable", "variable": {"id": "v", "name": "V", "typeName": "Object",
            "isArray": false, "value": data(), "storageDriverTypeName": null, "Own": 1},
            "value": {"expression": {"type": "Variable", "value": {"id": "w", "name": "W"}}}},
        {"type": "SetVariable", "variable": "V",
            "value": {"expression": {"type": "Input", "value": {"name": "A", "type": "String"}}}},
        {"type": "WriteLine", "text": {"expression": {"type": "Object", "value": data()}},
            "variable": data()}]});
    assert_eq!(spelled(&root).to_string(), expected.to_string());
}

#[test]
fn of_two_members_of_one_name_both_stay() {
    let root = json!({"type": "WriteLine", "Id": "a", "ID": "b", "Text": "t"});
    let expected = json!({"type": "WriteLine", "Id": "a", "ID": "b", "text": "t"});
    assert_eq!(spelled(&root).to_string(), expected.to_string());
    for other in
        [json!(null), json!([{"Type": "WriteLine"}]), json!({"Text": "t"}), json!({"Type": 1})]
    {
        assert_eq!(spelled(&other), other);
    }
}
