//! Header fields and variables of the command line: their values go into no file.

use std::collections::BTreeMap;

use crate::output::Failure;

/// Header fields, or variables of an environment.
pub(super) type Pairs = BTreeMap<String, String>;

/// Pairs of the command line.
#[derive(Debug)]
pub(super) struct TakenPairs {
    /// With their values.
    pub(super) values: Pairs,
    /// As they are to be written.
    pub(super) written: Pairs,
    /// The variables that were made for values.
    pub(super) variables: BTreeMap<String, SecretVariable>,
}

/// A variable that was made for a value.
#[derive(Debug)]
pub(super) struct SecretVariable {
    /// What it is.
    pub(super) about: String,
    pub(super) value: String,
}

/// Pairs of the command line, with their values and as they are to be written: where a value is no `${VAR}` itself, a
/// variable is made for it, whose name begins with `stem`.
pub(super) fn taken(pairs: &[String], flag: &str, stem: &str) -> Result<TakenPairs, Failure> {
    let (mut values, mut written, mut variables) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for pair in pairs {
        let wrong = || Failure::usage(format!("{flag} takes NAME=VALUE"));
        let (name, value) = pair.split_once('=').ok_or_else(wrong)?;
        let name = name.trim();
        if name.is_empty() {
            return Err(wrong());
        }
        if value.contains("${") {
            values.insert(name.to_owned(), filled(value, flag)?);
            written.insert(name.to_owned(), value.to_owned());
            continue;
        }
        // The scheme is no secret, and tells what the variable is.
        let (scheme, _) = value.split_once(' ').filter(|(scheme, _)| *scheme == "Bearer").unwrap_or_default();
        let is_variable = flag == "--env";
        let variable = if is_variable { name.to_owned() } else { upper(&format!("{stem} {name}")) };
        let about = match (is_variable, scheme) {
            (true, _) => "the program wants it".to_owned(),
            (false, "") => format!("the value of the header field {name}"),
            (false, _) => format!("the token in the header field {name}"),
        };
        let space = if scheme.is_empty() { "" } else { " " };
        written.insert(name.to_owned(), format!("{scheme}{space}${{{variable}}}"));
        let secret = value.strip_prefix(scheme).unwrap_or(value).trim_start().to_owned();
        variables.insert(variable, SecretVariable { about, value: secret });
        values.insert(name.to_owned(), value.to_owned());
    }
    Ok(TakenPairs { values, written, variables })
}

/// A value with `${VAR}` from the environment.
fn filled(value: &str, flag: &str) -> Result<String, Failure> {
    let mut filled = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let wrong = || Failure::usage(format!("{flag}: a `${{` without its `}}`"));
        let (name, more) = after.split_once('}').ok_or_else(wrong)?;
        let unset = |_| Failure::yours(format!("{flag}: the variable {name} is not set"));
        filled.push_str(before);
        filled.push_str(&std::env::var(name).map_err(unset)?);
        rest = more;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// A name as one of a variable.
fn upper(text: &str) -> String {
    let plain: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    plain.trim_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pair: &str, flag: &str) -> (String, String, Vec<String>) {
        let TakenPairs { values, written, variables } = taken(&[pair.to_owned()], flag, "my-far").unwrap();
        let first = |map: BTreeMap<String, String>| map.into_values().next().unwrap();
        (first(values), first(written), variables.into_keys().collect())
    }

    #[test]
    fn values_are_asked_with_and_never_written() {
        let (value, written, variables) = pairs("Authorization=Bearer abc=", "--header");
        assert_eq!((value.as_str(), written.as_str()), ("Bearer abc=", "Bearer ${MY_FAR_AUTHORIZATION}"));
        assert_eq!(variables, ["MY_FAR_AUTHORIZATION"]);
        let (value, written, variables) = pairs("X-Key=k y", "--header");
        assert_eq!((value.as_str(), written.as_str()), ("k y", "${MY_FAR_X_KEY}"));
        assert_eq!(variables, ["MY_FAR_X_KEY"]);
        assert_eq!(pairs("TOKEN=x", "--env").1, "${TOKEN}");
    }

    #[test]
    fn a_variable_is_kept_as_it_is_written() {
        let path = std::env::var("PATH").unwrap();
        let (value, written, variables) = pairs("X=a ${PATH}!", "--header");
        assert_eq!((value, written.as_str(), variables.len()), (format!("a {path}!"), "a ${PATH}!", 0));
        for wrong in ["X", "=x", "X=${A", "X=${NOT_SET_ANYWHERE}"] {
            assert!(taken(&[wrong.to_owned()], "--header", "a").is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_variable_is_the_value_without_its_scheme() {
        let TakenPairs { variables, .. } = taken(&["Authorization=Bearer abc=".to_owned()], "--header", "far").unwrap();
        assert_eq!(variables["FAR_AUTHORIZATION"].value, "abc=");
    }
}
