//! From text to graph.

use rustc_hash::FxHashMap;

use super::{Cursor, ParseError, TextDialect};
use crate::{
    Block, BlockId, ExitCase, ExitSwitch, Graph, Link, Operand, Operation, VarData, VarId,
};

/// Parses one graph. Blocks and variables are numbered in the order of the text, so
/// that the text of a compact graph gives that graph.
pub fn parse_graph<D: TextDialect>(text: &str, names: D::Names) -> Result<Graph<D>, ParseError> {
    let mut names = names;
    let mut graphs = parse_graphs(text, &mut names)?;
    match graphs.len() {
        1 => Ok(graphs.remove(0)),
        n => Cursor::new(text).error(format!("expected one graph, found {n}")),
    }
}

/// Parses any number of graphs; what they declare is added to the names.
pub fn parse_graphs<D: TextDialect>(
    text: &str,
    names: &mut D::Names,
) -> Result<Vec<Graph<D>>, ParseError> {
    let mut cursor = Cursor::new(text);
    let mut graphs = Vec::new();
    while !cursor.at_end() {
        if D::parse_declaration(&mut cursor, names)? {
            continue;
        }
        if !cursor.eat_word("graph") {
            return cursor.error("expected `graph`");
        }
        let name = cursor.line().to_owned();
        let mut parser = Parser {
            cursor,
            names: &*names,
            vars: Vec::new(),
            var_ids: FxHashMap::default(),
            blocks: Vec::new(),
            block_ids: FxHashMap::default(),
        };
        let graph = parser.graph(&name)?;
        cursor = parser.cursor;
        graphs.push(graph);
    }
    Ok(graphs)
}

struct Parser<'a, 'n, D: TextDialect> {
    cursor: Cursor<'a>,
    names: &'n D::Names,
    vars: Vec<VarData<D>>,
    var_ids: FxHashMap<&'a str, VarId>,
    /// Those mentioned so far, with whether they have been defined.
    blocks: Vec<(Block<D>, bool)>,
    block_ids: FxHashMap<&'a str, usize>,
}

impl<'a, D: TextDialect> Parser<'a, '_, D> {
    fn graph(&mut self, name: &str) -> Result<Graph<D>, ParseError> {
        let mut order = Vec::new();
        while !self.cursor.at_end() {
            if !matches!(self.cursor.peek_word(), "return" | "except") && !self.cursor.peek("block")
            {
                break;
            }
            order.push(self.block()?);
        }
        for label in ["return", "except"] {
            if !self.block_ids.contains_key(label) {
                return self.cursor.error(format!("no {label} block"));
            }
        }
        if let Some((label, _)) = (self.block_ids.iter()).find(|(_, b)| !self.blocks[**b].1) {
            return self.cursor.error(format!("{label} is not defined"));
        }
        let Some(start) = order.first() else {
            return self.cursor.error("no blocks");
        };
        // From the order of mention to that of definition.
        let mut position = vec![0; self.blocks.len()];
        for (i, b) in order.iter().enumerate() {
            position[*b] = i as u32;
        }
        let id = |b: usize| BlockId(position[b]);
        let mut blocks = Vec::new();
        for b in &order {
            let mut block = std::mem::take(&mut self.blocks[*b].0);
            for link in &mut block.exits {
                link.target = id(link.target.index());
            }
            blocks.push(block);
        }
        Ok(Graph {
            name: name.into(),
            vars: std::mem::take(&mut self.vars),
            blocks,
            startblock: id(*start),
            returnblock: id(self.block_ids["return"]),
            exceptblock: id(self.block_ids["except"]),
        })
    }

    fn block(&mut self) -> Result<usize, ParseError> {
        let label = self.cursor.word()?;
        let b = self.block_id(label);
        if std::mem::replace(&mut self.blocks[b].1, true) {
            return self.cursor.error(format!("{label} is defined twice"));
        }
        self.cursor.expect("(")?;
        let mut inputargs = Vec::new();
        while !self.cursor.eat(")") {
            inputargs.push(self.definition()?);
            if !self.cursor.peek(")") {
                self.cursor.expect(",")?;
            }
        }
        let mut block = Block {
            inputargs,
            ..Block::default()
        };
        if label != "return" && label != "except" {
            self.cursor.expect(":")?;
            self.body(&mut block)?;
        }
        self.blocks[b].0 = block;
        Ok(b)
    }

    fn body(&mut self, block: &mut Block<D>) -> Result<(), ParseError> {
        loop {
            if self.cursor.eat_word("stop") {
                return Ok(());
            }
            if self.cursor.eat_word("goto") {
                block.exits = vec![self.link(ExitCase::None)?];
                return Ok(());
            }
            if self.cursor.eat_word("switch") {
                block.exitswitch = ExitSwitch::Value(self.operand()?);
                return self.exits(block, false);
            }
            if self.cursor.eat_word("canraise") {
                block.exitswitch = ExitSwitch::LastException;
                return self.exits(block, true);
            }
            let op = self.operation()?;
            block.operations.push(op);
        }
    }

    fn operation(&mut self) -> Result<Operation<D>, ParseError> {
        let result = self.definition()?;
        self.cursor.expect("=")?;
        let name = self.cursor.word()?;
        let Some(op) = D::parse_op(name) else {
            return self.cursor.error(format!("no operation `{name}`"));
        };
        self.cursor.expect("(")?;
        let args = self.operands()?;
        let at = if self.cursor.eat("@") {
            self.cursor.int()?
        } else {
            0
        };
        Ok(Operation {
            op,
            args: args.into(),
            result,
            at,
        })
    }

    fn exits(&mut self, block: &mut Block<D>, canraise: bool) -> Result<(), ParseError> {
        loop {
            let word = self.cursor.peek_word();
            if self.cursor.at_end()
                || word.starts_with("block")
                || matches!(word, "return" | "except" | "graph")
            {
                return Ok(());
            }
            let link = match word {
                "ok" | "True" | "False" | "default" => {
                    self.cursor.word()?;
                    let case = match word {
                        "ok" => ExitCase::None,
                        "default" => ExitCase::Default,
                        word => ExitCase::Bool(word == "True"),
                    };
                    self.cursor.expect(":")?;
                    self.link(case)?
                }
                _ => {
                    let c = D::parse_const(&mut self.cursor, self.names)?;
                    if canraise {
                        self.exception_link(c)?
                    } else {
                        self.cursor.expect(":")?;
                        self.link(ExitCase::Value(c))?
                    }
                }
            };
            block.exits.push(link);
        }
    }

    fn exception_link(&mut self, class: D::Const) -> Result<Link<D>, ParseError> {
        self.cursor.expect("(")?;
        let last_exception = self.optional_definition()?;
        self.cursor.expect(",")?;
        let last_exc_value = self.optional_definition()?;
        self.cursor.expect(")")?;
        self.cursor.expect(":")?;
        let mut link = self.link(ExitCase::Exception(class))?;
        link.last_exception = last_exception;
        link.last_exc_value = last_exc_value;
        Ok(link)
    }

    fn link(&mut self, case: ExitCase<D>) -> Result<Link<D>, ParseError> {
        let label = self.cursor.word()?;
        let target = BlockId(self.block_id(label) as u32);
        self.cursor.expect("(")?;
        let args = self.operands()?;
        Ok(Link::with_case(target, args, case))
    }

    fn operands(&mut self) -> Result<Vec<Operand<D>>, ParseError> {
        let mut operands = Vec::new();
        while !self.cursor.eat(")") {
            operands.push(self.operand()?);
            if !self.cursor.peek(")") {
                self.cursor.expect(",")?;
            }
        }
        Ok(operands)
    }

    fn block_id(&mut self, label: &'a str) -> usize {
        let next = self.blocks.len();
        let id = *self.block_ids.entry(label).or_insert(next);
        if id == next {
            self.blocks.push((Block::default(), false));
        }
        id
    }

    fn operand(&mut self) -> Result<Operand<D>, ParseError> {
        let word = self.cursor.peek_word();
        if let Some(v) = self.var_ids.get(word) {
            self.cursor.word()?;
            return Ok(Operand::Var(*v));
        }
        let looks_like_variable = word
            .rsplit_once(['_', 'v'])
            .is_some_and(|(_, n)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        if looks_like_variable {
            return self.cursor.error(format!("{word} is not defined"));
        }
        Ok(Operand::Const(D::parse_const(
            &mut self.cursor,
            self.names,
        )?))
    }

    fn optional_definition(&mut self) -> Result<Option<VarId>, ParseError> {
        if self.cursor.eat_word("_") {
            return Ok(None);
        }
        self.definition().map(Some)
    }

    fn definition(&mut self) -> Result<VarId, ParseError> {
        let text = self.cursor.word()?;
        let id = VarId(self.vars.len() as u32);
        if self.var_ids.insert(text, id).is_some() {
            return self.cursor.error(format!("{text} is defined twice"));
        }
        let ty = D::parse_ty(&mut self.cursor, self.names)?;
        self.vars.push(VarData {
            name: variable_name(text).into(),
            ty,
        });
        Ok(id)
    }
}

/// The name in `v3` (none), `name_3` (`name`) or `name` (itself).
fn variable_name(text: &str) -> &str {
    let numeric = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if text.strip_prefix('v').is_some_and(numeric) {
        return "";
    }
    match text.rsplit_once('_') {
        Some((name, n)) if numeric(n) => name,
        _ => text,
    }
}
