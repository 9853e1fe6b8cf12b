//! Reads the functions of a test: `P0(atomic_int *x) { … }`.

use crate::diagnostics::Diagnostic;
use crate::litmus::c::syntax::{Parameter, Thread};
use crate::litmus::lexer::Kind;
use crate::litmus::parser::{MOST_THREADS, Parser};
use crate::litmus::syntax::Located;

impl Parser<'_, '_> {
    /// The code of each thread.
    pub(in crate::litmus) fn functions(&mut self) -> Vec<Thread> {
        let mut threads = Vec::new();
        if self.at_end() && !self.diagnostics.is_empty() {
            // The text has ended before, and that has been said.
            return threads;
        }
        while (threads.is_empty() || !self.code_ends()) && !self.at_end() && !self.diagnostics.is_full() {
            if threads.len() == MOST_THREADS {
                let many = format!("this test has more than {MOST_THREADS} threads");
                self.diagnostics.add(Diagnostic::new(self.peek().span, many));
                break;
            }
            match self.function(threads.len()) {
                Some(thread) => threads.push(thread),
                None => return threads,
            }
        }
        if threads.is_empty() {
            let _: Option<()> = self.expected("a function such as `P0(int *x) { … }`");
        }
        threads
    }

    /// Nothing if what follows is no function, so that where the condition begins is not known.
    fn function(&mut self, index: usize) -> Option<Thread> {
        let start = self.peek();
        if start.is("void") {
            self.next();
        }
        if self.peek().text != format!("P{index}") {
            let names_thread = self.peek().text.strip_prefix('P').is_some_and(|rest| rest.parse::<u32>().is_ok());
            if index > 0 && !names_thread {
                // What else may stand here is spoken of where conditions are read.
                return None;
            }
            return self.expected(&format!("thread `P{index}`"));
        }
        self.next();
        let span = self.span_since(start);
        let parameters = self.parameters()?;
        self.require("{")?;
        let body = self.block(0);
        Some(Thread { span, parameters, body })
    }

    fn parameters(&mut self) -> Option<Vec<Parameter>> {
        let mut parameters: Vec<Parameter> = Vec::new();
        self.require("(")?;
        if self.peek().is("void") && self.peek_second().is(")") {
            self.next();
        }
        while !self.eat(")") {
            let Some(parameter) = self.parameter() else {
                self.skip_parameter()?;
                continue;
            };
            if parameters.iter().any(|other| other.name.it == parameter.name.it) {
                let twice = format!("two parameters are called `{}`", parameter.name.it);
                self.diagnostics.add(Diagnostic::new(parameter.name.span, twice));
            }
            parameters.push(parameter);
            if !self.eat(",") && !self.peek().is(")") {
                return self.expected("`,` or `)`");
            }
        }
        Some(parameters)
    }

    /// Goes to the next parameter, or to the end of all.
    fn skip_parameter(&mut self) -> Option<()> {
        while !self.eat(",") && !self.peek().is(")") {
            if self.at_end() || self.peek().is("{") {
                return self.require(")");
            }
            self.next();
        }
        Some(())
    }

    fn parameter(&mut self) -> Option<Parameter> {
        let base = self.base_type()?;
        let mut ty = self.stars(base);
        let name = self.word("the name of a shared location")?;
        if self.eat("[") {
            if self.peek().kind == Kind::Number {
                self.next();
            }
            self.require("]")?;
            ty = ty.pointer(1);
        }
        let Some(pointee) = ty.pointee() else {
            let value = Diagnostic::new(name.span, format!("the parameter `{}` is not a pointer", name.it));
            self.diagnostics
                .add(value.help(format!("parameters are pointers to shared locations: `int *{}`", name.it)));
            return None;
        };
        Some(Parameter { name: Located { it: name.it.to_owned(), span: name.span }, pointee })
    }
}
