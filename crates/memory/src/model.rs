//! What a memory model is, and the table of them.

use teetotal_program::{Loc, Order};

use crate::event::Access;
use crate::models::{Pso, Rc11, Sc, Tso};
use crate::store_buffer::StoreBuffer;

/// A memory model: how stores wait in buffers, if they do.
///
/// Everything that models have in common is in [`crate::Machine`]; a model says only where they differ.
pub trait Model: Copy + Send + Sync + 'static {
    /// Which row of [`MODELS`] it is.
    const ID: ModelId;

    /// Whether its executions are graphs, without a memory that has a state.
    const GRAPHS: bool = false;

    /// Whether stores wait in a buffer before they reach memory.
    const BUFFERS: bool;

    /// Whether a store-store barrier keeps any order that there is not without it.
    const BARRIERS: bool;

    /// Whether a compare-exchange that fails, and is a load in its source, needs no drain.
    const FAILURE_IS_LOAD: bool;

    /// Whether the store at `index` of a buffer may reach memory next.
    fn may_leave(buffer: &StoreBuffer, index: usize) -> bool;

    /// Whether a thread with this buffer may access memory at once, by a read-modify-write, lock or the like.
    ///
    /// `loc` is the location accessed, if there is one.
    fn may_update(buffer: &StoreBuffer, loc: Option<Loc>, order: Order) -> bool;

    /// Whether a thread with this buffer may go on after a join, once the other thread has ended.
    ///
    /// A join that only acquires is a load of whether the thread has ended, and waits for no store of its own thread.
    fn may_join(buffer: &StoreBuffer, order: Order) -> bool {
        !order.releases() || Self::may_update(buffer, None, order)
    }

    /// Whether two stores of one thread, in program order, always reach memory in that order.
    ///
    /// Of the earlier one only the location and the epoch matter; see [`Access::is_like`].
    fn keeps_order(earlier: Access, later: Access) -> bool;
}

/// What is said of a model.
#[derive(Clone, Copy, Debug)]
pub struct ModelInfo {
    pub id: ModelId,
    /// As on the command line.
    pub name: &'static str,
    /// In words.
    pub title: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What kind of model it is.
    pub family: Family,
}

/// What kind of model it is, and so what can be done under it.
#[derive(Clone, Copy, Debug)]
pub enum Family {
    /// Stores wait in buffers, if at all, and reach one memory: there is a state, and one order in which events happen.
    Buffers(BufferRules),
    /// An execution is a graph, and consistent or not: there is no state but the graph.
    Graphs,
}

/// The rules of a model of store buffers, for those who do not know its type.
#[derive(Clone, Copy, Debug)]
pub struct BufferRules {
    /// [`Model::BUFFERS`].
    pub has_buffers: bool,
    /// [`Model::BARRIERS`]. Then stores to different locations may pass each other where there is no barrier.
    pub has_barriers: bool,
    /// [`Model::FAILURE_IS_LOAD`].
    pub failure_is_load: bool,
    /// [`Model::keeps_order`].
    pub keeps_order: fn(Access, Access) -> bool,
}

impl BufferRules {
    const fn of<M: Model>() -> Self {
        BufferRules {
            has_buffers: M::BUFFERS,
            has_barriers: M::BARRIERS,
            failure_is_load: M::FAILURE_IS_LOAD,
            keeps_order: M::keeps_order,
        }
    }
}

/// Makes the table of models of rows: the type of each, its name, title and summary.
macro_rules! models {
    (
        buffers { $($buffers:ident $buffers_name:literal $buffers_title:literal $buffers_summary:literal)* }
        graphs { $($graphs:ident $graphs_name:literal $graphs_title:literal $graphs_summary:literal)* }
    ) => {
        /// A model by name.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum ModelId {
            $($buffers,)*
            $($graphs,)*
        }

        #[allow(non_upper_case_globals, reason = "each is called as its model")]
        mod rows {
            use super::{BufferRules, Family, ModelId, ModelInfo};
            use crate::models;

            $(pub(super) const $buffers: ModelInfo = ModelInfo {
                id: ModelId::$buffers,
                name: $buffers_name,
                title: $buffers_title,
                summary: $buffers_summary,
                family: Family::Buffers(BufferRules::of::<models::$buffers>()),
            };)*

            $(pub(super) const $graphs: ModelInfo = ModelInfo {
                id: ModelId::$graphs,
                name: $graphs_name,
                title: $graphs_title,
                summary: $graphs_summary,
                family: Family::Graphs,
            };)*
        }

        /// All models, from the strongest to the weakest: each allows every execution of those before it.
        pub const MODELS: &[ModelInfo] = &[$(rows::$buffers,)* $(rows::$graphs,)*];

        /// The models of store buffers, from the strongest to the weakest.
        pub const BUFFER_MODELS: &[ModelInfo] = &[$(rows::$buffers,)*];

        impl ModelId {
            /// Calls `visitor` with the type of this model, so that the hot loops are compiled for each.
            pub fn visit<V: ModelVisitor>(self, visitor: V) -> V::Output {
                match self {
                    $(ModelId::$buffers => visitor.visit::<$buffers>(),)*
                    $(ModelId::$graphs => visitor.visit::<$graphs>(),)*
                }
            }

            /// Calls `visitor` as [`ModelId::visit`] does, which is compiled for models of store buffers only.
            ///
            /// # Panics
            /// If it is not a model of store buffers.
            pub fn visit_buffers<V: ModelVisitor>(self, visitor: V) -> V::Output {
                match self {
                    $(ModelId::$buffers => visitor.visit::<$buffers>(),)*
                    $(ModelId::$graphs)|* => panic!("{} has no store buffers", self.info().name),
                }
            }
        }
    };
}

models! {
    buffers {
        Sc "sc" "sequential consistency" "every store reaches memory at once"
        Tso "tso" "total store order (x86)" "each thread has one buffer; its stores reach memory later, in order"
        Pso "pso" "partial store order"
            "each thread has a buffer for each location; stores to different ones pass each other"
    }
    graphs {
        Rc11 "rc11" "RC11 (Rust and C without load buffering)"
            "orderings decide which writes a load may still return, and which accesses happen before others"
    }
}

impl ModelInfo {
    /// Whether stores may wait in a buffer.
    #[must_use]
    pub fn has_buffers(&self) -> bool {
        matches!(self.family, Family::Buffers(rules) if rules.has_buffers)
    }
}

impl ModelId {
    /// The model whose executions every other has too: sequential consistency.
    pub const STRONGEST: ModelId = MODELS[0].id;

    /// Its row of [`MODELS`].
    #[must_use]
    pub fn info(self) -> &'static ModelInfo {
        &MODELS[self as usize]
    }

    /// Its rules.
    ///
    /// # Panics
    /// If it is not a model of store buffers.
    #[must_use]
    pub fn rules(self) -> &'static BufferRules {
        match &self.info().family {
            Family::Buffers(rules) => rules,
            Family::Graphs => panic!("{} has no store buffers", self.info().name),
        }
    }

    /// The model called `name`.
    #[must_use]
    pub fn by_name(name: &str) -> Option<ModelId> {
        MODELS.iter().find(|info| info.name == name).map(|info| info.id)
    }
}

/// Something to do with the type of a model.
pub trait ModelVisitor {
    type Output;

    fn visit<M: Model>(self) -> Self::Output;
}

#[cfg(test)]
mod tests {
    use super::*;

    struct IdOf;

    impl ModelVisitor for IdOf {
        type Output = ModelId;

        fn visit<M: Model>(self) -> ModelId {
            M::ID
        }
    }

    #[test]
    fn every_row_leads_to_its_model_and_back() {
        for info in MODELS {
            assert_eq!(info.id.visit(IdOf), info.id);
            assert_eq!(ModelId::by_name(info.name), Some(info.id));
        }
    }

    #[test]
    fn every_file_of_models_has_a_row() {
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/models")).expect("the folder is there");
        for file in files {
            let name = file.expect("readable").file_name().into_string().expect("plain name");
            let stem = name.strip_suffix(".rs").expect("only Rust files are there");
            assert!(stem == "mod" || ModelId::by_name(stem).is_some(), "models/{name} has no row in MODELS");
        }
    }
}
