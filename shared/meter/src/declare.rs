//! The macro by which metrics are declared.

/// Declares the metrics of a subject. Labels are written as `name: [value, …]`, or `name: "of what
/// there is one for each"` where the values are open. The three texts are the meaning, what is
/// normal, and what to do otherwise.
macro_rules! meters {
    (group $group:ident; $($kind:ident $ident:ident = $name:literal in $unit:ident
        { $($label:ident: $values:tt),* } $meaning:literal, $normal:literal, $otherwise:literal;)*) => {
        $(
            #[doc = $meaning]
            pub static $ident: crate::instrument::$kind =
                crate::instrument::$kind::new(crate::declared::Declared {
                    name: $name,
                    kind: crate::instrument::$kind::KIND,
                    unit: crate::declared::Unit::$unit,
                    labels: &[$(crate::declared::Label {
                        name: stringify!($label),
                        values: crate::declare::values!($values),
                    }),*],
                    meaning: $meaning,
                    normal: $normal,
                    otherwise: $otherwise,
                });
        )*

        pub(super) static $group: &[&dyn crate::instrument::Meter] = &[$(&$ident),*];
    };
}

macro_rules! values {
    ([$($value:literal),* $(,)?]) => { crate::declared::Values::Closed(&[$($value),*]) };
    ($what:literal) => { crate::declared::Values::Open($what) };
}

pub(crate) use {meters, values};
