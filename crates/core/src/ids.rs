//! The numbers by which things are known inside one run.
//!
//! All are dense `u32`s: they index flat arrays, and half the size of a pointer is what makes ten million
//! tasks fit. They mean nothing in another run, so nothing durable is keyed by them
//! (see [`crate::workflow::Workflow::name_key`] for what is).

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the arrays that this number indexes.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The number for a position; the builder has checked that positions fit.
            pub fn at(index: usize) -> Self {
                debug_assert!(index < u32::MAX as usize);
                Self(index as u32)
            }
        }
    };
}

id! {
    /// One command to run once.
    TaskId
}
id! {
    /// One piece of data, normally a file.
    ObjectId
}
id! {
    /// What a task was written as: the text that one or many tasks share.
    TemplateId
}
id! {
    /// Tasks that run the same executable and behave alike.
    KindId
}
id! {
    /// Tasks that ask for the same resources: the unit by which a slot is granted.
    ClassId
}
id! {
    /// One of the ways in which the tasks of a class can run.
    DemandId
}
id! {
    /// One of the places in which a node runs a task at a time.
    SlotId
}
id! {
    /// One machine of a cluster.
    NodeId
}
