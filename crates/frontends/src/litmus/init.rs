//! Reads the initial state.

use crate::diagnostics::Diagnostic;
use crate::litmus::lexer::Kind;
use crate::litmus::parser::{MOST_ELEMENTS, Parser};
use crate::litmus::syntax::{Entry, Flavor, Initial, Located, Place};
use crate::litmus::types::{self, CType};

impl Parser<'_, '_> {
    /// The entries up to the closing brace.
    pub(super) fn init(&mut self) -> Vec<Entry> {
        let mut entries = Vec::new();
        loop {
            if self.eat(";") {
                continue;
            }
            if self.eat("}") {
                self.eat(";");
                return entries;
            }
            if self.diagnostics.is_full() {
                return entries;
            }
            if self.at_end() {
                let open = Diagnostic::new(self.peek().span, "the text ends inside the initial state");
                self.diagnostics.add(open.help("close it with `}`"));
                return entries;
            }
            let entry = self.entry();
            let ended = self.peek().is(";") || self.peek().is("}");
            match entry {
                Some(entry) if ended => entries.push(entry),
                Some(_) => {
                    let _: Option<()> = self.expected("`;` or `}`");
                    self.skip_entry();
                }
                None => self.skip_entry(),
            }
        }
    }

    fn skip_entry(&mut self) {
        while !self.at_end() && !self.peek().is(";") && !self.peek().is("}") {
            self.next();
        }
    }

    /// `x`, `x=1`, `int x`, `0:EAX=x`, `int64_t t[2]={1,-1}`.
    fn entry(&mut self) -> Option<Entry> {
        let ty = self.type_before_place();
        let mut place = self.place()?;
        let mut length = None;
        if let Place::Memory(name, index @ Some(_)) = &place.it {
            length = *index;
            place.it = Place::Memory(name.clone(), None);
        }
        let mut values = Vec::new();
        if self.eat("=") {
            if self.eat("{") {
                while !self.eat("}") {
                    values.push(self.initial_value()?);
                    if values.len() > MOST_ELEMENTS as usize {
                        return self.expected("the end of so long an array");
                    }
                    if !self.eat(",") && !self.eat(";") && !self.peek().is("}") {
                        return self.expected("`,` or `}`");
                    }
                }
                length = length.or(Some(values.len() as u32));
            } else {
                values.push(self.initial_value()?);
            }
        }
        self.check_length(&place, length, values.len());
        Some(Entry { ty, place, length, values })
    }

    fn check_length(&mut self, place: &Located<Place>, length: Option<u32>, n_values: usize) {
        let Some(length) = length else { return };
        let wrong = if length == 0 {
            "an array has at least one element".to_owned()
        } else if n_values > length as usize {
            format!("{n_values} values do not fit into {length} elements")
        } else if matches!(place.it, Place::Register(..)) {
            "a register is not an array".to_owned()
        } else {
            return;
        };
        self.diagnostics.add(Diagnostic::new(place.span, wrong));
    }

    /// The words before the name: a type where two words follow each other.
    fn type_before_place(&mut self) -> Option<CType> {
        let mut words = Vec::new();
        loop {
            let (token, second) = (self.peek(), self.peek_second());
            let names_type = types::is_type(token.text) && second.is("[");
            let goes_on = names_type || second.is("*") || matches!(second.kind, Kind::Word | Kind::Number);
            if token.kind != Kind::Word || !goes_on {
                break;
            }
            words.push(self.next());
        }
        let mut depth = 0;
        while !words.is_empty() && self.eat("*") {
            depth += 1;
        }
        let first = words.first()?;
        let texts: Vec<&str> = words.iter().map(|word| word.text).collect();
        let base = types::named(&texts);
        if base.is_none() && (depth == 0 || self.flavor == Flavor::C) {
            let unknown = Diagnostic::new(first.span, format!("`{}` is not a known type", first.text));
            self.diagnostics.add(unknown.help("integer types such as `int`, `int64_t` and `uint8_t` are known"));
            return None;
        }
        // What a pointer of an unknown type points to does not matter to a processor.
        Some(base.unwrap_or(CType::INT).pointer(depth))
    }

    fn initial_value(&mut self) -> Option<Located<Initial>> {
        self.eat("&");
        let token = self.peek();
        if token.kind != Kind::Word {
            let number = self.number()?;
            return Some(Located { it: Initial::Number(number.it), span: number.span });
        }
        self.next();
        if self.flavor == Flavor::C && token.is("NULL") {
            return Some(Located { it: Initial::Number(0), span: token.span });
        }
        if self.flavor == Flavor::C && token.is("ATOMIC_INIT") && self.eat("(") {
            let number = self.number()?;
            self.require(")")?;
            return Some(Located { it: Initial::Number(number.it), span: number.span });
        }
        let mut element = 0;
        if self.eat("[") {
            element = self.small(MOST_ELEMENTS)?;
            self.require("]")?;
        }
        Some(Located { it: Initial::AddressOf(token.text.to_owned(), element), span: token.span })
    }
}
