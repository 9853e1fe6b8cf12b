//! Reads the program: a table with a column for each thread.

use teetotal_program::Span;

use crate::diagnostics::Diagnostic;
use crate::litmus::lexer::Kind;
use crate::litmus::parser::{KEYWORDS, MOST_THREADS, Parser};
use crate::litmus::syntax::{Flavor, Located};
use crate::litmus::x86::opcode::Opcode;
use crate::litmus::x86::syntax::{Line, Operand, Statement};
use crate::suggest::nearest;

impl Parser<'_, '_> {
    /// The code of each thread.
    pub(in crate::litmus) fn table(&mut self) -> Vec<Vec<Line>> {
        let Some(n_threads) = self.names() else { return Vec::new() };
        let mut threads: Vec<Vec<Line>> = (0..n_threads).map(|_| Vec::new()).collect();
        while !self.at_end() && !self.code_ends() && !self.is_misspelled_end() && !self.diagnostics.is_full() {
            self.row(&mut threads);
        }
        threads
    }

    /// Whether a condition seems to begin here with a misspelled word.
    fn is_misspelled_end(&self) -> bool {
        let (token, second) = (self.peek(), self.peek_second());
        let could_be = token.opens_line && token.kind == Kind::Word && (second.is("(") || second.is("["));
        could_be && Opcode::named(token.text).is_none() && nearest(token.text, KEYWORDS.iter().copied()).is_some()
    }

    /// The row `P0 | P1 | … ;`.
    fn names(&mut self) -> Option<usize> {
        let mut n_threads = 0;
        if self.at_end() && !self.diagnostics.is_empty() {
            // The text has ended before, and that has been said.
            return None;
        }
        if self.at_end() {
            return self.expected("the row of threads, such as `P0 | P1 ;`,");
        }
        loop {
            let token = self.peek();
            if token.text != format!("P{n_threads}") {
                return self.expected(&format!("thread `P{n_threads}`"));
            }
            self.next();
            n_threads += 1;
            if n_threads > MOST_THREADS {
                let many = format!("this test has more than {MOST_THREADS} threads");
                self.diagnostics.add(Diagnostic::new(token.span, many));
                return None;
            }
            if self.eat(";") {
                return Some(n_threads);
            }
            if !self.eat("|") {
                return self.expected("`|` or `;`");
            }
        }
    }

    fn row(&mut self, threads: &mut [Vec<Line>]) {
        let start = self.peek().span;
        let mut n_cells = 0;
        loop {
            let line = self.cell();
            if let (Some(thread), Some(line)) = (threads.get_mut(n_cells), line) {
                thread.push(line);
            }
            n_cells += 1;
            if self.eat("|") {
                continue;
            }
            if !self.eat(";") {
                let open = Diagnostic::new(self.peek().span, "the row before this does not end");
                self.diagnostics.add(open.help("end each row of the program with `;`"));
            }
            break;
        }
        if n_cells != threads.len() {
            let message = format!("this row has {}, the program {}", columns(n_cells), columns(threads.len()));
            let help =
                "separate the threads with `|`, leave a cell empty where a thread does nothing, end rows with `;`";
            self.diagnostics.add(Diagnostic::new(start, message).help(help));
        }
    }

    fn cell_ends(&self) -> bool {
        let token = self.peek();
        token.kind == Kind::End || token.is("|") || token.is(";") || (token.opens_line && self.code_ends())
    }

    /// Labels and an instruction; `None` where the cell is empty or wrong.
    fn cell(&mut self) -> Option<Line> {
        let mut labels = Vec::new();
        while self.peek().kind == Kind::Word && self.peek_second().is(":") {
            let label = self.next();
            self.next();
            labels.push(Located { it: label.text.to_owned(), span: label.span });
        }
        let mut instruction = None;
        if !self.cell_ends() {
            instruction = self.instruction();
            if instruction.is_some() && !self.cell_ends() {
                let _: Option<()> = self.expected("the end of the instruction");
            }
            while !self.cell_ends() {
                self.next();
            }
        }
        (instruction.is_some() || !labels.is_empty()).then_some(Line { labels, instruction })
    }

    fn instruction(&mut self) -> Option<Statement> {
        let start = self.peek().span;
        let mut locked = false;
        while self.peek().kind == Kind::Word && self.peek().text.eq_ignore_ascii_case("lock") {
            self.next();
            locked = true;
        }
        let mnemonic = self.word("an instruction")?;
        let Some((opcode, suffix)) = Opcode::named(mnemonic.it) else {
            let unknown = format!("the instruction `{}` is not supported", mnemonic.it);
            let meant = nearest(mnemonic.it, Opcode::names());
            self.diagnostics.add(Diagnostic::new(mnemonic.span, unknown).meant(meant));
            return None;
        };
        let mut operands = Vec::new();
        let mut end = mnemonic.span;
        if opcode == Opcode::Nothing {
            // Its operands are for the alignment of code.
            while !self.cell_ends() {
                self.next();
            }
        }
        while !self.cell_ends() {
            let operand = match opcode {
                Opcode::Shift(_) if self.peek().kind == Kind::Number => self.count()?,
                _ => self.operand()?,
            };
            end = operand.span;
            operands.push(operand);
            if !self.eat(",") {
                break;
            }
        }
        if self.flavor == Flavor::X86_64 {
            operands.reverse();
        }
        // An instruction that continues on the next line is shown by its beginning.
        let length = end.column.saturating_sub(start.column) + end.length;
        let span = if end.line == start.line { Span { length, ..start } } else { start };
        let statement = Statement { span, locked, opcode, suffix, operands };
        self.check_statement(&statement, mnemonic.it).then_some(statement)
    }

    /// How far to shift, which is a number with `$` or without.
    fn count(&mut self) -> Option<Located<Operand>> {
        let number = self.number()?;
        Some(Located { it: Operand::Number(number.it), span: number.span })
    }

    fn check_statement(&mut self, statement: &Statement, mnemonic: &str) -> bool {
        let found = statement.operands.len();
        if let Some(wanted) = statement.opcode.n_operands().filter(|&wanted| wanted != found) {
            let plural = if wanted == 1 { "operand" } else { "operands" };
            let message = format!("`{mnemonic}` takes {wanted} {plural}, but has {found}");
            self.diagnostics.add(Diagnostic::new(statement.span, message));
            return false;
        }
        if statement.locked && !statement.opcode.is_lockable() {
            let message = format!("`lock` cannot stand before `{mnemonic}`");
            self.diagnostics.add(Diagnostic::new(statement.span, message));
            return false;
        }
        true
    }
}

fn columns(n: usize) -> String {
    if n == 1 { "1 column".to_owned() } else { format!("{n} columns") }
}
