//! The blocks of code of a document.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::document::{Document, all};

/// Why a block is not run here.
pub(crate) const NEEDS: &[(&str, &str)] = &[
    ("containers", "a container engine"),
    ("kubernetes", "a Kubernetes cluster"),
    ("network", "servers elsewhere"),
    ("systemd", "systemd, and root"),
    ("terminal", "a terminal"),
    ("time", "more than a minute"),
    ("toolchain", "a compiler"),
];

/// Programs that a block may use; it is skipped where one is not installed.
pub(crate) const PROGRAMS: &[&str] = &["nats", "prometheus"];

/// One block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    /// Such as `docs/deploy.md:27`.
    pub(crate) at: String,
    /// What follows the three backticks.
    pub(crate) info: String,
    pub(crate) text: String,
}

/// How a shell block is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mode {
    /// Not at all, because it needs this.
    pub(crate) needs: Option<&'static str>,
    /// Only where this program is.
    pub(crate) uses: Option<&'static str>,
    /// Its exit code is not 0.
    pub(crate) fails: bool,
    /// With `staunch dev` running.
    pub(crate) with_dev: bool,
}

impl Block {
    /// How it is run; `None` for what is no shell block.
    ///
    /// # Errors
    /// When its first line is not understood.
    pub(crate) fn mode(&self) -> Result<Option<Mode>, String> {
        let mut words = self.info.split_whitespace();
        match words.next() {
            Some("sh") => {}
            Some(shell @ ("bash" | "shell" | "console" | "zsh")) => {
                return Err(format!("{}: write sh instead of {shell}", self.at));
            }
            None => return Err(format!("{}: name the language after the backticks", self.at)),
            Some(_) => return Ok(None),
        }
        let mut mode = Mode::default();
        for word in words {
            match word.split_once('=') {
                None if word == "fails" => mode.fails = true,
                Some(("with", "dev")) => mode.with_dev = true,
                Some(("needs", what)) => {
                    let known = NEEDS.iter().find(|(name, _)| *name == what);
                    let Some((name, _)) = known else {
                        return Err(format!("{}: {what} is not in NEEDS", self.at));
                    };
                    mode.needs = Some(name);
                }
                Some(("uses", what)) => {
                    let Some(name) = PROGRAMS.iter().find(|name| **name == what) else {
                        return Err(format!("{}: {what} is not in PROGRAMS", self.at));
                    };
                    mode.uses = Some(name);
                }
                _ => return Err(format!("{}: {word} is not understood", self.at)),
            }
        }
        Ok(Some(mode))
    }
}

/// Every block of code of a document.
pub(crate) fn blocks(document: &Document) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    let events = Parser::new_ext(&document.text, Options::ENABLE_TABLES).into_offset_iter();
    for (event, range) in events {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                let line = document.text[..range.start].lines().count() + 1;
                let at = format!("{}:{line}", document.path);
                open = Some(Block { at, info: info.into_string(), text: String::new() });
            }
            Event::Text(text) => {
                if let Some(block) = &mut open {
                    block.text.push_str(&text);
                }
            }
            Event::End(TagEnd::CodeBlock) => found.extend(open.take()),
            _ => {}
        }
    }
    found
}

#[test]
fn every_shell_block_says_how_it_is_run() {
    let blocks: Vec<_> = all().iter().flat_map(blocks).collect();
    let wrong: Vec<_> = blocks.iter().filter_map(|block| block.mode().err()).collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn the_first_line_of_a_block_is_read() {
    let mode = |info: &str| Block { info: info.to_owned(), ..Block::default() }.mode();
    assert_eq!(mode("yaml").unwrap(), None);
    assert_eq!(mode("sh").unwrap(), Some(Mode::default()));
    let found = mode("sh needs=containers").unwrap().unwrap();
    assert_eq!(found.needs, Some("containers"));
    let found = mode("sh with=dev fails").unwrap().unwrap();
    assert!(found.fails && found.with_dev);
    let found = mode("sh uses=nats").unwrap().unwrap();
    assert_eq!((found.uses, found.needs), (Some("nats"), None));
    for wrong in ["", "bash", "sh needs=luck", "sh with=luck", "sh uses=luck", "sh later"] {
        assert!(mode(wrong).is_err(), "{wrong}");
    }
}
