//! Reads statements.

use teetotal_program::Span;

use crate::diagnostics::Diagnostic;
use crate::promela::lexer::{Kind as TokenKind, Token};
use crate::promela::parser::Parser;
use crate::promela::preprocessor::{MOST_TOKENS, arguments, short, substitute};
use crate::promela::syntax::{Action, Binary, Expr, Kind, Located, Name, Place, Statement, Term};
use crate::promela::words;

impl<'t> Parser<'t, '_> {
    /// Statements up to what ends them: `}`, `fi`, `od`, `::` or the end. An option may begin with `else`.
    pub(super) fn sequence(&mut self, in_option: bool) -> Vec<Statement> {
        let mut statements = Vec::new();
        self.scope.open_block();
        loop {
            while self.eat(";") || self.eat("->") {}
            let token = self.peek();
            if token.kind == TokenKind::End || ["}", "fi", "od", "::"].iter().any(|end| token.is(end)) {
                break;
            }
            let before = self.at;
            let is_first = in_option && statements.is_empty();
            let read = self.deeper(|parser| parser.step(&mut statements, is_first));
            if read.is_none() {
                self.recover(before);
                continue;
            }
            let next = self.peek();
            let separated = [";", "->", "}", "fi", "od", "::"].iter().any(|sign| next.is(sign));
            let last = self.tokens[self.at - 1];
            let closed = ["}", "fi", "od"].iter().any(|sign| last.is(sign));
            if !separated && !closed && next.kind != TokenKind::End {
                self.expected::<()>("`;` or `->`");
                self.recover(self.at);
            }
        }
        self.scope.close_block();
        statements
    }

    /// Goes to the end of a statement that is wrong, and past `before` in any case.
    fn recover(&mut self, before: usize) {
        self.at = self.at.max(before);
        let mut depth = 0_usize;
        loop {
            let token = self.peek();
            let is = |signs: &[&str]| signs.iter().any(|sign| token.is(sign));
            if token.kind == TokenKind::End || (depth == 0 && is(&[";", "->", "}", "fi", "od", "::"])) {
                break;
            }
            if is(&["{", "(", "if", "do"]) {
                depth += 1;
            } else if is(&["}", ")", "fi", "od"]) {
                depth = depth.saturating_sub(1);
            }
            self.next();
        }
    }

    /// A declaration or a statement with its labels.
    fn step(&mut self, statements: &mut Vec<Statement>, is_first: bool) -> Option<()> {
        let mut labels = Vec::new();
        while self.peek().kind == TokenKind::Word && self.peek_second().is(":") {
            let first = self.peek();
            let name = self.name("a label")?;
            self.next();
            labels.push(Located { it: name.it.to_owned(), span: name.span });
            if is_first {
                let message = format!("the label `{}` stands before the first statement of an option", short(name.it));
                let help = "SPIN refuses it too; put the label before the `if` or `do`, or a `skip` before the label";
                self.refuse::<()>(first.span, message, help);
            }
        }
        let first = self.peek();
        if words::is_type(first.text) || words::is_visibility(first.text) {
            if first.is("mtype") && (self.peek_second().is("=") || self.peek_second().is("{")) {
                return self.refuse(first.span, "constants are declared outside of processes", "move it up");
            }
            if let Some(label) = labels.first() {
                self.refuse::<()>(label.span, "a label stands before a statement, not a declaration", "move it down");
            }
            return self.declaration(Some(statements));
        }
        let before = statements.len();
        let it = if first.is("else") {
            self.next();
            if !is_first {
                let help = "`else` is the first statement of an option, and of one option only";
                self.refuse::<()>(first.span, "this `else` does not belong to an `if` or `do`", help);
            }
            Action::Else
        } else {
            self.action(statements)?
        };
        if let Some(token) = Some(self.peek()).filter(|token| token.is("unless")) {
            let reason = words::refused("unless").unwrap_or_default();
            return self.refuse(token.span, "`unless` is not supported", reason);
        }
        statements.push(Statement { labels: Vec::new(), it, span: self.since(first) });
        statements[before].labels = labels;
        Some(())
    }

    fn action(&mut self, statements: &mut Vec<Statement>) -> Option<Action> {
        let first = self.peek();
        if self.eat("{") {
            return self.block().map(Action::Block);
        }
        if first.kind != TokenKind::Word {
            return self.expression().map(Action::Guard);
        }
        match first.text {
            "if" => self.options("fi").map(Action::If),
            "do" => self.options("od").map(Action::Do),
            "atomic" | "d_step" => {
                self.next();
                self.require("{")?;
                let body = self.block()?;
                Some(if first.is("atomic") { Action::Atomic(body) } else { Action::DStep(body) })
            }
            "skip" => {
                self.next();
                Some(Action::Skip)
            }
            "break" => {
                self.next();
                Some(Action::Break)
            }
            "goto" => {
                self.next();
                let label = self.name("a label")?;
                Some(Action::Goto(Located { it: label.it.to_owned(), span: label.span }))
            }
            "assert" => {
                self.next();
                self.expression().map(Action::Assert)
            }
            "printf" | "printm" => self.print(),
            "run" => self.run(),
            "for" => self.counted(statements),
            "select" => self.selected(statements),
            text if self.inlines.contains_key(text) && self.peek_second().is("(") => self.call(),
            text if self.scope.find(text).is_none() && self.is_extension(text) => self.extension(),
            text => match words::refused(text) {
                Some(reason) => {
                    self.next();
                    self.refuse(first.span, format!("`{text}` is not supported"), reason)
                }
                None => self.assignment_or_guard(),
            },
        }
    }

    /// Statements in braces, after `{`.
    fn block(&mut self) -> Option<Vec<Statement>> {
        let open = self.tokens[self.at - 1];
        let before = self.diagnostics.n_found();
        let body = self.sequence(false);
        self.require("}")?;
        if body.is_empty() && self.diagnostics.n_found() == before {
            self.refuse::<()>(open.span, "there is no statement in these braces", "write `skip`");
        }
        Some(body)
    }

    fn options(&mut self, end: &str) -> Option<Vec<Vec<Statement>>> {
        let word = self.next();
        let mut options = Vec::new();
        while self.eat("::") {
            let before = self.diagnostics.n_found();
            let option = self.sequence(true);
            // Where a statement was wrong, it is not missing.
            if option.is_empty() && self.diagnostics.n_found() == before {
                self.refuse::<()>(self.tokens[self.at - 1].span, "this option has no statement", "write `skip`");
            }
            options.push(option);
        }
        if options.is_empty() {
            let message = format!("this `{}` has no option", word.text);
            self.refuse::<()>(word.span, message, "an option begins with `::`");
        }
        self.require(end)?;
        let elses = options.iter().flatten().filter(|statement| matches!(statement.it, Action::Else));
        if let Some(second) = elses.map(|statement| statement.span).nth(1) {
            self.refuse::<()>(second, "a second `else`", "one option at most begins with `else`");
        }
        Some(options)
    }

    fn assignment_or_guard(&mut self) -> Option<Action> {
        let first = self.peek();
        let start = self.at;
        let is_variable = matches!(self.scope.find(first.text), Some(known) if known.is_variable());
        if !is_variable {
            return self.expression().map(Action::Guard);
        }
        let place = self.place()?;
        if self.eat("=") {
            let word = self.peek();
            if matches!(word.text, "cas" | "xchg") && self.scope.find(word.text).is_none() && self.peek_second().is("(")
            {
                return self.exchange(Some(place));
            }
            return Some(Action::Assign(place, self.expression()?));
        }
        for (sign, op) in [("++", Binary::Add), ("--", Binary::Subtract)] {
            if self.eat(sign) {
                let span = self.since(first);
                return Some(Action::Assign(place.clone(), plus_one(place, op, span)));
            }
        }
        if self.peek().is("!") {
            let reason = words::refused("chan").unwrap_or_default();
            return self.refuse(self.peek().span, "channels are not supported", reason);
        }
        self.at = start;
        self.expression().map(Action::Guard)
    }

    /// `printf` has no effect, but its arguments are looked at.
    fn print(&mut self) -> Option<Action> {
        let word = self.next();
        self.require("(")?;
        let mut conversions = 1;
        if word.is("printf") {
            let text = self.peek();
            if text.kind != TokenKind::Text {
                return self.expected("a text in quotes");
            }
            self.next();
            conversions = text.text.replace("%%", "").matches('%').count();
            if conversions > 0 && !self.peek().is(")") {
                self.require(",")?;
            }
        }
        let mut n_arguments = 0;
        while !self.eat(")") {
            self.expression()?;
            n_arguments += 1;
            if !self.eat(",") {
                self.require(")")?;
                break;
            }
        }
        if n_arguments != conversions {
            let message = format!("this text asks for {conversions} values, {n_arguments} are given");
            self.diagnostics.add(Diagnostic::new(word.span, message));
        }
        Some(Action::Skip)
    }

    fn run(&mut self) -> Option<Action> {
        self.next();
        let name = self.name("the name of a process")?;
        let arguments = self.parenthesized()?;
        Some(Action::Run(Located { it: name.it.to_owned(), span: name.span }, arguments))
    }

    /// `(a, b)`.
    fn parenthesized(&mut self) -> Option<Vec<Expr>> {
        self.require("(")?;
        let mut arguments = Vec::new();
        while !self.eat(")") {
            arguments.push(self.expression()?);
            if !self.eat(",") {
                self.require(")")?;
                break;
            }
        }
        Some(arguments)
    }

    /// `for (i : 0 .. 3) { ... }` or `for (i in a) { ... }`, as the loop it stands for.
    fn counted(&mut self, statements: &mut Vec<Statement>) -> Option<Action> {
        let first = self.next();
        self.require("(")?;
        let place = self.place()?;
        let (low, high) = if self.eat("in") {
            let array = self.name("an array")?;
            let known = self.scope.find(array.it).and_then(|known| known.name());
            let Some(length) = known.and_then(|name| self.scope.variable(name).length) else {
                return self.refuse(array.span, format!("`{}` is not an array", short(array.it)), "name an array");
            };
            (Expr::number(0, array.span), Expr::number(i64::from(length) - 1, array.span))
        } else {
            self.range()?
        };
        self.require(")")?;
        let span = self.since(first);
        self.require("{")?;
        let mut body = self.block()?;
        let statement = |it| Statement { labels: Vec::new(), it, span };
        statements.push(statement(Action::Assign(place.clone(), low)));
        let here = Expr { it: Term::Read(place.clone()), span, depth: 1 };
        let depth = 2 + high.depth;
        let again = Expr { it: Term::Binary(Binary::LessOrEqual, Box::new(here), Box::new(high)), span, depth };
        body.insert(0, statement(Action::Guard(again)));
        body.push(statement(Action::Assign(place.clone(), plus_one(place, Binary::Add, span))));
        let leave = vec![statement(Action::Else), statement(Action::Break)];
        Some(Action::Do(vec![body, leave]))
    }

    /// `: low .. high`.
    fn range(&mut self) -> Option<(Expr, Expr)> {
        self.require(":")?;
        let low = self.expression()?;
        self.require("..")?;
        Some((low, self.expression()?))
    }

    /// `select (i : 0 .. 3)`, as the loop by which SPIN defines it.
    fn selected(&mut self, statements: &mut Vec<Statement>) -> Option<Action> {
        let first = self.next();
        self.require("(")?;
        let place = self.place()?;
        let (low, high) = self.range()?;
        self.require(")")?;
        let span = self.since(first);
        let statement = |it| Statement { labels: Vec::new(), it, span };
        statements.push(statement(Action::Assign(place.clone(), low)));
        let here = Expr { it: Term::Read(place.clone()), span, depth: 1 };
        let depth = 2 + high.depth;
        let below = Expr { it: Term::Binary(Binary::Less, Box::new(here), Box::new(high)), span, depth };
        let next = statement(Action::Assign(place.clone(), plus_one(place, Binary::Add, span)));
        Some(Action::Do(vec![vec![statement(Action::Guard(below)), next], vec![statement(Action::Break)]]))
    }

    /// Variables of a process; what sets them goes to `sets`.
    pub(super) fn local(
        &mut self,
        first: Token<'t>,
        name: &Located<&'t str>,
        ty: Kind,
        length: Option<u32>,
        sets: &mut Vec<Statement>,
    ) -> Option<()> {
        let value = if self.eat("=") { Some(self.expression()?) } else { None };
        let number = self.add_local(name, ty, length);
        let Some(value) = value else { return Some(()) };
        let span = self.since(first);
        for element in 0..length.unwrap_or(1) {
            let index = length.map(|_| Box::new(Expr::number(element.into(), span)));
            let place = Place { name: Name::Local(number), index, span };
            sets.push(Statement { labels: Vec::new(), it: Action::Assign(place, value.clone()), span });
        }
        Some(())
    }

    /// The text of an inline in place of its call.
    fn call(&mut self) -> Option<Action> {
        let name = self.next();
        let inline = self.inlines.get(name.text).cloned()?;
        let Some((given, length)) = arguments(&self.tokens[self.at..]) else {
            return self.refuse(name.span, "this call does not end", "close it with `)`");
        };
        let n_given = if given == [&[][..]] { 0 } else { given.len() };
        if n_given != inline.parameters.len() {
            let wanted = inline.parameters.len();
            let message = format!("`{}` has {wanted} parameters, not {n_given}", short(name.text));
            self.diagnostics.add(Diagnostic::new(name.span, message));
            self.at += length;
            return None;
        }
        let mut body = substitute(&inline.body, &inline.parameters, &given);
        self.at += length;
        self.n_inlined += body.len() + 1;
        if self.n_inlined > MOST_TOKENS {
            return self.refuse(name.span, "the inlines of this model grow too large", "write less with them");
        }
        body.push(Token { kind: TokenKind::End, text: "", span: name.span, line: 0 });
        let outer = (std::mem::replace(&mut self.tokens, body), std::mem::replace(&mut self.at, 0));
        let statements = self.deeper(|parser| Some(parser.sequence(false)));
        if statements.is_some() && self.peek().kind != TokenKind::End {
            self.expected::<()>("a statement");
        }
        (self.tokens, self.at) = outer;
        let mut statements = statements?;
        if statements.is_empty() {
            statements.push(Statement { labels: Vec::new(), it: Action::Skip, span: name.span });
        }
        Some(Action::Block(statements))
    }

    fn is_extension(&self, word: &str) -> bool {
        match word {
            "fence" | "sync" => !self.peek_second().is("("),
            "store" | "load" | "cas" | "xchg" => self.peek_second().is("("),
            _ => false,
        }
    }

    /// What Linden and Wolper added to Promela, and what we did.
    fn extension(&mut self) -> Option<Action> {
        let word = self.peek();
        match word.text {
            "fence" | "sync" => {
                self.next();
                Some(if word.is("fence") { Action::Fence } else { Action::Sync })
            }
            "store" | "load" => {
                self.next();
                self.require("(")?;
                let place = self.shared_place(word)?;
                self.require(",")?;
                let value = self.expression()?;
                self.require(")")?;
                if word.is("store") {
                    return Some(Action::Assign(place, value));
                }
                let span = self.since(word);
                let depth = 1 + value.depth.max(place.index.as_ref().map_or(1, |index| 1 + index.depth));
                let read = Expr { it: Term::Read(place), span, depth: depth - 1 };
                Some(Action::Guard(Expr {
                    it: Term::Binary(Binary::Equal, Box::new(read), Box::new(value)),
                    span,
                    depth,
                }))
            }
            _ => self.exchange(None),
        }
    }

    fn shared_place(&mut self, word: Token<'_>) -> Option<Place> {
        let place = self.place()?;
        if matches!(place.name, Name::Local(_)) {
            let message = format!("`{}` is for shared variables, and this is one of the process", word.text);
            return self.refuse(place.span, message, "assign it with `=`");
        }
        Some(place)
    }

    /// `cas(x, old, new)` or `xchg(x, new)`.
    fn exchange(&mut self, into: Option<Place>) -> Option<Action> {
        let word = self.next();
        self.require("(")?;
        let at = self.shared_place(word)?;
        self.require(",")?;
        let first = self.expression()?;
        let second = if word.is("cas") {
            self.require(",")?;
            Some(self.expression()?)
        } else {
            None
        };
        self.require(")")?;
        let mut shared: Option<Span> = None;
        let mut look = |place: &Place| shared = shared.or(Some(place.span));
        at.shared_index(&mut look);
        into.iter().for_each(|place| place.shared_index(&mut look));
        [Some(&first), second.as_ref()].into_iter().flatten().for_each(|expr| expr.shared(&mut look));
        if let Some(span) = shared.or(into.as_ref().filter(|p| matches!(p.name, Name::Global(_))).map(|p| p.span)) {
            let message = format!("`{}` accesses one shared variable, and this is another", word.text);
            return self.refuse(span, message, "use a variable of the process here");
        }
        Some(match second {
            Some(new) => Action::CompareExchange { at, old: first, new, into },
            None => Action::Exchange { at, new: first, into },
        })
    }
}

/// `place + 1` or `place - 1`.
fn plus_one(place: Place, op: Binary, span: Span) -> Expr {
    let depth = place.index.as_ref().map_or(1, |index| 1 + index.depth);
    let read = Expr { it: Term::Read(place), span, depth };
    Expr { it: Term::Binary(op, Box::new(read), Box::new(Expr::number(1, span))), span, depth: depth + 1 }
}
