//! Programs to show and to measure: the classic shapes, and those of the papers.

mod bounded;
mod causality;
mod classics;
mod dekker_sections;
mod endless;
mod peers;
mod shapes;
mod table;
mod variant;

pub use bounded::{bakery, dekker, lamport, peterson};
pub use causality::{
    account, airline, allocation, counter, crawler, example, example_asserted, ping_pong, rv_example, stack_unsafe,
    store_forwarding, string_buffer, write_order,
};
pub use classics::{message_passing, n6, store_buffering, two_plus_two_writes};
pub use dekker_sections::dekker_sections;
pub use endless::{
    Guard, HowOften, clh_lock, dekker_entry, filter_lock, mcs_lock, peterson_entry, sense_barrier, spin_lock,
    stores_in_a_loop, ticket_lock, two_writers, unlocking_cycle, work_stealing,
};
pub use peers::{
    Deque, Publication, SetThreads, Swap, bakery_loop, chase_lev, dekker_loop, dekker_try, fibonacci, harris, indexer,
    lamport_loop, last_zero, lazy_list, message_passing_release, message_passing_rounds, michael_scott, peterson_loop,
    readers, snark, store_buffering_sum, treiber, two_lock_queue,
};
pub use shapes::{increments, iriw, n_writers, store_buffering_ring, two_by_ten, write_read};
pub use table::{Entry, PROGRAMS, by_name};
pub use variant::{Variant, Waiting};
