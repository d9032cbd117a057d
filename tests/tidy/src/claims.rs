//! What documents claim is shown by tests, or by pages of the book whose blocks run.

use crate::tree::{self, File};

const CODE: [&str; 4] = ["schema", "services", "shared", "tests"];

/// Tables that say what Staunch does, by the beginning of their heading. The last column of each row
/// names tests, at least one.
const CLAIMS: [(&str, &str); 3] = [
    ("README.md", "| Of Elsa, "),
    ("docs/security.md", "| Attack "),
    ("docs/elsa-api.md", "| Call of Studio "),
];

/// The page that answers Elsa's clustering guide. The first column of its rows has the numbers of
/// requirements, the last one names tests and pages, or says why there are none.
const GUIDE: &str = "docs/clustering-guide.md";
/// How many requirements that guide has.
const REQUIREMENTS: usize = 161;
/// What the last column may say instead.
const REASONS: [&str; 2] = ["not applicable: ", "not run: needs "];

/// What a test is given: nothing, or what the macros of stories and of conformance suites pass to it.
const GIVEN: [&str; 4] = [")", "world: World", "mut world: World", "store: Subject"];

fn is_a_test(name: &str, sources: &[File]) -> bool {
    let head = format!("fn {name}(");
    let is_given = |rest: &str| GIVEN.iter().any(|given| rest.trim_start().starts_with(given));
    sources.iter().any(|file| file.text.split(&head).skip(1).any(is_given))
}

/// The names in backticks.
fn names(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The files behind `book: [page](file)`.
fn pages(cell: &str) -> Vec<&str> {
    let links = cell.split("book: [").skip(1);
    links.filter_map(|link| Some(link.split_once("](")?.1.split_once(')')?.0)).collect()
}

/// The page exists, and a block of it is run.
fn runs(page: &str) -> bool {
    tree::read(&format!("docs/{page}")).lines().any(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some("```sh") && words.all(|word| !word.starts_with("needs="))
    })
}

/// The rows of every table whose first column has numbers of requirements.
fn numbered(text: &str) -> Vec<&str> {
    let mut rows = Vec::new();
    let mut is_within = false;
    for line in text.lines() {
        if line.starts_with("| no. |") {
            is_within = true;
        } else if !line.starts_with('|') {
            is_within = false;
        } else if is_within && !line.starts_with("|--") {
            rows.push(line);
        }
    }
    rows
}

/// What is wrong with the last column of this row.
fn faults(row: &str, tried: &str, sources: &[File]) -> Vec<String> {
    let (names, pages) = (names(tried), pages(tried));
    let mut faults = Vec::new();
    let is_said = REASONS.iter().any(|reason| tried.contains(reason));
    if names.is_empty() && pages.is_empty() && !is_said {
        faults.push(format!("nothing tries {row}"));
    }
    let unknown = names.into_iter().filter(|name| !is_a_test(name, sources));
    faults.extend(unknown.map(|name| format!("the test {name} does not exist")));
    let idle = pages.into_iter().filter(|page| !runs(page));
    faults.extend(idle.map(|page| format!("no block of {page} is run")));
    faults
}

fn check(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn documents_claim_only_what_tests_show() {
    let sources = tree::files(&CODE, "rs");
    let mut complaints = Vec::new();
    for (path, heading) in CLAIMS {
        let document = tree::read(path);
        let (_, table) = document.split_once(heading).unwrap();
        let rows: Vec<_> = table.lines().skip(2).take_while(|line| line.starts_with('|')).collect();
        assert!(!rows.is_empty(), "the table of {path} has no rows");
        for row in rows {
            let names = names(row.rsplit('|').nth(1).unwrap());
            if names.is_empty() {
                complaints.push(format!("{path} has no test for {row}"));
            }
            for name in names.into_iter().filter(|name| !is_a_test(name, &sources)) {
                complaints.push(format!("{path} names a test {name}, which does not exist"));
            }
        }
    }
    check(&complaints);
}

#[test]
fn every_requirement_of_the_clustering_guide_has_its_row() {
    let sources = tree::files(&CODE, "rs");
    let text = tree::read(GUIDE);
    let (mut complaints, mut numbers) = (Vec::new(), Vec::new());
    for row in numbered(&text) {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [covered, _, _, tried] = cells[..] else {
            complaints.push(format!("{GUIDE}: not four columns: {row}"));
            continue;
        };
        for number in covered.split(", ") {
            match number.parse::<usize>() {
                Ok(number) if (1..=REQUIREMENTS).contains(&number) => numbers.push(number),
                _ => complaints.push(format!("{GUIDE}: {number} is no requirement: {row}")),
            }
        }
        let faults = faults(row, tried, &sources);
        complaints.extend(faults.iter().map(|fault| format!("{GUIDE}: {fault}")));
    }
    for number in 1..=REQUIREMENTS {
        let times = numbers.iter().filter(|found| **found == number).count();
        if times != 1 {
            complaints.push(format!("{GUIDE}: the requirement {number} is there {times} times"));
        }
    }
    check(&complaints);
}

#[test]
fn a_row_is_shown_by_tests_that_exist_and_pages_that_run() {
    let sources = tree::files(&["tests/tidy", "tests/e2e"], "rs");
    let count = |tried: &str| faults("a row", tried, &sources).len();
    let own = "`a_row_is_shown_by_tests_that_exist_and_pages_that_run`";
    let story = "`a_new_version_runs_everywhere_at_once_g10`";
    for (tried, expected) in [
        (own, 0),
        (story, 0),
        ("book: [patterns](patterns.md)", 0),
        ("not applicable: by design", 0),
        ("not tried", 1),
        ("", 1),
        ("by hand", 1),
        ("`faults`, `no_such_test`", 2),
        ("book: [deploy](deploy.md); book: [none](none.md)", 2),
    ] {
        assert_eq!(count(tried), expected, "{tried}");
    }
}
