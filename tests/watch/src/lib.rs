//! What operators look at: dashboards and alerts, each made from one description, and traces. All of
//! it is tried with real nodes under load, a real Prometheus and a receiver of OTLP. Grafana itself is
//! not run: the queries of its panels are.
//!
//! `UPDATE_EXPECT=1` writes the files anew: `compose/grafana/dashboards`, `compose/prometheus` and
//! `docs/alerts.md`. Nothing here is used outside tests.

#[cfg(test)]
mod alerts;
#[cfg(test)]
mod api;
#[cfg(test)]
mod dashboards;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod file;
#[cfg(test)]
mod load;
#[cfg(test)]
mod node;
#[cfg(test)]
mod panels;
#[cfg(test)]
mod prometheus;
#[cfg(test)]
mod traces;
