//! The machines of the thesis, as `throng plan --machines` reads them.

/// The four types that the thesis rented, with as many as it had. Types, cores, memory and counts are the thesis's; prices are what was asked for an hour at the
/// time. Speeds are invented: measured times were never published, only that the largest was no faster than the one before it. Nothing that comes of them can
/// be held against the thesis's figures.
pub const MACHINES: &str = "\
currency: $
machines:
  m3.medium: { cpus: 1, memory: 3.75GiB, price: 0.067, count: 30 }
  m3.large: { cpus: 2, memory: 7.5GiB, speed: 1.25, price: 0.133, count: 25 }      # speeds are invented
  m3.xlarge: { cpus: 4, memory: 15GiB, speed: 1.5, price: 0.266, count: 21 }       # one of them was the master
  m3.2xlarge: { cpus: 8, memory: 30GiB, speed: 1.6, price: 0.532, count: 5 }
";
