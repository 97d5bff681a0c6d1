//! The page: everything in one file that needs nothing else, in light or dark, and on paper.

use std::fmt::Write;

use super::chart;
use super::publication::Publication;
use super::runner::Job;
use super::section::{Section, Table};
use super::setting::Setting;
use crate::graph::text::escape_xml;

const STYLE: &str = include_str!("page.css");

/// The page as HTML.
pub fn html<J: Job>(publication: &Publication<J>, setting: &Setting, sections: &[(&str, &Section)]) -> String {
    let mut text = String::new();
    write_page(publication, setting, sections, &mut text).expect("writing to a string cannot fail");
    text
}

fn write_page<J: Job>(
    publication: &Publication<J>,
    setting: &Setting,
    sections: &[(&str, &Section)],
    out: &mut String,
) -> std::fmt::Result {
    let [title, about, beside, quick] =
        [publication.title, publication.about, publication.beside, publication.quick].map(escape_xml);
    writeln!(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(out, "<meta name=\"color-scheme\" content=\"light dark\">")?;
    writeln!(out, "<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header>")?;
    writeln!(out, "<h1>{title}</h1>")?;
    writeln!(
        out,
        "<p>{about}, {}. <span class=\"mark\">Shaded columns</span> are published figures; all others are simulated here. \
         Nothing has been tuned to match.</p>",
        setting.seeds_in_words()
    )?;
    writeln!(out, "<p>{beside}</p>")?;
    if setting.quick {
        writeln!(
            out,
            "<p class=\"warning\"><b>Quick version:</b> {quick}. Run <code>throng reproduce {}</code> without \
             <code>--quick</code> for figures to compare.</p>",
            publication.name
        )?;
    }
    writeln!(out, "<nav>")?;
    for (name, section) in sections {
        writeln!(out, "<a href=\"#{name}\">{}</a>", escape_xml(section.title))?;
    }
    writeln!(out, "</nav></header>\n<main>")?;
    for (name, section) in sections {
        write_section(name, section, out)?;
    }
    writeln!(out, "</main>\n</body>\n</html>")
}

fn write_section(name: &str, section: &Section, out: &mut String) -> std::fmt::Result {
    writeln!(out, "<section id=\"{name}\">\n<h2>{}</h2>", escape_xml(section.title))?;
    writeln!(out, "<p>{}</p>", escape_xml(&section.about))?;
    section.tables.iter().try_for_each(|table| write_table(table, out))?;
    if !section.charts.is_empty() {
        writeln!(out, "<div class=\"charts\">")?;
        section.charts.iter().for_each(|chart| out.push_str(&chart::svg(chart)));
        writeln!(out, "</div>")?;
    }
    for (heading, points) in section.lists() {
        writeln!(out, "<h3>{heading}</h3>\n<ul>")?;
        points.iter().try_for_each(|point| writeln!(out, "<li>{}</li>", escape_xml(point)))?;
        writeln!(out, "</ul>")?;
    }
    writeln!(out, "</section>")
}

fn write_table(table: &Table, out: &mut String) -> std::fmt::Result {
    let class = |column: usize| match column {
        column if table.is_published(column) => " class=\"published\"",
        column if table.is_own_column(column) => " class=\"own\"",
        _ => "",
    };
    writeln!(out, "<div class=\"wide\"><table>\n<caption>{}</caption>\n<thead><tr>", escape_xml(&table.caption))?;
    for (column, cell) in table.head.iter().enumerate() {
        write!(out, "<th scope=\"col\"{}>{}</th>", class(column), escape_xml(cell))?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")?;
    for row in &table.rows {
        write!(out, "<tr{}>", if Table::is_own_row(row) { " class=\"own\"" } else { "" })?;
        for (column, cell) in row.iter().enumerate() {
            match column {
                0 => write!(out, "<th scope=\"row\">{}</th>", escape_xml(cell))?,
                _ => write!(out, "<td{}>{}</td>", class(column), escape_xml(cell))?,
            }
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")
}
