//! `throng map`: one command for many items, which goes on where it was.

mod sandbox;

use std::io::Write;
use std::process::Stdio;

use sandbox::*;

/// Runs `throng map` with these arguments.
fn map(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    sandbox.throng(&[&["map"], arguments].concat())
}

/// Runs `throng map` with something on its standard input.
fn map_input(sandbox: &Sandbox, arguments: &[&str], input: &[u8]) -> Output {
    let mut child =
        sandbox.command(&[&["map"], arguments].concat()).stdin(Stdio::piped()).spawn().expect("the program");
    child.stdin.take().expect("a pipe").write_all(input).expect("a reader");
    finish(child)
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort();
    lines
}

/// How many tasks were done and how many were up to date, as the last words say.
#[track_caller]
fn counts(output: &Output) -> (u64, u64) {
    let line = output.stderr.lines().find(|line| line.starts_with("run ")).unwrap_or_else(|| panic!("{output:#?}"));
    let count = |what: &str| {
        let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        let at = words.windows(2).position(|pair| what.starts_with(pair[1]) && pair[0].parse::<u64>().is_ok());
        at.map_or(0, |at| words[at].parse().expect("just parsed"))
    };
    (count("done"), count("up to date"))
}

// Items.

#[test]
fn items_may_be_arguments() {
    let sandbox = Sandbox::new();
    let result = map(&sandbox, &["echo got {}", "--", "a", "two words", "-n"]).expect_code(0);
    assert_eq!(sorted(&result.stdout), ["got -n", "got a", "got two words"]);
}

#[test]
fn items_may_be_lines_of_standard_input() {
    let sandbox = Sandbox::new();
    let result = map_input(&sandbox, &["echo {} got"], b"a\n\ntwo words\r\nlast").expect_code(0);
    assert_eq!(sorted(&result.stdout), ["a got", "last got", "two words got"]);
}

#[test]
fn items_that_end_with_nul_may_have_line_ends_in_them() {
    let sandbox = Sandbox::new();
    let result = map_input(&sandbox, &["-0", "printf '<%s>' {}"], b"a\nb\0c\r\0").expect_code(0);
    assert!(result.stdout == "<a\nb><c\r>" || result.stdout == "<c\r><a\nb>", "{result:?}");
}

#[test]
fn no_items_are_nothing_to_do() {
    let sandbox = Sandbox::new();
    for input in ["", "\n\n"] {
        let result = map_input(&sandbox, &["touch {}"], input.as_bytes()).expect_code(0);
        assert!(result.stderr.contains("nothing to do") && result.stdout.is_empty(), "{result:?}");
    }
    assert!(!sandbox.exists(".throng"));
}

#[test]
fn the_same_item_twice_is_done_once() {
    let sandbox = Sandbox::new();
    assert_eq!(map(&sandbox, &["echo {}", "--", "a", "b", "a"]).expect_code(0).stdout.lines().count(), 2);
}

#[test]
fn items_are_data_whatever_is_in_them() {
    let items = [
        "it's",
        "$(touch pwned)",
        "`touch pwned`",
        "a;b&c|d>e",
        "*",
        "\"q\"",
        "b\\",
        "#",
        "~",
        "{}",
        "{x}",
        "ä€🙂",
        "a,b",
        "x:y",
        "%s",
        "-e",
    ];
    // With a shell and without, alone and in quotes.
    for command in ["printf '<%s>\\n' {}; true", "printf '<%s>\\n' {}", "printf '<%s>\\n' \"{}\"; true"] {
        let sandbox = Sandbox::new();
        let result = map(&sandbox, &[&[command, "--"], &items[..]].concat()).expect_code(0);
        let mut wanted: Vec<String> = items.iter().map(|item| format!("<{item}>")).collect();
        wanted.sort();
        assert_eq!(sorted(&result.stdout), wanted, "{command}");
        assert!(!sandbox.exists("pwned"));
    }
}

#[test]
fn what_is_no_text_is_refused() {
    let sandbox = Sandbox::new();
    let result = map_input(&sandbox, &["echo {}"], b"a\n\xff\xfe\n").expect_code(2);
    assert!(result.stderr.contains("UTF-8") && result.stderr.contains("= help: "), "{}", result.stderr);
    assert!(!sandbox.exists(".throng"));
}

// The command.

#[test]
fn parts_of_a_path_may_stand_in_the_command() {
    let sandbox = Sandbox::new();
    let result =
        map(&sandbox, &["echo {.name} {.stem} {.ext} {.dir} {{}} {:raw}", "--", "d/e/x.tar.gz"]).expect_code(0);
    assert_eq!(result.stdout, "x.tar.gz x.tar .gz d/e {} d/e/x.tar.gz\n");
}

#[test]
fn without_braces_the_item_is_added_at_the_end() {
    let sandbox = Sandbox::new();
    assert_eq!(map(&sandbox, &["echo a {{b}}", "--", "x y"]).expect_code(0).stdout, "a {b} x y\n");
}

#[test]
fn outputs_are_files_that_the_command_makes() {
    let sandbox = Sandbox::new();
    for file in ["d/a.txt", "d/b.txt"] {
        sandbox.write(file, file);
    }
    let command = ["--out", "o/{.stem}.up", "--out", "{}.n", "tr a-z A-Z < {} > {out.0}; wc -c < {} > {out.1}"];
    let all = [&command[..], &["--", "d/a.txt", "d/b.txt"]].concat();
    map(&sandbox, &all).expect_code(0);
    assert_eq!(sandbox.read("o/a.up") + &sandbox.read("o/b.up"), "D/A.TXTD/B.TXT");
    std::fs::remove_file(sandbox.file("o/a.up")).unwrap();
    assert_eq!(counts(&map(&sandbox, &all).expect_code(0)), (1, 1));
    assert!(sandbox.exists("o/a.up"));
}

#[test]
fn an_output_that_was_not_made_is_a_failure() {
    let sandbox = Sandbox::new();
    let result = map(&sandbox, &["--out", "{}.out", "true {out}", "--", "a"]).expect_code(1);
    assert!(result.stderr.contains("did not make `a.out`"), "{}", result.stderr);
}

#[test]
fn two_items_with_the_same_output_are_refused() {
    let sandbox = Sandbox::new();
    let result = map(&sandbox, &["--out", "o/{.name}", "touch {out}", "--", "a/x", "b/x"]).expect_code(2);
    assert!(result.stderr.contains("`o/x` is made by two tasks"), "{}", result.stderr);
    assert!(!sandbox.exists(".throng"));
}

// Doing it again.

#[test]
fn what_is_done_is_not_done_again() {
    let sandbox = Sandbox::new();
    let command = "echo {} >> done";
    assert_eq!(counts(&map(&sandbox, &[command, "--", "a", "b"]).expect_code(0)), (2, 0));
    let again = map(&sandbox, &[command, "--", "c", "b", "a"]).expect_code(0);
    assert_eq!(counts(&again), (1, 2));
    assert_eq!(sorted(&sandbox.read("done")), ["a", "b", "c"]);
    // Another command knows nothing of it, and this one does not forget.
    assert_eq!(counts(&map(&sandbox, &["echo {} >> other", "--", "a"]).expect_code(0)), (1, 0));
    assert_eq!(counts(&map(&sandbox, &[command, "--", "a", "b", "c"]).expect_code(0)), (0, 3));
    assert_eq!(counts(&map(&sandbox, &["--fresh", command, "--", "a"]).expect_code(0)), (1, 0));
}

#[test]
fn a_file_that_has_changed_is_done_again() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "1");
    sandbox.write("b", "1");
    let arguments = ["--in", "{}", "cat {in} >> done", "--", "a", "b"];
    map(&sandbox, &arguments).expect_code(0);
    sandbox.write("b", "22");
    assert_eq!(counts(&map(&sandbox, &arguments).expect_code(0)), (1, 1));
    assert_eq!(sandbox.read("done"), "1122");
}

#[test]
fn what_was_printed_before_is_printed_again() {
    let sandbox = Sandbox::new();
    let print = |items: &[&str], more: &[&str]| {
        let all: Vec<&str> =
            ["map", "--quiet", "echo out {}"].iter().chain(more).chain(&["--"]).chain(items).copied().collect();
        sandbox.throng(&all).expect_code(0).stdout
    };
    assert_eq!(sorted(&print(&["a", "b"], &[])), ["out a", "out b"]);
    assert_eq!(sorted(&print(&["a", "b"], &[])), ["out a", "out b"]);
    assert_eq!(print(&["c", "b", "d", "a"], &["-k"]), "out c\nout b\nout d\nout a\n");
    assert_eq!(print(&["c", "b", "d", "a"], &["-k"]), "out c\nout b\nout d\nout a\n");
}

#[test]
fn an_item_that_becomes_a_file_is_still_the_same() {
    let sandbox = Sandbox::new();
    let arguments = ["touch {}", "--", "a", "b"];
    map(&sandbox, &arguments).expect_code(0);
    assert_eq!(counts(&map(&sandbox, &arguments).expect_code(0)), (0, 2));
}

#[test]
fn only_what_failed_is_tried_when_it_is_done_again() {
    let sandbox = Sandbox::new();
    let arguments = ["echo {} >> tries; test -e ok-{}", "--", "a", "b", "c"];
    for good in ["ok-a", "ok-c"] {
        sandbox.write(good, "");
    }
    let result = map(&sandbox, &arguments).expect_code(1);
    assert!(result.stderr.contains("failed: map:b (exit code 1"), "{}", result.stderr);
    sandbox.write("ok-b", "");
    assert_eq!(counts(&map(&sandbox, &arguments).expect_code(0)), (1, 2));
    assert_eq!(sorted(&sandbox.read("tries")), ["a", "b", "b", "c"]);
}

#[test]
fn attempts_timeouts_and_cores_may_be_said() {
    let sandbox = Sandbox::new();
    map(&sandbox, &["--retries", "1", "test {attempt} = 2; : {}", "--", "a"]).expect_code(0);
    let result = map(&sandbox, &["--timeout", "50ms", "sleep 30; : {}", "--", "a"]).expect_code(1);
    assert!(result.stderr.contains("`timeout`"), "{}", result.stderr);
    map(&sandbox, &["--cpus", "999", "echo {}", "--", "a"]).expect_code(2);
    let result = map(&sandbox, &["--cpus", "many", "echo {}", "--", "a"]).expect_code(2);
    assert!(result.stderr.contains("`cpus` cannot be `many`"), "{}", result.stderr);
}

// What commands print.

#[test]
fn output_comes_in_the_order_of_items_if_that_is_asked_for() {
    let sandbox = Sandbox::new();
    // The first waits for the last, and the second fails.
    let command =
        "echo {}; echo more {}; case {} in 1) until test -e 4; do sleep 0.01; done;; 2) false;; 4) touch 4;; esac";
    let result = map(&sandbox, &["-k", "-w", "4", command, "--", "1", "2", "3", "4"]).expect_code(1);
    assert_eq!(result.stdout, "1\nmore 1\n2\nmore 2\n3\nmore 3\n4\nmore 4\n");
}

#[test]
fn output_of_each_item_is_in_one_piece_and_apart_from_the_words_of_throng() {
    let sandbox = Sandbox::new();
    let result = map(&sandbox, &["-w", "4", "seq -f {}:%g 500", "--", "a", "b", "c", "d"]).expect_code(0);
    let mut items: Vec<&str> = result.stdout.lines().map(|line| &line[..1]).collect();
    items.dedup();
    assert_eq!((items.len(), result.stdout.lines().count()), (4, 2000));
    assert!(result.stderr.contains("4 done"));
}

#[test]
fn a_command_that_means_nothing_is_refused() {
    for (command, words) in [("echo {", "brace"), ("echo {x}", "`{x}`"), ("echo {.size}", "size"), ("", "empty")] {
        let sandbox = Sandbox::new();
        let result = map(&sandbox, &[command, "--", "a"]).expect_code(2);
        assert!(result.stderr.contains(words) && result.stderr.contains("help: "), "{}", result.stderr);
        assert!(!sandbox.exists(".throng"));
    }
}
