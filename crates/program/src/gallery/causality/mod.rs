//! Small programs of the literature on maximal causality reduction and on automata for store buffers.

mod airline;
mod counter;
mod example;
mod forwarding;
mod ping_pong;
mod rv_example;
mod write_order;

pub use airline::airline;
pub use counter::counter;
pub use example::example;
pub use forwarding::store_forwarding;
pub use ping_pong::ping_pong;
pub use rv_example::rv_example;
pub use write_order::write_order;
