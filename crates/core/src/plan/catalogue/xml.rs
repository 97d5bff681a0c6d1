//! The two files of the thesis's program: `machineTypes.xml` and `workflowTaskTimes.xml`.
//!
//! A machine has a name, sizes with `gb` or `mb` (powers of 1024), cores, a clock and a price for an hour; a job has for each machine the time of a map and of a
//! reduce task, whole numbers with `s`, `m` or `h`. Times of the job `blast` are those of the kinds `blast.map` and `blast.reduce`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

use crate::workflow::reading::{Mark, Problem};

use super::super::money::Money;
use super::given::clock;
use super::times::{TaskTime, Times, nothing, plain};
use super::written::{cpus, cpus_wanted};
use super::{ANY_MEMORY, Billing, Catalogue, MINUTE_NS, Machine, SECOND_NS};

/// Deeper than this nothing of the kind is.
const DEPTH_LIMIT: usize = 16;

#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
    children: Vec<Element>,
    mark: Mark,
}

impl Element {
    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim())
    }

    fn required(&self, name: &str) -> Result<&str, Problem> {
        self.attribute(name).filter(|value| !value.is_empty()).ok_or_else(|| {
            let message = format!("the element `{}` has no attribute `{name}`", self.name);
            Problem::new(self.mark, message, format!("write `<{} {name}=\"…\">`", self.name))
        })
    }

    /// All elements below with a name, however deep.
    fn all<'a>(&'a self, name: &'a str) -> Box<dyn Iterator<Item = &'a Element> + 'a> {
        let below = self.children.iter().flat_map(move |child| child.all(name));
        Box::new(self.children.iter().filter(move |child| child.name == name).chain(below))
    }

    /// The text of the one element below with a name, as it can be read.
    fn value<T>(&self, name: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, Problem> {
        let mut children = self.children.iter().filter(|child| child.name == name);
        let Some(child) = children.next() else { return Ok(None) };
        if let Some(second) = children.next() {
            return Err(twice(&format!("the element `{name}`"), child.mark, second.mark));
        }
        let value = read(child.text.trim());
        value.map(Some).map_err(|why| {
            let message = format!("`{name}` cannot be `{}`", child.text.trim());
            Problem::new(child.mark, message, if why.is_empty() { "write a number".to_owned() } else { why })
        })
    }
}

/// What is here twice counts for nothing: nobody could say which of them is meant.
fn twice(what: &str, first: Mark, second: Mark) -> Problem {
    Problem::new(second, format!("{what} is here twice"), "keep one of them").with_related(first, "the first is here")
}

/// The types of machines.
pub(super) fn machines(text: &str) -> Result<Catalogue, Problem> {
    let root = tree(text)?;
    let mut catalogue = Catalogue { currency: "$".to_owned(), ..Catalogue::default() };
    let mut seen = BTreeMap::new();
    for element in root.all("machineType") {
        let name = element.required("name")?;
        if let Some(first) = seen.insert(name, element.mark) {
            return Err(twice(&format!("the machine `{name}`"), first, element.mark));
        }
        let number = |text: &str| cpus(text).map_err(|_| format!("write {}", cpus_wanted()));
        let Some(price) = element.value("chargeRate", Money::parse)? else {
            let message = format!("the machine `{name}` has no `chargeRate`");
            return Err(Problem::new(element.mark, message, "write what it costs for an hour"));
        };
        catalogue.machines.push(Machine {
            name: name.to_owned(),
            cpus: element.value("numProcessors", number)?.unwrap_or(1),
            memory_bytes: element.value("totalPhysicalMemory", size)?.unwrap_or(ANY_MEMORY),
            clock_khz: element.value("cpuFrequency", clock)?,
            speed: 1.0,
            price,
            count: None,
            start_ns: 0,
            bandwidth: 125_000_000,
            // The thesis charges every second, and no part of a second is ever had.
            billing: Billing { unit_ns: SECOND_NS, least_ns: 0 },
        });
    }
    Ok(catalogue)
}

/// The times of tasks.
pub(super) fn times(text: &str) -> Result<Times, Problem> {
    let root = tree(text)?;
    if root.children.is_empty() {
        return Err(nothing());
    }
    let mut times = Times::default();
    // A job may stand in several places, as long as each of its times is said once.
    let mut seen = BTreeMap::new();
    for job in root.all("job") {
        let name = job.required("name")?;
        for machine in job.children.iter().filter(|child| child.name == "machineType") {
            let on = machine.required("name")?;
            for (attribute, phase) in [("mapExecTime", "map"), ("redExecTime", "reduce")] {
                let Some(text) = machine.attribute(attribute).filter(|text| !text.is_empty()) else { continue };
                let time_ns = time(text).ok_or_else(|| {
                    let message = format!("`{attribute}` cannot be `{text}`");
                    Problem::new(machine.mark, message, "write a whole number of seconds, or one with s, m or h")
                })?;
                let kind = format!("{name}.{phase}");
                if let Some(first) = seen.insert((plain(&kind), on), machine.mark) {
                    let what = format!("the `{attribute}` of the job `{name}` on the machine `{on}`");
                    return Err(twice(&what, first, machine.mark));
                }
                times.put(&kind, on, TaskTime { time_ns, spread_ns: 0 });
            }
        }
    }
    Ok(times)
}

/// `3.75gb`, in powers of 1024; a bare number is bytes.
fn size(text: &str) -> Result<u64, String> {
    let text = text.to_ascii_lowercase();
    let (number, unit) = match (text.strip_suffix("gb"), text.strip_suffix("mb")) {
        (Some(number), _) => (number, 1u64 << 30),
        (_, Some(number)) => (number, 1 << 20),
        _ => (text.as_str(), 1),
    };
    let number = number.trim().parse().ok().filter(|number: &f64| *number > 0.0 && *number < 1e15);
    number.map(|number| (number * unit as f64) as u64).ok_or_else(|| "write a number, with gb or mb".to_owned())
}

fn time(text: &str) -> Option<u64> {
    let (number, unit) = match text.as_bytes().last()? {
        b's' => (&text[..text.len() - 1], SECOND_NS),
        b'm' => (&text[..text.len() - 1], MINUTE_NS),
        b'h' => (&text[..text.len() - 1], 60 * MINUTE_NS),
        _ => (text, SECOND_NS),
    };
    number.trim().parse::<u64>().ok()?.checked_mul(unit)
}

/// Lines and columns of positions, each behind the one before.
struct Marks<'t> {
    text: &'t str,
    position: usize,
    line: u32,
    column: u32,
}

impl Marks<'_> {
    fn at(&mut self, position: u64) -> Mark {
        let end = usize::try_from(position).unwrap_or(usize::MAX);
        let passed = self.text.get(self.position..end).unwrap_or("");
        for letter in passed.chars() {
            (self.line, self.column) = if letter == '\n' { (self.line + 1, 1) } else { (self.line, self.column + 1) };
        }
        self.position += passed.len();
        Mark { line: self.line, column: self.column, file: 0 }
    }
}

fn tree(text: &str) -> Result<Element, Problem> {
    let mut reader = Reader::from_str(text);
    let mut marks = Marks { text, position: 0, line: 1, column: 1 };
    let mut open = vec![Element::default()];
    let wrong = |mark, error: String| {
        Problem::new(mark, format!("this is not XML: {error}"), "look for an element that is not closed")
    };
    loop {
        let mark = marks.at(reader.buffer_position());
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(error) => return Err(wrong(marks.at(reader.error_position()), error.to_string())),
        };
        match event {
            Event::Start(start) => {
                if open.len() > DEPTH_LIMIT {
                    return Err(Problem::new(mark, "nested too deeply", "see the manual for an example"));
                }
                open.push(element(&start, mark).map_err(|error| wrong(mark, error))?);
            }
            Event::Empty(start) => {
                let element = element(&start, mark).map_err(|error| wrong(mark, error))?;
                open.last_mut().expect("the root stays").children.push(element);
            }
            Event::End(_) => {
                let element = open.pop().expect("the reader has seen its beginning");
                open.last_mut().expect("the root stays").children.push(element);
            }
            Event::Text(words) => open.last_mut().expect("the root stays").text.push_str(&words),
            Event::CData(words) => open.last_mut().expect("the root stays").text.push_str(&words),
            Event::GeneralRef(reference) => {
                let letters = resolved(&reference).ok_or_else(|| unknown_reference(&reference, mark))?;
                open.last_mut().expect("the root stays").text.push_str(&letters);
            }
            Event::Eof if open.len() > 1 => {
                let unclosed = open.pop().expect("there are two");
                let message = format!("the element `{}` is not closed", unclosed.name);
                return Err(Problem::new(unclosed.mark, message, format!("write `</{}>` behind it", unclosed.name)));
            }
            Event::Eof => return Ok(open.pop().expect("the root stays")),
            _ => {}
        }
    }
}

/// What `&#48;` or `&amp;` stands for.
fn resolved(reference: &BytesRef<'_>) -> Option<Cow<'static, str>> {
    if reference.is_char_ref() {
        return Some(reference.resolve_char_ref().ok()??.to_string().into());
    }
    resolve_predefined_entity(reference).map(Cow::Borrowed)
}

/// What a file declares itself is not looked up: a few lines of that can stand for more text than there is memory.
fn unknown_reference(reference: &str, mark: Mark) -> Problem {
    let message = format!("nobody knows what `&{reference};` stands for");
    Problem::new(mark, message, "write the letters themselves; `&` is written `&amp;`")
}

fn element(start: &BytesStart<'_>, mark: Mark) -> Result<Element, String> {
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| error.to_string())?;
        attributes.push((attribute.key.0.to_owned(), value.into_owned()));
    }
    Ok(Element { name: start.name().0.to_owned(), attributes, mark, ..Element::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINES: &str = "<machineTypes>\n  <machineType name=\"m3.medium\"><totalPhysicalMemory>3.75gb</totalPhysicalMemory>\
        <availableSpace>4gb</availableSpace><numProcessors>1</numProcessors><cpuFrequency>2.5ghz</cpuFrequency>\
        <chargeRate>0.067</chargeRate></machineType>\n</machineTypes>";

    #[test]
    fn files_of_the_thesis_are_read() {
        let catalogue = machines(MACHINES).unwrap();
        let machine = &catalogue.machines[0];
        assert_eq!((machine.name.as_str(), machine.cpus, machine.clock_khz), ("m3.medium", 1, Some(2_500_000)));
        assert_eq!((machine.memory_bytes, machine.price.to_string().as_str()), (15 << 28, "0.067"));
        let times = times(
            "<jobs><job name='blast'><machineType name='m' mapExecTime='30' redExecTime='2m'/>\
             <machineType name='n' mapExecTime='' redExecTime='4s'/></job></jobs>",
        );
        let times = times.unwrap();
        let time = |kind, machine| times.of(kind, machine).map(|time| time.time_ns / SECOND_NS);
        assert_eq!((time("blast.map", "m"), time("blast-reduce", "m")), (Some(30), Some(120)));
        assert_eq!((time("blast.map", "n"), time("blast.reduce", "n")), (None, Some(4)));
        assert_eq!(super::times("<jobs/>"), Ok(Times::default()));
        assert_eq!(super::times("no elements").unwrap_err().message, "there is nothing in this file of times");
    }

    #[test]
    fn letters_are_read_however_they_are_written() {
        let cores = |text: &str| {
            let machine = format!("<chargeRate>1</chargeRate><numProcessors>{text}</numProcessors>");
            machines(&format!("<a><machineType name='m&amp;n'>{machine}</machineType></a>")).map(|catalogue| {
                assert_eq!(catalogue.machines[0].name, "m&n");
                catalogue.machines[0].cpus
            })
        };
        for text in ["10", "1&#48;", "&#x31;0", "<![CDATA[10]]>", "1<![CDATA[0]]>", "1<!-- no -->0", " 10\n"] {
            assert_eq!(cores(text), Ok(10), "{text}");
        }
        for (text, message) in [
            ("1&zero;", "nobody knows what `&zero;` stands for"),
            ("1&#0;", "nobody knows what `&#0;` stands for"),
            ("1&#xD800;", "nobody knows"),
            ("1&lt;", "cannot be `1<`"),
            ("1&", "this is not XML"),
        ] {
            let problem = cores(text).unwrap_err();
            assert!(problem.message.contains(message), "{text}: {problem:?}");
            assert!(problem.mark.line == 1 && problem.mark.column > 30, "{text}: {problem:?}");
        }
    }

    #[test]
    fn what_is_said_twice_is_refused() {
        let machine =
            |within: &str| format!("<a><machineType name='m'><chargeRate>1</chargeRate>{within}</machineType></a>");
        let cores = "<numProcessors>1</numProcessors>";
        assert!(machines(&machine(cores)).is_ok());
        let problem = machines(&machine(&format!("{cores}{cores}"))).unwrap_err();
        assert_eq!(problem.message, "the element `numProcessors` is here twice");
        assert_eq!((problem.mark.column, problem.related.map(|related| related.0.column)), (84, Some(52)));
        let problem = machines(&machine("<machineType name='m'/>")).unwrap_err();
        assert_eq!(problem.message, "the machine `m` is here twice");
        let on = |machine: &str, times: &str| format!("<machineType name='{machine}' {times}/>");
        let job = |name: &str, times: &str| format!("<job name='{name}'>{times}</job>");
        let (map, reduce) = ("mapExecTime='1'", "redExecTime='2'");
        for (jobs, message) in [
            (
                job("blast", &[on("m", map), on("m", map)].concat()),
                Some("the `mapExecTime` of the job `blast` on the machine `m`"),
            ),
            (
                [job("blast", &on("m", reduce)), job("blast", &on("m", reduce))].concat(),
                Some("the `redExecTime` of the job `blast`"),
            ),
            // They would be the same kind.
            (
                [job("b.last", &on("m", map)), job("b-last", &on("m", map))].concat(),
                Some("the `mapExecTime` of the job `b-last`"),
            ),
            ([job("blast", &on("m", map)), job("blast", &on("n", map))].concat(), None),
            (job("blast", &[on("m", map), on("m", reduce)].concat()), None),
        ] {
            let read = times(&format!("<jobs>{jobs}</jobs>"));
            match message {
                Some(message) => assert!(read.unwrap_err().message.starts_with(message), "{jobs}"),
                None => assert!(read.is_ok(), "{jobs}: {read:?}"),
            }
        }
    }

    #[test]
    fn mistakes_have_their_place() {
        for (text, place, message) in [
            ("<a>\n <machineType>", (2, 2), "is not closed"),
            ("<a>\n <machineType/></a>", (2, 2), "has no attribute `name`"),
            ("<a><machineType name='m'/></a>", (1, 4), "has no `chargeRate`"),
            ("<a></b>", (1, 4), "this is not XML"),
            (
                "<a><machineType name='m'><chargeRate>1</chargeRate><numProcessors>4097</numProcessors></machineType></a>",
                (1, 52),
                "`numProcessors` cannot be `4097`",
            ),
        ] {
            let problem = machines(text).unwrap_err();
            assert!(problem.message.contains(message), "{text}: {problem:?}");
            assert_eq!((problem.mark.line, problem.mark.column), place, "{text}: {problem:?}");
        }
    }
}
