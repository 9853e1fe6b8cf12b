//! Calls of the functions in the table.

use teetotal_program::ir::{BinaryOp, Expr, FetchOp, Instruction, UnaryOp, Update};
use teetotal_program::{OnFailure, Order, Reg, Span};

use crate::diagnostics::Diagnostic;
use crate::litmus::c::library::{self, Action, Argument, Called, Gives, Operand};
use crate::litmus::c::lower::Lowering;
use crate::litmus::c::operators::arithmetic;
use crate::litmus::c::place::{Lvalue, Place};
use crate::litmus::c::syntax::{Expression, Form};
use crate::litmus::c::values::{Value, folded, stored};
use crate::litmus::types::CType;
use crate::suggest::nearest;

/// The arguments of a call, in the order of what is done with them.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    pub(super) place: Option<Place>,
    pub(super) expected: Option<Lvalue>,
    pub(super) values: Vec<Value>,
    pub(super) order: Option<Order>,
    pub(super) failure: Option<Order>,
}

/// A call with its place, and where its value may go at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'c> {
    pub(super) name: &'c str,
    pub(super) span: Span,
    pub(super) order: Order,
    pub(super) to: Option<(Reg, CType)>,
}

impl Lowering<'_, '_> {
    /// A call; gives its value if it has one.
    pub(super) fn call(
        &mut self,
        name: &str,
        arguments: &[Expression],
        span: Span,
        to: Option<(Reg, CType)>,
    ) -> Option<Option<Value>> {
        let Some(called) = library::function(name) else { return self.refuse_function(name, span) };
        *self.uses_kernel |= called.is_of_kernel;
        if called.takes.len() != arguments.len() {
            let (wanted, found) = (called.takes.len(), arguments.len());
            let plural = if wanted == 1 { "argument" } else { "arguments" };
            return self.refuse(span, format!("`{name}` takes {wanted} {plural}, but has {found}"));
        }
        let taken = self.arguments(&called, arguments)?;
        let order = taken.order.unwrap_or(called.order);
        self.check_order(called.does, &taken, order, span)?;
        let call = Call { name, span, order, to };
        self.perform(call, called.does, taken)
    }

    fn refuse_function<T>(&mut self, name: &str, span: Span) -> Option<T> {
        if self.diagnostics.is_full() {
            return None;
        }
        let unknown = Diagnostic::new(span, format!("the function `{name}` is not supported"));
        let refused = library::REFUSED.iter().find(|(start, _)| name.starts_with(start));
        self.diagnostics.add(match refused {
            Some((_, help)) => unknown.help(*help),
            None => unknown.meant(nearest(name, library::names())),
        });
        None
    }

    /// Computes all arguments, from left to right; all that is wrong with them is said.
    fn arguments(&mut self, called: &Called, arguments: &[Expression]) -> Option<Arguments> {
        let mut taken = Arguments::default();
        let mut complete = Some(());
        for (position, argument) in arguments.iter().enumerate() {
            let later: Vec<&Expression> = arguments[position + 1..].iter().collect();
            let kind = self.kind_of(called, position, arguments);
            let done = match kind {
                Argument::Place => self.shared(argument).map(|place| taken.place = Some(place)),
                Argument::Pointer => self.behind(argument).map(|place| taken.place = Some(place)),
                Argument::Value => self.held_value(argument, &later).map(|value| taken.values.push(value)),
                Argument::Expected => self.expected(argument).map(|expected| taken.expected = Some(expected)),
                Argument::Order => self.order(argument).map(|order| taken.order = Some(order)),
                Argument::FailureOrder => self.order(argument).map(|order| taken.failure = Some(order)),
            };
            complete = complete.and(done);
        }
        complete.map(|()| taken)
    }

    /// What the argument at `position` is; C11 and the kernel have a pointer and a number in different order.
    fn kind_of(&self, called: &Called, position: usize, arguments: &[Expression]) -> Argument {
        let swaps = called.takes[..] == [Argument::Pointer, Argument::Value]
            && matches!(called.does, Action::Update(..))
            && !self.is_pointer(&arguments[0])
            && self.is_pointer(&arguments[1]);
        called.takes[if swaps { 1 - position } else { position }]
    }

    /// Whether an expression is a pointer by its looks.
    fn is_pointer(&self, expression: &Expression) -> bool {
        match &expression.it {
            Form::Name(name) => match self.variables.get(name) {
                Some(ty) => ty.is_pointer(),
                None => self.parameters.contains_key(name.as_str()),
            },
            Form::AddressOf(_) => true,
            Form::Cast(ty, _) => ty.is_pointer(),
            Form::Binary(_, left, right) => self.is_pointer(left) || self.is_pointer(right),
            _ => false,
        }
    }

    /// A shared location, which stands where other functions take a pointer to one.
    fn shared(&mut self, argument: &Expression) -> Option<Place> {
        match self.place(argument)? {
            Lvalue::Memory(place) => Some(place),
            Lvalue::Local(..) => self.refuse(argument.span, "this is a local variable, not a shared location"),
        }
    }

    /// What a compare-exchange expects.
    fn expected(&mut self, argument: &Expression) -> Option<Lvalue> {
        if let Form::AddressOf(inner) = &argument.it
            && let Form::Name(name) = &inner.it
            && self.variables.contains_key(name)
        {
            return self.place(inner);
        }
        self.behind(argument).map(Lvalue::Memory)
    }

    fn order(&mut self, argument: &Expression) -> Option<Order> {
        let name = match &argument.it {
            Form::Name(name) => name.as_str(),
            _ => "",
        };
        let order = library::order(name);
        if order.is_none() {
            let unknown = Diagnostic::new(argument.span, "this is not a memory order");
            let short = name.strip_prefix("memory_order_").unwrap_or(name);
            self.diagnostics.add(match nearest(short, library::order_names()) {
                Some(meant) => unknown.help(format!("did you mean `memory_order_{meant}`?")),
                None => unknown.help("write `memory_order_seq_cst`, or a weaker one"),
            });
        }
        order
    }

    /// Refuses orders that C does not have for an operation.
    fn check_order(&mut self, action: Action, taken: &Arguments, order: Order, span: Span) -> Option<()> {
        let load = |order: Order| order.releases() && order != Order::SeqCst;
        match action {
            Action::Load if load(order) => self.refuse(span, "a load cannot be ordered as a release"),
            Action::Store | Action::Clear if order.acquires() && order != Order::SeqCst => {
                self.refuse(span, "a store cannot be ordered as an acquire")
            }
            Action::CompareExchange(_) if taken.failure.is_some_and(load) => {
                self.refuse(span, "a compare-exchange that fails is a load, which cannot be ordered as a release")
            }
            _ => Some(()),
        }
    }

    fn perform(&mut self, call: Call<'_>, action: Action, taken: Arguments) -> Option<Option<Value>> {
        let Call { span, order, to, .. } = call;
        match action {
            Action::Fence => {
                self.fence(order, span);
                return Some(None);
            }
            Action::Nothing => return Some(None),
            _ => {}
        }
        let place = taken.place.as_ref()?;
        Some(match action {
            Action::Load => Some(self.load(place, order, to, span)),
            Action::IsLocked => Some(Value::of_truth(self.load(place, order, None, span).expr.ne(0))),
            Action::Store | Action::StoreAndFence => {
                self.store(place, taken.values.first()?.clone(), order, span)?;
                if action == Action::StoreAndFence {
                    self.fence(Order::SeqCst, span);
                }
                None
            }
            Action::Clear | Action::Unlock => {
                self.push(span, Instruction::Store { to: place.address.clone(), value: 0.into(), order });
                None
            }
            Action::Lock => {
                self.push(span, Instruction::Lock { at: place.address.clone(), order });
                None
            }
            _ => self.update(call, action, place, &taken)?,
        })
    }

    /// An action that reads and writes in one step.
    fn update(&mut self, call: Call<'_>, action: Action, place: &Place, taken: &Arguments) -> Option<Option<Value>> {
        let mut values = taken.values.iter().cloned();
        let number = |value: i32| Value { expr: value.into(), ty: CType::INT };
        let value = match action {
            Action::Exchange => {
                let new = self.converted(values.next()?, place.ty, call.span)?;
                let new = stored(new, place.ty.value().width);
                self.update_giving_old(place, Update::Exchange(new), call)
            }
            Action::TestAndSet => {
                let old = self.update_giving_old(place, Update::Exchange(1.into()), call);
                Value::of_truth(old.expr.ne(0))
            }
            Action::Update(op, operand, gives) => {
                let operand = self.operand(operand, values.next(), place, call.span)?;
                return self.combine(place, op, operand, gives, call);
            }
            Action::AddUnless(gives) => self.add_unless(place, [values.next()?, values.next()?], gives, call)?,
            Action::IncrementNotZero => self.add_unless(place, [number(1), number(0)], Gives::Success, call)?,
            Action::CompareExchange(strength) => {
                let on_failure = OnFailure::Load(taken.failure.unwrap_or(order_of_failure(call.order)));
                let expected = taken.expected.as_ref()?;
                self.compare_exchange(place, expected, values.next()?, (strength, on_failure), call)?
            }
            Action::CompareAndSwap => self.compare_and_swap(place, values.next()?, values.next()?, call)?,
            Action::TryLock => {
                let (expected, new) = (0.into(), self.thread.as_holder().into());
                let update = Update::CompareExchange { expected, new, on_failure: OnFailure::Load(Order::Relaxed) };
                let old = self.update_giving_old(place, update, Call { to: None, ..call });
                Value::of_truth(old.expr.eq(0))
            }
            _ => return self.refuse(call.span, format!("`{}` is not supported", call.name)),
        };
        Some(Some(value))
    }

    /// Reads and writes in one step; gives what was there.
    pub(super) fn update_giving_old(&mut self, place: &Place, update: Update, call: Call<'_>) -> Value {
        let old = self.receiver(place, call.to);
        let at = place.address.clone();
        self.push(call.span, Instruction::Rmw { old, at, update, order: call.order });
        Value { expr: place.seen(old.into()), ty: place.ty }
    }

    fn operand(&mut self, operand: Operand, value: Option<Value>, place: &Place, span: Span) -> Option<Expr> {
        if place.ty.is_pointer() || place.ty.is_truth() {
            return self.refuse(span, "this is arithmetic on a location that holds no number");
        }
        let value = match operand {
            Operand::One => Value { expr: 1.into(), ty: CType::INT },
            Operand::Argument | Operand::Complemented => value?,
        };
        let expr = self.converted(value, place.ty, span)?;
        Some(match operand {
            Operand::Complemented => folded(Expr::Unary(UnaryOp::Complement, Box::new(expr))),
            Operand::Argument | Operand::One => expr,
        })
    }

    fn combine(
        &mut self,
        place: &Place,
        op: FetchOp,
        operand: Expr,
        gives: Gives,
        call: Call<'_>,
    ) -> Option<Option<Value>> {
        let to = call.to.filter(|_| gives == Gives::Old);
        let update = Update::Fetch(op, operand.clone());
        let old = self.update_giving_old(place, update, Call { to, ..call });
        let op = match op {
            FetchOp::Add => BinaryOp::Add,
            FetchOp::Subtract => BinaryOp::Subtract,
            FetchOp::And => BinaryOp::And,
            FetchOp::Or => BinaryOp::Or,
            FetchOp::Xor => BinaryOp::Xor,
            _ => return self.refuse(call.span, format!("`{}` is not supported", call.name)),
        };
        let new = || arithmetic(op, old.expr.clone(), operand.clone(), place.ty.base);
        Some(match gives {
            Gives::Nothing | Gives::Success => None,
            Gives::Old => Some(old),
            Gives::New => Some(Value { expr: new(), ty: place.ty }),
            Gives::NewIsZero => Some(Value::of_truth(new().eq(0))),
            Gives::NewIsNegative => Some(Value::of_truth(new().lt(0))),
        })
    }
}

/// The order of a failure where only that of success is given.
fn order_of_failure(success: Order) -> Order {
    match success {
        Order::SeqCst => Order::SeqCst,
        Order::Acquire | Order::AcqRel => Order::Acquire,
        Order::Plain | Order::Relaxed | Order::Release => Order::Relaxed,
    }
}
