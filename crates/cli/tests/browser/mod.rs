//! A real browser, driven through chromedriver as the WebDriver standard has it: just enough to look at a page.

#![allow(dead_code, reason = "each test file uses its own part of this")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// What a browser in a test must not do: show itself, share memory it has not got, or talk to the world.
const FLAGS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
];

/// Keys as WebDriver writes them.
pub const TAB: &str = "\u{e004}";
pub const ENTER: &str = "\u{e007}";
pub const RIGHT: &str = "\u{e014}";

/// A browser with one window; ended when dropped.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    /// Kept open, so that the driver can go on printing.
    _output: BufReader<ChildStdout>,
    _profile: TempDir,
}

impl Browser {
    pub fn start() -> Browser {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| {
                panic!(
                    "these tests need chromium and chromedriver ({error}): scripts/test installs them, \
                     or `apt-get install chromium chromium-driver`"
                )
            });
        let mut output = BufReader::new(driver.stdout.take().unwrap());
        let port = port(&mut output);
        let profile = tempfile::tempdir().unwrap();
        let mut arguments: Vec<String> = FLAGS.iter().map(|flag| (*flag).to_owned()).collect();
        arguments.push(format!("--user-data-dir={}", profile.path().display()));
        let wanted = json!({ "goog:chromeOptions": { "args": arguments }, "goog:loggingPrefs": { "browser": "ALL" } });
        let mut browser = Browser { driver, port, session: String::new(), _output: output, _profile: profile };
        let made = browser.request("POST", "/session", &json!({ "capabilities": { "alwaysMatch": wanted } }));
        let session = made["sessionId"].as_str();
        let session = session.unwrap_or_else(|| panic!("chromium does not start; is it installed? {made}"));
        browser.session = format!("/session/{session}");
        browser
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&self, path: &Path) {
        self.post("/url", json!({ "url": format!("file://{}", path.display()) }));
    }

    /// What a script returns.
    pub fn js(&self, script: &str) -> Value {
        self.post("/execute/sync", json!({ "script": script, "args": [] }))
    }

    /// The text of the first element that a selector finds.
    pub fn text(&self, selector: &str) -> String {
        let text = self.js(&format!("return document.querySelector({}).innerText", json!(selector)));
        text.as_str().unwrap().to_owned()
    }

    /// Clicks on the first element that a selector finds, as a person would.
    pub fn click(&self, selector: &str) {
        let found = self.post("/element", json!({ "using": "css selector", "value": selector }));
        let element = found.as_object().unwrap().values().next().unwrap().as_str().unwrap();
        let said = self.post(&format!("/element/{element}/click"), json!({}));
        assert!(said.is_null(), "{selector}: {said}");
    }

    /// Presses keys, one after the other.
    pub fn press(&self, keys: &[&str]) {
        let strokes = keys
            .iter()
            .flat_map(|key| [json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key })]);
        let strokes: Vec<Value> = strokes.collect();
        self.post("/actions", json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": strokes }] }));
    }

    /// Whether pages see a preference for dark.
    pub fn prefer_dark(&self, is_dark: bool) {
        let feature = json!({ "name": "prefers-color-scheme", "value": if is_dark { "dark" } else { "light" } });
        let params = json!({ "features": [feature] });
        self.post("/goog/cdp/execute", json!({ "cmd": "Emulation.setEmulatedMedia", "params": params }));
    }

    /// What the page has complained of since the last time.
    pub fn complaints(&self) -> Vec<String> {
        let said = self.post("/se/log", json!({ "type": "browser" }));
        said.as_array().unwrap().iter().map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    fn post(&self, path: &str, body: Value) -> Value {
        let answer = self.request("POST", &format!("{}{path}", self.session), &body);
        assert!(answer["error"].is_null(), "{path}: {answer}");
        answer
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let body = body.to_string();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut answer = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            answer.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut content = vec![0; length];
        answer.read_exact(&mut content).unwrap();
        serde_json::from_slice::<Value>(&content).unwrap()["value"].take()
    }
}

/// Where the driver says that it listens; before that, it says that it will listen somewhere.
fn port(output: &mut impl BufRead) -> u16 {
    let lines = output.lines().map_while(Result::ok);
    let mut ports = lines.filter_map(|line| line.split("on port ").nth(1)?.trim_end_matches('.').parse().ok());
    ports.find(|port| *port > 0).expect("chromedriver says where it listens")
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            // The driver ends its browser with the session.
            self.request("DELETE", &self.session.clone(), &json!({}));
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
