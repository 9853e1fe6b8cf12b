use std::sync::Arc;
use teetotal_explore::stateful::{Settings, search};
use teetotal_explore::{Collector, Limits, System};
use teetotal_memory::models::Tso;
use teetotal_program::gallery;
use teetotal_program::ir::Interpreter;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let program = Arc::new(if a[1] == "sb" { gallery::store_buffering_ring(6) } else { gallery::two_by_ten() });
    let reduce = a[2] == "r";
    let t = std::time::Instant::now();
    let system = System::<Interpreter, Tso>::new(Interpreter::new(Arc::clone(&program)));
    let mut c = Collector::new(&program, &[], false);
    search(&system, &mut c, &Settings { limits: Limits::default(), jobs: 1, reduce }, &|| None);
    eprintln!("{:?} {:?}", c.stats, t.elapsed());
}
