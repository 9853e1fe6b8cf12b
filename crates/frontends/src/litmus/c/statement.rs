//! Reads statements.

use crate::diagnostics::Diagnostic;
use crate::litmus::c::syntax::Statement;
use crate::litmus::lexer::{Kind, Token};
use crate::litmus::parser::Parser;
use crate::litmus::syntax::Located;

/// How deep statements and expressions may be nested.
pub(super) const DEEPEST: usize = 100;

/// Words of C that begin a statement which is not supported, and what to do about it.
const REFUSED: &[(&str, &str)] = &[
    ("switch", "write it with `if` and `else`"),
    ("case", "write it with `if` and `else`"),
    ("default", "write it with `if` and `else`"),
    ("asm", "use the fences and the atomic operations of C11 or of the kernel"),
    ("__asm__", "use the fences and the atomic operations of C11 or of the kernel"),
];

impl<'t> Parser<'t, '_> {
    /// The statements up to the closing brace, and that.
    pub(super) fn block(&mut self, depth: usize) -> Vec<Located<Statement>> {
        let mut statements = Vec::new();
        while !self.eat("}") {
            if self.at_end() {
                let open = Diagnostic::new(self.peek().span, "the text ends inside a function");
                self.diagnostics.add(open.help("close it with `}`"));
                break;
            }
            if self.peek().opens_line && self.code_ends() && self.peek_second().is("(") {
                let open = Diagnostic::new(self.peek().span, "a function does not end before this");
                self.diagnostics.add(open.help("close it with `}`"));
                while !self.at_end() {
                    self.next();
                }
                break;
            }
            if self.diagnostics.is_full() {
                break;
            }
            match self.statement(depth) {
                Some(statement) => statements.push(statement),
                None => self.skip_statement(),
            }
        }
        statements
    }

    /// Goes to where another statement may begin.
    fn skip_statement(&mut self) {
        let mut depth = 0_usize;
        while !self.at_end() {
            match self.peek().text {
                ";" if depth == 0 => {
                    self.next();
                    return;
                }
                "{" => depth += 1,
                "}" if depth == 0 => return,
                "}" if depth == 1 => {
                    // What follows a block is another statement.
                    self.next();
                    return;
                }
                "}" => depth -= 1,
                _ => {}
            }
            self.next();
        }
    }

    fn statement(&mut self, depth: usize) -> Option<Located<Statement>> {
        let start = self.peek();
        if depth > DEEPEST {
            return self.too_deep();
        }
        let it = self.statement_here(start, depth)?;
        Some(Located { it, span: self.span_since(start) })
    }

    pub(super) fn too_deep<T>(&mut self) -> Option<T> {
        let deep = Diagnostic::new(self.peek().span, format!("code is nested more than {DEEPEST} deep"));
        self.diagnostics.add(deep.help("split it into several statements"));
        None
    }

    fn statement_here(&mut self, start: Token<'t>, depth: usize) -> Option<Statement> {
        if start.kind == Kind::Word && self.peek_second().is(":") && !start.is("default") {
            self.next();
            self.next();
            return Some(Statement::Label(start.text.to_owned()));
        }
        if self.begins_type(start) {
            return self.declaration(depth + 1);
        }
        if let Some((word, help)) = REFUSED.iter().find(|(word, _)| start.is(word)) {
            let refused = Diagnostic::new(start.span, format!("`{word}` is not supported"));
            self.diagnostics.add(refused.help(*help));
            return None;
        }
        match start.text {
            ";" => {
                self.next();
                Some(Statement::Empty)
            }
            "{" => {
                self.next();
                Some(Statement::Block(self.block(depth + 1)))
            }
            "if" => self.choice(depth),
            "while" => self.while_loop(depth),
            "do" => self.do_loop(depth),
            "for" => self.for_loop(depth),
            "goto" => {
                self.next();
                let label = self.word("a label")?;
                self.ended(Statement::Goto(label.it.to_owned()))
            }
            "break" => self.word_alone(Statement::Break),
            "continue" => self.word_alone(Statement::Continue),
            "return" => self.return_here(start, depth),
            "assert" if self.peek_second().is("(") => self.assertion(depth),
            "else" => {
                self.diagnostics.add(Diagnostic::new(start.span, "this `else` has no `if`"));
                None
            }
            _ => {
                let expression = self.expression(depth)?;
                self.ended(Statement::Expression(expression))
            }
        }
    }

    fn ended(&mut self, statement: Statement) -> Option<Statement> {
        self.require(";")?;
        Some(statement)
    }

    fn word_alone(&mut self, statement: Statement) -> Option<Statement> {
        self.next();
        self.ended(statement)
    }

    fn return_here(&mut self, start: Token<'t>, depth: usize) -> Option<Statement> {
        self.next();
        if !self.peek().is(";") {
            self.expression(depth)?;
            let value = Diagnostic::new(start.span, "a thread returns no value");
            self.diagnostics.add(value.help("write `return;`"));
        }
        self.ended(Statement::Return)
    }

    fn assertion(&mut self, depth: usize) -> Option<Statement> {
        self.next();
        self.require("(")?;
        let first = self.peek();
        let condition = self.assignment(depth)?;
        let text = self.text_since(first).split_whitespace().collect::<Vec<_>>().join(" ");
        self.require(")")?;
        self.ended(Statement::Assert(condition, text))
    }

    /// The word that is next, and a condition in parentheses.
    fn condition(&mut self, depth: usize) -> Option<crate::litmus::c::syntax::Expression> {
        self.next();
        self.require("(")?;
        let condition = self.expression(depth)?;
        self.require(")")?;
        Some(condition)
    }

    fn nested(&mut self, depth: usize) -> Option<Box<Located<Statement>>> {
        if self.begins_type(self.peek()) {
            let bare = Diagnostic::new(self.peek().span, "a declaration stands alone under a condition or in a loop");
            self.diagnostics.add(bare.help("put it into braces"));
            return None;
        }
        self.statement(depth + 1).map(Box::new)
    }

    fn choice(&mut self, depth: usize) -> Option<Statement> {
        let condition = self.condition(depth)?;
        let then = self.nested(depth)?;
        let otherwise = if self.eat("else") { Some(self.nested(depth)?) } else { None };
        Some(Statement::If { condition, then, otherwise })
    }

    fn while_loop(&mut self, depth: usize) -> Option<Statement> {
        let condition = self.condition(depth)?;
        let body = self.nested(depth)?;
        Some(Statement::While { condition, body })
    }

    fn do_loop(&mut self, depth: usize) -> Option<Statement> {
        self.next();
        let body = self.nested(depth)?;
        if !self.peek().is("while") {
            return self.expected("`while`");
        }
        let condition = self.condition(depth)?;
        self.ended(Statement::DoWhile { body, condition })
    }

    fn for_loop(&mut self, depth: usize) -> Option<Statement> {
        self.next();
        self.require("(")?;
        // What comes first ends in a semicolon as a statement does.
        let before = Box::new(self.statement(depth + 1)?);
        if !matches!(before.it, Statement::Empty | Statement::Declaration(_) | Statement::Expression(_)) {
            self.diagnostics.add(Diagnostic::new(before.span, "a `for` begins with an expression or a declaration"));
            return None;
        }
        let condition = if self.peek().is(";") { None } else { Some(self.expression(depth)?) };
        self.require(";")?;
        let step = if self.peek().is(")") { None } else { Some(self.expression(depth)?) };
        self.require(")")?;
        let body = self.nested(depth)?;
        Some(Statement::For { before, condition, step, body })
    }
}
