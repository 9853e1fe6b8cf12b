//! The estimated number of executions, in words.

use std::sync::Arc;

use teetotal::{CheckError, Estimate, Options, Program};

/// The number of executions in a sample.
const PROBES: u64 = 2_000;

/// Estimates how many executions a search by dpor would run: `about 14000 executions, between 9000 and 30000`.
pub(crate) fn estimate(program: &Arc<Program>, options: &Options) -> Result<String, CheckError> {
    let estimate = teetotal::estimate(program, options.model, &options.limits, PROBES, options.seed)?;
    Ok(text(&estimate, options.seed))
}

fn text(estimate: &Estimate, seed: u64) -> String {
    let Estimate { executions, low, high, is_exact, probes } = *estimate;
    if is_exact {
        return format!("dpor has {executions} executions");
    }
    let (about, low) = (rounded(executions), rounded(low));
    let range =
        if high.is_finite() { format!("between {low} and {}", rounded(high)) } else { format!("{low} or more") };
    format!("dpor has about {about} executions, {range}; estimated from {probes} of them with seed {seed}")
}

/// Rounds to two digits.
fn rounded(number: f64) -> String {
    if number >= 1e12 {
        return format!("{number:.1e}");
    }
    let unit = 10_f64.powf((number.max(1.0).log10().floor() - 1.0).max(0.0));
    format!("{:.0}", (number / unit).round() * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_has_two_digits_and_a_range() {
        let some = Estimate { executions: 14_545.3, low: 9_049.0, high: 1.234e15, is_exact: false, probes: 2_000 };
        let said = "dpor has about 15000 executions, between 9000 and 1.2e15; estimated from 2000 of them with seed 7";
        assert_eq!(text(&some, 7), said);
        let none = Estimate { executions: 0.0, low: 0.0, high: f64::INFINITY, ..some };
        assert!(text(&none, 7).contains("about 0 executions, 0 or more;"));
        let exact = Estimate { executions: 107.0, is_exact: true, ..some };
        assert_eq!(text(&exact, 7), "dpor has 107 executions");
    }
}
