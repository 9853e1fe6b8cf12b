//! The programs by name, each with a size at which a search ends soon.

use super::bounded::{bakery, dekker, lamport, peterson};
use super::causality::{airline, counter, example, ping_pong, rv_example, store_forwarding, write_order};
use super::classics::{message_passing, n6, store_buffering, two_plus_two_writes};
use super::endless::{
    Guard, HowOften, clh_lock, dekker_entry, filter_lock, mcs_lock, peterson_entry, sense_barrier, spin_lock,
    stores_in_a_loop, ticket_lock, two_writers, unlocking_cycle, work_stealing,
};
use super::peers::{
    Deque, Publication, SetThreads, Swap, bakery_loop, chase_lev, dekker_loop, dekker_try, fibonacci, harris, indexer,
    lamport_loop, last_zero, lazy_list, message_passing_release, message_passing_rounds, michael_scott, peterson_loop,
    readers, store_buffering_sum, treiber, two_lock_queue,
};
use super::shapes::{increments, iriw, n_writers, store_buffering_ring, two_by_ten, write_read};
use super::variant::Variant;
use teetotal_program::ir::Program;

/// A program of the gallery.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub name: &'static str,
    /// One line, without a period at its end.
    pub summary: &'static str,
    pub build: fn() -> Program,
}

/// The program called `name`, whatever the case of its letters.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Entry> {
    PROGRAMS.iter().find(|entry| entry.name.eq_ignore_ascii_case(name))
}

const fn entry(name: &'static str, summary: &'static str, build: fn() -> Program) -> Entry {
    Entry { name, summary, build }
}

const TWO_ADDERS: SetThreads = SetThreads { adders: 2, readers: 1, removers: 0 };
const SET: SetThreads = SetThreads { adders: 1, readers: 1, removers: 1 };
const DEQUE: Deque = Deque { pushes: 2, takes: 1, thieves: 2 };

/// Every program: the classics, mutual exclusion, message passing, data structures, small puzzles, shapes to measure.
#[rustfmt::skip]
pub const PROGRAMS: &[Entry] = &[
    entry("SB", "Store buffering: each thread writes one location and reads the other", store_buffering),
    entry("MP", "Message passing: a flag may arrive before its data under PSO", message_passing),
    entry("n6", "A load forwards from the buffer, and the store then loses the race to memory", n6),
    entry("2+2W", "Two threads write two locations in opposite orders", two_plus_two_writes),
    entry("store-forwarding", "Store buffering in which each thread sees its own store first", store_forwarding),
    entry("write-order", "Message passing with its error as an assertion", write_order),

    entry("dekker-try", "Dekker's try-lock, two attempts per thread", || dekker_try(2, Variant::PLAIN)),
    entry("dekker-try-fenced", "The same with fences", || dekker_try(2, Variant::FENCED)),
    entry("dekker-loop", "Dekker's algorithm, two critical sections per thread", || dekker_loop(2, Variant::PLAIN)),
    entry("dekker-loop-fenced", "The same with fences", || dekker_loop(2, Variant::FENCED)),
    entry("peterson-loop", "Peterson's algorithm, two critical sections per thread", || peterson_loop(2, Variant::PLAIN)),
    entry("peterson-loop-fenced", "The same with fences", || peterson_loop(2, Variant::FENCED)),
    entry("bakery-loop", "Lamport's bakery with two threads", || bakery_loop(2, Variant::PLAIN)),
    entry("bakery-loop-fenced", "The same with fences", || bakery_loop(2, Variant::FENCED)),
    entry("lamport-loop", "Lamport's fast mutual exclusion with two threads", || lamport_loop(2, Variant::PLAIN)),
    entry("lamport-loop-fenced", "The same with fences", || lamport_loop(2, Variant::FENCED)),
    entry("dekker-repeated", "Dekker's algorithm without end; for the symbolic search",
        || dekker_entry(HowOften::Repeated, Guard::None)),
    entry("dekker-repeated-fenced", "The same with fences", || dekker_entry(HowOften::Repeated, Guard::Fences)),
    entry("peterson-repeated", "Peterson's algorithm without end; for the symbolic search",
        || peterson_entry(HowOften::Repeated, Guard::None)),
    entry("peterson-repeated-fenced", "The same with fences", || peterson_entry(HowOften::Repeated, Guard::Fences)),
    entry("filter-lock", "The filter lock with three threads, without end", || filter_lock(3, Guard::Fences)),
    entry("unlocking-cycle", "A buffer that drains lets another thread repeat its loop", unlocking_cycle),
    entry("two-writers", "Two threads write to locations of their own, without end", two_writers),
    entry("stores-in-a-loop", "A loop of four stores, and a reader", || stores_in_a_loop(4)),
    entry("dekker", "Dekker's algorithm with bounded waiting, wrong under every model", dekker),
    entry("peterson", "Peterson's algorithm with bounded waiting, nothing asserted", peterson),
    entry("bakery", "Lamport's bakery with bounded waiting, nothing asserted", bakery),
    entry("lamport", "Lamport's fast mutual exclusion with bounded waiting, wrong under every model", lamport),

    entry("spin-lock", "A lock taken by an exchange, repeated forever", || spin_lock(Variant::PLAIN)),
    entry("spin-lock-fenced", "The same with fences", || spin_lock(Variant::FENCED)),
    entry("ticket-lock", "A lock with tickets modulo 4, repeated forever", || ticket_lock(4, Variant::PLAIN)),
    entry("ticket-lock-fenced", "The same with fences", || ticket_lock(4, Variant::FENCED)),
    entry("mcs-lock", "A queue lock, each thread waiting at its own flag, repeated forever", || mcs_lock(Variant::PLAIN)),
    entry("mcs-lock-fenced", "The same with fences", || mcs_lock(Variant::FENCED)),
    entry("clh-lock", "A queue lock, each thread waiting at the flag before, repeated forever",
        || clh_lock(Variant::PLAIN)),
    entry("clh-lock-fenced", "The same with fences", || clh_lock(Variant::FENCED)),
    entry("barrier", "A barrier that reverses its sense, repeated forever", || sense_barrier(Variant::PLAIN)),
    entry("barrier-fenced", "The same with fences", || sense_barrier(Variant::FENCED)),
    entry("work-stealing", "Cilk's queue with one thief, repeated forever", || work_stealing(Variant::PLAIN)),
    entry("work-stealing-fenced", "The same with fences", || work_stealing(Variant::FENCED)),

    entry("mp-rounds", "Message passing, two rounds; wrong under PSO", || message_passing_rounds(2, Variant::PLAIN)),
    entry("mp-rounds-fenced", "The same with fences", || message_passing_rounds(2, Variant::FENCED)),
    entry("mp-release-store", "Message passing by a release store", || message_passing_release(Publication::Store)),
    entry("mp-release-fence", "Message passing by a release fence", || message_passing_release(Publication::Fence)),

    entry("treiber", "Treiber's stack, two writers and a reader", || treiber(2, 1, Variant::PLAIN)),
    entry("michael-scott", "The non-blocking queue, two writers and a reader",
        || michael_scott(2, 1, Swap::Instruction, Variant::PLAIN)),
    entry("michael-scott-spinlock", "The same with a spinlock for compare-exchange; loses updates under PSO",
        || michael_scott(2, 1, Swap::Spinlock, Variant::PLAIN)),
    entry("two-lock-queue", "The queue with two locks, a writer and a reader; wrong under PSO",
        || two_lock_queue(1, 1, Variant::PLAIN)),
    entry("two-lock-queue-fenced", "The same with fences", || two_lock_queue(1, 1, Variant::FENCED)),
    entry("chase-lev", "The work-stealing deque with two thieves; wrong under TSO",
        || chase_lev(DEQUE, Variant::PLAIN)),
    entry("chase-lev-fenced", "The same with fences", || chase_lev(DEQUE, Variant::FENCED)),
    entry("harris", "The non-blocking list, an adder, a reader and a remover",
        || harris(SET, Swap::Instruction, Variant::PLAIN)),
    entry("harris-spinlock", "Two adders and a spinlock for compare-exchange; loses updates under PSO",
        || harris(TWO_ADDERS, Swap::Spinlock, Variant::PLAIN)),
    entry("lazy-list", "The lazy list, an adder, a reader and a remover; wrong under PSO",
        || lazy_list(SET, Variant::PLAIN)),
    entry("lazy-list-fenced", "The same with fences", || lazy_list(SET, Variant::FENCED)),

    entry("example", "A pair of numbers announced by a flag, two rounds", || example(2)),
    entry("rv-example", "Two variables under a lock that only some accesses take", rv_example),
    entry("counter", "One thread counts up while another counts down, three times", || counter(3)),
    entry("airline", "Sellers of tickets and a flag read without the lock", || airline(4)),
    entry("ping-pong", "Players use a reference while others take it away", || ping_pong(3)),
    entry("fib", "Two threads add to each other's number, three times", || fibonacci(3, Variant::PLAIN)),
    entry("indexer", "Twelve threads fill a hash table by compare-exchange", || indexer(12)),
    entry("last-zero", "A reader looks for the last zero among five writers", || last_zero(5)),
    entry("readers", "One writer and eight readers", || readers(8)),

    entry("sb-sum", "Store buffering of three threads, the values read summed up",
        || store_buffering_sum(3, Variant::PLAIN)),
    entry("sb-sum-fenced", "The same with fences", || store_buffering_sum(3, Variant::FENCED)),
    entry("sb-ring", "Store buffering in a ring of four threads", || store_buffering_ring(4)),
    entry("writers", "Five writers of one location", || n_writers(5)),
    entry("write-read", "Four threads write one location and read it back", || write_read(4)),
    entry("increments", "Three threads increment a location in two steps", || increments(3)),
    entry("two-by-ten", "Two threads of ten accesses to two locations", two_by_ten),
    entry("iriw", "Two writers, and two readers that look in opposite orders", || iriw(2)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_well_formed_and_has_the_name_of_its_entry() {
        for entry in PROGRAMS {
            let program = (entry.build)();
            assert!(program.name.starts_with(entry.name), "{} is called {}", entry.name, program.name);
            assert!(program.n_operations() > 0, "{} does nothing", entry.name);
        }
    }

    #[test]
    fn names_are_unique_and_found() {
        for entry in PROGRAMS {
            assert_eq!(by_name(entry.name).map(|found| found.summary), Some(entry.summary), "{}", entry.name);
        }
        assert_eq!(by_name("sb").map(|entry| entry.name), Some("SB"));
        assert!(by_name("no such program").is_none());
    }

    #[test]
    fn summaries_fit_on_a_line() {
        for entry in PROGRAMS {
            assert!(entry.summary.len() <= 79 && !entry.summary.ends_with('.'), "{}", entry.name);
        }
    }
}
