//! Patterns from text to text.

use super::*;

struct One(&'static str);

impl Values for One {
    fn column(&self, _: u32, out: &mut String) {
        out.push_str(self.0);
    }

    fn paths(&self, side: Side, selection: Selection) -> Vec<String> {
        let all = if side == Side::In { vec!["a b.txt", "c.txt"] } else { vec!["o"] };
        match selection {
            Selection::At(number) => vec![all[number as usize].to_owned()],
            _ => all.into_iter().map(str::to_owned).collect(),
        }
    }

    fn fact(&self, fact: Fact, out: &mut String) {
        out.push_str(if fact == Fact::Memory { "2500000000" } else { "4" });
    }
}

fn parsed(text: &str) -> Result<(Interner, Vec<Piece>), Wrong> {
    let (mut strings, mut pieces) = (Interner::default(), Vec::new());
    let column =
        |name: &str, column: Option<&str>| ColumnName { name: name.to_owned(), column: column.map(str::to_owned) };
    let columns = [column("x", None), column("row", Some("id")), column("row", Some("file.path"))];
    let groups = ["reads".to_owned()];
    let scope = Scope {
        columns: &columns,
        params: &Params::default(),
        in_command: true,
        groups: [&groups, &[]],
        counts: [Some(2), Some(1)],
    };
    parse(text, &scope, &mut strings, &mut pieces)?;
    Ok((strings, pieces))
}

fn rendered(text: &str, value: &'static str, quoting: Quoting) -> String {
    let (strings, pieces) = parsed(text).unwrap();
    let mut out = String::new();
    render(&pieces, &strings.strings, quoting, &One(value), &mut out);
    out
}

#[test]
fn fields_and_braces() {
    assert_eq!(rendered("a {x} {{b}} {x.stem}{x.ext}", "d/f.c", Quoting::Plain), "a d/f.c {b} f.c");
    assert_eq!(rendered("{x.dir}/{x.name}", "d/f.c", Quoting::Plain), "d/f.c");
    assert_eq!(rendered("{row} {row.id} {row.file.path.stem}", "d/f.c", Quoting::Plain), "d/f.c d/f.c f");
}

#[test]
fn files_and_facts() {
    assert_eq!(rendered("cat {in} > {out}", "", Quoting::Shell), "cat 'a b.txt' c.txt > o");
    assert_eq!(rendered("cat \"{in}\" {in.1.stem}", "", Quoting::Shell), "cat \"a b.txt c.txt\" c");
    assert_eq!(rendered("-Xmx{memory.gb}g {memory.mib} {cpus}", "", Quoting::Shell), "-Xmx2g 2384 4");
}

#[test]
fn numbers_are_written_as_asked() {
    assert_eq!(rendered("{x:04} {x:.2} {x:07.1}", "7", Quoting::Plain), "0007 7.00 00007.0");
    assert_eq!(rendered("{x:04} {x:.1}", "-2.25", Quoting::Plain), "-2.25 -2.2");
    assert_eq!(rendered("{x:05}", "-12", Quoting::Plain), "-0012");
}

#[test]
fn values_are_quoted_for_a_shell_and_literals_are_not() {
    assert_eq!(rendered("rm $A {x}", "it's; rm -rf /", Quoting::Shell), "rm $A 'it'\\''s; rm -rf /'");
    assert_eq!(rendered("rm {x}", "", Quoting::Shell), "rm ''");
    assert_eq!(rendered("rm {x}", "a/b-1.txt", Quoting::Shell), "rm a/b-1.txt");
    assert_eq!(rendered("tool {x:raw} {x}", "-a -b", Quoting::Shell), "tool -a -b '-a -b'");
}

#[test]
fn bad_patterns() {
    for text in ["{y}", "{x", "x}", "{x.size}", "{x:4}", "{x:099}", "{in.2}", "{in.read}", "{row.none}", "{cpus.mb}"] {
        assert!(parsed(text).is_err(), "{text}");
    }
}
