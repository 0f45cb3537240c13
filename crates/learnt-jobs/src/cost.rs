//! What a fit will cost on a cluster and on one machine, from counted bytes and measured rates.
//!
//! A round is the work of the slowest node, then the answers gathered along a tree of 16, then the state sent
//! out, then the engine's own share: `rows / (nodes · cores) · work + 16 · depth · answer / network +
//! log2(nodes) · state / network + a + b · nodes`. Rows are read once if they fit the memory of the nodes, else
//! in every round, and every file is compared with the plan once. Before all that one machine goes over the table for
//! its types, levels and classes. Rates of reading and work are those of this machine's cores.

use crate::rehearsal::Rehearsal;
use learnt::answer::{Cell, Columns};

/// The machines that are assumed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cluster {
    /// Machines.
    pub nodes: u64,
    /// Cores of a machine.
    pub cores: u64,
    /// Bytes of memory of a machine that rows may take.
    pub memory: f64,
    /// Bytes a second between machines.
    pub network: f64,
}

impl Default for Cluster {
    fn default() -> Self {
        Cluster { nodes: 1, cores: 16, memory: 100e9, network: 1e9 }
    }
}

/// Seconds of a round that are the engine's own, and seconds more a node.
const ENGINES: &[(&str, f64, f64)] =
    &[("ray", 0.003, 0.0005), ("dask", 0.008, 0.0025), ("spark", 0.160, 0.002)];

/// What a fit will cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    cluster: Cluster,
    rows: u64,
    row_bytes: u64,
    found: Rehearsal,
}

impl Estimate {
    /// For so many rows of so many bytes in memory.
    pub fn new(cluster: Cluster, rows: u64, row_bytes: u64, found: Rehearsal) -> Estimate {
        Estimate { cluster, rows, row_bytes, found }
    }

    /// Whether the rows fit the memory of so many machines.
    fn fits(&self, nodes: u64) -> bool {
        let bytes = self.rows as f64 * self.row_bytes as f64;
        bytes <= nodes as f64 * self.cluster.memory
    }

    /// Seconds of the whole fit on so many machines with an engine whose own share is this.
    pub fn seconds(&self, nodes: u64, (fixed, each): (f64, f64)) -> f64 {
        let Cluster { cores, network, .. } = self.cluster;
        let share = self.rows as f64 / (nodes * cores) as f64;
        let (read, work) = (share * self.found.read_seconds, share * self.found.work_seconds);
        let check = share * self.found.check_seconds;
        let depth = (nodes as f64).log(16.0).ceil().max(0.0);
        let gather = 16.0 * depth * self.found.answer_bytes as f64 / network;
        let send = (nodes as f64).log2() * self.found.state_bytes as f64 / network;
        let round = work + gather + send + fixed + each * nodes as f64;
        let reads = if self.fits(nodes) { 1.0 } else { self.found.rounds as f64 };
        check + reads * read + self.found.rounds as f64 * round
    }

    /// Seconds of `learnt plan` itself, on one machine: a pass that finds types, levels, classes and digests.
    pub fn planning(&self) -> f64 {
        let Rehearsal { read_seconds, check_seconds, .. } = self.found;
        self.rows as f64 / self.cluster.cores as f64 * (read_seconds + check_seconds)
    }

    /// Seconds on one machine of the same kind, without an engine.
    pub fn alone(&self) -> f64 {
        self.seconds(1, (0.0, 0.0))
    }

    /// Seconds on the cluster with its fastest engine.
    pub fn fastest(&self) -> f64 {
        let (_, fixed, each) = ENGINES[0];
        self.seconds(self.cluster.nodes, (fixed, each))
    }

    /// Whether one machine is as fast.
    pub fn is_enough_alone(&self) -> bool {
        self.alone() <= self.fastest()
    }

    /// Each engine beside one machine.
    pub fn table(&self) -> Columns {
        let mut table =
            Columns::new("expected time", &["where", "machines", "rows in memory", "seconds"]);
        let mut row = |name: &str, nodes: u64, seconds: f64| {
            let kept = match name {
                "planning" => "no: read once",
                _ if self.fits(nodes) => "yes",
                _ => "no: read in every round",
            };
            table.push(vec![
                Cell::Text(name.to_string()),
                Cell::Number(nodes as f64),
                Cell::Text(kept.to_string()),
                Cell::Number(seconds),
            ]);
        };
        row("planning", 1, self.planning());
        row("one machine", 1, self.alone());
        for &(name, fixed, each) in ENGINES {
            row(name, self.cluster.nodes, self.seconds(self.cluster.nodes, (fixed, each)));
        }
        table
    }

    /// What follows, in a sentence.
    pub fn advice(&self) -> String {
        let (alone, many) = (self.alone(), self.fastest());
        let nodes = self.cluster.nodes;
        match self.is_enough_alone() {
            true => format!(
                "one machine with {} cores would be as fast or faster ({alone:.1} s, {many:.1} s on {nodes}): learnt fit --stream",
                self.cluster.cores
            ),
            false => format!("{nodes} machines are {:.1} times as fast as one", alone / many),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rounds: u64, work_seconds: f64, answer_bytes: u64) -> Rehearsal {
        Rehearsal {
            rows: 1000,
            rounds,
            whole: true,
            answer_bytes,
            state_bytes: 1000,
            check_seconds: 1e-8,
            read_seconds: 4e-8,
            work_seconds,
        }
    }

    #[test]
    fn small_tables_stay_on_one_machine_and_large_ones_do_not() {
        let ten = Cluster { nodes: 10, ..Cluster::default() };
        let small = Estimate::new(ten, 100_000, 800, found(25, 1e-7, 8000));
        assert!(small.is_enough_alone(), "{}", small.advice());
        assert!(small.advice().contains("learnt fit --stream"));
        let large = Estimate::new(ten, 1_000_000_000, 800, found(25, 6e-7, 8000));
        assert!(!large.is_enough_alone(), "{}", large.advice());
        assert_eq!(large.table().to_text().lines().filter(|line| line.contains("ray")).count(), 1);
    }

    #[test]
    fn the_study_of_a_thousand_nodes_is_met() {
        // k-means, 10 centres, 100 columns, 25 rounds: 3.8 s of work a round and node, 40 s of reading.
        let nodes = Cluster { nodes: 1000, memory: 128e9, ..Cluster::default() };
        let work = 3.8 * 16.0 / 1e8;
        let found = Rehearsal { read_seconds: 40.0 * 16.0 / 1e8, ..found(25, work, 8000) };
        let estimate = Estimate::new(nodes, 100_000_000_000, 400, found);
        let seconds = estimate.fastest();
        assert!((140.0..160.0).contains(&seconds), "{seconds}");
        // One machine goes over all rows beforehand, and cannot share that.
        assert!((40_000.0..41_000.0).contains(&estimate.planning()), "{}", estimate.planning());
    }
}
