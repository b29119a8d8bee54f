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

use std::process::ExitCode;
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
    assert!(
        tip.as_str()
            .unwrap()
            .starts_with("SomeList[SomeInstance(Shape)]"),
        "{tip}"
    );
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
    page.wait("document.querySelector('.detail table')?.textContent.includes('SomeInteger')");
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
        trial("residual", residual),
        trial("advice", advice),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
