//! Runs and their records; the form of tests is tested where files are read.

use super::*;

#[test]
fn patterns_fit_any_characters_at_their_stars() {
    let check = |pattern: &str, text: &str, expected: bool| {
        assert_eq!(mock::matches(pattern, text), expected, "{pattern} {text}");
    };
    check("*", "", true);
    check("a*c", "abc", true);
    check("a*c", "ab", false);
    check("a*b*c", "a-b-b-c", true);
    check("abc", "abcd", false);
    check("a*a", "a", false);
}

#[test]
fn a_test_that_is_made_of_a_run_has_what_says_something_and_no_secret() {
    let members = serde_json::json!({"input": {"Order": 7}, "calls": {}, "steps": [], "time": null,
        "secrets": {"Key": "abc", "Pair": {"user": "u"}}});
    let serde_json::Value::Object(members) = members else { panic!("no object") };
    let expected = serde_json::json!({"input": {"Order": 7},
        "secrets": {"Key": "made-up", "Pair": "made-up"}});
    assert_eq!(serde_json::Value::Object(as_case(members)), expected);
}

#[test]
fn no_tests_in_an_object_are_not_called_no_object() {
    for (tests, expected) in [
        (serde_json::json!({}), "there are no tests in it: write one by its name"),
        (serde_json::json!([]), "write an object: tests by their names"),
    ] {
        let tree = shortform::Tree::of(&serde_json::json!({"tests": tests}));
        let flaws = Suite::read(&tree).err().unwrap_or_default();
        let told: Vec<_> = flaws.iter().map(|flaw| flaw.message.as_str()).collect();
        assert!(told.contains(&expected), "{told:?}");
    }
}

#[test]
fn the_tests_of_a_definition_are_one_of_its_custom_properties() {
    let tree = |value| shortform::Tree::of(&value);
    let with = tree(serde_json::json!({"customProperties": {TESTS_MEMBER: {"tests": {}}}}));
    assert!(of_definition(&with).is_some_and(|tests| tests.get("tests").is_some()));
    for none in [
        serde_json::json!({"customProperties": {TESTS_MEMBER: null}}),
        serde_json::json!({"customProperties": {}}),
        serde_json::json!({"customProperties": null}),
        serde_json::json!([]),
    ] {
        assert!(of_definition(&tree(none)).is_none());
    }
}
