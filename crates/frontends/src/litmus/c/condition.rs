//! Branches, and the operators that decide what is computed at all.

use teetotal_program::Span;
use teetotal_program::ir::{BinaryOp, Expr, Label};

use crate::litmus::c::lower::Lowering;
use crate::litmus::c::operators::common;
use crate::litmus::c::syntax::{Expression, Form, Operator, Prefix};
use crate::litmus::c::values::Value;
use crate::litmus::types::CType;

impl Lowering<'_, '_> {
    /// Goes to `label` where `condition` is true, or where it is false.
    pub(super) fn branch(&mut self, condition: &Expression, label: Label, when: bool) -> Option<()> {
        match &condition.it {
            Form::Prefix(Prefix::Not, inner) => return self.branch(inner, label, !when),
            Form::Binary(operator @ (Operator::And | Operator::Or), left, right) if condition.acts() => {
                // The left side alone decides where it is false for `&&`, and where it is true for `||`.
                let decides = *operator == Operator::Or;
                if decides == when {
                    self.branch(left, label, when)?;
                    return self.branch(right, label, when);
                }
                let end = self.t.label();
                self.branch(left, end, decides)?;
                self.branch(right, label, when)?;
                self.t.place(end);
                return Some(());
            }
            _ => {}
        }
        let value = self.value(condition)?.expr;
        self.t.at(Some(condition.span));
        match value {
            Expr::Const(value) if (value != 0) == when => self.t.jump(label),
            Expr::Const(_) => {}
            value if when => self.t.branch(value, label),
            value => self.t.branch(denied(value), label),
        }
        Some(())
    }

    /// `&&` and `||`.
    pub(super) fn logical(&mut self, operator: Operator, whole: &Expression, parts: [&Expression; 2]) -> Option<Value> {
        let [left, right] = parts;
        if !right.acts() && !divides(right) {
            let (left, right) = (self.value(left)?.expr, self.value(right)?.expr);
            let both = if operator == Operator::And { left.and(right) } else { left.or(right) };
            return Some(Value::of_truth(both));
        }
        let result = self.temporary();
        let (yes, end) = (self.t.label(), self.t.label());
        self.decide(whole, yes)?;
        self.t.set(result, 0);
        self.t.jump(end);
        self.t.place(yes);
        self.t.set(result, 1);
        self.t.place(end);
        Some(Value::of_truth(result.into()))
    }

    /// Goes to `yes` where a `&&` or `||` is true; its right side is computed only where the left does not decide.
    fn decide(&mut self, whole: &Expression, yes: Label) -> Option<()> {
        let Form::Binary(operator, left, right) = &whole.it else { return self.branch(whole, yes, true) };
        let end = self.t.label();
        match operator {
            Operator::Or => self.branch(left, yes, true)?,
            _ => self.branch(left, end, false)?,
        }
        self.branch(right, yes, true)?;
        self.t.place(end);
        Some(())
    }

    /// `condition ? then : otherwise`.
    pub(super) fn conditional(&mut self, parts: &[Expression; 3], span: Span) -> Option<Value> {
        let [condition, then, otherwise] = parts;
        if !then.acts() && !otherwise.acts() {
            let condition = self.value(condition)?.expr;
            let (then, otherwise) = (self.value(then)?, self.value(otherwise)?);
            let ty = self.joined(&then, &otherwise, span)?;
            let (then, otherwise) = (self.converted(then, ty, span)?, self.converted(otherwise, ty, span)?);
            let expr = Expr::Select(condition.into(), then.into(), otherwise.into());
            return Some(Value { expr, ty });
        }
        let result = self.temporary();
        let (alternative, end) = (self.t.label(), self.t.label());
        self.branch(condition, alternative, false)?;
        let then = self.value(then)?;
        self.t.set(result, then.expr.clone());
        self.t.jump(end);
        self.t.place(alternative);
        let otherwise = self.value(otherwise)?;
        self.t.set(result, otherwise.expr.clone());
        self.t.place(end);
        let ty = self.joined(&then, &otherwise, span)?;
        // Each value is as its own type holds it; where one of the types is another, wrapping is conversion.
        let from = if then.ty == ty { otherwise.ty } else { then.ty };
        let expr = self.converted(Value { expr: result.into(), ty: from }, ty, span)?;
        Some(Value { expr, ty })
    }

    /// The type of a conditional expression with these two alternatives.
    fn joined(&mut self, then: &Value, otherwise: &Value, span: Span) -> Option<CType> {
        match (then.ty.is_pointer(), otherwise.ty.is_pointer()) {
            (false, false) => Some(CType::integer(common(then.ty.base, otherwise.ty.base))),
            (true, true) if then.ty.agrees_with(otherwise.ty) => Some(then.ty),
            (true, false) if otherwise.is_null() => Some(then.ty),
            (false, true) if then.is_null() => Some(otherwise.ty),
            _ => self.refuse(span, "one alternative is a pointer, and the other is not or points elsewhere"),
        }
    }
}

/// 1 where `expr` is zero.
fn denied(expr: Expr) -> Expr {
    match expr {
        Expr::Binary(BinaryOp::Equal, left, right) => Expr::Binary(BinaryOp::NotEqual, left, right),
        Expr::Binary(BinaryOp::NotEqual, left, right) => Expr::Binary(BinaryOp::Equal, left, right),
        expr => expr.negated(),
    }
}

/// Whether computing it may fail.
fn divides(expression: &Expression) -> bool {
    let here = matches!(expression.it, Form::Binary(Operator::Arithmetic(BinaryOp::Divide | BinaryOp::Remainder), ..));
    here || expression.parts().into_iter().any(divides)
}
