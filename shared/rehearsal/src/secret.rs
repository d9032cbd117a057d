//! The secrets of a test. They are sealed as on a server, by a text that anybody can open.

use engine::Vault;
use model::Map;

/// The values that a test gives to secrets.
pub(crate) struct Given(pub(crate) Map);

impl Vault for Given {
    fn read(&self, name: &str) -> Result<String, String> {
        let found = self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name.trim()));
        match found.map(|(_, value)| value.as_str()) {
            Some(Some(value)) => Ok(value.to_owned()),
            Some(None) => Err(format!("the secret {name:?} of the test is no text")),
            None => Err(format!("there is no secret {name:?}: add it to secrets")),
        }
    }

    fn values(&self) -> Vec<String> {
        self.0.values().filter_map(|value| value.as_str().map(str::to_owned)).collect()
    }

    fn seal(&self, text: &str, _: &str, _: [u8; 12]) -> Result<String, String> {
        Ok(text.bytes().map(|byte| format!("{byte:02x}")).collect())
    }

    fn open(&self, sealed: &str, _: &str) -> Option<String> {
        let digits = sealed.as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        String::from_utf8(digits.map(byte).collect::<Option<Vec<_>>>()?).ok()
    }
}
