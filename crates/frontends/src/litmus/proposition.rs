//! Reads what is asked of final states.

use teetotal_program::condition::Comparison;

use crate::diagnostics::Diagnostic;
use crate::litmus::lexer::Kind;
use crate::litmus::parser::Parser;
use crate::litmus::syntax::{Flavor, Located, Proposition, Quantifier, Side, Test};
use crate::suggest::nearest;

/// How deep parentheses and negations may be nested.
const DEEPEST: usize = 200;

impl Parser<'_, '_> {
    /// `locations`, `filter` and the condition, in any order.
    pub(super) fn conditions(&mut self, test: &mut Test) {
        if test.n_threads() == 0 {
            // Where the code begins is not known, so where it ends is not either.
            return;
        }
        while !self.at_end() {
            if self.section(test).is_none() {
                return;
            }
            self.eat(";");
        }
    }

    fn section(&mut self, test: &mut Test) -> Option<()> {
        let token = self.next();
        let quantifier = match token.text {
            "exists" | "final" => Quantifier::Exists,
            "forall" => Quantifier::ForAll,
            "~" if self.eat("exists") => Quantifier::NotExists,
            "locations" => return self.locations(test),
            "filter" => {
                if test.filter.is_some() {
                    let twice = Diagnostic::new(token.span, "this test has two filters");
                    self.diagnostics.add(twice.help("join them with `/\\`"));
                }
                test.filter = Some(self.disjunction(0)?);
                return Some(());
            }
            _ => {
                let unknown =
                    Diagnostic::new(token.span, format!("`{}` is found where a condition is expected", token.text));
                let meant = nearest(token.text, ["exists", "forall", "locations", "filter", "final"]);
                self.diagnostics.add(unknown.meant(meant));
                return None;
            }
        };
        if test.quantifier.is_some() {
            self.diagnostics.add(Diagnostic::new(token.span, "this test has two conditions"));
        }
        test.quantifier = Some(quantifier);
        test.proposition = self.disjunction(0)?;
        Some(())
    }

    /// `[x; 1:EAX;]`.
    fn locations(&mut self, test: &mut Test) -> Option<()> {
        self.require("[")?;
        while !self.eat("]") {
            // A type may stand before a name, as in the initial state.
            while self.peek().kind == Kind::Word && self.peek_second().kind == Kind::Word {
                self.next();
            }
            test.shown.push(self.place()?);
            if !self.eat(";") && !self.peek().is("]") {
                return self.expected("`;` or `]`");
            }
        }
        Some(())
    }

    fn disjunction(&mut self, depth: usize) -> Option<Proposition> {
        let mut parts = Vec::new();
        loop {
            match self.conjunction(depth)? {
                Proposition::Or(inner) => parts.extend(inner),
                part => parts.push(part),
            }
            if !self.eat("\\/") && !self.eat("||") {
                break;
            }
        }
        Some(if parts.len() == 1 { parts.remove(0) } else { Proposition::Or(parts) })
    }

    fn conjunction(&mut self, depth: usize) -> Option<Proposition> {
        let mut parts = Vec::new();
        loop {
            match self.atom(depth)? {
                Proposition::And(inner) => parts.extend(inner),
                part => parts.push(part),
            }
            if !self.eat("/\\") && !self.eat("&&") {
                break;
            }
        }
        Some(if parts.len() == 1 { parts.remove(0) } else { Proposition::And(parts) })
    }

    fn atom(&mut self, depth: usize) -> Option<Proposition> {
        let token = self.peek();
        if depth > DEEPEST {
            let deep = Diagnostic::new(token.span, format!("conditions are nested more than {DEEPEST} deep"));
            self.diagnostics.add(deep.help("write it with fewer parentheses"));
            return None;
        }
        if self.eat("(") {
            let inner = self.disjunction(depth + 1)?;
            self.require(")")?;
            return Some(inner);
        }
        if self.eat("~") || self.eat("not") || self.eat("!") {
            return Some(Proposition::Not(Box::new(self.atom(depth + 1)?)));
        }
        if !self.peek_second().is("=") {
            if self.eat("true") {
                return Some(Proposition::True);
            }
            if self.eat("false") {
                return Some(Proposition::Not(Box::new(Proposition::True)));
            }
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Option<Proposition> {
        let left = self.place()?;
        let comparison = match self.peek().text {
            "=" | "==" => Comparison::Equal,
            "<>" | "!=" => Comparison::NotEqual,
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterOrEqual,
            _ => return self.expected("`=`"),
        };
        self.next();
        Some(Proposition::Compare(left, comparison, self.side()?))
    }

    fn side(&mut self) -> Option<Located<Side>> {
        let token = self.peek();
        let is_place = self.peek_second().is(":") || token.is("[") || token.is("*");
        if is_place {
            let place = self.place()?;
            return Some(Located { it: Side::Place(place.it), span: place.span });
        }
        self.eat("&");
        let token = self.peek();
        if token.kind == Kind::Word {
            self.next();
            if self.flavor == Flavor::C && token.is("NULL") {
                return Some(Located { it: Side::Number(0), span: token.span });
            }
            return Some(Located { it: Side::Name(token.text.to_owned()), span: token.span });
        }
        let number = self.number()?;
        Some(Located { it: Side::Number(number.it), span: number.span })
    }
}
