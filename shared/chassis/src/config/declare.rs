//! One line declares a setting. The flag, the variable, the key of the file, the line of the help,
//! the default, the typed value, its masking and its line in `staunch config` are generated from
//! it.

/// Declares settings: `field: Type = default, "PLACEHOLDER" from "least" to "most" like form;`, after
/// the text of the help.
///
/// The default is what a user would write; an empty text means none. The type determines how the
/// text is read, and whether it is shown. `from` and `to` bound a number or a time. `like` says what a
/// text is that another check reads. Anything after a comma then is passed to clap unchanged.
macro_rules! settings {
    ($(
        $(#[$doc:meta])*
        $field:ident: $type:ty = $default:expr, $placeholder:literal
            $(from $least:literal)? $(to $most:literal)? $(like $form:expr)?
            $(, $clap:ident = $clap_value:expr)*;
    )+) => {
        // The flags of every role; to be flattened into a command's arguments. A setting without a
        // flag stays `None` and is read from the other sources.
        #[expect(missing_docs, reason = "clap would show them as what the whole command is about")]
        #[derive(clap::Args, Clone, Debug, Default)]
        #[command(next_help_heading = "Settings")]
        pub struct Args {
            /// Configuration file; `staunch.toml` if it exists
            #[arg(long, global = true, value_name = "FILE")]
            pub config: Option<std::path::PathBuf>,
            $(
                $(#[$doc])*
                #[arg(long, global = true, value_name = $placeholder $(, $clap = $clap_value)*)]
                pub $field: Option<String>,
            )+
            /// The command runs no server: the API key is that of a caller, and any may be given.
            #[arg(skip)]
            pub is_caller: bool,
            /// The defaults of this command that differ from the usual ones.
            #[arg(skip)]
            pub defaults: Vec<(&'static str, String)>,
        }

        impl Args {
            /// The flags that are given, by the names of their settings, with their texts as they are.
            /// There may be secrets among them: nothing may show them.
            #[must_use]
            pub fn given(&self) -> Vec<(&'static str, &str)> {
                let all = [$((name_of!($field), self.$field.as_deref())),+];
                all.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
            }
        }

        /// The settings in force.
        #[derive(Clone)]
        pub struct Settings {
            $($(#[$doc])* pub $field: $type,)+
            all: Vec<Setting>,
            unknown: Vec<UnknownVariable>,
        }

        /// Every setting, under its name in flags and files.
        pub(super) const NAMES: &[&str] = &[$(name_of!($field)),+];

        impl Settings {
            /// Reads every setting from the first source that contains it.
            ///
            /// # Errors
            /// [`ConfigError::Value`] when a text cannot be read.
            pub(super) fn read(args: &Args, mut from: Sources<'_>) -> Result<Self, ConfigError> {
                Ok(Self {
                    $($field: from.take(
                        name_of!($field),
                        args.$field.as_deref(),
                        &$default.to_string(),
                        Bounds::NONE$(.at_least($least))?$(.at_most($most))?,
                    )?,)+
                    all: from.into_settings(),
                    unknown: Vec::new(),
                })
            }

            /// The same with these variables.
            pub(super) fn with_unknown(self, unknown: Vec<UnknownVariable>) -> Self {
                Self { unknown, ..self }
            }

            /// Variables of the environment that look like settings and are none.
            #[must_use]
            pub fn unknown_variables(&self) -> &[UnknownVariable] {
                &self.unknown
            }

            /// The file that the value of a setting came from, if `STAUNCH_<NAME>_FILE` names one.
            #[must_use]
            pub fn file_of(&self, name: &str) -> Option<&std::path::Path> {
                self.all.iter().find(|one| one.name == name)?.file.as_deref()
            }

            /// What each setting takes, in the order of the code.
            #[must_use]
            pub fn described() -> Vec<Described> {
                let mut all = Vec::new();
                $(
                    if <$type as Parse>::IS_SETTING {
                        let bounds = Bounds::NONE$(.at_least($least))?$(.at_most($most))?;
                        let form = <$type as Parse>::form()$(.like($form))?.within(bounds);
                        let (name, default) = (name_of!($field), $default.to_string());
                        all.push(Described { name, default, form });
                    }
                )+
                all
            }

            /// Every setting in force with its origin; secrets and passwords are masked.
            #[must_use]
            pub fn all(&self) -> &[Setting] {
                &self.all
            }
        }
    };
}

/// The name of a field in flags and files: `nats-url` for `nats_url`.
macro_rules! name_of {
    ($field:ident) => {{
        const FIELD: &str = stringify!($field);
        const NAME: &[u8] = &crate::config::declare::dashed::<{ FIELD.len() }>(FIELD);
        match std::str::from_utf8(NAME) {
            Ok(name) => name,
            Err(_) => FIELD,
        }
    }};
}

pub(super) use {name_of, settings};

/// The bytes of a name, with a dash for each underscore.
pub(super) const fn dashed<const N: usize>(field: &str) -> [u8; N] {
    let mut name = [0; N];
    let mut at = 0;
    while at < N {
        let byte = field.as_bytes()[at];
        name[at] = if byte == b'_' { b'-' } else { byte };
        at += 1;
    }
    name
}
