//! Reads the parts of a litmus test one after the other: header, initial state, code, condition.

use teetotal_program::Span;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::litmus::lexer::{Cursor, Dialect, Kind, Token, tokens};
use crate::litmus::syntax::{Code, Flavor, Located, Named, Place, Proposition, Test};
use crate::litmus::x86::{self, Register};
use crate::suggest::nearest;

/// A place in the tokens of a test.
#[derive(Debug)]
pub(super) struct Parser<'t, 'd> {
    /// What the places of tokens count in.
    text: &'t str,
    tokens: Vec<Token<'t>>,
    at: usize,
    pub(super) flavor: Flavor,
    pub(super) diagnostics: &'d mut Diagnostics,
}

/// The test in `text`; what is wrong with it goes to `diagnostics`, and the rest is read all the same.
pub(super) fn parse(text: &str, diagnostics: &mut Diagnostics) -> Option<Test> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut cursor = Cursor::new(text);
    cursor.skip_blank(Dialect::Assembly, diagnostics);
    let (flavor, name, header) = header(&mut cursor, diagnostics)?;
    if !skip_to_init(&mut cursor) {
        let missing = Diagnostic::new(header, "this test has no initial state and no program");
        diagnostics.add(missing.help("after the header, write the initial state in braces: `{ x=0; }`"));
        return None;
    }
    let dialect = if flavor == Flavor::C { Dialect::C } else { Dialect::Assembly };
    let tokens = tokens(cursor, dialect, diagnostics);
    let mut parser = Parser { text, tokens, at: 0, flavor, diagnostics };
    let init = parser.init();
    let code = match flavor {
        Flavor::X86 | Flavor::X86_64 => Code::X86(parser.table()),
        Flavor::C => Code::C(parser.functions()),
    };
    let mut test = Test {
        name,
        flavor,
        header,
        init,
        code,
        shown: Vec::new(),
        quantifier: None,
        proposition: Proposition::True,
        filter: None,
    };
    parser.conditions(&mut test);
    Some(test)
}

/// The architecture and the name. What follows the name on its line is a remark.
fn header(cursor: &mut Cursor<'_>, diagnostics: &mut Diagnostics) -> Option<(Flavor, String, Span)> {
    let start = *cursor;
    let word = cursor.take_until(char::is_whitespace);
    let span = start.span(word.chars().count());
    let flavor = match word {
        "X86" => Flavor::X86,
        "X86_64" => Flavor::X86_64,
        "C" => Flavor::C,
        "" => {
            diagnostics.add(Diagnostic::new(span, "this file is empty"));
            return None;
        }
        _ => {
            diagnostics.add(unknown_architecture(word, span));
            return None;
        }
    };
    cursor.take_until(|c| c == '\n' || !c.is_whitespace());
    let name = cursor.take_until(char::is_whitespace);
    if name.is_empty() {
        diagnostics.add(Diagnostic::new(span, "this test has no name").help(format!("write `{word} NAME`")));
    }
    cursor.take_until(|c| c == '\n');
    Some((flavor, name.to_owned(), span))
}

fn unknown_architecture(word: &str, span: Span) -> Diagnostic {
    const OTHERS: &[&str] = &["AArch64", "ARM", "PPC", "RISCV", "MIPS", "LISA", "ASL", "BPF", "CPP", "JAVA"];
    let short: String = word.chars().take(40).collect();
    if OTHERS.contains(&word) {
        let refused = Diagnostic::new(span, format!("litmus tests for `{word}` are not supported yet"));
        return refused.help("tests for `X86`, `X86_64` and `C` are");
    }
    let refused = Diagnostic::new(span, format!("`{short}` is not an architecture of litmus tests"));
    match nearest(word, ["X86", "X86_64", "C"]) {
        Some(name) => refused.meant(Some(name)),
        None => refused.help("a litmus test begins with `X86 NAME`, `X86_64 NAME` or `C NAME`"),
    }
}

/// Goes to just after the brace that opens the initial state: the first that opens a line, else the first.
fn skip_to_init(cursor: &mut Cursor<'_>) -> bool {
    let mut at = 0;
    for line in cursor.rest.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        if line[indent..].starts_with('{') {
            cursor.skip(at + indent + 1);
            return true;
        }
        at += line.len();
    }
    match cursor.rest.find('{') {
        Some(brace) => cursor.skip(brace + 1),
        None => return false,
    }
    true
}

impl<'t> Parser<'t, '_> {
    pub(super) fn peek(&self) -> Token<'t> {
        self.tokens[self.at]
    }

    /// The token after the next one.
    pub(super) fn peek_second(&self) -> Token<'t> {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    /// The column after the token before the next one.
    pub(super) fn previous_end(&self) -> u32 {
        let span = self.tokens[self.at.saturating_sub(1)].span;
        span.column.saturating_add(span.length)
    }

    pub(super) fn next(&mut self) -> Token<'t> {
        let token = self.peek();
        // The end stays where it is.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// The text from `first` to the token before the next one.
    pub(super) fn text_since(&self, first: Token<'t>) -> &'t str {
        let last = self.tokens[self.at.saturating_sub(1)];
        self.text.get(first.start..last.start + last.text.len()).unwrap_or(first.text)
    }

    /// The place from `first` to the token before the next one, as far as it is on one line.
    pub(super) fn span_since(&self, first: Token<'t>) -> Span {
        let last = self.tokens[self.at.saturating_sub(1)].span;
        let end = last.column.saturating_add(last.length);
        let length = if last.line == first.span.line { end.saturating_sub(first.span.column) } else { 0 };
        Span { length: length.max(first.span.length), ..first.span }
    }

    /// Whether the code ends here, because the condition or its kin begins.
    pub(super) fn code_ends(&self) -> bool {
        let token = self.peek();
        let keyword = |token: Token<'_>| token.kind == Kind::Word && KEYWORDS.contains(&token.text);
        keyword(token) || (token.is("~") && keyword(self.peek_second()))
    }

    pub(super) fn at_end(&self) -> bool {
        self.peek().kind == Kind::End
    }

    /// Takes the next token if it is `text`.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let is = self.peek().is(text);
        if is {
            self.next();
        }
        is
    }

    /// Says that something else is needed here.
    pub(super) fn expected<T>(&mut self, what: &str) -> Option<T> {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the text ends".to_owned(),
            _ => format!("`{}` stands", token.text.chars().take(40).collect::<String>()),
        };
        self.diagnostics.add(Diagnostic::new(token.span, format!("{found} where {what} is expected")));
        None
    }

    pub(super) fn require(&mut self, text: &str) -> Option<()> {
        if self.eat(text) { Some(()) } else { self.expected(&format!("`{text}`")) }
    }

    /// A number, with a sign or without.
    pub(super) fn number(&mut self) -> Option<Located<u64>> {
        let negative = self.peek().is("-");
        if negative || self.peek().is("+") {
            self.next();
        }
        let token = self.peek();
        if token.kind != Kind::Number {
            return self.expected("a number");
        }
        self.next();
        match value(token.text, negative) {
            Ok(it) => Some(Located { it, span: token.span }),
            Err(reason) => {
                let text: String = token.text.chars().take(40).collect();
                self.diagnostics.add(Diagnostic::new(token.span, format!("`{text}` {reason}")));
                None
            }
        }
    }

    /// A small number, such as the length of an array.
    pub(super) fn small(&mut self, most: u32) -> Option<u32> {
        let number = self.number()?;
        match u32::try_from(number.it) {
            Ok(small) if small <= most => Some(small),
            _ => {
                self.diagnostics.add(Diagnostic::new(number.span, format!("this number is larger than {most}")));
                None
            }
        }
    }

    pub(super) fn word(&mut self, what: &str) -> Option<Located<&'t str>> {
        let token = self.peek();
        if token.kind != Kind::Word {
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

    /// `0:EAX`, `P0:EAX`, `x`, `[x]`, `t[1]` or `*x`.
    pub(super) fn place(&mut self) -> Option<Located<Place>> {
        let token = self.peek();
        if self.peek_second().is(":") {
            return self.register_place();
        }
        if self.eat("[") {
            let place = self.memory_place()?;
            self.require("]")?;
            return Some(place);
        }
        self.eat("*");
        if token.kind == Kind::Number {
            return self.expected("a register such as `0:EAX`, or a location");
        }
        self.memory_place()
    }

    fn memory_place(&mut self) -> Option<Located<Place>> {
        let name = self.word("the name of a location")?;
        let mut index = None;
        if self.eat("[") {
            index = Some(self.small(MOST_ELEMENTS)?);
            self.require("]")?;
        }
        Some(Located { it: Place::Memory(name.it.to_owned(), index), span: name.span })
    }

    fn register_place(&mut self) -> Option<Located<Place>> {
        let thread = self.next();
        let number = thread.text.strip_prefix('P').unwrap_or(thread.text).parse::<u16>();
        let Ok(number) = number else {
            let unknown = Diagnostic::new(thread.span, format!("`{}` is not a thread", thread.text));
            let example = if self.flavor == Flavor::C { "0:r0" } else { "0:EAX" };
            self.diagnostics.add(unknown.help(format!("threads are numbered from 0: `{example}`")));
            return None;
        };
        self.require(":")?;
        self.eat("%");
        let name = self.word("the name of a register")?;
        let register = match self.flavor {
            Flavor::C => Named::Local(name.it.to_owned()),
            Flavor::X86 | Flavor::X86_64 => Named::Register(self.named_register(&name)?),
        };
        let length = name.span.column.saturating_sub(thread.span.column) + name.span.length;
        let span = if name.span.line == thread.span.line { Span { length, ..thread.span } } else { thread.span };
        Some(Located { it: Place::Register(usize::from(number), register), span })
    }

    pub(super) fn named_register(&mut self, name: &Located<&str>) -> Option<Register> {
        let register = Register::named(name.it);
        if register.is_none() {
            let short: String = name.it.chars().take(40).collect();
            let unknown = Diagnostic::new(name.span, format!("`{short}` is not a register"));
            self.diagnostics.add(unknown.meant(nearest(name.it, x86::names())));
        }
        register
    }
}

/// The words that end the code.
pub(super) const KEYWORDS: &[&str] = &["exists", "forall", "final", "locations", "filter", "observed"];

/// At most this many threads.
pub(super) const MOST_THREADS: usize = 1_024;

/// Elements of an array repeat its name, so names are not without bound.
const LONGEST_NAME: usize = 255;

/// At most this many elements in an array.
pub(super) const MOST_ELEMENTS: u32 = 65_536;

/// The number that `text` says, in decimal, hexadecimal, octal or binary.
fn value(text: &str, negative: bool) -> Result<u64, &'static str> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = if let Some(digits) = lower.strip_prefix("0x") {
        (digits, 16)
    } else if let Some(digits) = lower.strip_prefix("0b") {
        (digits, 2)
    } else if let Some(digits) = lower.strip_prefix("0o") {
        (digits, 8)
    } else {
        (lower.as_str(), 10)
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err("is not a number");
    }
    let value = u64::from_str_radix(digits, radix).map_err(|_| "does not fit into 64 bits")?;
    if !negative {
        return Ok(value);
    }
    if value > 1 << 63 { Err("does not fit into 64 bits with its sign") } else { Ok(value.wrapping_neg()) }
}
