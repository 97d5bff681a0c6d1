//! A server that says no: why, and what helps.

use std::fmt;
use std::io::{self, ErrorKind};

use ureq::Body;
use ureq::http::Response;

use super::listing::text_of;

/// What a server answered instead of what it was asked for.
#[derive(Debug, Default)]
pub(super) struct Refusal {
    pub(super) status: u16,
    /// What the server calls the reason; empty where an answer has no body.
    pub(super) code: String,
    message: String,
    /// Where the bucket is, if that is not where it was looked for.
    region: Option<String>,
    /// Whether the request was signed.
    is_signed: bool,
}

impl Refusal {
    pub(super) fn read(mut response: Response<Body>, region: &str, is_signed: bool) -> Refusal {
        let elsewhere = response.headers().get("x-amz-bucket-region").and_then(|value| value.to_str().ok());
        let elsewhere = elsewhere.filter(|elsewhere| *elsewhere != region).map(str::to_owned);
        let body = response.body_mut().read_to_string().unwrap_or_default();
        Refusal {
            status: response.status().as_u16(),
            code: text_of(&body, "Code").unwrap_or_default(),
            message: text_of(&body, "Message").unwrap_or_default(),
            region: elsewhere,
            is_signed,
        }
    }

    /// The refusal that an error is about.
    pub(super) fn of(error: &io::Error) -> Option<&Refusal> {
        error.get_ref()?.downcast_ref()
    }

    /// Whether the keys are right, and only do not allow this.
    pub(super) fn is_of_rights(&self) -> bool {
        self.is_signed
            && matches!(self.status, 401 | 403)
            && matches!(self.code.as_str(), "AccessDenied" | "AllAccessDisabled")
    }

    /// Whether the same request may be answered soon.
    pub(super) fn is_passing(&self) -> bool {
        let is_late = self.status == 400 && self.code == "RequestTimeout";
        is_late || matches!(self.status, 408 | 429 | 500 | 502 | 503 | 504)
    }

    /// What the server says.
    pub(super) fn why(&self) -> String {
        let Refusal { status, code, message, .. } = self;
        let told = if code.is_empty() { String::new() } else { format!(" {code}: {message}") };
        format!("the server says {status}{told}")
    }

    /// What helps, if that is clear.
    pub(super) fn remedy(&self) -> Option<String> {
        if let Some(region) = &self.region {
            return Some(format!("the bucket is in AWS_REGION={region}"));
        }
        let remedy = match self.code.as_str() {
            "RequestTimeTooSkewed" => "set the clock of this machine: it differs too much from the server's",
            "ExpiredToken" | "TokenRefreshRequired" => {
                "AWS_SESSION_TOKEN has expired: get new keys, and set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN"
            }
            "InvalidToken" => "check AWS_SESSION_TOKEN: set the one that belongs to AWS_ACCESS_KEY_ID, or none",
            "InvalidAccessKeyId" => {
                "check AWS_ACCESS_KEY_ID; keys for a limited time need their AWS_SESSION_TOKEN, too"
            }
            "SignatureDoesNotMatch" => "check AWS_SECRET_ACCESS_KEY",
            "NoSuchBucket" => "check the name of the bucket, AWS_REGION and AWS_ENDPOINT_URL",
            "AuthorizationHeaderMalformed" | "PermanentRedirect" => "set AWS_REGION to where the bucket is",
            "AccessDenied" if !self.is_signed => "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            _ => return None,
        };
        Some(remedy.to_owned())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.why())?;
        self.remedy().map_or(Ok(()), |remedy| write!(out, "; {remedy}"))
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> io::Error {
        let kind = match refusal.status {
            404 if refusal.code != "NoSuchBucket" => ErrorKind::NotFound,
            401 | 403 => ErrorKind::PermissionDenied,
            _ => ErrorKind::Other,
        };
        io::Error::new(kind, refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(status: u16, code: &str) -> Refusal {
        Refusal { status, code: code.to_owned(), message: "Told.".to_owned(), is_signed: true, region: None }
    }

    #[test]
    fn what_passes_is_told_from_what_stays() {
        for (status, code) in [(408, ""), (429, ""), (500, "InternalError"), (503, "SlowDown"), (400, "RequestTimeout")]
        {
            assert!(refusal(status, code).is_passing(), "{status} {code}");
        }
        for (status, code) in [(400, ""), (400, "ExpiredToken"), (403, "AccessDenied"), (404, "NoSuchKey"), (301, "")] {
            assert!(!refusal(status, code).is_passing(), "{status} {code}");
        }
    }

    #[test]
    fn the_remedy_fits_the_reason() {
        let text = |code: &str| refusal(403, code).to_string();
        assert_eq!(text("Strange"), "the server says 403 Strange: Told.");
        assert!(
            text("RequestTimeTooSkewed")
                .ends_with("set the clock of this machine: it differs too much from the server's")
        );
        assert!(text("ExpiredToken").contains("AWS_SESSION_TOKEN has expired"));
        assert!(text("InvalidAccessKeyId").contains("AWS_ACCESS_KEY_ID"));
        assert!(text("SignatureDoesNotMatch").contains("AWS_SECRET_ACCESS_KEY"));
        let elsewhere = Refusal { region: Some("eu-west-1".to_owned()), ..refusal(301, "PermanentRedirect") };
        assert!(elsewhere.to_string().ends_with("; the bucket is in AWS_REGION=eu-west-1"));
    }

    #[test]
    fn an_error_remembers_its_refusal() {
        let kind = |status, code| io::Error::from(refusal(status, code)).kind();
        assert_eq!(kind(404, "NoSuchKey"), ErrorKind::NotFound);
        assert_eq!(kind(404, "NoSuchBucket"), ErrorKind::Other, "not one file is missing, but all of them");
        assert_eq!(Refusal::of(&io::Error::from(refusal(403, "AccessDenied"))).unwrap().code, "AccessDenied");
        assert!(Refusal::of(&io::Error::other("AccessDenied")).is_none());
        assert!(refusal(403, "AccessDenied").is_of_rights());
        assert!(!refusal(403, "ExpiredToken").is_of_rights());
        assert!(!Refusal { is_signed: false, ..refusal(403, "AccessDenied") }.is_of_rights());
    }
}
