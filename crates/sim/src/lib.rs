//! The simulator: a discrete-event world of nodes, network, store and faults that will feed
//! [`throng_core::node::Node`] the same events as the real runtime does.
//!
//! Nothing is built here yet; the crate exists so that the compiler already keeps the borders:
//! `sim` and `runtime` both see `core`, and never each other.
