//! A RabbitMQ cluster on loopback.

use std::{fmt::Write as _, net::SocketAddr, time::Duration};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use crate::process::{Peer, free_address, recipe};

/// Running nodes and their port mapper; all killed on drop.
pub struct RabbitMq {
    nodes: Vec<Node>,
    _port_mapper: Peer,
    folder: TempDir,
}

struct Node {
    peer: Peer,
    mqtt: SocketAddr,
}

impl RabbitMq {
    /// Starts a cluster (`recipes/rabbitmq.sh`) whose users are `users`, all with this password. Every listener wants a
    /// PROXY header. Sessions are mirrored on all nodes.
    pub async fn start(nodes: usize, users: &[&str], password: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("definitions.json"), definitions(users, password)?)?;
        let epmd = free_address()?.port().to_string();
        let arguments = ["-address", "127.0.0.1", "-port", &epmd];
        let port_mapper = Peer::start("epmd", arguments, &folder.path().join("epmd.log"))?;
        let mut started = Vec::new();
        for number in 1..=nodes {
            let (mqtt, distribution) = (free_address()?, free_address()?);
            let arguments = [
                folder.path().display().to_string(),
                number.to_string(),
                mqtt.port().to_string(),
                distribution.port().to_string(),
                epmd.clone(),
            ];
            let log = folder.path().join(format!("r{number}.out"));
            let mut peer = Peer::start(recipe("rabbitmq.sh"), arguments, &log)?;
            // One after the other: nodes that come up together may elect two leaders of the client id tracker.
            let up = peer.logs_within("completed with", START).await;
            up.context("a RabbitMQ node does not start")?;
            started.push(Node { peer, mqtt });
        }
        let cluster = Self {
            nodes: started,
            _port_mapper: port_mapper,
            folder,
        };
        // Nodes that were alone would be up as well.
        for number in 1..=nodes {
            cluster.has_peers(number).await?;
        }
        Ok(cluster)
    }

    /// Waits until a node of several has seen another one. Its log is written behind the word that it is up.
    async fn has_peers(&self, node: usize) -> Result<()> {
        let end = Instant::now() + START;
        while self.nodes.len() > 1 && !self.log(node)?.contains("rabbit on node") {
            ensure!(
                Instant::now() < end,
                "node {node} has not seen the others:\n{}",
                self.log(node)?
            );
            sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// The MQTT listener of a node, counted from 1.
    pub fn mqtt(&self, node: usize) -> SocketAddr {
        self.nodes[node - 1].mqtt
    }

    /// Ends a node at once, as a power cut would.
    pub async fn kill(&mut self, node: usize) -> Result<()> {
        self.nodes[node - 1].peer.kill().await
    }

    /// What a node logged.
    pub fn log(&self, node: usize) -> Result<String> {
        let file = format!("r{node}/log/r{node}@localhost.log");
        Ok(std::fs::read_to_string(self.folder.path().join(file))?)
    }
}

/// Users, their rights, and the policy that mirrors the queues of MQTT sessions.
fn definitions(users: &[&str], password: &str) -> Result<String> {
    let (mut logins, mut rights) = (String::new(), String::new());
    for (i, user) in users.iter().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        write!(
            logins,
            r#"{comma}{{"name":"{user}","password":"{password}","tags":""}}"#
        )?;
        write!(
            rights,
            r#"{comma}{{"user":"{user}","vhost":"/","configure":".*","write":".*","read":".*"}}"#
        )?;
    }
    Ok(format!(
        r#"{{"vhosts":[{{"name":"/"}}],"users":[{logins}],"permissions":[{rights}],"policies":[{{"vhost":"/",
        "name":"sessions","pattern":"^mqtt-subscription-","apply-to":"queues","priority":0,
        "definition":{{"ha-mode":"all","ha-sync-mode":"automatic"}}}}]}}"#
    ))
}

/// Three nodes of it take their time.
const START: Duration = Duration::from_secs(240);
