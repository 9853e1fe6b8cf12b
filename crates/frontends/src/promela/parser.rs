//! Reads a model: declarations, macros that are procedures, and processes.
//!
//! Names are resolved on the way, as a model declares before it uses. After an error reading continues at the next
//! statement or declaration.

use std::collections::{BTreeMap, BTreeSet};

use teetotal_program::Span;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::promela::lexer::{Kind as TokenKind, Token};
use crate::promela::preprocessor::short;
use crate::promela::scope::{Known, Scope};
use crate::promela::syntax::{Kind, Located, Model, Proctype, Statement, Variable};
use crate::promela::words;
use crate::suggest::nearest;

/// A place in the tokens of a model.
#[derive(Debug)]
pub(super) struct Parser<'t, 'd> {
    pub(super) tokens: Vec<Token<'t>>,
    pub(super) at: usize,
    pub(super) scope: Scope,
    pub(super) inlines: BTreeMap<&'t str, Inline<'t>>,
    /// The names that refused declarations declare.
    pub(super) refused: BTreeSet<&'t str>,
    /// How many tokens came of inlines so far.
    pub(super) n_inlined: usize,
    /// How deep statements and inlines are inside each other.
    pub(super) depth: usize,
    pub(super) diagnostics: &'d mut Diagnostics,
}

/// A procedure whose text replaces its call.
#[derive(Clone, Debug)]
pub(super) struct Inline<'t> {
    pub(super) parameters: Vec<&'t str>,
    /// Without the braces.
    pub(super) body: Vec<Token<'t>>,
}

/// At most this many elements in an array.
const MOST_ELEMENTS: i64 = 4_096;

/// At most this many processes, as in SPIN.
pub(super) const MOST_PROCESSES: usize = 255;

/// Names longer than this are refused: they are repeated in every element of an array.
const LONGEST_NAME: usize = 255;

/// The model of these tokens; what is wrong with it goes to `diagnostics`, and the rest is read all the same.
pub(super) fn parse<'t>(tokens: Vec<Token<'t>>, diagnostics: &mut Diagnostics) -> Model {
    let (scope, inlines, refused) = (Scope::default(), BTreeMap::new(), BTreeSet::new());
    let mut parser = Parser { tokens, at: 0, scope, inlines, refused, n_inlined: 0, depth: 0, diagnostics };
    let mut model = Model::default();
    while parser.peek().kind != TokenKind::End {
        let before = parser.at;
        if parser.eat(";") {
            continue;
        }
        if parser.unit(&mut model).is_none() {
            parser.skip_to_unit(before);
        }
    }
    model.globals = std::mem::take(&mut parser.scope.globals);
    model
}

/// Moving on.
impl<'t> Parser<'t, '_> {
    pub(super) fn peek(&self) -> Token<'t> {
        self.tokens[self.at]
    }

    pub(super) fn peek_second(&self) -> Token<'t> {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    /// The token here, and on to the next; the end stays.
    pub(super) fn next(&mut self) -> Token<'t> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.peek().is(text);
        if found {
            self.next();
        }
        found
    }

    pub(super) fn require(&mut self, text: &str) -> Option<Span> {
        let token = self.peek();
        if self.eat(text) { Some(token.span) } else { self.expected(&format!("`{text}`")) }
    }

    /// Says that something else was expected here.
    pub(super) fn expected<T>(&mut self, what: &str) -> Option<T> {
        let token = self.peek();
        let found = match token.kind {
            TokenKind::End => "the end of the model".to_owned(),
            _ => format!("`{}`", short(token.text)),
        };
        self.diagnostics.add(Diagnostic::new(token.span, format!("expected {what}, found {found}")));
        None
    }

    pub(super) fn refuse<T>(&mut self, span: Span, message: impl Into<String>, help: &str) -> Option<T> {
        self.diagnostics.add(Diagnostic::new(span, message).help(help));
        None
    }

    /// A name that is no word of the language.
    pub(super) fn name(&mut self, what: &str) -> Option<Located<&'t str>> {
        let token = self.peek();
        if token.kind != TokenKind::Word {
            return self.expected(what);
        }
        if let Some(reason) = words::refused(token.text) {
            self.next();
            return self.refuse(token.span, format!("`{}` is not supported", token.text), reason);
        }
        if words::is_reserved(token.text) {
            return self.expected(what);
        }
        self.next();
        if token.text.len() > LONGEST_NAME {
            let message = format!("this name is longer than {LONGEST_NAME} bytes");
            self.diagnostics.add(Diagnostic::new(token.span, message));
            return None;
        }
        Some(Located { it: token.text, span: token.span })
    }

    /// From the first token of something to the last one read, as far as they are on one line.
    pub(super) fn since(&self, first: Token<'_>) -> Span {
        let last = self.tokens[self.at.saturating_sub(1)];
        let end = last.span.column.saturating_add(last.span.length);
        if last.span.line == first.span.line && end > first.span.column {
            Span { length: end - first.span.column, ..first.span }
        } else {
            first.span
        }
    }

    /// Goes to what looks like the next declaration, and past `before` in any case.
    fn skip_to_unit(&mut self, before: usize) {
        self.at = self.at.max(before + 1).min(self.tokens.len() - 1);
        let mut depth = 0_usize;
        loop {
            let token = self.peek();
            match token.text {
                _ if token.kind == TokenKind::End => return,
                "{" if token.kind == TokenKind::Sign => depth += 1,
                "}" if token.kind == TokenKind::Sign => {
                    self.next();
                    match depth {
                        0 | 1 => return,
                        _ => depth -= 1,
                    }
                    continue;
                }
                ";" if depth == 0 => return,
                "active" | "proctype" | "init" | "inline" => return,
                _ => {}
            }
            self.next();
        }
    }

    /// Skips what is in braces, if a brace is next.
    pub(super) fn skip_braces(&mut self) {
        let mut depth = 0_usize;
        while self.peek().kind != TokenKind::End {
            let token = self.next();
            match token.text {
                "{" => depth += 1,
                "}" if depth <= 1 => return,
                "}" => depth -= 1,
                _ if depth == 0 => return,
                _ => {}
            }
        }
    }
}

/// Declarations.
impl<'t> Parser<'t, '_> {
    fn unit(&mut self, model: &mut Model) -> Option<()> {
        let token = self.peek();
        match token.text {
            "active" | "proctype" => self.proctype(model),
            "init" => {
                self.next();
                let name = Located { it: "init".to_owned(), span: token.span };
                if model.proctypes.iter().any(|other| other.name.it == "init") {
                    self.refuse::<()>(token.span, "there are two `init`", "a model has one at most");
                }
                self.process(model, name, 1, 0)
            }
            "inline" => self.inline(),
            "mtype" if self.declares_mtype() => self.mtype(),
            text if words::is_unit_refused(text) => {
                self.next();
                let reason = words::refused(text).unwrap_or("leave it out");
                self.refuse::<()>(token.span, format!("`{text}` is not supported"), reason);
                // Whoever uses what it declares has been told.
                self.refused.insert(self.peek().text);
                while !self.peek().is("{") && !self.peek().is(";") && self.peek().kind != TokenKind::End {
                    self.next();
                }
                self.skip_braces();
                Some(())
            }
            text if words::is_type(text) || words::is_visibility(text) => {
                self.declaration(None)?;
                Some(())
            }
            text => {
                self.next();
                let unknown = format!("`{}` does not begin a declaration", short(text));
                let known = ["active", "proctype", "init", "inline", "mtype", "byte", "bit", "bool", "int", "short"];
                self.diagnostics.add(Diagnostic::new(token.span, unknown).meant(nearest(text, known)));
                None
            }
        }
    }

    /// Whether `mtype` here declares names and not variables.
    fn declares_mtype(&self) -> bool {
        let second = self.peek_second();
        second.is("=") || second.is("{")
    }

    fn mtype(&mut self) -> Option<()> {
        self.next();
        self.eat("=");
        self.require("{")?;
        let mut names = Vec::new();
        while !self.eat("}") {
            names.push(self.name("the name of a constant")?);
            if !self.eat(",") {
                self.require("}")?;
                break;
            }
        }
        // SPIN numbers the names of a declaration from its end.
        let before = self.scope.n_mtypes;
        self.scope.n_mtypes += names.len() as i64;
        let n_names = names.len() as i64;
        for (index, name) in (0_i64..).zip(names) {
            self.declare(&name, Known::Constant(before + n_names - index));
        }
        Some(())
    }

    fn declare(&mut self, name: &Located<&'t str>, known: Known) {
        if self.scope.add(name.it, known) || self.inlines.contains_key(name.it) {
            let twice = format!("`{}` is declared twice", short(name.it));
            self.diagnostics.add(Diagnostic::new(name.span, twice));
        }
    }

    fn inline(&mut self) -> Option<()> {
        self.next();
        let name = self.name("the name of an inline")?;
        self.require("(")?;
        let mut parameters = Vec::new();
        while !self.eat(")") {
            parameters.push(self.name("the name of a parameter")?.it);
            if !self.eat(",") {
                self.require(")")?;
                break;
            }
        }
        if !self.peek().is("{") {
            return self.expected("`{`");
        }
        let start = self.at + 1;
        self.skip_braces();
        let end = (self.at - 1).max(start);
        let body = self.tokens[start..end].to_vec();
        if self.inlines.insert(name.it, Inline { parameters, body }).is_some() {
            self.diagnostics.add(Diagnostic::new(name.span, format!("`{}` is declared twice", short(name.it))));
        }
        Some(())
    }

    fn proctype(&mut self, model: &mut Model) -> Option<()> {
        let mut active = 0;
        if self.eat("active") {
            active = 1;
            if self.eat("[") {
                let span = self.peek().span;
                let number = self.constant("how many processes run")?;
                self.require("]")?;
                match u32::try_from(number) {
                    Ok(number) if number as usize <= MOST_PROCESSES => active = number,
                    _ => {
                        let help = "SPIN runs no more either";
                        return self.refuse(span, format!("a model has at most {MOST_PROCESSES} processes"), help);
                    }
                }
            }
        }
        self.require("proctype")?;
        let name = self.name("the name of a process")?;
        if model.proctypes.iter().any(|other| other.name.it == name.it) {
            self.diagnostics.add(Diagnostic::new(name.span, format!("`{}` is declared twice", short(name.it))));
        }
        self.require("(")?;
        self.scope.open_process();
        while !self.eat(")") {
            self.parameters()?;
            if !self.eat(";") && !self.eat(",") {
                self.require(")")?;
                break;
            }
        }
        let n_parameters = self.scope.locals.len();
        for word in ["provided", "priority"] {
            if self.peek().is(word) {
                let token = self.next();
                let reason = words::refused(word).unwrap_or("leave it out");
                self.refuse::<()>(token.span, format!("`{word}` is not supported"), reason);
                while !self.peek().is("{") && self.peek().kind != TokenKind::End {
                    self.next();
                }
            }
        }
        self.process(model, Located { it: name.it.to_owned(), span: name.span }, active, n_parameters)
    }

    /// Parameters of one type.
    fn parameters(&mut self) -> Option<()> {
        let ty = self.ty()?;
        loop {
            let name = self.name("the name of a parameter")?;
            self.add_local(&name, ty, None);
            let another = self.peek().is(",") && !words::is_type(self.peek_second().text);
            if !another {
                return Some(());
            }
            self.next();
        }
    }

    fn process(&mut self, model: &mut Model, name: Located<String>, active: u32, n_parameters: usize) -> Option<()> {
        if name.it == "init" {
            self.scope.open_process();
        }
        self.require("{")?;
        let body = self.sequence(false);
        let locals = self.scope.close_process();
        model.proctypes.push(Proctype { name, active, n_parameters, locals, body });
        self.require("}")?;
        Some(())
    }

    /// An integer type.
    fn ty(&mut self) -> Option<Kind> {
        while words::is_visibility(self.peek().text) {
            self.next();
        }
        let token = self.peek();
        let kind = match token.text {
            "bit" | "bool" => Kind::BIT,
            "byte" | "mtype" | "pid" => Kind::BYTE,
            "short" => Kind::SHORT,
            "int" => Kind::INT,
            // How many bits is said after the name.
            "unsigned" => Kind { bits: 32, signed: false },
            _ => {
                if let Some(reason) = words::refused(token.text) {
                    self.next();
                    return self.refuse(token.span, format!("`{}` is not supported", token.text), reason);
                }
                return self.expected("a type such as `byte`");
            }
        };
        self.next();
        if token.is("mtype") && self.eat(":") {
            self.name("the name of a set of constants")?;
        }
        Some(kind)
    }

    /// A declaration of variables; one of a process gives what sets them.
    pub(super) fn declaration(&mut self, mut sets: Option<&mut Vec<Statement>>) -> Option<()> {
        let word = self.peek();
        let ty = self.ty()?;
        loop {
            let first = self.peek();
            let name = self.name("the name of a variable")?;
            let mut ty = ty;
            if word.is("unsigned") {
                ty.bits = self.bits()?;
            }
            let mut length = None;
            if self.eat("[") {
                length = Some(self.length()?);
                self.require("]")?;
            }
            match &mut sets {
                None => self.global(&name, ty, length)?,
                Some(sets) => self.local(first, &name, ty, length, sets)?,
            }
            if !self.eat(",") {
                return Some(());
            }
        }
    }

    /// `: 5` after the name of an `unsigned`.
    fn bits(&mut self) -> Option<u32> {
        let span = self.require(":")?;
        match self.constant("how many bits it has")? {
            bits @ 1..=32 => Some(bits as u32),
            _ => self.refuse(span, "an `unsigned` has from 1 to 32 bits", "write `unsigned x : 5`"),
        }
    }

    fn length(&mut self) -> Option<u32> {
        let span = self.peek().span;
        match self.constant("the length of the array")? {
            length @ 1..=MOST_ELEMENTS => Some(length as u32),
            _ => {
                let message = format!("an array has from 1 to {MOST_ELEMENTS} elements");
                self.diagnostics.add(Diagnostic::new(span, message));
                None
            }
        }
    }

    fn global(&mut self, name: &Located<&'t str>, ty: Kind, length: Option<u32>) -> Option<()> {
        let n_elements = length.unwrap_or(1) as usize;
        let mut initial = vec![0; n_elements];
        if self.eat("=") {
            if self.peek().is("{") {
                let open = self.next();
                let mut given = Vec::new();
                while !self.eat("}") {
                    given.push(self.constant("what an element holds at first")?);
                    if !self.eat(",") {
                        self.require("}")?;
                        break;
                    }
                }
                if given.len() != n_elements {
                    let message = format!("{} values for {n_elements} elements", given.len());
                    self.diagnostics.add(Diagnostic::new(open.span, message));
                }
                initial.iter_mut().zip(given).for_each(|(element, value)| *element = ty.wrap(value));
            } else {
                initial.fill(ty.wrap(self.constant("what a variable holds at first")?));
            }
        }
        let number = self.scope.globals.len();
        self.declare(name, Known::Global(number));
        self.scope.globals.push(Variable { name: name.it.to_owned(), ty, length, initial });
        Some(())
    }

    pub(super) fn add_local(&mut self, name: &Located<&'t str>, ty: Kind, length: Option<u32>) -> usize {
        let (number, twice) = self.scope.add_local(name.it, ty, length);
        if twice {
            let message = format!("`{}` is declared twice", short(name.it));
            self.diagnostics.add(Diagnostic::new(name.span, message));
        }
        number
    }

    /// An expression whose value is known.
    fn constant(&mut self, what: &str) -> Option<i64> {
        let expr = self.expression()?;
        let value = expr.constant(&|_| None, None);
        if value.is_none() {
            let message = format!("{what} must be a constant");
            self.diagnostics.add(Diagnostic::new(expr.span, message));
        }
        value
    }
}
