//! Exceptions, checks, and operations of programs with a just-in-time compiler.

use taipan_codegen::abi::check;
use taipan_codegen::machine::{Bad, Checks, Exceptions, Operands, Units};
use taipan_graph::Operation;
use taipan_lltype::{LLOperand, LLType, LowLevel, TypeKind, is_index_check};

use super::Emitter;

impl Exceptions for Emitter<'_> {
    fn exc_occurred(&mut self) -> String {
        "rpy_state.exc_type != NULL".to_owned()
    }

    fn exc_type(&mut self) -> String {
        "rpy_state.exc_type".to_owned()
    }

    fn exc_value(&mut self) -> String {
        "rpy_state.exc_value".to_owned()
    }

    fn set_exception(&mut self, class: &String, value: &String) {
        self.statement(format!("rpy_exc_set({class}, {value});"));
    }

    fn traceback_location(&mut self, at: u32, class: &String) {
        let location = self.location(at);
        self.statement(format!("rpy_traceback({location}, {class});"));
    }

    fn traceback_mark(&mut self, mark: i64, class: &String) {
        self.statement(format!("rpy_traceback((void *){mark}, {class});"));
    }
}

impl Checks for Emitter<'_> {
    fn assertion(&mut self, condition: &String, op: &Operation<LowLevel>) -> Result<(), Bad> {
        if !self.options.checked {
            self.statement(format!(
                "if (RPY_UNLIKELY(!{condition})) rpy_assert_failed();"
            ));
            return Ok(());
        }
        let what = match is_index_check(op) {
            true => check::INDEX,
            false => check::ASSERTION,
        };
        let location = self.location(op.at);
        self.statement(format!("RPY_CHECK({condition}, {what}, {location});"));
        Ok(())
    }

    fn stack_check(&mut self) -> String {
        "rpy_stack_check()".to_owned()
    }

    fn printable(&mut self, ty: LLType, value: &String) -> Result<String, Bad> {
        Ok(match ty.kind() {
            TypeKind::Float | TypeKind::SingleFloat => format!("rpy_float_bits({value})"),
            TypeKind::Ptr(_) | TypeKind::Address => format!("(Signed)(Word){value}"),
            _ => format!("(Signed){value}"),
        })
    }

    fn print_word(&mut self, kind: i32, word: &String) {
        self.statement(format!("rpy_debug_print({kind}, {word});"));
    }
}

impl Units for Emitter<'_> {
    fn jit_enter(&mut self, driver: &LLOperand, greens: &[LLOperand]) -> Result<String, Bad> {
        let driver = self.value(driver)?;
        let mut words = Vec::new();
        for a in greens {
            let Some(v) = self.maybe(a)? else { continue };
            words.push(match self.ty(a).kind() {
                TypeKind::Float => format!("(Word)rpy_float_bits({v})"),
                TypeKind::SingleFloat => return Err("a green value of single precision".into()),
                TypeKind::Int(k) if k.bits > 64 => {
                    return Err("a green value of more than a machine word".into());
                }
                _ => format!("(Word){v}"),
            });
        }
        if words.is_empty() {
            words.push("0".to_owned());
        }
        Ok(format!(
            "rpy_jit_enter({driver}, (Word[]){{{}}})",
            words.join(", ")
        ))
    }
}
