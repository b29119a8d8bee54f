//! The numbers that emitted code relies on are those of the runtime.

use std::mem::{offset_of, size_of};

use taipan_codegen::abi;
use taipan_runtime::externals;
use taipan_runtime::gc::{self, TypeInfo, header};
use taipan_runtime::start::{self, ProgramTable};
use taipan_runtime::state::{self, Location, offset};

#[test]
fn numbers_agree() {
    assert_eq!(abi::INSTANCE, header::INSTANCE);
    assert_eq!(abi::STATIC_FLAGS, header::STATIC_FLAGS as i64);
    assert_eq!(abi::TRACK, header::TRACK as i64);
    assert_eq!(
        abi::MARKED_OR_OUTSIDE,
        (header::MARKED | header::OUTSIDE) as i64
    );
    assert_eq!(abi::OUTSIDE, header::OUTSIDE as i64);
    assert_eq!(abi::LARGE_OBJECT, gc::LARGE_OBJECT as u64);
    assert!(taipan_transform::SHARED_CARD <= gc::CARD_ITEMS as i128);
    assert_eq!(abi::TYPE_INFO_SIZE, size_of::<TypeInfo>());
    assert_eq!(abi::LOCATION_SIZE, size_of::<Location>());
    let fields = [
        offset_of!(TypeInfo, fixed_size),
        offset_of!(TypeInfo, item_size),
        offset_of!(TypeInfo, length_offset),
        offset_of!(TypeInfo, items_offset),
        offset_of!(TypeInfo, pointers),
        offset_of!(TypeInfo, item_pointers),
        offset_of!(TypeInfo, kind),
        offset_of!(TypeInfo, heavy_finalizer),
    ];
    assert_eq!(fields, [0, 4, 8, 12, 16, 20, 24, 28]);
    assert_eq!(offset_of!(TypeInfo, finalizer), 32);
    assert_eq!(offset_of!(TypeInfo, text), abi::TYPE_INFO_SIZE - 8);
}

#[test]
fn state_agrees() {
    use abi::state::*;
    assert_eq!(
        [
            NURSERY_FREE,
            NURSERY_TOP,
            ROOT_STACK_TOP,
            EXC_TYPE,
            EXC_VALUE,
            STACK_LIMIT,
            SLOW_RESULT,
            SLOW_ARGUMENTS,
            SIGNALS,
            TRACEBACK_COUNT,
            TRACEBACK,
        ],
        [
            offset::NURSERY_FREE,
            offset::NURSERY_TOP,
            offset::ROOT_STACK_TOP,
            offset::EXC_TYPE,
            offset::EXC_VALUE,
            offset::STACK_LIMIT,
            offset::SLOW_RESULT,
            offset::SLOW_ARGUMENTS,
            offset::SIGNALS,
            offset::TRACEBACK_COUNT,
            offset::TRACEBACK,
        ]
    );
    assert_eq!(TRACEBACK_DEPTH, state::TRACEBACK_DEPTH as i64);
    assert_eq!(abi::mark::RAISED, state::RAISED as i64);
    assert_eq!(abi::mark::CAUGHT, state::CAUGHT as i64);
    assert_eq!(abi::mark::RERAISED, state::RERAISED as i64);
}

#[test]
fn program_table_agrees() {
    use abi::table::*;
    assert_eq!(SIZE, size_of::<ProgramTable>());
    assert_eq!(ENTRY as usize, offset_of!(ProgramTable, entry));
    assert_eq!(STRING as usize, offset_of!(ProgramTable, string));
    assert_eq!(
        STRING_ARRAY as usize,
        offset_of!(ProgramTable, string_array)
    );
    assert_eq!(STRING_LIST as usize, offset_of!(ProgramTable, string_list));
    assert_eq!(LIST_LENGTH, offset_of!(ProgramTable, list_length));
    assert_eq!(LIST_ITEMS, offset_of!(ProgramTable, list_items));
    assert_eq!(ARGV, offset_of!(ProgramTable, argv));
    assert_eq!(RETURNS_CODE, offset_of!(ProgramTable, returns_code));
    assert_eq!(PLACES as usize, offset_of!(ProgramTable, places));
    assert_eq!(COLLECTOR, offset_of!(ProgramTable, collector));
    for c in taipan_language::Collector::ALL {
        let numbered = taipan_runtime::gc::Collector::numbered(c.number());
        assert_eq!(numbered as u32, c.number());
    }
    assert_eq!(abi::FREED, taipan_runtime::raw::FREED);
    assert_eq!((start::ARRAY_ARGV, start::LIST_ARGV), (1, 2));
}

#[test]
fn every_external_function_exists() {
    let mut names = Vec::new();
    start::symbols(|name, _| names.push(name));
    let called = taipan_codegen::runtime::RUNTIME_FUNCTIONS;
    let called = called.iter().map(|f| f.name);
    for name in taipan_lltype::EXTERNALS
        .iter()
        .map(|e| e.name)
        .chain(called)
    {
        assert!(names.contains(&name), "{name}");
    }
}

#[test]
fn other_threads_run_where_roots_are_saved() {
    for e in taipan_lltype::EXTERNALS {
        let changes_threads = ["rpy_gil_release", "rpy_gil_acquire", "rpy_gil_yield"];
        assert_eq!(
            taipan_lltype::blocks(e.name),
            externals::BLOCKING.contains(&e.name) || changes_threads.contains(&e.name),
            "{}",
            e.name
        );
    }
}
