//! What an evaluation is given beside its scope: arguments and configuration.

use engine::{Language as _, Scope as _};
use model::ScriptLibrary;
use serde_json::json;

use super::{failure, run_on};
use crate::JavaScript;
use crate::stage::furnished;

#[test]
fn arguments_are_read_by_their_names() {
    let mut stage = furnished();
    stage.arguments.insert("item".to_owned(), json!({"id": "a-7", "counter": 1}));
    stage.arguments.insert("Counter".to_owned(), json!(9));
    for (source, expected) in [
        ("args.item.id", json!("a-7")),
        ("`order ${args.item.id}`", json!("order a-7")),
        ("const { item } = args; item.id", json!("a-7")),
        ("args['it' + 'em'].id", json!("a-7")),
        ("getItem().id", json!("a-7")),
        ("let x = getItem(); x.id", json!("a-7")),
        ("getCounter()", json!(9)),
        ("setCounter(5); getCounter()", json!(9)),
        ("args.nothing ?? 1", json!(1)),
        ("typeof args.toString", json!("function")),
        ("Object.keys(args)", json!(["item", "Counter"])),
    ] {
        assert_eq!(run_on(&mut stage, source).unwrap(), expected, "{source}");
    }
}

/// Bytes are a file where the activity takes files, and base64 text anywhere else.
#[test]
fn bytes_are_a_file_where_one_is_taken() {
    let mut stage = furnished();
    stage.takes_files = true;
    let file = json!({"size": 2, "content": "aGk="});
    for (source, expected) in [
        ("bytesFromString('hi')", file.clone()),
        ("return new Uint8Array([104, 105])", file.clone()),
        ("(async () => bytesFromBase64('aGk='))()", file.clone()),
        ("bytesFromString('')", json!({"size": 0, "content": ""})),
        ("[bytesFromString('hi'), 'text', {a: 1}]", json!([file, "text", {"a": 1}])),
        ("({a: bytesFromString('hi')})", json!({"a": "aGk="})),
        ("[1, 2]", json!([1, 2])),
        ("bytesToString(bytesFromString('hi'))", json!("hi")),
    ] {
        assert_eq!(run_on(&mut stage, source).unwrap(), expected, "{source}");
    }
    stage.takes_files = false;
    assert_eq!(run_on(&mut stage, "bytesFromString('hi')").unwrap(), json!("aGk="));
}

#[test]
fn the_result_of_a_child_has_the_names_of_dotnet_too() {
    let result = json!({"workflowInstanceId": "i2", "status": "Finished", "subStatus": "Finished",
        "output": {"n": 5}});
    let other = json!({"status": "Finished", "output": 1});
    let mut stage = furnished().with_variable("End", result.clone()).with_variable("Other", other);
    for (source, expected) in [
        ("variables.End.Output.n", json!(5)),
        ("variables.End.output.n", json!(5)),
        ("variables.End.Output['n'] + 1", json!(6)),
        ("const end = variables.End; end.Output.n + end.SubStatus", json!("5Finished")),
        ("getEnd().WorkflowInstanceId + getVariable('End').Status", json!("i2Finished")),
        ("variables.End.Nothing ?? 'none'", json!("none")),
        ("variables.End", result.clone()),
        ("({...variables.End})", result.clone()),
        ("Object.keys(variables.End).length", json!(4)),
        ("variables.Other.Output ?? 'none'", json!("none")),
        ("const other = variables.Other; other.Output ?? 'none'", json!("none")),
    ] {
        assert_eq!(run_on(&mut stage, source).unwrap(), expected, "{source}");
        assert_eq!(stage.variable("End"), Some(result.clone()), "{source}");
    }
    for (template, expected) in [
        ("{{ Variables.End.Output.n }} {{ Variables.End.output.n }}", "5 5"),
        ("{{ Variables.End.SubStatus }}{{ Variables.Other.Output }}", "Finished"),
        ("{% assign end = Variables.End %}{{ end.Output.n }}", "5"),
    ] {
        let rendered = crate::Liquid::new().evaluate(template, &mut stage).unwrap();
        assert_eq!(rendered, json!(expected), "{template}");
    }
}

#[test]
fn the_configuration_is_read_by_its_keys() {
    let flaw = failure("getConfig('Shop:Url')");
    assert!(flaw.message.contains("set script-config"), "{flaw:?}");
    let values = [("Shop:Url", "https://shop"), ("Tries", "3")];
    let values = values.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let config = std::sync::Arc::new(crate::Config::new(&values.into()));
    let script = JavaScript::with(model::limits::SCRIPT_TIME_MAX, config, &[]);
    for (source, expected) in [
        ("getConfig('Shop:Url') + '/x'", json!("https://shop/x")),
        ("getConfig('Shop').Url", json!("https://shop")),
        ("getConfig('Nothing') ?? 'none'", json!("none")),
        ("Number(getConfig('tries')) + 1", json!(4)),
    ] {
        assert_eq!(script.evaluate(source, &mut furnished()).unwrap(), expected, "{source}");
    }
}

fn with_libraries(libraries: &[ScriptLibrary]) -> JavaScript {
    JavaScript::with(model::limits::SCRIPT_TIME_MAX, std::sync::Arc::default(), libraries)
}

#[test]
fn libraries_are_there_where_the_installation_asks_for_them() {
    let script = with_libraries(&ScriptLibrary::ALL);
    for (source, expected) in [
        ("_.chunk([1, 2, 3], 2)", json!([[1, 2], [3]])),
        ("lodash === _", json!(true)),
        ("globalThis['_'].VERSION", json!("4.18.1")),
        ("_([3, 1, 2]).sortBy().map(n => n * 2).value()", json!([2, 4, 6])),
        ("_.groupBy([1.2, 1.8, 2.1], Math.floor)", json!({"1": [1.2, 1.8], "2": [2.1]})),
        ("_.template('Hello <%= name %>')({ name: 'Ada' })", json!("Hello Ada")),
        ("_.sum(variables.Numbers ?? [getCounter(), 1])", json!(5)),
        ("lodashFp.map(n => n + 1)([1, 2])", json!([2, 3])),
        ("lodashFp.flow(lodashFp.filter(n => n > 1), lodashFp.size)([1, 2, 3])", json!(2)),
        ("[1, 2].map((_, index) => index)", json!([0, 1])),
        ("const _ = 7; _", json!(7)),
        ("_ = 8; _", json!(8)),
        ("moment('2026-01-31').add(1, 'month').format('YYYY-MM-DD')", json!("2026-02-28")),
        ("moment.utc('2026-11-21T09:00:00Z').fromNow()", json!("a few seconds ago")),
        ("({ at: moment() })", json!({"at": "2026-11-21T09:00:00.000Z"})),
        ("[_.now(), moment().valueOf(), Date.now()]", json!([NOW, NOW, NOW])),
        ("moment().format()", json!("2026-11-21T09:00:00+00:00")),
        ("moment().isSame(new Date(), 'day')", json!(true)),
    ] {
        let value = script.evaluate(source, &mut furnished());
        assert_eq!(value, Ok(expected), "{source}");
    }
    let chances = "[_.random(1, 1e9), _.shuffle(_.range(20)), _.sample(_.range(1000))]";
    let draw = || script.evaluate(chances, &mut furnished()).unwrap();
    assert_eq!(draw(), draw(), "the random numbers are those of the turn");
}

/// The time of the turn.
const NOW: i64 = 1_795_251_600_000;

#[test]
fn a_library_that_is_off_is_not_there() {
    for (libraries, source) in [
        (&[][..], "typeof _ + typeof lodash + typeof lodashFp + typeof moment"),
        (&[ScriptLibrary::Moment], "typeof _ + typeof lodash + typeof lodashFp + 'undefined'"),
        (&[ScriptLibrary::LodashFp], "typeof _ + typeof lodash + 'undefined' + typeof moment"),
    ] {
        let value = with_libraries(libraries).evaluate(source, &mut furnished()).unwrap();
        assert_eq!(value, "undefined".repeat(4), "{source}");
    }
    let names = "Object.getOwnPropertyNames(globalThis).filter(name => name.includes('odash'))";
    let found = with_libraries(&[ScriptLibrary::LodashFp]).evaluate(names, &mut furnished());
    assert_eq!(found, Ok(json!(["lodashFp"])));
}

#[test]
fn an_editor_finds_the_libraries_that_are_on() {
    let declared = |libraries: &[ScriptLibrary]| {
        let around = engine::Surroundings::default();
        with_libraries(libraries).declarations(&around).unwrap_or_default()
    };
    let all = declared(&ScriptLibrary::ALL);
    for name in ["_", "lodash", "lodashFp", "moment"] {
        let line = format!("declare const {name}: any;");
        assert!(all.contains(&line) && !declared(&[]).contains(&line), "{line}");
    }
}
