//! Where a bucket is, and who asks: from the URL that a person gives, and from the environment.

use super::super::StorageError;
use super::signing::Credentials;

/// How requests find a bucket.
#[derive(Debug)]
pub(super) struct Address {
    pub(super) bucket: String,
    /// What names begin with: empty, or ending with `/`.
    pub(super) prefix: String,
    /// `https://host`, without a path.
    pub(super) endpoint: String,
    /// What comes before a name in a path: `/`, or with the bucket.
    pub(super) base: String,
    pub(super) region: String,
    pub(super) credentials: Option<Credentials>,
}

impl Address {
    pub(super) fn new(url: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Address, StorageError> {
        let bad = |why: &str| StorageError::BadUrl { url: url.to_owned(), why: why.to_owned() };
        let unfit = |why: String, remedy: &str| StorageError::BadEnvironment {
            url: url.to_owned(),
            why,
            remedy: remedy.to_owned(),
        };
        // What a file gives by `$(cat …)` or a table of secrets may end with white space: no key does, and no header may.
        let variable = |name: &str| {
            let value = variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
            match value {
                Some(value) if !value.bytes().all(|byte| byte.is_ascii_graphic()) => Err(unfit(
                    format!("{name} has a letter in it that cannot be sent"),
                    &format!("set {name} again, without spaces, quotation marks and line ends"),
                )),
                value => Ok(value),
            }
        };
        let either = |first: &'static str, second: &'static str| {
            let found = variable(first)?.map(|value| (first, value));
            Ok::<_, StorageError>(match found {
                None => variable(second)?.map(|value| (second, value)),
                found => found,
            })
        };
        let rest = url.strip_prefix("s3://").ok_or_else(|| bad("it does not begin with s3://"))?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
        if bucket.is_empty() {
            return Err(bad("it names no bucket"));
        }
        if !bucket.chars().all(is_plain) {
            return Err(bad(&format!("no bucket is named `{bucket}`")));
        }
        let prefix = prefix.trim_matches('/');
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let region = either("AWS_REGION", "AWS_DEFAULT_REGION")?;
        let region = region.map_or_else(|| "us-east-1".to_owned(), |(_, region)| region);
        let (endpoint, base) = match either("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")? {
            // Elsewhere, a bucket seldom has a host name of its own.
            Some((name, endpoint)) => {
                let (endpoint, path) = split(&endpoint).ok_or_else(|| {
                    let why = format!("{name} is no URL of a server: `{endpoint}`");
                    unfit(
                        why,
                        &format!("write {name}=https://HOST or {name}=http://HOST:PORT, or unset it for Amazon's"),
                    )
                })?;
                (endpoint, format!("{path}/{bucket}/"))
            }
            // No certificate covers a name with more dots.
            None if bucket.contains('.') => (format!("https://s3.{region}.amazonaws.com"), format!("/{bucket}/")),
            None => (format!("https://{bucket}.s3.{region}.amazonaws.com"), "/".to_owned()),
        };
        let credentials = match (variable("AWS_ACCESS_KEY_ID")?, variable("AWS_SECRET_ACCESS_KEY")?) {
            (Some(id), Some(secret)) => Some(Credentials { id, secret, token: variable("AWS_SESSION_TOKEN")? }),
            // What everybody may read needs no signature.
            (None, None) => None,
            (id, _) => {
                let (set, missing) = match id {
                    Some(_) => ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
                    None => ("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"),
                };
                let remedy = format!("set {missing} as well, or unset {set} to read what everybody may read");
                return Err(unfit(format!("{set} is set, and {missing} is not"), &remedy));
            }
        };
        Ok(Address { bucket: bucket.to_owned(), prefix, endpoint, base, region, credentials })
    }

    /// The host, as requests name it.
    pub(super) fn host(&self) -> &str {
        self.endpoint.split_once("://").map_or("", |(_, host)| host)
    }

    /// The key of what a workflow knows by a name.
    pub(super) fn key(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

/// Scheme and host of a server, without a port that goes without saying, and the path on it.
fn split(endpoint: &str) -> Option<(String, String)> {
    let (scheme, rest) = endpoint.trim_end_matches('/').split_once("://")?;
    let usual = match scheme {
        "https" => ":443",
        "http" => ":80",
        _ => return None,
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.strip_suffix(usual).unwrap_or(host);
    if host.is_empty() || host.starts_with(':') || rest.contains(['?', '#', '@']) {
        return None;
    }
    let path = if path.is_empty() { String::new() } else { format!("/{path}") };
    Some((format!("{scheme}://{host}"), path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(url: &str, variables: &[(&str, &str)]) -> Result<Address, StorageError> {
        Address::new(url, |name: &str| Some(variables.iter().find(|(known, _)| *known == name)?.1.to_owned()))
    }

    #[test]
    fn addresses_follow_the_environment() {
        let at = |url: &str, variables: &[(&str, &str)]| {
            let made = made(url, variables).unwrap();
            format!("{}{}{}", made.endpoint, made.base, made.key("x"))
        };
        assert_eq!(at("s3://b/p/q/", &[]), "https://b.s3.us-east-1.amazonaws.com/p/q/x");
        assert_eq!(at("s3://b.c", &[("AWS_REGION", "eu-west-1\n")]), "https://s3.eu-west-1.amazonaws.com/b.c/x");
        assert_eq!(at("s3://b", &[("AWS_ENDPOINT_URL", " http://127.0.0.1:9000/\n")]), "http://127.0.0.1:9000/b/x");
        assert_eq!(at("s3://b", &[("AWS_ENDPOINT_URL", "https://host:443/s3")]), "https://host/s3/b/x");
        let both = [("AWS_ENDPOINT_URL", "http://general"), ("AWS_ENDPOINT_URL_S3", "http://s3")];
        assert_eq!(at("s3://b", &both), "http://s3/b/x");
        assert_eq!(at("s3://b", &[("AWS_ENDPOINT_URL", "http://a"), ("AWS_ENDPOINT_URL_S3", "\n")]), "http://a/b/x");
    }

    #[test]
    fn white_space_around_keys_does_not_matter() {
        let variables =
            [("AWS_ACCESS_KEY_ID", "id\n"), ("AWS_SECRET_ACCESS_KEY", " secret "), ("AWS_SESSION_TOKEN", "token\r\n")];
        let credentials = made("s3://b", &variables).unwrap().credentials.unwrap();
        assert_eq!((credentials.id.as_str(), credentials.secret.as_str()), ("id", "secret"));
        assert_eq!(credentials.token.as_deref(), Some("token"));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_remedy() {
        for url in ["s3://", "s3:///p", "s3://a b/c"] {
            assert!(matches!(made(url, &[]), Err(StorageError::BadUrl { .. })), "{url}");
        }
        for (variables, wrong, wanted) in [
            (&[("AWS_ACCESS_KEY_ID", "only")][..], "AWS_SECRET_ACCESS_KEY is not", "set AWS_SECRET_ACCESS_KEY as well"),
            (&[("AWS_SECRET_ACCESS_KEY", "only")], "AWS_ACCESS_KEY_ID is not", "set AWS_ACCESS_KEY_ID as well"),
            (&[("AWS_ENDPOINT_URL", "host")], "AWS_ENDPOINT_URL is no URL", "write AWS_ENDPOINT_URL=https://HOST"),
            (&[("AWS_ENDPOINT_URL_S3", "ftp://host")], "AWS_ENDPOINT_URL_S3 is no URL", "AWS_ENDPOINT_URL_S3=https"),
            (&[("AWS_ENDPOINT_URL", "http://:9000")], "AWS_ENDPOINT_URL is no URL", "AWS_ENDPOINT_URL="),
            (&[("AWS_REGION", "eu west")], "AWS_REGION has a letter", "set AWS_REGION again"),
        ] {
            match made("s3://b", variables) {
                Err(StorageError::BadEnvironment { why, remedy, .. }) => {
                    assert!(why.contains(wrong) && remedy.contains(wanted), "{why}: {remedy}");
                }
                other => panic!("{variables:?}: {other:?}"),
            }
        }
    }
}
