//! From a layout to SVG.

use std::fmt::Write as _;

use crate::layout::{LINE, Layout, PAD, Rect, SMALL, Way, layout};
use crate::{Line, NoPicture, Picture, Span};

/// Longer lines are cut; the whole line is shown when the pointer rests on it.
const MOST_COLUMNS: usize = 110;
/// The same of labels.
const MOST_IN_LABELS: usize = 34;

/// Colours come from the page where it sets them. A picture by itself follows what the
/// reader's system prefers, and paints its background, so that it can be read anywhere.
const STYLE: &str = "\
.tp{--b:var(--tp-back,#fff);--n:var(--tp-node,#f6f8fa);--f:var(--tp-frame,#8c959f);\
--i:var(--tp-ink,#1f2328);--s:var(--tp-soft,#6e7781);--o:var(--tp-op,#8250df);\
--c:var(--tp-const,#0a5cad);--g:var(--tp-green,#1a7f37);--r:var(--tp-red,#cf222e)}\
@media(prefers-color-scheme:dark){.tp{--b:var(--tp-back,#0d1117);--n:var(--tp-node,#161b22);\
--f:var(--tp-frame,#6e7681);--i:var(--tp-ink,#e6edf3);--s:var(--tp-soft,#8b949e);\
--o:var(--tp-op,#d2a8ff);--c:var(--tp-const,#79c0ff);--g:var(--tp-green,#56d364);\
--r:var(--tp-red,#ff7b72)}}\
.tp .tp-back{fill:var(--b)}\
.tp text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;\
fill:var(--i);white-space:pre}\
.tp .tp-box{fill:var(--n);stroke:var(--f)}\
.tp .tp-start>.tp-box,.tp .tp-here>.tp-box{stroke:var(--o);stroke-width:2}\
.tp .tp-return>.tp-box{stroke:var(--g);stroke-width:2}\
.tp .tp-except>.tp-box{stroke:var(--r);stroke-width:2}\
.tp .tp-cold>.tp-box{stroke-dasharray:4 3}\
.tp .tp-way{fill:none;stroke:var(--s);stroke-width:1.3}\
.tp .tp-true{stroke:var(--g)}.tp .tp-false{stroke:var(--r)}\
.tp .tp-raise{stroke:var(--r);stroke-dasharray:5 3}\
.tp .tp-label{font-size:10px;fill:var(--s);text-anchor:middle}\
.tp .tp-plate{fill:var(--b);opacity:.85}\
.tp .tp-tip{fill:context-stroke}\
.tp .tp-head{font-weight:600}.tp .tp-op{fill:var(--o)}.tp .tp-const{fill:var(--c)}\
.tp .tp-type,.tp .tp-note{fill:var(--s)}.tp .tp-green{fill:var(--g)}.tp .tp-red{fill:var(--r)}";

/// The picture as an SVG document, which may stand in a page as well.
pub fn svg(picture: &Picture) -> Result<String, NoPicture> {
    let whole: Vec<Option<String>> = (picture.nodes.iter())
        .flat_map(|n| &n.lines)
        .map(whole_line)
        .collect();
    let mut cut = picture.clone();
    for line in cut.nodes.iter_mut().flat_map(|n| &mut n.lines) {
        shorten(line);
    }
    let labels: Vec<String> = (picture.edges.iter())
        .map(|e| shortened(&e.label, MOST_IN_LABELS))
        .collect();
    let placed = layout(&cut, &labels)?;
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut out, picture, &cut, &whole, &labels, &placed);
    Ok(out)
}

fn write(
    out: &mut String,
    picture: &Picture,
    cut: &Picture,
    whole: &[Option<String>],
    labels: &[String],
    placed: &Layout,
) -> std::fmt::Result {
    let (width, height) = (placed.width.ceil(), placed.height.ceil());
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tp\" role=\"img\" \
         width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">"
    )?;
    writeln!(out, "<title>{}</title>", escape(&picture.title))?;
    writeln!(out, "<style>{STYLE}</style>")?;
    writeln!(
        out,
        "<defs><marker id=\"tp-tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" \
         markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path class=\"tp-tip\" d=\"M0 0.8 8 4 0 7.2z\"/></marker></defs>"
    )?;
    writeln!(
        out,
        "<rect class=\"tp-back\" width=\"{width}\" height=\"{height}\"/>"
    )?;
    for (edge, way) in cut.edges.iter().zip(&placed.edges) {
        let class = match edge.class {
            "" => "tp-way".to_owned(),
            class => format!("tp-way tp-{class}"),
        };
        writeln!(
            out,
            "<path class=\"{class}\" marker-end=\"url(#tp-tip)\" d=\"{}\"/>",
            curve(way)
        )?;
    }
    for ((edge, way), label) in cut.edges.iter().zip(&placed.edges).zip(labels) {
        let Some((x, y)) = way.label else { continue };
        let wide = (label.chars().count() as f64).mul_add(SMALL, 4.0);
        let title = match *label == edge.label {
            true => String::new(),
            false => format!("<title>{}</title>", escape(&edge.label)),
        };
        writeln!(
            out,
            "<g>{title}<rect class=\"tp-plate\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"13\"/>\
             <text class=\"tp-label\" x=\"{}\" y=\"{}\">{}</text></g>",
            number(x - wide / 2.0),
            number(y - 7.0),
            number(wide),
            number(x),
            number(y + 3.5),
            escape(label)
        )?;
    }
    let mut whole = whole.iter();
    for (node, rect) in cut.nodes.iter().zip(&placed.nodes) {
        let class = match node.class {
            "" => "tp-node".to_owned(),
            class => format!("tp-node tp-{class}"),
        };
        writeln!(
            out,
            "<g class=\"{class}\" data-key=\"{}\"><rect class=\"tp-box\" x=\"{}\" y=\"{}\" \
             width=\"{}\" height=\"{}\" rx=\"4\"/>",
            escape(&node.key),
            number(rect.x),
            number(rect.y),
            number(rect.width),
            number(rect.height)
        )?;
        for (i, line) in node.lines.iter().enumerate() {
            let full = whole.next().and_then(Option::as_deref);
            write_line(out, rect, i, line, full)?;
        }
        writeln!(out, "</g>")?;
    }
    writeln!(out, "</svg>")
}

fn write_line(
    out: &mut String,
    rect: &Rect,
    at: usize,
    line: &Line,
    whole: Option<&str>,
) -> std::fmt::Result {
    let y = (at as f64).mul_add(LINE, rect.y + PAD / 2.0 + LINE - 3.0);
    let source = line
        .source
        .map_or(String::new(), |l| format!(" data-line=\"{l}\""));
    write!(
        out,
        "<text x=\"{}\" y=\"{}\"{source}>",
        number(rect.x + PAD),
        number(y)
    )?;
    if let Some(whole) = whole {
        write!(out, "<title>{}</title>", escape(whole))?;
    }
    for span in &line.spans {
        let name = span.name.as_ref();
        let name = name.map_or(String::new(), |n| format!(" data-name=\"{}\"", escape(n)));
        if span.class.is_empty() && name.is_empty() && span.title.is_none() {
            out.push_str(&escape(&span.text));
            continue;
        }
        let class = match span.class {
            "" => String::new(),
            class => format!(" class=\"tp-{class}\""),
        };
        let title = span.title.as_ref();
        let title = title.map_or(String::new(), |t| format!("<title>{}</title>", escape(t)));
        write!(
            out,
            "<tspan{class}{name}>{title}{}</tspan>",
            escape(&span.text)
        )?;
    }
    writeln!(out, "</text>")
}

/// The way of an arrow as a B-spline along its points, as d3 draws them.
fn curve(way: &Way) -> String {
    let p = &way.points;
    let mut out = String::new();
    let (Some(first), Some(last)) = (p.first(), p.last()) else {
        return out;
    };
    let at = |(x, y): (f64, f64)| format!("{} {}", number(x), number(y));
    out.push_str(&format!("M{}", at(*first)));
    if p.len() > 2 {
        let third = |a: (f64, f64), b: (f64, f64)| {
            (
                2.0f64.mul_add(a.0, b.0) / 3.0,
                2.0f64.mul_add(a.1, b.1) / 3.0,
            )
        };
        let knot = |a: (f64, f64), b: (f64, f64), c: (f64, f64)| {
            (
                (4.0f64.mul_add(b.0, a.0) + c.0) / 6.0,
                (4.0f64.mul_add(b.1, a.1) + c.1) / 6.0,
            )
        };
        out.push_str(&format!(
            "L{}",
            at(((5.0 * p[0].0 + p[1].0) / 6.0, (5.0 * p[0].1 + p[1].1) / 6.0))
        ));
        for w in p.windows(3) {
            let (a, b, c) = (w[0], w[1], w[2]);
            out.push_str(&format!(
                "C{} {} {}",
                at(third(a, b)),
                at(third(b, a)),
                at(knot(a, b, c))
            ));
        }
        let (a, b) = (p[p.len() - 2], *last);
        let end = ((a.0 + 5.0 * b.0) / 6.0, (a.1 + 5.0 * b.1) / 6.0);
        out.push_str(&format!(
            "C{} {} {}",
            at(third(a, b)),
            at(third(b, a)),
            at(end)
        ));
    }
    out.push_str(&format!("L{}", at(*last)));
    out
}

/// With one digit behind the point, which is finer than anybody sees.
fn number(n: f64) -> String {
    let text = format!("{n:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

fn whole_line(line: &Line) -> Option<String> {
    (line.columns() > MOST_COLUMNS).then(|| line.spans.iter().map(|s| &*s.text).collect())
}

fn shorten(line: &mut Line) {
    if line.columns() <= MOST_COLUMNS {
        return;
    }
    let mut left = MOST_COLUMNS - 1;
    let mut kept = Vec::new();
    for span in line.spans.drain(..) {
        let columns = span.text.chars().count();
        if columns <= left {
            left -= columns;
            kept.push(span);
            continue;
        }
        kept.push(Span {
            text: span.text.chars().take(left).collect::<String>() + "…",
            ..span
        });
        break;
    }
    line.spans = kept;
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).collect::<String>() + "…"
}

pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            // XML has no other control characters, not even as numbers.
            '\t' | '\n' => out.push(c),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
