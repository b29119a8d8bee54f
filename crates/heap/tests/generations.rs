//! Memory goes from process to process: the test saves what it has, starts itself with that, and
//! so on for some generations; files that are damaged are refused.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "processes of their own tell their outcome"
)]

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

use taipan_heap::{
    GENERATION_VARIABLE, Heap, Mapped, Saving, StaticTable, map, next_generation, save,
};

#[global_allocator]
static ALLOCATOR: Heap = Heap;

#[used]
#[unsafe(link_section = ".init_array")]
static RESERVE: extern "C" fn() = taipan_heap::reserve;

const KEY: taipan_heap::MemoryKey = *b"the key of a test: 32 bytes long";

/// How many processes map what others left.
const GENERATIONS: usize = 3;

/// A table that the heap refers to.
static TABLE: LazyLock<Mutex<HashMap<String, &'static str>>> = LazyLock::new(Mutex::default);

trait Animal {
    fn says(&self) -> String;
}

struct Dog(String);

impl Animal for Dog {
    fn says(&self) -> String {
        format!("{} barks", self.0)
    }
}

/// Something with pointers to the heap, to functions and to constants.
struct World {
    numbers: HashMap<u32, Vec<u32>>,
    animals: Vec<Box<dyn Animal>>,
    call: fn(u32) -> u32,
    names: BTreeMap<String, &'static str>,
    /// Most of it was never written to.
    room: Vec<u64>,
    rounds: usize,
}

/// How much room there is for numbers: some megabytes.
const ROOM: usize = 3 << 20;

fn twice(n: u32) -> u32 {
    2 * n
}

impl World {
    fn new() -> World {
        let mut world = World {
            numbers: HashMap::new(),
            animals: vec![Box::new(Dog("Rex".to_owned()))],
            call: twice,
            names: BTreeMap::new(),
            room: Vec::with_capacity(ROOM),
            rounds: 0,
        };
        for n in 0..100_000 {
            world.numbers.insert(n, vec![n; (n % 7) as usize]);
        }
        world
    }

    /// What every process adds.
    fn go_on(&mut self) {
        self.rounds += 1;
        for n in (0..100_000).step_by(10) {
            // Moves what grows, and frees what goes.
            self.numbers.entry(n).or_default().push(n);
            self.numbers.remove(&(n + 100_000 * self.rounds as u32));
            self.numbers
                .insert(n + 100_000 * (self.rounds as u32 + 1), vec![n]);
        }
        // Each round writes elsewhere.
        self.room
            .resize(ROOM / (GENERATIONS + 1) * self.rounds, self.rounds as u64);
        let name: &'static str = format!("round {}", self.rounds).leak();
        self.animals.push(Box::new(Dog(name.to_owned())));
        TABLE.lock().unwrap().insert(name.to_owned(), name);
        self.names.insert(name.to_owned(), name);
    }

    /// Fails if something is not as `rounds` processes leave it.
    fn check(&self, rounds: usize) {
        assert_eq!(self.rounds, rounds);
        let last: Vec<String> = self.animals.iter().map(|a| a.says()).collect();
        let mut expected = vec!["Rex barks".to_owned()];
        expected.extend((1..=rounds).map(|n| format!("round {n} barks")));
        assert_eq!(last, expected);
        assert_eq!((self.call)(21), 42);
        for n in 0..100_000u32 {
            let more = if n % 10 == 0 { rounds } else { 0 };
            let items = &self.numbers[&n];
            assert_eq!(items.len(), (n % 7) as usize + more);
            assert!(items.iter().all(|i| *i == n));
        }
        assert_eq!(self.numbers.len(), 110_000);
        let piece = ROOM / (GENERATIONS + 1);
        assert_eq!(self.room.len(), piece * rounds);
        assert!((self.room.iter().enumerate()).all(|(i, n)| *n == (i / piece + 1) as u64));
        let table = TABLE.lock().unwrap();
        assert_eq!(table.len(), rounds);
        for (name, known) in &self.names {
            // The same string, not an equal one.
            assert!(std::ptr::eq(table[name], *known));
        }
    }
}

fn save_world(world: &World, folder: &Path, complete: &Path) {
    let path = folder.join("new");
    let file = File::create(&path).unwrap();
    let saving = Saving {
        file: &file,
        path: &path,
        complete,
        key: &KEY,
        note: world.rounds as u64,
        root: std::ptr::from_ref(world) as usize,
        statics: &[StaticTable::of(&TABLE)],
    };
    // SAFETY: a world refers to the heap, to constants and to the table; there is one thread.
    unsafe { save(&saving) }.unwrap();
    let since = Instant::now();
    while !complete.exists() {
        assert!(since.elapsed() < Duration::from_secs(60), "never complete");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn start(file: &Path, generation: usize) -> std::process::Output {
    let given = format!("{generation}:{}", file.display());
    let me = std::env::current_exe().unwrap();
    let mut command = Command::new(me);
    command.env(GENERATION_VARIABLE, given).output().unwrap()
}

/// What a process does that was given a file.
fn continued(given: &str) {
    let (generation, path) = given.split_once(':').unwrap();
    let generation: usize = generation.parse().unwrap();
    let path = PathBuf::from(path);
    let file = File::open(&path).unwrap();
    // SAFETY: this is the only thread, and nobody has looked at the table.
    let mapped = match unsafe { map(&file, &KEY) } {
        Ok(mapped) => mapped,
        Err(e) => {
            print!("refused: {e}");
            return;
        }
    };
    assert_eq!(mapped.last_generation() + 1, generation);
    assert_eq!(mapped.note(), generation as u64);
    // SAFETY: this is what the process before has saved; nobody else uses it.
    let world = unsafe { &mut *(mapped.root() as *mut World) };
    world.check(generation);
    world.go_on();
    world.check(generation + 1);
    if generation < GENERATIONS {
        let folder = path.parent().unwrap();
        let complete = folder.join(format!("generation {generation}"));
        save_world(world, folder, &complete);
        let next = next_generation(mapped.last_generation() + 1).unwrap();
        let next = start(&complete, next);
        let text = String::from_utf8_lossy(&next.stdout).into_owned();
        assert!(
            next.status.success(),
            "{}",
            String::from_utf8_lossy(&next.stderr)
        );
        print!("{text}");
    }
    print!("{generation} ");
}

fn main() {
    if let Ok(given) = std::env::var(GENERATION_VARIABLE) {
        return continued(&given);
    }
    assert!(taipan_heap::is_reserved());
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("generation 0");
    let mut world = Box::new(World::new());
    world.go_on();
    world.check(1);
    save_world(&world, folder.path(), &saved);
    let told = |o: std::process::Output| {
        assert!(o.status.success(), "{}", String::from_utf8_lossy(&o.stderr));
        String::from_utf8(o.stdout).unwrap()
    };
    assert_eq!(told(start(&saved, 1)), "3 2 1 ");
    assert_eq!(
        told(start(&saved, 2)),
        "refused: not the generations before this process"
    );

    let file = File::open(&saved).unwrap();
    let len = file.metadata().unwrap().len();
    assert!(Mapped::look_at(&file, &KEY).is_some());
    assert!(Mapped::look_at(&file, b"another key of a test: 32 bytes.").is_none());
    let damaged = folder.path().join("damaged");
    let mut places: Vec<u64> = (0..64).map(|i| i * (len / 64) + 17).collect();
    places.extend([
        0,
        20,
        58,
        60,
        87,
        88,
        (64 << 10) - 1,
        64 << 10,
        (64 << 10) + 9,
        len - 1,
    ]);
    for at in places {
        std::fs::copy(&saved, &damaged).unwrap();
        let file = File::options()
            .read(true)
            .write(true)
            .open(&damaged)
            .unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 4], at).unwrap();
        let text = told(start(&damaged, 1));
        assert!(text.starts_with("refused"), "{at}: {text}");
    }
    // A tag is of no use on another file.
    let other = folder.path().join("other");
    world.animals.pop();
    save_world(&world, folder.path(), &other);
    let mut head = [0; 88];
    file.read_exact_at(&mut head, 0).unwrap();
    let forged = File::options().write(true).open(&other).unwrap();
    for from in [0, 16, 56] {
        forged.write_all_at(&head[from..], from as u64).unwrap();
        assert!(told(start(&other, 1)).starts_with("refused"), "{from}");
    }
    for part in [0, 100, 70_000, len / 2, len - 1] {
        std::fs::copy(&saved, &damaged).unwrap();
        File::options()
            .write(true)
            .open(&damaged)
            .unwrap()
            .set_len(part)
            .unwrap();
        assert!(told(start(&damaged, 1)).starts_with("refused"), "{part}");
    }
    println!("memory goes from process to process: ok");
}
