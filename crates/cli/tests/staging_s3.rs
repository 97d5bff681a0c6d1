//! Inputs are brought from a real server that speaks the protocol of S3.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod sandbox;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use sandbox::*;

/// A server of its own on this machine, with a bucket named `bucket`.
struct Server {
    process: Child,
    port: u16,
    log: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Server {
        let program = std::env::var("THRONG_MOTO_SERVER").unwrap_or_else(|_| "moto_server".to_owned());
        let mut process = Command::new(&program)
            .args(["-H", "127.0.0.1", "-p", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("this test needs {program} ({error}): scripts/test installs it, or `pip install 'moto[s3]==5.2.1' flask==3.1.3 flask-cors==6.0.2`")
            });
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
        let port = lines.find_map(|line| line.split_once("http://127.0.0.1:")?.1.trim().parse().ok());
        let port = port.expect("it says where it listens");
        let log = Arc::new(Mutex::new(Vec::new()));
        let into = log.clone();
        std::thread::spawn(move || lines.for_each(|line| into.lock().unwrap().push(line)));
        let server = Server { process, port, log };
        server.put("", b"");
        server
    }

    fn put(&self, key: &str, body: &[u8]) {
        self.send("PUT", &format!("bucket/{key}"), "s3", body);
    }

    fn send(&self, method: &str, path: &str, service: &str, body: &[u8]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        // This server believes whoever says who he is, as long as it is not told to look closer.
        let by = format!("Credential=key/20200101/us-east-1/{service}/aws4_request, SignedHeaders=host, Signature=0");
        let form = if service == "iam" { "Content-Type: application/x-www-form-urlencoded\r\n" } else { "" };
        let head = format!(
            "{method} /{path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: AWS4-HMAC-SHA256 {by}\r\n\
             {form}Content-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answer
    }

    /// From now on, signatures are checked: by these keys, which may read.
    fn check_signatures(&self) -> (String, String) {
        let ask = |action: &str| {
            self.send("POST", "", "iam", format!("Version=2010-05-08&UserName=reader&Action={action}").as_bytes())
        };
        ask("CreateUser");
        let policy = "%7B%22Version%22:%222012-10-17%22,%22Statement%22:%5B%7B%22Effect%22:%22Allow%22,\
                      %22Action%22:%22s3:*%22,%22Resource%22:%22*%22%7D%5D%7D";
        ask(&format!("PutUserPolicy&PolicyName=read&PolicyDocument={policy}"));
        let made = ask("CreateAccessKey");
        let text = |name: &str| {
            let (_, rest) = made.split_once(&format!("<{name}>")).unwrap();
            rest.split_once('<').unwrap().0.to_owned()
        };
        self.send("POST", "moto-api/reset-auth", "s3", b"0");
        (text("AccessKeyId"), text("SecretAccessKey"))
    }

    /// How many objects have been read since the last call.
    fn reads(&self) -> usize {
        let lines = std::mem::take(&mut *self.log.lock().unwrap());
        lines.iter().filter(|line| line.contains("\"GET /bucket/project/")).count()
    }

    fn run(&self, sandbox: &Sandbox, storage: &str, rest: &[&str]) -> Output {
        let mut all = vec!["run", "flow.yaml", "--json", "--storage", storage, "--memory-tier", "40kB"];
        all.extend(rest);
        self.throng(sandbox, &all)
    }

    fn throng(&self, sandbox: &Sandbox, arguments: &[&str]) -> Output {
        self.throng_with(sandbox, arguments, &[])
    }

    fn throng_with(&self, sandbox: &Sandbox, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = sandbox.command(arguments);
        for name in
            ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "AWS_SESSION_TOKEN"]
        {
            command.env_remove(name);
        }
        command.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", self.port)).env_remove("AWS_ENDPOINT_URL_S3");
        command.env("AWS_ACCESS_KEY_ID", "key").env("AWS_SECRET_ACCESS_KEY", "secret").env("AWS_REGION", "us-east-1");
        command.envs(variables.iter().copied());
        finish(command.spawn().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// More files in a directory than are looked at one by one, one with a name that has to be written differently in an address, and an empty one.
const FLOW: &str = r#"
tasks:
  pair:
    foreach: { a: 1..20, b: 1..4 }
    run: "cat data/{a} data/{b} | cksum > pairs/{a}-{b}"
    in: ["data/{a}", "data/{b}"]
    out: ["pairs/{a}-{b}"]
  odd: { run: "cat 'odd/a b&ü+%' odd/empty > odd.out", in: ["odd/a b&ü+%", odd/empty], out: [odd.out] }
  found: { foreach: { f: "odd/*" }, run: "cat {in} > {out}", in: "{f}", out: "found/{f.name}" }
"#;

#[test]
fn inputs_come_from_a_bucket() {
    let server = Server::start();
    for number in 1..=20u8 {
        server.put(&format!("project/data/{number}"), &vec![number; 10_000]);
    }
    server.put("project/odd/a%20b%26%C3%BC%2B%25", b"odd\n");
    server.put("project/odd/empty", b"");
    server.put("elsewhere/odd/other", b"");
    for name in ["deep/1", "deep/a/2", "deep/a/b/3"] {
        server.put(&format!("project/{name}"), b"deep\n");
    }

    let sandbox = Sandbox::with_flow(FLOW);
    let output = server.run(&sandbox, "s3://bucket/project", &[]).expect_code(0);
    assert_eq!(output.number("done"), 80 + 1 + 2, "{output:?}");
    let tier = &output.json()["data"];
    let misses = tier["misses"].as_u64().unwrap();
    assert!(misses >= 22 && tier["brought_bytes"].as_u64().unwrap() >= 200_004, "{tier}");
    wait_until("the server's log", || server.log.lock().unwrap().len() as u64 >= misses);
    assert_eq!(server.reads() as u64, misses, "each is read once for each time that it is brought");
    assert_eq!(sandbox.read("odd.out"), "odd\n");
    assert_eq!(sandbox.read("found/a b&ü+%"), "odd\n");
    let expected =
        Command::new("sh").args(["-c", "head -c 20000 /dev/zero | tr '\\0' '\\3' | cksum"]).output().unwrap();
    assert_eq!(sandbox.read("pairs/3-3").as_bytes(), expected.stdout);
    for left in ["data", "odd", ".throng/tier"] {
        assert!(!sandbox.exists(left), "{left} is left");
    }

    let again = server.run(&sandbox, "s3://bucket/project/", &[]).expect_code(0);
    assert_eq!((again.number("up_to_date"), server.reads()), (83, 0));
    server.put("project/data/20", &[0; 10_000]);
    let dry = server.run(&sandbox, "s3://bucket/project", &["--dry-run"]).expect_code(0);
    assert_eq!(dry.number("would_run"), 4, "as large as before, and something else: {dry:?}");
    let checked = server.throng(&sandbox, &["check", "flow.yaml", "--storage", "s3://bucket/project", "--strict"]);
    assert!(!checked.stdout.contains("not there"), "{checked:?}");

    // A pattern finds the same there as it does in a directory: files.
    for (pattern, count) in [("deep/*", 1), ("deep/**", 3), ("deep/**/*", 3), ("deep/*/*", 1), ("**/b/3", 1)] {
        let flow = format!("tasks: {{ look: {{ foreach: {{ f: '{pattern}' }}, run: 'cat {{in}}', in: '{{f}}' }} }}");
        let (sandbox, plain) = (Sandbox::with_flow(&flow), Sandbox::new());
        for name in ["deep/1", "deep/a/2", "deep/a/b/3"] {
            plain.write(name, "deep\n");
        }
        for storage in ["s3://bucket/project", plain.path().to_str().unwrap()] {
            let found = server.throng(&sandbox, &["check", "flow.yaml", "--storage", storage, "--json"]).expect_code(0);
            assert_eq!(found.number("tasks"), count, "{pattern} in {storage}");
        }
    }

    let missing = server.run(&sandbox, "s3://bucket/elsewhere", &[]).expect_code(2);
    assert!(missing.stderr.contains("is not there, nor at s3://bucket/elsewhere/data/"), "{missing:?}");
    let no_bucket = server.run(&sandbox, "s3://nobody", &[]).expect_code(2);
    assert!(no_bucket.stderr.contains("cannot look into the storage s3://nobody"), "{no_bucket:?}");
    assert!(no_bucket.stderr.contains("NoSuchBucket") && no_bucket.stderr.contains("AWS_REGION"), "{no_bucket:?}");
    let bad = server.run(&sandbox, "s3://", &[]).expect_code(2);
    assert!(bad.stderr.contains("write s3://BUCKET/PREFIX"), "{bad:?}");
}

#[test]
fn keys_are_checked_and_what_is_wrong_is_named() {
    let server = Server::start();
    server.put("data/1", b"one\n");
    server.put("data/2", b"two\n");
    let (id, secret) = server.check_signatures();
    // This server checks what it has decoded: signatures of names that are written otherwise in an address are compared with figures, where
    // they are made.
    let sandbox = Sandbox::with_flow("tasks: { both: { run: 'cat {in} > {out}', in: [data/1, data/2], out: [both] } }");
    let arguments = ["run", "flow.yaml", "--storage", "s3://bucket", "--memory-tier", "40kB"];
    let run = |variables: &[(&str, &str)]| server.throng_with(&sandbox, &arguments, variables);
    let right = [("AWS_ACCESS_KEY_ID", id.as_str()), ("AWS_SECRET_ACCESS_KEY", secret.as_str())];

    let wrong = run(&[right[0], ("AWS_SECRET_ACCESS_KEY", "wrong")]).expect_code(2);
    assert!(wrong.stderr.contains("SignatureDoesNotMatch"), "{wrong:?}");
    assert!(wrong.stderr.contains("check AWS_SECRET_ACCESS_KEY"), "{wrong:?}");
    let unknown = run(&[("AWS_ACCESS_KEY_ID", "nobody"), right[1]]).expect_code(2);
    assert!(unknown.stderr.contains("InvalidAccessKeyId"), "{unknown:?}");
    assert!(unknown.stderr.contains("check AWS_ACCESS_KEY_ID"), "{unknown:?}");
    let half = run(&[right[0], ("AWS_SECRET_ACCESS_KEY", "")]).expect_code(2);
    assert!(half.stderr.contains("set AWS_SECRET_ACCESS_KEY as well"), "{half:?}");
    let no_url = run(&[right[0], right[1], ("AWS_ENDPOINT_URL_S3", "localhost")]).expect_code(2);
    assert!(no_url.stderr.contains("write AWS_ENDPOINT_URL_S3=https://HOST"), "{no_url:?}");

    // As it comes out of a file.
    run(&[right[0], ("AWS_SECRET_ACCESS_KEY", &format!("{secret}\n"))]).expect_code(0);
    assert_eq!(sandbox.read("both"), "one\ntwo\n");
}

#[test]
fn a_server_that_is_not_there_is_one_clear_message() {
    let mut server = Server::start();
    server.process.kill().unwrap();
    server.process.wait().unwrap();
    let sandbox = Sandbox::with_flow("tasks: { a: { run: 'cat x', in: [x] } }");
    let output = server.run(&sandbox, "s3://bucket/project", &[]).expect_code(2);
    assert!(output.stderr.contains("cannot look into the storage s3://bucket/project"), "{output:?}");
    assert!(output.stderr.contains("refused") && output.stderr.contains("AWS_ENDPOINT_URL"), "{output:?}");
    assert!(!sandbox.exists(".throng"));
}
