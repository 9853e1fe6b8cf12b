//! Programs from texts and from the builder, in one program, which is quicker to build than one for each file.

mod conditions;
mod corpus;
mod equivalence;
mod promela_corpus;
mod promela_oracle;
