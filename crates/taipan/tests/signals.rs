//! Signals and threads of executables: the tests need a process of their own.

use std::process::Command;

/// Starts a timer that sends SIGALRM every 50 ms: the first signal may come before a system call.
const TIMER: &str = "\
import os, time
from rpython.rlib import rgil, rposix, rsignal, rthread
from rpython.rtyper.lltypesystem import lltype, rffi
def set_timer(microseconds):
    with lltype.scoped_alloc(rsignal.itimervalP.TO, 1) as timer:
        for time in [timer[0].c_it_interval, timer[0].c_it_value]:
            rffi.setintfield(time, 'c_tv_sec', 0)
            rffi.setintfield(time, 'c_tv_usec', microseconds)
        rsignal.c_setitimer(rffi.cast(rffi.INT, rsignal.ITIMER_REAL), timer,
                            lltype.nullptr(rsignal.itimervalP.TO))
def start_timer():
    rsignal.pypysig_setflag(rsignal.SIGALRM)
    set_timer(50000)
def arrived():
    return rsignal.pypysig_poll() == rsignal.SIGALRM
";

/// What an executable prints, by the default back end and by C.
#[track_caller]
fn prints(program: &str, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let source = format!("{TIMER}{program}");
    std::fs::write(folder.path().join("main.py"), source).unwrap();
    for backend in ["cranelift", "c"] {
        let built = Command::new(env!("CARGO_BIN_EXE_taipan"))
            .current_dir(folder.path())
            .env("XDG_CACHE_HOME", folder.path().join("caches"))
            .args(["build", "-q", "--backend", backend, "main.py", "-o", "main"])
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "{backend}: {errors}");
        let mut run = Command::new("timeout");
        let printed = run
            .arg("20")
            .arg(folder.path().join("main"))
            .output()
            .unwrap()
            .stdout;
        assert_eq!(String::from_utf8_lossy(&printed), expected, "{backend}");
    }
}

#[test]
fn signals_interrupt_system_calls() {
    // EINTR is 4. More is written than the pipe has room for.
    prints(
        "\
def entry_point(argv):
    reading, writing = os.pipe()
    start_timer()
    try: os.read(reading, 1)
    except OSError as e: print 'read', e.errno, arrived()
    n = os.write(writing, 'x' * 1000000)
    print 'write', 0 < n < 1000000, arrived()
    before = time.time()
    time.sleep(10)
    print 'sleep', time.time() - before < 5, arrived()
    child = os.fork()
    if child == 0:
        set_timer(0)
        os.read(reading, 1000000)
        os.read(reading, 1)
        return 0
    try: os.waitpid(child, 0)
    except OSError as e: print 'waitpid', e.errno, arrived()
    os.kill(child, rsignal.SIGKILL)
    return 0
",
        "read 4 1\nwrite 1 1\nsleep 1 1\nwaitpid 4 1\n",
    );
}

#[test]
fn threads_signal_the_process() {
    // The first thread waits for the signal; the other sends it to the process.
    prints(
        "\
def sender():
    time.sleep(0.05)
    os.kill(os.getpid(), rsignal.SIGUSR1)
def entry_point(argv):
    with lltype.scoped_alloc(rsignal.c_sigset_t.TO) as signals:
        rsignal.c_sigemptyset(signals)
        rsignal.c_sigaddset(signals, rsignal.SIGUSR1)
        with lltype.scoped_alloc(rsignal.c_sigset_t.TO) as previous:
            rsignal.c_pthread_sigmask(rsignal.SIG_BLOCK, signals, previous)
        rthread.start_new_thread(sender, ())
        with lltype.scoped_alloc(rffi.INT_realP.TO, 1) as found:
            rsignal.c_sigwait(signals, found)
            print rffi.cast(lltype.Signed, found[0]) == rsignal.SIGUSR1
    return 0
",
        "1\n",
    );
}
