//! Opening a folder runs nothing of it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::attacks::{ATTACKS, ENTRY, SCRIPT};
use crate::client::Client;

const CONFIG: &str = "[tool.taipan]\ntargets = ['main.py']\n";

/// Starts a server in the folder of one of the attacks: it, and the file that the attack makes.
fn opened(source: &str, elsewhere: &Path, initial: Value) -> (Client, PathBuf) {
    let made = elsewhere.join("made");
    let fill = |text: &str| {
        text.replace("MADE", made.to_str().unwrap())
            .replace("FOLDER", elsewhere.to_str().unwrap())
    };
    let script = elsewhere.join("script");
    fs::write(&script, fill(SCRIPT)).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let main = fill(&format!("{source}{ENTRY}"));
    let files = [("main.py", &*main), ("pyproject.toml", CONFIG)];
    let client = Client::start_with(&files, json!({"initializationOptions": initial}));
    (client, made)
}

#[test]
fn opening_a_folder_runs_nothing_of_it() {
    for (name, source) in ATTACKS {
        let elsewhere = tempfile::tempdir().unwrap();
        // Trust is no setting.
        let initial = json!({"taipan": {"workspaceTrusted": true, "trusted": true}});
        let (mut client, made) = opened(source, elsewhere.path(), initial);
        let found = client.wait("main.py", |d| d.to_string().contains("TP0205"));
        let told = found.to_string();
        assert!(told.contains("taipan trust"), "{name}: {told}");
        assert!(!made.exists(), "{name} ran");
    }
}

#[test]
fn a_workspace_that_the_editor_trusts_may_do_it() {
    let elsewhere = tempfile::tempdir().unwrap();
    let initial = json!({"workspaceTrusted": true});
    let (_client, made) = opened(ATTACKS[0].1, elsewhere.path(), initial);
    let end = Instant::now() + Duration::from_secs(120);
    while !made.exists() {
        assert!(Instant::now() < end, "it did not run");
        std::thread::sleep(Duration::from_millis(20));
    }
}
