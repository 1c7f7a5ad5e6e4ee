//! Homa: a receiver grants what a sender does not send by itself (Montazeri et al., SIGCOMM 2018).
//!
//! A sender sends the first packets of a message at once. They say how long the rest is, and the rest
//! waits for a GRANT. A receiver grants few messages at a time, those with the shortest rest, so that
//! few packets meet at its link. A granted packet that does not come is requested by a RESEND.
//!
//! A message has two packets at most here, so a GRANT is for its last packet.

use super::Transport;
use crate::network::fabric::Fabric;
use crate::network::packet::{Kind, Packet};
use crate::nic::state::Nic;

impl Nic {
    /// Notes the first packet of a message whose rest is to be granted.
    pub(in crate::nic) fn note_first(&mut self, packet: &Packet, fabric: &mut Fabric) {
        let is_scheduled = fabric.layout.setting.transport.is_scheduled(1);
        if let Transport::Homa(grants) = &mut self.transport
            && is_scheduled
            && packet.sequence & 1 == 0
        {
            grants.announce(packet);
            self.grant_next(fabric);
        }
    }

    /// Notes that a message of two packets is whole, so that another may be granted.
    pub(in crate::nic) fn note_whole(&mut self, packet: &Packet, fabric: &mut Fabric) {
        if let Transport::Homa(grants) = &mut self.transport {
            grants.finish(packet);
            self.grant_next(fabric);
        }
    }

    fn grant_next(&mut self, fabric: &mut Fabric) {
        let late_at = fabric.now() + fabric.nic_model().timeout_cycles;
        let Transport::Homa(grants) = &mut self.transport else {
            return;
        };
        if let Some(last) = grants.grant(late_at) {
            self.request(Kind::Grant, &last, fabric);
        }
    }

    /// Sends a RESEND for each granted packet that is late.
    pub(in crate::nic) fn resend_late(&mut self, fabric: &mut Fabric) {
        let timeout = fabric.nic_model().timeout_cycles;
        let late = match &mut self.transport {
            Transport::Homa(grants) => grants.late(fabric.now(), timeout),
            Transport::Ndp(_) => return,
        };
        for last in late {
            self.request(Kind::Pull, &last, fabric);
        }
    }
}
