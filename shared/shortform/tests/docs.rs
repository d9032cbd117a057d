//! Every example of docs/short-form.md can be published.

use engine::{Engine, Library};
use model::Definition;
use shortform::{Notation, Vocabulary, read, write};

#[test]
fn every_example_of_the_page_is_valid_and_survives_a_round_trip() {
    let engine = Engine::new(activities::all(), expressions::all());
    let vocabulary = Vocabulary::new(engine.descriptors());
    let page = include_str!("../../../docs/short-form.md");
    let mut count = 0;
    for rest in page.split("```yaml\n").skip(1) {
        let text = rest.split("```").next().unwrap_or_default();
        let tree = read(text, Notation::Yaml).map_err(|flaw| format!("{flaw}\n{text}")).unwrap();
        let full = vocabulary.expand(&tree, Some("example"));
        let full = full.map_err(|flaws| format!("{flaws:?}\n{text}")).unwrap().value();
        let definition: Definition = serde_json::from_value(full.clone()).unwrap();
        let valid = engine.validate(&definition, &Library::default());
        assert!(valid.is_ok(), "{:?}\n{text}", valid.err());
        let short = write(&vocabulary.shorten(&full));
        let back = vocabulary.expand(&read(&short, Notation::Yaml).unwrap(), None).unwrap();
        assert_eq!(back.value(), full, "{short}");
        count += 1;
    }
    assert_eq!(count, 7);
}
