use engine::Language as _;
use serde_json::{Value, json};

use super::Simple;
use crate::JavaScript;
use crate::javascript::convert;
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

/// The result of QuickJS for the same expression.
fn fully(source: &str) -> Result<Value, String> {
    // A comma makes an expression not simple.
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
        let left = self.bracketed(depth - 1);
        match self.below(12) {
            0 => format!("!{left}"),
            1 => format!("-{left}"),
            2 => format!("{left}{}", STEPS[self.below(STEPS.len())]),
            3 => format!("`<${{{left}}}>`"),
            4 => format!("{left} ? {} : {}", self.bracketed(depth - 1), self.expression(0)),
            5 => format!("{left}[{}]", self.expression(0)),
            _ => {
                let operator = OPERATORS[self.below(OPERATORS.len())];
                let space = ["", " ", "\n", "\t "][self.below(4)];
                format!("{left}{space}{operator}{space}{}", self.bracketed(depth - 1))
            }
        }
    }

    /// An expression, in brackets or not: without them the precedence of operators shows.
    fn bracketed(&mut self, depth: usize) -> String {
        let inner = self.expression(depth);
        if self.below(3) == 0 { inner } else { format!("({inner})") }
    }
}

/// The results of QuickJS for each of the expressions, in one run.
fn all_fully(sources: &[String]) -> Vec<Value> {
    // Numbers are returned as texts: inside an array they would be rounded on their way through
    // JSON.
    let list = sources.join(",\n");
    let list = format!("[{list}].map(v => typeof v === 'number' ? {{ number: String(v) }} : v)");
    match JavaScript::new().evaluate(&list, &mut stage()) {
        Ok(Value::Array(values)) => values.into_iter().map(exact).collect(),
        // QuickJS refuses one of them: find out which.
        other => {
            for source in sources {
                fully(source).unwrap_or_else(|flaw| panic!("{source}: {flaw}"));
            }
            panic!("no list but {other:?}")
        }
    }
}

fn exact(value: Value) -> Value {
    match value.get("number").and_then(Value::as_str) {
        Some(number) => convert::number(number.parse().unwrap()),
        None => value,
    }
}

#[test]
fn a_hundred_thousand_expressions_mean_the_same_with_and_without_quickjs() {
    let mut draw = Draw(0x5eed_0001);
    let mut answered = 0;
    for _ in 0..1_000 {
        let sources: Vec<String> = (0..100).map(|round| draw.expression(1 + round % 3)).collect();
        let pairs = sources.into_iter().filter_map(|source| {
            let value = simply(&source)?;
            Some((source, value))
        });
        let (sources, values): (Vec<String>, Vec<Value>) = pairs.unzip();
        answered += sources.len();
        for ((source, simple), full) in sources.iter().zip(&values).zip(all_fully(&sources)) {
            assert!(convert::same(simple, &full), "{source}: simply {simple}, fully {full}");
        }
    }
    assert!(answered > 20_000, "only {answered} were simple");
}
