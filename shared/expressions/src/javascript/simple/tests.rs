use engine::Language as _;
use serde_json::{Value, json};

use super::Simple;
use crate::JavaScript;
use crate::stage::{Stage, furnished};

fn stage() -> Stage {
    let mut stage = furnished()
        .with_variable("whole", json!(2.0))
        .with_variable("big", json!(9_007_199_254_740_993_u64))
        .with_variable("small", json!(0.000_000_1))
        .with_variable("yes", json!(true))
        .with_variable("umlaut", json!("zürich 🦀"));
    stage.last_result = Some(json!([1, "two"]));
    stage
}

fn simply(source: &str) -> Option<Value> {
    Simple::parse(source)?.evaluate(&stage())
}

/// What QuickJS makes of the same expression.
fn fully(source: &str) -> Result<Value, String> {
    // A comma is nothing simple.
    let source = format!("(0, {source})");
    assert!(Simple::parse(&source).is_none());
    JavaScript::new().evaluate(&source, &mut stage()).map_err(|flaw| flaw.message)
}

#[test]
fn what_workflows_ask_most_is_simple() {
    for (source, expected) in [
        ("5", json!(5)),
        ("-3;", json!(-3)),
        ("return 2.0 ;", json!(2)),
        ("'a b'", json!("a b")),
        ("return `x`;", json!("x")),
        ("undefined", Value::Null),
        ("variables.Name", json!("Ada")),
        ("variables.whole", json!(2)),
        ("variables.Order.lines[1].sku", json!("b")),
        ("variables.Order?.lines.length", json!(2)),
        ("variables.Nope?.x.y", Value::Null),
        ("getCounter() + 1", json!(5)),
        ("getCounter() > 1 && getCounter() <= 4", json!(true)),
        ("return getCounter() % 3 === 1 ? 'odd' : 'even'", json!("odd")),
        ("`Hello ${variables.Name}, you are ${getCounter() + 1}!`", json!("Hello Ada, you are 5!")),
        ("\"Total: \" + getInput('Amount')", json!("Total: 12.5")),
        ("!variables.Empty", json!(true)),
        ("getInput('Missing') == null", json!(true)),
        ("getOutputFrom('Fetch').ok", json!(true)),
        ("getOutputFrom('Fetch', 'StatusCode') >= 200", json!(true)),
        ("getLastResult()[1]", json!("two")),
        ("getWorkflowInstanceId() + '/' + getCorrelationId()", json!("i-1/c-9")),
        ("variables.Nope || 'fallback'", json!("fallback")),
    ] {
        assert_eq!(simply(source).as_ref(), Some(&expected), "{source}");
        let source = source.trim_start_matches("return ").trim_end_matches([';', ' ']);
        assert_eq!(fully(source), Ok(expected), "{source}");
    }
}

#[test]
fn anything_that_needs_thought_is_left_to_quickjs() {
    for source in [
        "010",
        "1e3",
        "0x10",
        "1_000",
        "'\\n'",
        "return\n5",
        "12345678901234567890",
        "getInput(x)",
        "f()",
        "'a'b'",
        "",
        "a",
        "a = 1",
        "1, 2",
        "1; 2",
        "x => x",
        "{}",
        "[1]",
        "({})",
        "1 ** 2",
        "1 /* c */ + 1",
        "1 // c",
        "a?.()",
        "'a'.length()",
        "`${`",
        "`\\u0041`",
        "1 ?? 2",
        "-1 ** 2",
        "1 + -- 1",
        "typeof 1",
        "variables",
        "variables[k]",
        "getVariable('')",
        "1 < 2 > 3 <<1",
        "1 ? 2",
        "(1",
        "1)",
        "''.constructor",
        "({}).x",
        "- - -1 --",
        "1 <!-- 2",
        "1..x",
        "1.x",
        ".5",
        "5.",
        "getVariable('a', 1)",
        "variables.Name.trim()",
        "variables.a\u{2028}.b",
        "/a/.test('a')",
    ] {
        assert_eq!(simply(source), None, "{source}");
    }
    let deep = format!("{}1{}", "(".repeat(100), ")".repeat(100));
    assert!(Simple::parse(&deep).is_none() && Simple::parse(&"-".repeat(100_000)).is_none());
}

/// Draws expressions: the same seed draws the same one.
struct Draw(u64);

impl Draw {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(count).unwrap()).unwrap()
    }

    fn expression(&mut self, depth: usize) -> String {
        const LEAVES: [&str; 32] = [
            "0",
            "1",
            "2.5",
            "100",
            "'a'",
            "''",
            "\"10\"",
            "true",
            "false",
            "null",
            "undefined",
            "variables.Name",
            "variables.counter",
            "variables.Order",
            "variables.Empty",
            "variables.Nope",
            "variables.whole",
            "variables.big",
            "variables.small",
            "variables.yes",
            "variables.umlaut",
            "getCounter()",
            "getVariable('Nope')",
            "getInput('Amount')",
            "getLastResult()",
            "getOutputFrom('Fetch')",
            "getOutputFrom('Nobody')",
            "getStatusCodeFromFetch()",
            "getCorrelationId()",
            "getWorkflowInstanceName()",
            "getWorkflowDefinitionVersion()",
            "0.1",
        ];
        const OPERATORS: [&str; 15] =
            ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "===", "!==", "==", "!=", "&&", "||"];
        const STEPS: [&str; 9] = [
            ".length",
            "?.length",
            ".lines",
            "?.lines[0]",
            "[0]",
            "['id']",
            ".toString",
            ".ok",
            "?.x",
        ];
        if depth == 0 {
            return LEAVES[self.below(LEAVES.len())].to_owned();
        }
        let left = self.expression(depth - 1);
        match self.below(10) {
            0 => format!("!({left})"),
            1 => format!("-({left})"),
            2 => format!("({left}){}", STEPS[self.below(STEPS.len())]),
            3 => format!("`<${{{left}}}>`"),
            4 => format!("({left}) ? {} : {}", self.expression(depth - 1), self.expression(0)),
            _ => {
                let operator = OPERATORS[self.below(OPERATORS.len())];
                format!("({left}) {operator} ({})", self.expression(depth - 1))
            }
        }
    }
}

#[test]
fn simple_and_full_evaluation_agree() {
    let mut draw = Draw(0x5eed_0001);
    let mut answered = 0;
    for round in 0..3_000 {
        let source = draw.expression(1 + round % 3);
        if let Some(simple) = simply(&source) {
            answered += 1;
            let full = fully(&source).unwrap_or_else(|flaw| panic!("{source}: {flaw}"));
            assert!(
                crate::javascript::convert::same(&simple, &full),
                "{source}: simply {simple}, fully {full}"
            );
        }
    }
    assert!(answered > 500, "only {answered} were simple");
}
