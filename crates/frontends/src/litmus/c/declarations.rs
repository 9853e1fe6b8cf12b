//! Reads types, and declarations of local variables.

use crate::diagnostics::Diagnostic;
use crate::litmus::c::syntax::{Declarator, Statement};
use crate::litmus::lexer::{Kind, Token};
use crate::litmus::parser::Parser;
use crate::litmus::syntax::Located;
use crate::litmus::types::{self, CType};

/// Words that begin a type which is not supported, and what to do about it.
const REFUSED: &[(&str, &str)] = &[
    ("struct", "declare each member as a location of its own"),
    ("union", "declare each member as a location of its own"),
    ("enum", "use `int` and numbers"),
    ("float", "only integers are supported"),
    ("double", "only integers are supported"),
    ("typedef", "write the type itself"),
    ("typeof", "write the type itself"),
    ("__typeof__", "write the type itself"),
    ("void", "a pointer says what it points to: `int *`"),
];

impl<'t> Parser<'t, '_> {
    /// Whether a type begins with `token`.
    pub(super) fn begins_type(&self, token: Token<'t>) -> bool {
        let refused = || REFUSED.iter().any(|(word, _)| *word == token.text);
        token.kind == Kind::Word && (types::is_type(token.text) || refused())
    }

    /// The words of a type, without the stars after them.
    pub(super) fn base_type(&mut self) -> Option<CType> {
        let start = self.peek();
        let mut words = Vec::new();
        while self.begins_type(self.peek()) {
            let token = self.next();
            if let Some((word, help)) = REFUSED.iter().find(|(word, _)| *word == token.text) {
                let refused = Diagnostic::new(token.span, format!("`{word}` is not supported"));
                self.diagnostics.add(refused.help(*help));
                return None;
            }
            words.push(token.text);
            if token.is("_Atomic") && self.eat("(") {
                let inner = self.base_type()?;
                let inner = self.stars(inner);
                self.require(")")?;
                return Some(inner);
            }
        }
        let ty = types::named(&words);
        if ty.is_none() {
            let shown = if words.is_empty() { self.peek().text } else { self.text_since(start) };
            let unknown = format!("`{}` is not a known type", shown.chars().take(40).collect::<String>());
            let help = "integer types such as `int`, `atomic_int`, `int64_t` and `atomic_t` are known";
            self.diagnostics.add(Diagnostic::new(start.span, unknown).help(help));
        }
        ty
    }

    /// The stars after the words of a type.
    pub(super) fn stars(&mut self, mut ty: CType) -> CType {
        loop {
            if self.eat("*") {
                ty = ty.pointer(1);
            } else if types::is_qualifier(self.peek().text) || self.peek().is("restrict") {
                self.next();
            } else {
                return ty;
            }
        }
    }

    /// `int r0 = 1, *r1;`, up to the semicolon and with it.
    pub(super) fn declaration(&mut self, depth: usize) -> Option<Statement> {
        let base = self.base_type()?;
        let mut declarators = Vec::new();
        loop {
            let ty = self.stars(base);
            let name = self.word("the name of a local variable")?;
            if self.peek().is("[") {
                let array = Diagnostic::new(name.span, format!("the local variable `{}` is an array", name.it));
                self.diagnostics.add(array.help("declare arrays in the initial state: `{ int t[2]={0,0}; }`"));
                return None;
            }
            let value = if self.eat("=") { Some(self.assignment(depth)?) } else { None };
            declarators.push(Declarator { name: Located { it: name.it.to_owned(), span: name.span }, ty, value });
            if !self.eat(",") {
                break;
            }
        }
        self.require(";")?;
        Some(Statement::Declaration(declarators))
    }
}
