//! Modules of Python's library that translated code cannot use, and the replacement for each.

/// The replacement for a module that RPython programs do not have, by its name or that of its package: a module of
/// Python 2.7 that serves import time at most, or one that came with Python 3. None for modules without one. Each is applied in a
/// test (`tests/remedies.rs` of the crate taipan).
pub fn instead_of_module(name: &str) -> Option<&'static str> {
    let package = name.split('.').next().unwrap_or(name);
    Some(match package {
        "pickle" | "cPickle" | "shelve" => {
            "write the values as text and parse them, or use `get_marshaller(type)` of rpython.rlib.rmarshal"
        }
        "datetime" | "calendar" => "compute with `time.time()`, the number of seconds since 1970",
        "argparse" | "optparse" | "getopt" => {
            "look at the argument of the entry point: `argv[1]`, `argv[2]`, .."
        }
        "logging" => "write to standard error: `os.write(2, text)`",
        "decimal" | "fractions" => {
            "compute with integers, or with `rbigint.fromint(n)` of rpython.rlib.rbigint"
        }
        "urllib" | "urllib2" | "httplib" | "ftplib" | "smtplib" | "telnetlib" | "http"
        | "SocketServer" => "use the sockets of rpython.rlib.rsocket",
        "enum" => "number the values: `RED, GREEN = range(2)`",
        "dataclasses" | "attr" => "write a class whose `__init__` sets the attributes",
        "typing" => "leave it out: types are found by the compiler",
        "pathlib" | "shutil" | "tempfile" => {
            "use the functions of `os` and `os.path`, which are there when the program runs"
        }
        "asyncio" | "concurrent" | "multiprocessing" | "Queue" | "queue" => {
            "use `start_new_thread(function, args)` of rpython.rlib.rthread"
        }
        "pprint" | "textwrap" | "csv" | "ConfigParser" | "configparser" | "shlex" | "base64" => {
            "read and write the text by hand: there is no such module in rpython.rlib"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::instead_of_module;

    #[test]
    fn submodules_have_the_remedy_of_their_package() {
        assert_eq!(
            instead_of_module("logging.handlers"),
            instead_of_module("logging")
        );
        assert_eq!(instead_of_module("logger"), None);
    }
}
