use super::*;

const SUMMARY: &str = "\
# Contents

[Begin](README.md)

# Run

- [Deploy](deploy.md)
- [Why](why/README.md)
  - [A *first* reason](why/001.md)
- [Stop](stop.md)
";

/// A book with this text as the page `deploy.md`.
fn of(text: &str) -> Book {
    Book::of(&|path| match path {
        "SUMMARY.md" => Some(SUMMARY),
        "deploy.md" => Some(text),
        "README.md" => Some("# The <beginning>\n"),
        "why/README.md" => Some("# Why\n"),
        "why/001.md" => Some("# 1\n\n[up](../deploy.md#a), [beside](README.md), [file](../../x/y)"),
        "stop.md" => Some("# Stop\n"),
        _ => None,
    })
}

fn page<'a>(book: &'a Book, path: &str) -> &'a str {
    &book.page(path).unwrap().html
}

#[test]
fn the_contents_are_in_order_with_parts_and_depths() {
    let found = contents(SUMMARY);
    let found: Vec<_> =
        found.iter().map(|e| format!("{}|{}|{}|{}", e.part, e.depth, e.title, e.file)).collect();
    assert_eq!(
        found,
        [
            "|0|Begin|README.md",
            "Run|0|Deploy|deploy.md",
            "Run|0|Why|why/README.md",
            "Run|1|A first reason|why/001.md",
            "Run|0|Stop|stop.md",
        ]
    );
}

#[test]
fn links_lead_to_pages_from_every_depth() {
    let book = of("[why](why/001.md#x) [begin](README.md) [out](https://x.example) [here](#a)");
    let text = page(&book, "deploy");
    for link in ["why/001#x", "./", "https://x.example", "#a"] {
        assert!(text.contains(&format!("href=\"{link}\"")), "{link} in {text}");
    }
    let below = page(&book, "why/001");
    for link in ["../deploy#a", "../why/", "../book.css", "../../", "../"] {
        assert!(below.contains(&format!("href=\"{link}\"")), "{link} in {below}");
    }
    assert!(below.contains("<span class=\"file\" title=\"in the repository: x/y\">file</span>"));
}

#[test]
fn a_page_shows_where_it_is_and_what_is_beside_it() {
    let book = of("# Deploy");
    let text = page(&book, "deploy");
    assert!(text.contains("<a rel=\"prev\" href=\"./\">← Begin</a>"), "{text}");
    assert!(text.contains("<a rel=\"next\" href=\"why/\">Why →</a>"), "{text}");
    assert!(text.contains("<a href=\"deploy\" aria-current=\"page\">Deploy</a>"), "{text}");
    assert!(text.contains("<h2>Run</h2>"), "{text}");
    // What is below a chapter is shown there only.
    assert!(!text.contains("A first reason"), "{text}");
    let reason = "<a href=\"../why/001\" class=\"below\" aria-current=\"page\">A first reason</a>";
    assert!(page(&book, "why/001").contains(reason));
    assert!(!page(&book, "").contains("rel=\"prev\""));
    assert!(!page(&book, "stop").contains("rel=\"next\""));
}

#[test]
fn headings_have_the_anchors_of_github() {
    for (title, expected) in [
        ("Behind a proxy", "behind-a-proxy"),
        ("What `why` finds", "what-`why`-finds"),
        ("What a test has: 2nd, with_it", "what-a-test-has-2nd-with_it"),
    ] {
        assert_eq!(slug(title), expected.replace('`', ""), "{title}");
    }
    let book = of("## Twice\n\n## Twice\n\n## What `why` finds\n");
    let text = page(&book, "deploy");
    for id in ["twice", "twice-1", "what-why-finds"] {
        assert!(text.contains(&format!("<h2 id=\"{id}\">")), "{id} in {text}");
    }
}

#[test]
fn html_within_markdown_is_text() {
    let book = of("a <b>bold</b>\n\n<script>alert(1)</script>\n");
    let text = page(&book, "deploy");
    assert!(text.contains("&lt;b&gt;bold") && text.contains("&lt;script&gt;"), "{text}");
    assert!(!text.contains("<script") && !text.contains("<b>"), "{text}");
    assert!(page(&book, "").contains("<title>The &lt;beginning&gt; – Staunch</title>"));
}

#[test]
fn a_page_that_is_not_there_leads_to_the_contents() {
    let book = of("");
    assert!(book.page("nowhere").is_none());
    assert!(book.missing("nowhere").contains("<a href=\"./\">Contents</a>"));
    let deep = book.missing("a/b/c");
    assert!(deep.contains("<a href=\"../../\">Contents</a>"), "{deep}");
    assert!(deep.contains("<a href=\"../../deploy\">Deploy</a>"), "{deep}");
}

#[test]
fn the_book_of_this_program_has_every_page() {
    let book = book();
    assert!(book.pages().len() > 30, "{}", book.pages().len());
    for page in book.pages() {
        assert!(page.html.contains("<h1 id="), "{} has a title", page.path);
        assert!(!page.html.contains("<script"), "{}", page.path);
        assert!(page.path.bytes().all(|b| b.is_ascii_alphanumeric() || b"-/".contains(&b)));
    }
}
