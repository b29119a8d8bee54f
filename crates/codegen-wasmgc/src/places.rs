//! Places of the program in a module: for the text of modules, and for source maps.

use std::borrow::Cow;

use taipan_lltype::{CodePlace, FuncSym};
use wasm_encoder::{CustomSection, Section};
use wasmparser::{Parser, Payload};

/// A function of the program, and where the code of its instructions begins in its body; no function for glue.
pub(crate) type FunctionPlaces = (Option<FuncSym>, Vec<(u32, u32)>);

/// A module.
#[derive(Clone, Debug)]
pub struct Linked {
    /// Its bytes.
    pub module: Vec<u8>,
    /// Offsets in the module, ascending, and the place that the code from there on comes from. None for code that the
    /// back end writes.
    pub places: Vec<(u32, Option<CodePlace>)>,
}

impl Linked {
    /// # Panics
    /// If assertions are on and the module is not valid.
    pub(crate) fn new(module: Vec<u8>, functions: Vec<FunctionPlaces>) -> Linked {
        if cfg!(debug_assertions) {
            crate::linker::validate(&module);
        }
        let bodies = Parser::new(0).parse_all(&module).filter_map(|p| match p {
            Ok(Payload::CodeSectionEntry(body)) => Some(body.range().start as u32),
            _ => None,
        });
        let mut places = Vec::new();
        for (start, (func, own)) in bodies.zip(functions) {
            places.push((start, None));
            let Some(func) = func else { continue };
            places.extend(own.into_iter().map(|(offset, at)| {
                let func = func.clone();
                (start + offset, Some(CodePlace { func, at }))
            }));
        }
        Linked { module, places }
    }

    /// Tells debuggers where the source map of the module is.
    pub fn set_source_map(&mut self, url: &str) {
        // A text begins with its length in seven bits a byte.
        let mut data = Vec::new();
        let mut length = url.len();
        while length >= 0x80 {
            data.push(length as u8 | 0x80);
            length >>= 7;
        }
        data.push(length as u8);
        data.extend(url.as_bytes());
        CustomSection {
            name: "sourceMappingURL".into(),
            data: Cow::Owned(data),
        }
        .append_to(&mut self.module);
    }

    /// The module as text. `comment` has the comment for the code of a place.
    ///
    /// # Errors
    /// Why the module has no text.
    pub fn text(
        &self,
        comment: &mut dyn FnMut(&CodePlace) -> Option<String>,
    ) -> Result<String, String> {
        let mut storage = String::new();
        let config = wasmprinter::Config::new();
        let lines = config.offsets_and_lines(&self.module, &mut storage);
        let mut out = String::new();
        let mut places = self.places.iter().peekable();
        let mut last = None;
        for (offset, line) in lines.map_err(|e| e.to_string())? {
            let mut at = None;
            while let Some((_, place)) =
                places.next_if(|p| offset.is_some_and(|offset| u64::from(p.0) <= offset))
            {
                at = place.as_ref();
            }
            let said = at
                .and_then(&mut *comment)
                .filter(|c| last.as_ref() != Some(c));
            if let Some(said) = said {
                let indent = line.len() - line.trim_start().len();
                out.push_str(&format!("{:indent$};; {said}\n", ""));
                last = Some(said);
            }
            out.push_str(line);
        }
        Ok(out)
    }
}
