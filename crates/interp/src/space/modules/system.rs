//! Facts about the system: `sysconf()`, with the same values on every machine, and `stat_result`.

use super::os::os_error;
use crate::space::builtin::Args;
use crate::space::heap::Ref;
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::{Interp, R};

/// The names of `sysconf()`, their numbers and values: a 64-bit Linux with one processor and 4 GB.
const SYSCONF: &[(&str, i64, i64)] = &[
    ("SC_ARG_MAX", 0, 2_097_152),
    ("SC_CHILD_MAX", 1, -1),
    ("SC_CLK_TCK", 2, 100),
    ("SC_NGROUPS_MAX", 3, 65536),
    ("SC_OPEN_MAX", 4, 1024),
    ("SC_STREAM_MAX", 5, 16),
    ("SC_TZNAME_MAX", 6, -1),
    ("SC_JOB_CONTROL", 7, 1),
    ("SC_SAVED_IDS", 8, 1),
    ("SC_REALTIME_SIGNALS", 9, 200_809),
    ("SC_PRIORITY_SCHEDULING", 10, 200_809),
    ("SC_TIMERS", 11, 200_809),
    ("SC_ASYNCHRONOUS_IO", 12, 200_809),
    ("SC_PRIORITIZED_IO", 13, 200_809),
    ("SC_SYNCHRONIZED_IO", 14, 200_809),
    ("SC_FSYNC", 15, 200_809),
    ("SC_MAPPED_FILES", 16, 200_809),
    ("SC_MEMLOCK", 17, 200_809),
    ("SC_MEMLOCK_RANGE", 18, 200_809),
    ("SC_MEMORY_PROTECTION", 19, 200_809),
    ("SC_MESSAGE_PASSING", 20, 200_809),
    ("SC_SEMAPHORES", 21, 200_809),
    ("SC_SHARED_MEMORY_OBJECTS", 22, 200_809),
    ("SC_AIO_LISTIO_MAX", 23, -1),
    ("SC_AIO_MAX", 24, -1),
    ("SC_AIO_PRIO_DELTA_MAX", 25, 20),
    ("SC_DELAYTIMER_MAX", 26, 2_147_483_647),
    ("SC_MQ_OPEN_MAX", 27, -1),
    ("SC_MQ_PRIO_MAX", 28, 32768),
    ("SC_VERSION", 29, 200_809),
    ("SC_PAGESIZE", 30, 4096),
    ("SC_PAGE_SIZE", 30, 4096),
    ("SC_RTSIG_MAX", 31, 32),
    ("SC_SEM_NSEMS_MAX", 32, -1),
    ("SC_SEM_VALUE_MAX", 33, 2_147_483_647),
    ("SC_SIGQUEUE_MAX", 34, -1),
    ("SC_TIMER_MAX", 35, -1),
    ("SC_BC_BASE_MAX", 36, 99),
    ("SC_BC_DIM_MAX", 37, 2048),
    ("SC_BC_SCALE_MAX", 38, 99),
    ("SC_BC_STRING_MAX", 39, 1000),
    ("SC_COLL_WEIGHTS_MAX", 40, 255),
    ("SC_EQUIV_CLASS_MAX", 41, -1),
    ("SC_EXPR_NEST_MAX", 42, 32),
    ("SC_LINE_MAX", 43, 2048),
    ("SC_RE_DUP_MAX", 44, 32767),
    ("SC_CHARCLASS_NAME_MAX", 45, 2048),
    ("SC_2_VERSION", 46, 200_809),
    ("SC_2_C_BIND", 47, 200_809),
    ("SC_2_C_DEV", 48, 200_809),
    ("SC_2_FORT_DEV", 49, -1),
    ("SC_2_FORT_RUN", 50, -1),
    ("SC_2_SW_DEV", 51, 200_809),
    ("SC_2_LOCALEDEF", 52, 200_809),
    ("SC_PII", 53, -1),
    ("SC_PII_XTI", 54, -1),
    ("SC_PII_SOCKET", 55, -1),
    ("SC_PII_INTERNET", 56, -1),
    ("SC_PII_OSI", 57, -1),
    ("SC_POLL", 58, -1),
    ("SC_SELECT", 59, -1),
    ("SC_IOV_MAX", 60, 1024),
    ("SC_UIO_MAXIOV", 60, 1024),
    ("SC_PII_INTERNET_STREAM", 61, -1),
    ("SC_PII_INTERNET_DGRAM", 62, -1),
    ("SC_PII_OSI_COTS", 63, -1),
    ("SC_PII_OSI_CLTS", 64, -1),
    ("SC_PII_OSI_M", 65, -1),
    ("SC_T_IOV_MAX", 66, -1),
    ("SC_THREADS", 67, 200_809),
    ("SC_THREAD_SAFE_FUNCTIONS", 68, 200_809),
    ("SC_GETGR_R_SIZE_MAX", 69, 1024),
    ("SC_GETPW_R_SIZE_MAX", 70, 1024),
    ("SC_LOGIN_NAME_MAX", 71, 256),
    ("SC_TTY_NAME_MAX", 72, 32),
    ("SC_THREAD_DESTRUCTOR_ITERATIONS", 73, 4),
    ("SC_THREAD_KEYS_MAX", 74, 1024),
    ("SC_THREAD_STACK_MIN", 75, 16384),
    ("SC_THREAD_THREADS_MAX", 76, -1),
    ("SC_THREAD_ATTR_STACKADDR", 77, 200_809),
    ("SC_THREAD_ATTR_STACKSIZE", 78, 200_809),
    ("SC_THREAD_PRIORITY_SCHEDULING", 79, 200_809),
    ("SC_THREAD_PRIO_INHERIT", 80, 200_809),
    ("SC_THREAD_PRIO_PROTECT", 81, 200_809),
    ("SC_THREAD_PROCESS_SHARED", 82, 200_809),
    ("SC_NPROCESSORS_CONF", 83, 1),
    ("SC_NPROCESSORS_ONLN", 84, 1),
    ("SC_PHYS_PAGES", 85, 1_048_576),
    ("SC_AVPHYS_PAGES", 86, 524_288),
    ("SC_ATEXIT_MAX", 87, 2_147_483_647),
    ("SC_PASS_MAX", 88, 8192),
    ("SC_XOPEN_VERSION", 89, 700),
    ("SC_XOPEN_XCU_VERSION", 90, 4),
    ("SC_XOPEN_UNIX", 91, 1),
    ("SC_XOPEN_CRYPT", 92, -1),
    ("SC_XOPEN_ENH_I18N", 93, 1),
    ("SC_XOPEN_SHM", 94, 1),
    ("SC_2_CHAR_TERM", 95, 200_809),
    ("SC_2_C_VERSION", 96, 200_809),
    ("SC_2_UPE", 97, -1),
    ("SC_XOPEN_XPG2", 98, 1),
    ("SC_XOPEN_XPG3", 99, 1),
    ("SC_XOPEN_XPG4", 100, 1),
    ("SC_CHAR_BIT", 101, 8),
    ("SC_CHAR_MAX", 102, 127),
    ("SC_CHAR_MIN", 103, -128),
    ("SC_INT_MAX", 104, 2_147_483_647),
    ("SC_INT_MIN", 105, -2_147_483_648),
    ("SC_LONG_BIT", 106, 64),
    ("SC_WORD_BIT", 107, 32),
    ("SC_MB_LEN_MAX", 108, 16),
    ("SC_NZERO", 109, 20),
    ("SC_SSIZE_MAX", 110, 32767),
    ("SC_SCHAR_MAX", 111, 127),
    ("SC_SCHAR_MIN", 112, -128),
    ("SC_SHRT_MAX", 113, 32767),
    ("SC_SHRT_MIN", 114, -32768),
    ("SC_UCHAR_MAX", 115, 255),
    ("SC_UINT_MAX", 116, -1),
    ("SC_ULONG_MAX", 117, -1),
    ("SC_USHRT_MAX", 118, 65535),
    ("SC_NL_ARGMAX", 119, 4096),
    ("SC_NL_LANGMAX", 120, 2048),
    ("SC_NL_MSGMAX", 121, 2_147_483_647),
    ("SC_NL_NMAX", 122, 2_147_483_647),
    ("SC_NL_SETMAX", 123, 2_147_483_647),
    ("SC_NL_TEXTMAX", 124, 2_147_483_647),
    ("SC_XBS5_ILP32_OFF32", 125, -1),
    ("SC_XBS5_ILP32_OFFBIG", 126, -1),
    ("SC_XBS5_LP64_OFF64", 127, 1),
    ("SC_XBS5_LPBIG_OFFBIG", 128, -1),
    ("SC_XOPEN_LEGACY", 129, 1),
    ("SC_XOPEN_REALTIME", 130, 1),
    ("SC_XOPEN_REALTIME_THREADS", 131, 1),
];

/// `sysconf(name)`, where `name` is a string or a number.
pub(super) fn sysconf(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "sysconf", 1, 1)?;
    let found = match &args.pos[0] {
        Value::Str(name) => {
            let found = SYSCONF.iter().find(|(n, ..)| n.as_bytes() == &**name);
            if found.is_none() {
                return it.value_error("unrecognized configuration name");
            }
            found
        }
        v @ (Value::Int(_) | Value::Bool(_)) => {
            let number = it.index_of(v)?;
            SYSCONF.iter().find(|(_, n, _)| *n == number)
        }
        _ => return it.type_error("configuration names must be strings or integers"),
    };
    match found {
        Some((_, _, value)) => Ok(Value::Int(*value)),
        None => os_error(it, libc::EINVAL, "Invalid argument"),
    }
}

/// Fields of a `stat_result`: first the items of the sequence, then fields that only longer sequences fill.
const FIELDS: [&str; 16] = [
    "st_mode",
    "st_ino",
    "st_dev",
    "st_nlink",
    "st_uid",
    "st_gid",
    "st_size",
    "st_atime",
    "st_mtime",
    "st_ctime",
    "st_atime",
    "st_mtime",
    "st_ctime",
    "st_blksize",
    "st_blocks",
    "st_rdev",
];
/// Number of fields that are items of the sequence.
const IN_SEQUENCE: usize = 10;

/// `stat_result(sequence)`
pub(crate) fn new_stat_result(it: &mut Interp, args: Args<'_>) -> R {
    let Some(items) = args.named(0, "sequence").cloned() else {
        return it.type_error("Required argument 'sequence' (pos 1) not found");
    };
    let items = it.list_of(&items)?;
    let limit = match items.len() {
        n if n < IN_SEQUENCE => Some(("least", IN_SEQUENCE)),
        n if n > FIELDS.len() => Some(("most", FIELDS.len())),
        _ => None,
    };
    if let Some((how, limit)) = limit {
        let given = items.len();
        return it.type_error(format!(
            "posix.stat_result() takes an at {how} {limit}-sequence ({given}-sequence given)"
        ));
    }
    let fields: Vec<(&str, Value)> = FIELDS.into_iter().zip(items).collect();
    let (sequence, others) = fields.split_at(IN_SEQUENCE);
    let result = it.named_tuple(ty::STAT_RESULT, sequence);
    for (name, v) in others {
        it.heap.set_attr(result, name, v.clone());
    }
    for name in FIELDS.iter().skip(fields.len().max(13)) {
        it.heap.set_attr(result, name, Value::None);
    }
    Ok(Value::Ref(result))
}

/// Names of this file in module `posix`.
pub(super) fn init(it: &mut Interp, m: Ref) {
    let names = (SYSCONF.iter()).map(|(name, number, _)| ((*name).into(), Value::Int(*number)));
    let names = it.namespace(names.collect());
    it.heap.set_attr(m, "sysconf_names", Value::Ref(names));
    it.heap
        .set_attr(m, "stat_result", Value::Ref(ty::STAT_RESULT));
    for (name, n) in [
        ("n_sequence_fields", IN_SEQUENCE),
        ("n_fields", FIELDS.len()),
        ("n_unnamed_fields", 3),
    ] {
        it.heap.set_attr(ty::STAT_RESULT, name, Value::from(n));
    }
}
