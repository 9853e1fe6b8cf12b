//! What counts as wrong: monitors that watch executions, the axiomatic model of each machine, and the order solver.

pub mod axiomatic;
mod level;
mod monitor;
pub mod monitors;
pub mod order;
pub mod races;

pub use level::{Extent, Level, Preserves};
pub use monitor::{Ending, Finding, MONITORS, Monitor, MonitorId, MonitorInfo, View, Watches};
