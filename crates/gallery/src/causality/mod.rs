//! Small programs of the literature on maximal causality reduction and on automata for store buffers.

mod account;
mod airline;
mod allocation;
mod counter;
mod crawler;
mod example;
mod forwarding;
mod ping_pong;
mod rv_example;
mod stack_unsafe;
mod string_buffer;
mod write_order;

pub use account::account;
pub use airline::airline;
pub use allocation::allocation;
pub use counter::counter;
pub use crawler::crawler;
pub use example::{example, example_asserted};
pub use forwarding::store_forwarding;
pub use ping_pong::ping_pong;
pub use rv_example::rv_example;
pub use stack_unsafe::stack_unsafe;
pub use string_buffer::string_buffer;
pub use write_order::write_order;
