//! Code for machines other than this one.

use expect_test::{Expect, expect};
use taipan_codegen::{Glue, SymbolRef};
use taipan_language::Machine;

use super::{parse, transformed};
use crate::{FunctionCompiler, OptLevel, compile_all_for, object_file};

/// Allocates, stores, calls, adds with a check, divides.
const TEXT: &str = "
    struct node = GcStruct { value: Signed, next: *GcOpaque GCREF }
    func sum = synth 'sum' (): func(*GcStruct node, Signed) -> Signed
    graph sum
    block0(n: *GcStruct node, total: Signed):
        v: Signed = getfield(n, .value)
        s: Signed = int_add_ovf(total, v)
        canraise
            ok: return(s)
            &vtable #00000000000000e4 as *Struct object_vtable(t0: *Struct object_vtable, v0: *GcStruct object): except(t0, v0)
    END
    graph f
    block0(a: Signed, b: Signed):
        n: *GcStruct node = malloc(<type GcStruct node>, <gc>)
        x: Void = setfield(n, .value, a)
        s: Signed = direct_call(&sum, n, b)
        q: Signed = int_floordiv(s, a)
        goto return(q)
    END";

#[track_caller]
fn check(machine: Machine, expected: &Expect) {
    let program = transformed(&parse(TEXT));
    let mut text = String::new();
    for f in &program.functions {
        let mut compiler = FunctionCompiler::for_machine(machine, OptLevel::Speed).unwrap();
        let graph = &program.graphs[f.name()];
        text.push_str(&compiler.asm(&program, f, graph).unwrap());
        text.push('\n');
    }
    expected.assert_eq(&text);
}

#[test]
fn aarch64() {
    check(
        Machine::Aarch64,
        &expect![[r#"
            block0:
              ldr x0, [x0, #8]
              adds x0, x1, x0
              cset x1, vs
              ands wzr, w1, #255
              b.ne label2 ; b label1
            block1:
              b label3
            block3:
              ret
            block2:
              load_ext_name_near x1, User(vtable.453f7ccdd34e85e2)+0
              load_ext_name_near x2, User(rpy_state)+0
              str x1, [x2, #24]
              load_ext_name_near x0, User(object.d1dba0c6c7c349dd)+0
              str x0, [x2, #32]
              ldr x3, [x2, #88]
              add x0, x3, #1
              str x0, [x2, #88]
              movz x0, #0
              and x3, x3, #127
              add x3, x2, x3, LSL 4
              str x0, [x3, #96]
              str x1, [x3, #104]
              ldr x3, [x2, #88]
              add x4, x3, #1
              str x4, [x2, #88]
              load_ext_name_near x4, User(<location 0>)+0
              and x3, x3, #127
              add x2, x2, x3, LSL 4
              str x4, [x2, #96]
              str x1, [x2, #104]
              b label3

              stp fp, lr, [sp, #-16]!
              mov fp, sp
              str x26, [sp, #-16]!
              stp x19, x20, [sp, #-16]!
            block0:
              mov x4, x0
              load_ext_name_near x19, User(rpy_state)+0
              ldr x0, [x19]
              ldr x2, [x19, #8]
              add x3, x0, #24
              subs xzr, x3, x2
              b.ls label4 ; b label1
            block2:
              b label5
            block3:
              b label6
            block4:
              add x2, x0, #24
              str x2, [x19]
              b label5
            block5:
              load_ext_name_near x2, User(<type GcStruct node>)+0
              str x2, [x0]
              movz x2, #0
              str x2, [x0, #16]
              b label6
            block6:
              movz x26, #0
              cbz x0, label10 ; b label7
            block7:
              mov x20, x4
              str x20, [x0, #8]
              bl 0
              ldr x1, [x19, #24]
              cbnz x1, label9 ; b label8
            block8:
              movn x1, #0
              movz x2, #1
              subs xzr, x20, x1
              csel x2, x2, x20, eq
              cbz x2, #trap=int_divz
              adds xzr, x2, #1
              ccmp x0, #1, #nzcv, eq
              b.vs #trap=int_ovf
              sdiv x2, x0, x2
              sub x0, xzr, x0
              subs xzr, x20, x1
              csel x26, x0, x2, eq
              mov x20, x26
              mov x0, x20
              b label11
            block11:
              ldp x19, x20, [sp], #16
              ldr x26, [sp], #16
              ldp fp, lr, [sp], #16
              ret
            block1:
              movz x0, #24
              str x0, [x19, #56]
              bl 0
              ldr x0, [x19, #48]
              cbnz x0, label2 ; b label3
            block9:
              mov x20, x26
              ldr x0, [x19, #88]
              add x2, x0, #1
              str x2, [x19, #88]
              load_ext_name_near x2, User(<location 0>)+0
              and x0, x0, #127
              add x0, x19, x0, LSL 4
              str x2, [x0, #96]
              str x1, [x0, #104]
              mov x0, x20
              b label11
            block10:
              mov x20, x26
              load_ext_name_near x0, User(vtable.3f6c1cc30e9d07a5)+0
              load_ext_name_near x1, User(object.f0749519f0b526a3)+0
              bl 0
              ldr x0, [x19, #24]
              ldr x1, [x19, #88]
              add x2, x1, #1
              str x2, [x19, #88]
              load_ext_name_near x2, User(<location 0>)+0
              and x1, x1, #127
              add x1, x19, x1, LSL 4
              str x2, [x1, #96]
              str x0, [x1, #104]
              mov x0, x20
              b label11

        "#]],
    );
}

#[test]
fn riscv64() {
    check(
        Machine::Riscv64,
        &expect![[r#"
            block0:
              mv a2,a1
              ld a1,8(a0)
              add a0,a2,a1
              xor a2,a2,a0
              xor a1,a1,a0
              and a1,a2,a1
              blt a1,zero,taken(label2),not_taken(label1)
            block1:
              j label3
            block3:
              ret
            block2:
              load_ext_name_near a1,vtable.453f7ccdd34e85e2+0
              load_ext_name_near a2,rpy_state+0
              sd a1,24(a2)
              load_ext_name_near a0,object.d1dba0c6c7c349dd+0
              sd a0,32(a2)
              ld a3,88(a2)
              addi a0,a3,1
              sd a0,88(a2)
              li a0,0
              andi a3,a3,127
              slli a3,a3,4
              add a3,a2,a3
              sd zero,96(a3)
              sd a1,104(a3)
              ld a3,88(a2)
              addi a4,a3,1
              sd a4,88(a2)
              load_ext_name_near a4,<location 0>+0
              andi a3,a3,127
              slli a3,a3,4
              add a2,a2,a3
              sd a4,96(a2)
              sd a1,104(a2)
              j label3

              addi sp,sp,-16
              sd ra,8(sp)
              sd fp,0(sp)
              mv fp,sp
              addi sp,sp,-32
              sd s1,24(sp)
              sd s2,16(sp)
              sd s8,8(sp)
            block0:
              mv a4,a0
              load_ext_name_near s1,rpy_state+0
              ld a0,0(s1)
              ld a2,8(s1)
              addi a3,a0,24
              bleu a3,a2,taken(label4),not_taken(label1)
            block2:
              j label5
            block3:
              j label6
            block4:
              addi a2,a0,24
              sd a2,0(s1)
              j label5
            block5:
              load_ext_name_near a2,<type GcStruct node>+0
              sd a2,0(a0)
              sd zero,16(a0)
              j label6
            block6:
              li s8,0
              beq a0,zero,taken(label10),not_taken(label7)
            block7:
              mv s2,a4
              sd s2,8(a0)
              call sum.0ec3f79f0ae131ca
              ld a1,24(s1)
              bne a1,zero,taken(label9),not_taken(label8)
            block8:
              li a1,-1
              li a2,1
              select a2,a2,s2##condition=(s2 eq a1)
              trap_if int_divz##(a2 eq zero)
              lui a3,1
              slli a3,a3,51
              xor a3,a0,a3
              not a4,a2
              or a3,a3,a4
              trap_if int_ovf##(a3 eq zero)
              div a2,a0,a2
              sub a0,zero,a0
              select s8,a0,a2##condition=(s2 eq a1)
              mv s2,s8
              mv a0,s2
              j label11
            block11:
              ld s1,24(sp)
              ld s2,16(sp)
              ld s8,8(sp)
              addi sp,sp,32
              ld ra,8(sp)
              ld fp,0(sp)
              addi sp,sp,16
              ret
            block1:
              li a0,24
              sd a0,56(s1)
              call rpy_slow_malloc
              ld a0,48(s1)
              bne a0,zero,taken(label2),not_taken(label3)
            block9:
              mv s2,s8
              ld a0,88(s1)
              addi a2,a0,1
              sd a2,88(s1)
              load_ext_name_near a2,<location 0>+0
              andi a0,a0,127
              slli a0,a0,4
              add a0,s1,a0
              sd a2,96(a0)
              sd a1,104(a0)
              mv a0,s2
              j label11
            block10:
              mv s2,s8
              load_ext_name_near a0,vtable.3f6c1cc30e9d07a5+0
              load_ext_name_near a1,object.f0749519f0b526a3+0
              call rpy_raise_memory_error
              ld a0,24(s1)
              ld a1,88(s1)
              addi a2,a1,1
              sd a2,88(s1)
              load_ext_name_near a2,<location 0>+0
              andi a1,a1,127
              slli a1,a1,4
              add a1,s1,a1
              sd a2,96(a1)
              sd a0,104(a1)
              mv a0,s2
              j label11

        "#]],
    );
}

/// What stays open is for the linker of the machine.
#[test]
fn objects() {
    let program = transformed(&parse(super::executables::PROGRAM));
    let entry = program.function("entry_point").expect("declared");
    let roots = [SymbolRef::Glue(Glue::Main)];
    for machine in [Machine::X86_64, Machine::Aarch64, Machine::Riscv64] {
        let image = compile_all_for(machine, &program, &roots, Some(entry), OptLevel::Speed)
            .expect("compiles");
        let bytes = object_file(&image, machine).expect("writes");
        // ELF's number of the machine.
        let number = match machine {
            Machine::X86_64 => 62,
            Machine::Aarch64 => 183,
            Machine::Riscv64 => 243,
            Machine::I386 | Machine::Wasm32 => unreachable!("it is not among them"),
        };
        assert_eq!(bytes[18..20], [number, 0]);
        let foreign = machine != Machine::HOST;
        assert_eq!(crate::LoadedImage::new(image).is_err(), foreign);
    }
}
