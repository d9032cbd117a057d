mod given;

use std::time::Duration;

use engine::{Flaw, Language, Scope as _};
use serde_json::{Value, json};

use super::JavaScript;
use crate::stage::{Stage, furnished};

fn run_on(stage: &mut Stage, source: &str) -> Result<Value, Flaw> {
    JavaScript::new().evaluate(source, stage)
}

fn value(source: &str) -> Value {
    run_on(&mut furnished(), source).unwrap_or_else(|flaw| panic!("{source}: {flaw:?}"))
}

fn failure(source: &str) -> Flaw {
    run_on(&mut furnished(), source).expect_err(source)
}

fn check(cases: &[(&str, Value)]) {
    for (source, expected) in cases {
        assert_eq!(value(source), *expected, "{source}");
    }
}

#[test]
fn the_value_is_the_last_expression_or_what_the_top_returns() {
    check(&[
        ("1 + 1", json!(2)),
        ("let x = 3; x * 2", json!(6)),
        ("y = 4; y", json!(4)),
        ("return 5", json!(5)),
        ("if (getCounter() > 3) { return 'big' } return 'small'", json!("big")),
        ("const a = 1; // no value", Value::Null),
        ("return 1 // comment", json!(1)),
        ("`Bar`", json!("Bar")),
        ("({ a: 1, b: undefined, c: () => 1 })", json!({"a": 1})),
        ("function f() { return 7 }\nf()", json!(7)),
        ("", Value::Null),
    ]);
}

#[test]
fn numbers_without_a_fraction_come_back_as_integers() {
    check(&[
        ("6 / 2", json!(3)),
        ("7 / 2", json!(3.5)),
        ("[1.0, 2 ** 40, -0]", json!([1, 1_099_511_627_776_i64, 0])),
        ("0 / 0", Value::Null),
        ("10n ** 3n", json!(1000)),
        ("2 ** 53", json!(9_007_199_254_740_992_i64)),
    ]);
}

#[test]
fn promises_are_awaited() {
    check(&[
        ("Promise.resolve(4)", json!(4)),
        ("(async () => { await null; return 5 })()", json!(5)),
        ("const a = await Promise.resolve(6); a", json!(6)),
        ("return await Promise.all([1, Promise.resolve(2)])", json!([1, 2])),
        ("new Promise(done => Promise.resolve().then(() => done('late')))", json!("late")),
    ]);
    let flaw = failure("Promise.reject(new Error('no'))");
    assert_eq!(flaw.message, "no");
    assert!(failure("new Promise(() => {})").message.contains("nothing will ever resolve"));
}

#[test]
fn variables_are_read_and_written_in_every_way() {
    check(&[
        ("variables.Name", json!("Ada")),
        ("variables.Name + '!'", json!("Ada!")),
        ("variables['Na' + 'me']", json!("Ada")),
        ("getVariable('counter') + 1", json!(5)),
        ("getCounter() + 1", json!(5)),
        ("variables.Order.lines.map(l => l.sku).join()", json!("a,b")),
        ("variables.Missing", Value::Null),
        ("getVariable('Missing') === null", json!(true)),
        ("getVariable('Name'.trim())", json!("Ada")),
        ("variables.Empty === null", json!(true)),
    ]);
    let written = |source: &str, name: &str| {
        let mut stage = furnished();
        run_on(&mut stage, source).unwrap();
        stage.variable(name).unwrap()
    };
    assert_eq!(written("variables.counter = 9", "counter"), json!(9));
    assert_eq!(written("variables.counter++", "counter"), json!(5));
    assert_eq!(written("setVariable('counter', {a: [1]})", "counter"), json!({"a": [1]}));
    assert_eq!(written("setCounter(getCounter() * 2)", "counter"), json!(8));
    let order = written("variables.Order.lines.push({sku: 'c'})", "Order");
    assert_eq!(order["lines"][2], json!({"sku": "c"}));
    assert_eq!(written("for (const n of ['counter']) variables[n] = 1", "counter"), json!(1));
    assert_eq!(written("variables.counter = 2; getCounter()", "counter"), json!(2));
}

#[test]
fn variables_change_in_ways_that_the_text_does_not_show() {
    let lines = |source: &str| {
        let mut stage = furnished();
        run_on(&mut stage, source).unwrap_or_else(|flaw| panic!("{source}: {flaw:?}"));
        stage.variable("Order").unwrap()["lines"].as_array().unwrap().len()
    };
    for source in [
        "variables.Order.lines[\"pu\" + \"sh\"]({sku: 'c'})",
        "variables.Order.lines['pu' + 'sh'] ({sku: 'c'})",
        "variables['Ord' + 'er'].lines.push({sku: 'c'})",
        "const {push} = []; [1].map(push, variables.Order.lines); variables.Order.lines.splice(3)",
        "const f = 'push'; getVariable('Ord' + 'er').lines[f]({sku: 'c'})",
        "getOrder().lines?.[`push`]({sku: 'c'})",
        "const p = Object.getOwnPropertyDescriptor(variables, 'Order').value.lines; p.push(1)",
        "Object.values(variables).find(v => v && v.lines).lines.push(1)",
        "JSON.parse('[1]', (k, v) => { if (k === '0') variables.Order.lines.push(v); return v })",
        "variables.Order.lines.toString(), eval('variables.Order.lines.push(1)')",
    ] {
        assert_eq!(lines(source), 3, "{source}");
    }
    let written = |source: &str| {
        let mut stage = furnished();
        run_on(&mut stage, source).unwrap_or_else(|flaw| panic!("{source}: {flaw:?}"));
        stage.variable("counter").unwrap()
    };
    for source in [
        "[variables.counter] = [9]",
        "({a: variables.counter} = {a: 9})",
        "for (variables.counter of [8, 9]);",
        "variables['coun' + 'ter'] = 9",
        "setVariable('coun' + 'ter', 9)",
        "Object.assign(variables, JSON.parse('{\"coun' + 'ter\": 9}'))",
        "globalThis['set' + 'Counter'](9)",
        "Function(\"vari\" + \"ables.coun\" + \"ter = 9\")()",
    ] {
        assert_eq!(written(source), json!(9), "{source}");
    }
}

#[test]
fn names_that_do_not_stand_in_the_text_are_found() {
    check(&[
        ("variables['Na' + 'me']", json!("Ada")),
        ("getVariable('Na' + 'me')", json!("Ada")),
        ("this['getVari' + 'able']('Name')", json!("Ada")),
        ("globalThis['get' + 'Name']()", json!("Ada")),
        ("globalThis['get' + 'Amount']()", json!(12.5)),
        ("globalThis['getStatusCode' + 'FromFetch']()", json!(200)),
        ("getInput('am' + 'ount') === getInput('Am' + 'ount')", json!(false)),
        ("getOutputFrom('Fe' + 'tch').ok", json!(true)),
        ("Object.keys(variables)", json!(["Name", "counter", "Order", "Empty"])),
        ("JSON.parse(JSON.stringify(variables)).Order.id", json!(7)),
        ("({...variables}).Name", json!("Ada")),
        ("'Name' in variables && !('Nope' in variables)", json!(true)),
        ("const v = variables; v['Ord' + 'er'] === v['Ord' + 'er']", json!(true)),
        ("delete variables['Na' + 'me']; typeof variables['Na' + 'me']", json!("undefined")),
        ("Object.keys(globalThis).filter(k => k.includes(':'))", json!([])),
        ("Function('return typeof new' + 'Guid')()", json!("function")),
        ("Math['ran' + 'dom']() === Math['ran' + 'dom']()", json!(false)),
        ("[1, 2][1] + [].concat([3])['0']", json!(5)),
    ]);
    for kind in ["() => 1", "function* () {}", "async () => 1", "async function* () {}"] {
        let flaw = failure(&format!("({kind})['const' + 'ructor']('return 1')()"));
        assert!(flaw.message.contains("has to name Function or eval"), "{kind}: {flaw:?}");
    }
    assert_eq!(value("Math['ran' + 'dom']()"), value("Math['ran' + 'dom']()"));
}

#[test]
fn a_variable_that_is_only_read_is_not_written() {
    let mut stage = furnished();
    stage.variables[2].1 = json!({"n": 1.0, "10": 1, "9": 2});
    let before = stage.variables.clone();
    for source in ["variables.Order.n", "variables['Ord' + 'er'].n", "Object.keys(variables)"] {
        run_on(&mut stage, source).unwrap();
        assert_eq!(stage.variables, before, "{source}");
    }
}

#[test]
fn a_thrown_null_is_no_lack_of_memory() {
    for source in ["throw null", "Promise.reject(null)"] {
        let flaw = failure(source);
        assert!(flaw.message.starts_with("the script threw null"), "{source}: {flaw:?}");
    }
    assert_eq!(failure("throw undefined").message, "the script threw undefined");
}

#[test]
fn setting_a_variable_that_is_not_there_says_so() {
    let flaw = failure("variables.Nope = 1");
    assert!(flaw.message.contains("\"Nope\""), "{flaw:?}");
    let flaw = failure("getNope()");
    assert!(flaw.message.contains("no variable, input or output named Nope"), "{flaw:?}");
}

#[test]
fn inputs_and_outputs_are_read() {
    check(&[
        ("getInput('Amount')", json!(12.5)),
        ("getInput('Am' + 'ount') * 2", json!(25)),
        ("getAmount()", json!(12.5)),
        ("getInput('Missing')", Value::Null),
        ("getOutputFrom('Fetch').ok", json!(true)),
        ("getOutputFrom(\"Fetch\", 'StatusCode') + 1", json!(201)),
        (
            "['Result', 'StatusCode'].map(n => getOutputFrom('Fetch', n))",
            json!([{"ok": true}, 200]),
        ),
        ("getStatusCodeFromFetch()", json!(200)),
        ("getOutputFrom('Nobody')", Value::Null),
        ("getLastResult()", Value::Null),
        ("Object.keys(args).length", json!(0)),
        ("args.item", Value::Null),
    ]);
    let mut stage = furnished();
    stage.last_result = Some(json!([1, 2]));
    assert_eq!(run_on(&mut stage, "getLastResult().length").unwrap(), json!(2));
}

#[test]
fn the_workflow_is_known_and_its_names_can_be_set() {
    check(&[
        ("getWorkflowDefinitionId()", json!("orders")),
        ("getWorkflowDefinitionVersionId()", json!("orders-3")),
        ("getWorkflowDefinitionVersion() + 1", json!(4)),
        ("getWorkflowInstanceId()", json!("i-1")),
        ("getCorrelationId()", json!("c-9")),
        ("getWorkflowInstanceName()", Value::Null),
        ("setCorrelationId('x'); getCorrelationId()", json!("x")),
    ]);
    let mut stage = furnished();
    run_on(&mut stage, "setCorrelationId(12); setWorkflowInstanceName('Order 7')").unwrap();
    assert_eq!(stage.identity.correlation_id.as_deref(), Some("12"));
    assert_eq!(stage.identity.instance_name.as_deref(), Some("Order 7"));
    run_on(&mut stage, "setCorrelationId(null)").unwrap();
    assert_eq!(stage.identity.correlation_id, None);
}

#[test]
fn outcomes_are_set_where_there_are_any() {
    let mut stage = furnished();
    run_on(&mut stage, "setOutcome('Done')").unwrap();
    assert_eq!(stage.outcomes, Some(vec!["Done".to_owned()]));
    run_on(&mut stage, "setOutcomes(['A', 'B'])").unwrap();
    assert_eq!(stage.outcomes, Some(vec!["A".to_owned(), "B".to_owned()]));
    stage.takes_outcomes = false;
    assert!(run_on(&mut stage, "setOutcome('Done')").is_err());
}

#[test]
fn a_script_that_fails_changes_nothing() {
    let mut stage = furnished();
    let source = "variables.counter = 1; setCorrelationId('z'); throw new Error('halt')";
    let flaw = run_on(&mut stage, source).unwrap_err();
    assert_eq!(flaw.message, "halt");
    assert_eq!(stage.variable("counter"), Some(json!(4)));
    assert_eq!(stage.identity.correlation_id.as_deref(), Some("c-9"));
}

#[test]
fn texts_and_encodings() {
    check(&[
        ("isNullOrEmpty('')", json!(true)),
        ("isNullOrEmpty(null) && isNullOrEmpty()", json!(true)),
        ("isNullOrWhiteSpace(' \\t')", json!(true)),
        ("isNullOrWhiteSpace('a')", json!(false)),
        ("toJson({a: 1})", json!("{\"a\":1}")),
        ("stringToBase64('héllo')", json!("aMOpbGxv")),
        ("stringFromBase64('aMOpbGxv')", json!("héllo")),
        ("bytesToBase64(bytesFromString('hi'))", json!("aGk=")),
        ("bytesToString(bytesFromBase64('aGk='))", json!("hi")),
        ("bytesToString('aGk=')", json!("hi")),
        ("({ file: bytesFromString('hi') })", json!({"file": "aGk="})),
        ("streamToBase64(streamToBytes('aGk='))", json!("aGk=")),
        (
            "parseGuid('6BA7B810-9DAD-11D1-80B4-00C04FD430C8')",
            json!("6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
        ),
        ("Guid.Empty", json!("00000000-0000-0000-0000-000000000000")),
    ]);
    assert!(failure("parseGuid('x')").message.contains("not a GUID"));
    assert!(failure("stringFromBase64('?')").message.contains("not base64"));
}

#[test]
fn chance_is_the_turns() {
    let source = "[newGuid(), newGuidString(), newShortGuid(), Math.random(), Guid.NewGuid()]";
    let (one, other) = (value(source), value(source));
    assert_eq!(one, other);
    let guid = one[0].as_str().unwrap();
    assert_eq!(uuid::Uuid::parse_str(guid).unwrap().get_version_num(), 4);
    assert_ne!(one[0], one[1]);
    let short = value("Array.from({length: 500}, () => newShortGuid())");
    for short in short.as_array().unwrap().iter().map(|short| short.as_str().unwrap()) {
        let is_short = (10..=22).contains(&short.len());
        assert!(is_short && short.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{short}");
    }
    let mut stage = furnished();
    let first = run_on(&mut stage, "newGuid()").unwrap();
    assert_ne!(run_on(&mut stage, "newGuid()").unwrap(), first);
    let spread = value("Array.from({length: 100}, () => Math.random())");
    let spread: Vec<f64> = spread.as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect();
    assert!(spread.iter().all(|n| (0.0..1.0).contains(n)));
    assert!(spread.iter().any(|n| *n < 0.3) && spread.iter().any(|n| *n > 0.7));
}

#[test]
fn time_is_the_turns_and_local_time_is_utc() {
    check(&[
        ("Date.now()", json!(1_795_251_600_000_i64)),
        ("new Date()", json!("2026-11-21T09:00:00.000Z")),
        ("new Date().getHours()", json!(9)),
        ("new Date(2026, 0, 31, 12).toISOString()", json!("2026-01-31T12:00:00.000Z")),
        ("new Date('2026-01-31T12:00').getTime() === Date.UTC(2026, 0, 31, 12)", json!(true)),
        ("new Date('Jan 31 2026 12:00').toISOString()", json!("2026-01-31T12:00:00.000Z")),
        ("new Date('2026-01-31T12:00:00+02:00').toISOString()", json!("2026-01-31T10:00:00.000Z")),
        ("new Date().toString()", json!("Sat Nov 21 2026 09:00:00 GMT+0000 (UTC)")),
        ("Date()", json!("Sat Nov 21 2026 09:00:00 GMT+0000 (UTC)")),
        ("new Date().toLocaleString()", json!("11/21/2026, 9:00:00 AM")),
        ("new Date().getTimezoneOffset()", json!(0)),
        ("new Date() instanceof Date", json!(true)),
        ("typeof performance", json!("undefined")),
    ]);
}

#[test]
fn dotnet_times_and_spans() {
    check(&[
        ("TimeSpan.FromMinutes(90)", json!("01:30:00")),
        ("TimeSpan.FromDays(1.5).toString()", json!("1.12:00:00")),
        ("new TimeSpan(1, 2, 3)", json!("01:02:03")),
        ("TimeSpan.Parse('1.00:00:01.5').TotalSeconds", json!(86_401.5)),
        ("TimeSpan.FromSeconds(-1.25)", json!("-00:00:01.2500000")),
        ("DateTime.UtcNow", json!("2026-11-21T09:00:00.000Z")),
        ("DateTime.UtcNow.AddDays(1).Day", json!(22)),
        ("DateTimeOffset.Now.Add(TimeSpan.FromHours(1))", json!("2026-11-21T10:00:00.000Z")),
        ("new DateTime(2026, 1, 31).AddMonths(1)", json!("2026-02-28T00:00:00.000Z")),
        ("DateTime.Now.Subtract(DateTime.Today).TotalHours", json!(9)),
        ("DateTime.Now > new DateTime(2020, 1, 1)", json!(true)),
    ]);
}

#[test]
fn event_urls_come_from_the_scope_once_each() {
    let mut stage = furnished();
    let source = "
        const urls = ['a', 'b'].map(n => createEventTriggerUrl(n, '01:00:00'));
        urls.push(createEventTriggerUrl('c', new Date(Date.now() + 5000)));
        urls.push(createEventTriggerUrl('d', TimeSpan.FromMinutes(1)), createEventTriggerUrl('e'));
        urls";
    let urls = run_on(&mut stage, source).unwrap();
    assert_eq!(urls.as_array().unwrap().len(), 5);
    assert_eq!(urls[4], json!("http://localhost/bookmarks/resume?t=5"));
    let expected: Vec<(String, Option<Duration>)> = vec![
        ("a".into(), Some(Duration::from_secs(3600))),
        ("b".into(), Some(Duration::from_secs(3600))),
        ("c".into(), Some(Duration::from_secs(5))),
        ("d".into(), Some(Duration::from_secs(60))),
        ("e".into(), None),
    ];
    assert_eq!(stage.urls, expected);
    assert!(run_on(&mut stage, "createEventTriggerUrl('x', 'soon')").is_err());
    let urls = run_on(&mut stage, "createBookmarkTriggerUrl('Approve', '00:01:00')").unwrap();
    assert_eq!(urls, json!("http://localhost/bookmarks/resume?t=6"));
    assert_eq!(stage.urls[5], ("activity Approve".into(), Some(Duration::from_secs(60))));
}

#[test]
fn flaws_name_the_place_in_the_authors_text() {
    let place = |source: &str| {
        let flaw = failure(source);
        (flaw.line, flaw.column)
    };
    assert_eq!(place("1 +\n * 2"), (Some(2), Some(2)));
    assert_eq!(place("let x = ;"), (Some(1), Some(9)));
    assert_eq!(place("return 1 +;"), (Some(1), Some(11)));
    assert_eq!(place("let a = 1;\nreturn a.b.c"), (Some(2), Some(8)));
    assert_eq!(place("return missing"), (Some(1), Some(8)));
    assert_eq!(place("missing"), (Some(1), Some(1)));
    assert!(failure("null.x").message.starts_with("TypeError: "));
    assert_eq!(failure("throw 3").message, "the script threw 3");
}

#[test]
fn checking_parses_and_runs_nothing() {
    let language = JavaScript::new();
    for fine in ["return 1", "while (true) {}", "throw 1", "await x", "variables.X", "const a = 1"]
    {
        language.check(fine).unwrap_or_else(|flaw| panic!("{fine}: {flaw:?}"));
    }
    for broken in ["1 +", "return }", "'abc", "f(", "import x from 'y'", "\0"] {
        assert!(language.check(broken).is_err(), "{broken}");
    }
    let flaw = language.check("}); while (true) {} (function(){").unwrap_err();
    assert_eq!((flaw.line, flaw.column), (Some(1), Some(1)));
}

#[test]
fn nothing_leaks_from_one_evaluation_into_the_next() {
    let language = JavaScript::new();
    let mut stage = furnished();
    let source = "globalThis.kept = 1; Object.prototype.bad = 2; Array.prototype.map = null; 0";
    language.evaluate(source, &mut stage).unwrap();
    let seen =
        language.evaluate("[typeof kept, ({}).bad === undefined, [1].map(x => x)]", &mut stage);
    assert_eq!(seen.unwrap(), json!(["undefined", true, [1]]));
}

#[test]
fn what_is_answered_without_quickjs_means_the_same() {
    let pairs = [
        ("variables.Name", "(variables.Name)"),
        ("variables.Nope", "(variables.Nope)"),
        ("getCounter()", "(getCounter())"),
        ("getInput('Amount')", "(getInput('Amount'))"),
        ("getVariable(\"Order\")", "(getVariable(\"Order\"))"),
        ("-2.50", "(-2.50)"),
        ("'it'", "('it')"),
        ("return true;", "return (true);"),
        ("undefined", "(undefined)"),
    ];
    for (trivial, full) in pairs {
        assert_eq!(value(trivial), value(full), "{trivial}");
    }
    let mut stage = Stage::new().with_variable("n", json!({"whole": 2.0}));
    assert_eq!(run_on(&mut stage, "variables.n").unwrap(), json!({"whole": 2}));
}

/// Draws statements that read and change: the same seed draws the same ones.
fn drawn(seed: u64) -> String {
    const PARTS: [&str; 26] = [
        "variables.counter++",
        "variables.Order.lines.push({sku: 'n'})",
        "variables.Order.lines['po' + 'p']()",
        "setVariable('Na' + 'me', variables.Name + '!')",
        "setCounter(getCounter() * 2)",
        "variables['cou' + 'nter'] = out.length",
        "delete variables.Order.id",
        "out.push(getInput('Amount'))",
        "out.push(getOutputFrom('Fetch', 'StatusCode'))",
        "out.push(Object.keys(variables))",
        "out.push(variables.Order)",
        "out.push(getVariable('Em' + 'pty'))",
        "out.push(typeof newGuid)",
        "out.push(new Date().getTime())",
        "out.push([3, 1, 2].sort().concat(out.slice(0, 1)).flat())",
        "out.push('a-b'.split('-').map(x => x.replace('a', 'c')))",
        "setCorrelationId(getCorrelationId() + 'x')",
        "out.push(getWorkflowDefinitionId())",
        "for (const line of variables.Order.lines) line.seen = true",
        "if (variables.counter > 4) variables.Empty = [variables.counter]",
        "const copy = {...variables}; out.push(copy.Name)",
        "out.push(JSON.stringify(variables.Order).length)",
        "variables.Order = {lines: variables.Order.lines}",
        "out.push(TimeSpan.FromMinutes(variables.counter).toString())",
        "[variables.counter, variables.Name] = [variables.counter + 1, 'Bo']",
        "setOutcome('o' + out.length)",
    ];
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |count: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(count).unwrap()).unwrap()
    };
    let mut text = "const out = [];\n".to_owned();
    for _ in 0..1 + below(5) {
        text.push_str(&format!("{{ {} }}\n", PARTS[below(PARTS.len())]));
    }
    text + "out"
}

#[test]
fn what_is_put_into_the_context_makes_no_difference() {
    let language = JavaScript::new();
    for seed in 0..400 {
        let source = drawn(seed);
        let mut stages = [furnished(), furnished()];
        let answers = ["", " // globalThis"].map(|suffix| format!("{source}{suffix}"));
        let answers: Vec<_> = answers
            .iter()
            .zip(&mut stages)
            .map(|(source, stage)| language.evaluate(source, stage).map_err(|flaw| flaw.message))
            .collect();
        assert_eq!(answers[0], answers[1], "{source}");
        let [one, other] = stages;
        assert_eq!(one.variables, other.variables, "{source}");
        assert_eq!(one.identity, other.identity, "{source}");
        assert_eq!(one.outcomes, other.outcomes, "{source}");
    }
}
