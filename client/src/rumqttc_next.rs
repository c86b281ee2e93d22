//! The fork `rumqttc-v5-next` over the secure channel: no socket in between, only memory.
//!
//! ```no_run
//! use kemqtt_client::{Bridge, Config, Credential, Pins};
//! use rumqttc_next::MqttOptions;
//!
//! # fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::new(Pins::load("broker.pin".as_ref())?, Credential::load("credential.key".as_ref())?);
//! let mut options = MqttOptions::new("sensor-7", "broker.example");
//! kemqtt_client::rumqttc_next::attach(&mut options, Bridge::new("broker.example:1884", config)?);
//! # Ok(())
//! # }
//! ```

use rumqttc_next::MqttOptions;

use crate::bridge::Bridge;

/// Makes every connection of a client with these options go through `bridge`. The options' own address does not count,
/// and their transport has to stay plain TCP: the channel is secure already.
pub fn attach(options: &mut MqttOptions, bridge: Bridge) {
    options.set_socket_connector(move |_host, _network_options| {
        let near = bridge.duplex();
        async move { Ok(near) }
    });
}
