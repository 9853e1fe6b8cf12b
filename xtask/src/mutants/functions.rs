//! Finds the functions of a Rust file, and where their bodies are.
//!
//! This is no parser: it knows braces, comments and literals, and the words that begin an item.

use std::ops::Range;

/// A function, a constant or a static.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Item {
    /// The modules, the type or trait, and the functions that it is in, and its name.
    pub(super) path: Vec<String>,
    /// From the word that begins it to its end.
    pub(super) range: Range<usize>,
    /// Between its braces; empty for a constant.
    pub(super) body: Range<usize>,
    pub(super) kind: Kind,
}

/// What may be done with an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Its body may be one of several.
    Function,
    /// It gives a type that only its body says, so that it has one body, in which an expression may be one of several.
    OfOneBody,
    /// It is computed when it is compiled.
    Constant,
}

/// The items of a file that stands for `modules`, without those of tests.
pub(super) fn items(modules: &[&str], text: &str) -> Vec<Item> {
    let code = code(text);
    let mut found = Found { code: &code, items: Vec::new() };
    let mut path: Vec<String> = modules.iter().map(|&name| name.to_owned()).collect();
    found.read(0..code.len(), &mut path);
    found.items
}

/// The modules that a file of a crate stands for; `file` is relative to `src`.
pub(super) fn modules(file: &str) -> Vec<&str> {
    let mut modules: Vec<&str> = file.trim_end_matches(".rs").split('/').collect();
    modules.pop_if(|last| matches!(*last, "mod" | "lib" | "main"));
    modules
}

struct Found<'a> {
    code: &'a [u8],
    items: Vec<Item>,
}

impl Found<'_> {
    /// Finds the items in a range of the code, which are in `path`.
    fn read(&mut self, range: Range<usize>, path: &mut Vec<String>) {
        let mut at = range.start;
        while at < range.end {
            if !is_word(self.code[at]) {
                at += 1;
                continue;
            }
            let word = self.word(at);
            at = match self.code[word.clone()].as_ref() {
                b"fn" => self.function(word, path),
                b"const" | b"static" if self.begins_item(word.start) => self.constant(word, path),
                b"mod" | b"trait" => {
                    let name = self.text(self.word(self.next_word(word.end)));
                    self.group(word, Some(name), path)
                }
                b"impl" if self.begins_item(word.start) => {
                    let name = self.head(&word).map(|head| implementer(&self.text(word.end..head)));
                    self.group(word, name, path)
                }
                _ => word.end,
            };
        }
    }

    /// Reads a function or a type of functions; gives where to go on.
    fn function(&mut self, word: Range<usize>, path: &mut Vec<String>) -> usize {
        let name = self.word(self.next_word(word.end));
        // The name in a macro is a variable of it.
        let is_named = !name.is_empty() && self.code[word.end..name.start].iter().all(|&c| c == b' ' || c == b'$');
        let Some(head) = self.head(&word).filter(|_| is_named) else { return word.end };
        let body = head + 1..self.end_of(head);
        let signature = self.text(word.start..head);
        let gives_impl = given(&signature).is_some_and(|given| given.contains("impl "));
        let before = self.code[..word.start].iter().rposition(|&c| b";{}]".contains(&c)).unwrap_or(0);
        let is_const = self.text(before..word.start).split_whitespace().any(|word| word == "const");
        path.push(self.text(name));
        let range = word.start..body.end + 1;
        let kind = match (is_const, gives_impl) {
            (true, _) => Kind::Constant,
            (false, true) => Kind::OfOneBody,
            (false, false) => Kind::Function,
        };
        self.items.push(Item { path: path.clone(), range, body: body.clone(), kind });
        self.read(body.clone(), path);
        path.pop();
        body.end
    }

    fn constant(&mut self, word: Range<usize>, path: &mut Vec<String>) -> usize {
        let name = self.word(self.next_word(word.end));
        if matches!(&self.code[name.clone()], b"fn" | b"unsafe" | b"extern") {
            return word.end;
        }
        let end = self.statement_end(name.end);
        path.push(self.text(name));
        self.items.push(Item { path: path.clone(), range: word.start..end, body: end..end, kind: Kind::Constant });
        path.pop();
        end
    }

    /// Reads what is in the braces of a module, a trait or an implementation; gives where to go on.
    fn group(&mut self, word: Range<usize>, name: Option<String>, path: &mut Vec<String>) -> usize {
        let Some(head) = self.head(&word) else { return word.end };
        let end = self.end_of(head);
        let Some(name) = name.filter(|name| name != "tests") else { return end };
        path.push(name);
        self.read(head + 1..end, path);
        path.pop();
        end
    }

    /// Where the brace opens of what begins with `word`; nowhere if it ends before.
    fn head(&self, word: &Range<usize>) -> Option<usize> {
        let mut brackets = 0_i32;
        for (at, &c) in self.code.iter().enumerate().skip(word.end) {
            match c {
                b'(' | b'[' => brackets += 1,
                b')' | b']' => brackets -= 1,
                b'{' if brackets == 0 => return Some(at),
                b';' | b'}' if brackets == 0 => return None,
                _ if brackets < 0 => return None,
                _ => {}
            }
        }
        None
    }

    /// Where the brace closes that opens at `head`.
    fn end_of(&self, head: usize) -> usize {
        let mut braces = 0_i32;
        let closes = self.code.iter().enumerate().skip(head).find(|&(_, &c)| {
            braces += i32::from(c == b'{') - i32::from(c == b'}');
            braces == 0
        });
        closes.map_or(self.code.len(), |(at, _)| at)
    }

    /// Where a statement ends that goes on at `from`, its semicolon included.
    fn statement_end(&self, from: usize) -> usize {
        let mut depth = 0_i32;
        let ends = self.code.iter().enumerate().skip(from).find(|&(_, &c)| {
            depth += i32::from(b"([{".contains(&c)) - i32::from(b")]}".contains(&c));
            depth < 0 || depth == 0 && c == b';'
        });
        ends.map_or(self.code.len(), |(at, _)| at + 1)
    }

    /// Whether a word stands where an item may begin.
    fn begins_item(&self, start: usize) -> bool {
        let before = self.text(0..start);
        let before = before.trim_end();
        ["pub", "unsafe", ")"].iter().any(|word| before.ends_with(word))
            || before.is_empty()
            || before.ends_with([';', '{', '}', ']'])
    }

    fn next_word(&self, from: usize) -> usize {
        self.code.iter().enumerate().skip(from).find(|&(_, &c)| is_word(c)).map_or(self.code.len(), |(at, _)| at)
    }

    /// The word that begins here.
    fn word(&self, start: usize) -> Range<usize> {
        let length = self.code[start..].iter().take_while(|&&c| is_word(c)).count();
        start..start + length
    }

    fn text(&self, range: Range<usize>) -> String {
        String::from_utf8_lossy(&self.code[range]).into_owned()
    }
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_' || c >= 128
}

/// What stands in a signature after the parameters.
fn given(signature: &str) -> Option<&str> {
    // Arrows of other functions stand within angle brackets, parentheses or bounds.
    let plain = signature.replace("->", "\0\0");
    let mut depth = 0_i32;
    let outside = plain.bytes().enumerate().find(|&(_, c)| {
        depth += i32::from(b"(<".contains(&c)) - i32::from(b")>".contains(&c));
        depth == 0 && c == 0
    });
    outside.map(|(arrow, _)| signature[arrow..].split(" where ").next().unwrap_or_default())
}

/// The name of the type that the head of an implementation is about.
fn implementer(head: &str) -> String {
    let mut depth = 0_i32;
    // Without what is in angle brackets.
    let plain: String = head
        .replace("->", "  ")
        .chars()
        .filter(|&c| {
            depth += i32::from(c == '<');
            let is_outside = depth == 0;
            depth -= i32::from(c == '>');
            is_outside
        })
        .collect();
    let about = plain.split(" where ").next().unwrap_or_default();
    let about = about.rsplit(" for ").next().unwrap_or_default();
    let mut words = about.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.rfind(|word| !matches!(*word, "" | "mut" | "dyn" | "where")).unwrap_or_default().to_owned()
}

/// The text, byte for byte, with blanks in the place of comments and literals.
fn code(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = at + blank(&bytes[at..], at > 0 && is_word(bytes[at - 1]));
        code[at..end].iter_mut().filter(|c| **c != b'\n').for_each(|c| *c = b' ');
        at = end.max(at + 1);
    }
    code
}

/// How long the comment or literal is that begins here, if one does.
fn blank(rest: &[u8], after_word: bool) -> usize {
    let until = |end: &[u8], from: usize| {
        let found = rest[from.min(rest.len())..].windows(end.len()).position(|window| window == end);
        found.map_or(rest.len(), |position| from + position + end.len())
    };
    let quoted = |quote: u8| {
        let mut at = 1;
        while at < rest.len() && rest[at] != quote {
            at += if rest[at] == b'\\' { 2 } else { 1 };
        }
        (at + 1).min(rest.len())
    };
    match rest {
        [b'/', b'/', ..] => until(b"\n", 0),
        [b'/', b'*', ..] => until(b"*/", 2),
        [b'"', ..] => quoted(b'"'),
        [b'r', more @ ..] if !after_word => {
            let hashes = more.iter().take_while(|&&c| c == b'#').count();
            if more.get(hashes) != Some(&b'"') {
                return 0;
            }
            until(&[&b"\""[..], &b"#".repeat(hashes)].concat(), hashes + 2)
        }
        [b'\'', b'\\', ..] => quoted(b'\''),
        // A lifetime has no second quote.
        [b'\'', more @ ..] => {
            let first = more.first().map_or(1, |&c| if c < 128 { 1 } else { c.leading_ones() as usize });
            if more.get(first) == Some(&b'\'') { first + 2 } else { 0 }
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, Option<&str>)]) {
        let found: Vec<(String, Option<&str>)> = items(&["m"], text)
            .into_iter()
            .map(|item| (item.path.join("::"), Some(text[item.body].trim()).filter(|body| !body.is_empty())))
            .collect();
        let found: Vec<(&str, Option<&str>)> = found.iter().map(|(path, body)| (path.as_str(), *body)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn functions_have_the_path_of_what_they_are_in() {
        check(
            "fn a() { b }\nmod n { pub(crate) fn c<T: Fn(u8) -> u8>(x: [u8; 2]) -> T { d } }",
            &[("m::a", Some("b")), ("m::n::c", Some("d"))],
        );
    }

    #[test]
    fn methods_have_the_name_of_their_type() {
        check("impl<'a, T: Into<u8>> x::A<'a, T> { fn b(&self) { c } }", &[("m::A::b", Some("c"))]);
        check("impl<M> From<M> for &mut A<M> where M: Copy { fn b() { c } }", &[("m::A::b", Some("c"))]);
        check("trait A: Sized { fn a(); fn b() { c } }", &[("m::A::b", Some("c"))]);
    }

    #[test]
    fn braces_in_literals_and_comments_do_not_count() {
        check(
            "fn a<'a>(x: &'a u8) { '{'; \"}\"; r#\"}\"\"#; /* } */ b // }\n}",
            &[("m::a", Some("'{'; \"}\"; r#\"}\"\"#; /* } */ b // }"))],
        );
    }

    #[test]
    fn a_function_in_another_has_both_names() {
        check("fn a() { fn b() { c } }", &[("m::a", Some("fn b() { c }")), ("m::a::b", Some("c"))]);
    }

    #[test]
    fn tests_and_types_of_functions_are_passed_over() {
        check(
            "mod tests { fn a() { b } }\nconst C: fn(u8) = d;\nfn e(f: impl Fn(fn()) -> u8) { g }",
            &[("m::C", None), ("m::e", Some("g"))],
        );
    }

    #[test]
    fn what_has_only_one_body_is_known() {
        let kind = |text: &str| items(&[], text)[0].kind;
        assert_eq!(kind("pub const fn a() -> u8 { 1 }"), Kind::Constant);
        assert_eq!(kind("impl A { const B: bool = true; }"), Kind::Constant);
        assert_eq!(kind("fn a(&self) -> impl Iterator<Item = u8> + '_ { b }"), Kind::OfOneBody);
        assert_eq!(kind("fn a(f: impl Fn() -> u8, g: impl Copy) -> u8 { b }"), Kind::Function);
        assert_eq!(kind("fn a<F: Fn(u8) -> u8>(f: impl Copy) { b }"), Kind::Function);
        assert_eq!(kind("fn a(f: &dyn Fn()) { b }"), Kind::Function);
    }

    #[test]
    fn files_stand_for_modules() {
        assert_eq!(modules("machine/issue.rs"), ["machine", "issue"]);
        assert_eq!(modules("models/mod.rs"), ["models"]);
        assert_eq!(modules("lib.rs"), [""; 0]);
    }
}
