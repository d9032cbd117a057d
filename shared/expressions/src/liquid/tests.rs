use std::time::{Duration, Instant};

use engine::{Flaw, Language};
use serde_json::{Value, json};

use super::Liquid;
use crate::stage::{Stage, furnished};

fn rendered(source: &str) -> String {
    match Liquid::new().evaluate(source, &mut furnished()) {
        Ok(Value::String(text)) => text,
        other => panic!("{source}: {other:?}"),
    }
}

fn check(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        assert_eq!(rendered(source), *expected, "{source}");
    }
}

fn stopped(source: &str) -> Flaw {
    let began = Instant::now();
    let language = Liquid::with_time(Duration::from_secs(60));
    let shown: String = source.chars().take(80).collect();
    let Err(flaw) = language.evaluate(source, &mut furnished()) else { panic!("{shown} went on") };
    assert!(began.elapsed() < Duration::from_secs(90), "{shown} took {:?}", began.elapsed());
    flaw
}

#[test]
fn the_workflow_is_seen() {
    check(&[
        ("plain", "plain"),
        ("Hello {{ Variables.Name }}!", "Hello Ada!"),
        ("{{ Variables.Order.lines[1].sku }}", "b"),
        ("{{ Variables[\"Name\"] }}", "Ada"),
        ("{{ Variables.counter | plus: 1 }}", "5"),
        ("{{ Input.Amount }}", "12.5"),
        ("{{ CorrelationId }} {{ WorkflowDefinitionId }}", "c-9 orders"),
        ("{{ WorkflowDefinitionVersionId }}/{{ WorkflowDefinitionVersion }}", "orders-3/3"),
        ("{{ WorkflowInstanceId }}", "i-1"),
        ("{% if Variables.counter > 3 %}big{% else %}small{% endif %}", "big"),
        ("{% assign n = Variables.Name %}{{ n | upcase }}", "ADA"),
        ("{% capture x %}<{{ Input.Amount }}>{% endcapture %}{{ x }}{{ x }}", "<12.5><12.5>"),
    ]);
}

#[test]
fn an_input_of_the_activity_comes_before_one_of_the_workflow() {
    let mut stage = furnished().with_input("Text", json!("workflow"));
    let shown = |stage: &mut Stage| Liquid::new().evaluate("{{ Input.Text }}", stage).unwrap();
    assert_eq!(shown(&mut stage), json!("workflow"));
    stage.own_inputs.insert("Text".to_owned(), json!("activity"));
    assert_eq!(shown(&mut stage), json!("activity"));
}

#[test]
fn the_configuration_is_read_by_its_keys() {
    let values = [("Shop:Url".to_owned(), "https://shop".to_owned())];
    let config = std::sync::Arc::new(crate::Config::new(&values.into()));
    let liquid = Liquid::with(Duration::from_secs(10), config);
    let source = "{{ Configuration.Shop.Url }}{{ Configuration.Nothing }}";
    assert_eq!(liquid.evaluate(source, &mut furnished()).unwrap(), json!("https://shop"));
    check(&[("[{{ Configuration.Shop.Url }}]", "[]")]);
}

#[test]
fn texts_are_encoded_and_hashed() {
    check(&[
        ("{{ 'a?b' | base64_encode }}", "YT9i"),
        ("{{ 'YT9i' | base64_decode }}", "a?b"),
        ("{{ 'ÿÿ?' | base64_url_safe_encode }}", "w7_Dvz8="),
        ("{{ 'w7_Dvz8=' | base64_url_safe_decode }}", "ÿÿ?"),
        ("{{ 'abc' | md5 }}", "900150983cd24fb0d6963f7d28e17f72"),
        ("{{ 'abc' | sha1 }}", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            "{{ 'abc' | sha256 }}",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        ),
        ("{{ 'abc' | sha512 | size }}", "128"),
        ("{{ ' The  Big-Sale! 5 ' | handleize }}", "the-big-sale-5"),
        ("{{ 'a-b-c' | remove_last: '-' }} {{ 'a-b-c' | replace_last: '-', '+' }}", "a-bc a-b+c"),
        ("{{ '<b>' | raw }}", "<b>"),
    ]);
    assert!(stopped("{{ '%' | base64_decode }}").message.contains("not base64"));
}

#[test]
fn lists_are_searched_and_summed() {
    let items = "{% assign l = Variables.Items %}";
    let mut stage = furnished().with_variable(
        "Items",
        json!([{"n": 1, "a": "x"}, {"n": 2.5, "a": "y"}, {"a": "x", "ok": true}]),
    );
    for (source, expected) in [
        ("{{ l | sum: 'n' }}", "3.5"),
        ("{{ l | find: 'a', 'y' | json }}", "{\"n\":2.5,\"a\":\"y\"}"),
        ("{{ l | find_index: 'a', 'y' }}", "1"),
        ("{{ l | find_index: 'a', 'z' }}", ""),
        ("{{ l | has: 'ok' }} {{ l | has: 'a', 'z' }}", "true false"),
        ("{% assign r = l | reject: 'a', 'x' %}{{ r.size }}", "1"),
    ] {
        let source = format!("{items}{source}");
        let shown = Liquid::new().evaluate(&source, &mut stage).unwrap();
        assert_eq!(shown, json!(expected), "{source}");
    }
    check(&[("{% assign l = '1,2,3' | split: ',' %}{{ l | sum }}", "6")]);
}

#[test]
fn dates_and_numbers_follow_the_formats_of_dotnet() {
    let date = "'2026-01-05T14:03:09.25Z'";
    for (format, expected) in [
        ("yyyy-MM-dd HH:mm:ss", "2026-01-05 14:03:09"),
        ("d", "01/05/2026"),
        ("dddd, d MMMM yy h:mm tt", "Monday, 5 January 26 2:03 PM"),
        ("o", "2026-01-05T14:03:09.2500000+00:00"),
        ("r", "Mon, 05 Jan 2026 14:03:09 GMT"),
        ("HH\\hmm 'at' fff K", "14h03 at 250 +00:00"),
        ("%d", "5"),
    ] {
        assert_eq!(rendered(&format!("{{{{ {date} | format_date: \"{format}\" }}}}")), expected);
    }
    check(&[
        (
            "{{ '2026-07-05T14:03:09Z' | time_zone: 'Europe/Berlin' | date: '%H:%M %z' }}",
            "16:03 +0200",
        ),
        ("{{ 'soon' | format_date: 'd' }}", "soon"),
        ("{{ 1234567.891 | format_number: 'N2' }}", "1,234,567.89"),
        ("{{ -0.001 | format_number: 'N2' }}", "0.00"),
        ("{{ 1234.5 | format_number: '#,##0.00' }}", "1,234.50"),
        ("{{ 5 | format_number: '000' }}", "005"),
        ("{{ 0.125 | format_number: '0.#%' }}", "12.5%"),
        ("{{ -7 | format_number: 'D3' }}", "-007"),
        ("{{ 255 | format_number: 'X4' }}", "00FF"),
        ("{{ 'Dear {0}, {1:N1}!' | format_string: 'Ada', 2 }}", "Dear Ada, 2.0!"),
    ]);
    let nowhere = stopped("{{ 'now' | time_zone: 'Mars/Olympus' }}").message;
    assert!(nowhere.contains("there is no time zone Mars/Olympus: write"), "{nowhere}");
}

#[test]
fn more_tags_than_those_of_the_library() {
    check(&[
        ("{% echo Variables.Name | upcase %}", "ADA"),
        ("{% liquid\n assign x = 1\n\n# no\n echo x\n if x > 0\n echo 'y'\n endif %}!", "1y!"),
        (
            "{% tablerow i in (1..3) cols:2 %}{{ i }}{{ tablerowloop.col }}{% endtablerow %}",
            "<tr class=\"row1\"><td class=\"col1\">11</td><td class=\"col2\">22</td></tr>\
             <tr class=\"row2\"><td class=\"col1\">31</td></tr>",
        ),
    ]);
    for name in ["render", "include"] {
        let flaw = Liquid::new().check(&format!("{{% {name} 'x' %}}")).unwrap_err();
        assert!(flaw.message.contains("reads another template"), "{flaw:?}");
    }
    let flaw = Liquid::new().check("a\n{% liquid\n assign x = 1\n assign = 2 %}").unwrap_err();
    assert_eq!(flaw.line, Some(4), "{flaw:?}");
}

#[test]
fn what_is_not_there_renders_as_nothing() {
    check(&[
        ("[{{ Nothing }}]", "[]"),
        ("[{{ Variables.Nope }}]", "[]"),
        ("[{{ Variables.Nope.deeper[3].still }}]", "[]"),
        ("[{{ Variables.Empty }}]", "[]"),
        ("[{{ Input.Nope | upcase }}]", "[]"),
        ("{% for l in Variables.Order.lines %}{{ l.sku }}{{ l.nope.x }}{% endfor %}", "ab"),
        ("{% if Variables.Nope %}yes{% else %}no{% endif %}", "no"),
        ("{% for x in Variables.Nope %}{{ x }}{% else %}none{% endfor %}", "none"),
        ("{{ Variables.Nope | default: 'fallback' }}", "fallback"),
    ]);
}

#[test]
fn loops_have_everything_that_liquid_promises() {
    check(&[
        ("{% for i in (1..5) limit:2 offset:1 %}{{ i }}{% endfor %}", "23"),
        ("{% for i in (1..3) reversed %}{{ i }}{% endfor %}", "321"),
        (
            "{% for i in (1..3) %}{{ forloop.index }}/{{ forloop.length }} {% endfor %}",
            "1/3 2/3 3/3 ",
        ),
        ("{% for i in (1..9) %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}", "12"),
        ("{% for i in (1..3) %}{% if i == 2 %}{% continue %}{% endif %}{{ i }}{% endfor %}", "13"),
        (
            "{% for i in (1..2) %}{% for j in (1..2) %}{{ forloop.parentloop.index }}{{ j }} {% endfor %}{% endfor %}",
            "11 12 21 22 ",
        ),
        ("{% for p in Variables.Order %}{{ p[0] }} {% endfor %}", "id lines "),
        ("{% for i in (3..1) %}x{% else %}none{% endfor %}", "none"),
        (
            "{% assign n = 0 %}{% for i in (1..3) %}{% assign n = n | plus: i %}{% endfor %}{{ n }}",
            "6",
        ),
    ]);
}

#[test]
fn filters_of_elsa() {
    check(&[
        ("{{ Variables.Order | json }}", "{\"id\":7,\"lines\":[{\"sku\":\"a\"},{\"sku\":\"b\"}]}"),
        ("{{ Variables.Name | json }}", "\"Ada\""),
        ("{{ Variables.Nope | json }}", "null"),
        ("{{ Input.Amount | json }}", "12.5"),
        ("{{ Variables.Name | base64 }}", "QWRh"),
        ("{{ Variables.Order | keys | join: ',' }}", "id,lines"),
        ("{{ 'a-b-c' | replace: '-', '+' }}", "a+b+c"),
        ("{{ 'a,b,a' | split: ',' | uniq | join }}", "a b"),
        ("{{ 'now' | date: '%Y-%m-%d %H:%M' }}", "2026-11-21 09:00"),
        ("{{ '2026-01-31T12:00:00+02:00' | date: '%d.%m.%Y %H:%M %z' }}", "31.01.2026 12:00 +0200"),
        ("{{ '2026-01-31' | date: '%A' }}", "Saturday"),
        ("{{ 0 | date: '%Y' }}", "1970"),
        ("{{ 'soon' | date: '%Y' }}", "soon"),
    ]);
}

#[test]
fn objects_keep_their_order_wherever_they_go() {
    let order = json!({"z": 1, "b": {"y": 2, "a": [3, {"q": 1, "c": 2}]}, "k": "v", "size2": 0});
    let mut stage = Stage::new().with_variable("O", order.clone());
    let text = order.to_string();
    let mut render = |source: &str| Liquid::new().evaluate(source, &mut stage).unwrap();
    assert_eq!(render("{{ Variables.O }}"), text);
    assert_eq!(render("{{ Variables.O | json }}"), text);
    assert_eq!(render("{% assign o = Variables.O %}{{ o }}"), text);
    assert_eq!(render("{% assign o = Variables.O.b %}{{ o.a }}"), "3{\"q\":1,\"c\":2}");
    assert_eq!(render("{% for p in Variables.O %}{{ p[0] }},{% endfor %}"), "z,b,k,size2,");
    assert_eq!(
        render("{{ Variables.O.size }} {{ Variables.O | size }} {{ 'ab' | size }}"),
        "4 4 2"
    );
    assert_eq!(render("{{ Variables.O | keys | join: '+' }}"), "z+b+k+size2");
    assert_eq!(render("{{ forloop }}{% for i in (1..1) %}{{ forloop.first }}{% endfor %}"), "true");
}

#[test]
fn whole_numbers_have_no_fraction() {
    let mut stage = Stage::new().with_variable("n", json!(2.0)).with_variable("f", json!(2.5));
    let text = Liquid::new().evaluate("{{ Variables.n }} {{ Variables.f }}", &mut stage).unwrap();
    assert_eq!(text, "2 2.5");
}

#[test]
fn a_template_that_cannot_be_parsed_is_a_flaw_with_its_place() {
    let language = Liquid::new();
    language.check("{{ a }}{% if b %}{% endif %}").unwrap();
    for (source, line) in [
        ("{{ a", 1),
        ("one\n{% if %}", 2),
        ("{% for x of y %}{% endfor %}", 1),
        ("\n\n{{ a | nofilter }}", 3),
        ("{% notag %}", 1),
        ("{% if a %}", 1),
        ("{% include 'x' %}", 1),
    ] {
        let flaw = language.check(source).expect_err(source);
        assert!(!flaw.message.is_empty() && !flaw.message.contains('\n'), "{source}: {flaw:?}");
        assert!(flaw.line.is_none_or(|found| found == line), "{source}: {flaw:?}");
        assert!(language.evaluate(source, &mut furnished()).is_err());
    }
}

#[test]
fn hostile_templates_end_soon() {
    let nested = "{% for a in (1..1000) %}{% for b in (1..1000) %}{% for c in (1..1000) %}{% endfor %}{% endfor %}{% endfor %}";
    assert!(stopped(nested).message.contains("rounds"));
    let hasty = Liquid::with_time(Duration::from_millis(1)).evaluate(nested, &mut furnished());
    assert!(hasty.unwrap_err().message.contains("ran too long"));
    assert!(stopped("{% for i in (1..1000000000000) %}{% endfor %}").message.contains("rounds"));
    let long = "{% for i in (1..90000) %}0123456789012345678901234567890123456789{% endfor %}";
    assert!(stopped(long).message.contains("1024 KiB"));
    let doubling =
        format!("{{% assign s = 'ab' %}}{}", "{% assign s = s | append: s %}".repeat(60));
    assert!(stopped(&doubling).message.contains("4 MiB"));
    let squared = "{% capture s %}{% for i in (1..3000) %}a{% endfor %}{% endcapture %}{{ s | replace: 'a', s | replace: 'a', s }}";
    assert!(stopped(squared).message.contains("4 MiB"));
    let captured = format!(
        "{{% assign s = '0123456789' %}}{}",
        "{% capture s %}{{s}}{{s}}{{s}}{{s}}{{s}}{{s}}{{s}}{{s}}{% endcapture %}".repeat(40)
    );
    stopped(&captured);
    assert!(stopped(&"{% if a %}".repeat(20_000)).message.contains("nests deeper"));
    assert!(stopped(&format!("{{{{ a{} }}}}", "[a".repeat(100_000))).message.contains("nests"));
    assert!(stopped(&"x{{ a }}".repeat(40_000)).message.contains("256 KiB"));
    stopped(&format!("{{{{ 9223372036854775807 | plus: 1 | date: '%{}d' }}}}", "9".repeat(30)));
}

#[test]
fn templates_over_large_values_are_stopped_at_their_limit() {
    let large: Vec<Value> = (0..200_000).map(|n| json!(n)).collect();
    let mut stage = Stage::new()
        .with_variable("Big", json!(large))
        .with_variable("Same", json!(large))
        .with_variable("Text", json!("x".repeat(4_000_000)));
    // Without optimisation the parser alone takes a second, and each of these templates a minute.
    let language = Liquid::with_time(Duration::from_secs(4));
    for source in [
        "{% assign a = Variables.Big %}".repeat(1_000),
        format!(
            "{{% if {} %}}{{% endif %}}",
            "Variables.Big != Variables.Same or ".repeat(600) + "a"
        ),
        "{% for a in Variables.Big limit:0 %}{% endfor %}".repeat(1_000),
        "{% case Variables.Big %}{% when Variables.Same %}{% endcase %}".repeat(600),
    ] {
        let began = Instant::now();
        let flaw = language.evaluate(&source, &mut stage).expect_err(&source[..80]);
        let took = began.elapsed();
        assert!(flaw.message.contains("ran too long"), "{}: {flaw:?}", &source[..80]);
        assert!(took < Duration::from_secs(16), "{}: {took:?}", &source[..80]);
    }
}

#[test]
fn long_templates_are_read_in_their_time() {
    let mut stage = Stage::new().with_variable("Text", json!("x".repeat(1_000_000)));
    let began = Instant::now();
    let shown = "{{ a }}".repeat(36_000);
    assert_eq!(
        Liquid::with_time(Duration::from_secs(30)).evaluate(&shown, &mut stage),
        Ok(json!(""))
    );
    // Each variable is copied once, however often the text names it.
    let sizes = "{% if Variables.Text %}{% endif %}".repeat(5_000);
    let language = Liquid::with_time(Duration::from_secs(30));
    let before = Instant::now();
    let end = language.evaluate(&sizes, &mut stage);
    assert!(before.elapsed() < Duration::from_secs(60), "{:?} {end:?}", before - began);
    assert_eq!(end, Ok(json!("")));
}

#[test]
fn no_filter_brings_the_process_down() {
    let filters = super::filters::dialect();
    let names: Vec<String> =
        filters.filters.plugins().map(|filter| filter.reflection().name().to_owned()).collect();
    let language = Liquid::new();
    let inputs = ["Nope", "-9223372036854775808", "''", "'ü€'", "Variables.Order", "1.5", "true"];
    for name in names {
        for input in inputs {
            for arguments in
                ["", ": 0", ": -5", ": -9223372036854775808", ": '', ''", ": Variables.Order"]
            {
                let source = format!("{{{{ {input} | {name}{arguments} }}}}");
                // A text and a flaw are both correct here.
                drop(language.evaluate(&source, &mut furnished()));
            }
        }
    }
}
