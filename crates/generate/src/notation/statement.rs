//! The statements of the notation.

use crate::notation::{Locations, words};
use teetotal_program::ir::{Address, BinaryOp, Expr, FetchOp, Instruction, ThreadBuilder, Update};
use teetotal_program::{OnFailure, Order};
use teetotal_program::{Reg, ThreadId};

type Result<T> = std::result::Result<T, String>;

/// Comparisons and operators; a longer symbol stands before one that it begins with.
const OPERATORS: [(&str, BinaryOp); 10] = [
    ("==", BinaryOp::Equal),
    ("!=", BinaryOp::NotEqual),
    ("<=", BinaryOp::LessOrEqual),
    (">=", BinaryOp::LessOrEqual),
    ("<", BinaryOp::Less),
    (">", BinaryOp::Less),
    ("+", BinaryOp::Add),
    ("&", BinaryOp::And),
    ("^", BinaryOp::Xor),
    ("-", BinaryOp::Subtract),
];

/// Appends the statement `text`.
pub(super) fn statement(t: &mut ThreadBuilder<'_>, text: &str, locations: &Locations) -> Result<()> {
    Reader { t, locations }.statement(text)
}

struct Reader<'r, 'b> {
    t: &'r mut ThreadBuilder<'b>,
    locations: &'r Locations,
}

impl Reader<'_, '_> {
    fn statement(&mut self, text: &str) -> Result<()> {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let (head, order) = word.split_once('.').unwrap_or((word, "sc"));
        let rest = rest.trim();
        let instruction = match (head, rest) {
            ("fence", "") => Instruction::Fence { order: named_order(order)? },
            ("sfence", "") => Instruction::Fence { order: Order::Release },
            ("lfence", "") => Instruction::Fence { order: Order::Acquire },
            ("sync", "") => Instruction::GlobalFence,
            ("lock", at) => Instruction::Lock { at: self.address(at)?, order: named_order(order)? },
            ("unlock", at) => Instruction::Unlock { at: self.address(at)?, order: named_order(order)? },
            ("spawn", name) => Instruction::Spawn { thread: named_thread(name)?, order: named_order(order)? },
            ("join", name) => Instruction::Join { thread: named_thread(name)?, order: named_order(order)? },
            ("await", condition) => self.wait(condition)?,
            ("assume", condition) => Instruction::Assume { condition: self.expr(condition)? },
            ("assert", condition) => {
                Instruction::Assert { condition: self.expr(condition)?, message: condition.to_owned() }
            }
            ("if", guarded) => return self.guarded(guarded),
            _ => self.assignment(text)?,
        };
        self.t.push(instruction);
        Ok(())
    }

    /// `r0 == 1: x = 2`.
    fn guarded(&mut self, text: &str) -> Result<()> {
        let (condition, then) = text.split_once(':').ok_or("an `if` without `:`")?;
        let condition = self.expr(condition.trim())?;
        let end = self.t.label();
        self.t.branch(condition.negated(), end);
        self.statement(then.trim())?;
        self.t.place(end);
        Ok(())
    }

    /// Something with a single `=` in it, perhaps with an order after that.
    fn assignment(&mut self, text: &str) -> Result<Instruction> {
        let (left, right) = text.split_once('=').ok_or("not a statement")?;
        let order_word: String = right.chars().take_while(char::is_ascii_lowercase).collect();
        let (order, right) = match words::order(&order_word) {
            Some(order) => (order, &right[order_word.len()..]),
            None => (Order::Plain, right),
        };
        let (left, right) = (left.trim(), right.trim());
        if words::is_location(left) {
            return Ok(Instruction::Store { to: self.address(left)?, value: self.expr(right)?, order });
        }
        let to = self.register(left)?;
        if words::is_location(right) {
            Ok(Instruction::Load { to, from: self.address(right)?, order })
        } else if let Some(number) = right.strip_prefix("choose ") {
            let alternatives = number.trim().parse().map_err(|_| format!("`{number}` is not a number"))?;
            Ok(Instruction::Choose { to, alternatives })
        } else if let Some((name, arguments)) = right.split_once('(') {
            self.update(to, name.trim(), arguments)
        } else {
            Ok(Instruction::Assign { to, value: self.expr(right)? })
        }
    }

    /// `add.rlx(x, 1)`, of which `name` is before the parenthesis and `arguments` after.
    fn update(&mut self, old: Reg, name: &str, arguments: &str) -> Result<Instruction> {
        let arguments = arguments.strip_suffix(')').ok_or("`(` without `)`")?;
        let (name, orders) = name.split_once('.').unwrap_or((name, "sc"));
        let (order, failure) = orders.split_once('/').map_or((orders, None), |(order, failure)| (order, Some(failure)));
        let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
        let at = self.address(arguments[0])?;
        let values = arguments[1..].iter().map(|text| self.expr(text)).collect::<Result<Vec<_>>>()?;
        let update = match (name, values.as_slice(), failure) {
            ("xchg", [value], None) => Update::Exchange(value.clone()),
            ("cas", [expected, new], failure) => {
                let on_failure = failure.map(named_order).transpose()?.map_or(OnFailure::Locked, OnFailure::Load);
                Update::CompareExchange { expected: expected.clone(), new: new.clone(), on_failure }
            }
            (_, [value], None) => Update::Fetch(fetch(name)?, value.clone()),
            _ => return Err(format!("`{name}` takes something else")),
        };
        Ok(Instruction::Rmw { old, at, update, order: named_order(order)? })
    }

    /// `x == 1 && y != r0`, or `true` for no condition on a location named alone.
    fn wait(&mut self, text: &str) -> Result<Instruction> {
        let mut loads = Vec::new();
        let mut until: Option<Expr> = None;
        for part in text.split("&&").map(str::trim) {
            let name = words::names(part).next().filter(|name| part.starts_with(name)).ok_or("no location to await")?;
            let to = self.t.temporary();
            loads.push((to, self.address(name)?));
            let rest = part[name.len()..].trim();
            let (symbol, op) = operator_at(rest).ok_or("no comparison to await")?;
            let condition = combine(symbol, op, to.into(), self.operand(rest[symbol.len()..].trim())?);
            until = Some(until.map_or(condition.clone(), |before| before.and(condition)));
        }
        Ok(Instruction::Await { loads, until: until.ok_or("nothing to await")? })
    }

    /// One operand, or two with an operator between.
    fn expr(&mut self, text: &str) -> Result<Expr> {
        // An operand has at least one character, so that a sign is none.
        let found = text.char_indices().skip(1).find_map(|(at, _)| operator_at(&text[at..]).map(|found| (at, found)));
        match found {
            Some((at, (symbol, op))) => {
                let (left, right) = (text[..at].trim(), text[at + symbol.len()..].trim());
                Ok(combine(symbol, op, self.operand(left)?, self.operand(right)?))
            }
            None => self.operand(text),
        }
    }

    fn operand(&mut self, text: &str) -> Result<Expr> {
        match words::number(text) {
            Some(value) => Ok(value.into()),
            None => self.register(text).map(Expr::from),
        }
    }

    fn register(&mut self, name: &str) -> Result<Reg> {
        if words::is_register(name) { Ok(self.t.reg(name)) } else { Err(format!("`{name}` is not a register")) }
    }

    fn address(&self, name: &str) -> Result<Address> {
        self.locations.find(name).map(Address::from).ok_or_else(|| format!("`{name}` is not a location"))
    }
}

/// The operator at the front of `text`.
fn operator_at(text: &str) -> Option<(&'static str, BinaryOp)> {
    OPERATORS.into_iter().find(|(symbol, _)| text.starts_with(symbol))
}

fn combine(symbol: &str, op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let (left, right) = if symbol.starts_with('>') { (right, left) } else { (left, right) };
    Expr::Binary(op, Box::new(left), Box::new(right))
}

fn named_order(name: &str) -> Result<Order> {
    words::order(name).ok_or_else(|| format!("`{name}` is not an order"))
}

fn named_thread(name: &str) -> Result<ThreadId> {
    words::thread(name).map(ThreadId).ok_or_else(|| format!("`{name}` is not a thread"))
}

fn fetch(name: &str) -> Result<FetchOp> {
    Ok(match name {
        "add" => FetchOp::Add,
        "sub" => FetchOp::Subtract,
        "and" => FetchOp::And,
        "or" => FetchOp::Or,
        "xor" => FetchOp::Xor,
        "max" => FetchOp::Max,
        "min" => FetchOp::Min,
        _ => return Err(format!("`{name}` is not a read-modify-write")),
    })
}
