//! What counts as wrong: monitors that watch executions, and the axiomatic twin of each machine.

pub mod axiomatic;
mod level;
mod monitor;
pub mod monitors;

pub use level::{Extent, Level, Preserves};
pub use monitor::{Ending, Finding, MONITORS, Monitor, MonitorId, MonitorInfo, View, Watches};
