//! The values of a row, as statements bind them.

/// One value. The `Kind` of a column fixes the variant; `Kind::Small` is a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cell {
    Text(Option<String>),
    Number(Option<i64>),
    Flag(bool),
    Bytes(Option<Vec<u8>>),
}

/// One row of cells: those of the entity in the order of its columns, then those that a statement
/// adds.
pub(crate) type Row = Vec<Cell>;

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(Some(text.into()))
    }

    pub(crate) fn number(number: impl Into<i64>) -> Self {
        Self::Number(Some(number.into()))
    }

    /// The approximate number of bytes that it takes in a statement.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.as_ref().map_or(0, String::len),
            Self::Bytes(bytes) => bytes.as_ref().map_or(0, Vec::len),
            Self::Number(_) | Self::Flag(_) => 8,
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { text.as_deref() } else { None }
    }

    pub(crate) fn as_number(&self) -> Option<i64> {
        if let Self::Number(number) = self { *number } else { None }
    }

    pub(crate) fn as_bytes(&self) -> Option<&[u8]> {
        if let Self::Bytes(bytes) = self { bytes.as_deref() } else { None }
    }

    pub(crate) fn as_flag(&self) -> bool {
        matches!(self, Self::Flag(true))
    }
}
