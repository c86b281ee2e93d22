//! Harness of the end-to-end tests: starts and stops real peers on free ports, waits until they serve, keeps their logs.
//!
//! A program that is not installed is a failure, never a skipped test.

mod balancer;
mod capture;
mod ejabberd;
mod firmware;
mod gateway;
mod mosquitto;
mod postgres;
mod process;
mod rabbitmq;
mod realm;
mod relay;
mod sidecar;
mod steady;

pub use balancer::Balancer;
pub use capture::{Direction, Recorder, tshark};
pub use ejabberd::Ejabberd;
pub use firmware::{Events, Fault, Field, Image, Proxy, mark, scenarios};
pub use gateway::{Gateway, Office, get};
pub use mosquitto::{Mosquitto, mosquitto_pub, mosquitto_sub};
pub use postgres::Postgres;
pub use process::{Peer, binary, example, free_address, output, output_within};
pub use rabbitmq::RabbitMq;
pub use realm::{Client, Log, Realm};
pub use relay::{Held, Lost, Relay};
pub use sidecar::{KeyFiles, Sidecar};
pub use steady::{Happened, Steady};
