//! SUBSCRIBE and UNSUBSCRIBE: what was granted, and how the router is told.

use std::{collections::HashMap, sync::Arc};

use hybrid_handshake::mqtt::{ReasonCode, topic};
use rumqttd::{
    Notification,
    protocol::{Filter, Packet, QoS, RetainForwardRule, Subscribe, SubscribeProperties, Unsubscribe},
};
use tokio::sync::mpsc;

use super::super::{Broker, publish::varint, share::Share};
use crate::guard::{Subscription, Version, Violation, read_filters, read_subscriptions, rumqttd::to_router};

/// A client's subscriptions.
pub(super) struct Subscriptions {
    /// Filters with their granted QoS.
    filters: HashMap<String, u8>,
    shares: HashMap<String, (Share, Option<u32>)>,
    shared: mpsc::Sender<Notification>,
}

impl Subscriptions {
    /// Goes on with the filters that the router kept; messages of shares go to `shared`.
    pub(super) fn new(filters: HashMap<String, u8>, shared: mpsc::Sender<Notification>) -> Self {
        Self {
            filters,
            shares: HashMap::new(),
            shared,
        }
    }

    /// Joins the groups of an earlier connection again.
    pub(super) async fn rejoin(&mut self, broker: &Arc<Broker>, shares: HashMap<String, Option<u32>>) {
        for (filter, identifier) in shares {
            self.join(broker, &filter, identifier).await;
        }
    }

    /// A SUBSCRIBE; the SUBACK goes to `out`.
    pub(super) async fn subscribe(
        &mut self,
        broker: &Arc<Broker>,
        version: Version,
        body: &[u8],
        out: &mut Vec<u8>,
        router: &mut Vec<Packet>,
    ) -> Result<(), Violation> {
        let mut wanted: Vec<Subscription<'_>> = Vec::new();
        let (id, identifier) = read_subscriptions(version, body, |entry| wanted.push(entry))?;
        let mut codes = Vec::with_capacity(wanted.len());
        for Subscription { filter, qos, retained } in wanted {
            let code = if self.filters.len() + self.shares.len() >= MAX_FILTERS && !self.filters.contains_key(filter) {
                ReasonCode::QuotaExceeded as u8
            } else if topic::shared(filter).is_some() {
                self.join(broker, filter, identifier).await
            } else if filter.starts_with('$') {
                // The router has no topics of its own and refuses such filters by ending the connection.
                ReasonCode::TopicFilterInvalid as u8
            } else {
                let old = self.filters.insert(filter.to_owned(), qos);
                if old.is_some_and(|old| old != qos || retained) {
                    // It would go on with the old QoS, and not send retained messages again.
                    router.extend(leave(filter, qos));
                }
                router.push(join(filter, qos, identifier));
                qos
            };
            codes.push(match version {
                Version::V3 if code >= 0x80 => 0x80,
                _ => code,
            });
        }
        write_ack(0x90, version, id, &codes, out);
        Ok(())
    }

    /// An UNSUBSCRIBE; the UNSUBACK goes to `out`.
    pub(super) async fn unsubscribe(
        &mut self,
        version: Version,
        body: &[u8],
        out: &mut Vec<u8>,
        router: &mut Vec<Packet>,
    ) -> Result<(), Violation> {
        let mut filters: Vec<&str> = Vec::new();
        let id = read_filters(version, body, |filter| filters.push(filter))?;
        let mut codes = Vec::with_capacity(filters.len());
        for filter in filters {
            let known = self.filters.remove(filter);
            router.extend(known.into_iter().flat_map(|qos| leave(filter, qos)));
            let left = known.is_some() || self.leave_group(filter).await;
            codes.push(if left {
                ReasonCode::Success
            } else {
                ReasonCode::NoSubscriptionExisted
            } as u8);
        }
        // MQTT 3.1.1 has no codes in its UNSUBACK.
        write_ack(
            0xb0,
            version,
            id,
            if version == Version::V5 { &codes } else { &[] },
            out,
        );
        Ok(())
    }

    /// Leaves all groups, but keeps their names.
    pub(super) async fn leave_groups(&mut self) {
        for (share, _) in self.shares.values_mut() {
            share.leave().await;
        }
    }

    /// Returns what the next connection of the session needs.
    pub(super) fn close(self) -> (HashMap<String, u8>, HashMap<String, Option<u32>>) {
        let shares = self
            .shares
            .into_iter()
            .map(|(filter, (_, identifier))| (filter, identifier))
            .collect();
        (self.filters, shares)
    }

    /// Whether it was a member.
    async fn leave_group(&mut self, filter: &str) -> bool {
        let known = self.shares.remove(filter);
        let member = known.is_some();
        if let Some((mut share, _)) = known {
            share.leave().await;
        }
        member
    }

    async fn join(&mut self, broker: &Arc<Broker>, filter: &str, identifier: Option<u32>) -> u8 {
        let Some(parts) = topic::shared(filter) else {
            return ReasonCode::TopicFilterInvalid as u8;
        };
        // The old membership goes first: two would get two copies.
        self.leave_group(filter).await;
        match Share::join(broker, parts, identifier, self.shared.clone()).await {
            Ok(share) => {
                self.shares.insert(filter.to_owned(), (share, identifier));
                ReasonCode::Success as u8
            }
            Err(_) => ReasonCode::QuotaExceeded as u8,
        }
    }
}

fn join(filter: &str, qos: u8, identifier: Option<u32>) -> Packet {
    let filter = Filter {
        path: to_router(filter).into_owned(),
        qos: match qos {
            0 => QoS::AtMostOnce,
            1 => QoS::AtLeastOnce,
            _ => QoS::ExactlyOnce,
        },
        nolocal: false,
        preserve_retain: false,
        retain_forward_rule: RetainForwardRule::OnEverySubscribe,
    };
    let properties = identifier.map(|id| SubscribeProperties {
        id: Some(id as usize),
        user_properties: Vec::new(),
    });
    Packet::Subscribe(
        Subscribe {
            pkid: 1,
            filters: vec![filter],
        },
        properties,
    )
}

/// A resumed connection is missing from the router's list of subscribers, and an UNSUBSCRIBE has no effect on such:
/// it is put there first.
fn leave(filter: &str, qos: u8) -> [Packet; 2] {
    let path = to_router(filter).into_owned();
    [
        join(filter, qos, None),
        Packet::Unsubscribe(
            Unsubscribe {
                pkid: 1,
                filters: vec![path],
            },
            None,
        ),
    ]
}

/// SUBACK or UNSUBACK.
fn write_ack(first: u8, version: Version, id: u16, codes: &[u8], out: &mut Vec<u8>) {
    let properties: &[u8] = if version == Version::V5 { &[0] } else { &[] };
    out.push(first);
    varint(out, 2 + properties.len() + codes.len());
    out.extend_from_slice(&id.to_be_bytes());
    out.extend_from_slice(properties);
    out.extend_from_slice(codes);
}

/// The router never frees the log of a filter.
const MAX_FILTERS: usize = 256;
