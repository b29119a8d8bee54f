//! The page of `taipan explore` in Chromium, through its DevTools protocol.
//!
//! `TAIPAN_BROWSER` names the browser; where it is set, the tests fail without one. Else
//! `chromium` and its like are looked for, and where there is none the tests are reported as
//! ignored, with the reason. `TAIPAN_SHOTS` names a folder for pictures of what was seen.

#[path = "support/chromium.rs"]
mod chromium;
#[allow(dead_code, reason = "explore.rs uses more of it")]
#[path = "support/explorer.rs"]
mod explorer;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use chromium::{Browser, Page};
use explorer::Explorer;
use libtest_mimic::{Arguments, Completion, Failed};
use serde_json::json;
use taipan_testkit::timed_trial;

/// A page on a program that is compiled.
fn page(browser: &Browser, address: &str) -> (Explorer, Page) {
    let server = Explorer::start();
    server.wait_for(1);
    let mut page = browser.open(&server.url(address));
    page.wait("document.body.dataset.shown === '1' && location.search === ''");
    (server, page)
}

/// Stages side by side; what comes from one line is marked in all of them.
fn stages(browser: &Browser) {
    let (_server, mut page) = page(browser, "#/function/main.total");
    page.wait("document.querySelectorAll('.pane').length === 3");
    let stages = "[...document.querySelectorAll('.pane')].map((p) => p.dataset.stage)";
    assert_eq!(page.ask(stages), json!(["source", "annotations", "asm"]));
    let line = (explorer::MAIN.lines())
        .position(|l| l.contains("s.area()"))
        .unwrap()
        + 1;
    page.hover(&format!(".pane[data-stage=source] [data-line=\"{line}\"]"));
    for stage in ["source", "annotations", "asm"] {
        let lit = format!(".pane[data-stage={stage}] .lit[data-line=\"{line}\"]");
        page.wait(&format!("document.querySelector('{lit}')"));
    }
    page.picture("function");
    // A variable shows its annotation, and is marked wherever it stands.
    page.hover(".pane[data-stage=annotations] tspan[data-name^=shapes_]");
    page.wait("!document.getElementById('tip').hidden");
    let tip = page.ask("document.getElementById('tip').textContent");
    assert!(tip.as_str().unwrap().starts_with("[Shape]"), "{tip}");
    assert!(
        page.ask("document.querySelectorAll('svg .same').length")
            .as_u64()
            >= Some(1)
    );
    // Stages are chosen, added, closed, and remembered.
    page.ask("document.getElementById('add').click()");
    page.wait("document.querySelectorAll('.pane').length === 4");
    page.choose(".pane:last-child select", "pass:1");
    page.wait("document.querySelector('.pane[data-stage=\"pass:1\"] svg')");
    page.ask("document.querySelector('.pane [title=Close]').click()");
    page.wait("document.querySelectorAll('.pane').length === 3");
    page.reload();
    page.wait(&format!(
        "document.body.dataset.shown === '1' && {stages}.join() === 'annotations,asm,pass:1'"
    ));
}

/// Functions are found by parts of their names; calls and classes are drawn, and lead on.
fn program(browser: &Browser) {
    let (_server, mut page) = page(browser, "");
    // What is shown first is the portal.
    page.wait("document.querySelector('.bar h2')?.textContent === 'main.interpret'");
    page.wait("document.querySelector('.pane svg .tp-green[data-name^=pc_]')");
    page.wait("document.querySelector('.pane svg .tp-red[data-name^=acc_]')");
    page.hover(".pane[data-stage=annotations] .tp-red[data-name^=acc_]");
    page.wait("document.getElementById('tip').textContent.includes('\\nred: ')");
    page.input("#search", "circ are");
    let found = "[...document.querySelectorAll('#list a')].map((a) => a.dataset.name)";
    assert_eq!(page.ask(found), json!(["shapes.Circle.area"]));
    page.ask("document.querySelector('#list a').click()");
    page.wait("document.querySelector('.bar h2')?.textContent === 'shapes.Circle.area'");
    page.input("#search", "circle");
    assert!(
        page.ask(found)
            .as_array()
            .unwrap()
            .contains(&json!("shapes.Circle"))
    );

    page.ask("document.querySelector('[data-tab=calls]').click()");
    page.wait("document.querySelector('.tp-here')?.dataset.key === 'shapes.Circle.area'");
    page.click(".tp-node[data-key=\"main.total\"]");
    page.wait("document.querySelector('.tp-here')?.dataset.key === 'main.total'");
    page.picture("calls");

    page.ask("document.querySelector('[data-tab=classes]').click()");
    page.wait("document.querySelector('.tree [data-class=\"shapes.Square\"]')");
    page.input("#class-search", "side");
    let shown = "[...document.querySelectorAll('.tree a')].map((a) => a.dataset.class)";
    assert_eq!(page.ask(shown), json!(["shapes.Shape", "shapes.Square"]));
    page.click(".tree [data-class=\"shapes.Square\"]");
    page.wait("document.querySelector('.detail table')?.textContent.includes('int>=0')");
    page.picture("classes");
}

/// An edit changes what is shown, by itself; the timeline says what ran for it.
fn edits(browser: &Browser) {
    let (server, mut page) = page(browser, "#/function/shapes.Circle.area");
    page.choose(".pane:nth-of-type(2) select", "rtyped");
    page.wait("document.querySelector('.pane[data-stage=rtyped] svg')");
    server.edit("shapes.py", "3 * self.radius", "314 * self.radius");
    page.wait(
        "document.querySelector('.pane[data-stage=rtyped] svg')?.textContent.includes('314')",
    );
    page.wait("document.querySelector('.pane[data-stage=source]').textContent.includes('314')");

    page.ask("document.querySelector('[data-tab=timeline]').click()");
    page.wait("Number(document.querySelector('canvas')?.dataset.spans) > 3");
    let ran = page.ask("document.getElementById('ran').textContent");
    assert!(
        ran.as_str().unwrap().contains("shapes.Circle.area"),
        "{ran}"
    );
    assert!(ran.as_str().unwrap().contains("changed"), "{ran}");
    let flame = "[...document.querySelectorAll('.flame div')].map((d) => d.dataset.query)";
    let flame = page.ask(flame);
    assert!(
        flame.as_array().unwrap().contains(&json!("solve")),
        "{flame}"
    );
    page.choose("#round", "1");
    page.wait("Number(document.querySelector('canvas')?.dataset.spans) > 100");
    page.hover("canvas");
    page.picture("timeline");

    server.edit("shapes.py", "314 * self.radius", "314 * self.radios");
    page.wait("document.getElementById('problems').textContent === '1'");
    page.ask("document.querySelector('[data-tab=problems]').click()");
    page.wait("document.querySelector('.problem')?.textContent.includes('radios')");
    server.edit("shapes.py", "314 * self.radios", "314 * self.radius");
    page.wait("document.getElementById('problems').hidden");
}

/// A program with a mistake leaves the page as it was, with a note; the scroll position stays.
fn broken(browser: &Browser) {
    let (server, mut page) = page(browser, "#/function/main.total");
    page.wait("document.querySelector('.pane[data-stage=annotations] svg')");
    page.wait("document.querySelector('.pane[data-stage=asm] pre')");
    let scrolled = "document.querySelector('.pane[data-stage=asm] .view').scrollTop";
    page.ask(&format!("{scrolled} = 15"));
    let before =
        page.ask("document.querySelector('.pane[data-stage=annotations] svg').textContent");
    server.edit("main.py", "result += s.area()", "result += s.aria()");
    page.wait("document.getElementById('problems').textContent === '1'");
    page.wait("document.getElementById('stale')");
    let now = "document.querySelector('.pane[data-stage=annotations] svg').textContent";
    assert_eq!(page.ask(now), before);
    assert_eq!(page.ask(scrolled), 15);
    page.picture("broken");
    // Another view, and back.
    page.ask("document.querySelector('[data-tab=problems]').click()");
    page.wait("document.querySelector('.problem')?.textContent.includes('aria')");
    page.ask("document.querySelector('[data-tab=function]').click()");
    page.wait("document.getElementById('stale')");
    assert_eq!(page.ask(now), before);
    page.wait(&format!("{scrolled} === 15"));
    // A page that is opened now has the list, and the source as it is.
    page.reload();
    page.wait("document.querySelector('#list a[data-name=\"main.total\"]')");
    page.wait("document.querySelector('.pane[data-stage=source]')?.textContent.includes('aria')");
    server.edit("main.py", "result += s.aria()", "result += s.area()");
    page.wait("document.querySelector('.pane[data-stage=annotations] svg')");
    page.wait("!document.getElementById('stale') && document.getElementById('problems').hidden");
}

/// Arrows go through lists, and Tab past them; splitters are moved by arrows, and the widths stay.
fn keyboard(browser: &Browser) {
    let (_server, mut page) = page(browser, "#/function/main.total");
    page.wait("document.querySelectorAll('.pane').length === 3");
    let active = "document.activeElement.dataset.name ?? document.activeElement.id";
    page.ask("document.getElementById('search').focus()");
    page.key("ArrowDown");
    assert_eq!(page.ask(active), "main.total");
    page.key("ArrowDown");
    assert_eq!(page.ask(active), "main.entry_point");
    page.key("Home");
    page.key("ArrowUp");
    assert_eq!(page.ask(active), "main.double [int]");
    page.key("End");
    assert_eq!(page.ask(active), "shapes.Circle.area");
    page.key("Tab");
    assert_eq!(
        page.ask("document.activeElement.closest('#list') === null && document.activeElement.closest('main') !== null"),
        true
    );
    let wide = "[...document.querySelectorAll('.pane')].map((p) => Math.round(p.getBoundingClientRect().width))";
    let before = page.ask(wide);
    page.ask("document.querySelector('.split').focus()");
    page.key("ArrowRight");
    page.key("ArrowRight");
    let after = page.ask(wide);
    let width = |all: &serde_json::Value, i: usize| all[i].as_i64().unwrap();
    assert!(
        width(&after, 0) - width(&before, 0) >= 75,
        "{before} {after}"
    );
    assert!(
        width(&before, 1) - width(&after, 1) >= 75,
        "{before} {after}"
    );
    assert!(
        (width(&before, 2) - width(&after, 2)).abs() <= 2,
        "{before} {after}"
    );
    page.reload();
    page.wait("document.querySelectorAll('.pane').length === 3");
    assert_eq!(page.ask(wide), after);

    page.ask("document.querySelector('[data-tab=classes]').click()");
    page.wait("document.querySelector('.tree a.on')");
    page.ask("document.querySelector('.tree a[tabindex=\"0\"]').focus()");
    page.key("Home");
    page.key("ArrowDown");
    let class = page.ask("document.activeElement.dataset.class");
    assert_eq!(
        class,
        page.ask("document.querySelectorAll('.tree a')[1].dataset.class")
    );
}

/// A graph opens at its first block and is fitted no smaller than it can be read.
fn first_block(browser: &Browser) {
    let (_server, mut page) = page(browser, "#/function/main.interpret");
    page.resize(1000, 600);
    let seen = |stage: &str| {
        format!(
            "(() => {{ const view = document.querySelector('.pane[data-stage=\"{stage}\"] .view'); \
             const block = view?.querySelector('.tp-start'); if (!block) return false; \
             const a = view.getBoundingClientRect(), b = block.getBoundingClientRect(); \
             const middle = b.left + b.width / 2; \
             return b.top >= a.top && b.top < a.bottom && middle > a.left && middle < a.right; }})()"
        )
    };
    page.wait(&seen("annotations"));
    page.choose(".pane[data-stage=annotations] select", "gc");
    page.wait(&seen("gc"));
    page.ask("document.querySelector('.pane[data-stage=gc] .view').scrollTo(9999, 9999)");
    page.ask("document.querySelector('.pane[data-stage=gc] [title^=Fit]').click()");
    page.wait(&seen("gc"));
    let scale = page.ask("(() => { const svg = document.querySelector('.pane[data-stage=gc] svg'); return svg.width.baseVal.value / svg.viewBox.baseVal.width; })()");
    let scale = scale.as_f64().unwrap();
    assert!((0.75..=1.0).contains(&scale), "{scale}");
    page.picture("first-block");
}

/// Names that are not known are named, with those that are like them.
fn unknown_names(browser: &Browser) {
    let (_server, mut page) = page(browser, "#/function/main.tot");
    page.wait("document.querySelector('.unknown')?.textContent.includes('no function main.tot')");
    page.ask("document.querySelector('.unknown a').click()");
    page.wait("document.querySelector('.bar h2')?.textContent === 'main.total'");
    page.ask("location.hash = '#/calls/main.nothing'");
    page.wait("document.querySelector('.unknown')?.textContent === 'The program has no function main.nothing.'");
    page.ask("location.hash = '#/classes/shapes.Circ'");
    page.wait("document.querySelector('.unknown')?.textContent.includes('no class shapes.Circ')");
    page.ask("document.querySelector('.unknown a').click()");
    page.wait("document.querySelector('.bar h2')?.textContent === 'shapes.Circle'");
}

/// A word says that something is being worked out, where that takes longer than a moment.
fn patience(browser: &Browser) {
    let (_server, mut page) = page(browser, "#/function/main.total");
    page.wait("document.querySelectorAll('.pane').length === 3");
    assert_eq!(page.ask("document.getElementById('working').hidden"), true);
    page.ask("{ const plain = window.fetch; window.fetch = async (...a) => { await new Promise((r) => setTimeout(r, 900)); return plain(...a); }; 1 }");
    page.ask("location.hash = '#/function/main.interpret'");
    page.wait("!document.getElementById('working').hidden");
    page.wait("document.querySelector('.bar h2')?.textContent === 'main.interpret' && document.getElementById('working').hidden");
    // Greens and reds are named, too.
    page.wait("document.getElementById('colors').textContent.includes('green: code')");
    page.wait("document.getElementById('colors').textContent.includes('red: acc')");
    page.ask("location.hash = '#/jit'");
    page.wait("document.querySelector('td.green')?.textContent === 'pc, code'");
    page.wait("document.querySelector('td.red')?.textContent === 'acc, n'");
}

/// In windows of any width, light and dark: nothing is cut off, nothing lies over something else, and text
/// differs from its background.
fn layout(browser: &Browser) {
    let (_server, mut page) = page(browser, "#/function/main.total");
    for (width, height) in [(1400, 900), (1000, 800), (700, 900), (400, 800)] {
        for scheme in ["light", "dark"] {
            page.resize(width, height);
            page.prefer(scheme);
            for (tab, there) in [
                ("function/main.interpret", ".pane svg"),
                ("calls/main.total", ".view svg"),
                ("classes/shapes.Circle", ".detail td"),
                ("timeline", "#ran td"),
                ("jit", "#residual .message"),
                ("problems", ".message"),
            ] {
                page.ask(&format!("location.hash = '#/{tab}'"));
                let name = tab.split('/').next().unwrap();
                page.wait(&format!(
                    "document.querySelector('{there}') && document.querySelector('nav a.on').dataset.tab === '{name}' \
                     && document.getElementById('working').hidden"
                ));
                let faults = page.ask(include_str!("browser/faults.js"));
                page.picture(&format!("layout-{width}-{scheme}-{name}"));
                assert_eq!(faults, json!([]), "{width} {scheme} {name}");
            }
        }
    }
    // In a narrow window the list is behind a button.
    page.click("#menu");
    page.wait("document.querySelector('#list a').getBoundingClientRect().width > 100");
    page.picture("layout-400-menu");
    assert_eq!(page.ask(include_str!("browser/faults.js")), json!([]));
    page.click("#list a[data-name=\"shapes.Circle.area\"]");
    page.wait("document.querySelector('.bar h2')?.textContent === 'shapes.Circle.area'");
    page.wait("document.querySelector('aside').getBoundingClientRect().width === 0");
}

/// Residual code of a run; colours follow what the reader prefers.
fn residual(browser: &Browser) {
    let (_server, mut page) = page(browser, "#/jit");
    page.wait("document.querySelector('table')?.textContent.includes('main.interpret')");
    page.input("#threshold", "10");
    page.ask("document.getElementById('run').click()");
    page.wait("document.getElementById('residual').textContent.includes('int_add')");
    let color = "getComputedStyle(document.body).backgroundColor";
    page.prefer("light");
    assert_eq!(page.ask(color), "rgb(255, 255, 255)");
    page.prefer("dark");
    assert_eq!(page.ask(color), "rgb(13, 17, 23)");
    page.picture("jit");
}

/// The advice on a run, as a list and below the source lines.
fn advice(browser: &Browser) {
    let (server, mut page) = page(browser, "#/jit");
    let tree = include_str!("../../../fixtures/programs/jit/advice/tree.py");
    std::fs::write(server.folder.path().join("main.py"), tree).unwrap();
    page.wait("document.querySelector('table')?.textContent.includes('main.While.eval')");
    page.input("#arguments", "300000");
    page.ask("document.getElementById('run').click()");
    page.wait("document.querySelector('#advice')?.textContent.includes('main.Sum.eval is called')");
    page.picture("advice");
    page.ask("document.querySelector('#advice a').click()");
    page.wait("document.querySelector('.code .advice')?.textContent.includes('@unroll_safe')");
    page.picture("advice-source");
}

/// The picture of the page in README.md shows the present page: its text and its style are those that were there
/// when it was made. `UPDATE_SCREENSHOT=1` (`just screenshot`) updates it.
fn screenshot(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new(env!("CARGO_BIN_EXE_taipan"))
        .args(["init", "--name", "minnow", "."])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let server = Explorer::start_in(folder);
    server.wait_for(1);
    let mut page = browser.open(&server.url("#/function/interpreter.run"));
    page.resize(1400, 760);
    page.wait("document.body.dataset.shown === '1' && location.search === ''");
    page.wait("document.getElementById('colors')?.textContent.includes('green')");
    page.ask("document.querySelector('.pane[data-stage=asm] [title=Close]').click()");
    page.wait("document.querySelectorAll('.pane').length === 2");
    page.wait("document.getElementById('colors')?.textContent.includes('green')");
    page.ask("document.getElementById('status').remove(); document.querySelector('.split').title = ''; 1");
    let text = page.ask(
        "(() => { const main = document.querySelector('main').cloneNode(true); \
         for (const choice of main.querySelectorAll('select')) choice.remove(); \
         return document.querySelector('aside').innerText + '\\n' + main.textContent.replace(/@[0-9a-f]+/g, ''); })()",
    );
    let folder = server.folder.path().file_name().unwrap();
    let text = text
        .as_str()
        .unwrap()
        .replace(folder.to_str().unwrap(), "minnow");
    let style = include_str!("../../explore/page/style.css");
    let shown = format!("{text}\n{style}");
    let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
    let old = std::fs::read_to_string(pictures.join("explore.txt")).unwrap_or_default();
    if std::env::var_os("UPDATE_SCREENSHOT").is_some() {
        page.ask("for (const h of document.querySelectorAll('#list h3')) h.textContent = h.textContent.replace(/^[^/]*/, 'minnow'); 1");
        std::fs::write(pictures.join("explore.png"), page.png()).unwrap();
        std::fs::write(pictures.join("explore.txt"), shown).unwrap();
    } else {
        assert!(
            old == shown,
            "UPDATE_SCREENSHOT=1 updates docs/pictures/explore.png: {text}"
        );
        assert!(pictures.join("explore.png").is_file());
    }
}

type Test = fn(&Browser);

fn main() -> ExitCode {
    let browser = Arc::new(Browser::find());
    let trial = |name: &str, test: Test| {
        let browser = browser.clone();
        timed_trial(name, move || match &*browser {
            Ok(browser) => {
                test(browser);
                Ok(Completion::Completed)
            }
            Err(reason) if std::env::var_os("TAIPAN_BROWSER").is_some() => {
                Err(Failed::from(reason))
            }
            Err(reason) => Ok(Completion::ignored_with(reason)),
        })
    };
    let trials = vec![
        trial("stages", stages),
        trial("program", program),
        trial("edits", edits),
        trial("broken", broken),
        trial("keyboard", keyboard),
        trial("first_block", first_block),
        trial("unknown_names", unknown_names),
        trial("patience", patience),
        trial("layout", layout),
        trial("residual", residual),
        trial("advice", advice),
        trial("screenshot", screenshot),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
